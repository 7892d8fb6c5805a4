"""emissions.csv: one row a run, every row with a field for every column of the file's own header.

Several processes may append at the same time: the file is locked, and a row is written in one piece.
"""
import csv
import os
import stat
import sys
import threading
from contextlib import contextmanager
from itertools import chain
from typing import Any, Dict, Iterable, Iterator, List, Optional, Sequence, TextIO, Tuple

from ._data import CODECARBON_COLUMNS, COLUMNS, TASK_COLUMNS, EmissionsData, TaskEmissionsData
from ._lock import locked
from ._log import logger, warn_once
from ._outputs import BaseOutput


def _field(value: Any) -> Any:
    """Empty for what is not known: that is how csv and pandas have it."""
    return "" if value is None or value != value else value


def _quoted(value: Any) -> str:
    """csv.writer leaves a carriage return as it is, which ends a row for whoever reads it."""
    text = str(_field(value))
    return '"%s"' % text.replace('"', '""') if any(c in text for c in ',"\r\n') else text


def _text(rows: Iterable[Sequence[Any]]) -> str:
    return "".join(",".join(map(_quoted, row)) + "\n" for row in rows)


_limit = threading.Lock()


@contextmanager
def _fields_of_any_size() -> Iterator[None]:
    """The csv module's limit is one for the whole program, which gets it back as it was."""
    with _limit:
        before = csv.field_size_limit(sys.maxsize)
        try:
            yield
        finally:
            csv.field_size_limit(before)


def _header(file: TextIO) -> Optional[List[str]]:
    """None if the file is empty. What is no CSV has a header that nobody knows."""
    file.seek(0)
    try:
        with _fields_of_any_size():
            return next(csv.reader(file), None)
    except csv.Error:
        return []


def _is_ours(header: Sequence[str]) -> bool:
    """Codecarbon's columns in any order, with or without ours."""
    return sorted(header) in (sorted(COLUMNS), sorted(CODECARBON_COLUMNS))


def _is_file(file: TextIO) -> bool:
    return stat.S_ISREG(os.fstat(file.fileno()).st_mode)


def _set_aside(path: str) -> None:
    """As codecarbon does: .bak, then _0.bak, _1.bak."""
    to, number = path + ".bak", 0
    while os.path.exists(to):
        to = "%s_%d.bak" % (path, number)
        number += 1
    logger.warning("%s has other columns; it is %s now", path, to)
    os.rename(path, to)


@contextmanager
def _opened(path: str) -> Iterator[Tuple[TextIO, bool]]:
    """The file that has this name when the lock is ours: another process may have set it aside, or replaced it. And whether it is."""
    while True:
        with open(path, "a+", newline="", encoding="utf-8", errors="surrogateescape") as file, locked(file.fileno()) as is_ours:
            if os.path.exists(path) and os.path.samestat(os.fstat(file.fileno()), os.stat(path)):
                yield file, is_ours
                return


def _ends_with_line(file: TextIO) -> bool:
    return os.pread(file.fileno(), 1, os.fstat(file.fileno()).st_size - 1) == b"\n"


def _ends_in_quotes(file: TextIO) -> bool:
    """Whether what comes next would be in the last row."""
    last: List[str] = [""]
    file.seek(0)
    try:
        with _fields_of_any_size():
            for last in csv.reader(chain(file, ["end"])):
                pass
    except csv.Error:  # nobody can read it
        return False
    return last != ["end"]


def _append(file: TextIO, text: str) -> None:
    """A row that was cut off before does not take ours with it, and ours is there as a whole or not at all."""
    size = os.fstat(file.fileno()).st_size
    end = "" if not size else '"\n' if _ends_in_quotes(file) else "" if _ends_with_line(file) else "\n"
    data = (end + text).encode("utf-8", "backslashreplace")
    try:
        while data:
            data = data[os.write(file.fileno(), data):]
    except OSError:
        if _is_file(file):
            os.ftruncate(file.fileno(), size)
        raise


def _replace(path: str, rows: List[List[str]], mode: int) -> None:
    """All of it or nothing."""
    other = "%s.%d.new" % (path, os.getpid())
    try:
        with open(other, "w", newline="", encoding="utf-8", errors="surrogateescape") as file:
            os.fchmod(file.fileno(), mode & 0o777)
            file.write(_text(rows))
        os.replace(other, path)
    except BaseException:
        if os.path.exists(other):
            os.unlink(other)
        raise


def _write_row(path: str, values: Dict[str, Any], is_update: bool) -> None:
    with _opened(path) as (file, is_locked):
        if not is_locked:
            logger.warning("%s: another process keeps it locked; the row is appended all the same", path)
        header = _header(file) if _is_file(file) else None  # a device may have no end
        if header is None:
            _append(file, _text([COLUMNS, list(values.values())]))
        elif _is_ours(header):
            _add_row(path, file, header, values, is_update and is_locked)
        elif is_locked:
            _set_aside(path)
        else:
            raise OSError("%s has other columns, and is locked: no row is written" % path)
    if header is not None and not _is_ours(header):
        _write_row(path, values, is_update)


def _add_row(path: str, file: TextIO, header: List[str], values: Dict[str, Any], is_update: bool) -> None:
    if "provenance" not in header:
        warn_once("%s is codecarbon's, without a column for provenance; rows are appended in its own columns" % path)
    row = [_field(values[name]) for name in header]
    at = header.index("run_id")
    file.seek(0)
    with _fields_of_any_size():
        rows = list(csv.reader(file)) if is_update else []
    same = [i for i, old in enumerate(rows) if len(old) > at and old[at] == str(values["run_id"])]
    if len(same) != 1:
        _append(file, _text([row]))
        return
    rows[same[0]] = [str(value).encode("utf-8", "backslashreplace").decode() for value in row]
    _replace(path, rows, os.fstat(file.fileno()).st_mode)


class FileOutput(BaseOutput):
    """The default output."""

    def __init__(self, output_file: str, output_dir: str, on_csv_write: str = "append") -> None:
        self.output_dir = output_dir
        self.on_csv_write = on_csv_write
        self.save_file_path = os.path.join(output_dir, output_file)

    def out(self, total: EmissionsData, delta: EmissionsData) -> None:
        _write_row(os.path.realpath(self.save_file_path), total.values, self.on_csv_write == "update")

    def task_out(self, data: List[TaskEmissionsData], experiment_name: str) -> None:
        name = "emissions_%s_%s.csv" % (experiment_name.replace(os.sep, "_"), data[0].run_id)
        with open(os.path.join(self.output_dir, name), "w", newline="", encoding="utf-8", errors="backslashreplace") as file:
            file.write(_text([TASK_COLUMNS, *(list(task.values.values()) for task in data)]))
