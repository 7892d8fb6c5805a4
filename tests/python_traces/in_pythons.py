"""Cases of python_cases/*.py in every Python that there is: the functions test_… of a file run one after the other in one process.

They run without pytest, which not every Python has, beside the real osprofiler, requests and SQLAlchemy that tools/neighbours brings.
"""
import functools
import json
import os
import re
import subprocess
import sys

import pytest

HERE = os.path.dirname(os.path.abspath(__file__))
CASES = os.path.join(HERE, "python_cases")
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "python_run"))

from interpreters import BUILD, PACKAGE, TOP, VERSIONS, python_or_skip  # noqa: E402

VENTURI = os.path.abspath(os.environ.get("VENTURI", os.path.join(BUILD, "venturi")))


def cases(*files):
    """Parameters (version, file, name) of all cases of these files."""
    found = []
    for file in files:
        with open(os.path.join(CASES, file + ".py")) as text:
            names = re.findall(r"^def (test_\w+)", text.read(), re.M)
        for version in VERSIONS:
            for name in names:
                found.append(pytest.param(version, file, name, id=f"{version}-{name[5:]}"))
    return found


def neighbours_or_skip(version, name):
    name = f"{version}-{name}" if name else version
    folder = os.path.join(TOP, "build", "neighbours", name)
    if not os.path.exists(os.path.join(folder, "done")):
        pytest.skip(f"no {name} among the neighbours: run tools/neighbours")
    return folder


def environment(*path, **more):
    env = {key: value for key, value in os.environ.items() if not key.startswith(("VENTURI", "PYTHON", "OS_"))}
    env.update(PYTHONDONTWRITEBYTECODE="1", PYTHONPATH=os.pathsep.join((PACKAGE, CASES) + path), TOOL=VENTURI, **more)
    return env


@functools.lru_cache(maxsize=None)
def outcomes(version, file, neighbours=("trace",), **more):
    """What became of each case of a file: name -> "" or why it failed; and all that the process printed."""
    path = [neighbours_or_skip(version, name) for name in neighbours]
    done = subprocess.run([python_or_skip(version), "-W", "error::ResourceWarning", os.path.join(CASES, "runner.py"), file],
                          capture_output=True, text=True, timeout=300, env=environment(*path, **more))
    lines = [line for line in done.stdout.splitlines() if line.startswith('{"case"')]
    return {said["case"]: said["why"] for said in map(json.loads, lines)}, done.stdout + done.stderr


def check(version, file, name, **more):
    found, output = outcomes(version, file, **more)
    assert name in found, output[-3000:]
    assert not found[name], found[name]
