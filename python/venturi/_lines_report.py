"""Recordings of lines that a program starts itself, and what is shown of them when it ends."""
import atexit
import os
import subprocess
import sys
import time
from typing import Any, IO, List


def _tool() -> str:
    """The tool that belongs to this package; "" if it is not there."""
    from importlib.util import module_from_spec, spec_from_file_location

    spec = spec_from_file_location("venturi.__main__", os.path.join(os.path.dirname(os.path.abspath(__file__)), "__main__.py"))
    assert spec is not None and spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return str(module.find_tool())


def _run(words: List[str]) -> str:
    """What the tool prints. OSError, in one line, if it cannot."""
    tool = _tool()
    if not tool:
        raise OSError("the tool is not where this package expects it")
    env = {key: value for key, value in os.environ.items() if not key.startswith("VENTURI")}
    done = subprocess.run([tool, *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=env)
    if done.returncode:
        raise OSError(" ".join(done.stderr.decode("utf-8", "replace").split()) or "the tool failed")
    return done.stdout.decode("utf-8", "replace")


def _start(extension: Any, path: str) -> None:
    """Child processes find the recording by its name, and leave its end to us."""
    extension.session_start(path)
    os.environ["VENTURI_OUTPUT"] = os.path.abspath(path)


def _stop(extension: Any) -> None:
    os.environ.pop("VENTURI_OUTPUT", None)
    extension.session_stop()


def record(extension: Any, path: str) -> None:
    """Records into a file until the program ends."""
    owner = os.getpid()
    _start(extension, path)

    def stop() -> None:
        if os.getpid() == owner:
            try:
                _stop(extension)
            except OSError as error:
                sys.stderr.write(f"venturi: {path}: {error}\n")
    atexit.register(stop)


class Report:
    """A recording beside the files that line_profiler would write."""

    def __init__(self, extension: Any, prefix: str) -> None:
        self._extension = extension
        self._prefix = prefix
        self._owner = os.getpid()
        self._is_open = True
        _start(extension, prefix + ".vt")
        atexit.register(self._end)

    def _end(self) -> None:
        if os.getpid() != self._owner:
            return  # a forked child: the report is its parent's
        try:
            _stop(self._extension)
            self._is_open = False
            self.show()
        except OSError as error:
            sys.stderr.write(f"venturi: lines: {error}\n")

    def _path(self) -> str:
        if self._is_open:
            self._extension.session_flush()
        return self._prefix + ".vt"

    def print_stats(self, stream: IO[str]) -> None:
        stream.write(_run(["lines", self._path()]))

    def dump_stats(self, filename: str) -> None:
        _run(["export", "-f", "lprof", "-o", os.fspath(filename), "--force", self._path()])

    def show(self) -> None:
        """As line_profiler does: the table, two texts of it (one of them by its time), and a .lprof."""
        text = _run(["lines", self._path()])
        sys.stdout.write(text)
        names = [self._prefix + ".txt", self._prefix + time.strftime("_%Y-%m-%dT%H%M%S") + ".txt"]
        for name in names:
            with open(name, "w", encoding="utf-8") as file:
                file.write(text)
        self.dump_stats(self._prefix + ".lprof")
        for name in [*names, self._prefix + ".lprof"]:
            sys.stdout.write(f"Wrote profile results to {name}\n")
