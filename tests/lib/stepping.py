"""What tests of steps share: interpreters that Venturi was built for, programs run under the tool, and what was recorded of them."""
import json
import os
import subprocess

import pytest
from recorded import BUILD, TOP, VENTURI, run


def listed(*options):
    done = subprocess.run([os.path.join(TOP, "tools", "pythons"), *options], capture_output=True, text=True, check=True)
    return [line.split("\t") for line in done.stdout.splitlines()]


PYTHONS = {words[0]: (words[1], words[3]) for words in listed()}


def environment(**more):
    """Nobody's settings but the test's."""
    env = {name: value for name, value in os.environ.items() if not name.startswith(("VENTURI", "PYTHON", "METRICS_"))}
    return dict(env, PYTHONDONTWRITEBYTECODE="1", PYTHONPATH=os.path.join(BUILD, "python"), LC_ALL="C.UTF-8", **more)


def query(path, text):
    return json.loads(run([VENTURI, "query", "--json", path, text]).stdout)


def steps(path):
    """The records of a recording, each with `extra` as a dict."""
    rows = query(path, "select * from steps order by sent_ns, number")
    for row in rows:
        assert not row["extra"] or isinstance(row["extra"], str)
        row["extra"] = json.loads("{%s}" % (row["extra"] or ""))
    return rows


def program(*names):
    path = os.path.join(BUILD, *names)
    if not os.access(path, os.X_OK):
        pytest.skip("%s is not built" % path)
    return path


class Recorded:
    """A run of a program of Python: what it printed last, as JSON, and what was recorded."""

    def __init__(self, done, path):
        self.done, self.path = done, path
        self.code = done.returncode

    @property
    def said(self):
        return json.loads(self.done.stdout.splitlines()[-1])

    @property
    def steps(self):
        return steps(self.path)


class Interpreter:
    def __init__(self, path, folder):
        self.path, self.folder = path, folder

    def record(self, text, *arguments, check=0, options=(), **env):
        """Runs a text under `venturi run`."""
        (self.folder / "program.py").write_text("import json, os, sys\n" + text)
        recording = self.folder / "out.vt"
        done = run([VENTURI, "run", "-f", "-o", recording, *options, "--", self.path, "program.py", *arguments], check=False, cwd=self.folder,
                   env=environment(**env))
        assert check is None or done.returncode == check, done.stderr[-3000:]
        return Recorded(done, recording)

    def run(self, *command, check=True, **env):
        return run([self.path, *command], check=check, cwd=self.folder, env=environment(**env))


def extension(version):
    """Whether Venturi was built for a Python."""
    return version in PYTHONS and os.path.exists(os.path.join(BUILD, "python", "venturi", "_venturi" + PYTHONS[version][1]))


VERSIONS = sorted(PYTHONS, key=lambda version: int(version.split(".")[1]))


def newest_python(folder):
    """One Python, where the version does not matter."""
    for version in reversed(VERSIONS):
        if extension(version):
            return Interpreter(PYTHONS[version][0], folder)
    pytest.skip("no Python has an extension")
