"""pytest in another interpreter, with one of the sets of neighbours; each file runs once, its tests are looked up."""
import functools
import os
import subprocess
import xml.etree.ElementTree as xml

import pytest
from interpreters import PACKAGE, TOP, VERSIONS, python_or_skip

HERE = os.path.dirname(os.path.abspath(__file__))
CASES = os.path.join(HERE, "cases")
SETS = [(version, "dask") for version in VERSIONS] + [("3.11", "dask2022")]


def neighbours_or_skip(version, name):
    folder = os.path.join(TOP, "build", "neighbours", f"{version}-{name}")
    if not os.path.exists(os.path.join(folder, "done")):
        pytest.skip(f"no {version}-{name} among the neighbours: run tools/neighbours")
    return folder


@functools.lru_cache(maxsize=None)
def outcomes(version, name, file, *options):
    """{test: ("passed" | "failed" | "skipped", text)} of a file, and all that was printed."""
    folder = neighbours_or_skip(version, name)
    path = file if os.path.isabs(file) else os.path.join(folder, file)
    environment = {key: value for key, value in os.environ.items() if not key.startswith(("VENTURI", "PYTHON"))}
    environment.update(PYTHONDONTWRITEBYTECODE="1", PYTHONPATH=os.pathsep.join((PACKAGE, folder, HERE)))
    read, write = os.pipe()
    with os.fdopen(read, "rb") as report:
        try:
            done = subprocess.Popen(
                [python_or_skip(version), "-m", "pytest", "-q", "-p", "no:cacheprovider", "-W", "ignore", f"--rootdir={folder}",
                 "-c", os.devnull, f"--junitxml=/dev/fd/{write}", *options, path],
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment, pass_fds=(write,), cwd=HERE)
        finally:
            os.close(write)
        try:
            output = done.communicate(timeout=300)[0]
        finally:
            done.kill()
            done.wait()
        text = report.read()
    return (_cases(text) if text else {}), output


def _cases(text):
    found = {}
    for case in xml.fromstring(text).iter("testcase"):
        outcome = "passed", ""
        for part in case:
            if part.tag in ("failure", "error"):
                outcome = "failed", part.text or ""
            elif part.tag == "skipped":
                outcome = "skipped", part.get("message", "")
        found[case.get("name")] = outcome
    return found
