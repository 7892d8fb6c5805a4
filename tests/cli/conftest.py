"""The tool as its users meet it: `venturi` is a helper that runs it.

VENTURI names the tool (default: build/venturi). Every run gets a bare environment: settings of whoever
runs the tests must not decide what they see.
"""
import fcntl
import os
import pty
import struct
import subprocess
import sys
import termios

import pytest

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(TOP, "tests", "reader"))
from vtwrite import Writer  # noqa: E402

TOOL = os.path.abspath(os.environ.get("VENTURI", os.path.join(TOP, "build", "venturi")))
KEPT = ("PATH", "HOME", "TMPDIR", "LD_LIBRARY_PATH", "ASAN_OPTIONS", "UBSAN_OPTIONS", "TSAN_OPTIONS")


def bare_environment(**more):
    env = {key: os.environ[key] for key in KEPT if key in os.environ}
    env.update({"LC_ALL": "C.UTF-8", **{key: str(value) for key, value in more.items()}})
    return env


class Venturi:
    """venturi("rank", path, env={"COLUMNS": "80"}, input=b"...") -> CompletedProcess, text unless text=False."""

    path = TOOL
    top = TOP

    def __call__(self, *args, env=None, check=None, **kw):
        kw.setdefault("text", not isinstance(kw.get("input"), bytes))
        kw.setdefault("timeout", 120)
        if "stdout" not in kw:
            kw["stdout"] = subprocess.PIPE
        if "stderr" not in kw:
            kw["stderr"] = subprocess.PIPE
        if "input" not in kw and "stdin" not in kw:
            kw["stdin"] = subprocess.DEVNULL
        command = [TOOL] + [os.fspath(arg) if isinstance(arg, os.PathLike) else arg for arg in args]
        done = subprocess.run(command, env=bare_environment(**(env or {})), **kw)
        if check is not None:
            assert done.returncode == check, (done.returncode, done.stdout, done.stderr)
        return done

    def on_terminal(self, *args, columns=80, **env):
        """What it writes to a terminal, as bytes with plain line ends, its exit code, and its stderr."""
        master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        child = subprocess.Popen([TOOL, *map(str, args)], stdin=slave, stdout=slave, stderr=subprocess.PIPE,
                                 env=bare_environment(**{"TERM": "xterm", **env}))
        os.close(slave)
        text = b""
        while True:
            try:
                piece = os.read(master, 65536)
            except OSError:
                break
            if not piece:
                break
            text += piece
        os.close(master)
        stderr = child.stderr.read().decode()
        child.stderr.close()
        return text.replace(b"\r\n", b"\n"), child.wait(), stderr

    def commands(self):
        return [name.replace("_", "-") for name in self.listed("src/cli/commands.def", "VTI_COMMAND")]

    def formats(self):
        return self.listed("src/export/exporters.def", "VTI_EXPORTER")

    @staticmethod
    def listed(path, macro):
        """The names in a .def file, in its order."""
        with open(os.path.join(TOP, path)) as lines:
            return [line[len(macro) + 1:line.index(")")] for line in lines if line.startswith(macro + "(")]


@pytest.fixture(scope="session")
def venturi():
    if not os.access(TOOL, os.X_OK):
        pytest.skip("%s is not built" % TOOL)
    return Venturi()


@pytest.fixture(scope="session")
def bench_script():
    """bench_script("gen_log.py", ...) runs one of bench/ with this Python."""
    def run(name, *args):
        return subprocess.run([sys.executable, os.path.join(TOP, "bench", name), *map(str, args)],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    return run


@pytest.fixture(scope="session")
def make_recording(tmp_path_factory):
    """make_recording("--crash", …) -> path of a recording that holds a bit of everything (tests/programs/make_recording.c)."""
    program = os.path.join(os.environ.get("VENTURI_BUILD", os.path.dirname(TOOL)), "tests", "programs", "make_recording")
    if not os.access(program, os.X_OK):
        pytest.skip("%s is not built" % program)
    folder = tmp_path_factory.mktemp("recordings")
    made = {}

    def make(*options):
        options = tuple(map(str, options))
        if options not in made:
            path = folder / ("%d.vt" % len(made))
            subprocess.run([program, *options, path], check=True, env=bare_environment())
            made[options] = path
        return made[options]
    return make


class NewRecording(Writer):
    """A recording made event by event (tests/reader/vtwrite.py): one process with a thread "main"; ticks are nanoseconds."""

    def __init__(self, ident=b"0123456789abcdef", **process):
        super().__init__(created=1800000000 * 10 ** 9, ident=ident)
        self.host()
        self.clock(kind=2, anchors=[(0, 0, 1800000000 * 10 ** 9, 0)])
        self.process(0, **process)
        self.track(0, name="main", thread=100)

    def save(self, path):
        self.close()
        path.write_bytes(self.bytes())
        return path


def second_reader_finds(path):
    """What tests/reader, written from docs/format.md alone, finds wrong with a recording; "" if nothing."""
    reader = os.path.join(TOP, "tests", "reader", "vtread.py")
    done = subprocess.run([sys.executable, reader, os.fspath(path), "--check"], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, check=False)
    return done.stdout
