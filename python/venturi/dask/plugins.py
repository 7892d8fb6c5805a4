"""What sits in a dask cluster while it is recorded: a plugin of the scheduler, one of each worker, and what fetches from them.

All of this travels by value: neither the scheduler nor a worker needs this package. So it may use nothing but the standard library
and distributed. The hooks run in the event loops of the cluster: they never wait, and what they keep is bounded.
"""
import os
import pickle
import struct
import threading
import time
from contextlib import suppress
from typing import Any, Dict, List, Optional, Tuple

from distributed.diagnostics.plugin import SchedulerPlugin, WorkerPlugin  # type: ignore[import-not-found, import-untyped, unused-ignore]

MOST_BYTES = 64 << 20  # that wait to be fetched: about half a million tasks; the rest is counted as lost
PIECE = 1 << 20
FETCH_BYTES = 8 << 20  # at once, so that the scheduler's loop is soon free again
MOST_NOTES = 100_000  # of a worker

# Entries of a stream, for struct.pack(): a byte that says which, then these. Texts and lists follow, their sizes are in the fixed part.
WORKER = "<BIdIHH"  # number, when it joined, threads; address, name
LEFT = "<BId"  # number, when
TASK = "<BIIHBBdddQQHHHH"  # number, worker, tries before, state, whether the key is pickled; ready, from, to; bytes, thread; key, …
FREED = "<BId"  # number, when
ACTION = "<Bdd"  # of a task, but to compute: which, from, to
ACTION_SIZE = 17
NO_BYTES = 2**64 - 1
NO_WORKER = 2**32 - 1
IS_WORKER, IS_LEFT, IS_TASK, IS_FREED = 1, 2, 3, 4
DONE, FAILED, SKIPPED, CANCELLED, LOST, AGAIN = 1, 2, 3, 4, 6, 7  # AGAIN: given back by a worker that lives, to be tried once more
ACTIONS = {"compute": 0, "transfer": 1, "disk-read": 2, "disk-write": 3, "deserialize": 4}
MOST = 65535  # of what an entry says the number of in two bytes
COMPUTED = ("executing", "long-running", "resumed")  # from these a worker has a value that it made itself
FEW = 9  # dependencies, for which something is prepared: packing them by a text that says how many takes 0.5 us more

Note = Tuple[str, Any, float, float, Optional[int], Any]


def text_of(key: Any) -> Tuple[bytes, bool]:
    """A key that is no text as bytes, and whether they have to be unpickled."""
    try:
        known = pickle.dumps(key, 4)
        if len(known) <= MOST:
            return known, True
    except Exception:
        pass
    return str(key).encode("utf-8", "replace"), False


class SchedulerRecorder(SchedulerPlugin):  # type: ignore[misc, unused-ignore]
    """Packs what becomes of every task into pieces that the client fetches.

    `live` has a list for each key that the scheduler knows: number, since when it is ready, since when a worker has it, that worker,
    how suspicious the task was then, earlier tries. It goes when the scheduler forgets the key.
    """

    def __init__(self, name: str, client: str, most_bytes: int = MOST_BYTES) -> None:
        self.name = name
        self.client = client
        self.most_bytes = most_bytes

    def start(self, scheduler: Any) -> None:
        self.scheduler = scheduler
        self.live: Dict[Any, List[Any]] = {}
        self.numbers = 0
        self.workers: Dict[str, int] = {}
        self.pieces: List[Tuple[int, bytes]] = []  # with their places in the stream, the oldest first
        self.piece = bytearray()
        self.place = 0  # of the piece that is being filled
        self.waiting_bytes = 0
        self.lost = 0
        self.dead: List[Tuple[Any, bytes]] = []  # tries of a worker that is about to leave, with their rank
        self.pack = struct.Struct(TASK).pack  # made here: none of these can travel
        self.packs = [struct.Struct("<%dI" % count).pack for count in range(FEW)]

    def transition(self, key: Any, start: str, finish: str, *args: Any, **kw: Any) -> None:
        if start == "waiting":
            if finish in ("processing", "queued", "no-worker"):
                self._ready(key)
        if finish == "processing":
            entry = self.live.get(key) or self._ready(key)
            task = self.scheduler.tasks[key]
            entry[2] = time.time()
            entry[3] = task.processing_on
            entry[4] = task.suspicious
        elif start == "processing":
            self._over(key, finish, kw)
        elif start == "memory":
            known = self.live.get(key)
            if known is not None and self.waiting_bytes < self.most_bytes:
                self.piece += struct.pack(FREED, IS_FREED, known[0], time.time())
        elif finish == "erred":
            self._ready(key)  # what it depends on failed
            self._over(key, finish, kw)
        if finish == "forgotten":
            self.live.pop(key, None)

    def _ready(self, key: Any) -> List[Any]:
        before = self.live.get(key)
        entry = [self.numbers, time.time(), 0.0, None, 0, 0 if before is None else before[5] + (before[2] > 0)]
        self.numbers += 1
        self.live[key] = entry
        return entry

    def _over(self, key: Any, finish: str, said: Dict[str, Any]) -> None:
        """A worker has done with it, or it was taken away."""
        if self.waiting_bytes >= self.most_bytes:
            self.lost += 1
            return
        entry = self.live.get(key) or self._ready(key)
        task = self.scheduler.tasks[key]
        if finish == "memory":
            self._task(key, task, entry, DONE, said)
        else:
            self._undone(key, task, entry, finish, said)
        if len(self.piece) >= PIECE:
            self.cut()

    def _undone(self, key: Any, task: Any, entry: List[Any], finish: str, said: Dict[str, Any]) -> None:
        if not entry[2]:
            state = SKIPPED
        elif task.suspicious > entry[4]:
            state = LOST
        elif finish == "erred":
            state = FAILED
        else:
            state = AGAIN if task.who_wants or task.waiters else CANCELLED
        worker = entry[3]
        error = str(said.get("exception_text") or "").encode("utf-8", "replace")[:500]
        if state == LOST:
            self._died(key, task, entry, said, error)
            return
        if worker is not None:
            said.setdefault("worker", worker.address)
        self._task(key, task, entry, state, said, time.time(), error)

    def _died(self, key: Any, task: Any, entry: List[Any], said: Dict[str, Any], error: bytes) -> None:
        """Who had it is who leaves next: it may have been stolen. Those come first that were seen running, then in the order in which a
        worker takes them."""
        worker = entry[3]
        was_seen = worker is not None and task in worker.executing
        if was_seen:
            entry[2] = max(entry[2], worker.last_seen - worker.executing[task])
        piece, self.piece = self.piece, bytearray()
        self._task(key, task, entry, LOST, {**said, "worker": None}, time.time(), error)
        self.dead.append(((not was_seen, task.priority or ()), bytes(self.piece)))
        self.piece = piece

    def _bury(self) -> None:
        for _, entry in sorted(self.dead):
            self.piece += entry
        self.dead = []

    def _task(self, key: Any, task: Any, entry: List[Any], state: int, said: Dict[str, Any], end: float = 0.0,
              error: bytes = b"") -> None:
        live = self.live
        number, ready, start, _, _, retries = entry
        others = actions = b""
        if task.dependencies:
            numbers = [live[other.key][0] for other in task.dependencies if other.key in live]
            if len(numbers) < FEW:
                others = self.packs[len(numbers)](*numbers)
            else:
                del numbers[MOST:]
                others = struct.pack("<%dI" % len(numbers), *numbers)
        for action in said.get("startstops") or ():
            if action["action"] == "compute":
                start, end = action["start"], action["stop"]
            elif len(actions) < MOST * ACTION_SIZE:
                actions += struct.pack(ACTION, ACTIONS.get(action["action"], 255), action["start"], action["stop"])
        address = said.get("worker")
        place = NO_WORKER if address is None else self.workers.get(address)
        if place is None:
            place = self._worker(str(address))
        known, is_pickled = (key.encode("utf-8", "replace"), False) if type(key) is str else text_of(key)
        if len(known) > MOST:
            known = known[:MOST]
        size = said.get("nbytes")
        piece = self.piece
        piece += self.pack(IS_TASK, number, place, retries if retries < MOST else MOST, state, is_pickled, ready, start, end,
                           NO_BYTES if size is None or size < 0 else size, said.get("thread") or 0, len(known),
                           len(others) >> 2, len(actions) // ACTION_SIZE, len(error))
        piece += known
        piece += others
        if actions or error:
            piece += actions + error

    def _worker(self, address: str, joined: float = 0.0) -> int:
        place = self.workers[address] = len(self.workers)
        known = self.scheduler.workers.get(address)
        name = str(known.name if known else "").encode("utf-8", "replace")[:1000]
        text = address.encode("utf-8", "replace")[:1000]
        nthreads = known.nthreads if known else 0
        self.piece += struct.pack(WORKER, IS_WORKER, place, joined, nthreads, len(text), len(name)) + text + name
        return place

    def add_worker(self, scheduler: Any, worker: str) -> None:
        if worker not in self.workers:
            self._worker(worker, time.time())

    def remove_worker(self, scheduler: Any, worker: str, **more: Any) -> None:
        place = self.workers.get(worker)
        if place is None:
            place = self._worker(worker)
        self._bury()
        self.piece += struct.pack(LEFT, IS_LEFT, place, time.time())

    def cut(self) -> None:
        """What was written so far can be fetched."""
        if self.piece:
            self.pieces.append((self.place, bytes(self.piece)))
            self.place += 1
            self.waiting_bytes += len(self.piece)
            self.piece = bytearray()

    def fetch(self, since: int) -> Tuple[int, List[bytes], bool]:
        """Pieces from that place on, and whether there are more; those before it have arrived, and go."""
        while self.pieces and self.pieces[0][0] < since:
            self.waiting_bytes -= len(self.pieces.pop(0)[1])
        self.cut()
        taken: List[bytes] = []
        size = 0
        for _, piece in self.pieces:
            taken.append(piece)
            size += len(piece)
            if size >= FETCH_BYTES:
                break
        return since + len(taken), taken, since + len(taken) < self.place

    def remove_client(self, scheduler: Any, client: str) -> None:
        """The client is gone without a word: nobody would ever take us out."""
        if client == self.client:
            scheduler.loop.add_callback(leave, scheduler, self.name)


async def leave(scheduler: Any, name: str) -> None:
    with suppress(ValueError, KeyError):
        scheduler.remove_plugin(name=name)
    with suppress(ValueError, KeyError, OSError):
        await scheduler.unregister_worker_plugin(comm=None, name=name)


class WorkerRecorder(WorkerPlugin):  # type: ignore[misc, unused-ignore]
    """Notes what a worker does that its scheduler is not told: values that go to disk, transfers with their bytes, tries that failed; and
    on request what a function says of each result, and CPU times.

    A note is (what, key, from, to, bytes, who); `who` is the other side of a transfer, the thread and error of a
    try, by how much the times of a write were moved to the scheduler's clock, a pickled measure, or a thread and its CPU time.
    """

    def __init__(self, name: str, metric: Optional[bytes] = None, has_cpu: bool = False) -> None:
        self.name = name
        self.metric = metric  # pickled, so that one which cannot be loaded over there is no failure of the plugin
        self.has_cpu = has_cpu

    def setup(self, worker: Any) -> None:
        self.worker = worker
        self.notes: List[Note] = []  # that the client has not got yet; threads append
        self.id = "%d %r" % (os.getpid(), time.time())
        self.gone = 0  # notes before these
        self.lost = 0
        self.problem = ""
        self.function: Any = None
        if self.metric is not None:
            try:
                self.function = pickle.loads(self.metric)
            except Exception as error:
                self._cannot(error)
        self.taps = [Tap(self, executor) for executor in worker.executors.values() if has_threads(executor)] if self.has_cpu else []
        self.last: Dict[str, Any] = {}
        for log in ("transfer_incoming_log", "transfer_outgoing_log"):
            entries = getattr(worker, log, None)
            self.last[log] = entries[-1] if entries else None
        self.begun: Dict[Any, float] = {}
        self.evicted: Any = getattr(getattr(worker.data, "fast", None), "on_evict", None)
        self.hooks = (self._evicts, self._has_evicted)  # kept: the class gets new functions whenever another one arrives by value
        if self.evicted is not None:
            self.evicted.insert(0, self.hooks[0])
            self.evicted.append(self.hooks[1])

    def teardown(self, worker: Any) -> None:
        for tap in self.taps:
            tap.remove()
        for hook in self.hooks if self.evicted is not None else ():
            with suppress(ValueError):
                self.evicted.remove(hook)

    def _evicts(self, key: Any, value: Any) -> None:
        self.begun = {key: time.time()}  # any other failed

    def _has_evicted(self, key: Any, value: Any) -> None:
        start = self.begun.pop(key, None)
        if start is not None:
            delay = self.worker.scheduler_delay
            size = getattr(self.worker.data.fast, "weights", {}).get(key)
            self._note("disk-write", key, start + delay, time.time() + delay, size, delay)

    def _note(self, *note: Any) -> None:
        if len(self.notes) < MOST_NOTES:
            self.notes.append(note)
        else:
            self.lost += 1

    def _cannot(self, error: BaseException) -> None:
        """Of all that goes wrong with a user's function only the first is said."""
        self.problem = self.problem or f"{type(error).__name__}: {error}"[:500]

    def _measure(self, key: Any) -> None:
        """Where the value is, without moving it: a value that went to disk at once is read there, and stays there."""
        data = self.worker.data
        fast = getattr(data, "fast", None)
        try:
            if fast is None:
                value = data[key]
            else:
                value = fast.d[key] if key in fast.d else data.slow[key]
            measure = pickle.dumps(self.function(value), 4)
        except BaseException as error:  # whatever it is, the loop goes on
            self._cannot(error)
            measure = b""
        self._note("measure", key, 0.0, 0.0, None, measure)

    def transition(self, key: Any, start: str, finish: str, **kw: Any) -> None:
        if finish == "memory":
            if self.function is not None and start in COMPUTED:
                self._measure(key)
        elif finish == "error" and start != "error":
            task = self.worker.state.tasks.get(key)
            for action in reversed(task.startstops if task else ()):
                if action["action"] == "compute":
                    who = (self.worker.state.threads.get(key, 0), task.exception_text[:500])
                    self._note("failed", key, action["start"], action["stop"], None, who)
                    break

    def _transfers(self, log: str, what: str) -> None:
        """Those that are new in one of dask's own logs, which forget the oldest."""
        new: List[Any] = []
        for entry in reversed(getattr(self.worker, log, None) or ()):
            if entry is self.last[log]:
                break
            new.append(entry)
        if new:
            self.last[log] = new[0]
        for entry in reversed(new):
            self._note(what, next(iter(entry["keys"]), None), entry["start"], entry["stop"], entry["total"], entry["who"])

    def fetch(self, got: Tuple[str, int]) -> Dict[str, Any]:
        """Notes that were not got yet, of this id and so many: an answer may be lost on its way, and then is given once more."""
        if got[0] == self.id and got[1] > self.gone:
            del self.notes[:got[1] - self.gone]
            self.gone = got[1]
        self._transfers("transfer_incoming_log", "incoming")
        self._transfers("transfer_outgoing_log", "outgoing")
        threads = {thread.ident: thread.native_id for thread in threading.enumerate()}
        return {"pid": os.getpid(), "threads": threads, "id": self.id, "gone": self.gone, "notes": list(self.notes), "lost": self.lost,
                "problem": self.problem}


def has_threads(executor: Any) -> bool:
    return "ThreadPoolExecutor" in type(executor).__name__  # as dask itself asks: what goes to other processes is pickled


class Tap:
    """Around the tasks that an executor of a worker runs: their CPU time, by the thread they run in, with what dask does around them."""

    def __init__(self, recorder: WorkerRecorder, executor: Any) -> None:
        self.recorder = recorder
        self.executor = executor
        self.before = vars(executor).get("submit")  # of another tap
        self.submit = executor.submit
        self.is_off = False
        executor.submit = self

    def __call__(self, function: Any, *args: Any, **options: Any) -> Any:
        if self.is_off:
            return self.submit(function, *args, **options)
        return self.submit(self._run, function, args, options)

    def _run(self, function: Any, args: Any, options: Any) -> Any:
        before = time.thread_time()
        done = function(*args, **options)
        taken = time.thread_time() - before
        if type(done) is dict and "start" in done and "stop" in done:  # what dask says of a task that ran; it runs other things too
            self.recorder._note("cpu", None, done["start"], done["stop"], None, (done.get("thread"), taken))
        return done

    def remove(self) -> None:
        """One that another tap is around stays, and only hands on."""
        self.is_off = True
        if vars(self.executor).get("submit") is not self:
            return
        before = self.before
        while getattr(before, "is_off", False):
            before = before.before
        if before is None:
            del self.executor.submit
        else:
            self.executor.submit = before


# What the client calls over there. A name that is not there (any more) gives None.

def look(dask_scheduler: Any) -> Tuple[float, str, Dict[str, Tuple[str, int]]]:
    """The clock over there, which scheduler it is, and who works."""
    return time.time(), dask_scheduler.id, {address: (str(known.name), known.nthreads) for address, known in dask_scheduler.workers.items()}


def fetch(name: str, since: int, dask_scheduler: Any) -> Any:
    plugin = dask_scheduler.plugins.get(name)
    return None if plugin is None else plugin.fetch(since) + (plugin.lost,)


def fetch_last(name: str, since: int, dask_scheduler: Any) -> Any:
    """What is left, how much was lost, and how many tasks are still with workers; records no more."""
    plugin = dask_scheduler.plugins.pop(name, None)
    if plugin is None:
        return None
    plugin.cut()
    taken = [piece for place, piece in plugin.pieces if place >= since]
    return taken, plugin.lost, sum(len(known.processing) for known in dask_scheduler.workers.values())


def fetch_worker(name: str, got: Dict[str, Tuple[str, int]], dask_worker: Any) -> Any:
    plugin = dask_worker.plugins.get(name)
    address = getattr(dask_worker, "contact_address", None) or dask_worker.address
    return None if plugin is None else plugin.fetch(got.get(address, ("", 0)))
