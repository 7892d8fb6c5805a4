#!/usr/bin/env python3
"""Seconds and memory of `venturi trace show --from redis://…` on one trace of many spans in a real Redis.

usage: bench_stores.py VENTURI [--spans N] [--runs N]

The trace is what osprofiler's driver would have written. The best run counts: once by the clock, which includes the server's work and whatever else the machine
does, once by processor time of the tool and venturi-fetch; memory is the largest of all runs. Prints one JSON object a line; nothing without redis-server.
"""
import argparse
import json
import os
import resource
import shutil
import socket
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from bench_traces import BASE, make_events, time_text  # noqa: E402


def command(*words):
    words = [word.encode() if isinstance(word, str) else word for word in words]
    return b"*%d\r\n" % len(words) + b"".join(b"$%d\r\n%s\r\n" % (len(word), word) for word in words)


def fill(port, count):
    with socket.create_connection(("127.0.0.1", port)) as link, link.makefile("rb") as answers:
        sent, pending = 0, []
        for us, is_stop, _, span, parent, name, facts in make_events(count):
            info = {"host": "vm", **({"db": json.loads(facts)} if facts else {})}
            event = {"name": name + ("-stop" if is_stop else "-start"), "base_id": BASE, "trace_id": span, "parent_id": parent,
                     "timestamp": time_text(us), "info": info, "project": "mistral", "service": "engine"}
            pending.append(command("LPUSH", "osprofiler_opt:" + BASE, json.dumps(event)))
            sent += 1
            if len(pending) == 1000:
                link.sendall(b"".join(pending))
                for _ in pending:
                    answers.readline()
                pending = []
        link.sendall(b"".join(pending))
        for _ in pending:
            answers.readline()


def measure(tool, url):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    begin = time.perf_counter()
    subprocess.run([tool, "trace", "show", BASE, "--from", url, "--json"], stdout=subprocess.DEVNULL, check=True)
    wall = time.perf_counter() - begin
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("tool")
    parser.add_argument("--spans", type=int, default=100000)
    parser.add_argument("--runs", type=int, default=7)
    options = parser.parse_args()
    if not shutil.which("redis-server"):
        return
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    with tempfile.TemporaryDirectory() as folder:
        server = subprocess.Popen(["redis-server", "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--dir", folder], stdout=subprocess.DEVNULL)
        try:
            for _ in range(200):
                try:
                    socket.create_connection(("127.0.0.1", port), 1).close()
                    break
                except OSError:
                    time.sleep(0.05)
            fill(port, options.spans)
            runs = [measure(options.tool, f"redis://127.0.0.1:{port}") for _ in range(options.runs)]
        finally:
            server.kill()
            server.wait()
    most = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    for name, value, unit in (("stores_redis", min(run[0] for run in runs), "s"), ("stores_redis_cpu", min(run[1] for run in runs), "s"),
                              ("stores_redis_memory", most, "MB")):
        print(json.dumps({"name": name, "value": value, "unit": unit, "spans": options.spans}))


if __name__ == "__main__":
    main()
