"""Venturi records what a program does: functions, spans, counters, in all its threads and processes.

    with venturi.Profile() as profile:
        work()
    profile.stats().sort_stats("cumulative").print_stats(20)

`venturi run script.py` does the same for a whole program, without a change to it.
"""
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from . import clients as clients, configuration as configuration, dask as dask, diagnostics as diagnostics, energy as energy, propagation as propagation, sql as sql, step as step, web as web
    from . import trace as trace, tracing as tracing
    from ._venturi import items as items
    from .lines import profile as profile
    from .profiling import Profile as Profile
    from .stats import Row as Row, Stats as Stats, Thread as Thread

__version__ = "0.1.0"
__all__ = ["Profile", "Row", "Stats", "Thread", "items", "profile", "trace", "tracing", "__version__"]

_HOMES = {"Profile": "profiling", "Row": "stats", "Stats": "stats", "Thread": "stats", "items": "_venturi", "profile": "lines"}


def __getattr__(name: str) -> Any:
    """Modules are loaded when they are first used: a program that only imports us pays nothing."""
    from importlib import import_module

    if name in ("clients", "configuration", "dask", "diagnostics", "energy", "lines", "profiling", "propagation", "sql", "stats", "step", "trace", "tracing", "web"):
        return import_module("." + name, __name__)
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module("." + _HOMES[name], __name__), name)
    globals()[name] = value
    return value
