"""fork, vfork, spawn, exec: every process is in the one recording, nothing twice, nothing missing."""
import pytest


@pytest.mark.parametrize("how", ["fork", "raw", "exec", "vfork", "spawn"])
def test_children(record, how):
    run = record("forks", how, 20, 100)
    assert run.code == 0, run.done.stderr
    recording = run.recording
    assert recording.lost == 0
    name = "child" if how in ("fork", "raw") else "work"
    expected = {"parent": 1, name: 2000}
    if how == "exec":
        expected["before exec"] = 2000
    assert recording.spans() == expected
    processes = recording.info["processes"]
    assert len(processes) == {"exec": 41}.get(how, 21)
    assert len({p["pid"] for p in processes}) == 21


def test_children_know_their_parent(record):
    processes = record("forks", "fork", 5, 10).recording.info["processes"]
    parent = min(processes, key=lambda p: p["id"])
    assert all(p["parent_pid"] == parent["pid"] for p in processes if p is not parent)


def test_a_span_open_at_fork_is_the_parents_alone(record):
    recording = record("forks", "fork", 8, 10).recording
    rows = recording.query("SELECT process, count(*) AS n FROM spans WHERE name = 'parent' GROUP BY process")
    assert len(rows) == 1 and rows[0]["n"] == 1


def test_fork_in_a_threaded_program(record):
    run = record("forks", "threaded", 15, 20)
    assert run.code == 0, run.done.stderr
    recording = run.recording
    spans = recording.spans()
    assert spans["child"] == 300
    if recording.lost == 0:
        assert recording.query("SELECT count(*) AS n FROM spans WHERE NOT finished")[0]["n"] == 0


def test_exec_of_itself(record):
    recording = record("forks", "self", 1, 50).recording
    assert recording.spans() == {"before exec": 50, "work": 50}
    assert len(recording.info["processes"]) == 2
    assert len({p["pid"] for p in recording.info["processes"]}) == 1
    assert recording.info["processes"][0]["ended"] == "exec"


def test_many_short_children(record):
    run = record("forks", "fork", 300, 3)
    assert run.recording.spans()["child"] == 900
