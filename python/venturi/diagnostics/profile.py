"""Profilers of task graphs: when which task ran and where, what the machine did meanwhile, and what was kept in memory."""
import time
from collections import namedtuple
from typing import Any, Callable, List, Optional

from .. import _venturi
from ._runs import CachedRun, HookedRun
from ._watching import Results, Watching, current_client

TaskData = namedtuple("TaskData", ("key", "task", "start_time", "end_time", "worker_id"))
ResourceData = namedtuple("ResourceData", ("time", "mem", "cpu"))
CacheData = namedtuple("CacheData", ("key", "task", "metric", "cache_time", "free_time"))


class _OfRuns(Watching):
    """A profiler whose results are made of runs that are over, when they are asked for."""

    def __init__(self) -> None:
        super().__init__()
        self._results = Results()

    @property
    def results(self) -> Results:
        """A list; `results()` gives it too."""
        with self._lock:
            over = [run for run in self._untaken if run.end_time]
            if over:
                self._untaken = [run for run in self._untaken if not run.end_time]
            for run in over:
                self._results.extend(self._results_of(run))
        return self._results

    def _results_of(self, run: Any) -> List[Any]:
        raise NotImplementedError

    def clear(self) -> None:
        super().clear()
        self._results = Results()

    def _start(self, dsk: Any) -> None:
        self._hooked_begin(HookedRun(dsk))

    def _pretask(self, key: Any, dsk: Any, state: Any) -> None:
        run = self._hooked_now()
        if run is not None:
            run.begin(key, dsk)

    def _finish(self, dsk: Any, state: Any, failed: bool) -> None:
        self._hooked_end(state, failed)


class Profiler(_OfRuns):
    """When each task began and ended, and which worker ran it: TaskData(key, task, start_time, end_time, worker_id), in seconds since 1970.

        with Profiler() as prof:
            array.compute()
        prof.results[0]; prof.visualize()

    Or registered for all that follows, by register() and unregister(). Or around a scheduler: `prof = Profiler(get)`, then
    `prof.get(dsk, keys)`, or `array.compute(scheduler=prof.get)`; each call forgets the one before.
    """

    def __init__(self, get: Optional[Callable[..., Any]] = None) -> None:
        super().__init__()
        if get is not None and not callable(get):
            raise TypeError("Profiler() takes a scheduler's get function; %r is not callable" % (get,))
        self._get = get

    def get(self, dsk: Any, keys: Any, **options: Any) -> Any:
        """What the scheduler's own get() gives, profiled."""
        if self._get is None:
            raise TypeError("Profiler() was made without a scheduler: Profiler(get) has get()")
        self.clear()
        self.start_time = time.time()
        self._listen()  # who brings a scheduler has loaded what it needs
        try:
            return self._get(dsk, keys, **options)
        finally:
            self.__exit__()

    def _posttask(self, key: Any, value: Any, dsk: Any, state: Any, worker: Any) -> None:
        run = self._hooked_now()
        if run is not None:
            run.end(key, worker)

    def _results_of(self, run: Any) -> List[TaskData]:
        return [TaskData._make(task[:5]) for task in run.tasks() if task[6] == "done"]


class CacheProfiler(_OfRuns):
    """How long each result was kept: CacheData(key, task, metric, cache_time, free_time), in seconds since 1970.

    `metric` is a function of a result, its size for instance; without it each counts 1. `metric_name` says what it is.
    """

    def __init__(self, metric: Optional[Callable[[Any], Any]] = None, metric_name: Optional[str] = None) -> None:
        super().__init__()
        if metric is not None and not callable(metric):
            raise TypeError("metric is a function of a result; %r is not callable" % (metric,))
        self._metric = metric
        self._is_observer = metric is None  # who has to see each result cannot ask afterwards
        if metric_name:
            self._metric_name = metric_name
        else:
            self._metric_name = "count" if metric is None else getattr(metric, "__name__", "metric")

    def _start(self, dsk: Any) -> None:
        self._hooked_begin(CachedRun(dsk))

    def _posttask(self, key: Any, value: Any, dsk: Any, state: Any, worker: Any) -> None:
        """Only what this task depended on can have been released by it: dask's own looks through all that is kept, each time."""
        run = self._hooked_now()
        if run is None:
            return
        assert isinstance(run, CachedRun)
        run.end(key, worker)
        run.keep(key, 1 if self._metric is None else self._metric(value))
        released = state["released"]
        for other in state["dependencies"][key]:
            if other in released:
                run.release(other)

    def _record(self, client: Any) -> Any:
        """In a cluster results are where they were made: so is `metric`."""
        from ..dask import record

        return record(client, metric=self._metric)

    def _results_of(self, run: Any) -> List[CacheData]:
        if isinstance(run, CachedRun):
            return [CacheData._make(entry) for entry in run.cached]
        tasks = run.tasks()
        measures = run.recording.measures if self._metric is not None else [1] * len(tasks)
        # Clocks of a cluster may differ a little.
        return [CacheData(task[0], task[1], measure, task[3], max(task[3], task[11] or run.end_time))
                for task, measure in zip(tasks, measures) if task[6] == "done"]


class ResourceProfiler(Watching):
    """CPU and memory of this process and of all that it started, those that come later included: ResourceData(time, mem, cpu),
    every `dt` seconds; `mem` in megabytes of 1,000,000, `cpu` in percent of one CPU.

    As a context manager it reads all the time; registered, while something is being computed.
    """

    def __init__(self, dt: float = 1) -> None:
        super().__init__()
        if not 0.001 <= dt <= 86400:
            raise ValueError("dt is %r; it is seconds, from 0.001 to 86400" % (dt,))
        self._dt = dt
        self._reader = _venturi.Resources()
        self._users = 0
        self._has_cluster = False
        self._results = Results()

    @property
    def results(self) -> Results:
        """A list, up to now; `results()` gives it too."""
        with self._lock:
            self._results.extend(ResourceData(at, size / 1e6, cpu) for at, size, cpu in self._reader.take())
        return self._results

    def _begin(self) -> None:
        with self._lock:
            self._users += 1
            if self._users == 1:
                self._reader.start(self._dt)

    def _end(self) -> None:
        with self._lock:
            if self._users:
                self._users -= 1
                if self._users == 0:
                    self._reader.stop()

    def __enter__(self) -> "ResourceProfiler":
        super().__enter__()
        self._begin()
        return self

    def __exit__(self, *reason: object) -> None:
        self._end()
        super().__exit__(*reason)

    def _run_begins(self, run: Any) -> None:
        self._begin()

    def _run_ends(self, run: Any) -> None:
        self._end()

    def _start(self, dsk: Any) -> None:
        if not self._has_left:
            self._begin()

    def _finish(self, dsk: Any, state: Any, failed: bool) -> None:
        if not self._has_left:
            self._end()

    def _open_cluster(self) -> None:
        """A cluster does not say when it computes: so all the time if there is one."""
        self._has_cluster = current_client() is not None
        if self._has_cluster:
            self._begin()

    def _close_cluster(self) -> None:
        if self._has_cluster:
            self._end()

    def close(self) -> None:
        """Reads no more."""
        with self._lock:
            self._users = 0
            self._reader.stop()

    def clear(self) -> None:
        super().clear()
        with self._lock:
            self._reader.take()
            self._results = Results()
