"""Cases of cases/*.py, beside each dask that tools/neighbours brings: the functions test_… of a file run one after the other in one process."""
import functools
import json
import os
import re
import subprocess

import pytest
from interpreters import BUILD, PACKAGE, TOP, VERSIONS, python_or_skip

CASES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "cases")
VENTURI = os.path.abspath(os.environ.get("VENTURI", os.path.join(BUILD, "venturi")))
SETS = [(version, "dask") for version in VERSIONS] + [("3.11", "dask2022")]  # an interpreter, and what stands beside it
FEW = [SETS[0], *SETS[-2:]]  # for what takes long: the oldest and the newest Python, and the oldest dask


def cases(file, sets=SETS):
    """Parameters (set, file, name) of all cases of a file."""
    with open(os.path.join(CASES, file + ".py")) as text:
        names = re.findall(r"^def (test_\w+)", text.read(), re.M)
    return [pytest.param(one, file, name, id="-".join((*one, name[5:]))) for one in sets for name in names]


def neighbour_or_skip(version, name):
    folder = os.path.join(TOP, "build", "neighbours", f"{version}-{name}")
    if not os.path.exists(os.path.join(folder, "done")):
        pytest.skip(f"no {version}-{name} among the neighbours: run tools/neighbours")
    return folder


def environment(*path, **more):
    env = {key: value for key, value in os.environ.items() if not key.startswith(("VENTURI", "PYTHON", "DASK"))}
    env.update(PYTHONDONTWRITEBYTECODE="1", PYTHONPATH=os.pathsep.join((PACKAGE, CASES) + path), TOOL=VENTURI,
               PAGES=os.path.join(TOP, "tests", "page"), **more)
    return env


@functools.lru_cache(maxsize=None)
def outcomes(one, file):
    """What became of each case of a file: name -> "" or why it failed; and all that the process printed."""
    version, *neighbours = one
    path = [neighbour_or_skip(version, name) for name in neighbours if name]
    done = subprocess.run([python_or_skip(version), os.path.join(CASES, "runner.py"), file], capture_output=True, text=True, timeout=120,
                          env=environment(*path))
    lines = [line for line in done.stdout.splitlines() if line.startswith('{"case"')]
    return {said["case"]: said["why"] for said in map(json.loads, lines)}, done.stdout + done.stderr


def check(one, file, name):
    found, output = outcomes(one, file)
    assert name in found, output[-3000:]
    assert not found[name], found[name]
