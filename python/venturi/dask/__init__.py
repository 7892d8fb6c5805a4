"""Graphs of dask, computed by Venturi's engine: one thread, several, or several processes.

    array.compute(scheduler=venturi.dask.threaded.get)
    venturi.dask.get({"x": 1, "y": (increment, "x")}, "y")

Works with and without dask: graphs of tuples need nothing but this package. Every task is recorded if somebody records.
"""
from importlib import import_module
from typing import TYPE_CHECKING, Any

from ._registry import _observe as _observe, _unobserve as _unobserve
from .callbacks import Callback as Callback, add_callbacks as add_callbacks
from .local import get as get, get_sync as get_sync

if TYPE_CHECKING:
    from . import callbacks as callbacks, local as local, multiprocessing as multiprocessing, threaded as threaded
    from .cluster import Graph as Graph, run_graph as run_graph
    from .recording import record as record

__all__ = ["Callback", "Graph", "add_callbacks", "get", "get_sync", "record", "run_graph"]

_HOMES = {"Graph": "cluster", "record": "recording", "run_graph": "cluster"}


def __getattr__(name: str) -> Any:
    """What is for clusters and other processes is loaded when it is first used."""
    if name in ("multiprocessing", "threaded"):
        return import_module("." + name, __name__)
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module("." + _HOMES[name], __name__), name)
    globals()[name] = value
    return value
