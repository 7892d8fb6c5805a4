"""Under a distributed Client, where dask's own profilers stay empty; and dask_profiler."""
import asyncio
import contextlib
import functools
import io
import itertools
import os
import pstats
import re
import subprocess
import sys
import threading
import time
import warnings

import dask
import dask.local
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


def as_local(dsk, key):
    """What dask's own profiler says of the same graph under a local scheduler."""
    with DaskProfiler() as theirs:
        dask.local.get_sync(dsk, key)
    return {str(row.key): (type(row.task), str(row.task)) for row in theirs.results}


def test_tasks_are_as_they_were_submitted():
    call = next(calls)
    dsk = {("first-%d" % call, 0): (abs, -4), ("first-%d" % call, 1): (sum, [1, 2]),
           "last-%d" % call: (max, [("first-%d" % call, 0), ("first-%d" % call, 1)])}
    key = "last-%d" % call
    with shared() as client:
        with Profiler() as prof, CacheProfiler() as cache:
            assert client.get(dsk, key) == 4
        expected = as_local(dsk, key)
        dsk.clear()  # the program's own
        assert {str(row.key): (type(row.task), str(row.task)) for row in prof.results} == expected and len(expected) == 3
        assert {str(row.key): str(row.task) for row in cache.results} == {name: text for name, (_, text) in expected.items()}

        with Profiler() as prof:
            assert work(4) == 6
            assert client.submit(abs, -5, key="submitted-%d" % call).result() == 5
            assert client.gather(client.map(abs, [-6, -7], pure=False)) == [6, 7]
        assert len(prof.results) == 8 and all("abs" in str(row.task) or "sum" in str(row.task) for row in prof.results), prof.results
        assert not {"get", "_graph_to_futures"} & set(vars(client))


def test_tasks_of_the_same_key():
    call = next(calls)
    with shared() as client:
        with Profiler() as prof:
            for function in (abs, int, bool):
                client.get({"same-%d" % call: (function, 1)}, "same-%d" % call)
                until(lambda: client.run_on_scheduler(is_forgotten, "same-%d" % call))
        assert [name for row in prof.results for name in ("abs", "int", "bool") if name in str(row.task)] == ["abs", "int", "bool"]


def is_forgotten(key, dask_scheduler):
    return key not in dask_scheduler.tasks


def until(question):
    end = time.monotonic() + 20
    while not question():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.01)


def test_keeps_no_value_in_the_cluster():
    """A graph may hold Futures, and with them values."""
    call = next(calls)
    with shared() as client:
        with Profiler() as prof:
            first = client.submit(abs, -5, key="kept-%d" % call)
            second = client.submit(max, first, 3, key="most-%d" % call)
            third = client.get({"outer-%d" % call: (sum, [second, 1])}, "outer-%d" % call)
            assert second.result() == 5 and third == 6
            fourth = dask.delayed(abs)(-9, dask_key_name="persisted-%d" % call).persist()
            assert dask.delayed(sum)([fourth, 1], dask_key_name="all-%d" % call).compute() == 10
            del first, second, fourth
            until(lambda: client.run_on_scheduler(is_forgotten, "kept-%d" % call))
            until(lambda: client.run_on_scheduler(is_forgotten, "persisted-%d" % call))
        tasks = {row.key.split("-")[0]: str(row.task) for row in prof.results}
        assert "abs" in tasks["kept"] and "kept-%d" % call in tasks["most"] and "most-%d" % call in tasks["outer"], tasks
        assert "abs" in tasks["persisted"] and "persisted-%d" % call in tasks["all"], tasks
        assert "Future" not in str(tasks)


class Odd:
    """No graph at all."""


def test_what_is_no_graph_hurts_nobody():
    with shared() as client:
        with Profiler() as prof:
            tap = vars(client)["_graph_to_futures"]
            for listener in tap._listeners:
                for given in ((Odd(),), ()):
                    try:
                        listener(*given)(False)
                    except AttributeError:  # who calls it does not mind
                        pass
            tap._listeners = (lambda *args, **options: 1 / 0,) + tap._listeners + (lambda *args, **options: lambda failed: 1 / 0,)
            assert work() == 28
        assert len(prof.results) == 9 and all(row.task is not None for row in prof.results)


def size_of(value):
    return 100 + value


def no_size_of(value):
    if value > 3:
        raise KeyError("too much: %d" % value)
    return value


def test_metric_is_applied_where_results_are():
    with shared():
        with CacheProfiler(size_of) as cache, CacheProfiler() as plain, CacheProfiler(lambda value: [value]) as lists:
            assert work() == 28
    measures = {row.key.split("-", 1)[0] + row.key.rsplit("-", 1)[1]: row.metric for row in cache.results if row.key.startswith("abs")}
    assert measures == {"abs%d" % i: 100 + i for i in range(8)}
    assert [row.metric for row in cache.results if row.key.startswith("sum")] == [128]
    assert [row.metric for row in plain.results] == [1] * 9 and sorted(row.metric for row in lists.results)[-1] == [28]
    assert all(row.cache_time <= row.free_time for row in cache.results)
    assert page(cache.visualize(filename="cache.html", show=False)).table("tasks").rows >= 9


def test_metric_that_fails():
    cannot = threading.Lock()
    with shared():
        for metric, expected in ((no_size_of, [0, 1, 2, 3]), (lambda value: (value, cannot), [])):
            with warnings.catch_warnings(record=True) as said:
                warnings.simplefilter("always")
                with CacheProfiler(metric) as cache:
                    assert work() == 28
            (warning,) = [str(one.message) for one in said if "metric" in str(one.message)]
            assert "KeyError: 'too much" in warning if expected else "pickle" in warning, warning
            assert sorted(row.metric for row in cache.results if row.metric is not None) == expected and len(cache.results) == 9


def test_two_bars_of_a_client():
    outs = [io.StringIO() for _ in range(3)]
    with shared() as client:
        first, second, third = (ProgressBar(out=out) for out in outs)
        first.register()
        with second:
            assert work() == 28
            third.register()
            first.unregister()
            assert work(2) == 1
        assert work(3) == 3
        third.unregister()
        assert "get" not in vars(client)
        assert work(4) == 6
    assert [out.getvalue().count("| 100% Completed |") for out in outs] == [1, 2, 2]


def nap(number, seconds):
    time.sleep(seconds)
    return number


def test_a_bar_does_not_count_what_was_there_before():
    out = io.StringIO()
    with shared() as client:
        held = client.map(nap, range(50), [0] * 50, key="nap-held")  # the same name
        client.gather(held)
        with ProgressBar(out=out, dt=0.02):
            dask.delayed(sum)([dask.delayed(nap)(i, 0.15) for i in range(4)]).compute()
        del held
    shown = {int(number) for number in re.findall(r"(\d+)% Completed", out.getvalue())}
    assert shown <= {0, 20, 40, 60, 80, 100} and len(shown) > 2, shown


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


class Box:
    def __init__(self, future):
        self.future = future


def inside(box):
    return 1


def lets_go(client):
    """Whether the cluster forgets a value whose Future was only inside of objects."""
    first = client.submit(abs, -5, key="held-%d" % next(calls))
    assert client.submit(inside, Box(first)).result() == 1
    assert client.submit(functools.partial(inside, Box(first))).result() == 1
    key = first.key
    first.result()
    del first
    try:
        until(lambda: client.run_on_scheduler(is_forgotten, key))
    except AssertionError:
        return False
    return True


def test_keeps_no_future_inside_of_objects():
    with shared() as client:
        if not lets_go(client):
            return  # of older releases the worker keeps it
        with Profiler() as prof:
            assert lets_go(client)
        assert len(prof.results) == 3


CLOSES = """
import warnings
from distributed import Client
from venturi.diagnostics import CacheProfiler, Profiler
from venturi.tracing import dask_profiler

if __name__ == "__main__":
    options = dict(processes=False, n_workers=1, threads_per_worker=1, dashboard_address=None)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        client = Client(**options)
        with Profiler() as prof, CacheProfiler():
            assert client.submit(abs, -3).result() == 3
            client.close()
        client = Client(**options)
        try:
            with Profiler():
                client.close()
                raise LookupError("of the program")
        except LookupError:
            pass
        client = Client(**options)
        def closes():
            client.close()
            raise LookupError("of the program")
        try:
            dask_profiler(report_name="closed.html")(closes)()
        except LookupError:
            print("kept")
    assert any("client is closed" in str(one.message) for one in said), [str(one.message) for one in said]
"""


def test_a_client_that_is_closed_inside():
    """In a process of its own: another client or cluster would keep dask's loop alive."""
    with open("closes.py", "w") as out:
        out.write(CLOSES)
    done = subprocess.run([sys.executable, "closes.py"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=120)
    assert (done.returncode, done.stdout) == (0, "kept\n"), done.stderr
    assert os.path.exists("closed.html")
