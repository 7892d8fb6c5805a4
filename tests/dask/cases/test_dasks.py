"""Graphs and callbacks of dask itself: its objects, its collections, its profilers."""
import threading
from operator import add

import pytest

import venturi.dask
import venturi.dask.multiprocessing
import venturi.dask.threaded

dask = pytest.importorskip("dask")
GETS = [venturi.dask.get, venturi.dask.threaded.get, venturi.dask.multiprocessing.get]
each_get = pytest.mark.parametrize("get", GETS, ids=["sync", "threads", "processes"])


def inc(x):
    return x + 1


@pytest.fixture(autouse=True)
def no_other(monkeypatch):
    """It is our engine that runs."""
    import dask.local
    import dask.multiprocessing
    import dask.threaded

    def refuse(*args, **kwargs):
        raise AssertionError("dask's own scheduler was asked")

    for module in (dask.local, dask.threaded, dask.multiprocessing):
        monkeypatch.setattr(module, "get_async", refuse)


@each_get
def test_objects(get):
    spec = pytest.importorskip("dask._task_spec")
    Task, TaskRef, Alias, DataNode = spec.Task, spec.TaskRef, spec.Alias, spec.DataNode
    graph = {
        "x": DataNode("x", ("not", "a", "task")),
        "y": Task("y", len, TaskRef("x")),
        "z": Alias("z", "y"),
        "k": Task("k", dict, a=TaskRef("y"), b=2),
        "n": Task("n", add, Task(None, inc, TaskRef("z")), 10),
        "l": Task("l", list, spec.List(TaskRef("y"), spec.Tuple(TaskRef("n"), 5), spec.Dict({"a": TaskRef("z")}), DataNode(None, 7))),
        "s": spec.Task("s", sorted, spec.Set(TaskRef("y"), 1)),
        "t": (sum, ["y", "n", (inc, "z")]),
    }
    assert get(graph, ["z", "k", "n", "l", "s", "t"], num_workers=1) == (
        3, {"a": 3, "b": 2}, 14, [3, (14, 5), {"a": 3}, 7], [1, 3], 21)
    with pytest.raises(ValueError, match="Missing dependency"):
        get({"y": Task("y", inc, TaskRef("nothing"))}, "y", num_workers=1)
    with pytest.raises(TypeError, match="cannot be hashed"):
        bad = Task("y", inc, TaskRef("x"))
        bad.args[0].key = []
        get({"y": bad, "x": 1}, "y", num_workers=1)


def test_classes_that_we_do_not_know():
    spec = pytest.importorskip("dask._task_spec")

    class Twice(spec.Task):
        def __call__(self, values=()):
            return super().__call__(values) * 2

    class Strange(spec.GraphNode):
        __slots__ = ()

        def __init__(self):
            self.key = "s"
            self._dependencies = frozenset(("x", "t"))

        def __call__(self, values=()):
            return dict(values)

    class More(spec.Task):
        __slots__ = ()

    graph = {"x": 1, "t": Twice("t", inc, spec.TaskRef("x")), "s": Strange(), "m": More("m", inc, spec.TaskRef("t"))}
    assert venturi.dask.get(graph, ["t", "s", "m"]) == (4, {"x": 1, "t": 4}, 5)


@each_get
def test_collections(get):
    np = pytest.importorskip("numpy")
    import dask.array as da
    import dask.bag as db

    array = da.from_array(np.arange(400.0).reshape(40, 10) % 7 + np.eye(40, 10), chunks=(10, 10))
    q, r = da.linalg.qr(array)
    assert np.allclose((q @ r).compute(scheduler=get, num_workers=2), array.compute(scheduler=get, num_workers=2))
    bag = db.from_sequence(range(20), npartitions=4)
    assert bag.map(inc).filter(lambda x: x % 2 == 0).fold(add).compute(scheduler=get, num_workers=2) == 110
    assert sorted(bag.groupby(lambda x: x % 3).map(lambda kv: (kv[0], len(kv[1]))).compute(scheduler=get, num_workers=2)) == [(0, 7), (1, 7), (2, 6)]
    later = dask.delayed(add)(dask.delayed(inc)(1), dask.delayed(sum)([dask.delayed(inc)(i) for i in range(3)]))
    assert later.compute(scheduler=get, num_workers=2) == 8


def test_profilers_of_dask():
    from dask.diagnostics import CacheProfiler, Profiler, ProgressBar
    import io

    out = io.StringIO()
    graph = {"x": 1, "y": (inc, "x"), "z": (add, "y", 10)}
    for get in GETS[:2]:
        with Profiler() as profiler, CacheProfiler() as cache, ProgressBar(out=out, dt=0.01):
            assert get(graph, "z") == 12
        assert [result.key for result in profiler.results] == ["y", "z"]
        assert all(result.worker_id for result in profiler.results)
        assert sorted(result.key for result in cache.results) == ["y", "z"]
    assert out.getvalue().count("100% Completed") == 2


def test_profilers_of_dask_do_not_mix_runs_up():
    """They keep the notes of one run: nested and concurrent ones are left out, as dask does."""
    from dask.diagnostics import Profiler

    def nested():
        return venturi.dask.get({"inner": (inc, 1)}, "inner")

    with Profiler() as profiler:
        assert venturi.dask.threaded.get({"outer": (nested,), "after": (inc, "outer")}, "after") == 3
        assert venturi.dask.get({"next": (inc, 1)}, "next") == 2
    assert [result.key for result in profiler.results] == ["outer", "after", "next"]


def test_callbacks_of_users_see_nested_runs():
    from dask.callbacks import Callback

    keys = []

    def nested():
        return venturi.dask.get({"inner": (inc, 1)}, "inner")

    with Callback(pretask=lambda key, dsk, state: keys.append(key)):
        venturi.dask.threaded.get({"outer": (nested,)}, "outer")
    assert keys == ["outer", "inner"]


def test_our_callbacks_under_dasks_own_schedulers(monkeypatch):
    import dask.local

    monkeypatch.undo()
    keys = []
    with venturi.dask.Callback(posttask=lambda key, *rest: keys.append(key)):
        dask.local.get_sync({"x": (inc, 1)}, "x")
    dask.local.get_sync({"y": (inc, 1)}, "y")
    assert keys == ["x"]


def test_settings_of_dask():
    idents = set()

    def note(i):
        idents.add(threading.get_ident())
        barrier.wait(30)

    barrier = threading.Barrier(3)
    with dask.config.set(num_workers=3):
        venturi.dask.threaded.get({key: (note, 0) for key in "abc"}, list("abc"))
    assert len(idents) == 3
