"""venturi.energy: each case runs in every Python that there is, in a process of its own, on a machine made of files.

The cases are the functions test_… of cases/*.py. They run without pytest, which not every Python has.
"""
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
CASES = os.path.join(HERE, "cases")
collect_ignore = ["cases"]
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "python_run"))


def environment(folder, *path):
    """Nobody's settings but the test's: HOME is the folder too."""
    env = {key: value for key, value in os.environ.items() if not key.upper().startswith(("VENTURI", "PYTHON", "CODECARBON"))}
    env.update(PYTHONDONTWRITEBYTECODE="1", PYTHONPATH=os.pathsep.join(path), HOME=str(folder))
    return env
