"""What profilers have in common: how they come to know of runs, whoever runs them.

Our engine tells observers when a run begins and ends, and they ask it for its tasks afterwards: nothing is called for each task. dask's own
schedulers call five hooks. A distributed cluster calls nobody: a recording of it is made (venturi.dask.record).
"""
import sys
import threading
import time
from typing import Any, Callable, Dict, List, Optional, Tuple, TypeVar

from ..dask import Callback as Callback, _observe, _registry, _unobserve

# key, task, start, end, worker, ready, state, retries, CPU seconds, whether those are estimated, bytes, freed, dependencies
Task = Tuple[Any, Any, float, float, Any, Optional[float], str, int, Optional[float], bool, Optional[int], Optional[float],
             Tuple[int, ...]]
W = TypeVar("W", bound="Watching")


class Results(List[Any]):
    """What a profiler found: as an attribute, as it is now, and as a call, as it was."""

    def __call__(self) -> "Results":
        return self


class Hooks(Tuple[Optional[Callable[..., Any]], ...]):
    """dask's five hooks; who finds `owner` among the observers need not call them."""

    owner: Any


class Clock:
    """Seconds since 1970 that never go back."""

    def __init__(self) -> None:
        self._offset = time.time() - time.perf_counter()

    def __call__(self) -> float:
        return self._offset + time.perf_counter()


class HookedRun:
    """A run of one of dask's own schedulers. Times are those when a task was handed out and when its result was received: what
    happens in between in its worker is not told."""

    scheduler = "dask"
    workers = 0

    def __init__(self, dsk: Any) -> None:
        self.dsk = dsk
        self.now = Clock()
        self.start_time = self.now()
        self.end_time: Optional[float] = None
        self.failed = False
        self.freed: Dict[Any, float] = {}
        self._dependencies: Any = {}
        self._rows: Dict[Any, List[Any]] = {}

    def begin(self, key: Any, dsk: Any) -> None:
        self._rows[key] = [key, dsk.get(key), self.now()]

    def end(self, key: Any, worker: Any) -> None:
        row = self._rows.get(key)
        if row is not None:
            row += (self.now(), worker)

    def finish(self, state: Any, failed: bool) -> None:
        self.end_time = self.now()
        self.failed = bool(failed)
        self._dependencies = state.get("dependencies", {})

    def tasks(self) -> List[Task]:
        """As those of our engine's runs. A task that was not received is the one that failed, if there is but one."""
        rows = [row for row in self._rows.values() if len(row) == 5]
        pending = [row for row in self._rows.values() if len(row) == 3]
        if self.failed and self.end_time is not None and len(pending) == 1:
            rows.append(pending[0] + [self.end_time, None])
        number = {row[0]: i for i, row in enumerate(rows)}
        return [(key, task, start, end, worker, None, "failed" if self.failed and len(self._rows[key]) == 3 else "done", 0, None, False,
                 None, self.freed.get(key), tuple(number[d] for d in self._dependencies.get(key, ()) if d in number))
                for key, task, start, end, worker in rows]


class CachedRun(HookedRun):
    """A run of which it is known how long each result was kept."""

    def __init__(self, dsk: Any) -> None:
        super().__init__(dsk)
        self.cached: List[Tuple[Any, Any, Any, float, float]] = []  # key, task, measure, from, to
        self._kept: Dict[Any, Tuple[Any, float]] = {}

    def keep(self, key: Any, measure: Any) -> None:
        self._kept[key] = measure, self.now()

    def release(self, key: Any) -> None:
        if key in self._kept:
            measure, since = self._kept.pop(key)
            self.freed[key] = self.now()
            self.cached.append((key, self.dsk.get(key), measure, since, self.freed[key]))

    def finish(self, state: Any, failed: bool) -> None:
        super().finish(state, failed)
        end = self.now()
        self.cached += ((key, self.dsk.get(key), measure, since, end) for key, (measure, since) in self._kept.items())
        self._kept = {}

    def tasks(self) -> List[Task]:
        """Measures that can be sizes are."""
        sizes = {entry[0]: entry[2] for entry in self.cached if isinstance(entry[2], int) and entry[2] >= 0}
        return [task[:10] + (sizes.get(task[0]),) + task[11:] for task in super().tasks()]


class ClusterRun:
    """What a recording of a distributed cluster has, as a run."""

    scheduler = "dask.distributed"
    failed = False

    def __init__(self, client: Any, recording: Any) -> None:
        self.client = client
        self.recording = recording
        self.start_time = time.time()
        self.end_time: Optional[float] = None

    def tasks(self) -> List[Task]:
        return list(self.recording.tasks)

    def is_of(self, other: "ClusterRun") -> bool:
        """Whether both are of the same cluster and, at some time, at the same time."""
        return (self.client is other.client and self.start_time <= (other.end_time or other.start_time)
                and other.start_time <= (self.end_time or self.start_time))


def current_client() -> Any:
    """The distributed client that dask would use now, or None. An asynchronous one is for coroutines."""
    distributed = sys.modules.get("distributed")
    if distributed is None:
        return None
    try:
        return distributed.Client.current()
    except ValueError:
        return None


def import_dask() -> None:
    """So that it knows of us also if the program imports it later."""
    try:
        import dask.callbacks  # type: ignore[import-not-found, import-untyped, unused-ignore]  # noqa: F401
    except ImportError:
        pass


def dask_callback() -> Any:
    """dask's own class of callbacks if it has been loaded, and then ours are of that class too: dask asks for it."""
    theirs = getattr(sys.modules.get("dask.callbacks"), "Callback", None)
    if theirs is not None and not issubclass(Watching, theirs):
        Watching.__bases__ = (Callback, theirs)
    return theirs


class Watching(Callback):
    """Base of the profilers: a context manager, and something to register. Runs that it saw are in `_runs`."""

    _fields = ("_start", "_start_state", "_pretask", "_posttask", "_finish")
    _is_observer = True  # False: only dask's hooks tell what it wants to know

    def __init__(self) -> None:
        dask_callback()
        self._lock = threading.Lock()
        self._listeners = 0
        self._is_registered = False
        self._runs: List[Any] = []
        self._untaken: List[Any] = []  # of these: what was not looked at yet
        self._hooked: Dict[int, List[HookedRun]] = {}  # by thread, the inner ones last: hooks are called by who called get()
        self._cluster: Optional[Tuple[Any, ClusterRun]] = None
        self._hooks: Optional[Hooks] = None
        self.start_time: Optional[float] = None
        self.end_time: Optional[float] = None

    @property
    def _callback(self) -> Hooks:
        dask_callback()
        if self._hooks is None:
            self._hooks = Hooks(getattr(self, name, None) for name in self._fields)
            self._hooks.owner = self
        return self._hooks

    def __enter__(self: W) -> W:
        self.clear()
        self.start_time = time.time()
        import_dask()
        self._listen()
        return self

    def __exit__(self, *reason: object) -> None:
        self._unlisten()
        self.end_time = time.time()

    def register(self) -> None:
        """Sees every run from now on, until unregister(); again: nothing."""
        import_dask()
        with self._lock:
            was_registered, self._is_registered = self._is_registered, True
        if was_registered:
            return
        try:
            self._listen()
        except BaseException:
            self._is_registered = False
            raise

    def unregister(self) -> None:
        with self._lock:
            was_registered, self._is_registered = self._is_registered, False
        if not was_registered:
            raise RuntimeError("this %s is not registered" % type(self).__name__)
        self._unlisten()

    def _listen(self) -> None:
        with self._lock:
            self._listeners += 1
            if self._listeners > 1:
                return
        if self._is_observer:
            _observe(self)
        _registry.register(self._callback)
        try:
            self._open_cluster()
        except BaseException:
            self._unlisten()
            raise

    def _unlisten(self) -> None:
        with self._lock:
            if self._listeners == 0:
                raise RuntimeError("this %s has not begun" % type(self).__name__)
            self._listeners -= 1
            if self._listeners:
                return
        try:
            self._close_cluster()
        finally:
            _registry.unregister(self._callback)
            if self._is_observer:
                _unobserve(self)

    # Our engine's runs.

    def _add_run(self, run: Any) -> None:
        with self._lock:
            self._runs.append(run)
            self._untaken.append(run)

    def _run_begins(self, run: Any) -> None:
        self._add_run(run)

    def _run_ends(self, run: Any) -> None:
        pass

    # Runs of dask's own schedulers.

    def _hooked_begin(self, run: HookedRun) -> None:
        self._hooked.setdefault(threading.get_ident(), []).append(run)
        self._add_run(run)

    def _hooked_now(self) -> HookedRun:
        return self._hooked[threading.get_ident()][-1]

    def _hooked_end(self, state: Any, failed: bool) -> None:
        runs = self._hooked[threading.get_ident()]
        runs.pop().finish(state, failed)
        if not runs:
            del self._hooked[threading.get_ident()]

    # A distributed cluster.

    def _open_cluster(self) -> None:
        client = current_client()
        if client is None or client.asynchronous:
            return
        from ..dask import record

        recording = record(client)
        recording.__enter__()
        self._cluster = recording, ClusterRun(client, recording)

    def _close_cluster(self) -> None:
        if self._cluster is None:
            return
        recording, run = self._cluster
        self._cluster = None
        recording.__exit__(None, None, None)
        run.end_time = time.time()
        self._add_run(run)

    def clear(self) -> None:
        """Forgets what was seen."""
        self._runs = []
        self._untaken = []
        self.start_time = None
        self.end_time = None

    def visualize(self, **options: Any) -> Optional[str]:
        """See venturi.diagnostics.visualize()."""
        from .page import visualize

        return visualize(self, **options)
