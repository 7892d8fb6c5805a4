"""Graphs of tuples, without dask: what is computed, how keys are told from values, and what is said of graphs that cannot be computed."""
import gc
import sys
import weakref
from collections import namedtuple
from operator import add

import pytest

import venturi.dask
import venturi.dask.multiprocessing
import venturi.dask.threaded

GETS = [venturi.dask.get, venturi.dask.threaded.get]
each_get = pytest.mark.parametrize("get", GETS, ids=["sync", "threads"])


def inc(x):
    return x + 1


class Token:
    """Something that can be weakly referenced."""


@each_get
def test_values(get):
    graph = {"x": 1, "y": (inc, "x"), "z": (add, (inc, "y"), "x"), "l": ["x", ["y", (inc, "z")]], "s": (sum, ["x", "y", 10]), "a": "z"}
    assert get(graph, "z") == 4
    assert get(graph, ["l", ["s", ["a", "x"]], []]) == ([1, [2, 5]], (13, (4, 1)), ())
    assert get(graph, []) == ()


@each_get
def test_any_key(get):
    keys = ["text", ("x", 0), 7, 2.5, ("x", (1, b"y")), ("x", None)]
    odd = [b"bytes", frozenset((1,)), 1j]
    graph = {key: (lambda i=i: i,) for i, key in enumerate(keys + odd)}
    assert get(graph, keys + odd) == tuple(range(len(keys + odd)))
    graph["all"] = (list, keys)
    assert get(graph, "all") == list(range(len(keys)))
    assert get({1: (inc, 5), "1": (inc, 6)}, [1, "1"]) == (6, 7)


@each_get
def test_arguments_that_are_no_keys_today(get):
    """Though there are such keys: text, tuples and real numbers are looked up, all else is a value. In dask it was another way before 2024.9."""
    is_old = "dask" in sys.modules and "dask._task_spec" not in sys.modules
    for odd in (b"bytes", frozenset((1,)), 1j, None, len):
        for task in (odd, (lambda x: x, odd), (lambda x: x, [odd]), [odd, odd], (lambda x: x, (lambda x: x, odd))):
            if type(task) is type(len) or odd is None and is_old:
                continue
            found = get({odd: (lambda: 5,), "x": task}, "x")
            assert (5 if is_old else odd) in (found if isinstance(found, list) else [found])
            if "dask" in sys.modules and get is venturi.dask.get:
                import dask.local

                assert found == dask.local.get_sync({odd: (lambda: 5,), "x": task}, "x")


def test_what_is_no_key():
    graph = {"x": 1, "y": (list, ["x", "not", 5, None, {"x": "x"}])}
    assert venturi.dask.get(graph, "y") == [1, "not", 5, None, {"x": "x"}]
    pair = namedtuple("pair", "a b")
    assert venturi.dask.get({"x": 1, "y": (lambda p: p, (1, 2))}, "y") == (1, 2)
    assert venturi.dask.get({"x": 1, "y": (lambda p: p, pair(5, 6))}, "y") == pair(5, 6)
    unhashable = {"x": 1, "y": (lambda a, b: (a, b), "x", ({}, []))}
    assert venturi.dask.get(unhashable, "y") == (1, ({}, []))


@each_get
def test_long_chain_and_wide_graph(get):
    count = 100_000
    chain = {i: (inc, i - 1) for i in range(1, count)}
    chain[0] = (int,)
    assert get(chain, count - 1) == count - 1
    wide = {("x", i): (inc, i) for i in range(count)}
    wide["sum"] = (sum, list(wide))
    assert get(wide, "sum") == count * (count + 1) // 2


def test_only_what_is_needed():
    ran = []
    graph = {"x": (ran.append, 1), "y": (ran.append, 2), "z": (lambda x: 5, "y")}
    assert venturi.dask.get(graph, "z") == 5 and ran == [2]


@each_get
def test_values_are_released(get):
    refs, seen = [], []

    def make(*needs):
        token = Token()
        refs.append(weakref.ref(token))
        return token

    def look(needed):
        seen.append(sum(ref() is not None for ref in refs))

    graph = {0: (make,)}
    graph.update((i, (make, i - 1)) for i in range(1, 50))
    graph["look"] = (look, 49)
    get(graph, "look")
    gc.collect()
    assert seen == [1] and all(ref() is None for ref in refs)


def test_nothing_is_leaked():
    token = Token()
    graph = {"x": token, "y": (lambda t: [t], "x"), "z": (len, "y")}

    def once():
        venturi.dask.get(graph, ["z", "x"])
        venturi.dask.threaded.get(graph, ["z", "y", "z"])
        venturi.dask.get(graph, "z", start_callback=lambda *a: None, callbacks=[(None,) * 5])
        for bad in ({"y": (inc, token)}, {"y": (inc, "x"), "x": (inc, "y")}, {"y": (inc, token), "x": [token, (inc, "y")]}):
            try:
                venturi.dask.get(dict(bad), list(bad))
            except (TypeError, RuntimeError):
                pass

    once()
    gc.collect()
    before = sys.getrefcount(token)
    for _ in range(20):
        once()
    gc.collect()
    assert sys.getrefcount(token) == before


def test_missing_and_unhashable_keys():
    with pytest.raises(KeyError) as caught:
        venturi.dask.get({"x": 1}, ["x", "nothing"])
    assert caught.value.args == ("nothing",)
    with pytest.raises(TypeError, match=r"cannot be hashed: \{\}"):
        venturi.dask.get({"x": 1}, [{}])


@each_get
def test_cycles_are_named(get):
    with pytest.raises(RuntimeError, match="b.*->.*c.*->.*b|c.*->.*b.*->.*c"):
        get({"a": (inc, "b"), "b": (inc, "c"), "c": (inc, "b")}, "a")
    with pytest.raises(RuntimeError, match="x -> x"):
        get({"x": (inc, "x")}, "x")


def test_depth_is_bounded():
    deep = ["x"]
    for _ in range(100_000):
        deep = [deep]
    with pytest.raises(RecursionError) as caught:
        venturi.dask.get({"x": 1, "deep": (len, deep)}, "deep")
    assert caught.value.__venturi_key__ == "deep"
    endless = []
    endless.append(endless)
    with pytest.raises(RecursionError):
        venturi.dask.get({"x": endless}, "x")
    with pytest.raises(RecursionError):
        venturi.dask.get({"x": 1}, endless)
    while deep:  # taken apart by hand: freeing it must not be what fails
        deep = deep[0] if isinstance(deep[0], list) else None


def test_keys_whose_comparison_raises():
    class Bad:
        def __hash__(self):
            return hash("x")

        def __eq__(self, other):
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        venturi.dask.get({"x": 1, "y": (inc, "x")}, Bad())


def test_graph_that_changes_meanwhile():
    graph = {}
    graph.update({"x": (graph.clear,), "y": (lambda x: 5, "x"), "z": (inc, "y")})
    assert venturi.dask.get(graph, "z") == 6 and graph == {}


def test_cache():
    cache = {"x": 5}
    assert venturi.dask.get({"y": (inc, "x")}, "y", cache=cache) == 6
    assert cache["y"] == 6
    with pytest.raises(ValueError, match="Missing dependency|inc|'x'"):
        from_objects = pytest.importorskip("dask._task_spec")
        venturi.dask.get({"y": from_objects.Task("y", inc, from_objects.TaskRef("x"))}, "y")


def test_schedulers_by_name():
    graph = {"x": (inc, 1)}
    for name in ("sync", "threads", "processes"):
        assert venturi.dask.get(graph, "x", scheduler=name, num_workers=1) == 2
    with pytest.raises(ValueError):
        venturi.dask.get(graph, "x", scheduler="nothing")


def test_without_dask():
    """Importing and using all of it loads no dask."""
    import subprocess

    code = ("import sys, venturi.dask as d, venturi.dask.threaded, venturi.dask.multiprocessing\n"
            "class C(d.Callback):\n  def _posttask(self, *a): print(a[0], a[1])\n"
            "with C(): print(d.threaded.get({'x': (len, [1])}, 'x'))\n"
            "assert not [m for m in sys.modules if m == 'dask' or m.startswith('dask.')]")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout) == (0, "x 1\n1\n"), done.stderr


def test_processes_without_cloudpickle(tmp_path):
    """Functions of the main program are found by workers that run it, but not what it computes."""
    import subprocess

    program = tmp_path / "program.py"
    text = ("import sys\nsys.modules['cloudpickle'] = None\nimport venturi.dask\n"
            "class Kept:\n  def __init__(self, x): self.x = x\n"
            "def make(x):\n  return Kept(x + 1)\n"
            "{guard}print(venturi.dask.get({{'x': 1, 'y': (make, 'x')}}, 'y', scheduler='processes', num_workers=1).x)\n")
    program.write_text(text.format(guard="if __name__ == '__main__':\n  "))
    done = subprocess.run([sys.executable, program], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout) == (0, "2\n"), done.stderr
    program.write_text(text.format(guard=""))
    done = subprocess.run([sys.executable, program], capture_output=True, text=True, timeout=60)
    assert done.returncode == 1 and "belongs under if __name__" in done.stderr
