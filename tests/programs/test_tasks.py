"""Tasks that a program tells of with venturi/task.h: all of them are in the recording, or counted as lost."""
import json
import subprocess

import pytest
import vtread

from conftest import program, tool

COUNT = 100000


def check_tasks(rows):
    """Each row says what its number says."""
    for row in rows:
        number = row["number"]
        assert row["key"] == f"('k', {number})"
        assert row["name"] == ("mul" if number & 1 else "add")
        assert row["worker"] == f"worker {number % 3}"
        assert row["state"] == "done" and row["action"] == "compute"
        assert row["ready_ns"] <= row["begin_ns"] <= row["end_ns"]
        assert row["bytes"] == number
        assert row["cpu_ns"] == (None if number & 1 else 5)
        assert row["cpu_is_estimated"] == 1 - (number & 1)


@pytest.mark.parametrize("buffer", ["64M", "256k"])
def test_patience_loses_nothing(record, buffer):
    run = record("tasks", "patient", COUNT, options=["--buffer", buffer])
    assert run.code == 0, run.done.stderr
    assert run.facts["lost"] == 0
    recording = run.recording
    assert recording.lost == 0 and recording.info["tasks"] == COUNT and recording.info["task_runs"] == 1
    rows = recording.query("SELECT * FROM tasks")
    assert [row["number"] for row in sorted(rows, key=lambda row: row["number"])] == list(range(COUNT))
    check_tasks(rows)
    assert recording.query("SELECT count(*) AS n FROM task_edges")[0]["n"] == COUNT - 1
    row, = recording.query("SELECT * FROM task_runs")
    assert row["scheduler"] == "threads" and row["planned"] == COUNT and row["workers"] == 3 and row["error"] is None
    assert row["begin_ns"] <= min(row["begin_ns"] for row in rows) and row["end_ns"] >= max(row["end_ns"] for row in rows)


def test_edges_are_those_that_were_told(record):
    recording = record("tasks", "patient", 500).recording
    numbers = {row["task"]: row["number"] for row in recording.query("SELECT task, number FROM tasks")}
    edges = {(numbers[row["task"]], numbers[row["dependency"]]) for row in recording.query("SELECT * FROM task_edges")}
    assert edges == {(i, i - 1) for i in range(1, 500)}


def test_what_is_lost_is_counted(record):
    """Beside spans, which are lost too."""
    run = record("tasks", "greedy", COUNT, options=["--buffer", "256k"])
    assert run.code == 0, run.done.stderr
    recording = run.recording
    lost = run.facts["lost"]
    assert lost > 0, "the buffer was meant to be too small"
    assert recording.info["tasks"] == COUNT - lost
    row, = recording.query("SELECT * FROM task_runs")
    assert row["lost"] == lost and row["tasks"] == COUNT - lost and row["error"] == "given up"
    assert recording.lost == lost + 2 * COUNT - recording.events
    check_tasks(recording.query("SELECT * FROM tasks"))


def test_what_is_lost_is_counted_even_without_room_to_say_so(record):
    run = record("tasks", "stopped", COUNT, options=["--buffer", "256k"])
    assert run.code == 0, run.done.stderr
    recording = run.recording
    lost = run.facts["lost"]
    assert 0 < lost < COUNT
    assert recording.info["tasks"] == COUNT - lost
    row, = recording.query("SELECT * FROM task_runs")
    assert row["end_ns"] is None, "there was meant to be no room"
    assert recording.lost == lost


def test_killed(record):
    run = record("tasks", "killed", COUNT)
    assert run.code == 137 or run.code == -9, run.done.stderr
    recording = run.recording
    assert recording.info["tasks"] == COUNT
    row, = recording.query("SELECT * FROM task_runs")
    assert row["end_ns"] is None
    check_tasks(recording.query("SELECT * FROM tasks"))


def test_fork(record):
    run = record("tasks", "fork", 3000)
    assert run.code == 0, run.done.stderr
    recording = run.recording
    runs = recording.query("SELECT * FROM task_runs ORDER BY begin_ns")
    assert [(row["number"], row["scheduler"], row["tasks"]) for row in runs] == [(1, "threads", 3000), (1, "sync", 3000)]
    assert len({row["process"] for row in runs}) == 2
    check_tasks(recording.query("SELECT * FROM tasks"))


def test_odd_ones(record):
    run = record("tasks", "odd")
    assert run.code == 0, run.done.stderr
    rows = {(row["number"], row["action"]): row for row in run.recording.query("SELECT * FROM tasks")}
    states = [rows[number, "compute"] for number in range(1, 7)]
    assert len({row["state"] for row in states}) == 6
    assert [row["begin_ns"] is None for row in states] == [False, False] + [True] * 4
    assert all(row["freed_ns"] >= row["end_ns"] for row in states[:2])
    assert rows[3, "compute"]["retries"] == 65535
    assert {row["name"] for row in rows.values()} == {"task"} and {row["worker"] for row in rows.values()} == {None}
    assert len([key for key in rows if key[0] == 1]) == 5
    assert ", %d tasks, %d actions, " % (len([key for key in rows if key[1] == "compute"]), run.recording.info["task_actions"]) in run.done.stderr
    assert run.recording.info["task_actions"] == 4
    keys = [rows[10 + i, "compute"]["key"] for i in range(10)]
    assert keys[0] == "#10" and keys[2] == "é" and keys[6].startswith("é" * 1023) and keys[7] == "é" * 1024
    assert keys[8] == "é" * 1024 and keys[9] == "é" * 1024
    missing = run.recording.query("SELECT number, dependencies FROM tasks WHERE number BETWEEN 20 AND 29 ORDER BY number")
    there = set(range(1, 7)) | set(range(10, 30))
    wide = [0, 1, 63, 64, 65, 511, 512, 513, 1025, 300000]
    assert [row["dependencies"] for row in missing] == \
        [len([i for i in there if i < count and i != 20 + at]) for at, count in enumerate(wide)]


def test_without_a_recording():
    done = subprocess.run([program("tasks"), "patient", "1000"], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0 and json.loads(done.stdout) == {"run": 0, "lost": 0}


@pytest.mark.parametrize("is_recorded", [False, True])
def test_clock_in_real_time(record, is_recorded):
    if is_recorded:
        said = record("tasks", "clock").done.stdout
    else:
        said = subprocess.run([program("tasks"), "clock"], capture_output=True, text=True, timeout=60).stdout
    facts = json.loads(said.splitlines()[0])
    assert -1000000 < facts["late"] < 1000000000
    assert abs(facts["back"]) < 1000
    assert abs(facts["earlier"] - 1000000000) < 1000
    assert abs(facts["second"] - 1000000000) < 10000000  # the clock has been looked at for a moment only


def test_flight_recorder_forgets_tasks(record):
    recording = record("tasks", "patient", 6000, 3, 1000, options=["--ring", "1s"]).recording
    forgotten = recording.info["overwritten_events"]
    assert forgotten > 0 and recording.info["tasks"] == 6000 - forgotten > 0
    assert recording.lost == 0 and recording.info["task_runs"] == 1
    numbers = [row["number"] for row in recording.query("SELECT number FROM tasks")]
    assert max(numbers) == 5999 and min(numbers) > 0
    check_tasks(recording.query("SELECT * FROM tasks"))
    read = vtread.read(recording.path).tasks
    assert all(read.needs(*task) == [task[2] - 1] for task in read.tasks), "dependencies are forgotten with their tasks, not before"


def test_merged_and_sliced(record, tmp_path):
    first = record("tasks", "patient", 2000, path=tmp_path / "a.vt")
    second = record("tasks", "fork", 1000, path=tmp_path / "b.vt")
    tool("merge", tmp_path / "a.vt", tmp_path / "b.vt", "-o", tmp_path / "m.vt")
    merged = type(first.recording)(tmp_path / "m.vt")
    assert merged.info["tasks"] == 4000 and merged.info["task_runs"] == 3
    check_tasks(merged.query("SELECT * FROM tasks"))
    assert merged.query("SELECT count(*) AS n FROM task_edges")[0]["n"] == 1999 + 2 * 999
    assert len({row["process"] for row in merged.query("SELECT process FROM task_runs")}) == 3
    whole = second.recording.query("SELECT * FROM tasks ORDER BY begin_ns")
    middle = whole[500]["begin_ns"]
    tool("slice", tmp_path / "b.vt", "--to", f"{middle}ns", "-o", tmp_path / "s.vt")
    sliced = type(first.recording)(tmp_path / "s.vt")
    kept = [row for row in whole if row["begin_ns"] < middle]
    rows = sliced.query("SELECT * FROM tasks ORDER BY begin_ns")
    assert {row["number"] for row in rows} == {row["number"] for row in kept} and len(rows) == len(kept)
    check_tasks(rows)


def test_a_key_that_nobody_told_stays_untold(record, tmp_path):
    """Readers show the number instead; copies must not make a key of it."""
    record("tasks", "odd", path=tmp_path / "a.vt")
    record("tasks", "odd", path=tmp_path / "b.vt")
    tool("merge", tmp_path / "a.vt", tmp_path / "b.vt", "-o", tmp_path / "merged.vt")
    tool("slice", tmp_path / "merged.vt", "--to", "1h", "-o", tmp_path / "sliced.vt")
    for name, copies in ("a", 1), ("merged", 2), ("sliced", 2):
        read = vtread.read(tmp_path / f"{name}.vt")
        keys = [task.key for task in read.tasks.tasks.values()] + [task.key for _, task in read.tasks.actions]
        assert not [key for key in keys if key.startswith("#")]
        assert keys.count("") == copies
