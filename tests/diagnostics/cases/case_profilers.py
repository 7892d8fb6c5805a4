"""Under dask's own schedulers, with dask's own profilers as the judge."""
import threading
import time

import dask
import dask.local
import dask.threaded
from dask.diagnostics import CacheProfiler as DaskCacheProfiler, Profiler as DaskProfiler
from graphs import fails, tree

from venturi.diagnostics import CacheData, CacheProfiler, Callback, Profiler, ResourceProfiler, TaskData

GETS = (dask.local.get_sync, dask.threaded.get)


def test_same_tasks_as_dask():
    dsk, key, count = tree()
    for get in GETS:
        before = time.time()
        with Profiler() as ours, DaskProfiler() as theirs:
            assert get(dsk, key) == 136
        after = time.time()
        assert len(ours.results) == count
        told = [(str(row.key), row.worker_id, str(row.task)) for row in ours.results]
        expected = [(str(row.key), row.worker_id, str(row.task)) for row in theirs.results]
        assert told == expected if get is dask.local.get_sync else sorted(told) == sorted(expected)  # in order of start: threads have their own
        assert all(type(row) is TaskData and before <= row.start_time <= row.end_time <= after for row in ours.results)
        assert [row.start_time for row in ours.results] == sorted(row.start_time for row in ours.results)
        assert before <= ours.start_time <= ours.results[0].start_time and ours.results[-1].end_time <= ours.end_time <= after


ran = {}


def watched(number):
    """Notes when it really ran."""
    start = time.perf_counter()
    time.sleep(0.002)
    ran[number] = start, time.perf_counter()


def are_one_after_the_other(rows):
    return all(after.start_time >= before.end_time for before, after in zip(rows, rows[1:]))


def test_times_are_those_when_a_task_ran():
    """All tasks of a batch are handed out before the first begins, and received after the last is over."""
    original = dask.local.execute_task
    for get in GETS:
        with Profiler() as prof, CacheProfiler() as other, DaskProfiler() as theirs:
            get({"t%d" % i: (watched, i) for i in range(8)}, ["t%d" % i for i in range(8)], num_workers=1, chunksize=8)
            assert dask.local.execute_task is original
        assert len(prof.results) == len(theirs.results) == len(other.results) == 8
        at = prof._runs[0].now.at
        for row in prof.results:
            start, end = ran[int(row.key[1:])]
            assert row.start_time <= at(start) <= at(end) <= row.end_time, (row, at(start), at(end))
        assert are_one_after_the_other(prof.results) and not are_one_after_the_other(theirs.results), (prof.results, theirs.results)


def test_times_when_somebody_else_wrapped_it_too():
    original = dask.local.execute_task
    calls = []

    def mine(*args):
        calls.append(args[0])
        return original(*args)
    dask.local.execute_task = mine
    try:
        with Profiler() as prof:
            dask.threaded.get({"a": (sum, [1, 2])}, "a")
        assert dask.local.execute_task is mine and calls == ["a"] and len(prof.results) == 1
    finally:
        dask.local.execute_task = original


def test_processes_have_the_times_of_the_hooks():
    import dask.multiprocessing

    with Profiler() as prof:
        assert dask.multiprocessing.get({"a": (sum, [1, 2]), "b": (abs, "a")}, "b", num_workers=1, optimize_graph=False) == 3
    assert [row.key for row in prof.results] == ["a", "b"] and all(row.start_time <= row.end_time for row in prof.results)


def test_results_are_an_attribute_and_a_call():
    dsk, key, count = tree()
    with Profiler() as prof:
        dask.local.get_sync(dsk, key)
    assert prof.results() is prof.results and isinstance(prof.results, list) and len(prof.results()) == count
    prof.clear()
    assert prof.results == [] and prof.results() == []


def test_each_block_begins_anew_and_registered_ones_go_on():
    dsk, key, count = tree()
    prof = Profiler()
    for _ in range(2):
        with prof:
            dask.local.get_sync(dsk, key)
        assert len(prof.results) == count
    dask.local.get_sync(dsk, key)
    assert len(prof.results) == count
    prof.register()
    try:
        dask.local.get_sync(dsk, key)
        dask.threaded.get(dsk, key)
    finally:
        prof.unregister()
    dask.local.get_sync(dsk, key)
    assert len(prof.results) == 3 * count
    try:
        prof.unregister()
    except RuntimeError as error:
        assert "not registered" in str(error)
    else:
        raise AssertionError("unregister() twice")


def test_registered_again():
    """As with dask: it is registered or not."""
    dsk, key, count = tree()
    prof = Profiler()
    prof.register()
    prof.register()
    with prof:
        dask.local.get_sync(dsk, key)
    dask.local.get_sync(dsk, key)
    prof.unregister()
    dask.local.get_sync(dsk, key)
    assert len(prof.results) == 2 * count


def test_leaves_nothing_behind():
    from dask.callbacks import Callback as DaskCallback

    with Profiler(), CacheProfiler(), CacheProfiler(len), ResourceProfiler():
        assert len(DaskCallback.active) == 4
    assert not DaskCallback.active


def test_is_a_callback():
    dsk, key, count = tree()
    prof = Profiler()
    assert isinstance(prof, Callback) and isinstance(prof, dask.callbacks.Callback)
    dask.local.get_sync(dsk, key, callbacks=[prof._callback])
    with dask.callbacks.add_callbacks(prof):
        dask.local.get_sync(dsk, key)
    assert len(prof.results) == 2 * count


def test_around_a_scheduler():
    dsk, key, count = tree()
    prof = Profiler(dask.local.get_sync)
    for _ in range(2):
        assert prof.get(dsk, key) == 136
        assert len(prof.results()) == count
    assert dask.delayed(sum)([1, 2]).compute(scheduler=prof.get) == 3
    assert len(prof.results()) < count
    for wrong in (lambda: Profiler().get(dsk, key), lambda: Profiler(5), lambda: CacheProfiler(5)):
        try:
            wrong()
        except TypeError:
            continue
        raise AssertionError("no TypeError")


def test_failure():
    for get in GETS:
        with Profiler() as ours, DaskProfiler() as theirs, CacheProfiler() as cache:
            try:
                get({"a": (sum, [1, 2]), "b": (fails,), "c": (max, "a", "b")}, "c")
            except KeyError:
                pass
            else:
                raise AssertionError("no error")
        assert {row.key for row in ours.results} == {row.key for row in theirs.results}
        ((key, worker),) = [(task[0], task[4]) for task in ours._runs[0].tasks() if task[6] == "failed"]
        assert key == "b" and (worker is None) == (get is dask.local.get_sync)
        assert {row.key for row in cache.results} == {row.key for row in ours.results}


def test_computations_in_several_threads():
    """dask lets only one of them see who is registered: each is told its own way."""
    dsk, key, count = tree(64)
    prof = Profiler()
    threads = [threading.Thread(target=dask.local.get_sync, args=(dsk, key), kwargs={"callbacks": [prof._callback]}) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(prof.results) == 4 * count
    assert sorted(map(str, (row.key for row in prof.results))) == sorted(4 * list(map(str, dsk)))


def test_computations_inside_of_tasks():
    """dask hides them, unless callbacks are passed on."""
    dsk, key, count = tree()
    prof = Profiler()
    hooks = [prof._callback]

    def inner():
        return dask.local.get_sync(dsk, key, callbacks=hooks)
    assert dask.local.get_sync({"in": (inner,), "out": (abs, "in")}, "out", callbacks=hooks) == 136
    assert len(prof.results) == count + 2 and not prof._hooked


def test_same_cache_as_dask():
    dsk, key, count = tree()
    for get in GETS:
        for metric in (None, float):
            with CacheProfiler(metric) as ours, DaskCacheProfiler(metric) as theirs:
                get(dsk, key)
            assert sorted(map(str, ((row.key, row.metric) for row in ours.results))) == sorted(
                map(str, ((row.key, row.metric) for row in theirs.results)))
            assert [row.key for row in ours.results][-1] == key  # what is wanted stays longest
            assert all(type(row) is CacheData and row.cache_time <= row.free_time for row in ours.results)
    assert CacheProfiler()._metric_name == "count" and CacheProfiler(len)._metric_name == "len"
    assert CacheProfiler(len, metric_name="bytes")._metric_name == "bytes"


class Watched(set):
    """Keys that were released, and how often somebody looked."""
    looks = 0

    def __contains__(self, key):
        Watched.looks += 1
        return super().__contains__(key)

    def __and__(self, other):
        raise AssertionError("looked through all")


def test_cache_looks_only_at_what_a_task_needed():
    dsk = {("a", i): (sum, [i]) for i in range(500)}
    dsk.update({("b", i): (abs, ("a", i)) for i in range(500)})

    def begin(dsk, state):
        state["released"] = Watched(state["released"])
    with CacheProfiler() as cache, dask.callbacks.Callback(start_state=begin):
        dask.local.get_sync(dsk, [("b", i) for i in range(500)])
    assert len(cache.results) == 1000 and Watched.looks == 500


class Rude(dask.callbacks.Callback):
    def _finish(self, dsk, state, failed):
        raise ValueError("rude")


def test_a_hook_of_somebody_else_that_raises():
    original = dask.local.execute_task
    for _ in range(6):  # which of them is called first is not the same each time
        prof = Profiler()
        with prof, Rude():
            try:
                dask.local.get_sync({"a": (abs, -1), "b": (abs, "a")}, "b")
            except ValueError:
                pass
        assert dask.local.execute_task is original and prof._hooked == {}
        assert [row.key for row in prof.results] == ["a", "b"]


def test_after_its_block_it_sees_nothing():
    begun, end = threading.Event(), threading.Event()

    def wait():
        begun.set()
        return end.wait(60)
    with Profiler() as prof:
        other = threading.Thread(target=dask.threaded.get, args=({"w": (wait,)}, "w"))
        other.start()
        begun.wait(60)
    seen = len(prof.results)
    end.set()
    other.join()
    for i in range(3):
        dask.local.get_sync({"x": (abs, i)}, "x")
    assert len(prof.results) <= max(seen, 1) and "x" not in [row.key for row in prof.results]
