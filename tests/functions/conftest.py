"""Function profiles as their users meet them. VENTURI names the tool (default: build/venturi).

Interpreters are those on PATH and under ~/.pyenv/versions; tests that need one that is not there are skipped.
"""
import glob
import os
import subprocess

import pytest

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
TOOL = os.path.abspath(os.environ.get("VENTURI", os.path.join(TOP, "build", "venturi")))
KEPT = ("PATH", "HOME", "TMPDIR", "LD_LIBRARY_PATH", "ASAN_OPTIONS", "UBSAN_OPTIONS", "TSAN_OPTIONS")

WORKLOAD = '''
import json, re


def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)


def even(n):
    return n == 0 or odd(n - 1)


def odd(n):
    return n != 0 and even(n - 1)


def numbers():
    for i in range(10):
        yield i


class Step:
    def execute(self):
        return sum(numbers()) + fib(12)


def main():
    Step().execute()
    even(20)
    json.loads(json.dumps({"a": list(range(100))}))
    re.compile("a(b|c)*d").match("abcd")
    sorted(range(50), key=lambda x: -x)
    [f() for f in (lambda: 1, lambda: 2)]


main()
'''


def environment():
    return {**{key: os.environ[key] for key in KEPT if key in os.environ}, "LC_ALL": "C.UTF-8", "TZ": "Asia/Tokyo"}


def interpreters():
    """Version ("3.11") to program, one for each."""
    found = {}
    home = os.path.join(os.environ.get("HOME", "/"), ".pyenv", "versions")
    for path in sorted(glob.glob(os.path.join(home, "*", "bin", "python"))) + ["python3"]:
        try:
            done = subprocess.run([path, "-c", "import sys, pstats; print('%d.%d' % sys.version_info[:2])"],
                                  stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=environment())
        except OSError:
            continue
        if done.returncode == 0:
            found.setdefault(done.stdout.strip(), path)
    return found


PYTHONS = interpreters()
NEW_PYTHONS = [version for version in PYTHONS if version.startswith("3.") and int(version.split(".")[1]) >= 9]


class Venturi:
    """venturi("stats", path) -> CompletedProcess; check=0 asserts the exit code."""

    path = TOOL
    top = TOP

    def __call__(self, *args, check=None, **kw):
        kw.setdefault("text", True)
        kw.setdefault("env", environment())
        done = subprocess.run([TOOL, *map(os.fspath, args)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, timeout=120, **kw)
        if check is not None:
            assert done.returncode == check, (done.returncode, done.stdout, done.stderr)
        return done


@pytest.fixture(scope="session")
def venturi():
    if not os.access(TOOL, os.X_OK):
        pytest.skip("%s is not built" % TOOL)
    return Venturi()


@pytest.fixture(scope="session")
def python():
    """python("3.9", "-c", code) -> what it prints, as text."""
    def run(version, *args, **kw):
        done = subprocess.run([PYTHONS[version], *map(os.fspath, args)], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              text=True, env=environment(), **kw)
        assert done.returncode == 0, done.stderr
        return done.stdout
    return run


@pytest.fixture(scope="session")
def prof(python, tmp_path_factory):
    """prof("3.11") -> a profile of WORKLOAD that cProfile of that version wrote; module="profile" for the other one."""
    folder = tmp_path_factory.mktemp("profiles")
    script = folder / "workload.py"
    script.write_text(WORKLOAD)
    made = {}

    def make(version, module="cProfile", how=("-m", "%(module)s", "-o", "%(path)s", "%(script)s")):
        path = folder / ("%s-%s-%d.prof" % (module, version, len(how)))
        if path not in made:
            words = {"module": module, "path": path, "script": script}
            made[path] = python(version, *[word % words for word in how])
        return path
    return make
