"""dask.local: one task after the other, in the thread that asks."""
from typing import Any

from ._compute import compute


def get_sync(dsk: Any, keys: Any, **options: Any) -> Any:
    """Computes a key, or lists of lists of keys, which are given back as tuples.

    Options are those of dask: callbacks, cache, rerun_exceptions_locally, raise_exception; the older
    start_callback(key, dask, state) and end_callback(key, dask, state, id); and ours: error_callback(key, exception, dask, state, id),
    retries, timeout (seconds of one try), keep_going (after a failure, with what does not depend on it), cpu_time (read it for each
    task), progress (a bar on stderr). Others are ignored.
    """
    options.pop("num_workers", None)
    return compute("sync", 1, dsk, keys, options)


def get(dsk: Any, keys: Any, **options: Any) -> Any:
    """get_sync(), or with scheduler="threads" or "processes" that of venturi.dask.threaded or .multiprocessing."""
    scheduler = options.pop("scheduler", None) or "sync"
    if scheduler == "threads":
        from .threaded import get as threaded

        return threaded(dsk, keys, **options)
    if scheduler == "processes":
        from .multiprocessing import get as processes

        return processes(dsk, keys, **options)
    if scheduler != "sync":
        raise ValueError(f"no such scheduler: {scheduler!r}")
    return get_sync(dsk, keys, **options)
