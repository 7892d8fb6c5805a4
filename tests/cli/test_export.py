"""Every format is read back by a reader of its own and compared with what the recording says."""
import collections
import csv
import io
import json
import os
import pty
import signal
import subprocess
import time

import pytest

from conftest import bare_environment
from perfetto_reader import library_trace, messages

START = 1800000000 * 10 ** 9
KINDS = [(), ("--crash",), ("--cut", 100), ("--damage",), ("--no-process",), ("--empty",), ("--unknown",),
         ("--monotonic",), ("--link", 5000000)]


def export(venturi, path, name, *options):
    return venturi("export", "-f", name, *options, path, check=0).stdout


def query(venturi, path, sql):
    return json.loads(venturi("query", "--json", path, sql, check=0).stdout)


def lines(venturi, path, *options):
    return [json.loads(line) for line in export(venturi, path, "jsonl", *options).splitlines()]


# ---- jsonl ---------------------------------------------------------------------------------------

def test_jsonl_facts_and_events(venturi, make_recording):
    found = lines(venturi, make_recording())
    kinds = collections.Counter(line["type"] for line in found)
    assert kinds == {"recording": 1, "host": 1, "process": 2, "track": 3, "site": 25, "loss": 2, "begin": 58, "end": 56,
                     "attribute": 6, "error": 1, "counter": 20, "mark": 1, "async_begin": 5, "async_end": 4,
                     "async_attribute": 5, "gap": 1, "summary": 1}
    assert found[0]["type"] == "recording" and found[-1] == {
        "type": "summary", "events": 157, "spans": 63, "lost_events": 49, "unknown_blocks": 0, "damaged_ranges": 0}
    times = [line["time_ns"] for line in found if "time_ns" in line]
    assert times == sorted(times)


def test_jsonl_values(venturi, make_recording):
    found = lines(venturi, make_recording())
    values = {line["key"]: line["value"] for line in found if line["type"] == "attribute"}
    assert values == {"ndet": -7, "size": 2 ** 64 - 1, "score": 0.1, "object": "ZTF18abc \"x\" \ufffd", "nan": None,
                      "key \"\x01": ""}
    names = [line["name"] for line in found if line["type"] == "site"]
    assert "bell\x07 \x1b[31mred\x1b[0m\r\n\ttab" in names and "</script><b>bold" in names and "x" * 10000 in names
    flags = [(line["type"], key) for line in found for key in ("in_gap", "abandoned", "failed") if line.get(key)]
    assert flags == [("end", "in_gap"), ("async_end", "failed"), ("end", "abandoned")]


@pytest.mark.parametrize("options", KINDS)
def test_every_recording_gives_every_format(venturi, make_recording, options):
    path = make_recording(*options)
    found = lines(venturi, path)
    json.loads(export(venturi, path, "chrome"))
    rows = list(csv.DictReader(io.StringIO(export(venturi, path, "csv"))))
    spans = query(venturi, path, "SELECT count(*) AS n FROM spans")[0]["n"]
    assert len(rows) == spans
    trace = venturi("export", "-f", "perfetto", path, text=False, check=0).stdout
    ends = [p for p in messages(trace)["packet"] if p.get("track_event", {}).get("type") == 2]
    assert len(ends) == spans
    assert found[-1]["damaged_ranges"] == sum(line["type"] == "damage" for line in found)


# ---- csv -----------------------------------------------------------------------------------------

def test_csv(venturi, make_recording):
    path = make_recording()
    rows = list(csv.DictReader(io.StringIO(export(venturi, path, "csv").replace("\r\n", "\n"), newline="")))
    assert list(rows[0]) == ("begin_ns duration_ns self_ns process pid thread tid depth name function file line error "
                             "attributes").split()
    load, = [row for row in rows if row["name"] == "load alerts"]
    assert (load["begin_ns"], load["duration_ns"], load["pid"], load["thread"], load["depth"]) == (
        "0", "300000", "4711", "main", "1")
    assert json.loads(load["attributes"])["ndet"] == -7
    assert [row["error"] for row in rows if row["error"]] == ["ValueError: no detections in \"ZTF\"\n", "failed"]
    assert sum(row["name"] == "x" * 10000 for row in rows) == 1


# ---- chrome --------------------------------------------------------------------------------------

def test_chrome(venturi, make_recording):
    path = make_recording()
    text = export(venturi, path, "chrome")
    assert '"ts":305.000,"dur":20.000' in text
    trace = json.loads(text)
    events = trace["traceEvents"]
    kinds = collections.Counter(event["ph"] for event in events)
    assert kinds == {"M": 10, "X": 58, "b": 5, "e": 5, "C": 20, "i": 4}
    spans = query(venturi, path, "SELECT name, begin_ns, duration_ns FROM spans WHERE NOT async")
    # JSON cannot hold what is no UTF-8, so names are compared by everything else
    assert sorted((round(e["ts"] * 1000), round(e["dur"] * 1000)) for e in events if e["ph"] == "X") == sorted(
        (row["begin_ns"], row["duration_ns"]) for row in spans)
    names = {event["args"]["name"] for event in events if event["name"] == "thread_name"}
    assert {"main", "io"} <= names
    counter = [event for event in events if event["ph"] == "C" and event["name"] == "queue"]
    assert [event["args"] for event in counter][:2] == [{"items": 10}, {"items": 9}]
    assert [e["args"]["error"] for e in events if "error" in e.get("args", {})] == [
        "ValueError: no detections in \"ZTF\"\n", "failed"]
    assert [e["name"] for e in events if e.get("args", {}).get("unfinished")] == ["step", "work", "request"]
    assert trace["otherData"]["lost_events"] == 49
    lost = [e["args"]["events"] for e in events if e["name"] == "events lost"]
    assert lost == [12, 37]


def test_chrome_spans_nest(venturi, make_recording):
    events = json.loads(export(venturi, make_recording(), "chrome"))["traceEvents"]
    threads = collections.defaultdict(list)
    for event in events:
        if event["ph"] == "X":
            threads[event["tid"]].append((round(event["ts"] * 1000), -round(event["dur"] * 1000)))
    assert len(threads) == 3
    for spans in threads.values():
        ends = []
        for begin, duration in sorted(spans):
            while ends and ends[-1] <= begin:
                ends.pop()
            assert not ends or begin - duration <= ends[-1]
            ends.append(begin - duration)


def test_equal_pids_are_told_apart(venturi, make_recording, tmp_path):
    merged = tmp_path / "m.vt"
    venturi("merge", make_recording("--plain"), make_recording("--plain", "--start", 1), "-o", merged, check=0)
    events = json.loads(export(venturi, merged, "chrome"))["traceEvents"]
    pids = [event["pid"] for event in events if event["name"] == "process_name"]
    assert len(pids) == len(set(pids)) == 4
    assert pids[:2] == [4711, 4712] and min(pids[2:]) >= 2 ** 22


# ---- perfetto ------------------------------------------------------------------------------------

class Perfetto:
    """Slices, counters and instants, put together as a viewer does it: by time, then by order in the file."""

    def __init__(self, data):
        self.packets = messages(data)["packet"]
        self.tracks = {}
        names, keys = {}, {}
        events = []
        for packet in self.packets:
            assert packet["trusted_packet_sequence_id"] == 1
            for name in packet.get("interned_data", {}).get("event_names", []):
                names[name["iid"]] = name["name"]
            for name in packet.get("interned_data", {}).get("debug_annotation_names", []):
                keys[name["iid"]] = name["name"]
            if "track_descriptor" in packet:
                self.tracks[packet["track_descriptor"]["uuid"]] = packet["track_descriptor"]
            if "track_event" in packet:
                event = packet["track_event"]
                assert event["track_uuid"] in self.tracks, "a track is described before it is used"
                event["time"] = packet["timestamp"] - START
                event["label"] = names[event["name_iid"]] if "name_iid" in event else event.get("name")
                event["notes"] = {
                    note.get("name") or keys[note["name_iid"]]:
                        next((note[k] for k in note if k.endswith("_value")), None)
                    for note in event["debug_annotations"]}
                events.append(event)
        self.events = sorted(events, key=lambda event: event["time"])
        self.slices = self.match()

    def match(self):
        found, open_ = [], collections.defaultdict(list)
        for event in self.events:
            stack = open_[event["track_uuid"]]
            if event["type"] == 1:
                stack.append(event)
            elif event["type"] == 2:
                begin = stack.pop()
                found.append((begin["label"], begin["time"], event["time"], len(stack), event["notes"]))
        assert not any(open_.values()), "every slice ends"
        return found


def perfetto(venturi, path, *options):
    return venturi("export", "-f", "perfetto", *options, path, text=False, check=0).stdout


def test_perfetto_slices(venturi, make_recording):
    path = make_recording()
    trace = Perfetto(perfetto(venturi, path))
    rows = query(venturi, path, "SELECT s.name, begin_ns, end_ns, CASE WHEN async THEN 0 ELSE depth END AS depth FROM spans s")
    assert sorted(found[:4] for found in trace.slices) == sorted(tuple(row.values()) for row in rows)
    assert sum("error" in found[4] for found in trace.slices) == 2
    assert sorted(found[0] for found in trace.slices if found[4].get("unfinished")) == ["request", "step", "work"]


def test_perfetto_tracks_and_clock(venturi, make_recording):
    trace = Perfetto(perfetto(venturi, make_recording()))
    first = trace.packets[0]
    assert first["sequence_flags"] == 1 and first["trace_packet_defaults"] == {"timestamp_clock_id": 1}
    assert [(clock["clock_id"], clock["timestamp"]) for clock in first["clock_snapshot"]["clocks"]] == [
        (1, START), (6, START)]
    threads = [track["thread"] for track in trace.tracks.values() if "thread" in track]
    assert [(t["pid"], t["tid"], t.get("thread_name")) for t in threads] == [
        (4711, 4711, "main"), (4711, 4715, "io"), (4712, 4712, None)]
    processes = [track["process"] for track in trace.tracks.values() if "process" in track]
    assert [process["process_name"] for process in processes] == ["pipeline", "worker"]
    asyncs = [track for track in trace.tracks.values() if track.get("name") == "request"]
    assert len(asyncs) == 5
    assert {trace.tracks[track["parent_uuid"]]["process"]["pid"] for track in asyncs} == {4711}


def test_perfetto_values(venturi, make_recording):
    trace = Perfetto(perfetto(venturi, make_recording()))
    notes, = [found[4] for found in trace.slices if found[0] == "load alerts"]
    assert notes["ndet"] == -7 and notes["size"] == 2 ** 64 - 1 and notes["score"] == 0.1
    assert notes["object"] == "ZTF18abc \"x\" \ufffd" and notes["nan"] != notes["nan"]
    counters = {track["name"]: track for track in trace.tracks.values() if "counter" in track}
    assert counters["queue"]["counter"] == {"unit_name": "items"} and counters["memory"]["counter"] == {"unit": 3}
    values = [event.get("counter_value", event.get("double_counter_value")) for event in trace.events
              if event["type"] == 4 and event["track_uuid"] == counters["queue"]["uuid"]]
    assert values == list(range(10, 0, -1))
    instants = [(event["label"], event["time"]) for event in trace.events if event["type"] == 3]
    assert instants == [("loaded", 300000), ("events lost", 760000), ("gap", 790000), ("events lost", 810000)]


def test_perfetto_library_agrees(venturi, make_recording):
    Trace = library_trace()
    if not Trace:
        pytest.skip("the protobuf library is not installed")
    data = perfetto(venturi, make_recording())
    trace = Trace.FromString(data)
    own = messages(data)["packet"]
    assert len(trace.packet) == len(own)
    for ours, theirs in zip(own, trace.packet):
        assert ours.get("timestamp", 0) == theirs.timestamp
        assert ours.get("track_event", {}).get("name_iid", 0) == theirs.track_event.name_iid
        assert [note.get("string_value", "") for note in ours.get("track_event", {}).get("debug_annotations", [])] == [
            note.string_value for note in theirs.track_event.debug_annotations]
    assert trace.SerializeToString() and not trace.packet[0].HasField("track_event")


# ---- ranges --------------------------------------------------------------------------------------

def test_range(venturi, make_recording):
    path = make_recording()
    where = "SELECT name, begin_ns, end_ns FROM spans WHERE begin_ns < 900000 AND (end_ns > 500000 OR begin_ns >= 500000)"
    spans = sorted((row["begin_ns"], row["end_ns"]) for row in query(venturi, path, where))
    rows = csv.DictReader(io.StringIO(export(venturi, path, "csv", "--from", "500us", "--to", "0.9ms")))
    assert sorted((int(r["begin_ns"]), int(r["begin_ns"]) + int(r["duration_ns"])) for r in rows) == spans
    trace = Perfetto(perfetto(venturi, path, "--from", "500us", "--to", "0.9ms"))
    assert sorted((found[1], found[2]) for found in trace.slices) == spans
    events = [line for line in lines(venturi, path, "--from", "500us", "--to", "900us") if "time_ns" in line]
    assert {500000 <= line["time_ns"] < 900000 for line in events} == {True}


def test_async_span_that_covers_the_range(venturi, make_recording):
    """It begins before and ends after, and no async event lies in between."""
    path = make_recording()
    for name in ("csv", "chrome"):
        assert "request" in export(venturi, path, name, "--from", "1.2ms", "--to", "1.3ms")


# ---- output --------------------------------------------------------------------------------------

def test_output_file(venturi, make_recording, tmp_path):
    out = tmp_path / "out.csv"
    done = venturi("export", make_recording(), "-o", out, check=0)
    assert done.stdout == "" and done.stderr == ""
    assert out.read_text() == export(venturi, make_recording(), "csv")
    again = venturi("export", make_recording("--plain"), "-o", out, check=2)
    assert again.stderr == "venturi export: %s: already exists (use --force to replace it)\n" % out
    assert out.read_text() == export(venturi, make_recording(), "csv")
    venturi("export", make_recording("--plain"), "-o", out, "--force", check=0)
    assert out.read_text() == export(venturi, make_recording("--plain"), "csv")
    assert os.listdir(tmp_path) == ["out.csv"]


@pytest.mark.parametrize("words, message", [
    (("x.vt",), "which format? -f chrome|perfetto|csv|jsonl"),
    (("-f", "pdf", "x.vt"), "--format: 'pdf' is none of chrome|perfetto|csv|jsonl"),
    (("-f", "csv"), "which FILE? A recording (.vt)"),
    (("-f", "csv", "a", "b"), "one FILE, what is 'b'?"),
    (("-f", "csv", "/none.vt"), "/none.vt: cannot open: No such file or directory")])
def test_usage(venturi, words, message):
    done = venturi("export", *words, check=2)
    assert done.stdout == "" and done.stderr == "venturi export: %s\n" % message


@pytest.mark.parametrize("options", [("--from", "x"), ("--from", "2s", "--to", "1s"), ("--from", "9s"),
                                     ("--to", "120%"), ("--from", "-1x")])
def test_bad_ranges(venturi, make_recording, tmp_path, options):
    done = venturi("export", "-f", "csv", *options, make_recording(), "-o", tmp_path / "o", check=2)
    assert done.stderr.count("\n") == 1
    assert os.listdir(tmp_path) == []


def test_list(venturi):
    text = venturi("export", "--list", check=0).stdout
    assert [line.split()[0] for line in text.splitlines()[1:]] == ["chrome", "perfetto", "csv", "jsonl"]


def on_terminal(venturi, *args):
    """What the tool writes to a terminal, its exit code, and its stderr."""
    master, slave = pty.openpty()
    child = subprocess.Popen([venturi.path, *map(str, args)], stdin=slave, stdout=slave, stderr=subprocess.PIPE,
                             env=bare_environment(TERM="xterm"))
    os.close(slave)
    text = b""
    while True:
        try:
            piece = os.read(master, 65536)
        except OSError:
            break
        if not piece:
            break
        text += piece
    os.close(master)
    stderr = child.stderr.read().decode()
    return text, child.wait(), stderr


def test_terminal_refuses_binary(venturi, make_recording):
    text, code, stderr = on_terminal(venturi, "export", "-f", "perfetto", make_recording())
    assert (text, code) == (b"", 2)
    assert stderr == "venturi export: perfetto is binary, not for a terminal: use -o FILE\n"


def test_terminal_is_not_steered(venturi, make_recording):
    for name in ("csv", "jsonl", "chrome"):
        text, code, _ = on_terminal(venturi, "export", "-f", name, make_recording())
        assert code == 0 and text
        assert b"\x1b" not in text and b"\x07" not in text and "\u202e".encode() not in text


def test_interrupted_leaves_nothing(venturi, make_recording, tmp_path):
    path = make_recording("--plain", "--spans", 300000)
    child = subprocess.Popen([venturi.path, "export", "-f", "jsonl", path, "-o", tmp_path / "out"],
                             env=bare_environment(), stderr=subprocess.PIPE)
    end = time.monotonic() + 60
    while not os.listdir(tmp_path) and child.poll() is None and time.monotonic() < end:
        time.sleep(0.005)
    child.send_signal(signal.SIGINT)
    child.communicate(timeout=60)
    if child.returncode == 0:
        pytest.skip("it was done before the signal came")
    assert child.returncode == -signal.SIGINT
    assert os.listdir(tmp_path) == []


def test_reader_that_leaves_early(venturi, make_recording):
    done = subprocess.run(["sh", "-c", '"$0" export -f jsonl "$1" | head -n 1', venturi.path,
                           str(make_recording("--plain", "--spans", 300000))],
                          capture_output=True, text=True, env=bare_environment(), timeout=60)
    assert done.stdout.startswith('{"type":"recording"') and done.stderr == ""


def test_full_disk(venturi, make_recording):
    if not os.path.exists("/dev/full"):
        pytest.skip("no /dev/full")
    done = venturi("export", "-f", "csv", make_recording(), "-o", "/dev/full", check=2)
    assert done.stderr.startswith("venturi export: /dev/full: cannot write: No space left on device")
