"""Cases of python_cases/*.py beside the real dask.distributed that tools/neighbours brings; all of a release in one process, which
shares its clusters."""
import functools
import json
import os
import re
import select
import signal
import subprocess
import sys
import tempfile
import time
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
    return [pytest.param(*release, file, name, id=f"{release[1]}-{file[5:]}-{name[5:]}")
            for file in files for release in RELEASES for name in names_of(file)]


def names_of(file):
    with open(os.path.join(CASES, file + ".py")) as text:
        return re.findall(r"^def (test_\w+)", text.read(), re.M)


def environment(*path, **more):
    env = {key: value for key, value in os.environ.items() if not key.startswith(("VENTURI", "PYTHON", "DASK"))}
    env.update(PYTHONDONTWRITEBYTECODE="1", PYTHONPATH=os.pathsep.join(path), TOOL=VENTURI, PACKAGE=PACKAGE,
               INCLUDE=os.path.join(TOP, "include"), **more)
    return env


def neighbours_of(version, neighbours):
    return os.path.join(TOP, "build", "neighbours", f"{version}-{neighbours}")


class Runner:
    """Cases of one release in one process; a case that hangs is its own failure: the others go on in another process."""

    CASE_SECONDS = 100

    def __init__(self, version, neighbours):
        folder = neighbours_of(version, neighbours)
        self.command = [find(version)[0], os.path.join(CASES, "runner.py")]
        self.env = environment(PACKAGE, CASES, folder, DASK=folder)
        self.outcomes = {}  # (file, name): "" or why it failed
        self.output = ""

    def run(self):
        todo = [(file, name) for file in FILES for name in names_of(file)]
        while todo:
            self.run_some(todo)
            left = [case for case in todo if case not in self.outcomes]
            if left:
                self.outcomes[left[0]] = f"it did not come to an end:\n{self.output[-8000:]}"
            todo = left[1:]
        return self.outcomes

    def run_some(self, todo):
        """Takes outcomes until there are no more, or there is none for long. What the process says of itself then is kept."""
        with tempfile.TemporaryFile("w+", errors="replace") as noise:
            child = subprocess.Popen([*self.command, *map(":".join, todo)], stdout=subprocess.PIPE, stderr=noise, env=self.env,
                                     start_new_session=True)
            try:
                self.take(child)
            finally:
                if child.poll() is None:
                    child.send_signal(signal.SIGUSR1)  # it shows where its threads are
                    time.sleep(2)
                    os.killpg(child.pid, signal.SIGKILL)
                child.wait()
                child.stdout.close()
            noise.seek(0)
            self.output = noise.read()

    def take(self, child):
        lines = b""
        while select.select([child.stdout], [], [], self.CASE_SECONDS)[0]:
            more = os.read(child.stdout.fileno(), 1 << 16)
            *whole, lines = (lines + more).split(b"\n")
            for line in whole:
                if line.startswith(b'{"file"'):
                    said = json.loads(line)
                    self.outcomes[said["file"], said["case"]] = said["why"]
            if not more:
                break
        try:
            child.wait(20)
        except subprocess.TimeoutExpired:
            pass


@functools.lru_cache(maxsize=None)
def running():
    """Futures of the outcomes of all releases that are here, which run at the same time: they wait most of it."""
    pool = ThreadPoolExecutor(len(RELEASES))
    return {release: pool.submit(Runner(*release).run) for release in RELEASES
            if find(release[0])[0] and os.path.exists(os.path.join(neighbours_of(*release), "done"))}


def check(version, neighbours, file, name):
    python_or_skip(version)
    if (version, neighbours) not in running():
        pytest.skip(f"no {version}-{neighbours} among the neighbours: run tools/neighbours")
    why = running()[version, neighbours].result()[file, name]
    if why.startswith("skip: "):
        pytest.skip(why[6:])
    assert not why, why
