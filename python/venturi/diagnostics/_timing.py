"""When tasks of dask's own schedulers really ran. dask calls its hooks where tasks are handed out and results received, not where they run.

While such a run is watched, the function that runs a task is replaced, in the module that it is in, by one that looks at the clock before and
after it. Graphs, tasks and results are not touched, and a run goes on whatever happens here. Other processes load that module themselves: what
runs there is not seen.
"""
import sys
import threading
import time
from contextlib import suppress
from typing import Any, Callable, Tuple

_lock = threading.Lock()
_runs: Tuple[Any, ...] = ()  # that are watched; replaced, never changed
_original: Any = None
_replaced: Any = None


def _timed(original: Callable[..., Any]) -> Callable[..., Any]:
    def execute_task(key: Any, info: Any, *more: Any) -> Any:
        start = time.perf_counter()
        done = original(key, info, *more)
        end = time.perf_counter()
        with suppress(Exception):
            for run in _runs:
                run.ran(key, info[0], start, end, more[2] if done[2] else None)
        return done
    return execute_task


def watch(run: Any) -> None:
    """`run.ran(key, task, start, end, who)` is called for each task that runs in this process, by whatever thread it ran in, with times of
    perf_counter(); `who` tells the worker if the task failed, and is None if not."""
    global _runs, _original, _replaced
    with _lock:
        _runs += (run,)
        module = sys.modules.get("dask.local")
        if len(_runs) == 1 and callable(getattr(module, "execute_task", None)):
            _original = module.execute_task  # type: ignore[union-attr]
            module.execute_task = _replaced = _timed(_original)  # type: ignore[union-attr]


def unwatch(run: Any) -> None:
    global _runs, _original, _replaced
    with _lock:
        _runs = tuple(other for other in _runs if other is not run)
        module = sys.modules.get("dask.local")
        if not _runs and _replaced is not None and getattr(module, "execute_task", None) is _replaced:
            module.execute_task = _original  # type: ignore[union-attr]
            _original = _replaced = None
