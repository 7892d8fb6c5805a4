"""Stats: a pstats.Stats over what Venturi counted, with more to say about each function."""
import json
import os
import pstats
import threading
import time
from pstats import func_std_string  # type: ignore[attr-defined]
from typing import IO, TYPE_CHECKING, Any, Dict, Iterable, List, NamedTuple, Optional, Tuple, Union

from . import _venturi

if TYPE_CHECKING:
    from .profiling import Profile

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


def _merge(one: Detail, two: Detail) -> Detail:
    """Of two functions that become one row. Percentiles of both together cannot be known."""
    least = [value for value in (one.min, two.min) if value is not None]
    most = [value for value in (one.max, two.max) if value is not None]
    return one._replace(resumes=one.resumes + two.resumes, suspended=one.suspended + two.suspended,
                        min=min(least, default=None), max=max(most, default=None), p50=None, p90=None, p99=None)


def _strip(key: Key) -> Key:
    return (os.path.basename(key[0]), key[1], key[2])


def _is_ours(row: "_venturi.RowTuple") -> bool:
    """Our own wrappers around what is measured."""
    return row[0].startswith(PACKAGE) or (row[0] == "~" and "venturi._venturi." in row[2])


class _Rows(NamedTuple):
    """What the extension found, to be made a Stats of."""

    rows: List["_venturi.RowTuple"]
    is_live: bool  # of this process: with our own wrappers around what is measured


def _expand(args: Iterable[Any]) -> List[Any]:
    """A profile that was on several times is as many sets of rows, to be added up."""
    from .profiling import Profile

    found: List[Any] = []
    for arg in args:
        found += _rows_of(arg) if isinstance(arg, Profile) else [arg]
    return found


def _rows_of(profile: "Profile", thread: Optional[int] = None) -> List[_Rows]:
    return [_Rows(_venturi.profile(after, before, thread=thread), True) for after, before in profile.periods()]


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
        self._details: Dict[Key, Detail] = {}
        self._table: Dict[Key, Any] = {}
        self._is_lent = False
        self._source: Any = args[0] if len(args) == 1 else None
        super().__init__(*_expand(args), stream=stream)

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
                self._details[key] = Detail(row[3], row[4], *row[9:16])
        self.stats = table

    def add(self, *others: Any) -> "Stats":
        for other in _expand(others):
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
        from .profiling import Profile

        if isinstance(self._source, Profile):
            names = {thread.native_id: thread.name for thread in threading.enumerate()}
            found = {thread[0]: Thread(*thread) for after, _ in self._source.periods()
                     for thread in _venturi.threads(after)}
            return [thread._replace(name=names.get(thread.tid, "")) for thread in found.values()]
        if not isinstance(self._source, (str, os.PathLike)):
            return []
        try:
            return [Thread(*thread) for thread in _venturi.threads(os.fspath(self._source))]
        except ValueError:
            return []  # a file of pstats, which knows no threads

    def thread(self, thread: Union[int, Thread]) -> "Stats":
        """The statistics of one thread."""
        from .profiling import Profile

        number = thread if isinstance(thread, int) else thread.id
        if isinstance(self._source, Profile):
            return Stats(*_rows_of(self._source, number), stream=self.stream)
        return self._part(thread=number)

    def process(self, process: Union[int, Thread]) -> "Stats":
        """The statistics of all threads of one process."""
        from .profiling import Profile

        number = process if isinstance(process, int) else process.process
        if isinstance(self._source, Profile):
            return Stats(self._source, stream=self.stream)
        return self._part(process=number)

    def _part(self, thread: Optional[int] = None, process: Optional[int] = None) -> "Stats":
        if not isinstance(self._source, (str, os.PathLike)):
            raise ValueError("only the statistics of one recording or one profile have threads and processes")
        rows = _venturi.load(os.fspath(self._source), thread=thread, process=process)
        return Stats(_Rows(rows, False), stream=self.stream)

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
