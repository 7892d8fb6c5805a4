"""fork, vfork, spawn, exec: every process is in the one recording, nothing twice, nothing missing."""
import os
import signal

import pytest

from conftest import Recording, program, tool


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
    # Two threads fill buffers as fast as they can: where nobody takes them in meanwhile, what finds no room is stated.
    assert spans["child"] + recording.lost // 2 >= 300 >= spans["child"]
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


@pytest.mark.parametrize("options", [[], ["-q"]], ids=["plain", "quiet"])
def test_a_child_that_outlives_the_program_is_missing(tmp_path, options):
    """A recording must not claim to be whole when a process went on without it."""
    path, ready = tmp_path / "out.vt", tmp_path / "ready"
    script = f"{program('counted')} {tmp_path}/count 100000 100 >/dev/null 2>&1 & echo $! > {ready}; sleep 0.5"
    done = tool("run", *options, "-o", path, "--", "sh", "-c", script)
    os.kill(int(ready.read_text()), signal.SIGKILL)
    assert "1 process went on after the program ended, unrecorded" in done.stderr
    assert "limits" not in done.stderr
    found = Recording(path)
    assert found.info["missing_processes"] == 1
    assert [(row["reason"], row["lower_bound"]) for row in found.info["losses"]] == [("process not recorded", True)]
    words = "processes not recorded, or not to their end: 1"
    assert words in tool("info", path).stdout
    trust = tool("report", path).stdout.split("trust:")[1]
    assert words in trust and "nothing lost" not in trust
    assert words in tool("rank", path).stderr
