#!/usr/bin/env python3
"""What line profiling of Python costs: ours, line_profiler 4 and 5, and nothing.

usage: bench_lines.py [--build FOLDER] [--rounds N] [--json] [PYTHON...]

As bench_python.py does it: each tool runs in processes of its own, in turn with the others; a process measures itself before
the tool is switched on and after; of its batches the fastest counts, of the processes the lower quartile of what the
tool adds for each line, and the median of factors. Processes are short and many, so that other load disturbs a few of
each tool. "least" is the fastest batch of all with the tool less the fastest of all without: it moves more from run to run, for
one process that happens to lie well in memory decides it. Version 5 costs about two thirds of version 4 on 3.11, which is what the budget was
written for; both are shown. "plain" is code that nobody decorated, "callees" what a decorated function calls,
"yields" what a decorated generator calls: all should run as if there were no tool. Prints a table, or with --json one object a line.
"""
import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

from bench_python import fib, pythons, shortest_batch, version_of  # noqa: E402

PEERS = ["line_profiler 4", "line_profiler 5"]
TOOLS = ["nothing", "venturi", *PEERS]
TURNS = 3000
LINES = 3 * TURNS + 3
FACTORS = ("plain", "callees", "yields")


# ---- in the measured interpreter, which may be any from 3.9 on ----------------------------------

def loop():
    i = total = 0
    while i < TURNS:
        total += i & 7
        i += 1
    return total


def plain():
    return fib(14)


def callees():
    result = fib(14)
    return result


def yields():
    while True:
        yield fib(14)


def decorate(tool):
    """What decorates a function, and is kept alive."""
    if tool == "venturi":
        from venturi import profile
        profile.enable("lines")
        return profile
    if tool in PEERS:
        import line_profiler
        return line_profiler.LineProfiler()
    return lambda function: function


def work(tool, seconds):
    """The shortest batch of each kind of work, without the tool and with it."""
    kinds = {"loop": loop, "plain": plain, "callees": callees, "yields": yields().__next__}
    without = {name: shortest_batch(function, seconds) for name, function in kinds.items()}
    profile = decorate(tool)
    kinds["loop"], kinds["callees"], kinds["yields"] = profile(loop), profile(callees), profile(yields)().__next__
    kinds["yields"]()  # it is there, suspended, while the others run
    print(json.dumps({name: (without[name], shortest_batch(function, seconds)) for name, function in kinds.items()}))
    sys.stdout.flush()
    os._exit(0)


# ---- outside ------------------------------------------------------------------------------------

def peer_folder(version, tool):
    return os.path.join(HERE, "..", "build", "neighbours", "%s-lines%s" % (version, tool.split()[-1]))


def measure(python, tool, options):
    folder = tempfile.mkdtemp(prefix="lines-", dir=options.build)
    env = dict(os.environ, PYTHONPATH=os.pathsep.join([os.path.join(options.build, "python"),
                                                       os.path.abspath(peer_folder(version_of(python), tool))]))
    try:
        done = subprocess.run([python, os.path.abspath(__file__), "--work", tool, str(options.seconds)], env=env,
                              cwd=folder, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return json.loads(done.stdout.splitlines()[-1]) if done.returncode == 0 else None


def measure_all(python, options):
    """What each process found, by tool."""
    found = {tool: [] for tool in TOOLS}
    missing = set()
    for _ in range(options.rounds):
        for tool in TOOLS:
            one = None if tool in missing else measure(python, tool, options)
            if one:
                found[tool].append(one)
            else:
                missing.add(tool)
    return found


def line_ns(found):
    added = sorted(one["loop"][1] - one["loop"][0] for one in found)
    return added[len(added) // 4] / LINES


def least_ns(found):
    return (min(one["loop"][1] for one in found) - min(one["loop"][0] for one in found)) / LINES


def figures(version, found):
    """One for each tool: net ns for a line, its ratio to both line_profilers, factors of what is not profiled."""
    peers = {tool: line_ns(found[tool]) for tool in PEERS if found[tool]}
    for tool in TOOLS:
        if not found[tool]:
            yield {"python": version, "tool": tool, "missing": True}
            continue
        net = line_ns(found[tool])
        yield {"python": version, "tool": tool, "line_ns": net, "least_ns": least_ns(found[tool]),
               "ratios": {peer: net / ns for peer, ns in peers.items()} if tool == "venturi" else {},
               "factors": {name: statistics.median(one[name][1] / one[name][0] for one in found[tool])
                           for name in FACTORS}}


def show(row):
    if "missing" in row:
        return "%-5s %-14s not installed" % (row["python"], row["tool"])
    return "%-5s %-15s %8.1f ns a line, least %5.1f  %-20s %s" % (
        row["python"], row["tool"], row["line_ns"], row["least_ns"],
        ", ".join("%.2f x %s" % (ratio, peer.split()[-1]) for peer, ratio in row["ratios"].items()),
        "  ".join("%s %5.3f" % (name, row["factors"][name]) for name in FACTORS))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--build", default=os.path.join(HERE, "..", "build"))
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--seconds", type=float, default=0.03, help="for each kind of work in each process")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("pythons", nargs="*", metavar="PYTHON")
    options = parser.parse_args()
    options.build = os.path.abspath(options.build)
    for python in options.pythons or pythons():
        for row in figures(version_of(python), measure_all(python, options)):
            print(json.dumps(row) if options.json else show(row), flush=True)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--work"]:
        work(sys.argv[2], float(sys.argv[3]))
    main()
