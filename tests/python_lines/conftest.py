"""Lines of Python functions, with every Python that there is: what `venturi lines --json` says of programs that
`venturi run -l` has run.

VENTURI and VENTURI_BUILD name the tool and the build folder. A version of Python that is not here is skipped by name.
"""
import json
import os
import subprocess
import sys
import textwrap

import pytest

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(os.path.dirname(HERE))
BUILD = os.path.abspath(os.environ.get("VENTURI_BUILD", os.path.join(TOP, "build")))
VENTURI = os.path.abspath(os.environ.get("VENTURI", os.path.join(BUILD, "venturi")))
PACKAGE = os.path.join(BUILD, "python")

sys.path.insert(0, HERE)


def listed(*options):
    done = subprocess.run([os.path.join(TOP, "tools", "pythons"), *options], capture_output=True, text=True, check=True)
    return done.stdout.splitlines()


PYTHONS = {line.split("\t")[0]: line.split("\t")[1] for line in listed()}
MISSING = {line.split()[1].rstrip(":"): line for line in listed("--missing")}
VERSIONS = sorted(set(PYTHONS) | set(MISSING), key=lambda text: int(text.split(".")[1]))


class Lines:
    """A table of lines."""

    def __init__(self, path, *options):
        done = subprocess.run([VENTURI, "lines", "--json", "--raw", *options, str(path)], capture_output=True, text=True,
                              timeout=120)
        assert done.returncode == 0, done.stderr
        self.functions = json.loads(done.stdout)["functions"]

    def of(self, name):
        found = [function for function in self.functions if function["name"] == name]
        assert len(found) == 1, (name, [function["name"] for function in self.functions])
        return found[0]

    def hits(self, name, what="hits"):
        """line, counted from that of the function -> hits; without those of 0."""
        function = self.of(name)
        return {line["line"] - function["line"]: line[what] for line in function["lines"] if line[what]}

    def row(self, name, line):
        function = self.of(name)
        return [row for row in function["lines"] if row["line"] - function["line"] == line][0]

    def names(self):
        return sorted(function["name"] for function in self.functions)


class Runner:
    def __init__(self, version, folder):
        self.version = tuple(int(number) for number in version.split("."))
        self.python = PYTHONS[version]
        self.folder = folder
        self.output = folder / "out.vt"

    def write(self, text, name="script.py"):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(text))
        return path

    def environment(self, **more):
        env = {key: value for key, value in os.environ.items()
               if not key.startswith(("VENTURI", "PYTHON", "LINE_PROFILE"))}
        neighbours = os.path.join(TOP, "build", "neighbours", "%d.%d" % self.version)
        env.update({"PYTHONDONTWRITEBYTECODE": "1", "PYTHONPATH": neighbours, "LC_ALL": "C.UTF-8", **more})
        return env

    def __call__(self, text, *args, options=(), check=0, name="script.py", env=None):
        """Runs a program's text under `run -l`; its table."""
        self.done = self.run([VENTURI, "run", "-q", "-f", "-l", "-o", str(self.output), "--python", self.python, *options,
                              str(self.write(text, name)), *map(str, args)], check, env)
        return Lines(self.output)

    def alone(self, text, *args, check=0, name="script.py", **env):
        """Runs it without the tool, with our package on its path."""
        env.setdefault("PYTHONPATH", os.pathsep.join([PACKAGE, self.environment()["PYTHONPATH"]]))
        return self.run([self.python, str(self.write(text, name)), *map(str, args)], check, env)

    def run(self, command, check, env):
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=300,
                              cwd=self.folder, env=self.environment(**(env or {})))
        assert check is None or done.returncode == check, (done.returncode, done.stdout[-2000:], done.stderr[-4000:])
        return done

    def needs(self, package):
        if self.run([self.python, "-c", "import " + package], None, None).returncode:
            pytest.skip("Python %d.%d has no %s" % (*self.version, package))


@pytest.fixture(params=VERSIONS, ids=["python" + version for version in VERSIONS])
def run(request, tmp_path):
    if request.param in MISSING:
        pytest.skip(MISSING[request.param])
    return Runner(request.param, tmp_path)
