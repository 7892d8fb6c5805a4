"""venturi.dask.record and graphs on a cluster."""
import subprocess

import pytest
from in_dask import FILES, PACKAGE, cases, check, environment, python_or_skip


@pytest.mark.parametrize("version, neighbours, file, name", cases(*FILES))
def test_distributed(version, neighbours, file, name):
    check(version, neighbours, file, name)


def test_without_distributed():
    code = """
import venturi.dask
venturi.dask.Graph, venturi.dask.run_graph
try:
    with venturi.dask.record():
        pass
except ImportError as error:
    print(error)
"""
    done = subprocess.run([python_or_skip("3.12"), "-c", code], capture_output=True, text=True, timeout=60, env=environment(PACKAGE))
    assert "needs dask's clusters" in done.stdout and "pip install distributed" in done.stdout, done.stderr
