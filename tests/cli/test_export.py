"""Every format is read back by a reader of its own and compared with what the recording says."""
import collections
import csv
import io
import json
import os
import signal
import subprocess
import sys
import time

import pytest

from conftest import NewRecording, bare_environment
from perfetto_reader import messages

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
        "type": "summary", "events": 157, "spans": 63, "lost_events": 49, "overwritten_events": 0,
        "unknown_blocks": 0, "damaged_ranges": 0}
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
                             "attributes base_id trace_id parent_trace_id").split()
    load, = [row for row in rows if row["name"] == "load alerts"]
    assert (load["begin_ns"], load["duration_ns"], load["pid"], load["thread"], load["depth"]) == (
        "0", "300000", "4711", "main", "1")
    assert json.loads(load["attributes"])["ndet"] == -7
    assert load["base_id"] == load["trace_id"] == load["parent_trace_id"] == ""
    assert [row["error"] for row in rows if row["error"]] == ["ValueError: no detections in \"ZTF\"\n", "failed"]
    assert sum(row["name"] == "x" * 10000 for row in rows) == 1


def test_csv_has_no_formulas(venturi, tmp_path):
    """Text that a spreadsheet would run is quoted; numbers stay numbers, negative ones too."""
    names = ["=cmd|' /C calc'!A0", "+1", "-1", "@SUM(A1)", "\ttab", "\rreturn", "plain", "a=b", "'=quoted", ""]
    w = NewRecording(name="-p")
    events = w.events(0, 1000)
    for number, name in enumerate(names, 1):
        w.site(number, name, file="=file", line=7)
        events.begin(1000 * number, number)
        if number == 1:
            events.error(1000, "@type", "message")
        events.end(1000 * number + 10)
    events.write()
    path = w.save(tmp_path / "x.vt")
    rows = list(csv.DictReader(io.StringIO(venturi("export", "-f", "csv", path, text=False, check=0).stdout.decode(), newline="")))
    guarded = ["'" + name if name and name[0] in "=+-@\t\r" else name for name in names]
    assert [row["name"] for row in rows] == guarded
    assert {row["process"] for row in rows} == {"'-p"} and {row["file"] for row in rows} == {"'=file"}
    assert rows[0]["error"] == "'@type: message" and rows[0]["line"] == "7"
    for name, row in zip(names, lines(venturi, path)[4:]):
        assert row["name"] == name, "only CSV is read by spreadsheets"
    asked = venturi("query", "--csv", path, "SELECT name AS \"=n\", -5 AS less, -0.5 AS half FROM sites LIMIT 2", check=0).stdout
    assert asked == "'=n,less,half\n'=cmd|' /C calc'!A0,-5,-0.5\n'+1,-5,-0.5\n"
    assert "\n'=cmd|' /C calc'!A0," in venturi("rank", "--csv", path, check=0).stdout


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


# Reads a trace from standard input with the protobuf library; exit code 77: it is not there.
WITH_LIBRARY = """
import sys
sys.path.insert(0, sys.argv[1])
from perfetto_reader import library_trace, messages
Trace = library_trace()
if not Trace:
    sys.exit(77)
data = sys.stdin.buffer.read()
trace, own = Trace.FromString(data), messages(data)["packet"]
assert len(trace.packet) == len(own) > 100
for ours, theirs in zip(own, trace.packet):
    assert ours.get("timestamp", 0) == theirs.timestamp
    assert ours.get("track_event", {}).get("name_iid", 0) == theirs.track_event.name_iid
    assert [note.get("string_value", "") for note in ours.get("track_event", {}).get("debug_annotations", [])] == [
        note.string_value for note in theirs.track_event.debug_annotations]
assert trace.SerializeToString() and not trace.packet[0].HasField("track_event")
print("agrees")
"""


@pytest.mark.parametrize("options", [[], ["--tasks", "--steps"]])
def test_perfetto_library_agrees(venturi, make_recording, options):
    """With whichever Python has the library: packages of the system are not those of the Python that runs the tests."""
    tried = []
    for python in dict.fromkeys([sys.executable, "/usr/bin/python3"]):
        if not os.access(python, os.X_OK):
            continue
        done = subprocess.run([python, "-B", "-c", WITH_LIBRARY, os.path.dirname(os.path.abspath(__file__))],
                              input=perfetto(venturi, make_recording(*options)), capture_output=True)
        if done.returncode != 77:
            assert (done.returncode, done.stdout) == (0, b"agrees\n"), done.stderr.decode()
            return
        tried.append(python)
    pytest.skip("the protobuf library is missing in %s: install python3-protobuf" % " and ".join(tried))


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
    assert b"request" in perfetto(venturi, path, "--from", "1.2ms", "--to", "1.3ms")


# ---- ends whose begins are elsewhere ---------------------------------------------------------------

THREAD_SPANS = "SELECT track, name, begin_ns, end_ns FROM spans WHERE finished AND NOT async AND end_ns BETWEEN %d AND %d"
ASYNC_SPANS = "SELECT async_id, name, begin_ns, end_ns FROM spans WHERE finished AND async AND end_ns BETWEEN %d AND %d"


def pairs_of(found):
    """Spans as a reader of jsonl makes them, from their ends alone."""
    return (sorted((e["track"], e["name"], e["begin_ns"], e["time_ns"]) for e in found if e["type"] == "end"),
            sorted((e["id"], e["name"], e["begin_ns"], e["time_ns"]) for e in found if e["type"] == "async_end"))


def spans_between(venturi, path, from_ns, to_ns):
    return tuple(sorted(tuple(row.values()) for row in query(venturi, path, sql % (from_ns, to_ns - 1)))
                 for sql in (THREAD_SPANS, ASYNC_SPANS))


@pytest.mark.parametrize("from_us, to_us", [(0, 3000), (500, 900), (310, 312), (1210, 1300), (790, 1400), (1694, 1800)])
def test_every_end_tells_its_begin(venturi, make_recording, from_us, to_us):
    path = make_recording("--plain")
    found = lines(venturi, path, "--from", "%dus" % from_us, "--to", "%dus" % to_us)
    threads, asyncs = pairs_of(found)
    assert (threads, asyncs) == spans_between(venturi, path, from_us * 1000, to_us * 1000)
    began = {(e["track"], e["name"], e["time_ns"]) for e in found if e["type"] == "begin"}
    for track, name, begin_ns, _ in threads:
        assert ((track, name, begin_ns) in began) == (begin_ns >= from_us * 1000)


@pytest.mark.parametrize("from_us, to_us", [(500, 900), (1210, 1300), (700, 1400)])
def test_every_end_of_a_slice_tells_its_begin(venturi, make_recording, tmp_path, from_us, to_us):
    out = tmp_path / "slice.vt"
    venturi("slice", make_recording("--plain"), "--from", "%dus" % from_us, "--to", "%dus" % to_us, "-o", out, check=0)
    found = lines(venturi, out)
    assert pairs_of(found) == spans_between(venturi, out, 0, 10 ** 9)
    assert {"begin", "end"} <= {line["type"] for line in found}
    # The other formats have whole spans: as many as there are, none without its begin.
    spans = query(venturi, out, "SELECT begin_ns, duration_ns FROM spans WHERE NOT async")
    times = sorted((row["begin_ns"], row["duration_ns"]) for row in spans)
    events = json.loads(export(venturi, out, "chrome"))["traceEvents"]
    assert sorted((round(e["ts"] * 1000), round(e["dur"] * 1000)) for e in events if e["ph"] == "X") == times
    rows = csv.DictReader(io.StringIO(export(venturi, out, "csv")))
    assert len(list(rows)) == query(venturi, out, "SELECT count(*) AS n FROM spans")[0]["n"]


def test_begin_that_was_lost(venturi, tmp_path):
    """A span that began in a gap is known from the stack of the next block; an async one is not."""
    w = NewRecording()
    w.site(1, "work")
    events = w.events(0, 1000, stack=[(1, 400)])
    events.end(1500)
    events.async_end(1600, 7)
    events.write()
    found = lines(venturi, w.save(tmp_path / "x.vt"))
    assert pairs_of(found) == ([(0, "work", 400, 1500)], [(7, None, None, 1600)])


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
    (("x.vt",), "which format? -f FORMATS"),
    (("-f", "pdf", "x.vt"), "--format: 'pdf' is none of FORMATS"),
    (("-f", "csv"), "which FILE? A recording (.vt)"),
    (("-f", "csv", "a", "b"), "one FILE, what is 'b'?"),
    (("-f", "csv", "/none.vt"), "/none.vt: cannot open: No such file or directory")])
def test_usage(venturi, words, message):
    done = venturi("export", *words, check=2)
    assert done.stdout == "" and done.stderr == "venturi export: %s\n" % message.replace("FORMATS", "|".join(venturi.formats()))


@pytest.mark.parametrize("options", [("--from", "x"), ("--from", "2s", "--to", "1s"), ("--from", "9s"),
                                     ("--to", "120%"), ("--from", "-1x")])
def test_bad_ranges(venturi, make_recording, tmp_path, options):
    done = venturi("export", "-f", "csv", *options, make_recording(), "-o", tmp_path / "o", check=2)
    assert done.stderr.count("\n") == 1
    assert os.listdir(tmp_path) == []


def test_list(venturi):
    text = venturi("export", "--list", check=0).stdout
    assert [line.split()[0] for line in text.splitlines()[1:]] == venturi.formats()
    shown = venturi.on_terminal("export", "--list", NO_COLOR="1")[0].decode()
    assert max(map(len, shown.splitlines())) <= 80 and "\u2026" not in text
    narrow = venturi.on_terminal("export", "--list", NO_COLOR="1", columns=60)[0].decode()
    assert max(map(len, narrow.splitlines())) <= 60 and "\u2026" in narrow


def test_terminal_refuses_binary(venturi, make_recording):
    text, code, stderr = venturi.on_terminal("export", "-f", "perfetto", make_recording())
    assert (text, code) == (b"", 2)
    assert stderr == "venturi export: perfetto is binary, not for a terminal: use -o FILE\n"


def test_terminal_is_not_steered(venturi, make_recording):
    for name in ("csv", "jsonl", "chrome"):
        text, code, _ = venturi.on_terminal("export", "-f", name, make_recording())
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


# ---- tasks ---------------------------------------------------------------------------------------

# Run, worker, name, begin and end in microseconds of what make_recording --tasks says; the third worker is of another process.
SLICES = [("run 1, worker 0", "add", 110, 150), ("run 1, second", "mul", 120, 160), ("run 1, worker 0", "add", 160, 200),
          ("run 1, worker 0", "add", 210, 250), ("run 1, second", "mul", 300, 340), ("run 2, worker 1", "mul", 120, 160)]


def test_chrome_has_tasks_on_threads_of_their_workers(venturi, make_recording):
    events = json.loads(export(venturi, make_recording("--tasks"), "chrome"))["traceEvents"]
    threads = {(event["pid"], event["tid"]): event["args"]["name"] for event in events if event["name"] == "thread_name"}
    tasks = [event for event in events if event.get("cat") == "task"]
    assert sorted((threads[task["pid"], task["tid"]], task["name"], task["ts"], task["ts"] + task["dur"])
                  for task in tasks) == sorted(SLICES)
    assert {task["pid"] for task in tasks} == {4711, 4712}
    first, = [task["args"] for task in tasks if task["ts"] == 110]
    assert first == {"key": "('add-1f', 0)", "state": "done", "estimated_cpu_ns": 39000, "bytes": 800}
    assert [task["args"]["action"] for task in tasks if "action" in task["args"]] == ["transfer"]


def test_perfetto_has_tasks_on_tracks_of_their_workers(venturi, make_recording):
    path = make_recording("--tasks")
    trace = Perfetto(perfetto(venturi, path))
    before = Perfetto(perfetto(venturi, make_recording()))
    tasks = list((collections.Counter(found[:3] for found in trace.slices)
                  - collections.Counter(found[:3] for found in before.slices)).elements())
    assert sorted(tasks) == sorted((name, 1000 * begin, 1000 * end) for _, name, begin, end in SLICES)
    assert {"run 1, worker 0", "run 1, second", "run 2, worker 1"} <= {t.get("name") for t in trace.tracks.values()}


def test_a_range_has_the_tasks_that_reach_into_it(venturi, make_recording):
    path = make_recording("--tasks")
    found = [line for line in lines(venturi, path, "--from", "155us", "--to", "205us") if line["type"] == "task"]
    assert sorted((line["begin_ns"], line["name"]) for line in found) == [(120000, "mul"), (120000, "mul"), (160000, "add")]


def test_a_worker_that_does_several_things_at_once(venturi, tmp_path):
    """Slices of a track do not overlap: it gets another track."""
    recording = NewRecording()
    recording.tasks([(0, 100, 300), (1, 200, 400), (2, 300, 350), (3, 250, 260)])
    path = recording.save(tmp_path / "busy.vt")
    events = json.loads(export(venturi, path, "chrome"))["traceEvents"]
    names = {event["tid"]: event["args"]["name"] for event in events if event["name"] == "thread_name"}
    tasks = [(names[e["tid"]], e["args"]["key"]) for e in events if e.get("cat") == "task"]
    assert tasks == [("run 1, worker 0", "#0"), ("run 1, worker 0 (2)", "#1"), ("run 1, worker 0 (3)", "#3"), ("run 1, worker 0", "#2")]
