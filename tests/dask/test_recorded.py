"""Tasks of venturi.dask in a recording: keys, names, states, dependencies."""
import json
import os
import subprocess

import pytest
from in_pythons import CASES
from interpreters import BUILD, PACKAGE, VERSIONS, python_or_skip

VENTURI = os.path.abspath(os.environ.get("VENTURI", os.path.join(BUILD, "venturi")))
LOAD = "('load-0123456789abcdef0123456789abcdef', 0)"


def rows(path, query):
    done = subprocess.run([VENTURI, "query", path, query, "--json"], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("version", VERSIONS)
def test_recorded(version, tmp_path):
    path = str(tmp_path / "r.vt")
    environment = {key: value for key, value in os.environ.items() if not key.startswith(("VENTURI", "PYTHON"))}
    done = subprocess.run([VENTURI, "run", "-o", path, python_or_skip(version), os.path.join(CASES, "recorded_program.py")],
                          capture_output=True, text=True, timeout=120, env=dict(environment, PYTHONPATH=PACKAGE, PYTHONDONTWRITEBYTECODE="1"))
    assert done.returncode == 7, done.stderr
    tasks = rows(path, "select run, key, name, state, worker, dependencies from tasks order by run, begin_ns")
    by_run = {}
    for task in tasks:
        by_run.setdefault(task["run"], []).append(task)
    runs = [by_run[run] for run in sorted(by_run)]
    assert len(runs) == 4
    for run in runs[:3]:
        assert {task["key"] for task in run} >= {LOAD, "sum-aggregate-0f", "5"} and len({task["key"] for task in run}) == 4
        assert [task["name"] for task in run[:2]] == ["load", "sum-aggregate"] and {task["name"] for task in run[2:]} == {"neg"}
        assert [task["state"] for task in run] == ["done"] * 4
        assert [int(task["dependencies"]) for task in run] == [0, 1, 1, 1]
    assert sorted((task["key"], task["name"], task["state"]) for task in runs[3]) == [
        ("after", "abs", "skipped"), ("bad", "bad", "failed"), ("before", "len", "done")]
