"""Who is told of runs: callbacks as dask has them, registered here or with dask, and observers, which are told of whole runs.

Both lists are replaced, never changed: a run takes what there is when it begins. Nested and concurrent runs take nothing away from each
other, with one exception: dask's own profilers and its progress bar keep one run's notes and would mix up two at a time.
"""
import sys
import threading
from contextlib import contextmanager
from typing import Any, Iterator, List, Optional, Tuple

Hooks = Tuple[Any, ...]

_lock = threading.Lock()
_hooks: List[Hooks] = []
_observers: List[Any] = []
_busy: List[Hooks] = []  # of dask's own classes, in use by a run


def _observe(observer: Any) -> None:
    """`observer._run_begins(run)` and `._run_ends(run)` are called for every run from now on."""
    global _observers
    with _lock:
        _observers = _observers + [observer]


def _unobserve(observer: Any) -> None:
    global _observers
    with _lock:
        _observers = [other for other in _observers if other is not observer]


def observers() -> List[Any]:
    return _observers


def dask_callbacks() -> Any:
    """dask.callbacks.Callback, if dask has been loaded."""
    module = sys.modules.get("dask.callbacks")
    return getattr(module, "Callback", None)


def register(hooks: Hooks) -> None:
    """For all runs from now on, those of dask's own schedulers included if dask has been loaded."""
    global _hooks
    theirs = dask_callbacks()
    with _lock:
        if hooks not in _hooks:
            _hooks = _hooks + [hooks]
    if theirs is not None:
        theirs.active.add(hooks)


def unregister(hooks: Hooks) -> None:
    global _hooks
    theirs = dask_callbacks()
    with _lock:
        _hooks = [other for other in _hooks if other != hooks]
    if theirs is not None:
        theirs.active.discard(hooks)


def is_registered(hooks: Hooks) -> bool:
    return hooks in _hooks


def _is_dasks(hooks: Hooks) -> bool:
    """Whether it belongs to an object of one of dask's own classes."""
    return any(type(getattr(hook, "__self__", None)).__module__.startswith("dask.") for hook in hooks)


def _known() -> List[Hooks]:
    theirs = dask_callbacks()
    known = list(_hooks)
    if theirs is not None:
        known += [hooks for hooks in list(theirs.active) if hooks not in known]
    return [hooks for hooks in known if getattr(hooks, "owner", None) not in _observers or getattr(hooks, "owner", None) is None]


@contextmanager
def hooks_for_run(given: Optional[Any]) -> Iterator[List[Hooks]]:
    """The callbacks of one run: what was given, or else all that are registered."""
    if given is not None:
        yield _normal(given)
        return
    mine = []
    with _lock:
        found = [hooks for hooks in _known() if hooks not in _busy]
        mine = [hooks for hooks in found if _is_dasks(hooks)]
        _busy.extend(mine)
    try:
        yield [tuple(hooks) for hooks in found]
    finally:
        with _lock:
            for hooks in mine:
                _busy.remove(hooks)


def _normal(given: Any) -> List[Hooks]:
    """A tuple of hooks, a callback, or several of them."""
    if hasattr(given, "_callback"):
        return [tuple(given._callback)]
    if isinstance(given, tuple) and len(given) == 5 and all(one is None or callable(one) and not hasattr(one, "_callback") for one in given):
        return [given]
    return [tuple(getattr(one, "_callback", one)) for one in given]
