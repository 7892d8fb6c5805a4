"""Runs that are not our engine's, with what profilers ask a run of ours for: those of dask's own schedulers, and recordings of a cluster."""
import time
from typing import Any, Callable, Dict, List, Optional, Tuple

from ._clients import Graphs

# key, task, start, end, worker, ready, state, retries, CPU seconds, whether those are estimated, bytes, freed, dependencies
Task = Tuple[Any, Any, float, float, Any, Optional[float], str, int, Optional[float], bool, Optional[int], Optional[float],
             Tuple[int, ...]]


class Clock:
    """Seconds since 1970 that never go back."""

    def __init__(self) -> None:
        self._offset = time.time() - time.perf_counter()

    def __call__(self) -> float:
        return self._offset + time.perf_counter()

    def at(self, ticks: float) -> float:
        """When perf_counter() was that."""
        return self._offset + ticks


class HookedRun:
    """A run of one of dask's own schedulers. Hooks tell when a task was handed out and when its result was received; what is run by a thread
    of this process tells when it ran, too."""

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
        self._ran: Dict[Any, Tuple[float, float, bool, Any]] = {}

    def begin(self, key: Any, dsk: Any) -> None:
        self._rows[key] = [key, dsk.get(key), self.now()]

    def end(self, key: Any, worker: Any) -> None:
        row = self._rows.get(key)
        if row is not None:
            row += (self.now(), worker)

    def ran(self, key: Any, task: Any, start: float, end: float, who: Optional[Callable[[], Any]]) -> None:
        """As _timing.watch() wants it. Another run may have such a key too: the task tells, and that it had been handed out."""
        row = self._rows.get(key)
        if row is not None and len(row) == 3 and row[1] is task and row[2] <= self.now.at(start) and key not in self._ran:
            self._ran[key] = self.now.at(start), self.now.at(end), who is not None, who() if who else None

    def finish(self, state: Any, failed: bool) -> None:
        self.end_time = self.now()
        self.failed = bool(failed)
        self._dependencies = state.get("dependencies", {})

    def _over(self) -> List[Tuple[Any, Any, float, float, Any, str]]:
        """Key, task, start, end, worker, state. If nobody saw how a task failed, it is the one that was not received, if there is but one."""
        found = []
        pending = []
        for key, row in self._rows.items():
            start, end, has_failed, who = self._ran.get(key, (row[2], row[3] if len(row) == 5 else None, False, None))
            if len(row) == 5:
                found.append((key, row[1], start, min(end, row[3]), row[4], "done"))
            elif has_failed:
                found.append((key, row[1], start, end, who, "failed"))
            else:
                pending.append((key, row[1], start, self.end_time, None, "failed"))
        if self.failed and self.end_time is not None and len(pending) == 1 and all(row[5] == "done" for row in found):
            found += pending
        return sorted(found, key=lambda row: row[2])

    def tasks(self) -> List[Task]:
        """As those of our engine's runs."""
        rows = self._over()
        number = {row[0]: i for i, row in enumerate(rows)}
        return [(key, task, start, end, worker, None, state, 0, None, False, None, self.freed.get(key),
                 tuple(number[d] for d in self._dependencies.get(key, ()) if d in number))
                for key, task, start, end, worker, state in rows]


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

    def __init__(self, client: Any, recording: Any, graphs: Graphs) -> None:
        self.client = client
        self.recording = recording
        self.graphs = graphs
        self.start_time = time.time()
        self.end_time: Optional[float] = None

    def tasks(self) -> List[Task]:
        rows = self.recording.tasks
        return [row[:1] + (task,) + row[2:] for row, task in zip(rows, self.graphs.find(rows))]

    def is_of(self, other: "ClusterRun") -> bool:
        """Whether both are of the same cluster and, at some time, at the same time."""
        return (self.client is other.client and self.start_time <= (other.end_time or other.start_time)
                and other.start_time <= (self.end_time or self.start_time))
