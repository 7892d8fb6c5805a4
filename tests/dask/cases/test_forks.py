"""Processes that are forked while graphs are computed: each computes graphs of its own."""
import os
import signal
import sys
import threading

import pytest

import venturi.dask
import venturi.dask.threaded

HOOKS = [(None, lambda dsk, state: len(state["ready"]), lambda key, dsk, state: len(state["finished"]), None, None)]
WAYS = [(venturi.dask.get, []), (venturi.dask.get, HOOKS), (venturi.dask.threaded.get, []), (venturi.dask.threaded.get, HOOKS)]


def inc(x):
    return x + 1


def compute(get, hooks, count):
    graph = {("x", i): (inc, i) for i in range(count)}
    graph["sum"] = (sum, list(graph))
    return get(graph, "sum", callbacks=hooks, num_workers=2) == sum(range(count + 1))


def in_child():
    """What is not over in time would never be; nothing of the parent's is cleaned up."""
    code = 1
    try:
        signal.alarm(60)
        code = 0 if all(compute(*way, 40) for way in WAYS) else 2
    finally:
        os._exit(code)


def fork():
    sys.stdout.flush()
    child = os.fork()
    if not child:
        in_child()
    return os.waitpid(child, 0)[1]


def test_while_other_threads_compute():
    stop, wrong = threading.Event(), []

    def busy(way):
        while not stop.is_set():
            if not compute(*way, 1000):
                wrong.append(way)

    threads = [threading.Thread(target=busy, args=(way,)) for way in WAYS]
    for thread in threads:
        thread.start()
    try:
        ended = [fork() for _ in range(15)]
    finally:
        stop.set()
        for thread in threads:
            thread.join()
    assert ended == [0] * 15 and not wrong


@pytest.mark.parametrize("place", ["task", "callback"])
def test_inside_of_a_run(place):
    for get, hooks in WAYS:
        ended = []
        graph = {"x": ((lambda: ended.append(fork())) if place == "task" else (lambda: 0),), "y": (lambda x: 7, "x")}
        told = [*hooks, (None, None, None, lambda key, result, dsk, state, worker: ended.append(fork()) if key == "x" else None, None)]
        assert get(graph, "y", callbacks=told if place == "callback" else hooks, num_workers=2) == 7 and ended == [0]
