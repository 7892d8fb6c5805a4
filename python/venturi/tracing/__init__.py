"""Decorators with the names that users of other tracing modules know.

Beside it lies prometheus-cpm.yml, a configuration for Prometheus that watches a dask dashboard or `venturi serve`, whichever has port
8787: importlib.resources.files("venturi.tracing") / "prometheus-cpm.yml".
"""
from .profiler import dask_profiler, single_thread_profiler

__all__ = ["dask_profiler", "single_thread_profiler"]
