#!/usr/bin/env python3
"""What a task of Python costs: computed by venturi.dask, and by dask's own sync and threaded schedulers.

usage: bench_dask.py [--build FOLDER] [--rounds N] [--tasks N] [--json] [PYTHON...]

Graphs of x + 1 and x + y on small integers: independent tasks, a chain, a tree of pairs. "get" is the whole call, from a dict of tuples to
the results; "run" what is left of it when the graph has been read. Both are CPU time of the process, all threads together: other load disturbs it least.
Each round measures all schedulers in turn; the fastest counts. dask gets a tenth of the tasks, since it costs more for each the more there are.
Prints a table, or with --json one object a line.
"""
import argparse
import json
import os
import subprocess
import sys
import time

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

SHAPES = ("independent", "chain", "tree")
TOOLS = ("venturi sync", "venturi threads", "dask sync", "dask threads")


# ---- in the measured interpreter, which may be any from 3.9 on ----------------------------------

def increment(x):
    return x + 1


def add(x, y):
    return x + y


def make(shape, count):
    """A graph of so many tasks, and what to ask for."""
    if shape == "independent":
        graph = {"x%d" % i: (increment, i) for i in range(count)}
        return graph, list(graph)
    if shape == "chain":
        graph = {"x%d" % i: (increment, "x%d" % (i - 1)) for i in range(1, count + 1)}
        graph["x0"] = 0
        return graph, "x%d" % count
    level = ["x%d" % i for i in range(count // 2)]
    graph = {key: (increment, i) for i, key in enumerate(level)}
    while len(level) > 1:
        pairs = zip(level[::2], level[1::2])
        odd = level[len(level) // 2 * 2:]
        level = []
        for one, other in pairs:
            key = "y%d" % len(graph)
            graph[key] = (add, one, other)
            level.append(key)
        level += odd
    return graph, level[0]


class Watching:
    """Keeps how long the last run took."""

    seconds = 0.0

    def _run_begins(self, run):
        self.begin = time.process_time()

    def _run_ends(self, run):
        self.seconds = time.process_time() - self.begin


def schedulers():
    import venturi.dask
    import venturi.dask.threaded

    found = {"venturi sync": venturi.dask.get_sync, "venturi threads": lambda *args: venturi.dask.threaded.get(*args, num_workers=2)}
    try:
        import dask.local
        import dask.threaded
    except ImportError:
        return found
    found["dask sync"] = dask.local.get_sync
    found["dask threads"] = lambda *args: dask.threaded.get(*args, num_workers=2)
    return found


def measure(rounds, count):
    import venturi.dask

    best = {}
    watching = Watching()
    for _ in range(rounds):
        for name, get in schedulers().items():
            for shape in SHAPES:
                graph, keys = make(shape, count if name.startswith("venturi") else count // 10)
                begin = time.process_time()
                get(graph, keys)
                seconds = {"get": time.process_time() - begin}
                if name.startswith("venturi"):
                    venturi.dask._observe(watching)
                    get(graph, keys)
                    venturi.dask._unobserve(watching)
                    seconds["run"] = watching.seconds
                for what, value in seconds.items():
                    figure = value / len(graph) * 1e6
                    best[name, shape, what] = min(figure, best.get((name, shape, what), figure))
    return [{"tool": name, "shape": shape, "what": what, "us": value} for (name, shape, what), value in best.items()]


# ---- outside ------------------------------------------------------------------------------------

def measured(python, version, options):
    neighbours = os.path.join(os.path.dirname(HERE), "build", "neighbours", version + "-dask")
    path = os.pathsep.join([os.path.join(options.build, "python"), neighbours, HERE])
    command = [python, os.path.abspath(__file__), "--inside", "--rounds", str(options.rounds), "--tasks", str(options.tasks)]
    done = subprocess.run(command, env=dict(os.environ, PYTHONPATH=path), capture_output=True, text=True)
    if done.returncode:
        sys.exit("bench_dask: %s: %s" % (python, done.stderr.strip()))
    return [dict(row, python=version) for row in json.loads(done.stdout)]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--build", default=os.path.join(os.path.dirname(HERE), "build"))
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--tasks", type=int, default=100_000)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("pythons", nargs="*")
    options = parser.parse_args()
    if options.inside:
        print(json.dumps(measure(options.rounds, options.tasks)))
        return
    from bench_python import pythons, version_of

    for python in options.pythons or pythons():
        for row in measured(python, version_of(python), options):
            if options.json:
                print(json.dumps(row))
            else:
                print("%-6s %-16s %-12s %-4s %8.3f us" % (row["python"], row["tool"], row["shape"], row["what"], row["us"]))


if __name__ == "__main__":
    main()
