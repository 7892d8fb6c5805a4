"""Recordings with trees of calls, written by tests/reader/vtwrite.py, and what pstats should say about them."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "reader"))
from vtwrite import Writer, join, varint  # noqa: E402

CALL_TREE = 13

FUNCTIONS = {  # site: name, function, file, line, unit
    1: ("<module>", "<module>", "/src/run.py", 1, "python"),
    2: ("Step.execute", "execute", "/src/step.py", 10, "python"),
    3: ("fib", "fib", "/src/step.py", 20, "python"),
    4: ("len", "<built-in method builtins.len>", "~", 0, "builtin"),
    5: ("main.<locals>.<lambda>", "<lambda>", "/src/run.py", 7, "python"),
    6: ("main.<locals>.<lambda>", "<lambda>", "/src/run.py", 7, "python"),  # a twin
    7: ("work; \n\x1b[31m\"red\"", "work", "/src/a b;c.c", 3, "c"),
    8: ("stripped", "stripped", "", 0, "c"),
    9: ("numbers", "numbers", "/src/step.py", 30, "python"),
}

# track: node: parent, site, calls, resumes, self nanoseconds
TREES = {
    0: {1: (0, 1, 1, 0, 5000), 2: (1, 2, 2, 0, 3000), 3: (2, 3, 2, 0, 1500), 4: (3, 3, 4, 0, 2500), 5: (4, 3, 8, 0, 500),
        6: (4, 4, 16, 0, 1000), 7: (1, 5, 3, 0, 700), 8: (1, 6, 5, 0, 800), 9: (2, 9, 1, 10, 4000)},
    1: {1: (0, 7, 1, 0, 90000), 2: (1, 8, 1000, 0, 10000), 3: (1, 2, 1, 0, 2000), 4: (3, 3, 1, 0, 300)},
}


def totals(tree):
    """Self and children, of each node."""
    found = {node: row[4] for node, row in tree.items()}
    for node in sorted(tree, reverse=True):
        if tree[node][0]:
            found[tree[node][0]] += found[node]
    return found


def write(path, trees=None, functions=None, lasted=0):
    trees = TREES if trees is None else trees
    writer = Writer()
    writer.meta(venturi="1", command="python3\0run.py")
    writer.host()
    writer.clock(kind=2)
    writer.process(0, pid=100, name="python3", start=1 if lasted else 0, end=1 + lasted if lasted else 0)
    for site, (name, function, file, line, unit) in (functions or FUNCTIONS).items():
        writer.site(site, name, 4, function, file, line, unit)
    for track, tree in trees.items():
        writer.track(track, 0, thread=200 + track, name=["main", "worker"][track % 2], end=10 ** 6)
        total = totals(tree)
        writer.block(CALL_TREE, b"".join(
            join(node, parent, site, calls, resumes, total[node], 7 * resumes) + varint(0) * 3
            for node, (parent, site, calls, resumes, _) in tree.items()), len(tree), owner=track, last=10 ** 6)
    writer.close()
    path.write_bytes(writer.bytes())
    return path


def key(site, functions=None):
    name, function, file, line, unit = (functions or FUNCTIONS)[site]
    if site == 6:
        return file, line, "<lambda> [2]"
    if not file or file == "~":
        return "~", 0, function if function.startswith("<") else "<%s>" % function
    return file, line, function


def profile(trees=None):
    """What cProfile would have written: rows and callers by walking up from every node."""
    rows = {}
    for tree in (TREES if trees is None else trees).values():
        total = totals(tree)
        for node, (parent, site, calls, resumes, own) in tree.items():
            above = []
            at = parent
            while at:
                above.append(at)
                at = tree[at][0]
            pairs = [(tree[tree[at][0]][1] if tree[at][0] else None, tree[at][1]) for at in above]
            row = rows.setdefault(key(site), [0, 0, 0.0, 0.0, {}])
            is_primitive = site not in [tree[at][1] for at in above]
            add(row, calls + resumes, is_primitive, own, total[node])
            if parent:
                caller = row[4].setdefault(key(tree[parent][1]), [0, 0, 0.0, 0.0])
                add(caller, calls + resumes, (tree[parent][1], site) not in pairs, own, total[node])
    return rows


def add(row, calls, is_primitive, own, total):
    row[0] += calls * is_primitive
    row[1] += calls
    row[2] += own * 1e-9
    row[3] += total * 1e-9 * is_primitive


def stacks(trees=None):
    """Stack (sites, outermost first, with the track) to calls and own nanoseconds."""
    found = {}
    for track, tree in (TREES if trees is None else trees).items():
        for node, (parent, site, calls, resumes, own) in tree.items():
            path = (site,)
            while parent:
                path = (tree[parent][1],) + path
                parent = tree[parent][0]
            found[(track,) + path] = (calls + resumes, own)
    return found
