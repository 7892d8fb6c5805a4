"""pytest in other interpreters, each with one of the sets of neighbours: all files of a kind in one process, whose tests are looked up."""
import functools
import os
import subprocess
import xml.etree.ElementTree as xml
from concurrent.futures import ThreadPoolExecutor

import pytest
from interpreters import PACKAGE, TOP, VERSIONS, find, python_or_skip

HERE = os.path.dirname(os.path.abspath(__file__))
CASES = os.path.join(HERE, "cases")
SETS = [(version, "dask") for version in VERSIONS] + [("3.11", "dask2022")]
FEW = [SETS[0], *SETS[-2:]]  # each of dask's versions once
OWN = ["dask/tests/test_local.py", "dask/tests/test_callbacks.py", "dask/tests/test_threaded.py", "dask/tests/test_multiprocessing.py",
       "dask/diagnostics/tests/test_profiler.py", "dask/diagnostics/tests/test_progress.py"]
FILES = sorted(file for file in os.listdir(CASES) if file.startswith("test_"))


def folder_of(version, name):
    return os.path.join(TOP, "build", "neighbours", f"{version}-{name}")


def _is_there(version, name):
    return find(version)[0] is not None and os.path.exists(os.path.join(folder_of(version, name), "done"))


def _run(version, name, is_own):
    """{(file, test): ("passed" | "failed" | "skipped", text)}, and all that was printed."""
    folder = folder_of(version, name)
    paths = [os.path.join(folder, file) for file in OWN] if is_own else [os.path.join(CASES, file) for file in FILES]
    options = ["-p", "shim", f"--rootdir={folder}"] if is_own else [f"--rootdir={HERE}"]
    if not is_own and (version, name) not in FEW:
        options += ["-k", "not test_collections or not processes"]  # each worker loads all of dask
    environment = {key: value for key, value in os.environ.items() if not key.startswith(("VENTURI", "PYTEST", "PYTHON"))}
    environment.update(PYTHONDONTWRITEBYTECODE="1", PYTHONPATH=os.pathsep.join((PACKAGE, folder, HERE)))
    read, write = os.pipe()
    with os.fdopen(read, "rb") as report:
        try:
            done = subprocess.Popen(
                [find(version)[0], "-m", "pytest", "-q", "-p", "no:cacheprovider", "-W", "ignore", "-c", os.devnull, f"--junitxml=/dev/fd/{write}",
                 *options, *paths],
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment, pass_fds=(write,), cwd=HERE)
        finally:
            os.close(write)
        with ThreadPoolExecutor(1) as pool:
            text = pool.submit(report.read)  # it may be more than a pipe holds
            try:
                output = done.communicate(timeout=300)[0]
            finally:
                done.kill()
                done.wait()
            return (_cases(text.result()) if text.result() else {}), output


@functools.lru_cache(maxsize=None)
def _running():
    """Futures of all of them, two at a time: they wait for other processes most of it."""
    pool = ThreadPoolExecutor(2)
    asked = [(*one, True) for one in FEW] + [(*one, False) for one in SETS]
    return {one: pool.submit(_run, *one) for one in asked if _is_there(*one[:2])}


def outcomes(version, name, file):
    """{test: ("passed" | "failed" | "skipped", text)} of a file, and all that was printed."""
    python_or_skip(version)
    if not _is_there(version, name):
        pytest.skip(f"no {version}-{name} among the neighbours: run tools/neighbours")
    found, output = _running()[version, name, file in OWN].result()
    stem = os.path.basename(file)[:-3]
    return {test: outcome for (where, test), outcome in found.items() if stem in where.split(".")}, output


def _cases(text):
    found = {}
    for case in xml.fromstring(text).iter("testcase"):
        outcome = "passed", ""
        for part in case:
            if part.tag in ("failure", "error"):
                outcome = "failed", part.text or ""
            elif part.tag == "skipped":
                outcome = "skipped", part.get("message", "")
        found[case.get("classname"), case.get("name")] = outcome
    return found
