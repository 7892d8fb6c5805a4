"""Signal handlers that interrupt a hook at any point, and leave it for good."""
import time


def test_handlers_that_jump_out_of_calls(compile, record):
    """Calls that were left that way have ended: nothing is nested below them, and no time is made up."""
    began = time.monotonic()
    run = record(compile("handlers.c", "-O1"), 3000)
    took = time.monotonic() - began
    assert run.code == 0, run.done.stderr
    profile = run.profile("--raw")
    outer = profile["outer"]
    assert 0 <= outer["ncalls"] - run.facts["outer"] <= run.facts["jumps"]  # entered, and gone before it counted
    assert outer["pcalls"] == outer["ncalls"]
    assert profile["inner"]["ncalls"] <= 2 * outer["ncalls"]
    assert profile["main"]["cumtime"] <= took
    assert max(row["max"] for row in profile.rows.values()) <= took
