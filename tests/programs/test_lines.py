"""Lines counted where they run: what a hook reports is what the recording says, whatever becomes of the program."""
import json
import os
import signal
import subprocess

import pytest

from conftest import Recording, Run, program, tool, wait_for
from vtread import read

MS = 1_000_000


@pytest.fixture
def lines(tmp_path):
    """lines(kind, args…) runs tests/programs/lines, which records on its own."""
    def run(*args):
        path = tmp_path / "out.vt"
        done = subprocess.run([program("lines"), *map(str, args)], capture_output=True, text=True, timeout=600,
                              env={**os.environ, "VENTURI_OUTPUT": str(path)})
        finished = Run(done, path)
        wait_for(lambda: closed(path))
        return finished
    return run


def closed(path):
    """The drainer goes on for a moment after the program."""
    done = tool("info", "--json", path, check=False)
    return done.returncode == 0 and json.loads(done.stdout)["closed"]


def counts(recording, kind="line", where="1"):
    """(function, line) -> (events, hits), all threads together."""
    rows = recording.query("SELECT function, line, sum(events) AS events, sum(hits) AS hits FROM lines "
                           f"WHERE kind = '{kind}' AND {where} GROUP BY function, line")
    return {(row["function"], row["line"]): (row["events"], row["hits"]) for row in rows}


def one(recording, function, line, kind="line"):
    row, = recording.query(f"SELECT * FROM lines WHERE function = '{function}' AND line = {line} AND kind = '{kind}'")
    return row


def of_simple(calls, function="f"):
    return {(function, 10): (calls, calls), (function, 11): (3 * calls, 3 * calls), (function, 12): (3 * calls, 0),
            (function, 13): (calls, calls)}


def test_every_line_is_counted(lines):
    run = lines("simple", 1000)
    assert run.code == 0, run.done.stderr
    recording = run.recording
    assert counts(recording) == of_simple(1000)
    assert counts(recording, "statement") == {("f", 11): (0, 3000)}
    assert counts(recording, "function") == {("f", 9): (0, 1000)}
    assert one(recording, "f", 12)["statement"] == 11
    assert recording.lost == 0 and recording.info["unknown_blocks"] == 0


def test_a_function_that_calls_itself_counts_each_moment_once(lines):
    run = lines("recursion", 8)
    recording = run.recording
    calls = run.facts["calls"]
    leaves = (calls + 1) // 2
    inner = calls - leaves
    assert counts(recording) == {("f", 10): (calls, calls), ("f", 11): (2 * inner, inner), ("f", 12): (inner, 0),
                                 ("f", 13): (leaves, leaves)}
    whole = one(recording, "f", 9, "function")["total_ns"]
    statement = one(recording, "f", 11, "statement")["total_ns"]
    first, second = one(recording, "f", 11)["total_ns"], one(recording, "f", 12)["total_ns"]
    assert whole >= statement >= max(first, second) >= leaves / 2 * MS
    assert whole >= leaves * MS
    assert first + second > statement  # they overlap: that is why the statement is timed by itself


def test_the_time_of_a_line_has_that_of_its_callees(lines):
    run = lines("nested", 20)
    recording = run.recording
    assert counts(recording) == {("f", 10): (1, 1), ("f", 11): (20, 20), ("f", 13): (1, 1), ("g", 20): (20, 20),
                                 ("g", 21): (20, 20)}
    assert one(recording, "f", 11)["total_ns"] >= one(recording, "g", 21)["total_ns"] >= 20 * MS
    assert one(recording, "f", 13)["total_ns"] < MS
    known, = read(run.path).lines.values()
    inner = {(line.site == known[min(known)].site, line.line): line.inner for line in known.values()}
    assert inner[True, 11] == 20 * 5  # entering, two lines, leaving, and the event that ends it
    assert inner[False, 21] == 20


def test_suspended_time_is_apart(lines):
    recording = lines("pauses", 10).recording
    assert counts(recording) == {("f", 10): (1, 1), ("f", 11): (1, 1), ("f", 13): (1, 1)}
    line = one(recording, "f", 11)
    statement = one(recording, "f", 11, "statement")
    whole = one(recording, "f", 9, "function")
    for row in (line, statement, whole):
        assert row["resumes"] == 10 and row["suspended_ns"] >= 10 * MS
        assert row["total_ns"] < row["suspended_ns"] / 5
    assert whole["hits"] == 1
    assert statement["max_ns"] < statement["suspended_ns"] / 5


def test_threads_count_apart(lines):
    recording = lines("threads", 8).recording
    assert counts(recording) == of_simple(800)
    tracks = recording.query("SELECT track, sum(events) AS n FROM lines WHERE kind = 'line' GROUP BY track")
    assert [row["n"] for row in tracks] == [800] * 8
    assert recording.query("SELECT count(*) AS n FROM lines WHERE open") == [{"n": 0}]


def test_a_forked_child_goes_on(lines):
    recording = lines("fork").recording
    parent, child = [row["id"] for row in recording.query("SELECT id FROM processes ORDER BY id")]
    assert counts(recording, where=f"process = {parent}") == {("f", 10): (1, 1), ("f", 11): (1, 1), ("f", 13): (1, 1)}
    assert counts(recording, where=f"process = {child}") == {
        ("f", 10): (1, 1), ("f", 11): (4, 4), ("f", 12): (3, 0), ("f", 13): (2, 2)}
    assert counts(recording, "function", f"process = {child}") == {("f", 9): (0, 1)}  # the other one is the parent's


def test_killed_at_a_line(lines):
    run = lines("killed")
    assert run.code == -signal.SIGKILL
    recording = run.recording
    expected = of_simple(100)
    expected["f", 10] = (101, 101)
    expected["f", 11] = (301, 301)
    assert counts(recording) == expected
    for row in (one(recording, "f", 11), one(recording, "f", 11, "statement"), one(recording, "f", 9, "function")):
        assert row["open"] == 1 and row["total_ns"] >= 20 * MS


def test_the_drainer_is_killed(tmp_path):
    """What it had written by then is all that can be there: it writes about once a second."""
    path = tmp_path / "out.vt"
    runner = subprocess.Popen([program("lines"), "stuck"], stdout=subprocess.PIPE, text=True,
                              env={**os.environ, "VENTURI_OUTPUT": str(path)})
    try:
        runner.stdout.readline()
        wait_for(lambda: path.exists() and counts(Recording(path)).get(("f", 11)) == (301, 301))
        drainer = [int(pid) for pid in os.listdir("/proc") if pid.isdigit() and str(path) in command_of(pid)]
        assert len(drainer) == 1
        os.kill(drainer[0], signal.SIGKILL)
    finally:
        runner.kill()
        runner.wait()
    recording = Recording(path)
    assert not recording.info["closed"]
    assert one(recording, "f", 11)["open"] == 1


def command_of(pid):
    try:
        with open(f"/proc/{pid}/cmdline") as file:
            text = file.read()
    except OSError:
        return ""
    return text if "venturi-drain" in text else ""


def test_switched_off_and_on(lines):
    recording = lines("switched").recording
    assert counts(recording) == {("f", 10): (3, 3), ("f", 11): (4, 4), ("f", 12): (3, 0), ("f", 13): (2, 2)}
    assert counts(recording, "function") == {("f", 9): (0, 2)}
    assert one(recording, "f", 13)["total_ns"] < 20 * MS
    assert recording.query("SELECT count(*) AS n FROM lines WHERE open") == [{"n": 0}]


def test_more_lines_than_there_is_room_for(lines):
    run = lines("full")
    recording = run.recording
    counted = sum(events for events, _ in counts(recording).values())
    lost = sum(row["events"] for row in recording.query("SELECT * FROM losses WHERE reason = 'lines full'"))
    functions = recording.query("SELECT count(*) AS n FROM lines WHERE kind = 'function'")[0]["n"]
    assert counted > 400_000
    # A function without a place is lost with the entering of it.
    assert counted + lost == run.facts["events"] + (160 - functions)
    assert recording.lost == lost


@pytest.mark.parametrize("depth", [1000, 300_000])
def test_deep(lines, depth):
    recording = lines("deep", depth).recording
    assert counts(recording) == {("f", 10): (depth, depth), ("f", 13): (depth, depth)}
    assert counts(recording, "function") == {("f", 9): (0, depth)}


def test_deeper_than_there_is_room_for(lines):
    depth = 1 << 21
    recording = lines("deep", depth).recording
    found = counts(recording)
    placed = found["f", 10][0]
    lost = recording.query("SELECT sum(events) AS n FROM losses WHERE reason = 'lines full'")[0]["n"]
    assert found == {("f", 10): (placed, placed), ("f", 13): (placed, placed)}
    assert 1 << 19 < placed < depth
    assert lost == 3 * (depth - placed)  # the entering of each and its two lines
    assert recording.query("SELECT count(*) AS n FROM lines WHERE open") == [{"n": 0}]


def test_calls_that_ended_unseen(lines):
    recording = lines("unseen").recording
    assert counts(recording) == {("f", 10): (1, 1), ("f", 13): (1, 1), ("g", 20): (3, 3)}
    assert counts(recording, "function") == {("f", 9): (0, 1), ("g", 19): (0, 3)}
    assert recording.query("SELECT count(*) AS n FROM lines WHERE open") == [{"n": 0}]
    assert one(recording, "g", 20)["total_ns"] >= 2 * MS
    assert recording.lost == 1  # the row that the function does not have


def test_callees_of_a_line(lines):
    run = lines("callees", 50)
    recording = read(run.path)
    (callees,) = recording.line_callees.values()
    (known,) = recording.lines.values()
    assert {(known[node].line, recording.sites[site].name): (c.calls, c.total) for (node, site), c in callees.items()} == {
        (11, "one"): (50, 50_000), (11, "two"): (100, 50_000)}
    assert one(run.recording, "f", 11)["self_ns"] is not None
    assert one(run.recording, "f", 10)["self_ns"] is None


def test_shortest_longest_and_what_lies_between(lines):
    run = lines("spread")
    row = one(run.recording, "f", 13)
    assert row["hits"] == 12
    assert MS <= row["min_ns"] < 8 * MS and row["max_ns"] >= 10 * MS
    recording = read(run.path)
    (known,) = recording.lines.values()
    (durations,) = recording.line_durations.values()
    node, = [line.id for line in known.values() if line.line == 13]
    assert sum(durations[node].counts.values()) == 12  # the first one too, though it was alone then
    assert sum(sorted(durations[node].counts.values())) >= 3


def test_what_is_taken_back_is_gone(lines):
    run = lines("taken")
    recording = run.recording
    assert run.facts["has_ticks"] == 1
    assert counts(recording) == {("g", 20): (1, 1)}
    assert recording.lost == 2


def test_a_handler_with_lines(lines):
    run = lines("signals", 300_000)
    recording = run.recording
    handled = run.facts["handled"]
    assert handled > 10
    found = counts(recording)
    assert {key: found[key] for key in of_simple(1)} == of_simple(run.facts["calls"])
    assert found["g", 20] == found["g", 21] == (handled, handled)
    assert recording.query("SELECT count(*) AS n FROM lines WHERE open") == [{"n": 0}]


def test_sources_are_stored_once(lines):
    run = lines("gifts")
    assert run.facts == {"first": 0, "again": 0, "large": 1, "wrong": 1, "bad": 1}
    recording = run.recording
    parent, child = [row["id"] for row in recording.query("SELECT id FROM processes ORDER BY id")]
    assert recording.query("SELECT process, file, text FROM sources") == [
        {"process": None, "file": "a.py", "text": "one\n"}, {"process": child, "file": "a.py", "text": "two\n"},
        {"process": None, "file": "b.py", "text": ""}]
    assert recording.query("SELECT process, events FROM losses WHERE reason = 'source too large'") == [
        {"process": parent, "events": 1}]
