"""Profilers and a progress bar for task graphs, with the names and forms that users of dask know.

    with Profiler() as prof, ResourceProfiler(dt=0.25) as resources:
        array.compute(scheduler=venturi.dask.threaded.get)
    visualize([prof, resources])

They see runs of our engine, of dask's own schedulers, and of a distributed cluster.
"""
from typing import Any

from ._watching import Callback as Callback
from .page import visualize as visualize
from .profile import CacheData as CacheData, CacheProfiler as CacheProfiler, Profiler as Profiler
from .profile import ResourceData as ResourceData, ResourceProfiler as ResourceProfiler, TaskData as TaskData
from .progress import ProgressBar as ProgressBar

__all__ = ["CacheData", "CacheProfiler", "Callback", "Profiler", "ProgressBar", "ResourceData", "ResourceProfiler", "TaskData",
           "process_prof", "thread_prof", "visualize"]


def _threaded_get(dsk: Any, keys: Any, **options: Any) -> Any:
    from ..dask.threaded import get

    return get(dsk, keys, **options)


def _multiprocessing_get(dsk: Any, keys: Any, **options: Any) -> Any:
    from ..dask.multiprocessing import get

    return get(dsk, keys, **options)


thread_prof = Profiler(_threaded_get)
process_prof = Profiler(_multiprocessing_get)
