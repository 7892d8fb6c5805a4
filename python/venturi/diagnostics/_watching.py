"""What profilers have in common: how they come to know of runs, whoever runs them.

Our engine tells observers when a run begins and ends, and they ask it for its tasks afterwards: nothing is called for each task. dask's own
schedulers call five hooks. A distributed cluster calls nobody: a recording of it is made (venturi.dask.record).
"""
import sys
import threading
import time
import warnings
from typing import Any, Callable, Dict, List, Optional, Tuple, TypeVar

from ..dask import Callback as Callback, _observe, _registry, _unobserve
from . import _timing
from ._clients import Graphs
from ._runs import ClusterRun, HookedRun

W = TypeVar("W", bound="Watching")


class Results(List[Any]):
    """What a profiler found: as an attribute, as it is now, and as a call, as it was."""

    def __call__(self) -> "Results":
        return self


class Hooks(Tuple[Optional[Callable[..., Any]], ...]):
    """dask's five hooks; who finds `owner` among the observers need not call them."""

    owner: Any


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
        self._has_left = False  # it listened, and does no more: hooks that dask still calls are for nobody
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
            self._has_left = False
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
            self._has_left = True
        try:
            self._close_cluster()
        finally:
            _registry.unregister(self._callback)
            if self._is_observer:
                _unobserve(self)
            self._leave_hooked()

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

    def _leave_hooked(self) -> None:
        """Runs that go on in other threads, and those whose end nobody told: a hook of somebody else raised before ours was called."""
        for runs in list(self._hooked.values()):
            for run in runs:
                _timing.unwatch(run)
                run.finish({}, True)
        self._hooked = {}

    def _hooked_begin(self, run: HookedRun) -> None:
        if self._has_left:
            return
        self._hooked.setdefault(threading.get_ident(), []).append(run)
        self._add_run(run)
        _timing.watch(run)

    def _hooked_now(self) -> Optional[HookedRun]:
        """None: this one has left. dask may call hooks that were taken out while another thread computed."""
        runs = self._hooked.get(threading.get_ident())
        return runs[-1] if runs else None

    def _hooked_end(self, state: Any, failed: bool) -> None:
        runs = self._hooked.get(threading.get_ident())
        if not runs:
            return
        run = runs.pop()
        _timing.unwatch(run)
        run.finish(state, failed)
        if not runs:
            self._hooked.pop(threading.get_ident(), None)

    # A distributed cluster.

    def _open_cluster(self) -> None:
        client = current_client()
        if client is None or client.asynchronous:
            return
        recording = self._record(client)
        recording.__enter__()
        self._cluster = recording, ClusterRun(client, recording, Graphs(client))

    def _record(self, client: Any) -> Any:
        from ..dask import record

        return record(client)

    def _close_cluster(self) -> None:
        if self._cluster is None:
            return
        recording, run = self._cluster
        self._cluster = None
        run.graphs.close()
        try:
            recording.__exit__(None, None, None)
        except Exception as problem:  # what cannot be told costs nobody the result
            warnings.warn("%s: %s" % (type(self).__name__, problem), RuntimeWarning, stacklevel=4)
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
