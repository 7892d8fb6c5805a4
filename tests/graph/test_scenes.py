"""Runs of C graphs, recorded: what is in the recording when all went well and when it did not."""
import os
import pty
import subprocess

import pytest

from conftest import SCENES
from recorded import run

SANITIZE = os.environ.get("VENTURI_SANITIZE", "")
BOTH = pytest.mark.parametrize("scheduler", ["sync", "threads"])
STATES = "select key, state from tasks order by number"


def states(graph):
    return {row["key"]: row["state"] for row in graph.query(STATES)}


@BOTH
def test_every_task_with_its_dependencies(record, scheduler):
    graph = record("good", scheduler)
    assert graph.done.stdout == "7\n"
    tasks = graph.query("select key, name, state, ready_ns, begin_ns, end_ns from tasks order by number")
    assert [row["key"] for row in tasks] == ["a", "leaf-0", "leaf-1", "leaf-2", "leaf-3", "b", "c"]
    assert [row["name"] for row in tasks] == ["first"] + ["leaf"] * 4 + ["middle", "last"]
    assert all(row["state"] == "done" and 0 <= row["ready_ns"] <= row["begin_ns"] <= row["end_ns"] for row in tasks)
    edges = graph.query("select t.key as task, d.key as need from task_edges e join tasks t on t.task = e.task join tasks d on d.task = e.dependency")
    assert {(row["task"], row["need"]) for row in edges} == {("b", "a"), ("c", "b")} | {("b", "leaf-%d" % i) for i in range(4)}
    assert tasks[5]["ready_ns"] >= max(row["end_ns"] for row in tasks[:5])


@BOTH
def test_a_run_inside_of_a_task_knows_its_parent(record, scheduler):
    graph = record("nested", scheduler)
    assert graph.done.stdout == "1\n"
    runs = graph.query("select run, parent, scheduler, tasks from task_runs order by run")
    assert [row["tasks"] for row in runs] == [7, 7]
    assert not runs[0]["parent"] and runs[1]["parent"] == runs[0]["run"]


@BOTH
def test_a_failure_is_told_and_the_rest_goes_on(record, scheduler):
    graph = record("fails", scheduler, check=False)
    assert graph.code == 1
    assert "task 'b' (middle) failed on worker " in graph.done.stdout
    assert " after 2 tries: no luck in try 1; 1 dependent skipped" in graph.done.stdout
    assert states(graph) == {"a": "done", **{"leaf-%d" % i: "done" for i in range(4)}, "b": "failed", "c": "skipped"}
    assert graph.query("select retries from tasks where key = 'b'") == [{"retries": 1}]
    assert "no luck in try 1" in graph.query("select error from task_runs")[0]["error"]


@BOTH
@pytest.mark.parametrize("scene, code", [("exits", 3), ("crashes", -11)])
def test_what_ran_before_the_end_of_the_process_is_recorded(record, scheduler, scene, code):
    if SANITIZE:
        pytest.skip("a sanitizer makes something else of a crash")
    graph = record(scene, scheduler, check=False)
    assert graph.code == code
    assert states(graph) == {"a": "done", **{"leaf-%d" % i: "done" for i in range(4)}}


def test_a_task_that_never_ends_is_left_to_itself(record):
    graph = record("hangs", "threads", check=False)
    assert graph.code == 1
    assert graph.done.stdout.startswith("task 'b' (middle) took longer than ")
    assert states(graph) == {"a": "done", **{"leaf-%d" % i: "done" for i in range(4)}, "b": "timed-out", "c": "skipped"}


@BOTH
@pytest.mark.parametrize("scene", ["wide", "chain"])
def test_a_million_tasks(scheduler, scene):
    if SANITIZE:
        pytest.skip("a sanitizer takes memory of its own")
    result, megabytes = run([SCENES, scene, scheduler, 1000000]).stdout.split()
    assert int(result) == (1000000 if scene == "chain" else 1)
    assert int(megabytes) < 400


def on_terminal(*command):
    """What a command writes to a terminal that is its standard error."""
    ours, theirs = pty.openpty()
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=theirs) as process:
        os.close(theirs)
        written = b""
        try:
            while True:
                piece = os.read(ours, 65536)
                if not piece:
                    break
                written += piece
        except OSError:  # the other side is closed
            pass
        assert process.wait() == 0
    os.close(ours)
    return written.decode()


@pytest.mark.parametrize("scheduler", ["sync", "threads"])
def test_the_bar_is_only_for_terminals(scheduler):
    lines = on_terminal(SCENES, "slow", scheduler, "20").split("\r")
    assert "100%" in lines[-2] or "100%" in lines[-1]
    assert any("20 of 20" in line for line in lines) and len(lines) > 3
    assert run([SCENES, "slow", scheduler, "4"]).stderr == ""
