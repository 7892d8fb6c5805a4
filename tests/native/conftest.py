"""C and C++ programs compiled by `venturi cc`, run under `venturi run`, and what their functions did."""
import json
import os
import sys

import pytest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "lib"))

from recorded import BUILD, TOP, VENTURI, Run, need, recorder, run  # noqa: E402,F401

SYMBOLS = os.path.join(BUILD, "venturi-symbols")
COLLECTOR = os.path.join(BUILD, "libventuri-functions.so")
SANITIZE = os.environ.get("VENTURI_SANITIZE", "")
FLAGS = {"": [], "address": ["-fsanitize=address,undefined"], "thread": ["-fsanitize=thread"]}[SANITIZE]


def source(name):
    return os.path.join(HERE, "programs", name)


class Profile:
    """The functions of a recording, by name."""

    def __init__(self, path, *options):
        done = run([VENTURI, "stats", "--json", *options, path])
        self.all = json.loads(done.stdout)
        self.lost = self.all["lost_calls"]
        self.rows = {row["qualified_name"]: row for row in self.all["functions"]}

    def calls(self):
        return {name: row["ncalls"] for name, row in self.rows.items()}

    def callers(self, name):
        """caller -> calls; a function that nobody called has none."""
        return {row["name"]: row["ncalls"] for row in self.rows[name]["callers"]}

    def __getitem__(self, name):
        return self.rows[name]


class Profiled(Run):
    """A run whose functions are asked for."""

    def profile(self, *options):
        return Profile(self.path, *options)


@pytest.fixture
def compile(tmp_path):
    """compile("name.c", flags…) makes a program with `venturi cc` (or c++, by its ending); returns its path."""
    def make(name, *flags, output=None, command=None):
        output = tmp_path / (output or os.path.splitext(os.path.basename(name))[0])
        if not command:
            command = [VENTURI, "c++" if name.endswith(".cpp") else "cc"]
        run([*command, *FLAGS, source(name), *flags, "-o", output, "-pthread"])
        return output
    return make


@pytest.fixture
def record(tmp_path):
    """record(program, arguments…, options=[…]) runs it under `venturi run`."""
    return recorder(tmp_path, Profiled)


no_sanitizer = pytest.mark.skipif(bool(SANITIZE), reason="the collector of this build cannot be preloaded: it has a sanitizer")
