"""Runs of C graphs in processes, recorded: who did what, and what is said of tasks whose worker died."""
import json
import os
import signal
import subprocess
import time

import pytest

from conftest import SCENES
from recorded import VENTURI, run

SANITIZE = os.environ.get("VENTURI_SANITIZE", "")
FIRST = {"a": "done", **{"leaf-%d" % i: "done" for i in range(4)}}


def states(graph):
    return {row["key"]: row["state"] for row in graph.query("select key, state from tasks order by number")}


def children(pid):
    with open("/proc/%d/task/%d/children" % (pid, pid)) as file:
        return [int(word) for word in file.read().split()]


def is_there(pid):
    """Zombies of a stranger are as good as gone."""
    try:
        with open("/proc/%d/stat" % pid) as file:
            return file.read().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


def wait_until(condition):
    for _ in range(2000):
        if condition():
            return
        time.sleep(0.01)
    pytest.fail("nothing happened for 20 s")


def test_workers_are_processes(record):
    graph = record("good", "processes")
    assert graph.done.stdout == "7\n"
    assert states(graph) == {**FIRST, "b": "done", "c": "done"}
    tasks = graph.query("select ready_ns, begin_ns, end_ns from tasks")
    assert all(0 <= row["ready_ns"] <= row["end_ns"] and row["begin_ns"] <= row["end_ns"] for row in tasks)
    assert {row["worker"] for row in graph.query("select worker from tasks")} <= {"worker 0", "worker 1"}
    assert graph.query("select scheduler, workers from task_runs") == [{"scheduler": "processes", "workers": 2}]


def test_a_run_inside_of_a_task(record):
    graph = record("nested", "processes")
    assert graph.done.stdout == "1\n"
    assert sorted(row["tasks"] for row in graph.query("select tasks from task_runs")) == [7, 7]


def test_a_failure_is_told_and_the_rest_goes_on(record):
    graph = record("fails", "processes", check=False)
    assert graph.code == 1
    assert " after 2 tries: no luck in try 1; 1 dependent skipped" in graph.done.stdout
    assert states(graph) == {**FIRST, "b": "failed", "c": "skipped"}


def assert_seats(graph):
    """A worker that came in the place of another has no time before that: together they have that of two."""
    one, = json.loads(run([VENTURI, "tasks", "--json", graph.path]).stdout)["runs"]
    assert (one["workers"], one["workers_at_once"]) == (3, 2)
    assert one["compute_s"] + one["moving_s"] + sum(one["idle_s"].values()) == pytest.approx(2 * one["wall_s"])


@pytest.mark.parametrize("scene, why", [("exits", "ended with status 3"), ("crashes", "was killed by SIGSEGV (11)")])
def test_a_task_that_takes_its_worker_along(record, scene, why):
    if SANITIZE:
        pytest.skip("a sanitizer makes something else of a crash")
    graph = record(scene, "processes", check=False)
    assert graph.code == 1
    assert "task 'b' (middle) was lost with its worker" in graph.done.stdout and why in graph.done.stdout
    assert states(graph)["b"] == "lost"
    assert why in graph.query("select error from task_runs")[0]["error"]
    assert_seats(graph)


def test_a_task_that_never_ends_is_killed(record):
    graph = record("hangs", "processes", check=False)
    assert graph.code == 1
    assert graph.done.stdout.startswith("task 'b' (middle) took longer than ")
    assert states(graph) == {**FIRST, "b": "timed-out", "c": "skipped"}
    assert_seats(graph)


@pytest.mark.parametrize("scene", ["wide", "chain"])
def test_many_tasks(scene):
    if SANITIZE:
        pytest.skip("a sanitizer takes memory of its own")
    result, megabytes = run([SCENES, scene, "processes", 300000]).stdout.split()
    assert int(result) == (300000 if scene == "chain" else 1)
    assert int(megabytes) < 400


def test_workers_end_with_their_caller():
    with subprocess.Popen([SCENES, "slow", "processes", "1000"], stdout=subprocess.DEVNULL) as process:
        wait_until(lambda: len(children(process.pid)) == 2)
        workers = children(process.pid)
        process.send_signal(signal.SIGKILL)
        process.wait()
    wait_until(lambda: not any(is_there(pid) for pid in workers))


def test_killed_from_outside():
    """Tasks that were not running go to others, and the one that was is lost."""
    with subprocess.Popen([SCENES, "slow", "processes", "60"], stdout=subprocess.PIPE, text=True) as process:
        wait_until(lambda: len(children(process.pid)) == 2)
        time.sleep(0.1)
        os.kill(children(process.pid)[0], signal.SIGKILL)
        out = process.communicate(timeout=60)[0]
    assert process.returncode == 1
    assert "was lost with its worker" in out and "was killed by SIGKILL (9)" in out
