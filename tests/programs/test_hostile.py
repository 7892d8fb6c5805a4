"""A program that writes nonsense into the memory it shares with its drainer harms only its own recording."""
import pytest

import vtcheck
import vtread
from conftest import SOAK, tool

SEEDS = range(1, 31 if SOAK else 4)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("options", [[], ["--block", "10ms"], ["--ring", "1s"]])
def test_scribbling(record, seed, options):
    run = record("scribble", 60000, seed, options=["--buffer", "256k", *options])
    assert run.code == 5, run.done.stderr
    assert "Sanitizer" not in run.done.stderr and "runtime error" not in run.done.stderr
    assert run.recording.info["closed"]
    tool("report", run.path)
    tool("query", run.path, "SELECT count(*) FROM spans")
    if not options and seed == 1:
        assert vtcheck.problems(vtread.read(run.path)) == []
