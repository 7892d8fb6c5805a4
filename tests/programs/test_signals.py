"""Signals inside trace points, on other stacks, and jumps over open spans."""
import pytest

from conftest import SANITIZE


def test_signals_inside_trace_points(record):
    run = record("signals", 1000000, 50)
    assert run.code == 0, run.done.stderr
    recording = run.recording
    spans = recording.spans()
    total = 2 * (1 + run.facts["interrupted"] + run.facts["handled"])
    assert run.facts["handled"] > 100
    assert recording.events + recording.lost == total
    if recording.lost == 0:
        assert spans == {"first": 1, "interrupted": run.facts["interrupted"], "handler": run.facts["handled"]}
        assert recording.query("SELECT count(*) AS n FROM spans WHERE NOT finished")[0]["n"] == 0


def test_jumps(record):
    run = record("jumps", 500)
    assert run.code == 0, run.done.stderr
    recording = run.recording
    spans = recording.spans()
    assert spans == {"main": 1, "round": 500, "deeper": 500, "by hand": 500, "deepest": 500,
                     "after jump": 500, "raise_inside": 500, "after signal": 500}
    depths = {row["name"]: row["d"] for row in
              recording.query("SELECT name, max(depth) AS d FROM spans GROUP BY name")}
    assert depths == {"main": 0, "round": 1, "deeper": 2, "by hand": 3, "deepest": 4,
                      "after jump": 2, "raise_inside": 2, "after signal": 2}
    assert recording.query("SELECT count(*) AS n FROM spans WHERE NOT finished")[0]["n"] == 0


def storm(record, *args, options=()):
    """Runs storm with the smallest buffers; every event is in the file or stated as lost, and spans nest."""
    run = record("storm", *args, options=["--buffer", "256k", *options])
    if run.code == 77:
        pytest.skip("this CPU has no flag that traps after each instruction")
    assert run.code == 0, run.done.stderr
    recording = run.recording
    assert recording.events + recording.lost == 4 * run.facts["pairs"] + 5 * run.facts["handled"]
    depths = {}
    for row in recording.query("SELECT DISTINCT name, depth, parent FROM spans"):
        depths.setdefault(row["name"], set()).add((row["depth"], row["parent"]))
    if recording.lost:
        depths = {"outer": {(0, None)}, "inner": {(1, "outer")}, "handler": set(), "in handler": set(), **depths}  # there may be none of one
    assert depths["outer"] == {(0, None)}
    assert depths["inner"] == {(1, "outer")}
    assert depths["handler"] <= {(0, None), (1, "outer"), (2, "inner")}
    assert depths["in handler"] <= {(1, "handler"), (2, "handler"), (3, "handler")}
    if recording.lost == 0:
        assert recording.spans() == {"outer": run.facts["pairs"], "inner": run.facts["pairs"],
                                     "handler": run.facts["handled"], "in handler": run.facts["handled"]}
        assert recording.query("SELECT count(*) AS n FROM spans WHERE NOT finished")[0]["n"] == 0
    return run


def test_signal_after_every_instruction(record):
    """Between taking a record and looking at the limit, before it, after it: everywhere."""
    run = storm(record, "step", 150)
    if SANITIZE != "thread":
        assert run.facts["handled"] > 40 * run.facts["pairs"], "the trace points were not stepped through"


def test_signal_after_every_instruction_while_losing(record):
    run = storm(record, "step", 300, 40)
    if SANITIZE != "thread":
        assert run.recording.lost > 0, "the drainer was meant to be too late"


def test_signal_after_every_instruction_with_block(record):
    storm(record, "step", 150, options=["--block", "10s"])


def test_so_many_signals_that_buffers_change(record):
    """Under a trace point that has looked at its buffer, taken a record from it or is about to give one back."""
    run = storm(record, "step", 2 if SANITIZE else 8, 0, 3000)
    if SANITIZE != "thread":
        assert run.recording.lost > 0, "the drainer was meant to be too late"


@pytest.mark.parametrize("options", [[], ["--block", "10s"]])
def test_storm_of_signals(record, options):
    pairs = 2000 if SANITIZE else 10000
    run = storm(record, "send", pairs, options=options)
    assert run.facts["handled"] >= pairs / 10
    if options:  # a handler that interrupts a trace point cannot wait: what finds no room there is lost, and counted
        assert run.recording.lost <= run.facts["handled"]


def test_alternate_stack_inside_the_own_one(record):
    run = record("altstack", 200)
    assert run.code == 0, run.done.stderr
    recording = run.recording
    rounds = run.facts["rounds"]
    assert recording.spans() == {"interrupted": rounds, "inside": rounds, "by hand": rounds, "handler": 2 * rounds}
    rows = recording.query("SELECT name, depth, parent, count(*) AS n FROM spans GROUP BY name, depth, parent")
    assert {(row["name"], row["depth"], row["parent"], row["n"]) for row in rows} == {
        ("interrupted", 0, None, rounds), ("inside", 1, "interrupted", rounds), ("by hand", 2, "inside", rounds),
        ("handler", 2, "inside", rounds), ("handler", 3, "by hand", rounds)}
