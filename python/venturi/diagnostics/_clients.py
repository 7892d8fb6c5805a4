"""What a distributed client is asked to compute, while somebody listens: methods of that one client are wrapped, and put back.

Nothing that a listener does may hurt the computation, and what is kept of it must not keep values alive in the cluster.
"""
import copy
import functools
import gc
import sys
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from types import FunctionType, ModuleType
from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple

_lock = threading.Lock()
Listener = Callable[..., Optional[Callable[[bool], None]]]


class Tap:
    """A method of one client. Listeners are called with its arguments, and what they return, when it is over, with whether it failed."""

    def __init__(self, client: Any, name: str) -> None:
        self._client = client
        self._name = name
        self._before = vars(client).get(name)  # of another tool, which wrapped it too
        self._method = getattr(client, name)
        self._listeners: Tuple[Listener, ...] = ()  # replaced, never changed

    def __call__(self, *args: Any, **options: Any) -> Any:
        ends = []
        for listener in self._listeners:
            with suppress(Exception):
                ends.append(listener(*args, **options))
        failed = True
        try:
            value = self._method(*args, **options)
            failed = False
            return value
        finally:
            for end in filter(None, reversed(ends)):
                with suppress(Exception):
                    end(failed)

    def add(self, listener: Listener) -> None:
        self._listeners += (listener,)

    def remove(self, listener: Listener) -> None:
        with _lock:
            self._listeners = tuple(other for other in self._listeners if other != listener)
            if self._listeners or vars(self._client).get(self._name) is not self:
                return  # in use, or wrapped by another tool: then it stays, and only hands on
            if self._before is None:
                delattr(self._client, self._name)
            else:
                setattr(self._client, self._name, self._before)


def listen(client: Any, name: str, listener: Listener) -> Optional[Tap]:
    """None: this release of dask has no such method."""
    with _lock:
        tap = vars(client).get(name)
        if not isinstance(tap, Tap):
            if not callable(getattr(client, name, None)):
                return None
            tap = Tap(client, name)
            setattr(client, name, tap)
        tap.add(listener)
    return tap


# Graphs that were submitted.

def read_graph(graph: Any) -> Dict[Any, Any]:
    """Tasks by key, as dask's local schedulers would show them: an expression is made a graph, tuples become today's objects if there are any."""
    if not isinstance(graph, Mapping):
        graph = graph.__dask_graph__()
    tasks: Dict[Any, Any] = {}
    for layer in graph.layers.values() if hasattr(graph, "layers") else (graph,):
        tasks.update(copy.copy(layer))  # a layer keeps what was read of it, and some of dask's functions want to see it unread
    try:
        from dask._task_spec import convert_legacy_graph  # type: ignore[import-not-found, import-untyped, unused-ignore]
    except ImportError:  # until 2024
        return tasks
    converted: Dict[Any, Any] = convert_legacy_graph(tasks)
    return converted


def is_future(value: Any) -> bool:
    return isinstance(value, sys.modules["distributed"].Future)


ATOMS = (str, bytes, int, float, complex, type(None), type, ModuleType)
LOOKED_AT = 1000  # objects in one argument; what has more may hold a Future


def may_hold_future(value: Any) -> bool:
    """Whether a Future is somewhere inside of an object of any class."""
    seen = {id(value)}
    todo = [value]
    while todo:
        one = todo.pop()
        if is_future(one) or len(seen) > LOOKED_AT:
            return True
        if isinstance(one, FunctionType):  # of its module it holds everything
            inside = [one.__defaults__, one.__kwdefaults__, *(one.__closure__ or ())]
        else:
            inside = gc.get_referents(one)
        for part in inside:
            if not isinstance(part, ATOMS) and id(part) not in seen:
                seen.add(id(part))
                todo.append(part)
    return False


def without_futures(task: Any) -> Any:
    """The same task with keys in the place of Futures; a copy if there are any."""
    if is_future(task):
        spec = sys.modules.get("dask._task_spec")
        return task.key if spec is None else spec.TaskRef(task.key)
    if type(task) in (tuple, list, set):
        parts = [without_futures(part) for part in task]
        return task if all(new is old for new, old in zip(parts, task)) else type(task)(parts)
    if type(task) is dict:
        values = {key: without_futures(value) for key, value in task.items()}
        return task if all(values[key] is task[key] for key in task) else values
    if type(task).__module__ == "dask._task_spec" and hasattr(task, "args"):
        args, named, function = without_futures(task.args), without_futures(task.kwargs), without_futures(task.func)
        if args is not task.args or named is not task.kwargs or function is not task.func:
            task = copy.copy(task)
            task.args, task.kwargs, task.func = args, named, function
        return task
    if isinstance(task, ATOMS) or not may_hold_future(task):
        return task
    return "<%s.%s>" % (type(task).__module__, type(task).__qualname__)


class Graphs:
    """What a client submitted, so that tasks are found by their keys. A graph is kept as it was given and read when somebody asks; but if the
    client holds results it is read at once: a Future that is kept would keep its value in the cluster."""

    def __init__(self, client: Any) -> None:
        self._client = client
        self._graphs: List[Tuple[float, Any]] = []  # with the times when they were submitted
        self._tap = listen(client, "_graph_to_futures", self._submitted)

    def close(self) -> None:
        if self._tap is not None:
            self._tap.remove(self._submitted)
            self._tap = None

    def _submitted(self, *args: Any, **options: Any) -> Callable[[bool], None]:
        """When it is on its way, it is kept."""
        graph = args[0] if args else options.get("expr", options.get("dsk"))
        return functools.partial(self._keep, time.time(), graph, bool(getattr(self._client, "refcount", True)))

    def _keep(self, when: float, graph: Any, may_have_futures: bool, failed: bool) -> None:
        if failed:
            return
        if may_have_futures:
            graph = {key: without_futures(task) for key, task in read_graph(graph).items() if not is_future(task)}
        elif type(graph) is dict or type(graph).__name__ == "LLGExpr":  # the program's own, which it may change
            graph = read_graph(graph)
        self._graphs.append((when, graph))

    def find(self, rows: List[Any]) -> List[Any]:
        """The tasks of rows as those of a run, None where it is not known: it came from another client."""
        known: Dict[Any, List[Tuple[float, Any]]] = {}
        for when, graph in self._graphs:
            with suppress(Exception):  # of whatever makes graphs
                for key, task in read_graph(graph).items():
                    known.setdefault(key, []).append((when, task))
        if any(row[0] not in known for row in rows):  # older clusters know text only
            for key in list(known):
                if type(key) is not str:
                    known.setdefault(str(key), known[key])
        return [chosen(known.get(row[0], ()), row[2]) for row in rows]


def chosen(found: Sequence[Tuple[float, Any]], start: float) -> Any:
    """Of tasks with the same key: the last one that was submitted before it began."""
    before = [task for when, task in found if when <= start]
    return before[-1] if before else found[0][1] if found else None
