"""C and C++ programs compiled by `venturi cc`, run under `venturi run`, and what their functions did."""
import json
import os
import shutil
import subprocess

import pytest

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(os.path.dirname(HERE))
BUILD = os.path.abspath(os.environ.get("VENTURI_BUILD", os.path.join(TOP, "build")))
VENTURI = os.environ.get("VENTURI", os.path.join(BUILD, "venturi"))
SYMBOLS = os.path.join(BUILD, "venturi-symbols")
COLLECTOR = os.path.join(BUILD, "libventuri-functions.so")
SANITIZE = os.environ.get("VENTURI_SANITIZE", "")
FLAGS = {"": [], "address": ["-fsanitize=address,undefined"], "thread": ["-fsanitize=thread"]}[SANITIZE]


def source(name):
    return os.path.join(HERE, "programs", name)


def run(command, check=True, **kw):
    """Runs a command with its output as text."""
    kw.setdefault("capture_output", True)
    done = subprocess.run(list(map(str, command)), text=True, timeout=300, **kw)
    if check:
        assert done.returncode == 0, done.stderr
    return done


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


class Run:
    """A finished run: the process, the facts it printed, its functions."""

    def __init__(self, done, path):
        self.done = done
        self.path = str(path)
        self.code = done.returncode
        lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
        self.facts = json.loads(lines[-1]) if lines else {}

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
    def start(program, *arguments, options=(), env=None, check=True, **kw):
        path = tmp_path / "out.vt"
        done = run([VENTURI, "run", "-f", "-o", path, *options, "--", program, *arguments], check=check,
                   env={**os.environ, **(env or {})}, **kw)
        return Run(done, path)
    return start


def need(*commands):
    for command in commands:
        if not shutil.which(command):
            pytest.skip("no %s on this machine" % command)


no_sanitizer = pytest.mark.skipif(bool(SANITIZE), reason="the collector of this build cannot be preloaded: it has a sanitizer")
