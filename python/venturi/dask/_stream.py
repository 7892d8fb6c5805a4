"""From what the plugins of a cluster said to rows: tasks, what was done around them, workers. Reads only, knows no cluster."""
import pickle
import struct
from typing import Any, Dict, List, Optional, Tuple

from . import plugins

STATES = {plugins.DONE: "done", plugins.FAILED: "failed", plugins.SKIPPED: "skipped", plugins.CANCELLED: "cancelled",
          plugins.LOST: "lost", plugins.AGAIN: "cancelled"}
MOST_THREADS = 4096  # of a worker, that have a row although they computed nothing
ACTIONS = {number: name for name, number in plugins.ACTIONS.items()}
SIZES = {entry: struct.calcsize(entry) for entry in (plugins.WORKER, plugins.TASK, plugins.FREED, plugins.ACTION)}

# key, None, start, end, worker, ready, state, retries, CPU seconds, False, bytes, freed, dependencies
Task = Tuple[Any, None, Optional[float], Optional[float], Optional[str], float, str, int, Optional[float], bool, Optional[int], Optional[float],
             Tuple[int, ...]]
# key, action, start, stop, worker, bytes
Action = Tuple[Any, str, float, float, Optional[str], Optional[int]]


class Place:
    """A worker of the cluster."""

    def __init__(self, address: str, name: str = "", nthreads: int = 0) -> None:
        self.address = address
        self.name = name
        self.nthreads = nthreads
        self.joined: Optional[float] = None
        self.left: Optional[float] = None
        self.pid = 0
        self.threads: Dict[int, int] = {}  # the interpreter's number of a thread: the system's
        self.known: Dict[int, int] = {}  # the interpreter's number of a thread that computed: ours
        self.ends: Dict[int, float] = {}  # of the last task of each of these
        self.notes: List[plugins.Note] = []
        self.got = ("", 0)  # whose notes these are, and how many of them
        self.lost = 0

    def label(self, thread: int) -> str:
        """What a row is called: a worker and one of its threads. 0, it is not known which: the first, or the worker if it has none."""
        if not thread:
            return self.address + "#0" if self.known or self.nthreads else self.address
        return f"{self.address}#{self.number(thread)}"

    def number(self, thread: int) -> int:
        return self.known.setdefault(thread, len(self.known))

    def all_threads(self) -> List[int]:
        """Those that computed, then numbers below 0 for those that did not, which have rows too; [0]: it is not known whether there are any."""
        for number in range(len(self.known), min(self.nthreads, MOST_THREADS)):
            self.number(-1 - number)
        return list(self.known) or [0]

    def die(self, lost: "List[Try]") -> "List[Try]":
        """Of the tries that it had when it died, in the order in which it took them, those that it can have begun: as many as it has threads,
        and none before what its thread did before."""
        free = sorted((self.ends.get(thread, 0.0), thread) for thread in self.all_threads())
        begun = sorted(lost[:len(free)], key=lambda tried: tried.start or 0.0)
        for tried, (end, thread) in zip(begun, free):
            tried.place, tried.thread = self, thread
            tried.start = max(tried.start or 0.0, end)
            tried.end = max(tried.start, tried.end or 0.0)
        self.ends = {}
        return begun


class Try:
    """One time that a task was given to a worker."""

    __slots__ = ("number", "key", "place", "retries", "state", "ready", "start", "end", "size", "thread", "freed", "others",
                 "actions", "error", "cpu", "measure")
    number: int
    key: Any
    place: Optional[Place]
    retries: int
    state: int
    ready: float
    start: Optional[float]  # None: it never was with a worker
    end: Optional[float]
    size: Optional[int]
    thread: int
    freed: Optional[float]
    others: Tuple[int, ...]
    actions: List[Tuple[str, float, float]]
    error: str
    cpu: Optional[float]
    measure: Any  # what the user's function said of its result

    def label(self) -> Optional[str]:
        return self.place.label(self.thread) if self.place else None


class Stream:
    """All that was fetched so far. Times are moved by `offset` seconds, to this machine's clock."""

    def __init__(self, offset: float = 0.0) -> None:
        self.offset = offset
        self.pieces: List[bytes] = []
        self.places: Dict[str, Place] = {}  # by address
        self.problem = ""  # the first that somebody had with the user's function

    def place(self, address: str, name: str = "", nthreads: int = 0) -> Place:
        if address not in self.places:
            self.places[address] = Place(address, name, nthreads)
        return self.places[address]

    def worker_said(self, address: str, said: Dict[str, Any]) -> None:
        """What WorkerRecorder.fetch() of that worker gave."""
        place = self.place(address)
        place.pid = said["pid"]
        place.threads.update(said["threads"])
        count = place.got[1] if place.got[0] == said["id"] else 0
        place.notes += said["notes"][max(0, count - said["gone"]):]
        place.got = said["id"], max(count, said["gone"] + len(said["notes"]))
        place.lost = said["lost"]
        if said["problem"]:
            self.problem = self.problem or f"{address}: {said['problem']}"

    def tries(self) -> List[Try]:
        """All of them, in the order in which they ended."""
        numbered: List[Place] = []
        found: List[Try] = []
        freed: Dict[int, float] = {}
        lost: List[Try] = []  # by whom is said next
        unbegun: Dict[Any, int] = {}  # how often a worker died before it came to a task
        for piece in self.pieces:
            at = 0
            while at < len(piece):
                kind = piece[at]
                if kind == plugins.IS_TASK:
                    tried, at = self._try(piece, at, numbered)
                    if tried.retries and unbegun:
                        tried.retries -= min(tried.retries, unbegun.get(tried.key, 0))
                    if tried.state == plugins.LOST:
                        lost.append(tried)
                        continue
                    found.append(tried)
                    if tried.thread and tried.place and tried.end:
                        tried.place.number(tried.thread)
                        tried.place.ends[tried.thread] = tried.end
                elif kind == plugins.IS_WORKER:
                    place, at = self._worker(piece, at)
                    numbered.append(place)
                else:
                    _, number, when = struct.unpack_from(plugins.FREED, piece, at)
                    at += SIZES[plugins.FREED]
                    if kind == plugins.IS_FREED:
                        freed[number] = when - self.offset
                        continue
                    numbered[number].left = when - self.offset
                    begun = numbered[number].die(lost)
                    found += begun
                    for tried in lost[len(begun):]:
                        unbegun[tried.key] = unbegun.get(tried.key, 0) + 1
                    lost = []
        for tried in found:
            if tried.state == plugins.DONE:
                tried.freed = freed.get(tried.number)
        self._failed(found)
        self._measured(found)
        return found

    def _worker(self, piece: bytes, at: int) -> Tuple[Place, int]:
        _, _, joined, nthreads, address_size, name_size = struct.unpack_from(plugins.WORKER, piece, at)
        at += SIZES[plugins.WORKER]
        place = self.place(piece[at:at + address_size].decode("utf-8", "replace"))
        at += address_size
        place.name = piece[at:at + name_size].decode("utf-8", "replace") or place.name
        place.nthreads = nthreads or place.nthreads
        if joined:
            place.joined = joined - self.offset
        return place, at + name_size

    def _try(self, piece: bytes, at: int, numbered: List[Place]) -> Tuple[Try, int]:
        tried = Try()
        (_, tried.number, place, tried.retries, tried.state, is_pickled, ready, start, end, size, tried.thread, key_size,
         other_count, action_count, error_size) = struct.unpack_from(plugins.TASK, piece, at)
        at += SIZES[plugins.TASK]
        key = piece[at:at + key_size]
        at += key_size
        tried.key = pickle.loads(key) if is_pickled else key.decode("utf-8", "replace")
        tried.place = None if place == plugins.NO_WORKER else numbered[place]
        tried.others = struct.unpack_from("<%dI" % other_count, piece, at)
        at += 4 * other_count
        tried.ready = ready - self.offset
        tried.start, tried.end = (start - self.offset, max(start, end) - self.offset) if start else (None, None)
        tried.size = None if size == plugins.NO_BYTES else size
        tried.freed = tried.cpu = tried.measure = None
        tried.actions = []
        for _ in range(action_count):
            action, begin, stop = struct.unpack_from(plugins.ACTION, piece, at)
            at += SIZES[plugins.ACTION]
            if action in ACTIONS:
                tried.actions.append((ACTIONS[action], begin - self.offset, stop - self.offset))
        tried.error = piece[at:at + error_size].decode("utf-8", "replace")
        return tried, at + error_size

    def _failed(self, found: List[Try]) -> None:
        """That a try is made again is known to the scheduler; when and why it failed, to its worker."""
        notes: Dict[Any, List[Any]] = {}
        for place in self.places.values():
            for what, key, start, stop, _, who in place.notes:
                if what == "failed":
                    notes.setdefault((place.address, key), []).append((start, stop, who))
        for tried in found:
            known = notes.get((tried.place.address, tried.key)) if tried.place else None
            if known and tried.state in (plugins.AGAIN, plugins.FAILED):
                start, stop, (thread, error) = known.pop(0)
                tried.state = plugins.FAILED
                tried.start, tried.end = start - self.offset, stop - self.offset
                tried.thread = tried.thread or thread
                tried.error = tried.error or error

    def _measured(self, found: List[Try]) -> None:
        """Measures come in the order of a key's results, CPU times with the very times that the scheduler was told."""
        measures: Dict[Any, List[bytes]] = {}
        times: Dict[Any, float] = {}
        for place in self.places.values():
            for what, key, start, _, _, who in place.notes:
                if what == "measure":
                    measures.setdefault((place.address, key), []).append(who)
                elif what == "cpu":
                    times[place.address, who[0], start - self.offset] = who[1]
        for tried in found if measures or times else ():
            address = tried.place.address if tried.place else ""
            tried.cpu = times.get((address, tried.thread, tried.start))
            known = measures.get((address, tried.key))
            if known and tried.state == plugins.DONE:
                tried.measure = self._loaded(known.pop(0))

    def _loaded(self, measure: bytes) -> Any:
        try:
            return pickle.loads(measure) if measure else None
        except BaseException as error:  # of a class that is not here, or of its own code
            self.problem = self.problem or f"{type(error).__name__}: {error}"
            return None

    def actions(self, tries: List[Try]) -> List[Action]:
        """In order of their start."""
        found: List[Action] = []
        incoming: Dict[Tuple[str, float, float], Tuple[Any, Optional[int]]] = {}
        spills: Dict[str, List[Tuple[float, float]]] = {}
        for place in self.places.values():
            for what, key, start, stop, size, who in place.notes:
                start, stop = start - self.offset, stop - self.offset
                if what == "incoming":
                    incoming[place.address, start, stop] = (key, size)
                elif what == "disk-write":
                    spills.setdefault(place.address, []).append((start - who, stop - who))  # workers do not move the times of these
                    found.append((key, what, start, stop, place.label(0), size))
                elif what == "outgoing" and who not in self.places:  # to a client; workers say what they get
                    found.append((key, "transfer", start, stop, place.label(0), size))
        for tried in tries:
            address = tried.place.address if tried.place else ""
            for action, start, stop in tried.actions:
                size = None
                if action == "transfer":
                    size = incoming.pop((address, start, stop), (None, None))[1]
                elif action == "disk-write" and any(start - 1e-6 < begin and end < stop + 1e-6 for begin, end in spills.get(address, ())):
                    continue  # known one by one
                found.append((tried.key, action, start, stop, tried.label(), size))
        for (address, start, stop), (key, size) in incoming.items():
            found.append((key, "transfer", start, stop, self.places[address].label(0), size))
        return sorted(found, key=lambda row: row[2])


class Rows:
    """What users see of a stream that is whole."""

    def __init__(self, stream: Stream) -> None:
        tries = stream.tries()
        begun = [tried for tried in tries if tried.start is not None and STATES[tried.state] != "cancelled"]
        begun.sort(key=lambda tried: tried.start or 0.0)
        places = {tried.number: place for place, tried in enumerate(begun)}
        self.tasks = [self._row(tried, places) for tried in begun]
        self.measures = [tried.measure for tried in begun]
        self.errors = {place: tried.error for place, tried in enumerate(begun) if tried.error}
        self.first_error = self._first_error(begun)
        self.skipped = [self._row(tried, places) for tried in tries if STATES[tried.state] == "skipped"]  # never begun
        self.actions = stream.actions(tries)
        self.workers: Dict[str, Dict[str, Any]] = {}
        for place in stream.places.values():
            for thread in place.all_threads():
                self.workers[place.label(thread)] = {
                    "address": place.address, "name": place.name, "pid": place.pid or None, "thread": thread if thread > 0 else None,
                    "tid": place.threads.get(thread), "joined": place.joined, "left": place.left}

    @staticmethod
    def _first_error(begun: List[Try]) -> str:
        """One line for the first task whose last try failed; "": none did. Numbers say which that is: clocks of workers may differ."""
        last = {tried.key: tried for tried in sorted(begun, key=lambda tried: tried.number)}
        failed = [tried for tried in last.values() if tried.error]
        if not failed:
            return ""
        more = f"; {len(failed) - 1} more failed" if len(failed) > 1 else ""
        return f"task '{str(failed[0].key)[:200]}' failed: {' '.join(failed[0].error.split())}{more}"

    @staticmethod
    def _row(tried: Try, places: Dict[int, int]) -> Task:
        others = tuple(sorted(places[number] for number in tried.others if number in places))
        return (tried.key, None, tried.start, tried.end, tried.label(), tried.ready, STATES[tried.state], tried.retries, tried.cpu,
                False, tried.size, tried.freed, others)
