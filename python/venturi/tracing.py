"""Decorators with the names that users of other tracing modules know."""
import functools
import inspect
import os
import pstats
import warnings
from typing import Any, Callable, Generator, Optional, Union

from .profiling import Profile, wrap_async_generator
from .stats import Stats

Name = Union[str, "os.PathLike[str]", None]


def single_thread_profiler(report_name: Union[Name, Callable[..., Any]] = None, enable: bool = True,
                           limit: Optional[int] = None, sort_by: str = "ncalls", *,
                           builtins: bool = True) -> Callable[..., Any]:
    """Profiles each call of a function. The call returns the statistics; the function's own value is at
    their `.value`. A generator goes on giving its values and returns the statistics when it ends.

    The statistics (a pstats.Stats, and more: see venturi.Stats) are printed, `limit` rows of them in the
    order of `sort_by`, and written to `report_name`, which pstats and snakeviz open; its folders are
    created. With enable=False the function is left as it is. All threads are seen, whatever the name
    says: work that a scheduler hands to others is in the table.
    """
    if callable(report_name):  # without parentheses
        return single_thread_profiler()(report_name)  # type: ignore[no-any-return]
    if report_name is not None:
        os.fspath(report_name)
    if enable:
        _check_order(sort_by)

    def begin() -> "_Report":
        return _Report(report_name, limit, sort_by, builtins)

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        return _wrap(function, begin) if enable else function
    return decorate


def _check_order(sort_by: Any) -> None:
    """Now, and not after an hour of work."""
    try:
        Stats().sort_stats(sort_by)
    except (KeyError, TypeError):
        keys = ", ".join(sorted(key.value for key in pstats.SortKey))
        raise ValueError("sort_by is %r; it is one of %s, or short for one of them" % (sort_by, keys)) from None


def _wrap(function: Callable[..., Any], begin: Callable[[], "_Report"]) -> Callable[..., Any]:
    if inspect.isasyncgenfunction(function):
        return wrap_async_generator(function, begin)
    if inspect.iscoroutinefunction(function):
        @functools.wraps(function)
        async def wait(*args: Any, **kwargs: Any) -> Stats:
            with begin() as report:
                report.value = await function(*args, **kwargs)
            return report.stats()
        return wait
    if inspect.isgeneratorfunction(function):
        @functools.wraps(function)
        def iterate(*args: Any, **kwargs: Any) -> Generator[Any, Any, Stats]:
            with begin() as report:
                report.value = yield from function(*args, **kwargs)
            return report.stats()
        return iterate

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Stats:
        with begin() as report:
            report.value = function(*args, **kwargs)
        return report.stats()
    return call


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
            self._write(self._stats, os.fspath(self._name))
        self._stats.print_stats(*self._limit)

    def _write(self, stats: Stats, name: str) -> None:
        """A report that cannot be written costs nobody the result."""
        try:
            os.makedirs(os.path.dirname(name) or ".", exist_ok=True)
            stats.dump_stats(name)
        except OSError as error:
            warnings.warn("%s: no report was written: %s" % (name, error.strerror or error), RuntimeWarning, stacklevel=4)

    def stats(self) -> Stats:
        assert self._stats is not None
        self._stats.value = self.value
        return self._stats
