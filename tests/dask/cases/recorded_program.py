"""Computes the same graph by each scheduler, and one that fails; its recording is looked at by test_recorded.py."""
import operator
import sys

import venturi.dask

GRAPH = {"x": 1, ("load-0123456789abcdef0123456789abcdef", 0): (operator.neg, "x"),
         "sum-aggregate-0f": (operator.add, "x", ("load-0123456789abcdef0123456789abcdef", 0)), 5: (operator.neg, "sum-aggregate-0f"), "5": (operator.neg, 5)}


def bad(x):
    raise ValueError("why")


if __name__ == "__main__":
    for scheduler in ("sync", "threads", "processes"):
        assert venturi.dask.get(GRAPH, ["5", 5], scheduler=scheduler, num_workers=2) == (0, 0)
    try:
        venturi.dask.get({"before": (len, "ab"), "bad": (bad, "before"), "after": (abs, "bad")}, "after")
    except ValueError:
        sys.exit(7)
