"""Decorators with the names that users of other tracing modules know."""
import functools
import inspect
import os
from typing import Any, Callable, Optional, Union

from .profiling import Profile
from .stats import Stats

Name = Union[str, "os.PathLike[str]", None]


def single_thread_profiler(report_name: Name = None, enable: bool = True, limit: Optional[int] = None,
                           sort_by: str = "ncalls", *, builtins: bool = True) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Profiles each call of a function. The call returns the statistics; the function's own value is at
    their `.value`.

    The statistics (a pstats.Stats, and more: see venturi.Stats) are printed, `limit` rows of them in the
    order of `sort_by`, and written to `report_name`, which pstats and snakeviz open; its folders are
    created. With enable=False the function is left as it is. All threads are seen, whatever the name
    says: work that a scheduler hands to others is in the table.
    """
    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        if not enable:
            return function
        if inspect.iscoroutinefunction(function):
            @functools.wraps(function)
            async def wait(*args: Any, **kwargs: Any) -> Stats:
                with _Report(report_name, limit, sort_by, builtins) as report:
                    report.value = await function(*args, **kwargs)
                return report.stats()
            return wait

        @functools.wraps(function)
        def call(*args: Any, **kwargs: Any) -> Stats:
            with _Report(report_name, limit, sort_by, builtins) as report:
                report.value = function(*args, **kwargs)
            return report.stats()
        return call
    return decorate


class _Report:
    """One profiled call, and what is told about it also when it raises."""

    def __init__(self, report_name: Name, limit: Optional[int], sort_by: str, builtins: bool) -> None:
        self.value: Any = None
        self._name = report_name
        self._limit = () if limit is None else (limit,)
        self._sort_by = sort_by
        self._profile = Profile(builtins=builtins)
        self._stats: Optional[Stats] = None

    def __enter__(self) -> "_Report":
        self._profile.start()
        return self

    def __exit__(self, *reason: object) -> None:
        self._profile.stop()
        self._stats = self._profile.stats()
        self._stats.sort_stats(self._sort_by)
        if self._name is not None:
            folder = os.path.dirname(os.fspath(self._name))
            if folder:
                os.makedirs(folder, exist_ok=True)
            self._stats.dump_stats(self._name)
        self._stats.print_stats(*self._limit)

    def stats(self) -> Stats:
        assert self._stats is not None
        self._stats.value = self.value
        return self._stats
