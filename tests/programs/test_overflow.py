"""Full buffers: dropped and counted exactly, waited for, or the oldest given up."""
import json

import pytest

from conftest import Recording, tool, under_tsan


def test_drop_is_counted_exactly(record, tmp_path):
    run = record("counted", tmp_path / "count", 400000, 0, 6, options=["--buffer", "256k"])
    assert run.code == 0, run.done.stderr
    recording = run.recording
    total = run.facts["begins"] + run.facts["ends"]
    assert recording.events + recording.lost == total
    assert recording.lost > 0, "the buffer was meant to be too small"
    assert "lost" in run.done.stderr


def test_losses_have_a_time_range(record, tmp_path):
    recording = record("counted", tmp_path / "count", 400000, 0, 6, options=["--buffer", "256k"]).recording
    rows = recording.query("SELECT reason, events, begin_ns, end_ns FROM losses")
    assert sum(row["events"] for row in rows) == recording.lost
    assert all(row["begin_ns"] <= row["end_ns"] for row in rows)
    assert {row["reason"] for row in rows} == {"buffers full"}


def test_spans_still_nest_after_a_loss(record, tmp_path):
    recording = record("counted", tmp_path / "count", 400000, 0, 6, options=["--buffer", "256k"]).recording
    assert recording.query("SELECT max(depth) AS d FROM spans")[0]["d"] <= 5


def test_blocking_loses_nothing(record, tmp_path):
    run = record("counted", tmp_path / "count", 200000, 0, 6, options=["--buffer", "256k", "--block", "10s"])
    assert run.code == 0, run.done.stderr
    recording = run.recording
    assert recording.lost == 0
    assert recording.events == run.facts["begins"] + run.facts["ends"]


def test_nobody_takes_anything_in(record):
    """A stopped tool is waited for once, not again for every few records."""
    run = record("stalled", "stop", 200000, options=["--buffer", "256k", "--block", "1s"])
    assert run.code == 0, run.done.stderr
    recording = run.recording
    assert recording.lost > 0
    assert recording.events + recording.lost == 2 * run.facts["spans"]


def test_a_dead_tool_is_not_waited_for(record):
    """Its parent, the test, has not looked for it yet: it is a zombie."""
    run = record("stalled", "kill", 200000, options=["--buffer", "256k", "--block", "1000s"])
    assert run.code == -9
    assert run.facts["spans"] == 200000


def test_flight_recorder_keeps_the_end(record, tmp_path):
    run = record("counted", tmp_path / "count", 3000, 1000, 1, options=["--ring", "1s"])
    assert run.code == 0, run.done.stderr
    recording = run.recording
    total = run.facts["begins"] + run.facts["ends"]
    assert 0 < recording.events < total
    rows = recording.query("SELECT sum(events) AS n FROM losses WHERE reason LIKE 'overwritten%'")
    assert recording.events + rows[0]["n"] == total
    first = recording.query("SELECT min(begin_ns) AS t FROM spans")[0]["t"]
    last = recording.query("SELECT max(end_ns) AS t FROM spans")[0]["t"]
    assert 0.5e9 < last - first < 2e9


def test_traces_after_a_loss(record):
    """What is left of traces is right: losses are exact, facts are those of their span, and its parent is the one that was around it."""
    run = record("flood", under_tsan(4000, 20000), 4, 2, options=["--buffer", "256k"])
    assert run.code == 0, run.done.stderr
    recording = run.recording
    assert recording.lost > 0, "the buffer was meant to be too small"
    assert recording.events + recording.lost == run.facts["events"]
    spans = recording.query("SELECT base_id, trace_id, parent_trace_id, finished, "
                            "json_extract(attributes, '$.number') AS number, json_extract(attributes, '$.around') AS around, "
                            "json_extract(attributes, '$.again') AS again FROM spans WHERE trace_id IS NOT NULL")
    assert 1000 < len(spans) < run.facts["spans"]
    assert len({row["trace_id"] for row in spans}) == len(spans)
    assert all(row["number"] == row["again"] for row in spans if row["number"] is not None and row["again"] is not None)
    of = {row["trace_id"]: row for row in spans}
    parents = 0
    for row in spans:
        parent = of.get(row["parent_trace_id"])
        if row["around"] == 0:
            assert row["parent_trace_id"] == row["base_id"] and parent is None
        elif parent and None not in (parent["number"], row["around"]):
            assert (parent["number"], parent["base_id"]) == (row["around"], row["base_id"])
            parents += 1
    assert parents > 1000, "there is something to check"
    # The trees are those of the ids, and what lost its parent is said to have.
    shown = json.loads(tool("trace", "list", "--json", run.path).stdout)
    listed = shown["traces"] if isinstance(shown, dict) else shown
    assert sum(trace["spans"] for trace in listed) == len(spans)


@pytest.mark.parametrize("options", [["--ring", "x"], ["--ring", "0"], ["--block", "-1ms"], ["--buffer", "lots"]])
def test_bad_options(record, options):
    run = record("ends", "return", options=options)
    assert run.code == 2
    assert run.done.stderr.count("\n") == 1


def losses(recording):
    """reason -> events"""
    return {row["reason"]: row["n"] for row in
            recording.query("SELECT reason, sum(events) AS n FROM losses GROUP BY reason")}


def test_nesting_deeper_than_memory(record):
    """The stack of open spans cannot grow: the program goes on, what did not fit is stated."""
    run = record("depth", 1000, "limit")
    assert run.code == 0, run.done.stderr
    recording = run.recording
    assert recording.events + recording.lost == 2 * run.facts["spans"]
    assert losses(recording) == {"stack too deep": recording.lost}
    assert recording.lost > 0
    spans = recording.spans()
    assert spans["first"] == 1 and spans["last"] == 1
    assert recording.query("SELECT depth FROM spans WHERE name = 'last'")[0]["depth"] == 0


def test_nesting_deeper_than_a_file_can_hold(record):
    run = record("depth", 66000)
    assert run.code == 0, run.done.stderr
    recording = run.recording
    assert recording.events + recording.lost == 2 * run.facts["spans"]
    assert losses(recording) == {"stack too deep": 4 * (66000 - 65536)}
