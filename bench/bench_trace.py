#!/usr/bin/env python3
"""What a trace point of Python costs: ours and osprofiler's, with somebody who is told and with nobody.

usage: bench_trace.py [--build FOLDER] [--rounds N] [--json] [PYTHON...]

PYTHON is a path; without any those of tools/pythons are measured. A pair is a begin and an end, without arguments, minus the same loop or call
without them. On: ours in a trace, with ids, under `venturi run`; osprofiler in a trace with a notifier that does nothing. Off: no trace, nobody
records. Processes of all kinds take turns; of the short batches of all of them the fastest counts, for other load only ever adds time.
"""
import argparse
import json
import os
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
TOOLS = ["venturi, on", "venturi, off", "osprofiler, on", "osprofiler, off"]
FORMS = ["start and stop", "with Trace", "decorator"]
PAIRS = 100  # a batch: 2 to 30 us for ours, so that some are undisturbed


# ---- in the measured interpreter, which may be any from 3.9 on ----------------------------------

def batches(points, pairs):
    """The three forms, each with what is taken off."""
    start, stop, Trace = points.start, points.stop, points.Trace
    rounds = (None,) * pairs

    def bare():
        pass
    traced = points.trace("decorated", hide_args=True)(lambda: None)

    def empty_loop():
        for _ in rounds:
            pass

    def calls():
        for _ in rounds:
            bare()

    def by_hand():
        for _ in rounds:
            start("by hand")
            stop()

    def by_with():
        for _ in rounds:
            with Trace("with"):
                pass

    def by_decorator():
        for _ in rounds:
            traced()
    return dict(zip(FORMS, [(by_hand, empty_loop), (by_with, empty_loop), (by_decorator, calls)]))


def shortest(functions, seconds, rest):
    """Of each function, the shortest of its batches, in nanoseconds. The rests let whoever writes the recording keep up."""
    clock = time.perf_counter_ns
    found = [1 << 62] * len(functions)
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        for at, function in list(enumerate(functions)) * 8:  # the first ones after a rest are slow
            before = clock()
            function()
            found[at] = min(found[at], clock() - before)
        if rest:
            time.sleep(rest)
    return found


def work(tool, seconds):
    package, state = tool.split(", ")
    pairs = PAIRS if package == "venturi" or state == "off" else PAIRS // 10
    if package == "venturi":
        from venturi import _venturi, trace as points
        assert _venturi.info()["recording"] == (state == "on")
    else:
        from osprofiler import profiler as points
    if state == "on":
        points.init("key")
    rest = 0.001 if tool == "venturi, on" else 0
    forms = batches(points, pairs)
    print(json.dumps({form: [ns / pairs for ns in shortest(both, seconds, rest)] for form, both in forms.items()}))


# ---- outside ------------------------------------------------------------------------------------

def version_of(python):
    return subprocess.run([python, "-c", "import sys; print('%d.%d' % sys.version_info[:2])"],
                          capture_output=True, text=True, check=True).stdout.strip()


def measure(python, tool, options):
    neighbours = os.path.join(HERE, "..", "build", "neighbours", version_of(python) + "-trace")
    env = dict(os.environ, PYTHONPATH=os.pathsep.join([os.path.join(options.build, "python"), neighbours]))
    command = [python, os.path.abspath(__file__), "--work", tool, str(options.seconds)]
    if tool == "venturi, on":
        recording = os.path.join(options.build, "bench", "trace-%d.vt" % os.getpid())
        command = [os.path.join(options.build, "venturi"), "run", "-q", "-f", "--no-functions", "--no-resources", "-o", recording,
                   "--python", python, *command[1:]]
    done = subprocess.run(command, env=env, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    if tool == "venturi, on" and os.path.exists(recording):
        told = subprocess.run([os.path.join(options.build, "venturi"), "rank", "--json", recording], capture_output=True, text=True)
        os.unlink(recording)
        if json.loads(told.stdout)["lost_events"]:
            return None  # what is lost is cheaper
    return json.loads(done.stdout.splitlines()[-1]) if done.returncode == 0 else None


def figures(python, options):
    """One row for each tool and form."""
    found = {}
    for _ in range(options.rounds):
        for tool in TOOLS:
            for form, both in (measure(python, tool, options) or {}).items():
                before = found.setdefault((tool, form), both)
                found[tool, form] = [min(pair) for pair in zip(before, both)]
    version = version_of(python)
    for tool in TOOLS:
        for form in FORMS:
            row = {"python": version, "tool": tool, "form": form}
            both = found.get((tool, form))
            yield dict(row, pair_ns=both[0] - both[1]) if both else dict(row, missing=True)


def show(row):
    what = "%-5s %-16s %-15s" % (row["python"], row["tool"], row["form"])
    return what + ("not installed" if "missing" in row else "%9.1f ns" % row["pair_ns"])


def pythons():
    listed = subprocess.run([os.path.join(HERE, "..", "tools", "pythons")], capture_output=True, text=True, check=True)
    return [line.split("\t")[1] for line in listed.stdout.splitlines()]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--build", default=os.path.join(HERE, "..", "build"))
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=0.3, help="for each form in each process")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("pythons", nargs="*", metavar="PYTHON")
    options = parser.parse_args()
    options.build = os.path.abspath(options.build)
    for python in options.pythons or pythons():
        for row in figures(python, options):
            print(json.dumps(row) if options.json else show(row), flush=True)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--work"]:
        work(sys.argv[2], float(sys.argv[3]))
    else:
        main()
