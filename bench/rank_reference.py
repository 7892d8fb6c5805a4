#!/usr/bin/env python3
"""Ranks a trace log the way Mistral's rank_profiled_methods.py does, mistakes included.

Written from a description of that script's behaviour; `venturi rank --compat` must agree with it byte for
byte, and `venturi rank` on logs that hold none of the lines it stumbles over. It is also the peer
against which bench_rank.py measures.

usage: rank_reference.py LOG OUT
"""
import sys

HEADER = "Total time | Max time | Avg time | Occurrences | Trace name\n"
ROW = "{:<12.3f} {:<10.3f} {:<10.3f} {:<13d} {}\n"


def read_stats(log):
    """name -> [total, largest, count], in order of first appearance."""
    stats = {}
    for line in log:
        words = line.split()
        # Of a start line the second word is a UUID. So is, to the script, a duration of 11 characters.
        if len(words[1]) > 10:
            continue
        word = words[5]
        name = word[:len(word) - 5]
        seconds = float(words[1])
        if name in stats:
            row = stats[name]
            row[0] += seconds
            row[2] += 1
            if seconds > row[1]:
                row[1] = seconds
        else:
            stats[name] = [seconds, seconds, 1]
    return stats


def main():
    if len(sys.argv) < 3:
        print(__doc__)
        return "Failed to parse arguments."
    print("Ranking profiled methods...")
    log = open(sys.argv[1])
    out = open(sys.argv[2], "w")  # before reading: it stays, empty, when a line cannot be read
    with log:
        stats = read_stats(log)
    out.write(HEADER + "-" * 91 + "\n")
    for name, (total, largest, count) in sorted(stats.items(), key=lambda item: item[1][0],
                                                reverse=True):
        out.write(ROW.format(total, largest, total / count, count, name))
    out.close()
    print("Ranking file was successfully created: %s" % sys.argv[2])
    return 0


if __name__ == "__main__":
    sys.exit(main())
