"""Line profiles as their users meet them. VENTURI names the tool (default: build/venturi).

Interpreters are those that tools/pythons finds. What line_profiler prints is asked of the ones in build/neighbours, which
tools/neighbours has fetched; tests that need one that is not there are skipped.
"""
import os
import subprocess

import pytest

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
TOOL = os.path.abspath(os.environ.get("VENTURI", os.path.join(TOP, "build", "venturi")))
KEPT = ("PATH", "HOME", "TMPDIR", "LD_LIBRARY_PATH", "ASAN_OPTIONS", "UBSAN_OPTIONS", "TSAN_OPTIONS")


def environment(**more):
    return {**{key: os.environ[key] for key in KEPT if key in os.environ}, "LC_ALL": "C.UTF-8",
            "PYTHONDONTWRITEBYTECODE": "1", **more}


def interpreters():
    """Version ("3.11") to program."""
    listed = subprocess.run([os.path.join(TOP, "tools", "pythons")], stdout=subprocess.PIPE, text=True).stdout
    return dict(line.split("\t")[:2] for line in listed.splitlines())


PYTHONS = interpreters()


def recorded_pythons():
    """Versions that can be run under the tool: where it has a sanitizer, interpreters cannot load the extension."""
    return [] if os.environ.get("VENTURI_SANITIZE") else list(PYTHONS)


def peers():
    """(version of Python, "4" or "5") for each line_profiler that is here."""
    return [(version, kind) for version in PYTHONS for kind in "45"
            if os.path.exists(os.path.join(TOP, "build", "neighbours", "%s-lines%s" % (version, kind), "done"))]


class Venturi:
    """venturi("lines", path) -> CompletedProcess; check=0 asserts the exit code."""

    path = TOOL
    top = TOP

    def __call__(self, *args, check=None, env=None, **kw):
        kw.setdefault("text", True)
        done = subprocess.run([TOOL, *map(os.fspath, args)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, timeout=120, env=environment(**(env or {})), **kw)
        if check is not None:
            assert done.returncode == check, (done.returncode, done.stdout, done.stderr)
        return done


class Peer:
    """A line_profiler: peer.run("-m", "line_profiler", path) -> what it prints, as bytes."""

    def __init__(self, version, kind):
        self.version, self.kind = version, kind

    def run(self, *args, **kw):
        folder = os.path.join(TOP, "build", "neighbours", "%s-lines%s" % (self.version, self.kind))
        done = subprocess.run([PYTHONS[self.version], *map(os.fspath, args)], stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120,
                              env=environment(PYTHONPATH=folder, PYTHONUTF8="1"), **kw)
        assert done.returncode == 0, done.stderr.decode()
        return done.stdout

    def table(self, *args, **kw):
        return self.run("-m", "line_profiler", *args, **kw)

    def write(self, path, timings, unit=1e-9, protocol=4):
        """A .lprof with these timings."""
        self.run("-c", "import pickle, line_profiler.line_profiler as l\n"
                       "pickle.dump(l.LineStats(%r, %r), open(%r, 'wb'), %d)" % (timings, unit, str(path), protocol))
        return path


@pytest.fixture(scope="session")
def venturi():
    if not os.access(TOOL, os.X_OK):
        pytest.skip("%s is not built" % TOOL)
    return Venturi()


@pytest.fixture(params=peers() or [None], ids=lambda peer: "-".join(peer) if peer else "none")
def peer(request):
    if not request.param:
        pytest.skip("no line_profiler: run tools/neighbours")
    return Peer(*request.param)


@pytest.fixture
def new_peer():
    """The newest line_profiler 5."""
    found = [one for one in peers() if one[1] == "5"]
    if not found:
        pytest.skip("no line_profiler 5: run tools/neighbours")
    return Peer(*found[-1])
