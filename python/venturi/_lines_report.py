"""Recordings of lines that a program starts itself, and what is shown of them when it ends."""
import atexit
import os
import shlex
import subprocess
import sys
import time
from typing import Any, IO, List

_ON = ("1", "on", "true", "yes")


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


def _default_name() -> str:
    """As `venturi run` has it."""
    program = os.path.basename(sys.argv[0]) if getattr(sys, "argv", None) else ""
    stem = os.path.splitext(program)[0] if program not in ("", "-", "-c", "-m") else "python"
    return f"{stem}-{time.strftime('%Y%m%d-%H%M%S')}-{os.getpid()}.vt"


def _part_of(path: str) -> str:
    """The recording that something else is made of."""
    return f"{path}.part-{os.getpid()}.vt"


def _export(recording: str, path: str, is_new: bool = False) -> None:
    _run(["export", "-f", "lprof", "-o", path, *([] if is_new else ["--force"]), recording])


def record(extension: Any, wanted: str) -> None:
    """Records into a file until the program ends: a recording, or a .lprof. OSError if it exists."""
    owner = os.getpid()
    path = os.path.abspath(_default_name() if wanted.lower() in _ON else wanted)
    shown = os.path.relpath(path) if wanted.lower() in _ON else wanted
    is_lprof = path.endswith(".lprof")
    recording = _part_of(path) if is_lprof else path
    if os.path.lexists(path):
        raise OSError(f"{shown}: already exists")
    _start(extension, recording)

    def stop() -> None:
        if os.getpid() != owner:
            return
        try:
            _stop(extension)
            if is_lprof:
                _export(recording, path, is_new=True)
                os.unlink(recording)
            sys.stderr.write(f"venturi: {shown}  {os.path.getsize(path) / 1000:.1f} kB; next  venturi lines {shlex.quote(shown)}\n")
        except OSError as error:
            sys.stderr.write(f"venturi: {shown}: {error}\n")
    atexit.register(stop)


class Report:
    """Shows what line_profiler would, and writes the files that it would. The recording beside them goes in the end."""

    def __init__(self, extension: Any, prefix: str) -> None:
        self._extension = extension
        self._prefix = os.path.abspath(prefix)
        self._shown = prefix
        self._owner = os.getpid()
        self._is_open = True
        self._recording = _part_of(self._prefix)
        _start(extension, self._recording)
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
        finally:
            if os.path.exists(self._recording):
                os.unlink(self._recording)

    def _path(self) -> str:
        if self._is_open:
            self._extension.session_flush()
        return self._recording

    def print_stats(self, stream: IO[str]) -> None:
        stream.write(_run(["lines", self._path()]))

    def dump_stats(self, filename: str) -> None:
        _export(self._path(), os.fspath(filename))

    def show(self) -> None:
        """As line_profiler does: a line for each function here, the tables in two texts (one of them by its time), and a .lprof."""
        text = _run(["lines", "-z", "-t", "-m", self._path()])
        sys.stdout.write(text.partition("\n\n")[0] + "\n\n" + text.rpartition("\n\n")[2])
        stamp = time.strftime("_%Y-%m-%dT%H%M%S")
        for ending in (".txt", stamp + ".txt"):
            with open(self._prefix + ending, "w", encoding="utf-8") as file:
                file.write(text)
        self.dump_stats(self._prefix + ".lprof")
        for ending in (".txt", stamp + ".txt", ".lprof"):
            sys.stdout.write(f"Wrote profile results to {self._shown}{ending}\n")
        sys.stdout.write(f"To view details run:\nventuri lines -tmz {shlex.quote(self._shown + '.lprof')}\n")
