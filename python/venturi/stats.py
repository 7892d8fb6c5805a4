"""Stats: a pstats.Stats over what Venturi counted, with more to say about each function."""
import json
import os
import pstats
import time
from pstats import func_std_string  # type: ignore[attr-defined]
from typing import IO, Any, Dict, Iterable, List, NamedTuple, Optional, Sequence, Tuple, Union

from . import _venturi

Key = Tuple[str, int, str]
PACKAGE = os.path.dirname(os.path.abspath(__file__)) + os.sep


class Row(NamedTuple):
    """One function. Times are seconds; None is what the source of the numbers does not know."""

    file: str
    line: int
    name: str
    qualname: str
    language: str  # "python", "builtin", "c", "" unknown
    ncalls: int  # resumes of a generator or coroutine included, as cProfile counts
    pcalls: int  # not within another call of the same function
    tottime: float
    cumtime: float
    resumes: int
    suspended: float
    min: Optional[float]
    p50: Optional[float]
    p90: Optional[float]
    p99: Optional[float]
    max: Optional[float]


class Thread(NamedTuple):
    """One thread of which there are calls."""

    id: int  # what thread() wants
    tid: int
    process: int  # what process() wants; 0 in a profile of this process
    pid: int
    name: str
    process_name: str


class Detail(NamedTuple):
    """What we know of a function and pstats does not."""

    qualname: str
    language: str
    resumes: int = 0
    suspended: float = 0.0
    min: Optional[float] = None
    max: Optional[float] = None
    p50: Optional[float] = None
    p90: Optional[float] = None
    p99: Optional[float] = None
    durations: Tuple[bytes, ...] = ()  # of all its calls, by which several become one; none: unknown


def _merge(one: Detail, two: Detail) -> Detail:
    """Of two functions that become one row."""
    least = [value for value in (one.min, two.min) if value is not None]
    most = [value for value in (one.max, two.max) if value is not None]
    shortest, longest = min(least, default=None), max(most, default=None)
    durations = one.durations + two.durations if one.durations and two.durations else ()
    p50, p90, p99 = _venturi.percentiles(durations, shortest, longest)
    return one._replace(resumes=one.resumes + two.resumes, suspended=one.suspended + two.suspended, min=shortest,
                        max=longest, p50=p50, p90=p90, p99=p99, durations=durations)


def _strip(key: Key) -> Key:
    return (os.path.basename(key[0]), key[1], key[2])


def _is_ours(row: "_venturi.RowTuple") -> bool:
    """Our own wrappers around what is measured."""
    return row[0].startswith(PACKAGE) or (row[0] == "~" and "venturi._venturi." in row[2])


class _Rows(NamedTuple):
    """What the extension found, to be made a Stats of."""

    rows: List["_venturi.RowTuple"]
    is_live: bool  # of this process: with our own wrappers around what is measured


class Seen(NamedTuple):
    """What a profile has seen until now."""

    periods: Sequence[Tuple["_venturi.Snapshot", "_venturi.Snapshot"]]
    builtins: bool

    def rows(self, thread: Optional[int] = None) -> List[_Rows]:
        """One set of them, or none yet."""
        if not self.periods:
            return []
        return [_Rows(_venturi.profile(self.periods, thread=thread, builtins=self.builtins), True)]


class Source:
    """A profile, as Stats knows it."""

    def seen(self) -> Seen:
        raise NotImplementedError


def _expand(args: Iterable[Any]) -> List[Any]:
    found: List[Any] = []
    for arg in args:
        found += arg.rows() if isinstance(arg, Seen) else [arg]
    return found


class Stats(pstats.Stats):
    """Stats(recording.vt), Stats(file.prof), Stats(profile): every method of pstats.Stats, the same text
    for the same numbers, and min, max, percentiles, threads and processes, JSON."""

    value: Any = None  # of the function that a decorator profiled
    files: List[str]
    fcn_list: Optional[List[Key]]
    stream: IO[str]
    total_calls: int
    prim_calls: int
    total_tt: float

    def __init__(self, *args: Any, stream: Optional[IO[Any]] = None) -> None:
        # First of all: a profile that is on sees what we call from here on.
        sources = [arg.seen() if isinstance(arg, Source) else arg for arg in args]
        self._details: Dict[Key, Detail] = {}
        self._table: Dict[Key, Any] = {}
        self._is_lent = False
        self._source: Any = sources[0] if len(sources) == 1 else None
        super().__init__(*_expand(sources), stream=stream)

    # pstats.Stats(other) takes what other.create_stats() leaves in other.stats, and puts {} there. To be
    # usable in this role we lend a copy.
    def create_stats(self) -> None:
        self._is_lent = True

    @property
    def stats(self) -> Dict[Key, Any]:
        return dict(self._table) if self._is_lent else self._table

    @stats.setter
    def stats(self, table: Dict[Key, Any]) -> None:
        if not self._is_lent:
            self._table = table
        self._is_lent = False

    def load_stats(self, arg: Any) -> None:
        if isinstance(arg, _Rows):
            self._take(arg)
        elif isinstance(arg, (str, os.PathLike)):
            self._load_file(os.fspath(arg))
        elif isinstance(arg, pstats.Stats):
            self._copy(arg)
        else:
            super().load_stats(arg)

    def _load_file(self, path: str) -> None:
        self.files = [time.ctime(os.stat(path).st_mtime) + "    " + path]
        self._take(_Rows(_venturi.load(path), False))

    def _copy(self, other: pstats.Stats) -> None:
        known: Any = other
        self.stats = {key: (*row[:4], dict(row[4])) for key, row in known.stats.items()}
        self.files = list(known.files)
        if isinstance(other, Stats):
            self._details = dict(other._details)

    def _take(self, found: _Rows) -> None:
        """From the extension's rows, no two of which share file, line and name, to pstats' dictionary. A row
        without calls only stands for a caller."""
        keys: List[Key] = [row[:3] for row in found.rows]
        hidden = [found.is_live and _is_ours(row) for row in found.rows]
        table: Dict[Key, Any] = {}
        self._details = {}
        for key, row, is_hidden in zip(keys, found.rows, hidden):
            if row[6] and not is_hidden:
                callers = {keys[at]: tuple(numbers) for at, *numbers in row[16] if not hidden[at]}
                table[key] = (*row[5:9], callers)
                self._details[key] = Detail(row[3], row[4], *row[9:16], () if row[17] is None else (row[17],))
        self.stats = table

    def add(self, *others: Any) -> "Stats":
        for other in _expand(arg.seen() if isinstance(arg, Source) else arg for arg in others):
            more = other if type(other) is type(self) else type(self)(other)
            self._merge_details(more._details.items())
            super().add(more)
        return self

    def strip_dirs(self) -> "Stats":
        details = self._details
        super().strip_dirs()
        self._details = {}
        self._merge_details((_strip(key), detail) for key, detail in details.items())
        return self

    def _merge_details(self, more: Iterable[Tuple[Key, Detail]]) -> None:
        for key, detail in more:
            known = self._details.get(key)
            self._details[key] = _merge(known, detail) if known else detail

    # ---- what pstats does not have

    def _order(self) -> List[Key]:
        return self.fcn_list or list(self.stats)

    def rows(self) -> List[Row]:
        """All functions, in the order of the last sort_stats()."""
        found = []
        for key in self._order():
            cc, nc, tt, ct, _ = self.stats[key]
            detail = self._details.get(key) or Detail(key[2], "")
            found.append(Row(*key, detail.qualname, detail.language, nc, cc, tt, ct, detail.resumes, detail.suspended,
                             detail.min, detail.p50, detail.p90, detail.p99, detail.max))
        return found

    def threads(self) -> List[Thread]:
        """The threads that these statistics are of, if they are of one recording or one profile."""
        if isinstance(self._source, Seen):
            found = {thread[0]: Thread(*thread) for after, _ in self._source.periods
                     for thread in _venturi.threads(after)}
            return sorted(found.values())
        if not isinstance(self._source, (str, os.PathLike)):
            return []
        try:
            return [Thread(*thread) for thread in _venturi.threads(os.fspath(self._source))]
        except ValueError:
            return []  # a file of pstats, which knows no threads

    def thread(self, thread: Union[int, str, Thread]) -> "Stats":
        """The statistics of one thread, by its id, or of all that have a name."""
        threads = self._known_threads()
        if isinstance(thread, str):
            wanted = [known.id for known in threads if known.name == thread]
        else:
            number = thread.id if isinstance(thread, Thread) else thread
            wanted = [known.id for known in threads if known.id == number]
        if not wanted:
            names = ", ".join("%d %s" % (known.id, known.name) for known in threads[:20])
            raise ValueError("no thread %r; there are: %s" % (thread, names + ", ..." if threads[20:] else names))
        if isinstance(self._source, Seen):
            return Stats(*(rows for number in wanted for rows in self._source.rows(number)), stream=self.stream)
        return Stats(*(_Rows(_venturi.load(os.fspath(self._source), thread=number), False) for number in wanted),
                     stream=self.stream)

    def process(self, process: Union[int, Thread]) -> "Stats":
        """The statistics of all threads of one process."""
        number = process.process if isinstance(process, Thread) else process
        known = {thread.process: thread for thread in self._known_threads()}
        if number not in known:
            names = ", ".join("%d %s" % (at, known[at].process_name) for at in sorted(known)[:20])
            raise ValueError("no process %r; there are: %s" % (process, names + ", ..." if len(known) > 20 else names))
        if isinstance(self._source, Seen):
            return Stats(*self._source.rows(), stream=self.stream)
        return Stats(_Rows(_venturi.load(os.fspath(self._source), process=number), False), stream=self.stream)

    def _known_threads(self) -> List[Thread]:
        threads = self.threads()
        if not threads:
            raise ValueError("only the statistics of one recording or one profile have threads and processes")
        return threads

    def print_percentiles(self, *amount: Any) -> "Stats":
        """As print_stats(), with how long single calls took: the shortest, percentiles, the longest."""
        keys: Any = self.get_print_list(amount)[1]
        if keys:
            print("   ncalls      min      p50      p90      p99      max filename:lineno(function)", file=self.stream)
        for key in keys:
            detail = self._details.get(key) or Detail(key[2], "")
            times = (detail.min, detail.p50, detail.p90, detail.p99, detail.max)
            cells = ["%8s" % "-" if value is None else "%8.6f" % value for value in times]
            print("%9d %s %s" % (self.stats[key][1], " ".join(cells), func_std_string(key)), file=self.stream)
        print(file=self.stream)
        return self

    def to_json(self, indent: Optional[int] = None) -> str:
        """Every function with its callers, as `venturi stats --json` writes them."""
        functions = []
        for key, row in zip(self._order(), self.rows()):
            callers = [{"file": who[0], "line": who[1], "name": who[2], "ncalls": numbers[0], "pcalls": numbers[1],
                        "tottime": numbers[2], "cumtime": numbers[3]}
                       for who, numbers in self.stats[key][4].items()]
            fields = {"qualified_name" if field == "qualname" else field: value for field, value in row._asdict().items()}
            functions.append({**fields, "callers": callers})
        return json.dumps({"total_calls": self.total_calls, "primitive_calls": self.prim_calls,
                           "total_time": self.total_tt, "functions": functions}, indent=indent)
