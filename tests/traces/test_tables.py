"""Spans of traces one by one, in SQL and CSV: own times as in the statistics, and their ids."""
import csv
import io
import json

import pytest
from trace_files import BASE, Span, span_id, venturi, write_recording

MS = 10**6


@pytest.fixture
def recording(tmp_path):
    return write_recording(tmp_path / "x.vt", [
        Span(1, 0, "outer", 0, 50 * MS), Span(2, 1, "left", 5 * MS, 20 * MS), Span(3, 1, "right", 10 * MS, 30 * MS),
        Span(4, 3, "deep", 11 * MS, 60 * MS)])


EXPECTED = {"outer": 25 * MS, "left": 15 * MS, "right": MS, "deep": 49 * MS}


def query(recording, sql):
    return json.loads(venturi("query", "--json", recording, sql).stdout)


def test_own_times_are_those_of_the_statistics(recording):
    rows = query(recording, "SELECT name, self_ns, corrected_self_ns FROM spans")
    assert {row["name"]: row["self_ns"] for row in rows} == EXPECTED
    assert {row["name"]: row["corrected_self_ns"] for row in rows} == EXPECTED
    assert {row["name"]: row["self_ns"] for row in query(recording, "SELECT name, self_ns FROM stats")} == EXPECTED


def test_own_times_in_a_join_and_of_a_part(recording):
    rows = query(recording, "SELECT a.name, b.self_ns FROM spans a JOIN spans b ON a.trace_id = b.parent_trace_id WHERE a.name = 'right'")
    assert rows == [{"name": "right", "self_ns": 49 * MS}]
    assert query(recording, "SELECT self_ns FROM spans WHERE begin_ns < 1") == [{"self_ns": 25 * MS}]


def test_csv_has_own_times_and_ids(recording):
    rows = list(csv.DictReader(io.StringIO(venturi("export", "-f", "csv", recording, "-o", "-").stdout)))
    assert {row["name"]: int(row["self_ns"]) for row in rows} == EXPECTED
    deep, = [row for row in rows if row["name"] == "deep"]
    assert (deep["base_id"], deep["trace_id"], deep["parent_trace_id"]) == (BASE, span_id(4), span_id(3))
