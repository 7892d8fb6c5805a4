"""What observers are told of runs: _venturi.Run."""
import gc
import os
import threading
import time
import weakref
from operator import add

import pytest

import venturi.dask
import venturi.dask.multiprocessing
import venturi.dask.threaded
from venturi.dask import _observe, _unobserve

GETS = [venturi.dask.get, venturi.dask.threaded.get, venturi.dask.multiprocessing.get]
each_get = pytest.mark.parametrize("get", GETS, ids=["sync", "threads", "processes"])
GRAPH = {"x": 1, "y": (time.sleep, 0.01), "z": (lambda x, y: x, "x", "y"), "w": (add, "z", "x")}


class Watching:
    def __init__(self):
        self.runs = []
        self.ended = []

    def _run_begins(self, run):
        self.runs.append(run)
        assert run.progress() == (0, run.total) and run.tasks() == [] and run.end_time is None

    def _run_ends(self, run):
        self.ended.append(run)

    def __enter__(self):
        _observe(self)
        return self

    def __exit__(self, *reason):
        _unobserve(self)


@each_get
def test_tasks(get):
    before = time.time()
    with Watching() as watching:
        assert get(GRAPH, "w", num_workers=2) == 2
    get(GRAPH, "w", num_workers=1)
    after = time.time()
    (run,) = watching.runs
    assert watching.ended == [run]
    assert (run.done, run.total, run.progress(), run.failed) == (3, 3, (3, 3), False)
    assert run.scheduler == ["sync", "threads", "processes"][GETS.index(get)] and run.workers == (1 if get is GETS[0] else 2)
    assert before <= run.start_time <= run.end_time <= after
    tasks = run.tasks()
    assert [task[0] for task in tasks] == ["y", "z", "w"]
    assert [task[1] for task in tasks] == [GRAPH[key] for key in "yzw"]
    assert [task[12] for task in tasks] == [(), (0,), (1,)]
    for key, task, start, end, worker, ready, state, retries, cpu, is_estimated, size, freed, needs in tasks:
        assert run.start_time - 0.01 <= ready <= start <= end <= run.end_time + 0.01
        assert (state, retries) == ("done", 0)
        assert size is None if get is not GETS[2] else size > 0  # of the pickle
        assert (cpu is None or cpu >= 0) and isinstance(is_estimated, bool)
        assert isinstance(worker, int)
        assert freed is None if key == "w" else freed >= end
        if get is GETS[0]:
            assert worker == threading.get_ident()
        elif get is GETS[2]:
            assert worker != os.getpid()
    assert tasks[0][3] - tasks[0][2] >= 0.01


@each_get
def test_a_run_that_fails(get):
    def bad(x):
        raise ValueError("no")

    with Watching() as watching, pytest.raises(ValueError):
        get({"a": (len, [1]), "b": (bad, "a"), "c": (abs, "b")}, "c", retries=1, num_workers=1)
    (run,) = watching.ended
    assert run.failed
    assert [(task[0], task[6], task[7]) for task in run.tasks()] == [("a", "done", 0), ("b", "failed", 1)]


def test_sizes_and_true_cpu_time():
    class Sized:
        nbytes = 12345

    def work():
        end = time.thread_time() + 0.02
        while time.thread_time() < end:
            pass
        return Sized()

    with Watching() as watching:
        venturi.dask.get({"x": (work,), "y": (id, "x")}, "y", cpu_time=True)
    first, second = watching.runs[0].tasks()
    assert first[10] == 12345 and second[10] is None
    assert 0.02 <= first[8] < 0.2 and not first[9]


def test_progress_while_it_runs():
    seen = []
    with Watching() as watching:
        graph = {i: (lambda: seen.append(watching.runs[0].progress()),) for i in range(5)}
        venturi.dask.get(graph, list(graph))
    assert seen == [(i, 5) for i in range(5)]


def test_results_are_not_kept():
    import gc
    import weakref

    class Token:
        pass

    with Watching() as watching:
        token = venturi.dask.get({"x": (Token,)}, "x")
    ref = weakref.ref(token)
    del token
    gc.collect()
    assert ref() is None and len(watching.runs[0].tasks()) == 1


def test_runs_that_hold_their_observer():
    """The functions of a graph hold who holds the run."""
    import gc
    import weakref

    def once():
        watching = Watching()
        with watching:
            venturi.dask.get({"x": (lambda: len(watching.runs),), "y": (lambda x: x, "x")}, "y")
        return weakref.ref(watching)

    class Token:
        pass

    def once_with_state():
        kept, token = [], Token()
        venturi.dask.get({"x": (lambda: (kept, token),)}, "x", callbacks=[(None, None, lambda key, dsk, state: kept.append(state), None, None)])
        return weakref.ref(token)

    refs = [once(), once_with_state()]
    gc.collect()
    assert [ref() for ref in refs] == [None, None]


def test_an_observer_that_raises():
    class Bad(Watching):
        def _run_begins(self, run):
            raise ZeroDivisionError

    with Bad(), pytest.raises(ZeroDivisionError):
        venturi.dask.get(GRAPH, "w")
    assert venturi.dask.get(GRAPH, "w") == 2


@pytest.mark.parametrize("place", ["literal", "key", "argument", "result"])
def test_runs_in_cycles_are_collected(place):
    """Who keeps a run may be part of its graph."""
    class Keeper:
        def _run_begins(self, run):
            self.run = run

        def _run_ends(self, run):
            pass

    keeper = Keeper()
    known = weakref.ref(keeper)
    graph = {"literal": {"k": keeper, "x": (id, "k")}, "key": {("k", keeper): (len, "ab"), "x": (id, ("k", keeper))},
             "argument": {"x": (id, [[keeper]])}, "result": {"k": (getattr, keeper, "__self__", keeper), "x": (id, "k")}}[place]
    venturi.dask._observe(keeper)
    try:
        venturi.dask.get(graph, "x")
    finally:
        venturi.dask._unobserve(keeper)
    assert keeper.run.tasks()
    del keeper, graph
    gc.collect()
    assert known() is None
