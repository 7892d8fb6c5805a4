"""Under a distributed Client, where dask's own profilers stay empty; and dask_profiler."""
import asyncio
import contextlib
import io
import itertools
import os
import pstats
import sys
import warnings

import dask
from dask.diagnostics import Profiler as DaskProfiler
from distributed import Client, LocalCluster, default_client
from graphs import page, tasks_of

from venturi.diagnostics import CacheProfiler, Profiler, ProgressBar, ResourceProfiler, visualize
from venturi.tracing import dask_profiler, single_thread_profiler

OPTIONS = {"processes": False, "dashboard_address": "127.0.0.1:0", "n_workers": 1, "threads_per_worker": 2}
warnings.filterwarnings("ignore")


calls = itertools.count()
clusters = []


def work(count=8):
    """Keys are its own: a cluster does not compute again what it still has."""
    call = next(calls)
    parts = [dask.delayed(abs)(-i, dask_key_name="abs-%d-%d" % (call, i)) for i in range(count)]
    return dask.delayed(sum)(parts, dask_key_name="sum-%d" % call).compute()


@contextlib.contextmanager
def shared():
    """A client of one cluster for all cases; no other one is active afterwards."""
    if not clusters:
        clusters.append(LocalCluster(**OPTIONS))
    with Client(clusters[0]) as client:
        yield client


def close():
    for cluster in clusters:
        cluster.close()


def no_client():
    try:
        default_client()
    except ValueError:
        return True
    return False


# First those without a worker in this process: older versions of dask take such a worker's client, whatever else there is.

def test_own_cluster():
    seen = []

    @dask_profiler(n_workers=1, threads_per_worker=2, report_name="made/for/it.html", mem_limit="500MB", display_report=False)
    def function(count, more=0):
        """What it does."""
        seen.append(default_client().scheduler_info()["workers"])
        return work(count) + more
    assert function(8, more=2) == 30 and function.__name__ == "function" and function.__doc__ == "What it does."
    (workers,) = seen
    assert [worker["nthreads"] for worker in workers.values()] == [2]
    assert [worker["memory_limit"] for worker in workers.values()] == [500_000_000]
    assert no_client() and len(tasks_of("made/for/it.html")) == 9
    assert page("made/for/it.html").table("task_runs").rows == 1


def test_predefined_cluster_and_errors():
    error = KeyError("mine")
    used = []

    @dask_profiler(n_workers=1, report_name="failed.html")  # one number alone does not ask for a cluster
    def function():
        used.append(default_client())
        work()
        raise error
    try:
        function()
    except KeyError as raised:
        assert raised is error and raised.__cause__ is None and raised.__context__ is None
    else:
        raise AssertionError("no error")
    assert no_client() and used[0].status == "closed"
    read = page("failed.html")
    assert "mine" in read.table("task_runs")["error"][0] and read.table("tasks").rows >= 9


def test_profilers_of_a_client():
    assert "bokeh" not in sys.modules
    out = io.StringIO()
    with shared() as client:
        with Profiler() as prof, CacheProfiler() as cache, ResourceProfiler(dt=0.01) as resources, DaskProfiler() as theirs:
            with ProgressBar(out=out):
                assert work() == 28
        assert "get" not in vars(client)
        assert work(3) == 3
    assert theirs.results == []
    assert sorted(row.key.split("-")[0] for row in prof.results) == ["abs"] * 8 + ["sum"] and len({row.key for row in prof.results}) == 9
    assert [row.start_time for row in prof.results] == sorted(row.start_time for row in prof.results)
    # Clocks of a cluster are set by what messages take.
    assert all(prof.start_time - 1 <= row.start_time <= row.end_time <= prof.end_time + 1 for row in prof.results), prof.results
    assert len(cache.results) == 9 and all(row.cache_time <= row.free_time for row in cache.results)
    assert len(resources.results) >= 2
    assert out.getvalue().endswith("\n") and "| 100% Completed |" in out.getvalue()
    path = visualize([prof, cache, resources], show=False)
    read = page(path)
    assert read.table("task_runs").rows == 1
    assert sorted(row["name"] for row in tasks_of(path)) == ["abs"] * 8 + ["sum"]


def test_registered_under_a_client():
    with shared():
        prof = Profiler()
        prof.register()
        work()
        prof.unregister()
        assert len(prof.results) == 9


def test_active_client():
    with shared() as client:
        @single_thread_profiler(report_name="calls.prof", limit=1)
        @dask_profiler()
        def function():
            assert default_client() is client
            return work()
        stats = function()
        assert stats.value == 28 and isinstance(stats, pstats.Stats) and pstats.Stats("calls.prof").total_calls
        assert len(tasks_of("dask-report.html")) == 9 and default_client() is client

        @dask_profiler
        def bare():
            return work(2)
        assert bare() == 1 and len(tasks_of("dask-report.html")) == 3

        @dask_profiler(1, 1, "own.html")
        def elsewhere():
            return default_client() is not client
        assert elsewhere() and default_client() is client and os.path.exists("own.html")


def test_off():
    def function():
        return 5
    assert dask_profiler(enable=False)(function) is function
    assert dask_profiler(4, 2, "x.html", True, False)(function) is function


def test_wrong_arguments():
    for wrong in ({"n_workers": "2"}, {"threads_per_worker": 1.5}, {"report_name": 5}):
        try:
            dask_profiler(**wrong)
        except TypeError:
            continue
        raise AssertionError(wrong)


def test_page_that_cannot_be_written():
    with open("file", "w"):
        pass
    with shared():
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            assert dask_profiler(report_name="file/page.html")(work)() == 28
    assert any("no report was written" in str(warning.message) for warning in said)


def test_async_functions():
    async def wait(client):
        total = client.submit(sum, [1, 2, 3])
        return await total

    async def main():
        async with Client(asynchronous=True, **OPTIONS) as client:
            with Profiler() as prof, ProgressBar(out=io.StringIO()):  # cannot look, and is in nobody's way
                assert await wait(client) == 6
            assert prof.results == []
            return await dask_profiler(report_name="async.html")(wait)(client)
    assert asyncio.run(main()) == 6 and len(tasks_of("async.html")) == 1

    @dask_profiler(report_name="sync.html")
    async def blocks():
        await asyncio.sleep(0)
        return work()
    with shared():
        assert asyncio.run(blocks()) == 28 and len(tasks_of("sync.html")) == 9


def test_generators():
    with shared():
        @dask_profiler(report_name="steps.html")
        def steps():
            for count in (2, 3):
                yield work(count)
        assert list(steps()) == [1, 3] and os.path.exists("steps.html")
