#!/usr/bin/env python3
"""What function profiling of Python costs: ours, cProfile, and what else an interpreter has (yappi, viztracer).

usage: bench_python.py [--build FOLDER] [--rounds N] [--json] [PYTHON...]

PYTHON is a path; without any those of tools/pythons are measured. Each tool runs in a process of its own, in
turn, and the fastest of many short batches counts: other load on the machine only ever adds time. Times are
CPU time of the process. Prints a table, or with --json one object a line.
"""
import argparse
import json
import os
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


def run_loop():
    i = total = 0
    while i < 3000:
        total += i & 7
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


def work(tool, seconds):
    """The shortest batch of each kind of work, in nanoseconds."""
    for function, _ in WORK.values():
        function()
    kept = switch_on(tool)
    clock = time.process_time_ns
    best = {}
    for name, (function, _) in WORK.items():
        for _ in range(5):
            function()
        shortest = 1 << 62
        end = time.perf_counter() + seconds
        while time.perf_counter() < end:
            before = clock()
            function()
            shortest = min(shortest, clock() - before)
        best[name] = shortest
    print(json.dumps(best))
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
    best = {}
    for _ in range(options.rounds):
        for tool in TOOLS:
            found = measure(python, tool, options.seconds, options.build)
            if found:
                known = best.setdefault(tool, found)
                best[tool] = {name: min(known[name], value) for name, value in found.items()}
    return best


def figures(version, best):
    """One for each tool: net ns for a call, its ratio to cProfile, factors of the three kinds of work."""
    base, calls = best["nothing"], WORK["fib"][1]
    peer = (best["cProfile"]["fib"] - base["fib"]) / calls
    for tool in TOOLS[1:]:
        if tool not in best:
            yield {"python": version, "tool": tool, "missing": True}
            continue
        net = (best[tool]["fib"] - base["fib"]) / calls
        limits = BUDGETS.get(tool, {})
        budget = limits.get(tuple(int(n) for n in version.split(".")), limits.get(None))
        yield {"python": version, "tool": tool, "call_ns": net, "ratio": net / peer, "budget": budget,
               "factors": {name: best[tool][name] / base[name] for name in WORK}}


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
    parser.add_argument("--rounds", type=int, default=4)
    parser.add_argument("--seconds", type=float, default=0.4, help="for each kind of work in each round")
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
