"""Messages of steps that a program tells of with venturi/step_record.h: all of them are in the recording, or counted as lost."""
import csv
import io
import json
import subprocess
import time

import pytest

from conftest import Recording, program, tool

COUNT = 60000


def check(rows):
    """Each row says what its number says."""
    for row in rows:
        i = row["execute_ns"]
        assert row["source"] == ("Saver" if i & 1 else "Classifier")
        assert row["prefix"] == ("alerts" if i & 1 else "pipeline")
        assert row["survey"] == (None if i & 1 else "ztf")
        assert row["kind"] == "step" and row["failed"] == (i % 10 == 0) and row["messages"] == i % 5 + 1
        assert row["extra"] == f'"candid":"{i}","n":{i}'
        assert row["received_ns"] <= row["sent_ns"] and row["begin_ns"] <= row["time_ns"]
        if i % 3:
            assert row["pre_ns"] is row["post_ns"] is row["produce_ns"] is row["lag_ns"] is None
        else:
            assert (row["pre_ns"], row["post_ns"], row["produce_ns"]) == (i + 1, i + 2, i + 3)
            assert row["lag_ns"] == (i if i & 1 else -i)


def steps_of(recording):
    return recording.query("SELECT * FROM steps")


def lost_of(recording):
    return recording.query("SELECT coalesce(sum(events), 0) AS n FROM losses WHERE reason = 'no room for steps'")[0]["n"]


def findings(path):
    return {finding["kind"]: finding["text"] for finding in json.loads(tool("report", "--json", path).stdout)["findings"]}


def test_all_are_there(record):
    before = time.time_ns()
    run = record("steps", "plain", COUNT)
    after = time.time_ns()
    assert run.code == 0, run.done.stderr
    rows = steps_of(run.recording)
    assert sorted(row["execute_ns"] for row in rows) == list(range(COUNT))
    check(rows)
    assert [row["number"] for row in rows] == list(range(1, COUNT + 1))
    assert len({row["process"] for row in rows}) == 1
    assert before <= min(row["received_ns"] for row in rows) and max(row["sent_ns"] for row in rows) <= after
    assert run.recording.lost == 0 and run.recording.info["steps"] == COUNT and run.recording.info["lost_steps"] == 0
    assert ", 60.0 k step records, 0 lost" in run.done.stderr


@pytest.mark.parametrize("mode", ["plain", "spans"])
def test_what_is_lost_is_counted(record, mode):
    run = record("steps", mode, 10 * COUNT, options=["--buffer", "256k"])
    assert run.code == 0, run.done.stderr
    recording = run.recording
    rows = steps_of(recording)
    lost = lost_of(recording)
    assert lost > 0, "the buffer was meant to be too small"
    assert len(rows) + lost == 10 * COUNT and recording.info["lost_steps"] == lost
    assert [row["number"] for row in rows] == list(range(1, len(rows) + 1))
    check(rows)
    if mode == "plain":
        assert recording.lost == lost
    else:
        assert recording.events + recording.lost - lost == 2 * 10 * COUNT
    said = findings(run.path)
    assert "of steps were lost for want of room" in said["lost-steps"]
    assert ("losses" in said) == (recording.lost > lost), "those of steps are no events that spans lack"


@pytest.mark.parametrize("policy", [(), ("--block", "1000s")])
def test_it_is_never_waited_for_room(record, policy):
    """Nobody reads, and the session would have others wait: all are put at once."""
    run = record("steps", "stopped", 20 * COUNT, options=["--buffer", "256k", *policy])
    assert run.code == 0, run.done.stderr
    rows = steps_of(run.recording)
    assert 0 < len(rows) < 20 * COUNT
    assert len(rows) + lost_of(run.recording) == 20 * COUNT
    check(rows)


def test_whoever_records_it_dies(record):
    run = record("steps", "orphaned", 20 * COUNT, options=["--buffer", "256k", "--block", "1000s"])
    assert run.code == -9 and run.facts["count"] == 20 * COUNT
    rows = steps_of(run.recording)
    assert len(rows) >= 1
    check(rows)


def test_killed(record):
    run = record("steps", "killed", COUNT)
    assert run.code in (137, -9)
    assert sorted(row["execute_ns"] for row in steps_of(run.recording)) == list(range(COUNT))


def test_fork(record):
    """Numbers of steps hold in the child; what it says is its own."""
    run = record("steps", "fork", 3000)
    assert run.code == 0, run.done.stderr
    rows = run.recording.query("SELECT pid, source, count(*) AS n FROM steps GROUP BY pid, source ORDER BY pid, source")
    assert len({row["pid"] for row in rows}) == 2
    assert sorted((row["source"], row["n"]) for row in rows) == [("Classifier", 1500), ("Classifier", 1500), ("Own", 1500), ("Saver", 1500)]
    numbers = run.recording.query("SELECT process, max(number) AS most, count(*) AS n FROM steps GROUP BY process")
    assert [(row["most"], row["n"]) for row in numbers] == [(3000, 3000)] * 2


def test_odd_ones(record):
    run = record("steps", "odd")
    assert run.code == 0, run.done.stderr
    rows = steps_of(run.recording)
    texts = [row["extra"] for row in rows if row["source"] == "Classifier"]
    lengths = [0, 6, 15, 16, 2047, 2048, 2049, 2880, 10000, 32767, 32768]
    assert [len(text or "") for text in texts] == lengths + [0, 0]
    assert all(json.loads("{%s}" % text) == {"t": "x" * (len(text) - 6)} for text in texts if text)
    others = [row for row in rows if row["source"] == "Saver"]
    assert len(others) == 3
    assert others[0]["kind"] == "metrics" and others[0]["extra"] == '"by":"hand"' and others[0]["execute_ns"] is None
    assert others[1]["extra"] == "no json\n"
    assert others[2]["messages"] == 0 and int(others[2]["execute_ns"]) == 2**64 - 2 and others[2]["received_ns"] == others[2]["sent_ns"]
    report = json.loads(tool("report", "--json", run.path).stdout)
    sums = {row["source"]: row for row in report["steps"]}
    assert sums["Classifier"]["cut"] == 2 and sums["Classifier"]["count"] == 13 and sums["Classifier"]["bad_extra"] == 0
    assert sums["Saver"]["documents"] == 1 and sums["Saver"]["count"] == 2 and sums["Saver"]["bad_extra"] == 1
    text = tool("report", run.path).stdout
    assert "32 KiB" in text and "no JSON" in text


def test_many_steps():
    done = subprocess.run([program("steps"), "many"], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0 and json.loads(done.stdout) == {"made": 4096, "last": 0, "again": 1}


def test_steps_beyond_those_that_there_may_be(record):
    """Their messages are lost, each is counted under a reason of its own, and every place says so: also if the program is killed."""
    run = record("steps", "beyond", 5000)
    assert run.code in (137, -9)
    rows = steps_of(run.recording)
    lost = 5000 + 1 - (4096 - 2)
    assert len(rows) == 4096 - 2 and run.recording.info["lost_steps"] == run.recording.lost == lost
    assert [(row["reason"], row["events"]) for row in run.recording.query("SELECT reason, sum(events) AS events FROM losses GROUP BY reason")] == [
        ("more than 4,096 sources of steps", lost)]
    assert ", 4.09 k step records, %d lost" % lost in run.done.stderr
    assert "venturi: a process had more than 4,096 sources of steps: %d step records of others are lost\n" % lost in run.done.stderr
    assert "--buffer" not in run.done.stderr, "which would not help"
    said = findings(run.path)
    assert said["lost-steps"].startswith("%d records of steps were lost because a process had more than 4,096 sources of steps, " % lost)
    assert "losses" not in said
    assert "more than 4,096 sources of steps" in tool("info", run.path).stdout


def test_without_a_recording():
    done = subprocess.run([program("steps"), "plain", "1000"], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0 and json.loads(done.stdout) == {"count": 1000}


def test_flight_recorder_forgets_steps(record):
    recording = record("steps", "plain", 6000, 3, 1000, options=["--ring", "1s"]).recording
    rows = steps_of(recording)
    forgotten = recording.info["overwritten_events"]
    assert forgotten > 0 and len(rows) == 6000 - forgotten > 0
    assert max(row["number"] for row in rows) == 6000 and min(row["number"] for row in rows) > 1
    check(rows)


def test_report(record):
    run = record("steps", "plain", COUNT)
    report = json.loads(tool("report", "--json", run.path).stdout)
    sums = {row["source"]: row for row in report["steps"]}
    assert set(sums) == {"Classifier", "Saver"} and report["lost_steps"] == 0
    for odd, name in (0, "Classifier"), (1, "Saver"):
        numbers = range(odd, COUNT, 2)
        row = sums[name]
        assert row["count"] == COUNT // 2 and row["messages"] == sum(i % 5 + 1 for i in numbers)
        assert row["failed_count"] == sum(i % 10 == 0 for i in numbers) and row["failed"] == sum(i % 5 + 1 for i in numbers if i % 10 == 0)
        assert (row["execute"]["min"], row["execute"]["max"]) == (numbers[0], numbers[-1])
        assert row["execute"]["sum"] == sum(numbers)
        assert abs(row["execute"]["p50"] - COUNT / 2) < 0.02 * COUNT
        assert row["pre"]["count"] == sum(i % 3 == 0 for i in numbers)
        assert (row["batch"]["min"], row["batch"]["max"]) == (1, 5)
    assert sums["Classifier"]["lag"]["max"] == 0 and sums["Saver"]["lag"]["min"] == 3
    said = findings(run.path)
    assert said["step-failures"] == "Classifier failed for 6.00 k of 90.0 k messages (6.7 %)." and "lost-steps" not in said
    text = tool("report", run.path, env={"COLUMNS": "80", "PATH": "/usr/bin:/bin"}).stdout
    assert "\nSteps\n" in text and "Classifier" in text
    assert all(len(line) <= 80 for line in text.splitlines())


def test_exports(record):
    run = record("steps", "odd")
    rows = steps_of(run.recording)
    lines = [json.loads(line) for line in tool("export", "-f", "jsonl", run.path, "-o", "-").stdout.splitlines()]
    told = [line for line in lines if line["type"] == "step"]
    assert len(told) == len(rows)
    for line, row in zip(told, rows):
        assert all(line[key] == row[key] for key in ("source", "prefix", "survey", "number", "sent_ns", "received_ns", "failed", "messages")
                   if row[key] is not None)
        if row["extra"] == "no json\n":
            assert line["extra"] == row["extra"]
        else:
            assert line["extra"] == json.loads("{%s}" % (row["extra"] or ""))
    assert [line["cut"] for line in told].count(True) == 2
    csv.field_size_limit(1 << 20)
    table = list(csv.DictReader(io.StringIO(tool("export", "-f", "steps", run.path, "-o", "-").stdout)))
    assert [line["source"] for line in table] == [row["source"] for row in rows]
    assert [int(line["sent_ns"]) for line in table] == [row["sent_ns"] for row in rows]
    assert [line["state"] for line in table].count("metrics") == 1
    assert "steps" in tool("export", "-f", "csv", run.path, "-o", "-").stderr


def test_merged_and_sliced(record, tmp_path):
    record("steps", "plain", 2000, path=tmp_path / "a.vt")
    second = record("steps", "fork", 1000, path=tmp_path / "b.vt")
    tool("merge", tmp_path / "a.vt", tmp_path / "b.vt", "-o", tmp_path / "m.vt")
    merged = Recording(tmp_path / "m.vt")
    rows = steps_of(merged)
    assert len(rows) == 4000 and len({row["process"] for row in rows}) == 3
    check([row for row in rows if row["source"] != "Own"])
    keys = ("source", "number", "sent_ns", "received_ns", "extra", "pid")
    whole = {tuple(row[key] for key in keys) for name in ("a.vt", "b.vt") for row in steps_of(Recording(tmp_path / name))}
    assert {tuple(row[key] for key in keys) for row in rows} == whole, "copies tell the same real time"
    rows = second.recording.query("SELECT * FROM steps ORDER BY begin_ns")
    middle = rows[700]["begin_ns"]
    tool("slice", tmp_path / "b.vt", "--to", f"{middle}ns", "-o", tmp_path / "s.vt")
    kept = {tuple(row[key] for key in keys) for row in rows if row["begin_ns"] < middle}
    assert {tuple(row[key] for key in keys) for row in steps_of(Recording(tmp_path / "s.vt"))} == kept
