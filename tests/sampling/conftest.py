"""Programs sampled by `venturi run --native`, and what their samples say."""
import json
import os
import sys

import pytest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "lib"))

from recorded import BUILD, TOP, VENTURI, Run, need, recorder, run  # noqa: E402,F401

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


class Recording(Run):
    """A run, and the places that samples met."""

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
    return recorder(tmp_path, Recording, "--native")
