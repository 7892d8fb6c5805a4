"""Runs the functions of cases/*.py."""
import os
import re
import subprocess

import pytest
from conftest import CASES, environment
from interpreters import PACKAGE, VERSIONS, python_or_skip

# The case gets an empty folder to work in.
DRIVER = """
import runpy, sys
runpy.run_path(sys.argv[1])[sys.argv[2]]()
"""


def names():
    for file in sorted(os.listdir(CASES)):
        if file.endswith(".py"):
            with open(os.path.join(CASES, file)) as text:
                for name in re.findall(r"^def (test_\w+)", text.read(), re.M):
                    yield pytest.param(file, name, id=f"{file[:-3]}-{name[5:]}")


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("file, name", list(names()))
def test_case(version, file, name, tmp_path):
    python = python_or_skip(version)
    done = subprocess.run([python, "-c", DRIVER, os.path.join(CASES, file), name], cwd=tmp_path, capture_output=True,
                          text=True, timeout=120, env=environment(tmp_path, PACKAGE, CASES))
    assert done.returncode == 0, done.stderr
