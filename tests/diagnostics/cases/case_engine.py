"""Under our own engine: the same results, whatever schedules."""
import io
import threading
import time

from graphs import fails, page, tasks_of, tree

from venturi.dask import get_sync
from venturi.dask.multiprocessing import get as processes
from venturi.dask.threaded import get as threads
from venturi.diagnostics import CacheProfiler, Profiler, ProgressBar, ResourceProfiler, TaskData, process_prof, thread_prof, visualize

GETS = {"sync": get_sync, "threads": threads, "processes": processes}


def test_tasks():
    dsk, key, count = tree()
    for scheduler, get in GETS.items():
        before = time.time()
        with Profiler() as prof:
            assert get(dsk, key) == 136
        after = time.time()
        assert len(prof.results) == count and {row.key for row in prof.results} == set(dsk)
        assert all(type(row) is TaskData and before <= row.start_time <= row.end_time <= after for row in prof.results), scheduler
        assert [row.start_time for row in prof.results] == sorted(row.start_time for row in prof.results)
        assert all(isinstance(row.worker_id, int) for row in prof.results)
        if scheduler != "processes":
            own = threading.get_ident()
            assert (scheduler == "sync") == ({row.worker_id for row in prof.results} == {own})


def test_registered_and_around():
    dsk, key, count = tree()
    prof = Profiler()
    prof.register()
    get_sync(dsk, key)
    threads(dsk, key)
    prof.unregister()
    get_sync(dsk, key)
    assert len(prof.results) == 2 * count
    for made in (thread_prof, process_prof, Profiler(get_sync)):
        for _ in range(2):
            assert made.get(dsk, key) == 136
            assert len(made.results()) == count


def test_cache():
    dsk, key, count = tree()
    for metric in (None, float):
        with CacheProfiler(metric) as cache:
            threads(dsk, key)
        assert {row.key for row in cache.results} == set(dsk) and len(cache.results) == count
        assert all(row.cache_time <= row.free_time for row in cache.results)
        if metric:
            assert {row.metric for row in cache.results if row.key == key} == {136.0}
        else:
            assert {row.metric for row in cache.results} == {1}
        last = max(row.free_time for row in cache.results)
        assert [row.key for row in cache.results if row.free_time == last] == [key] or metric is None


def test_profilers_see_each_task_once():
    """They are dask's callbacks too, where there is dask."""
    dsk, key, count = tree()
    with Profiler() as prof, CacheProfiler() as cache, CacheProfiler(float) as measured, ResourceProfiler(dt=0.01) as resources:
        threads(dsk, key)
    assert len(prof.results) == len(cache.results) == len(measured.results) == count and len(resources.results) >= 2
    path = visualize([prof, cache, measured, resources], show=False)
    read = page(path)
    assert read.table("task_runs").rows == 1 and read.table("tasks").rows == count and read.table("task_edges").rows == count - 1
    assert read.table("task_runs")["scheduler"][0] == "threads"
    assert {row["name"] for row in tasks_of(path)} == {"leaf", "pair"}


def test_progress():
    for get in GETS.values():
        out = io.StringIO()
        with ProgressBar(out=out, width=4, dt=10) as bar:
            get({"a": (time.sleep, 0.01), "b": (max, [1, 2])}, ["a", "b"])
        assert out.getvalue().endswith("\n") and "\r[####] | 100% Completed | " in out.getvalue(), out.getvalue()
        assert out.getvalue().count("100%") == 1 and bar.last_duration >= 0.01


def test_failure():
    for get in GETS.values():
        out = io.StringIO()
        with Profiler() as prof, ProgressBar(out=out, dt=10):
            try:
                get({"a": (sum, [1, 2]), "b": (fails,), "c": (max, "a", "b")}, "c")
            except KeyError:
                pass
            else:
                raise AssertionError("no error")
        assert {row.key for row in prof.results} <= {"a"} and "100%" not in out.getvalue()
        read = page(prof.visualize(show=False))
        assert [run["failed"] for run in read.table("task_runs").dicts()] == [1]


def test_computations_in_several_threads():
    dsk, key, count = tree(64)
    with Profiler() as prof:
        workers = [threading.Thread(target=get_sync, args=(dsk, key)) for _ in range(4)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
    assert len(prof.results) == 4 * count


def test_in_the_middle():
    """Asked while a run goes on: what is over is there, and nothing is lost or there twice."""
    dsk, key, count = tree()
    with Profiler() as prof:
        get_sync(dsk, key)
        assert len(prof.results) == count

        def look():
            return len(prof.results)
        assert get_sync({"look": (look,)}, "look") == count
    assert len(prof.results) == count + 1


def test_computations_inside_of_tasks():
    dsk, key, count = tree()
    for get in (get_sync, threads):
        out = io.StringIO()
        with Profiler() as prof, CacheProfiler() as cache, CacheProfiler(float) as measured, ProgressBar(out=out, dt=10):
            assert get({"in": (lambda: get_sync(dsk, key),), "out": (abs, "in")}, "out") == 136
        for profiler in (prof, cache, measured):
            assert sorted(map(str, (row.key for row in profiler.results))) == sorted(map(str, [*dsk, "in", "out"]))
        assert out.getvalue().count("100%") == 1
    assert not measured._hooked
