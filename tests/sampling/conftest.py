"""Programs sampled by `venturi run --native`, and what their samples say."""
import json
import os
import shutil
import subprocess

import pytest

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(os.path.dirname(HERE))
BUILD = os.path.abspath(os.environ.get("VENTURI_BUILD", os.path.join(TOP, "build")))
VENTURI = os.environ.get("VENTURI", os.path.join(BUILD, "venturi"))

# Of its time in user mode a process is sampled 1,000 times a second; a busy machine steals some of it for itself.
LEAST, MOST = 0.5, 1.5


def pytest_collection_modifyitems(items):
    if os.environ.get("VENTURI_SANITIZE"):
        reason = "the sampler of this build cannot be preloaded: it has a sanitizer"
    elif not os.path.exists(os.path.join(BUILD, "libventuri-sample.so")):
        reason = "no sampler for this machine or C library"
    else:
        return
    for item in items:
        if "test_perf" not in item.nodeid:
            item.add_marker(pytest.mark.skip(reason=reason))


def run(command, check=True, **kw):
    kw.setdefault("capture_output", True)
    done = subprocess.run(list(map(str, command)), text=True, timeout=300, **kw)
    if check:
        assert done.returncode == 0, done.stderr
    return done


class Recording:
    """A finished run: the process, the facts it printed, the places that samples met."""

    def __init__(self, done, path):
        self.done = done
        self.path = str(path)
        lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
        self.facts = json.loads(lines[-1]) if lines else {}

    def query(self, sql):
        return json.loads(run([VENTURI, "query", "--json", self.path, sql]).stdout)

    @property
    def rows(self):
        """Places in the tree, with `path`: the names from the outermost function to this one."""
        rows = self.query("SELECT * FROM calls ORDER BY id")
        by_id = {row["id"]: row for row in rows}
        for row in rows:
            above = by_id.get(row["parent"])
            row["path"] = (above["path"] if above else ()) + (row["function"] or row["name"],)
        return rows

    def samples(self, function):
        """In how many samples a function was the innermost."""
        return sum(row["samples"] or 0 for row in self.rows if row["path"][-1] == function)

    def within(self, function):
        """… or had called what was."""
        return sum(row["samples"] or 0 for row in self.rows if function in row["path"])

    @property
    def sampled_seconds(self):
        return sum(row["self_ns"] for row in self.rows if row["samples"] is not None) / 1e9


@pytest.fixture
def compile(tmp_path):
    """compile("name.c", flags…) makes a program; returns its path."""
    def make(name, *flags, output=None):
        path = tmp_path / (output or os.path.splitext(name)[0])
        run(["cc", "-O2", "-g", "-Wall", *flags, os.path.join(HERE, "programs", name), "-o", path, "-pthread"])
        return path
    return make


@pytest.fixture
def sample(tmp_path):
    """sample(program, arguments…) runs it under `venturi run --native`."""
    def start(program, *arguments, options=(), check=True, env=None, **kw):
        path = tmp_path / "out.vt"
        done = run([VENTURI, "run", "--native", "-f", "-o", path, *options, "--", program, *arguments], check=check,
                   env={**os.environ, **(env or {})}, **kw)
        return Recording(done, path)
    return start


def need(*commands):
    for command in commands:
        if not shutil.which(command):
            pytest.skip("no %s on this machine" % command)
