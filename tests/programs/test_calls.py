"""Calls counted in trees: what a hook reports is what the recording says, whatever becomes of the program."""
import os
import re
import sys

import pytest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "reader"))

import vtread  # noqa: E402


def places(recording, columns="name, calls"):
    return [tuple(row.values()) for row in recording.query(f"SELECT {columns} FROM calls ORDER BY id")]


def sums(recording):
    return {row["name"]: row["n"] for row in
            recording.query("SELECT name, sum(calls) AS n FROM calls GROUP BY name")}


def test_a_function_that_calls_itself(record):
    run = record("calls", "fib", 20)
    assert run.code == 0, run.done.stderr
    recording = run.recording
    assert sums(recording) == {"a": run.facts["calls"]}
    assert len(places(recording)) == 20  # one for each depth
    assert recording.lost == 0
    whole, = recording.query("SELECT total_ns FROM calls WHERE parent IS NULL")
    selves, = recording.query("SELECT sum(self_ns) AS n FROM calls")
    assert abs(whole["total_ns"] - selves["n"]) <= 20


def durations(recording):
    """How many there are, of each function and thread."""
    tracks = vtread.read(recording.path).durations.values()
    return [sum(one.counts.values()) for track in tracks for one in track.values()]


def test_every_call_has_a_duration(record):
    run = record("calls", "fib", 12)
    assert durations(run.recording) == [run.facts["calls"]]


def test_every_call_of_a_killed_program_has_a_duration(record):
    """Those that have ended: all of fib, one of c, none of b."""
    run = record("calls", "killed")
    assert sorted(durations(run.recording)) == [0, 1, run.facts["fib"]]


def test_every_path_is_a_place_of_its_own(record):
    run = record("calls", "paths", 8)
    recording = run.recording
    rows = places(recording, "name, calls, parent")
    assert len(rows) == run.facts["calls"] == (3 ** 8 - 1) // 2
    assert all(calls == 1 for _, calls, _ in rows)
    children = {}
    for name, _, parent in rows:
        children.setdefault(parent, []).append(name)
    assert children.pop(None) == ["a"]
    assert all(sorted(names) == ["a", "b", "c"] for names in children.values())


def test_threads_that_end_leave_their_trees(record):
    run = record("calls", "threads", 300)
    recording = run.recording
    assert recording.info["thread_count"] == 301 or recording.info["thread_count"] == 300
    assert sum(sums(recording).values()) == run.facts["calls"]
    per_thread = recording.query("SELECT track, sum(calls) AS n FROM calls GROUP BY track")
    assert [row["n"] for row in per_thread] == [400] * 300


def test_killed_within_calls(record):
    run = record("calls", "killed")
    recording = run.recording
    rows = recording.query("SELECT name, parent, calls, open, total_ns FROM calls ORDER BY id")
    assert sum(row["calls"] for row in rows if row["name"] == "a") == run.facts["fib"] + 1
    b, = [row for row in rows if row["name"] == "b"]
    c, = [row for row in rows if row["name"] == "c"]
    assert (b["calls"], b["open"]) == (1, 1)
    assert (c["calls"], c["open"]) == (2, 1)
    assert b["total_ns"] >= 20_000_000  # open, and it had slept


def test_a_forked_child_begins_anew(record):
    recording = record("calls", "fork").recording
    rows = recording.query("SELECT process, name, parent, calls FROM calls ORDER BY process, id")
    assert [(row["name"], row["calls"]) for row in rows] == [("a", 1), ("b", 1), ("c", 1)]
    assert rows[2]["parent"] is None and rows[2]["process"] != rows[0]["process"]


def test_longjmp_over_calls(record):
    recording = record("calls", "jump", 50).recording
    assert places(recording, "name, calls, open") == [("a", 1, 0), ("b", 50, 0), ("b", 50, 0), ("c", 50, 0)]


def test_stacks_take_turns(record):
    run = record("calls", "stacks", 40)
    recording = run.recording
    assert sums(recording) == {"a": 1, "b": 40, "c": 80}
    assert not [row for row in places(recording, "open") if row[0]]


def test_ends_without_begins_and_begins_without_ends(record):
    recording = record("calls", "lost").recording
    assert places(recording, "name, parent, calls, open") == [
        ("a", None, 1, 0), ("b", 0, 1, 0), ("c", 1, 1, 0), ("b", None, 1, 0)]


def test_calls_without_a_place_are_counted(record):
    run = record("calls", "full")
    recording = run.recording
    assert run.facts["lost"] > 0
    assert sum(sums(recording).values()) + run.facts["lost"] == run.facts["calls"]
    assert recording.lost == run.facts["lost"]
    reasons = {row["reason"] for row in recording.query("SELECT reason FROM losses")}
    assert reasons == {"call tree full"}


def test_functions_with_equal_names_are_two(record):
    recording = record("calls", "names").recording
    assert sorted(places(recording, "name, line, twin, calls")) == [("a", 1, 0, 2), ("a", 1, 1, 3)]


@pytest.mark.parametrize("kind", ["fib", "paths", "threads"])
def test_nothing_is_counted_while_nobody_records(kind, tmp_path):
    from conftest import program
    import subprocess
    done = subprocess.run([program("calls"), kind, "5"], capture_output=True, text=True, timeout=60, cwd=tmp_path)
    assert done.returncode == 0
    assert not list(tmp_path.iterdir())


def test_merged_recordings_keep_their_trees(record, tmp_path):
    from conftest import Recording, tool
    first = record("calls", "fib", 12, path=tmp_path / "a.vt")
    second = record("calls", "names", path=tmp_path / "b.vt")
    assert (first.code, second.code) == (0, 0)
    tool("merge", first.path, second.path, "-o", tmp_path / "c.vt")
    merged = Recording(tmp_path / "c.vt")
    assert sums(merged) == {"a": first.facts["calls"] + 5}
    # the twin stays one; what both recordings have is one function
    assert sorted({row for row in places(merged, "name, line, twin")}) == [("a", 1, 0), ("a", 1, 1)]


def test_our_cost_is_no_more_than_there_was(record):
    run = record("calls", "dear", 0)
    assert run.code == 0 and ", own cost over 99 %\n" in run.done.stderr, run.done.stderr
    assert run.recording.query("SELECT max(total_ns) AS n FROM calls") == [{"n": 0}]


def test_our_cost_in_a_thread_is_no_more_than_its_time(record):
    """The first thread, which calls nothing, lives longer than the second."""
    run = record("calls", "dear", 1)
    share = re.search(r", own cost (?:below )?([\d.]+) %\n", run.done.stderr)
    assert share and float(share[1]) <= 50, run.done.stderr
