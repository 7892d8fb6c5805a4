"""Programs of tests/programs, recorded by `venturi run` or on their own, and what their recordings hold."""
import json
import os
import subprocess
import sys

import pytest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(os.path.dirname(HERE), folder) for folder in ("lib", "reader")]

BUILD = os.environ.get("VENTURI_BUILD", os.path.join(os.path.dirname(os.path.dirname(HERE)), "build"))
VENTURI = os.environ.get("VENTURI", os.path.join(BUILD, "venturi"))
PROGRAMS = os.path.join(BUILD, "tests", "programs")
SANITIZE = os.environ.get("VENTURI_SANITIZE", "")
SOAK = bool(os.environ.get("VENTURI_SOAK"))


def under_tsan(few, full):
    """How many of what costs a hundred times as much there; a soak takes the time."""
    return few if SANITIZE == "thread" and not SOAK else full


def program(name):
    return os.path.join(PROGRAMS, name)


def tool(*args, check=True, **kw):
    """Runs the tool; its output as text."""
    kw.setdefault("capture_output", True)
    done = subprocess.run([VENTURI, *map(str, args)], text=True, timeout=300, **kw)
    if check:
        assert done.returncode == 0, done.stderr
    return done


class Recording:
    """What a recording holds, as the tool tells it."""

    def __init__(self, path):
        self.path = str(path)
        self.info = json.loads(tool("info", "--json", path).stdout)

    def query(self, sql):
        return json.loads(tool("query", "--json", self.path, sql).stdout)

    def spans(self):
        """name -> number of spans, async ones left out."""
        return {row["name"]: row["n"] for row in
                self.query("SELECT name, count(*) AS n FROM spans WHERE NOT async GROUP BY name")}

    @property
    def events(self):
        return self.info["events"]

    @property
    def lost(self):
        return self.info["lost_events"]


class Run:
    """A finished run: the process, the facts it printed, its recording."""

    def __init__(self, done, path):
        self.done = done
        self.path = str(path)
        self.code = done.returncode
        lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
        self.facts = json.loads(lines[-1]) if lines else {}

    @property
    def recording(self):
        return Recording(self.path)


@pytest.fixture
def record(tmp_path):
    """record(program, args…, options=[…]) runs it under `venturi run`."""
    def run(name, *args, options=(), path=None, prefix=(), env=None, **kw):
        path = path or tmp_path / "out.vt"
        command = [*prefix, VENTURI, "run", "-o", str(path), *options, "--", program(name), *map(str, args)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=600,
                              env={**os.environ, **(env or {})}, **kw)
        return Run(done, path)
    return run


def wait_for(condition, seconds=20):
    """Waits until condition() is true; for what another process does in its own time."""
    import time
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "waited too long"
        time.sleep(0.02)


def child_of(pid):
    """The one child of a process."""
    with open(f"/proc/{pid}/task/{pid}/children") as file:
        return int(file.read().split()[0])
