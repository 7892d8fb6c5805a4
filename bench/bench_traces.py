#!/usr/bin/env python3
"""Seconds and memory of `venturi trace show` on one trace of many spans, beside osprofiler's own report of the same.

usage: bench_traces.py VENTURI [--spans N] [--runs N] [--osprofiler FOLDER] [--keep FOLDER]

The trace is written as a log, imported once, and shown from the recording: as JSON and, with --compat, as
osprofiler's report, which must be the same as the one that osprofiler builds. Best CPU time of each counts; memory
is the largest of all runs. Prints one JSON object a line; FOLDER is where osprofiler is installed.
"""
import argparse
import datetime
import json
import os
import random
import subprocess
import sys
import tempfile

BASE = "0c2f8a4e-97b1-4f5d-8d36-52e1b7c6a901"
NAMES = ("task-run", "workflow-set-state", "engine-on-action-complete", "db", "rpc", "driver", "dispatcher-dispatch-commands")
START = datetime.datetime(2026, 11, 15, 8, 0, 0)
STATEMENT = "SELECT task_executions_v2.id, task_executions_v2.name FROM task_executions_v2 WHERE id = %d"


def time_text(us):
    return (START + datetime.timedelta(microseconds=us)).isoformat(timespec="microseconds")


def make_events(count, seed=1):
    """(us, is_stop, duration us, span, parent, name, json) of a random tree, in order of time."""
    draw = random.Random(seed)
    open_spans, now, made = [], 0, 0
    while made < count or open_spans:
        now += draw.randint(1, 40)
        if made < count and (len(open_spans) < 2 or (len(open_spans) < 24 and draw.random() < 0.5)):
            span = "%08x-0000-4000-8000-%012x" % (draw.getrandbits(32), made + 1)
            name = draw.choice(NAMES)
            parent = open_spans[-1][0] if open_spans else BASE
            facts = json.dumps({"statement": STATEMENT % made, "params": "{}"}) if name == "db" else ""
            yield now, False, 0, span, parent, name, facts
            open_spans.append((span, parent, name, now))
            made += 1
        else:
            span, parent, name, begin = open_spans.pop()
            yield now, True, now - begin, span, parent, name, ""


def write_log(path, count):
    with open(path, "w") as log:
        for us, is_stop, duration, span, parent, name, facts in make_events(count):
            log.write("%s %s %s %s %s %s-%s%s\n" % (
                time_text(us), repr(duration / 1e6) if is_stop else " " * 8, BASE, parent, span, name,
                "stop" if is_stop else "start", " " + facts if facts else ""))


PEER = """
import json, sys, time
sys.path.insert(0, sys.argv[1])
from osprofiler.drivers import base
payloads = [json.loads(line) for line in open(sys.argv[2])]
started = time.process_time()
driver = base.Driver("file://")
for p in payloads:
    driver._append_results(p["trace_id"], p["parent_id"], p["name"], p["project"], p["service"],
                           p["info"]["host"], p["timestamp"], p)
report = driver._parse_results()
text = json.dumps(report, separators=(",", ": "), indent=2)
print(time.process_time() - started)
open(sys.argv[3], "w").write(text + "\\n")
"""


def write_payloads(path, count, service):
    with open(path, "w") as out:
        for us, is_stop, _, span, parent, name, facts in make_events(count):
            info = {"db": json.loads(facts)} if facts else {}
            info["host"] = None
            out.write(json.dumps({
                "name": "%s-%s" % (name, "stop" if is_stop else "start"), "base_id": BASE, "trace_id": span,
                "parent_id": parent, "timestamp": time_text(us), "info": info, "project": None, "service": service}) + "\n")


def run(command, output):
    """CPU seconds and the largest memory in MB of one run."""
    with open(output, "wb") as to:
        child = subprocess.Popen(command, stdout=to)
        _, status, used = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        sys.exit("bench_traces.py: %s failed" % " ".join(command))
    return used.ru_utime + used.ru_stime, used.ru_maxrss / 1000


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("venturi")
    parser.add_argument("--spans", type=int, default=100_000)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--osprofiler")
    parser.add_argument("--keep", help="a folder for what is made")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        folder = options.keep or folder
        log, recording = os.path.join(folder, "service.log"), os.path.join(folder, "service.vt")
        write_log(log, options.spans)
        subprocess.run([options.venturi, "import", log, "-o", recording, "--force"], check=True,
                       stderr=subprocess.DEVNULL)
        figures = {}
        for name, words in (("trace_json", ["--json"]), ("trace_compat", ["--compat"])):
            runs = [run([options.venturi, "trace", "show", BASE] + words + [recording], os.path.join(folder, name))
                    for _ in range(options.runs)]
            figures[name] = {"value": min(cpu for cpu, _ in runs), "unit": "s", "spans": options.spans}
            figures[name + "_memory"] = {"value": max(mb for _, mb in runs), "unit": "MB"}
        if options.osprofiler:
            payloads, report = os.path.join(folder, "payloads"), os.path.join(folder, "report")
            write_payloads(payloads, options.spans, "service")
            done = subprocess.run([sys.executable, "-I", "-c", PEER, options.osprofiler, payloads, report], check=True,
                                  stdout=subprocess.PIPE, text=True)
            figures["trace_osprofiler"] = {"value": float(done.stdout), "unit": "s"}
            with open(report) as theirs, open(os.path.join(folder, "trace_compat")) as ours:
                if theirs.read() != ours.read():
                    sys.exit("bench_traces.py: the two reports differ")
    for name, figure in figures.items():
        print(json.dumps(dict(figure, name=name, value=round(figure["value"], 4))))


if __name__ == "__main__":
    main()
