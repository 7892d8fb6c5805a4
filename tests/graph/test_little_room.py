"""Graphs whose recording finds no room, whose program is killed, or both: the result is right, what ran is there or counted as lost."""
import json

import pytest
import vtread
from recorded import VENTURI, in_small_tmpfs, needs_root, run

from conftest import SCENES, Graph

COUNT = 200000
SLOTS = 1024  # tasks that a worker can have, and not have told of yet
ALL = pytest.mark.parametrize("scheduler", ["sync", "threads", "processes"])


def numbers(graph):
    """Of all tasks, in order: they are a chain."""
    return [row["number"] for row in graph.query("select number from tasks order by number")]


def lost(graph):
    return {row["reason"]: row["events"] for row in graph.query("select reason, sum(events) as events from losses group by reason")}


def on_small_disk(tmp_path, scene, scheduler):
    """A run whose recording is on a disk of 512 KiB."""
    small, kept = tmp_path / "small", tmp_path / "kept.vt"
    done = in_small_tmpfs("512k", small, f"{VENTURI} run -o {small}/out.vt -- {SCENES} {scene} {scheduler} {COUNT}; code=$?; "
                          f"cp {small}/out.vt {kept}; exit $code")
    return Graph(done, kept)


@needs_root
@ALL
def test_full_disk(tmp_path, scheduler):
    graph = on_small_disk(tmp_path, "chain", scheduler)
    assert graph.code == 0, graph.done.stderr
    assert int(graph.done.stdout.split()[0]) == COUNT
    told, missing = numbers(graph), lost(graph)
    assert told and missing["disk full"] > 0
    assert len(told) + sum(missing.values()) == COUNT
    info = json.loads(run([VENTURI, "info", "--json", graph.path]).stdout)
    assert info["closed"] and info["tasks"] == len(told) and info["lost_events"] == COUNT - len(told)
    said = run([VENTURI, "tasks", graph.path])
    assert f" {len(told)} tasks of {COUNT}, " in said.stdout
    assert f": {COUNT - len(told)} tasks or events were lost" in said.stderr
    assert f", {len(told) / 1000:.1f} k tasks, " in graph.done.stderr and "the disk was full" in graph.done.stderr
    read = vtread.read(graph.path).tasks
    assert all(read.needs(*task) == [task[2] - 1] * (task[2] > 0) for task in read.tasks), "none lost its dependencies alone"


@needs_root
@pytest.mark.parametrize("scheduler", ["sync", "threads"])
def test_killed_on_a_full_disk(tmp_path, scheduler):
    graph = on_small_disk(tmp_path, "killed", scheduler)
    assert graph.code == 137, graph.done.stderr
    told, missing = numbers(graph), lost(graph)
    assert told and missing["disk full"] > 0
    assert len(told) + sum(missing.values()) == COUNT // 2


@ALL
def test_killed(record, scheduler):
    """All that ended before, but what workers were about to tell."""
    graph = record("killed", scheduler, COUNT, check=False)
    assert graph.code in (137, -9), graph.done.stderr
    told = numbers(graph)
    assert told == list(range(len(told)))
    assert COUNT // 2 - (SLOTS if scheduler == "processes" else 0) <= len(told) <= COUNT // 2
    assert lost(graph) == {}
    assert graph.query("select planned, end_ns from task_runs") == [{"planned": COUNT, "end_ns": None}]
    assert graph.query("select distinct state from tasks") == [{"state": "done"}]


@ALL
def test_small_buffer(record, scheduler):
    """What found no room at first is said again."""
    graph = record("chain", scheduler, COUNT, options=["--buffer", "1M"])
    assert numbers(graph) == list(range(COUNT))
    assert lost(graph) == {}
