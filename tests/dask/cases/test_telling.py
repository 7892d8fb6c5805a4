"""Callbacks: dask's five, the older pair, ours for errors; the state that they are shown; nested and concurrent runs."""
import threading
from operator import add

import pytest

import venturi.dask
import venturi.dask.threaded
from venturi.dask import Callback, add_callbacks

GETS = [venturi.dask.get, venturi.dask.threaded.get]
each_get = pytest.mark.parametrize("get", GETS, ids=["sync", "threads"])
GRAPH = {"x": 1, "y": (lambda x: x + 1, "x"), "z": (add, "x", "y")}


@each_get
def test_the_older_pair(get):
    told = []

    def start(key, dask, state):
        told.append(("start", key, dask is GRAPH, len(state["running"]), len(state["finished"])))

    def end(key, dask, state, id):
        told.append(("end", key, dask is GRAPH, len(state["finished"]), id is None))

    assert get(GRAPH, "z", start_callback=start, end_callback=end) == 3
    assert told == [("start", "y", True, 1, 0), ("end", "y", True, 1, False), ("start", "z", True, 1, 1), ("end", "z", True, 2, False),
                    ("start", None, True, 0, 2), ("end", None, True, 2, True)]


def test_the_pair_with_a_result():
    told = []
    venturi.dask.get(GRAPH, "z", end_callback=lambda key, result, dask, state, id: told.append((key, result)))
    assert told == [("y", 2), ("z", 3), (None, None)]


@each_get
def test_a_failure_is_told_and_ends_the_pair(get):
    told = []
    graph = {"x": (lambda: 1 / 0,), "y": (abs, "x")}
    with pytest.raises(ZeroDivisionError) as caught:
        get(graph, "y", start_callback=lambda *a: told.append(("start", a[0])), end_callback=lambda *a: told.append(("end", a[0])),
            error_callback=lambda key, error, dask, state, id: told.append((key, error, id)))
    assert told[0] == ("start", "x") and told[1][:2] == ("x", caught.value) and len(told) == 2


@each_get
def test_five_hooks(get):
    told = []

    class Telling(Callback):
        def _start(self, dsk):
            told.append(("start", set(dsk)))

        def _start_state(self, dsk, state):
            told.append(("start_state", list(state["ready"])))

        def _pretask(self, key, dsk, state):
            told.append(("pretask", key, set(state["running"])))

        def _posttask(self, key, result, dsk, state, worker_id):
            told.append(("posttask", key, result, key in state["finished"], dict(state["cache"]).get(key)))

        def _finish(self, dsk, state, failed):
            told.append(("finish", failed))

    with Telling():
        assert get(GRAPH, "z") == 3
    get(GRAPH, "z")
    assert told == [("start", set("xyz")), ("start_state", ["y"]), ("pretask", "y", {"y"}), ("posttask", "y", 2, True, 2),
                    ("pretask", "z", {"z"}), ("posttask", "z", 3, True, 3), ("finish", False)]


def test_order_and_registration():
    told = []
    one, two = Callback(start=lambda dsk: told.append(1)), Callback(start=lambda dsk: told.append(2))
    one.register()
    two.register()
    one.register()
    try:
        venturi.dask.get(GRAPH, "z")
        assert told == [1, 2]
    finally:
        one.unregister()
        two.unregister()
    with pytest.raises(KeyError):
        one.unregister()
    with add_callbacks(two, (lambda dsk: told.append(3), None, None, None, None)):
        venturi.dask.get(GRAPH, "z")
    assert told == [1, 2, 2, 3]
    venturi.dask.get(GRAPH, "z", callbacks=one)
    venturi.dask.get(GRAPH, "z", callbacks=[one, two._callback])
    assert told[4:] == [1, 1, 2]
    with pytest.raises(TypeError):
        venturi.dask.get(GRAPH, "z", callbacks=[(None, None)])


@each_get
@pytest.mark.parametrize("hook", ["start", "start_state", "pretask", "posttask", "finish", "start_callback", "end_callback"])
def test_a_callback_that_raises(get, hook):
    class Mine(Exception):
        pass

    def bad(*args):
        raise Mine(hook)

    finished = []
    options = {hook: bad}
    if hook.endswith("_callback"):
        options = {"callbacks": [Callback(finish=lambda dsk, state, failed: finished.append(failed))._callback], hook: lambda a, b, c, d=0: bad()}
    elif hook == "finish":
        options = {"callbacks": [Callback(finish=lambda *a: finished.append(True))._callback, Callback(finish=bad)._callback]}
    else:
        options = {"callbacks": [Callback(finish=lambda dsk, state, failed: finished.append(failed))._callback, Callback(**options)._callback]}
    with pytest.raises(Mine):
        get(GRAPH, "z", **options)
    assert finished == [True]
    assert get(GRAPH, "z") == 3


def test_state_is_live_and_can_be_kept():
    kept = []

    def pretask(key, dsk, state):
        if not kept:
            kept.append(state)
            assert state["dependencies"] == {"x": set(), "y": {"x"}, "z": {"x", "y"}}
            assert state["dependents"] == {"x": {"y", "z"}, "y": {"z"}, "z": set()}
            assert state["waiting"] == {"z": {"y"}} and len(state["waiting"]) == 1
            assert state["waiting_data"] == {"x": {"y", "z"}, "y": {"z"}, "z": set()}
            assert state["cache"] == {"x": 1} and state["ready"] == [] and state["ready-set"] == set()
            assert state["running"] == {"y"} and not state["finished"] and not state["released"]
            assert "y" in state["running"] and "nothing" not in state["running"]
            with pytest.raises(KeyError):
                state["cache"]["y"]
            with pytest.raises(KeyError):
                state["dependencies"]["nothing"]

    venturi.dask.get(GRAPH, "z", callbacks=[(None, None, pretask, None, None)])
    state = kept[0]
    assert isinstance(state, dict) and len(state) == 9
    assert state["finished"] == {"y", "z"} and state["running"] == set() and state["released"] == {"x", "y"}
    assert state["cache"]["z"] == 3 and len(state["ready"]) == 0 and state["waiting"] == {}
    assert state["released"] & {"y": 1}.keys() == {"y"} and state["finished"] | {1} == {"y", "z", 1}
    assert repr(state)


def test_state_from_another_thread():
    states, wrong, stop = [], [], threading.Event()

    def look():
        while not stop.is_set():
            for state in states[:1]:
                done = len(state["finished"])
                total = done + sum(len(state[name]) for name in ("ready", "waiting", "running"))
                if total != 2000 or len(list(state["cache"])) > 2000:
                    wrong.append(total)

    looking = threading.Thread(target=look)
    looking.start()
    graph = {i: (lambda i=i: i,) for i in range(2000)}
    try:
        venturi.dask.get(graph, list(graph), callbacks=[(None, lambda dsk, state: states.append(state), lambda *a: None, None, None)])
    finally:
        stop.set()
        looking.join()
    assert not wrong


def test_nested_and_concurrent_runs_are_seen():
    keys = []
    lock = threading.Lock()

    def posttask(key, result, dsk, state, worker_id):
        with lock:
            keys.append(key)

    def nested():
        return venturi.dask.get({"inner": (len, [1, 2])}, "inner")

    together = threading.Barrier(2)
    with Callback(posttask=posttask):
        venturi.dask.threaded.get({"outer": (nested,)}, "outer")
        threads = [threading.Thread(target=venturi.dask.get, args=({i: (lambda: together.wait(30) and 0,)}, i)) for i in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert keys[:2] == ["inner", "outer"] and sorted(keys[2:]) == [0, 1]


def test_start_may_change_the_graph():
    def start(dsk):
        dsk["y"] = 10

    with Callback(start=start):
        assert venturi.dask.get(GRAPH, "z") == 11
    assert venturi.dask.get(GRAPH, "z") == 3
