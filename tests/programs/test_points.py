"""Every trace point leaves what it says."""
import json

import pytest

from conftest import SANITIZE, tool


def events(path):
    return [json.loads(line) for line in tool("export", "-f", "jsonl", path).stdout.splitlines()]


def test_everything(record):
    run = record("everything")
    assert run.code == 0, run.done.stderr
    recording = run.recording
    assert recording.lost == 0
    spans = recording.spans()
    assert spans == {"main": 1, "attributes": 1, "by hand": 1, "lap 1": 1, "lap 2": 1,
                     "dynamic 0": 3, "dynamic 1": 2, "first": 1, "second": 1}
    assert sum(spans.values()) == run.facts["spans"]
    assert recording.query("SELECT count(*) AS n FROM spans WHERE async")[0]["n"] == run.facts["async"]
    assert recording.query("SELECT count(*) AS n FROM spans WHERE NOT finished")[0]["n"] == 0


def test_one_stop_too_many_does_not_end_the_scope(record):
    recording = record("everything").recording
    ends = {row["name"]: row["end_ns"] for row in recording.query("SELECT name, end_ns FROM spans")}
    assert all(ends["main"] >= end for end in ends.values())


def test_values(record):
    recording = record("everything").recording
    values = {row["key"]: row["value"] for row in recording.query("SELECT key, value FROM attributes")}
    assert values["int"] == -42
    assert values["double"] == 2.5
    assert values["text"] == "zażółć \"quoted\" </script>"
    assert values["empty"] == ""
    assert values["long"] == "x" * 2048
    assert int(values["unsigned"]) in (2**64 - 1, -1)
    counters = recording.query("SELECT name, unit, value FROM counters ORDER BY begin_ns")
    assert [c["value"] for c in counters if c["name"] == "level"] == [0, 1, 2, 3, 4]
    assert [c["value"] for c in counters if c["name"] == "load"] == [0, 0.5, 1, 1.5, 2]
    assert {c["name"]: c["unit"] for c in counters} == {"level": "items", "load": "%"}


def test_errors_and_async_failures(record):
    recording = record("everything").recording
    failed = recording.query("SELECT name, error FROM spans WHERE error IS NOT NULL AND NOT async")
    assert [row["name"] for row in failed] == ["attributes"]
    assert "ValueError" in failed[0]["error"]


def test_lap_shares_one_clock_reading(record):
    recording = record("everything").recording
    at = {row["name"]: row for row in recording.query("SELECT name, begin_ns, end_ns FROM spans")}
    assert at["by hand"]["end_ns"] == at["lap 1"]["begin_ns"]
    assert at["lap 1"]["end_ns"] == at["lap 2"]["begin_ns"]


def test_names_survive_their_library(record, tmp_path):
    from conftest import program
    run = record("unload", program("plugin.so"), 20)
    assert run.code == 0, run.done.stderr
    assert run.recording.spans() == {"main": 1, "in the plugin": 20}


@pytest.mark.skipif(bool(SANITIZE), reason="a sanitizer has its own malloc")
def test_nothing_is_allocated(record):
    """Not by the first trace point of a process or of a thread, nor by any later one."""
    run = record("mallocs")
    assert run.code == 0, run.done.stderr
    assert run.facts["allocations"] == 0
    assert run.recording.spans()["nest"] == 2 * 1001
