"""Python programs under `venturi run`, with every Python that there is."""
import json
import os
import signal
import subprocess
import sys
import textwrap
import time

import pytest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from interpreters import BUILD, PACKAGE, VERSIONS, find, python_or_skip  # noqa: E402

VENTURI = os.path.abspath(os.environ.get("VENTURI", os.path.join(BUILD, "venturi")))

# What a program may be told by its environment, and we must not.
DROPPED = ("VENTURI", "PYTHON")


def environment(**more):
    env = {key: value for key, value in os.environ.items() if not key.startswith(DROPPED)}
    env.update(PYTHONDONTWRITEBYTECODE="1", **more)
    return env


class Profile:
    """The functions of a recording, as venturi.Stats tells them."""

    def __init__(self, python, path):
        code = "import sys, venturi; print(venturi.Stats(sys.argv[1]).to_json())"
        done = subprocess.run([python, "-c", code, str(path)], capture_output=True, text=True, timeout=120,
                              env=environment(PYTHONPATH=PACKAGE))
        assert done.returncode == 0, done.stderr
        self.functions = json.loads(done.stdout)["functions"]

    def calls(self, file=None):
        """qualified name -> calls, of the functions of a file (by its last part)."""
        found = {}
        for row in self.functions:
            if file is None or os.path.basename(row["file"]) == file:
                found[row["qualified_name"]] = found.get(row["qualified_name"], 0) + row["ncalls"]
        return found

    def row(self, qualname):
        rows = [row for row in self.functions if row["qualified_name"] == qualname]
        assert len(rows) == 1, (qualname, rows)
        return rows[0]


class Runner:
    """Writes scripts, runs them with and without us."""

    def __init__(self, version, folder):
        self.version = version
        self.python = python_or_skip(version)
        self.folder = folder
        self.output = folder / "out.vt"

    def script(self, text, name="script.py"):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(text))
        return path

    def command(self, *words, options=(), output=None):
        return [VENTURI, "run", "-q", "-f", "-o", str(output or self.output), "--python", self.python, *options,
                *map(str, words)]

    def _run(self, command, env, kw):
        kw.setdefault("stdin", subprocess.DEVNULL) if "input" not in kw else None
        kw.setdefault("cwd", self.folder)
        return subprocess.run(command, capture_output=True, text=True, timeout=120, env=environment(**(env or {})), **kw)

    def __call__(self, *words, options=(), output=None, env=None, **kw):
        return self._run(self.command(*words, options=options, output=output), env, kw)

    def alone(self, *words, env=None, **kw):
        return self._run([self.python, *map(str, words)], env, kw)

    def start(self, *words, options=(), env=None, **kw):
        """Started and not waited for, in a process group of its own."""
        return subprocess.Popen(self.command(*words, options=options), stdin=subprocess.DEVNULL, text=True,
                                cwd=self.folder, env=environment(**(env or {})), start_new_session=True, **kw)

    def profile(self, path=None):
        return Profile(self.python, path or self.output)

    def calls(self, file="script.py"):
        return self.profile().calls(file)


@pytest.fixture(params=VERSIONS, ids=["python" + version for version in VERSIONS])
def run(request, tmp_path):
    return Runner(request.param, tmp_path)


@pytest.fixture
def run_one(tmp_path):
    """For what does not depend on the version: the newest there is."""
    for version in reversed(VERSIONS):
        if find(version)[0]:
            return Runner(version, tmp_path)
    pytest.skip("no Python that Venturi was built for")


def stop_group(child):
    """Nothing that a test started outlives it."""
    try:
        os.killpg(child.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    child.wait(20)


def wait_for(condition, seconds=30):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "waited too long"
        time.sleep(0.02)
