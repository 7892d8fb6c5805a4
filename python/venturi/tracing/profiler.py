"""Decorators with the names that users of other tracing modules know."""
import contextlib
import functools
import inspect
import os
import pstats
import warnings
from typing import Any, Callable, Dict, Generator, Optional, Union

from ..profiling import Profile, wrap_async_generator
from ..stats import Stats

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


def _wrap(function: Callable[..., Any], begin: Callable[[], "_Watched"]) -> Callable[..., Any]:
    if inspect.isasyncgenfunction(function):
        return wrap_async_generator(function, begin)
    if inspect.iscoroutinefunction(function):
        @functools.wraps(function)
        async def wait(*args: Any, **kwargs: Any) -> Any:
            async with begin() as watched:
                watched.value = await function(*args, **kwargs)
            return watched.result()
        return wait
    if inspect.isgeneratorfunction(function):
        @functools.wraps(function)
        def iterate(*args: Any, **kwargs: Any) -> Generator[Any, Any, Any]:
            with begin() as watched:
                watched.value = yield from function(*args, **kwargs)
            return watched.result()
        return iterate

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        with begin() as watched:
            watched.value = function(*args, **kwargs)
        return watched.result()
    return call


class _Watched:
    """One call of a decorated function; `value` is what it returned."""

    value: Any = None

    def __enter__(self) -> "_Watched":
        raise NotImplementedError

    def __exit__(self, *reason: Any) -> None:
        raise NotImplementedError

    async def __aenter__(self) -> "_Watched":
        return self.__enter__()

    async def __aexit__(self, *reason: Any) -> None:
        self.__exit__(*reason)

    def result(self) -> Any:
        """What the decorated function returns."""
        return self.value


class _Report(_Watched):
    """One profiled call, and what is told about it also when it raises."""

    def __init__(self, report_name: Name, limit: Optional[int], sort_by: str, builtins: bool) -> None:
        self._name = report_name
        self._limit = () if limit is None else (limit,)
        self._sort_by = sort_by
        self._profile = Profile(builtins=builtins)
        self._stats: Optional[Stats] = None

    def __enter__(self) -> "_Report":
        self._profile.start()
        return self

    def __exit__(self, *reason: Any) -> None:
        self._profile.stop()
        self._stats = self._profile.stats()
        self._stats.sort_stats(self._sort_by)
        if self._name is not None:
            self._write(self._stats, os.fspath(self._name))
        self._say_threads(self._stats)
        self._stats.print_stats(*self._limit)

    @staticmethod
    def _say_threads(stats: Stats) -> None:
        """The sum that follows is longer than the call took if others worked at the same time."""
        threads = stats.threads()
        count = sum(stats.thread(thread).total_calls > 0 for thread in threads) if len(threads) > 1 else 1
        if count > 1:
            print("         in %d threads: times are their sums" % count, file=stats.stream)

    def _write(self, stats: Stats, name: str) -> None:
        """A report that cannot be written costs nobody the result."""
        try:
            os.makedirs(os.path.dirname(name) or ".", exist_ok=True)
            stats.dump_stats(name)
        except OSError as error:
            warnings.warn("%s: no report was written: %s" % (name, error.strerror or error), RuntimeWarning, stacklevel=4)

    def result(self) -> Stats:
        assert self._stats is not None
        self._stats.value = self.value
        return self._stats


def dask_profiler(n_workers: Union[int, None, Callable[..., Any]] = None, threads_per_worker: Optional[int] = None,
                  report_name: Union[str, "os.PathLike[str]"] = "dask-report.html", display_report: bool = True, enable: bool = True,
                  mem_limit: Union[int, str, None] = None) -> Callable[..., Any]:
    """Records what a dask cluster does during each call of a function, and writes it as a page to `report_name`, whose folders are created.

    With both numbers the call has a LocalCluster of its own, with `mem_limit` for each worker; else it uses the active
    Client; if there is none, a LocalCluster as dask would make it. The call returns the function's own value, and raises what the function
    raises. A terminal of IPython opens the page in a browser, a notebook shows it, unless display_report is False. With enable=False
    the function is left as it is. Needs dask.distributed, but not bokeh.
    """
    if callable(n_workers):  # without parentheses
        return dask_profiler()(n_workers)  # type: ignore[no-any-return]
    name = os.fspath(report_name)
    numbers: Dict[str, Any] = {"n_workers": n_workers, "threads_per_worker": threads_per_worker}
    for what, number in numbers.items():
        if number is not None and not isinstance(number, int):
            raise TypeError("%s is a number, not %r" % (what, number))

    def begin() -> _DaskReport:
        return _DaskReport(name, display_report, numbers, mem_limit)

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        return _wrap(function, begin) if enable else function
    return decorate


class _DaskReport(_Watched):
    """One call on a cluster, and the page of it, which there is also when the call raises."""

    def __init__(self, name: str, is_shown: bool, numbers: Dict[str, Any], mem_limit: Union[int, str, None]) -> None:
        self._name = os.path.abspath(name)
        self._is_shown = is_shown
        self._numbers = {what: number for what, number in numbers.items() if number and number > 0}
        self._mem_limit = mem_limit
        self._stack = contextlib.ExitStack()
        self._recording: Any = None
        self._resources: Any = None

    def _choose(self) -> None:
        from ..dask import record
        from ..diagnostics import ResourceProfiler
        from ..diagnostics._watching import current_client

        client = None if len(self._numbers) == 2 else current_client()
        if client is None:
            client = self._own_client()
        self._recording = record(client)
        if type(getattr(client, "cluster", None)).__name__ == "LocalCluster":  # else this process has little to do with it
            self._resources = self._stack.enter_context(ResourceProfiler(dt=0.1))

    def _own_client(self) -> Any:
        try:
            from distributed import Client, LocalCluster  # type: ignore[import-not-found, import-untyped, unused-ignore]
        except ModuleNotFoundError as error:
            raise ImportError("dask_profiler needs dask's clusters (%s): pip install distributed" % error) from None
        options = dict(self._numbers)
        if self._mem_limit is not None:
            options["memory_limit"] = self._mem_limit
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="Port .* is already in use")  # of the dashboard: another one is found
            cluster = self._stack.enter_context(LocalCluster(dashboard_address="127.0.0.1:8787", **options))
        return self._stack.enter_context(Client(cluster))

    def __enter__(self) -> "_DaskReport":
        with self._stack:  # closes what there is if something fails
            self._choose()
            self._recording.__enter__()
            self._stack = self._stack.pop_all()
        return self

    async def __aenter__(self) -> "_DaskReport":
        with self._stack:
            self._choose()
            await self._recording.__aenter__()
            self._stack = self._stack.pop_all()
        return self

    def __exit__(self, *reason: Any) -> None:
        with self._stack:
            self._recording.__exit__(*reason)
        self._tell(reason[1])

    async def __aexit__(self, *reason: Any) -> None:
        with self._stack:
            await self._recording.__aexit__(*reason)
        self._tell(reason[1])

    def _tell(self, error: Optional[BaseException]) -> None:
        """A report that cannot be written costs nobody the result."""
        from ..diagnostics import page

        said = "" if error is None else ("%s: %s" % (type(error).__name__, error)).split("\n")[0][:500]
        try:
            runs = self._recording._runs(said)
            page.write_page(self._name, runs, self._resources.results if self._resources else ())
        except (OSError, RuntimeError, ValueError) as problem:
            warnings.warn("%s: no report was written: %s" % (self._name, problem), RuntimeWarning, stacklevel=4)
            return
        if self._is_shown:
            page.show_in_ipython(self._name)
