"""The hooks of the extension, in every interpreter that Venturi was built for.

VENTURI_BUILD names the build folder (default: build). Each test runs once for each version of Python that is
supported; one that is not here is skipped by name.
"""
import json
import os
import subprocess

import pytest

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(os.path.dirname(HERE))
BUILD = os.path.abspath(os.environ.get("VENTURI_BUILD", os.path.join(TOP, "build")))
KEPT = ("PATH", "HOME", "TMPDIR", "LD_LIBRARY_PATH")


def listed(*options):
    done = subprocess.run([os.path.join(TOP, "tools", "pythons"), *options], capture_output=True, text=True, check=True)
    return done.stdout.splitlines()


PYTHONS = {line.split("\t")[0]: line.split("\t")[1] for line in listed()}
MISSING = {line.split()[1].rstrip(":"): line for line in listed("--missing")}


class Interpreter:
    """One Python. run() runs a program of this folder or a text; result() reads the JSON of its last line."""

    def __init__(self, version, path):
        self.version = tuple(int(number) for number in version.split("."))
        self.path = path

    def run(self, *args, text=None, check=0, env=None, **options):
        command = [self.path] + (["-c", text] if text is not None else [os.path.join(HERE, args[0])] if args else [])
        command += [str(arg) for arg in args[text is None:]]
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120,
                              env=dict({key: os.environ[key] for key in KEPT if key in os.environ},
                                       PYTHONPATH=self.folders(), LC_ALL="C.UTF-8", **(env or {})),
                              **options)
        if check is not None:
            assert done.returncode == check, (done.returncode, done.stdout[-2000:], done.stderr[-4000:])
        return done

    def folders(self):
        """Ours, and what tools/neighbours has fetched for this version."""
        return os.pathsep.join([os.path.join(BUILD, "python"),
                                os.path.join(TOP, "build", "neighbours", "%d.%d" % self.version)])

    def result(self, *args, **options):
        return json.loads(self.run(*args, **options).stdout.splitlines()[-1])

    def needs(self, package):
        """A path with a package from elsewhere on it; the test is skipped if the interpreter has none."""
        if self.run(text="import " + package, check=None).returncode:
            pytest.skip("Python %d.%d has no %s" % (*self.version, package))


@pytest.fixture(params=sorted(set(PYTHONS) | set(MISSING), key=lambda text: int(text.split(".")[1])))
def python(request):
    if request.param in MISSING:
        pytest.skip(MISSING[request.param])
    override = os.environ.get("VENTURI_PYTHON_" + request.param.replace(".", "_"))
    return Interpreter(request.param, override or PYTHONS[request.param])
