"""A progress bar for task graphs, with the lines that users of dask know."""
import functools
import sys
import threading
import time
from typing import Any, Callable, Dict, List, Optional, TextIO, Tuple

from ._clients import Tap, listen
from ._watching import Watching, current_client

DAY, HOUR, MINUTE = 86400, 3600, 60


def format_time(seconds: float) -> str:
    """As dask writes it: two parts of what is long, two decimals of what is short."""
    if seconds > 2 * DAY:
        return "%dd %dhr" % (seconds // DAY, seconds % DAY // HOUR)
    if seconds > 2 * HOUR:
        return "%dhr %dm" % (seconds // HOUR, seconds % HOUR // MINUTE)
    if seconds > 10 * MINUTE:
        return "%dm %ds" % (seconds // MINUTE, seconds % MINUTE)
    if seconds >= 1:
        return "%.2f s" % seconds
    if seconds >= 1e-3:
        return "%.2f ms" % (seconds * 1e3)
    return "%.2f us" % (seconds * 1e6)


class _Hooked:
    """A run of one of dask's own schedulers."""

    state: Any = None

    def progress(self) -> Tuple[int, int]:
        if not self.state:
            return 0, 0
        done = len(self.state["finished"])
        return done, done + sum(len(self.state[which]) for which in ("ready", "waiting", "running"))


def _groups_of_cluster(dask_scheduler: Any = None) -> Dict[str, Tuple[int, int]]:
    """Runs in the scheduler of a cluster: of each group of tasks those that are over, and all that it knows."""
    return {name: (sum(group.states.get(state, 0) for state in ("memory", "released", "forgotten", "erred")), sum(group.states.values()))
            for name, group in dask_scheduler.task_groups.items()}


class _Submitted:
    """What came to a cluster since then: not what was there before, done or not."""

    def __init__(self, client: Any) -> None:
        self._client = client
        self._before = self._look()

    def _look(self) -> Dict[str, Tuple[int, int]]:
        if self._client.asynchronous:  # in its own event loop, where nobody can wait
            return {}
        try:
            groups: Dict[str, Tuple[int, int]] = self._client.run_on_scheduler(_groups_of_cluster)
            return groups
        except Exception:  # a cluster that goes away
            return {}

    def progress(self) -> Tuple[int, int]:
        done = total = 0
        for name, (now_done, now_total) in self._look().items():
            before_done, before_total = self._before.get(name, (0, 0))
            new = max(0, now_total - before_total)
            total += new
            done += min(new, max(0, now_done - before_done))
        return done, total


class ProgressBar(Watching):
    """Shows how far a computation is: `[####      ] | 40% Completed | 1.23 s`.

    Not before `minimum` seconds, `width` characters, again every `dt` seconds, on the file `out` (standard output). What the last one took
    is its `last_duration`.
    """

    def __init__(self, minimum: float = 0, width: int = 40, dt: float = 0.1, out: Optional[TextIO] = None) -> None:
        super().__init__()
        self._minimum = minimum
        self._width = width
        self._dt = max(dt, 0.001)
        self._file = sys.stdout if out is None else out  # None: a program without any
        self._sources: Dict[Any, Callable[[], Tuple[int, int]]] = {}  # what is being computed, and who tells how far it is
        self._hooked_states: Dict[int, List[_Hooked]] = {}  # by the thread that called a scheduler of dask's, the inner ones last
        self._before = (0, 0)  # of what is over while something else goes on
        self._over = threading.Event()
        self._thread: Optional[threading.Thread] = None
        self._began = 0.0
        self._client: Any = None
        self._tap: Optional[Tap] = None
        self.last_duration = 0.0

    # What is being computed.

    def _begin(self, source: Any, progress: Callable[[], Tuple[int, int]]) -> None:
        with self._lock:
            self._sources[source] = progress
            if len(self._sources) > 1:
                return
            self._before = (0, 0)
            self._began = time.perf_counter()
            self._over = threading.Event()
            self._thread = threading.Thread(target=self._draw_until, args=(self._over,), name="venturi-progress", daemon=True)
            self._thread.start()
        if self._minimum <= 0:
            self._draw(0, time.perf_counter() - self._began)

    def _end(self, source: Any, failed: bool) -> None:
        with self._lock:
            progress = self._sources.pop(source, None)
            if progress is None:
                return
            if self._sources:
                done, total = progress()
                self._before = self._before[0] + done, self._before[1] + total
                return
            thread, began, over = self._thread, self._began, self._over  # the next one may begin at once
        over.set()
        if thread is not None:
            thread.join()
        elapsed = self.last_duration = time.perf_counter() - began
        if elapsed < self._minimum:
            return
        if not failed:
            self._draw(1, elapsed)
        else:
            done, total = progress()
            if done < total:  # what was skipped may count as done
                self._draw(done / total, elapsed)
        self._write("\n")

    def _run_begins(self, run: Any) -> None:
        self._begin(run, run.progress)

    def _run_ends(self, run: Any) -> None:
        self._end(run, bool(run.failed))

    def _start(self, dsk: Any) -> None:
        if self._has_left:
            return
        hooked = _Hooked()
        self._hooked_states.setdefault(threading.get_ident(), []).append(hooked)
        self._begin(hooked, hooked.progress)

    def _start_state(self, dsk: Any, state: Any) -> None:
        states = self._hooked_states.get(threading.get_ident())
        if states:
            states[-1].state = state

    def _finish(self, dsk: Any, state: Any, failed: bool) -> None:
        states = self._hooked_states.get(threading.get_ident())
        if not states:
            return
        self._end(states.pop(), failed)
        if not states:
            del self._hooked_states[threading.get_ident()]

    # A cluster tells nobody when it begins: its client does, who is asked to compute and waits for it.

    def _open_cluster(self) -> None:
        client = current_client()
        if client is None or client.asynchronous:
            return
        import cloudpickle  # type: ignore[import-not-found, import-untyped, unused-ignore]

        cloudpickle.register_pickle_by_value(sys.modules[__name__])  # the cluster need not have this package
        self._client = client
        self._tap = listen(client, "get", self._cluster_begins)

    def _cluster_begins(self, *args: Any, **options: Any) -> Callable[[bool], None]:
        source = _Submitted(self._client)
        self._begin(source, source.progress)
        return functools.partial(self._end, source)

    def _close_cluster(self) -> None:
        tap, self._tap, self._client = self._tap, None, None
        if tap is not None:
            tap.remove(self._cluster_begins)

    # What is drawn.

    def _draw_until(self, over: threading.Event) -> None:
        while not over.wait(self._dt):
            elapsed = time.perf_counter() - self._began
            if elapsed > self._minimum:
                done, total = self._progress()
                if done < total:  # 100 % is said at the end, and then only if nothing failed
                    self._draw(done / total, elapsed)

    def _progress(self) -> Tuple[int, int]:
        with self._lock:
            sources = list(self._sources.values())
            done, total = self._before
        for progress in sources:
            more = progress()
            done += more[0]
            total += more[1]
        return done, total

    def _draw(self, share: float, elapsed: float) -> None:
        self._write("\r[%s] | %d%% Completed | %s" % (("#" * int(self._width * share)).ljust(self._width), 100 * share, format_time(elapsed)))

    def _write(self, text: str) -> None:
        if self._file is None:
            return
        try:
            self._file.write(text)
            self._file.flush()
        except Exception:  # closed, a broken pipe, no file at all: that costs nobody the result
            pass
