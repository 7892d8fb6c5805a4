"""The example of the documentation."""
import os
import re
import subprocess

from in_daskset import VERSIONS, environment, neighbour_or_skip
from interpreters import TOP, python_or_skip
from page_reader import Page


def test_graph_dask(tmp_path):
    version = VERSIONS[-1]
    done = subprocess.run([python_or_skip(version), os.path.join(TOP, "examples", "graph_dask.py"), "page.html"], cwd=tmp_path, capture_output=True,
                          text=True, timeout=120, env=environment(neighbour_or_skip(version, "dask")))
    assert done.returncode == 0, done.stderr
    count = int(re.match(r"(\d+) tasks; the first is", done.stdout).group(1))
    assert "largest difference of both: 0\n" in done.stdout and "100% Completed" in done.stdout
    page = Page((tmp_path / "page.html").read_text())
    assert page.table("tasks").rows == count and page.table("task_runs").rows == 1
