"""The package `venturi`: each case runs in every Python that there is, in a process of its own.

The cases are the functions test_… of cases/*.py. They run without pytest, which not every Python has.
"""
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(os.path.dirname(HERE))
CASES = os.path.join(HERE, "cases")
collect_ignore = ["cases"]
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "python_run"))

from interpreters import BUILD  # noqa: E402

VENTURI = os.path.abspath(os.environ.get("VENTURI", os.path.join(BUILD, "venturi")))


def environment(**more):
    env = {key: value for key, value in os.environ.items() if not key.startswith(("VENTURI", "PYTHON"))}
    env.update(PYTHONDONTWRITEBYTECODE="1", **more)
    return env
