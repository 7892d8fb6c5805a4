"""Cases of python_cases/*.py beside the real dask.distributed that tools/neighbours brings; all of a release in one process, which
shares its clusters."""
import functools
import json
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

HERE = os.path.dirname(os.path.abspath(__file__))
CASES = os.path.join(HERE, "python_cases")
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "python_run"))

from interpreters import BUILD, PACKAGE, TOP, find, python_or_skip  # noqa: E402

VENTURI = os.path.abspath(os.environ.get("VENTURI", os.path.join(BUILD, "venturi")))
RELEASES = [("3.12", "dask"), ("3.11", "dask2022")]
FILES = ("case_stream", "case_record", "case_ends", "case_graph")


def cases(*files):
    """Parameters (version, neighbours, file, name) of all cases of these files."""
    found = []
    for file in files:
        with open(os.path.join(CASES, file + ".py")) as text:
            names = re.findall(r"^def (test_\w+)", text.read(), re.M)
        found += [pytest.param(*release, file, name, id=f"{release[1]}-{file[5:]}-{name[5:]}") for release in RELEASES for name in names]
    return found


def environment(*path, **more):
    env = {key: value for key, value in os.environ.items() if not key.startswith(("VENTURI", "PYTHON", "DASK"))}
    env.update(PYTHONDONTWRITEBYTECODE="1", PYTHONPATH=os.pathsep.join(path), TOOL=VENTURI, PACKAGE=PACKAGE,
               INCLUDE=os.path.join(TOP, "include"), **more)
    return env


def neighbours_of(version, neighbours):
    return os.path.join(TOP, "build", "neighbours", f"{version}-{neighbours}")


@functools.lru_cache(maxsize=None)
def running():
    """Futures of the processes of all releases that are here, which run at the same time: they wait most of it."""
    pool = ThreadPoolExecutor(len(RELEASES))
    return {release: pool.submit(run, *release) for release in RELEASES
            if find(release[0])[0] and os.path.exists(os.path.join(neighbours_of(*release), "done"))}


def run(version, neighbours):
    folder = neighbours_of(version, neighbours)
    return subprocess.run([find(version)[0], os.path.join(CASES, "runner.py"), *FILES], capture_output=True, text=True, timeout=300,
                          env=environment(PACKAGE, CASES, folder, DASK=folder))


@functools.lru_cache(maxsize=None)
def outcomes(version, neighbours):
    """What became of each case: (file, name) -> "" or why it failed; and all that the process printed."""
    python_or_skip(version)
    if (version, neighbours) not in running():
        pytest.skip(f"no {version}-{neighbours} among the neighbours: run tools/neighbours")
    done = running()[version, neighbours].result()
    lines = [line for line in done.stdout.splitlines() if line.startswith('{"file"')]
    return {(said["file"], said["case"]): said["why"] for said in map(json.loads, lines)}, done.stdout + done.stderr


def check(version, neighbours, file, name):
    found, output = outcomes(version, neighbours)
    assert (file, name) in found, output[-3000:]
    why = found[file, name]
    if why.startswith("skip: "):
        pytest.skip(why[6:])
    assert not why, why
