"""Steps in the formats that viewers of timelines read: slices on tracks of their own."""
import collections
import json
import os

import pytest

from conftest import TOOL
from test_export import Perfetto, export, perfetto, query

# Track, name, begin and end in microseconds: those of two threads at once are on two tracks.
SLICES = [("step Classifier", "Classifier", 100, 110), ("step Classifier", "Classifier", 120, 150), ("step Saver", "Saver", 90, 160),
          ("step Saver", "Saver", 170, 171), ("step Saver", "Saver", 180, 700), ("step site 933", "site 933", 200, 201)]
FAILED = {"execution_time": 30e-6, "n_messages": 1, "failed": True, "pre_execute_time": 3e-9, "post_execute_time": 1.5e-6, "produce_time": 0, "queue_time": -250e-9}


@pytest.fixture
def record(venturi, tmp_path):
    """A run of tests/programs/steps, and its recording."""
    def run(*words):
        program = os.path.join(os.path.dirname(TOOL), "tests", "programs", "steps")
        venturi("run", "-q", "-o", tmp_path / "it.vt", "--", program, *words, check=0)
        return tmp_path / "it.vt"
    return run


def chrome_steps(events):
    threads = {(event["pid"], event["tid"]): event["args"]["name"] for event in events if event["name"] == "thread_name"}
    return [(threads[event["pid"], event["tid"]], event) for event in events if event.get("cat") == "step"]


def test_rank_says_what_there_is_instead(venturi, record):
    path = record("plain", "20")
    done = venturi("rank", path)
    assert done.returncode != 0 and done.stderr == "venturi rank: %s: holds no spans, but steps (venturi report shows what they took)\n" % path
    assert "Saver had 30 messages" in venturi("report", path, check=0).stdout


def test_chrome(venturi, make_recording):
    found = chrome_steps(json.loads(export(venturi, make_recording("--steps"), "chrome"))["traceEvents"])
    assert sorted((track, step["name"], step["ts"], step["ts"] + step["dur"]) for track, step in found) == sorted(SLICES)
    assert all(step["ph"] == "X" for _, step in found) and {step["pid"] for _, step in found} == {4711, 4712}
    arguments = {step["ts"]: step["args"] for _, step in found}
    assert arguments[120] == dict(FAILED, extra={"candid": "1524", "n": 2})
    assert arguments[90]["n_messages"] == 500 and arguments[90]["failed"] is False and "extra" not in arguments[90]
    assert arguments[170]["extra"] == "not JSON\n"


def test_perfetto(venturi, make_recording):
    trace = Perfetto(perfetto(venturi, make_recording("--steps")))
    tracks = {uuid: track["name"] for uuid, track in trace.tracks.items() if track.get("name", "").startswith("step ")}
    begins = [event for event in trace.events if event["type"] == 1 and event["track_uuid"] in tracks]
    found = collections.Counter(each[:3] for each in trace.slices)
    assert sorted((tracks[event["track_uuid"]], event["label"], event["time"]) for event in begins) == sorted((track, name, 1000 * begin) for track, name, begin, _ in SLICES)
    assert all(found[name, 1000 * begin, 1000 * end] for _, name, begin, end in SLICES)
    notes = {event["time"]: event["notes"] for event in begins}
    assert notes[120000] == dict(FAILED, extra='"candid":"1524","n":2')
    assert {trace.tracks[trace.tracks[uuid]["parent_uuid"]]["process"]["pid"] for uuid in tracks} == {4711, 4712}


def test_a_range_has_what_reaches_into_it(venturi, make_recording):
    found = chrome_steps(json.loads(export(venturi, make_recording("--steps"), "chrome", "--from", "155us", "--to", "165us"))["traceEvents"])
    assert [step["ts"] for _, step in found] == [90]


def test_a_step_in_several_threads(venturi, record):
    """What a program really did: each message is there once, and no two on a track overlap."""
    path = record("plain", "3000", "4")
    rows = query(venturi, path, "SELECT source, begin_ns, time_ns FROM steps")
    events = json.loads(export(venturi, path, "chrome"))["traceEvents"]
    found = chrome_steps(events)
    assert collections.Counter((step["name"], round(1000 * step["ts"])) for _, step in found) == collections.Counter((row["source"], row["begin_ns"]) for row in rows)
    ends = {}
    for _, step in found:
        at = step["pid"], step["tid"]
        assert step["ts"] >= ends.get(at, 0) - 1e-6
        ends[at] = step["ts"] + step["dur"]
    assert 2 <= len(ends) <= 64


def test_nobody_is_told_that_there_is_nothing(venturi, record):
    path = record("plain", "10")
    assert venturi("export", "-f", "chrome", path, check=0).stderr == ""
    assert "holds no spans, but steps (-f steps, jsonl, chrome or perfetto)" in venturi("export", "-f", "csv", path, check=0).stderr
