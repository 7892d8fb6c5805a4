"""What all schedulers have in common: the options of dask's get functions become those of the engine."""
import os
import sys
from typing import Any, Dict, Optional, Tuple

from .. import _venturi
from . import _registry

Hooks = Tuple[Any, ...]
MOST_WORKERS = 4096


def setting(name: str, otherwise: Any = None) -> Any:
    """A setting of dask, if dask has been loaded."""
    config = sys.modules.get("dask.config")
    return otherwise if config is None else config.get(name, otherwise)


def workers_of(num_workers: Any, pool: Any) -> int:
    """As dask has it: 0 is as good as None."""
    pool = pool or setting("pool")
    if pool is not None:
        found = getattr(pool, "_max_workers", None) or getattr(pool, "_processes", None) or (pool if isinstance(pool, int) else None)
        if found:
            return _checked("pool", found)
    given = num_workers or setting("num_workers")
    if given:
        return _checked("num_workers", given)
    return min(MOST_WORKERS, getattr(sys.modules.get("dask.system"), "CPU_COUNT", None) or len(os.sched_getaffinity(0)))


def _checked(name: str, given: Any) -> int:
    try:
        number = int(given)
    except (TypeError, ValueError, OverflowError):
        number = 0
    if not 1 <= number <= MOST_WORKERS:
        raise ValueError(f"{name} is {given!r}; it is a number from 1 to {MOST_WORKERS}")
    return number


def graph_of(dsk: Any) -> Dict[Any, Any]:
    """A graph as a dict: that may be it, a mapping, or a collection."""
    if type(dsk) is dict:
        return dsk
    if not hasattr(dsk, "keys"):
        dsk = dsk.__dask_graph__()
    return dict(dsk)


def shown_graph(graph: Dict[Any, Any], cache: Optional[Any]) -> Dict[Any, Any]:
    """What dask shows to callbacks: a copy, of objects if that is what it has today."""
    spec = sys.modules.get("dask._task_spec")
    if spec is None:
        return dict(graph)
    shown: Dict[Any, Any] = spec.convert_legacy_graph(graph, set(graph) | set(cache or ()))
    return shown


def _takes_result(callback: Any) -> bool:
    """Whether an end_callback is of the later kind, with five arguments."""
    import inspect

    try:
        signature = inspect.signature(callback)
        signature.bind(None, None, None, None)
    except TypeError:
        return True
    except ValueError:
        return False
    return False


def _cache_hooks(cache: Any) -> Hooks:
    """Keeps a cache that was given as dask does: with what has been computed and is still needed."""

    def start_state(dsk: Any, state: Any) -> None:
        for key, value in state["cache"].items():
            cache[key] = value

    def posttask(key: Any, result: Any, dsk: Any, state: Any, worker_id: Any) -> None:
        cache[key] = result
        for needed in state["dependencies"][key]:
            if needed in state["released"]:
                cache.pop(needed, None)

    return None, start_state, None, posttask, None


def _rerun(graph: Dict[Any, Any], key: Any, cache: Any) -> None:
    """Computes what failed once more, here, so that a debugger can look into it."""
    _venturi.graph_get(graph, key, "sync", 1, [], [], known=cache)


def compute(scheduler: str, workers: int, dsk: Any, keys: Any, options: Dict[str, Any]) -> Any:
    graph = shown = graph_of(dsk)
    cache = options.get("cache")
    if cache is None:
        cache = setting("cache")
    known = None if cache is None else dict(cache)
    end_callback = options.get("end_callback")
    with _registry.hooks_for_run(options.get("callbacks")) as hooks:
        if hooks:
            graph = shown_graph(graph, cache)
        if cache is not None:
            hooks = hooks + [_cache_hooks(cache)]
        try:
            return _venturi.graph_get(
                graph, keys, scheduler, workers, hooks, list(_registry.observers()),
                start_callback=options.get("start_callback"), end_callback=end_callback,
                error_callback=options.get("error_callback"),
                end_has_result=end_callback is not None and _takes_result(end_callback), known=known, shown=shown,
                retries=options.get("retries") or 0, timeout=options.get("timeout") or 0.0,
                keep_going=bool(options.get("keep_going")), cpu_time=bool(options.get("cpu_time")),
                progress=bool(options.get("progress")), worker_command=options.get("worker_command"), pickling=options.get("pickling"))
        except Exception as error:
            again = options.get("rerun_exceptions_locally")
            if again is None:
                again = setting("rerun_exceptions_locally", False)
            if again and hasattr(error, "__venturi_key__"):
                _rerun(graph, error.__venturi_key__, known)
            if options.get("raise_exception") is not None:
                options["raise_exception"](error, error.__traceback__)
            raise
