"""Pages as a reader that is not ours sees them. VENTURI names the tool (default: build/venturi)."""
import json
import os
import subprocess
import sys

import pytest

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(os.path.dirname(HERE))
sys.path[:0] = [HERE, os.path.join(TOP, "tests", "reader")]
from page_reader import read  # noqa: E402
from vtwrite import Writer  # noqa: E402

TOOL = os.path.abspath(os.environ.get("VENTURI", os.path.join(TOP, "build", "venturi")))
GOLDEN = os.path.join(TOP, "tests", "golden")
KEPT = ("HOME", "TMPDIR", "LD_LIBRARY_PATH", "ASAN_OPTIONS", "UBSAN_OPTIONS", "TSAN_OPTIONS")


class Venturi:
    """venturi("report", path) -> CompletedProcess; check=0 asserts the exit code."""

    path = TOOL

    def __call__(self, *args, check=None, env=None, **kw):
        kw.setdefault("text", True)
        kw.setdefault("stdout", subprocess.PIPE)
        clean = {key: os.environ[key] for key in KEPT if key in os.environ}
        clean.update(LC_ALL="C.UTF-8", PATH=os.environ["PATH"], **(env or {}))
        done = subprocess.run([TOOL, *map(os.fspath, args)], stdin=subprocess.DEVNULL, stderr=subprocess.PIPE,
                              timeout=120, env=clean, **kw)
        if check is not None:
            assert done.returncode == check, (done.returncode, done.stderr)
        return done

    def json(self, *args):
        return json.loads(self(*args, check=0).stdout)

    def spans(self, path, where="NOT async"):
        return self.json("query", path, "--json", "SELECT * FROM spans WHERE %s ORDER BY id" % where)


@pytest.fixture(scope="session")
def venturi():
    if not os.access(TOOL, os.X_OK):
        pytest.skip("%s is not built" % TOOL)
    return Venturi()


@pytest.fixture
def page(venturi, tmp_path):
    """page(recording, options…) -> the page that is made of it, read."""
    def make(path, *options):
        out = tmp_path / "page.html"
        venturi("report", path, "-o", out, *options, check=0)
        return read(out)
    return make


@pytest.fixture(scope="session")
def golden():
    return lambda name: os.path.join(GOLDEN, "v1-%s.vt" % name)


class Recording(Writer):
    """A recording made event by event: one process with a thread "main"; ticks are nanoseconds."""

    def __init__(self, **process):
        super().__init__(created=1800000000 * 10 ** 9, ident=b"0123456789abcdef")
        self.host()
        self.clock(kind=2, anchors=[(0, 0, 1800000000 * 10 ** 9, 0)])
        self.process(0, **process)
        self.track(0, name="main", thread=100)

    def save(self, path):
        self.close()
        path.write_bytes(self.bytes())
        return path


@pytest.fixture
def recording():
    return Recording
