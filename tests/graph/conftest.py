"""Graphs that C programs run: what they compute, what is recorded of it, and how it ends when something goes wrong."""
import json
import os
import sys

import pytest

sys.path[:0] = [os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", folder) for folder in ("lib", "reader")]
from recorded import BUILD, VENTURI, Run, recorder, run  # noqa: E402

SCENES = os.path.join(BUILD, "tests", "graph", "graph_scenes")


class Graph(Run):
    """A recorded run of graphs."""

    def query(self, sql):
        return json.loads(run([VENTURI, "query", "--json", self.path, sql]).stdout)


@pytest.fixture
def record(tmp_path):
    """record(scene, scheduler, …): runs the program of scenes, recorded."""
    start = recorder(tmp_path, Graph)
    return lambda *arguments, **kw: start(SCENES, *arguments, **kw)
