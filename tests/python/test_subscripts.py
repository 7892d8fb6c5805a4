"""Calls that subscripts make: Python 3.11.0 to 3.11.3 would make them past our hook."""
import os

import pytest
from conftest import Interpreter, PYTHONS

SYSTEM = "/usr/bin/python3"


def check(python, how):
    """A function that is not recorded, or that cProfile has other numbers for, is named."""
    times = 200
    calls = [times * n for n in (1 + 8 + 1, 4 + 2 + 1, 4 + 1, 1, 1 + 8 + 1)]
    assert python.result("subscripts.py", *how) == [[], calls, [3 * n for n in calls]]


@pytest.mark.parametrize("how", [[], ["warm"]], ids=["cold", "warm"])
def test_every_call_is_counted(python, how):
    check(python, how)


@pytest.mark.parametrize("how", [[], ["warm"]], ids=["cold", "warm"])
def test_every_call_is_counted_by_the_machines_own(how):
    """Debian 12 has 3.11.2, pyenv a later one."""
    python = Interpreter("0.0", SYSTEM)
    version = python.result(text="import sys; print(list(sys.version_info[:2]))") if os.path.exists(SYSTEM) else [0, 0]
    if "%d.%d" % tuple(version) not in PYTHONS:
        pytest.skip("no %s of version 3.9 to 3.13" % SYSTEM)
    check(python, how)
