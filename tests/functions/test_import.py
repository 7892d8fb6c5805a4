"""Files of other tools become recordings; a second reader of the format finds nothing wrong with them."""
import json
import marshal
import os
import random
import subprocess
import sys

import pytest

import trees
from conftest import NEW_PYTHONS, TOP


def import_file(venturi, path, out, *words):
    venturi("import", path, "-o", out, *words, check=0)
    reader = os.path.join(TOP, "tests", "reader", "vtread.py")
    done = subprocess.run([sys.executable, reader, str(out), "--check"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True)
    assert done.stdout == "", done.stdout
    return out


def rest(text):
    return text.split("\n", 1)[1]


# ---- pstats --------------------------------------------------------------------------------------

@pytest.mark.parametrize("module", ["cProfile", "profile"])
def test_stats_of_an_imported_profile_are_its_own(venturi, prof, tmp_path, module):
    path = prof(NEW_PYTHONS[-1], module)
    out = import_file(venturi, path, tmp_path / "x.vt")
    for words in ((), ("--sort", "none"), ("--strip-dirs", "-s", "name"), ("-n", "3")):
        ours = venturi("stats", out, *words, check=0)
        assert rest(ours.stdout) == rest(venturi("stats", path, *words, check=0).stdout) and ours.stderr == ""
    for words in (("--callers", "."), ("--callees", "json")):
        assert venturi("stats", out, *words).stdout == venturi("stats", path, *words).stdout
    venturi("export", "-f", "pstats", out, "-o", tmp_path / "again.prof", check=0)
    if module == "cProfile":
        assert marshal.loads((tmp_path / "again.prof").read_bytes()) == marshal.loads(path.read_bytes())


def test_says_how_many_calls(venturi, tmp_path):
    rows = {("x.py", 1, "f"): (1000, 1200, 0.25, 0.5, {("y.py", 1, "g"): (1000, 1200, 0.25, 0.5)}),
            ("y.py", 1, "g"): (1, 1, 0.5, 1.5, {})}
    (tmp_path / "x.prof").write_bytes(marshal.dumps(rows))
    done = venturi("import", tmp_path / "x.prof", "-o", tmp_path / "x.vt", check=0)
    assert done.stderr.endswith(", 1.20 k calls\n"), done.stderr
    for name in ("collapsed", "speedscope", "pprof"):
        done = venturi("export", "-f", name, tmp_path / "x.vt", "-o", tmp_path / "out", check=2)
        assert "but no stacks (-f pstats and callgrind need none)" in done.stderr and done.stderr.count("\n") == 1
    for name in ("pstats", "callgrind"):
        venturi("export", "-f", name, tmp_path / "x.vt", "-o", tmp_path / ("out." + name), check=0)


def test_many_rows_need_several_blocks(venturi, tmp_path):
    """A caller may stand in a later block than its callee."""
    count = 30000
    rows = {("f%d.py" % i, i, "f"): (i, i + 1, i / 7, i / 3, {("f%d.py" % (count - 1 - i), count - 1 - i, "f"): (1, 1, 0.1, 0.3)})
            for i in range(count)}
    (tmp_path / "x.prof").write_bytes(marshal.dumps(rows))
    out = import_file(venturi, tmp_path / "x.prof", tmp_path / "x.vt")
    venturi("export", "-f", "pstats", out, "-o", tmp_path / "y.prof", check=0)
    assert marshal.loads((tmp_path / "y.prof").read_bytes()) == rows


def test_merged_tables_add_up(venturi, python, tmp_path):
    """As pstats.Stats(a, b) adds them."""
    rows = {("x.py", 1, "f"): (1, 2, 0.25, 0.5, {("y.py", 1, "g"): (1, 1, 0.125, 0.25)}),
            ("y.py", 1, "g"): (1, 1, 0.5, 1.5, {("no.py", 3, "row"): (4, 3, 1.0, 2.0)})}
    more = {("y.py", 1, "g"): (2, 2, 0.5, 0.75, {}), ("z.py", 1, "h"): (3, 3, 0.5, 0.5, {("y.py", 1, "g"): (3, 3, 0.5, 0.5)}),
            ("x.py", 1, "f"): (1, 1, 1.0, 1.0, {("y.py", 1, "g"): (1, 1, 1.0, 1.0), ("z.py", 1, "h"): (1, 1, 0.0, 0.0)})}
    for name, table in (("a", rows), ("b", more)):
        (tmp_path / (name + ".prof")).write_bytes(marshal.dumps(table))
        import_file(venturi, tmp_path / (name + ".prof"), tmp_path / (name + ".vt"))
    venturi("merge", "a.vt", "b.vt", "-o", "c.vt", check=0, cwd=tmp_path)
    expected = python(NEW_PYTHONS[-1], "-c", "import pstats\ns = pstats.Stats('a.prof', 'b.prof').sort_stats('stdname')\n"
                      "s.print_callers(); s.print_callees()", cwd=tmp_path)
    assert "".join(venturi("stats", "c.vt", "-s", "stdname", option, ".", check=0, cwd=tmp_path).stdout
                   for option in ("--callers", "--callees")) == expected


# ---- collapsed -----------------------------------------------------------------------------------

def test_collapsed_there_and_back(venturi, tmp_path):
    source = ["main (a.py:1) 300", "main (a.py:1);load (a.py:5) 200", "main (a.py:1);load (a.py:5);read 1500",
              "main (a.py:1);load (a.py:5);main (a.py:1) 100", "odd (no line) 7", "[unknown];f (int) (x y.c:3) 8"]
    (tmp_path / "x.txt").write_text("\n".join(source) + "\n")
    out = import_file(venturi, tmp_path / "x.txt", tmp_path / "x.vt")
    assert sorted(venturi("export", "-f", "collapsed", out, check=0).stdout.splitlines()) == sorted(source)
    rows = {row["name"]: row for row in json.loads(venturi("stats", "--json", out, check=0).stdout)["functions"]}
    assert rows["main"]["tottime"] == pytest.approx(400e-6) and rows["main"]["cumtime"] == pytest.approx(2100e-6)
    assert (rows["load"]["file"], rows["load"]["line"], rows["load"]["language"]) == ("a.py", 5, "python")
    assert rows["f (int)"]["file"] == "x y.c" and "<odd (no line)>" in rows


def test_collapsed_lines_add_up(venturi, tmp_path):
    (tmp_path / "x.txt").write_text("# a remark\r\na;b 1.5\r\n\r\na;b 2.25\na 1\n")
    out = import_file(venturi, tmp_path / "x.txt", tmp_path / "x.vt")
    rows = {row["name"]: row for row in json.loads(venturi("stats", "--json", out, check=0).stdout)["functions"]}
    assert rows["<b>"]["tottime"] == pytest.approx(3.75e-6) and rows["<a>"]["cumtime"] == pytest.approx(4.75e-6)


@pytest.mark.parametrize("text, message", [
    ("a 1\nb\n", "line 2: not a stack and a number"), ("a 1\nb x\n", "line 2: not a stack and a number"),
    ("a 1\nb 1.2.3\n", "line 2: not a stack and a number"), ("a 99999999999999999999\n", "line 1: a number too large"),
    ("a 1\n 5\n", "line 2: not a stack and a number"),
])
def test_bad_stacks(venturi, tmp_path, text, message):
    (tmp_path / "x.txt").write_text(text)
    done = venturi("import", "x.txt", "-o", "x.vt", check=2, cwd=tmp_path)
    assert done.stderr == "venturi import: x.txt: %s\n" % message and os.listdir(tmp_path) == ["x.txt"]


# ---- Chrome --------------------------------------------------------------------------------------

def spans(venturi, path):
    return json.loads(venturi("query", "--json", path, "SELECT s.name, s.begin_ns, s.duration_ns, t.tid FROM spans s "
                              "JOIN tracks t ON t.id = s.track", check=0).stdout)


def test_chrome_there_and_back(venturi, tmp_path):
    """Spans, in any order, with arguments; the times are what they were, from the first on."""
    events = [{"ph": "M", "pid": 7, "name": "process_name", "args": {"labels": 1, "name": "worker \u00e9\ud83d\ude00"}},
              {"ph": "M", "pid": 7, "tid": 8, "name": "thread_name", "args": {"name": "loop"}},
              {"ph": "E", "pid": 7, "tid": 8, "ts": 1000000100.5},
              {"ph": "B", "pid": 7, "tid": 8, "ts": 1000000000.125, "name": "outer", "args": {
                  "n": -3, "x": 0.5, "s": "a\"b\\c\n", "o": {"k": [1, 2]}, "t": True, "z": None}},
              {"ph": "X", "pid": 7, "tid": 8, "ts": 1000000010, "dur": 20.25, "name": "inner", "cat": "c"},
              {"ph": "X", "pid": 7, "tid": 9, "ts": 1000000010, "dur": 0, "name": "empty"},
              {"ph": "B", "pid": 7, "tid": 8, "ts": 1000000200, "name": "open"},
              {"ph": "E", "pid": 7, "tid": 10, "ts": 1000000000.5}, {"ph": "i", "pid": 7, "tid": 8, "ts": 1000000050, "name": "mark"},
              {"ph": "C", "pid": 7, "tid": 8, "ts": 1000000060, "name": "memory", "args": {"used": 5, "value": 6.5, "text": "x"}},
              {"ph": "s", "pid": 7, "tid": 8, "ts": 1, "id": 4, "name": "flow"}, {"no": "phase"}]
    (tmp_path / "x.json").write_text(json.dumps({"otherData": {"a": [{}, "]"]}, "traceEvents": events}))
    out = import_file(venturi, tmp_path / "x.json", tmp_path / "x.vt")
    found = [json.loads(line) for line in venturi("export", "-f", "jsonl", out, check=0).stdout.splitlines()]
    times = [(line["type"], line.get("name") or line.get("key"), line["time_ns"], line.get("value"))
             for line in found if "time_ns" in line]
    assert sorted(times, key=str) == sorted([
        ("begin", "outer", 0, None), ("attribute", "n", 0, -3), ("attribute", "x", 0, 0.5), ("attribute", "s", 0, "a\"b\\c\n"),
        ("attribute", "o", 0, '{"k": [1, 2]}'), ("attribute", "t", 0, "true"), ("begin", "inner", 9875, None),
        ("end", "inner", 30125, None), ("begin", "empty", 9875, None), ("end", "empty", 9875, None), ("mark", "mark", 49875, None),
        ("counter", "memory.used", 59875, 5), ("counter", "memory", 59875, 6.5), ("end", "outer", 100375, None),
        ("begin", "open", 199875, None)], key=str)
    process, = [line for line in found if line["type"] == "process"]
    assert (process["pid"], process["name"]) == (7, "worker \u00e9\U0001f600")
    assert {(line["tid"], line["name"]) for line in found if line["type"] == "track"} == {(8, "loop"), (9, "")}


def test_chrome_spans_that_overlap_keep_their_times(venturi, tmp_path):
    events = [{"ph": "X", "pid": 1, "tid": 1, "ts": ts, "dur": dur, "name": "n%d" % ts} for ts, dur in
              ((0, 100), (50, 100), (60, 10), (120, 100), (130, 5), (150, 10))]
    (tmp_path / "x.json").write_text(json.dumps(events))
    out = import_file(venturi, tmp_path / "x.json", tmp_path / "x.vt")
    found = {row["name"]: (row["begin_ns"], row["begin_ns"] + row["duration_ns"]) for row in spans(venturi, out)}
    assert found == {"n%d" % e["ts"]: (e["ts"] * 1000, (e["ts"] + e["dur"]) * 1000) for e in events}


def test_chrome_at_random(venturi, tmp_path):
    """Nested spans of several threads in random order, half as B and E."""
    rng = random.Random(5)
    events, expected = [], []

    def nest(tid, begin, end, depth):
        name = "f%d" % rng.randrange(9)
        expected.append((tid, name, begin * 1000, (end - begin) * 1000))
        if rng.random() < 0.5:
            events.append((begin, depth, {"ph": "X", "pid": 1, "tid": tid, "ts": begin, "dur": end - begin, "name": name}))
        else:
            events.append((begin, depth, {"ph": "B", "pid": 1, "tid": tid, "ts": begin, "name": name}))
            events.append((end, -depth, {"ph": "E", "pid": 1, "tid": tid, "ts": end}))
        at = begin + 1
        while depth < 8 and at + 4 < end:
            stop = min(rng.randrange(at + 2, at + max(3, (end - begin) // 2)), end - 1)
            nest(tid, at, stop, depth + 1)
            at = stop + 1
    for tid in range(5):
        nest(tid, 0, 3000, 1)
    rng.shuffle(events)  # writers keep the order of begins and ends of one time, so no two are at the same
    (tmp_path / "x.json").write_text(json.dumps([event for _, _, event in events], indent=1))
    out = import_file(venturi, tmp_path / "x.json", tmp_path / "x.vt")
    found = [(row["tid"], row["name"], row["begin_ns"], row["duration_ns"]) for row in spans(venturi, out)]
    assert sorted(found) == sorted(expected) and len(found) > 500


def test_our_own_chrome_export_comes_back(venturi, tmp_path):
    source = trees.Writer()
    source.clock(kind=2)
    source.process(0, pid=5)
    source.track(0, 0, thread=6, name="main")
    for site in (1, 2):
        source.site(site, "span%d" % site)
    events = source.events(track=0, first=1000)
    for at in range(1000, 9000, 1000):
        events.begin(at, 1)
        events.begin(at + 100, 2)
        events.end(at + 200)
        events.end(at + 300)
    events.write()
    source.close()
    (tmp_path / "a.vt").write_bytes(source.bytes())
    venturi("export", "-f", "chrome", tmp_path / "a.vt", "-o", tmp_path / "a.json", check=0)
    out = import_file(venturi, tmp_path / "a.json", tmp_path / "b.vt")
    def key(rows):
        first = min(row["begin_ns"] for row in rows)
        return sorted((row["name"], row["begin_ns"] - first, row["duration_ns"], row["tid"]) for row in rows)
    assert key(spans(venturi, out)) == key(spans(venturi, tmp_path / "a.vt"))


@pytest.mark.parametrize("text", [
    '[{"ph":"X","ts":1,"dur":1,"name":"a"', '[{"ph":"X","ts":1,"dur":1,"name":"a"} {', '[{"ph":"X","ts":1,', '{"traceEvents":[',
    '{"traceEvents":5}', '{"a":1}', '[{"ph" "X"}]', '[{"ph":"X","ts":"soon"}]', '[{"ph":"X","ts":1e400}]', '[{"ts":1 2}]', '[{}] ',
    '[]', '{"traceEvents":[]}', '[{"ph":"X","ts":1,"name":"\\ud8"}]', '[{"ph":"X","ts":1,"name":"\\q"}]', '[{"a":' + "[" * 5000,
])
def test_bad_json_is_one_line_and_no_file(venturi, tmp_path, text):
    (tmp_path / "x.json").write_text(text)
    done = venturi("import", "x.json", "-o", "x.vt", check=2, cwd=tmp_path)
    assert done.stderr.startswith("venturi import: x.json: ") and done.stderr.count("\n") == 1, done.stderr
    assert os.listdir(tmp_path) == ["x.json"]


# ---- words ---------------------------------------------------------------------------------------

@pytest.mark.parametrize("content, message", [
    (b"", "x: is empty"), (b"hello\n", "x: neither a profile of Python, nor a Chrome trace, nor a log or report of osprofiler, nor samples of perf, nor collapsed stacks"),
    (b"\x00\xff" * 50, "x: neither a profile of Python, nor a Chrome trace, nor a log or report of osprofiler, nor samples of perf, nor collapsed stacks"),
    (b"{u", "x: byte 6: cut off in a text"),
])
def test_other_files(venturi, tmp_path, content, message):
    (tmp_path / "x").write_bytes(content)
    done = venturi("import", "x", "-o", "x.vt", check=2, cwd=tmp_path)
    assert done.stderr.startswith("venturi import: x: ") and done.stderr.count("\n") == 1
    if content[:1] != b"{":
        assert done.stderr == "venturi import: %s\n" % message
    assert os.listdir(tmp_path) == ["x"]


def test_words(venturi, tmp_path):
    (tmp_path / "x.txt").write_text("a 1\n")
    assert venturi("import", check=2).stderr.startswith("venturi import: which FILE?")
    assert venturi("import", "x.txt", check=2, cwd=tmp_path).stderr == "venturi import: where to? -o OUT\n"
    assert venturi("import", "y.txt", "-o", "y.vt", check=2, cwd=tmp_path).stderr.count("y.txt") == 1
    done = venturi("import", "x.txt", "-o", "x.vt", check=0, cwd=tmp_path)
    assert done.stderr.startswith("venturi: x.vt  ") and done.stderr.count("\n") == 1
    assert "exists" in venturi("import", "x.txt", "-o", "x.vt", check=2, cwd=tmp_path).stderr
    venturi("import", "x.txt", "-o", "x.vt", "--force", check=0, cwd=tmp_path)
    assert "x.vt: is a recording already" in venturi("import", "x.vt", "-o", "z.vt", check=2, cwd=tmp_path).stderr
