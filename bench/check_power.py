#!/usr/bin/env python3
"""How often `venturi check` cries wolf, and how often it finds what is there, on this machine as it is.

usage: bench/check_power.py [--build FOLDER] [--count N] [--slower PERCENT] [--json FILE]

N comparisons of a program with itself, and N with one that does PERCENT more work (20), in turn, with the defaults of
`venturi check`. Prints both rates, and exits with 1 if more than 1 % of the first or less than 95 % of the second say
"regression".
"""
import argparse
import json
import os
import statistics
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
AMOUNT = 1000


def compare(tool, program, factor):
    """One check: its exit code, the ratio of CPU times it found, and how many pairs of runs that took."""
    command = [tool, "check", "--json", "--no-counts", "--base-cmd", "%s %d" % (program, AMOUNT),
               "--new-cmd", "%s %d" % (program, round(AMOUNT * factor))]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    if done.returncode not in (0, 1, 3):
        sys.exit("check_power: %s" % done.stderr.strip())
    found = json.loads(done.stdout)
    ratio = next(row["ratio"] for row in found["rows"] if row["name"] == "cpu")
    return done.returncode, ratio, found["runs"] + found["confirming_runs"]


def summary(results):
    codes = [code for code, _, _ in results]
    return {"comparisons": len(results), "regression": codes.count(1), "ok": codes.count(0), "inconclusive": codes.count(3),
            "ratio": statistics.median(ratio for _, ratio, _ in results),
            "least_ratio": min(ratio for _, ratio, _ in results), "most_ratio": max(ratio for _, ratio, _ in results),
            "pairs": statistics.median(pairs for _, _, pairs in results), "most_pairs": max(pairs for _, _, pairs in results)}


def show(title, one):
    print("%-22s %3d comparisons: %3d regression, %3d ok, %3d inconclusive; ratio %.3f (%.3f to %.3f); %g pairs of runs (at most %d)"
          % (title, one["comparisons"], one["regression"], one["ok"], one["inconclusive"], one["ratio"], one["least_ratio"],
             one["most_ratio"], one["pairs"], one["most_pairs"]))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", default=os.path.join(os.path.dirname(HERE), "build"))
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--slower", type=float, default=20)
    parser.add_argument("--json")
    asked = parser.parse_args()
    tool, program = os.path.join(asked.build, "venturi"), os.path.join(asked.build, "bench", "check_work")
    if asked.count < 1:
        parser.error("--count: at least one comparison")
    for path in (tool, program):
        if not os.access(path, os.X_OK):
            sys.exit("check_power: %s is not built" % path)
    start, load = time.time(), os.getloadavg()[0]
    same, slower = [], []
    for _ in range(asked.count):
        same.append(compare(tool, program, 1))
        slower.append(compare(tool, program, 1 + asked.slower / 100))
    results = {"same": summary(same), "slower": summary(slower), "slower_by": asked.slower,
               "seconds": time.time() - start, "cpus": os.cpu_count(), "load": [load, os.getloadavg()[0]]}
    show("the same program", results["same"])
    show("%+g %% CPU time" % asked.slower, results["slower"])
    print("%.0f s, %d CPUs, load average %.1f before, %.1f after" % (results["seconds"], results["cpus"], *results["load"]))
    if asked.json:
        with open(asked.json, "w", encoding="utf-8") as out:
            json.dump(results, out, indent=1)
    is_right = same and 100 * results["same"]["regression"] <= asked.count and \
        100 * results["slower"]["regression"] >= 95 * asked.count
    print("within the limits" if is_right else "NOT within the limits: at most 1 % false alarms, at least 95 % found")
    sys.exit(0 if is_right else 1)


main()
