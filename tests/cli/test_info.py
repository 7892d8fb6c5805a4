"""What info says about good, cut off and damaged recordings."""
import json

import pytest

from conftest import NewRecording


def ring(folder):
    """What `run --ring` leaves that also lost a few events."""
    w = NewRecording()
    w.site(1, "work")
    w.loss(4, 1000, first=0, last=9000)
    w.loss(1, 3, process=0, track=0, first=20000, last=30000)
    events = w.events(0, 10000)
    events.begin(10000, 1)
    events.end(11000)
    events.write()
    return w.save(folder / "ring.vt")


def info(venturi, path, **kw):
    return json.loads(venturi("info", "--json", path, check=0, **kw).stdout)


def test_json_has_everything(venturi, make_recording):
    found = info(venturi, make_recording())
    assert found["closed"] is True
    assert found["start"] == "2027-01-15T08:00:00.000000000Z"
    assert found["command"] == "./pipeline --input 'alerts “1”.avro'"
    assert (found["events"], found["spans"], found["lost_events"], found["sliced_events"]) == (157, 58, 49, 0)
    assert found["bytes_per_event"] == pytest.approx(found["bytes"] / 157)
    assert (found["clock"], found["ticks_per_ns"]) == ("tsc", 2.5)
    assert (found["process_count"], found["thread_count"], found["site_count"]) == (2, 3, 25)
    assert [host["name"] for host in found["hosts"]] == ["alpha"]
    first, second = found["processes"]
    assert (first["pid"], first["name"], first["ended"], first["status"]) == (4711, "pipeline", "exit", 0)
    assert (second["pid"], second["parent"], second["ended"], second["status"]) == (4712, 0, "signal", 11)
    assert (first["threads"], first["events"]) == (2, 115)
    assert (first["pair_ns"], first["inner_ns"]) == (20, 8)
    assert [thread["name"] for thread in found["threads"]] == ["main", "io", ""]
    assert found["damage"] == []


def test_losses_are_added_up(venturi, make_recording):
    loss, = info(venturi, make_recording())["losses"]
    assert loss == {"reason": "buffers full", "events": 49, "lower_bound": True, "gaps": 2, "process": 0, "thread": 1,
                    "begin_ns": 760000, "end_ns": 830000}


def test_text_fits_80_columns(venturi, make_recording):
    text = venturi("info", make_recording(), env={"COLUMNS": "80", "TZ": "UTC"}, check=0).stdout
    lines = [line for line in text.splitlines() if not line.startswith("file")]
    assert max(map(len, lines)) <= 80
    assert "recorded    2027-01-15 08:00:00, 2.77 ms" in lines
    assert "lost        49 events" in lines
    assert any(line.split()[:1] == ["4712"] and "SIGSEGV" in line for line in lines)
    assert "\x1b" not in text


def test_not_closed(venturi, make_recording):
    done = venturi("info", make_recording("--crash"), check=0)
    assert "not closed" in done.stdout
    assert done.stderr == ""
    assert info(venturi, make_recording("--crash"))["events"] == 157


def test_damage_is_named(venturi, make_recording):
    path = make_recording("--damage")
    done = venturi("info", "--json", path, check=0)
    damage, = json.loads(done.stdout)["damage"]
    assert damage["what"] == "block checksum differs"
    assert 64 < damage["begin_offset"] < damage["end_offset"]
    assert done.stderr == ("venturi info: warning: %s: bytes %d to %d are damaged: block checksum differs; "
                           "this is about the rest\n" % (path, damage["begin_offset"], damage["end_offset"]))
    assert "block checksum differs" in venturi("info", path, check=0).stdout
    assert json.loads(done.stdout)["events"] == 141


def test_cut_off(venturi, make_recording):
    found = info(venturi, make_recording("--cut", 100))
    assert found["closed"] is False
    assert found["damage"][0]["what"] == "cut off in the middle of a block"
    assert found["damage"][0]["end_offset"] == found["bytes"]


def test_end_that_nobody_saw(venturi, make_recording):
    """A status is told only of what has ended."""
    assert [(p["ended"], p["status"]) for p in info(venturi, make_recording("--cut", 600))["processes"]] == [
        ("unknown", None), ("unknown", None)]
    assert [(p["ended"], p["status"]) for p in info(venturi, make_recording())["processes"]] == [
        ("exit", 0), ("signal", 11)]


def test_command(venturi, tmp_path):
    """That of `venturi run`, else that of the first process: programs that record by themselves have no other."""
    w = NewRecording(command="./program\0--input\0a b")
    w.site(1, "work")
    path = w.save(tmp_path / "alone.vt")
    assert "command     ./program --input 'a b'\n" in venturi("info", path, check=0).stdout
    w = NewRecording(command="./child")
    w.meta(command="./parent\0x")
    assert "command     ./parent x\n" in venturi("info", w.save(tmp_path / "run.vt"), check=0).stdout


def test_what_a_ring_gave_up_is_not_lost(venturi, make_recording, tmp_path):
    path = ring(tmp_path)
    found = info(venturi, path)
    assert (found["lost_events"], found["overwritten_events"]) == (3, 1000)
    text = venturi("info", path, check=0).stdout
    assert "lost        3 events\n" in text
    assert "ring        kept the end only, as asked: 1000 events gave way\n" in text
    trust = json.loads(venturi("report", "--json", path, check=0).stdout)["trust"]
    assert (trust["lost_events"], trust["overwritten_events"]) == (3, 1000)
    text = venturi("report", path, check=0).stdout
    assert "trust: 3 events lost (buffers full), kept the end only, as asked: 1000 events gave way, " in text
    done = venturi("rank", path, check=0)
    assert "warning: %s: kept the end only, as asked: 1000 events gave way\n" % path in done.stderr
    assert "events lost while recording: 3\n" in done.stderr
    assert json.loads(venturi("rank", "--json", path).stdout)["overwritten_events"] == 1000
    for name in ("chrome", "jsonl"):
        text = venturi("export", "-f", name, path, check=0).stdout
        assert '"lost_events":3,"overwritten_events":1000' in text
    done = venturi("merge", path, make_recording("--plain"), "-o", tmp_path / "merged.vt", check=0)
    assert ", %d lost\n" % (3 + 49) in done.stderr


def test_unknown_blocks_are_counted(venturi, make_recording):
    assert info(venturi, make_recording("--unknown"))["unknown_blocks"] == 1
    assert "1 block of a kind" in venturi("info", make_recording("--unknown"), check=0).stdout


def test_empty(venturi, make_recording):
    found = info(venturi, make_recording("--empty"))
    assert (found["events"], found["bytes_per_event"], found["processes"]) == (0, None, [])
    venturi("info", make_recording("--empty"), check=0)


def test_linked_host(venturi, make_recording):
    hosts = info(venturi, make_recording("--link", 5000000))["hosts"]
    assert [(host["name"], host["offset_ns"], host["error_ns"]) for host in hosts] == [
        ("alpha", 0, 0), ("linked", 5000000, 250)]


@pytest.mark.parametrize("contents, reason", [
    (b"", "not a Venturi recording"), (b"x" * 100, "not a Venturi recording"), (b"\x89VT\r\n\x1a\n", "not a Venturi")])
def test_no_recording(venturi, tmp_path, contents, reason):
    path = tmp_path / "bad.vt"
    path.write_bytes(contents)
    done = venturi("info", path, check=2)
    assert done.stdout == ""
    assert done.stderr.startswith("venturi info: %s: " % path) and reason in done.stderr
    assert done.stderr.count("\n") == 1


def test_nothing_usable(venturi, make_recording, tmp_path):
    path = tmp_path / "bad.vt"
    path.write_bytes(make_recording().read_bytes()[:64] + b"\x55" * 4000)
    for command in ("info", "report"):
        done = venturi(command, path, check=2)
        assert done.stderr == "venturi %s: %s: nothing in it can be read: bytes 64 to 4064: not a block\n" % (command, path)


@pytest.mark.parametrize("words", [(), ("a", "b")])
def test_usage(venturi, words):
    done = venturi("info", *words, check=2)
    assert done.stdout == "" and done.stderr.count("\n") == 1
