"""A matrix is taken apart and put together again (QR), in blocks: a graph of dask's, computed by Venturi's engine and profiled.

    examples/graph_dask.py page.html      needs dask and numpy; writes what it did as a page
"""
import os
import sys

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # the graph has threads enough

import dask.array as da

import venturi.dask.threaded
from venturi.diagnostics import CacheProfiler, Profiler, ProgressBar, ResourceProfiler, thread_prof, visualize


def bytes_of(value):
    return getattr(value, "nbytes", 0)


def main(page):
    a = da.random.random(size=(5000, 500), chunks=(500, 500))
    q, r = da.linalg.qr(a)
    a2 = q.dot(r)

    out = a2.compute(scheduler=thread_prof.get)
    first = thread_prof.results()[0]
    print("%d tasks; the first is %r and took %.1f ms" % (len(thread_prof.results()), first.key, 1e3 * (first.end_time - first.start_time)))

    with Profiler() as tasks, ResourceProfiler(dt=0.02) as resources, CacheProfiler(bytes_of) as cache, ProgressBar(dt=0.5):
        again = a2.compute(scheduler=venturi.dask.threaded.get)
    print("largest difference of both: %g" % abs(out - again).max())
    print("most memory: %.0f MB; kept longest: %r" % (
        max(reading.mem for reading in resources.results), max(cache.results, key=lambda kept: kept.free_time - kept.cache_time).key))
    visualize([tasks, resources, cache], filename=page, show=False)
    print("what ran when is in %s" % page)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "graph_dask.html")
