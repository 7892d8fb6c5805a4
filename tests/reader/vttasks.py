"""TASKS and EDGES blocks: what their entries leave out is what stands in earlier ones of the same block.

Written from docs/format.md alone, as vtblocks.py.
"""

from collections import namedtuple
from typing import Dict, List

from vtblocks import Cursor, Malformed

MAX_KEY = 2048
SLOTS = 64

Run = namedtuple("Run", "run begin parent planned workers scheduler")
Worker = namedtuple("Worker", "run worker pid tid label")
Task = namedtuple("Task", "run number site worker state action retries ready start end freed cpu estimated bytes key")
RunEnd = namedtuple("RunEnd", "run end lost error")
Edges = namedtuple("Edges", "run number before needs")


def _id(value: int) -> int:
    if not 0 <= value < (1 << 32) - 1:
        raise Malformed("number %d" % value)
    return value


def _ticks(value: int) -> int:
    return value % (1 << 64)


class TaskDecoder:
    """Reads the entries of one block."""

    def __init__(self) -> None:
        self.time = self.run = self.number = 0
        self.keys: Dict[int, bytes] = {}

    def tasks(self, cursor: Cursor):
        """One entry of TASKS; None for a type that is not known."""
        kind, length = cursor.fields("vv")
        body = Cursor(cursor.take(length))
        read = {1: self._begin, 2: self._worker, 3: self._task, 4: self._end}.get(kind)
        return read(body) if read else None

    def edges(self, cursor: Cursor) -> Edges:
        self.run = _id(self.run + cursor.signed())
        self.number = _id(self.number + cursor.signed())
        count = cursor.varint()
        if count >> 1 > cursor.left():
            raise Malformed("too short")
        before = cursor.varint() if count & 1 else 0
        needs: List[int] = []
        for _ in range(count >> 1):
            needs.append(_id((needs[-1] if needs else self.number) + cursor.signed()))
        return Edges(self.run, self.number, before, needs)

    def _begin(self, body: Cursor) -> Run:
        run = _id(body.varint())
        self.time = _ticks(self.time + body.signed())
        return Run(run, self.time, _id(body.varint()), *body.fields("vvs"))

    def _worker(self, body: Cursor) -> Worker:
        return Worker(_id(body.varint()), _id(body.varint()), *body.fields("vvs"))

    def _end(self, body: Cursor) -> RunEnd:
        run = _id(body.varint())
        self.time = _ticks(self.time + body.signed())
        return RunEnd(run, self.time, *body.fields("vs"))

    def _task(self, body: Cursor) -> Task:
        flags = body.varint()

        def has(bit):
            return flags >> bit & 1

        self.run = _id(body.varint()) if has(13) else self.run
        self.number = _id(self.number + body.signed())
        site = _id(body.varint())
        worker = body.plus_one()
        retries = body.varint() if has(12) else 0
        start = end = ready = freed = 0
        if has(8):
            start = _ticks(self.time + body.signed())
            end = min(start + body.varint(), (1 << 64) - 1) if start else body.varint() * 0
            self.time = end
        if has(7):
            ready = _ticks((start if has(8) else self.time) - body.signed())
        if has(11):
            freed = _ticks(self.time + body.signed())
        cpu = body.varint() if has(9) else None
        size = body.varint() if has(10) else None
        return Task(self.run, self.number, site, worker, flags & 7, flags >> 3 & 7, retries, ready, start, end, freed,
                    cpu, bool(has(6)), size, self._key(body, site))

    def _key(self, body: Cursor, site: int) -> str:
        before = self.keys.get(site % SLOTS, b"")
        same = body.varint()
        rest = body.take(body.varint())
        if same > len(before) or same + len(rest) > MAX_KEY:
            raise Malformed("a key of %d bytes" % (same + len(rest)))
        self.keys[site % SLOTS] = before[:same] + rest
        return (before[:same] + rest).decode("utf-8", "surrogateescape")


class Tasks:
    """All that the blocks of a recording say of runs; everything is known by process, run and number."""

    def __init__(self) -> None:
        self.runs: Dict[tuple, Run] = {}
        self.ends: Dict[tuple, RunEnd] = {}
        self.workers: Dict[tuple, Worker] = {}
        self.tasks: Dict[tuple, Task] = {}
        self.actions: List[tuple] = []  # process, task
        self._needs: Dict[tuple, Dict[int, List[int]]] = {}

    def learn(self, process: int, entry) -> None:
        if isinstance(entry, Run):
            self.runs[process, entry.run] = entry
        elif isinstance(entry, RunEnd):
            self.ends[process, entry.run] = entry
        elif isinstance(entry, Worker):
            self.workers[process, entry.run, entry.worker] = entry
        elif isinstance(entry, Task) and entry.action:
            self.actions.append((process, entry))
        elif isinstance(entry, Task):
            self.tasks[process, entry.run, entry.number] = entry
        elif isinstance(entry, Edges):
            self._needs.setdefault((process, entry.run, entry.number), {})[entry.before] = entry.needs

    def needs(self, process: int, run: int, number: int) -> List[int]:
        parts = self._needs.get((process, run, number), {})
        return [each for before in sorted(parts) for each in parts[before]]
