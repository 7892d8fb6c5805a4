"""dask.callbacks, for those who do not have dask: the same classes, for runs of our engine and of dask's own schedulers.

    class PrintKeys(Callback):
        def _pretask(self, key, dask, state):
            print(key)

    with PrintKeys():
        venturi.dask.get(graph, keys)
"""
from types import TracebackType
from typing import Any, Callable, Optional, Tuple, Type, TypeVar

from . import _registry

Hook = Optional[Callable[..., Any]]
C = TypeVar("C", bound="Callback")
_FIELDS = ("_start", "_start_state", "_pretask", "_posttask", "_finish")


class Callback:
    """Functions that are called during a run: given here, or as methods with a leading underscore.

    start(dsk)                                       before anything else; may change the graph
    start_state(dsk, state)                          before the first task
    pretask(key, dsk, state)                         before a task is begun
    posttask(key, result, dsk, state, worker_id)     after a task is done
    finish(dsk, state, failed)                       always, if start returned
    """

    def __init__(
        self, start: Hook = None, start_state: Hook = None, pretask: Hook = None, posttask: Hook = None, finish: Hook = None
    ) -> None:
        for name, hook in zip(_FIELDS, (start, start_state, pretask, posttask, finish)):
            if hook:
                setattr(self, name, hook)

    @property
    def _callback(self) -> Tuple[Hook, ...]:
        return tuple(getattr(self, name, None) for name in _FIELDS)

    def __enter__(self: C) -> C:
        self.register()
        return self

    def __exit__(
        self, etype: Optional[Type[BaseException]], value: Optional[BaseException], traceback: Optional[TracebackType]
    ) -> None:
        _registry.unregister(self._callback)

    def register(self) -> None:
        """Called during all runs from now on, those inside of tasks included."""
        _registry.register(self._callback)

    def unregister(self) -> None:
        if not _registry.is_registered(self._callback):
            raise KeyError(self._callback)
        _registry.unregister(self._callback)


class add_callbacks:
    """Registers several for as long as a block lasts. Each is a Callback or a tuple of five functions."""

    def __init__(self, *callbacks: Any) -> None:
        self.callbacks = [getattr(callback, "_callback", callback) for callback in callbacks]
        for callback in self.callbacks:
            if not isinstance(callback, tuple):
                raise TypeError("a callback is a Callback or a tuple")
        for callback in self.callbacks:
            _registry.register(callback)

    def __enter__(self) -> None:
        return None

    def __exit__(
        self, etype: Optional[Type[BaseException]], value: Optional[BaseException], traceback: Optional[TracebackType]
    ) -> None:
        for callback in self.callbacks:
            _registry.unregister(callback)
