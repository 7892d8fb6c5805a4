"""EmissionsTracker beside codecarbon's: start-up, a reading, and what both answer on the same counters.

usage: bench_trackers.py --build FOLDER [--rounds N]

codecarbon is a neighbour of one interpreter (tools/neighbours). Prints {"name", "value", "unit"} lines; CPU time, the middle of the rounds.
"""
import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(HERE)
SCENARIOS = {"plain": "machine", "idle": "idle process", "wrap": "counter wraps", "gap": "counter away for a while",
             "mirrored": "two mirrored dies", "dram": "package and memory", "children": "ten short children"}

# What a program pays: an empty block, in a folder of its own.
EMPTY = """
import resource
{using}
{block}
used = resource.getrusage(resource.RUSAGE_SELF)
print(used.ru_utime + used.ru_stime, used.ru_maxrss)
"""
BLOCK = """
with OfflineEmissionsTracker(country_iso_code="FRA", log_level="critical"):
    pass
"""
START = """
import time
{using}
before = time.thread_time()
tracker = OfflineEmissionsTracker(country_iso_code="FRA", log_level="critical")
tracker.start()
used = time.thread_time() - before
begin = time.thread_time()
for _ in range(20):
    {reading}
each = (time.thread_time() - begin) / 20
tracker.stop()
print(used, each)
"""
USING = {"venturi": "from venturi.energy import OfflineEmissionsTracker", "codecarbon": "from codecarbon import OfflineEmissionsTracker",
         "bare": ""}
READING = {"venturi": "tracker._meter._meter.take()", "codecarbon": "tracker._measure_power_and_energy()"}


def find_python(build):
    """An interpreter with our extension and codecarbon beside it: its path, and PYTHONPATH; or what is missing."""
    lines = subprocess.run([sys.executable, os.path.join(TOP, "tools", "pythons")], capture_output=True, text=True, check=True).stdout
    for line in lines.splitlines():
        version, python = line.split("\t")[:2]
        folder = os.path.join(TOP, "build", "neighbours", version + "-codecarbon")
        if os.path.exists(os.path.join(folder, "done")):
            return python, os.pathsep.join([os.path.join(build, "python"), folder])
    return None, None


class Runner:
    def __init__(self, python, path):
        self.python = python
        self.env = {key: value for key, value in os.environ.items() if not key.upper().startswith(("CODECARBON", "VENTURI", "PYTHON"))}
        self.env["PYTHONPATH"] = path

    def __call__(self, *arguments):
        """Standard output of a program, run in an empty folder that is its home too."""
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run([self.python, *(argument.replace("{folder}", folder) for argument in arguments)], capture_output=True,
                                  text=True, cwd=folder, env=dict(self.env, HOME=folder), timeout=300)
        if done.returncode:
            raise SystemExit(done.stderr)
        return done.stdout.strip().splitlines()[-1]


def say(name, value, unit):
    print(json.dumps({"name": name, "value": value, "unit": unit}), flush=True)


def middle(runner, program, rounds):
    """The two numbers that a program prints, each the middle of some runs."""
    found = [[float(word) for word in runner("-c", program).split()] for _ in range(rounds)]
    return [statistics.median(column) for column in zip(*found)]


def answers(runner):
    """{scenario: {tool: what it answers}}"""
    return {scenario: {tool: json.loads(runner(os.path.join(HERE, "one_tracker.py"), tool, scenario, "{folder}"))
                       for tool in ("venturi", "codecarbon")} for scenario in SCENARIOS}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", required=True)
    parser.add_argument("--rounds", type=int, default=9)
    options = parser.parse_args()
    python, path = find_python(os.path.abspath(options.build))
    if not python:
        raise SystemExit("no codecarbon among the neighbours: run tools/neighbours")
    runner = Runner(python, path)
    for tool, using in USING.items():
        program = EMPTY.format(using=using, block=BLOCK if using else "")
        used, memory = middle(runner, program, options.rounds)
        say("tracker_%s_empty" % tool, used * 1e3, "ms")
        say("tracker_%s_memory" % tool, memory / 1024, "MB")
    for tool, reading in READING.items():
        start, each = middle(runner, START.format(using=USING[tool], reading=reading), options.rounds)
        say("tracker_%s_start" % tool, start * 1e3, "ms")
        say("tracker_%s_reading" % tool, each * 1e6, "us")
    for scenario, both in answers(runner).items():
        for tool, answer in both.items():
            unit = "J" if "joules" in answer else "s"
            say("tracker_%s_%s" % (tool, scenario), answer["joules" if unit == "J" else "seconds"], unit)
            say("tracker_right_%s" % scenario, answer["right"], unit)


if __name__ == "__main__":
    main()
