#!/usr/bin/env python3
"""Lines per CPU-second of `venturi rank` against a Python script of the same algorithm.

usage: bench_rank.py VENTURI [--lines N] [--runs N] [--log FILE]

Both read the same generated log, in turn, and the best run of each counts: other load on the machine
only ever makes a run slower. Prints one JSON object a line; "peer" is the script's value.
"""
import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))


def cpu_seconds(command, output):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    with open(output, "wb") as to:
        subprocess.run(command, check=True, stdout=to)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def measure(options, folder, log):
    ours_out, peer_out = os.path.join(folder, "ours"), os.path.join(folder, "peer")
    commands = {
        "default": [options.venturi, "rank", log],
        "wide": [options.venturi, "rank", "--wide", log],
        "peer": [sys.executable, "-I", os.path.join(HERE, "rank_reference.py"), log, peer_out],
    }
    best = {name: float("inf") for name in commands}
    for _ in range(options.runs):
        for name, command in commands.items():
            output = ours_out if name == "default" else os.devnull
            best[name] = min(best[name], cpu_seconds(command, output))
    with open(ours_out, "rb") as ours, open(peer_out, "rb") as peer:
        if ours.read() != peer.read():
            sys.exit("bench_rank.py: the two tables differ")
    return best


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("venturi")
    parser.add_argument("--lines", type=int, default=2_000_000)
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--log", help="a log without defects that exists already")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        log = options.log or os.path.join(folder, "trace.log")
        if not options.log:
            subprocess.run([sys.executable, os.path.join(HERE, "gen_log.py"), "--lines",
                            str(options.lines), "-o", log], check=True)
        with open(log, "rb") as text:
            lines = sum(1 for _ in text)
        best = measure(options, folder, log)
    for name in ("default", "wide"):
        print(json.dumps({
            "name": "rank" if name == "default" else "rank --wide",
            "value": round(lines / best[name]),
            "unit": "lines per CPU-second",
            "peer": round(lines / best["peer"]),
            "ratio": round(best["peer"] / best[name], 2),
        }))


if __name__ == "__main__":
    main()
