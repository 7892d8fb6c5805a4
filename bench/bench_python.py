#!/usr/bin/env python3
"""What function profiling of Python costs: ours, cProfile, and what else an interpreter has (yappi, viztracer).

usage: bench_python.py [--build FOLDER] [--rounds N] [--json] [PYTHON...]

PYTHON is a path; without any those of tools/pythons are measured. Each tool runs in processes of its own, in turn with
the others. A process measures itself before the tool is switched on and after: where its memory happens to lie makes
one process up to 30 % slower than the next, with or without a tool. Of the batches of a process the fastest counts, for
other load only ever adds time; of the processes the lower quartile of what the tool adds, and the median of factors.
Times are CPU time of the process. The row of nothing shows how far that is to be trusted. Prints a table, or with --json
one object a line.
"""
import argparse
import json
import os
import statistics
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
TOOLS = ["nothing", "venturi", "venturi, builtins", "cProfile", "yappi", "viztracer"]
BUDGETS = {"venturi": {(3, 12): 0.33, None: 0.25}, "venturi, builtins": {(3, 12): 0.62, (3, 13): 0.46}}


# ---- in the measured interpreter, which may be any from 3.9 on ----------------------------------

def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)


def run_fib():
    fib(14)


def run_loop(rounds=(None,) * 15):
    """Numbers stay below 257, which Python makes no objects for: what those cost depends on what lies in memory already."""
    total = 0
    for _ in rounds:
        i = 0
        while i < 200:
            total = total + (i & 7) & 127
            i += 1
    return total


def run_mix(rows=tuple("%d,%d,name %d" % (i, i * i, i % 7) for i in range(60))):
    import re
    number = re.compile(r"\d+")
    table = []
    for row in rows:
        first, second, name = row.split(",")
        table.append({"first": int(first), "second": [int(x) for x in number.findall(second)], "name": name.upper()})
    table.sort(key=lambda entry: (entry["name"], -entry["first"]))
    return json.loads(json.dumps(table)) == table


WORK = {"fib": (run_fib, 1219), "loop": (run_loop, 0), "mix": (run_mix, 0)}


def switch_on(tool):
    if tool.startswith("venturi"):
        from venturi import _venturi
        _venturi.calls_start()
        _venturi.start(builtins="builtins" in tool)
    elif tool == "cProfile":
        import cProfile
        profile = cProfile.Profile()
        profile.enable()
        return profile
    elif tool == "yappi":
        import yappi
        yappi.set_clock_type("wall")
        yappi.start()
    elif tool == "viztracer":
        import viztracer
        tracer = viztracer.VizTracer(verbose=0, tracer_entries=1000)
        tracer.start()
        return tracer
    return None


def shortest_batch(function, seconds):
    """In nanoseconds."""
    clock = time.process_time_ns
    shortest = 1 << 62
    for _ in range(5):
        function()
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        before = clock()
        function()
        shortest = min(shortest, clock() - before)
    return shortest


def work(tool, seconds):
    """The shortest batch of each kind of work, without the tool and with it."""
    without = {name: shortest_batch(function, seconds) for name, (function, _) in WORK.items()}
    kept = switch_on(tool)
    print(json.dumps({name: (without[name], shortest_batch(function, seconds))
                      for name, (function, _) in WORK.items()}))
    sys.stdout.flush()
    del kept
    os._exit(0)


# ---- outside ------------------------------------------------------------------------------------

def version_of(python):
    return subprocess.run([python, "-c", "import sys; print('%d.%d' % sys.version_info[:2])"],
                          capture_output=True, text=True, check=True).stdout.strip()


def measure(python, tool, seconds, folder):
    neighbours = os.path.join(HERE, "..", "build", "neighbours", version_of(python) + "-bench")
    env = dict(os.environ, PYTHONPATH=os.pathsep.join([os.path.join(folder, "python"), neighbours]))
    done = subprocess.run([python, os.path.abspath(__file__), "--work", tool, str(seconds)], env=env,
                          capture_output=True, text=True, stdin=subprocess.DEVNULL)
    if done.returncode:
        return None
    return json.loads(done.stdout.splitlines()[-1])


def measure_all(python, options):
    """What each process found, by tool."""
    found = {tool: [] for tool in TOOLS}
    missing = set()
    for _ in range(options.rounds):
        for tool in TOOLS:
            one = None if tool in missing else measure(python, tool, options.seconds, options.build)
            if one:
                found[tool].append(one)
            else:
                missing.add(tool)
    return found


def call_ns(found):
    """A machine that is busy for a while slows several processes down, with the tool and without."""
    added = sorted(one["fib"][1] - one["fib"][0] for one in found)
    return added[len(added) // 4] / WORK["fib"][1]


def figures(version, found):
    """One for each tool: net ns for a call, its ratio to cProfile, factors of the three kinds of work."""
    peer = call_ns(found["cProfile"])
    for tool in TOOLS:
        if not found[tool]:
            yield {"python": version, "tool": tool, "missing": True}
            continue
        net = call_ns(found[tool])
        limits = BUDGETS.get(tool, {})
        budget = limits.get(tuple(int(n) for n in version.split(".")), limits.get(None))
        yield {"python": version, "tool": tool, "call_ns": net, "ratio": net / peer, "budget": budget,
               "factors": {name: statistics.median(one[name][1] / one[name][0] for one in found[tool])
                           for name in WORK}}


def show(row):
    if "missing" in row:
        return "%-5s %-18s not installed" % (row["python"], row["tool"])
    verdict = ""
    if row["budget"]:
        verdict = "<= %.2f %s" % (row["budget"], "ok" if row["ratio"] <= row["budget"] else "OVER")
    return "%-5s %-18s %8.1f ns %6.2f x  %-14s fib %5.2f  loop %5.3f  mix %5.2f" % (
        row["python"], row["tool"], row["call_ns"], row["ratio"], verdict, row["factors"]["fib"],
        row["factors"]["loop"], row["factors"]["mix"])


def pythons():
    listed = subprocess.run([os.path.join(HERE, "..", "tools", "pythons")], capture_output=True, text=True, check=True)
    return [line.split("\t")[1] for line in listed.stdout.splitlines()]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--build", default=os.path.join(HERE, "..", "build"))
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--seconds", type=float, default=0.05, help="for each kind of work in each process")
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
