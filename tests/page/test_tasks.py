"""Task graphs on a page: every task with its times, key and dependencies; figures are those of `venturi tasks`; many do not make it large."""
import json
import math
import os
import random

import pytest
import taskgraphs as graphs
from taskgraphs import Run, Task

CRITICAL, ESTIMATED, NEVER_RAN, PLAIN_KEY = 8, 16, 32, 64
STATE = 7


@pytest.fixture
def recorded(venturi, tmp_path):
    """recorded(runs) -> the recording of them."""
    build = os.environ.get("VENTURI_BUILD", os.path.dirname(venturi.path))
    if not os.access(graphs.maker(build), os.X_OK):
        pytest.skip("make_tasks is not built")
    return lambda runs: graphs.write(build, tmp_path / "tasks.vt", runs)


def key_of(row):
    if row["flags"] & PLAIN_KEY:
        return row["key"]
    numbers = iter([row["key_%d" % i] for i in range(4)])
    return "".join(str(next(numbers)) if one == "\x01" else one for one in row["key"])


def edges_of(made):
    return [(row["task"], row["task"] - row["back"] + row["ahead"]) for row in made.table("task_edges").dicts()]


def ns(seconds):
    return round(seconds * 1e9)


KEYS = ["('sum-0123456789abcdef0123456789abcdef', 3, 17)", "x", "", "007", "a-12-b", "1.5", "x_1", "12345678901", "[1, 2, 3, 4, 5]",
        "\x01 1", "</script>\u202e", "日本 8", "k" * 700 + " 1", "-0", "0"]


def test_every_task(page, recorded):
    tasks = [Task(i, "t", i % 2, 10 * i + 5, 10 * i + 14, 10 * i, [i - 1] if i else [], key=key, cpu=i % 9, bytes=i * 1000,
                  estimated=i % 2, retries=i % 3, freed=10 * i + 40) for i, key in enumerate(KEYS)]
    tasks.append(Task(len(KEYS), "never", -1, None, None, None, [0, 1], key="never", state=graphs.SKIPPED))
    made = page(recorded([Run(tasks, 2, end=200)]))
    rows = made.table("tasks").dicts()
    for i, (row, task) in enumerate(zip(rows, tasks)):
        assert key_of(row) == (task.key or "#%d" % task.number)
        assert made.table("task_names").dicts()[row["name"]]["name"] == task.name
        assert row["worker"] == task.worker + 1
        assert row["flags"] & STATE == task.state and bool(row["flags"] & NEVER_RAN) == (not task.ran)
        assert row["retries"] == task.retries and row["bytes"] == task.bytes + 1
        if task.ran:
            assert (row["start"], row["duration"], row["wait"]) == (task.start, 9, 5)
            assert row["cpu"] == 1 + math.floor(task.cpu / 9 * 250 + 0.5)
            assert bool(row["flags"] & ESTIMATED) == bool(task.estimated)
            needed = tasks[i + 1].end if i + 1 < len(KEYS) else None
            assert row["kept"] == (task.freed - task.end + 2 if needed != task.freed else 1)
    assert rows[-1]["kept"] == 0
    assert edges_of(made) == [(i, i - 1) for i in range(1, len(KEYS))] + [(len(KEYS), 0), (len(KEYS), 1)]
    assert sum(bool(row["flags"] & CRITICAL) for row in rows) == len(KEYS)


def test_kept_while_needed(page, recorded):
    made = page(recorded([Run([Task(0, "a", 0, 0, 5, freed=20), Task(1, "b", 0, 6, 20, deps=[0], freed=21), Task(2, "c", 0, 6, 8),
                                Task(3, "d", 0, 6, 8, freed=21), Task(4, "e", 0, 9, 20, deps=[3])], 1, end=30)]))
    assert made.table("tasks")["kept"] == [1, 3, 0, 15, 0]


@pytest.mark.parametrize("seed", range(3))
def test_figures_are_those_of_the_command(venturi, page, recorded, seed):
    rng = random.Random(seed)
    inner = graphs.simulate(rng, 10, 1)
    inner.parent = 1
    for one in inner.tasks:  # of equal names the command tells apart what ran within tasks, the page does not
        one.name = "inner " + one.name
    path = recorded([graphs.simulate(rng, 30, 3), inner])
    made = page(path)
    said = venturi.json("tasks", path, "--json")
    for row, run in zip(made.table("task_runs").dicts(), said["runs"]):
        assert (row["scheduler"], row["tasks"], row["workers"], row["parent"]) == (
            run["scheduler"], run["tasks"], run["workers"], run["parent"] or 0)
        assert (row["begin"], row["duration"], row["task_time"], row["wait"], row["path"]) == tuple(
            ns(run[key]) for key in ("begin_s", "wall_s", "task_s", "wait_s", "critical_path_s"))
        assert (row["rows"], row["unit"], row["freed_unit"]) == (run["tasks"], 1, 1)
    names = made.table("task_names").dicts()
    assert [row["name"] for row in names] == [row["name"] for row in said["names"]]
    for row, name in zip(names, said["names"]):
        assert (row["count"], row["failed"], row["action"]) == (name["count"], name["failed"], 0)
        for key in ("total", "min", "p50", "p90", "p99", "max", "wait"):
            assert row[key] == ns(name[key + "_s"])
        assert math.isnan(row["cpu"])
    workers = venturi.json("tasks", path, "--json", "--by", "worker")["workers"]
    for row, worker in zip(made.table("task_workers").dicts(), workers):
        assert (row["run"] + 1, row["label"], row["tasks"]) == (worker["run"], worker["worker"], worker["tasks"])
        assert (row["compute"], row["moving"]) == (ns(worker["compute_s"]), ns(worker["moving_s"]))
        assert [row[key] for key in ("dependencies", "nothing_left", "scheduler", "gone")] == [
            ns(worker["idle_s"][key]) for key in graphs.REASONS]
    rows = made.table("tasks").dicts()
    for run, path in zip(made.table("task_runs").dicts(), venturi.json("tasks", path, "--json", "--critical-path")["critical_paths"]):
        mine = rows[run["first"]:run["first"] + run["rows"]]
        assert {key_of(row) for row in mine if row["flags"] & CRITICAL} == {one["key"] for one in path["tasks"]}
        assert run["path_tasks"] == len(path["tasks"])


def test_findings_lead_to_the_run(page, recorded):
    ms = 10 ** 6
    chain = [Task(i, "x", 0, 10 * ms * i, 10 * ms * (i + 1), 10 * ms * i, [i - 1] if i else []) for i in range(6)]
    made = page(recorded([Run([Task(0, "y", 0, 0, 10)], 1, end=20), Run(chain, 2, begin=30)]))
    found = {one["kind"]: one for one in made.directory["findings"]}
    assert found["critical-path"]["refs"] == [{"task_run": 1}] and "run 2" in found["critical-path"]["text"]
    assert not any("Nothing was recorded" in note for note in made.notes)


def test_without_tasks_there_is_no_table(page, golden):
    assert not [name for name in page(golden("everything")).tables if name.startswith("task")]


def test_too_many_leave_out_the_shortest(page, recorded):
    lengths = [5, 50, 7, 60, 9, 40]
    tasks = [Task(i, "x", 0, 100 * i, 100 * i + length, 0, [i - 1] if i else []) for i, length in enumerate(lengths)]
    made = page(recorded([Run(tasks, 1)]), "--events", "4")
    assert made.table("tasks")["duration"] == [50, 60, 9, 40]
    assert edges_of(made) == [(2, 1), (3, 2)]
    assert made.table("task_runs")["rows"] == [4] and made.table("task_runs")["tasks"] == [6]
    assert any("2 of 6 tasks are left out, the shortest" in note for note in made.notes)


def test_a_circle_is_no_trouble(page, recorded):
    made = page(recorded([Run([Task(0, "a", 0, 0, 5, 0, [1]), Task(1, "a", 0, 6, 9, 0, [0])], 1)]))
    assert edges_of(made) == [(0, 1), (1, 0)]


def test_a_hundred_thousand_are_small(page, recorded):
    """Keys of dask, two dependencies each, bytes and CPU times that nothing can foresee."""
    rng = random.Random(1)
    count, names = 100000, ["load", "filter", "sum", "mean"]
    free = [0] * 4
    tasks = []
    for i in range(count):
        worker = free.index(min(free))
        start = free[worker] + rng.randrange(1000, 9000)
        free[worker] = end = start + int(rng.lognormvariate(0, 0.5) * 200000)
        name = names[i * len(names) // count]
        deps = sorted({i - 1000, i - 1000 + rng.randrange(1, 9)}) if i >= 1000 else []
        tasks.append(Task(i, name, worker, start, end, max(0, start - rng.randrange(1000, 5000)), deps,
                          key="('%s-%032x', %d, %d)" % (name, 77, i % 317, i // 317), cpu=int((end - start) * rng.uniform(.9, 1)),
                          bytes=rng.choice([8000, 40000, 640000]), estimated=1))
    for task in tasks:
        for number in task.deps:
            tasks[number].freed = max(tasks[number].freed or 0, task.end + rng.randrange(500, 5000))
    made = page(recorded([Run(tasks, 4)]))
    assert len(made.text) <= 1500000
    rows = made.table("tasks").dicts()
    unit = made.table("task_runs")["unit"][0]
    middle = sorted(task.length for task in tasks)[count // 2]
    assert unit <= middle / 64 < 2 * unit
    for row, task in zip(rows, sorted(tasks, key=lambda one: (one.start, one.number))):
        assert row["start"] == task.start // unit and row["start"] + row["duration"] == task.end // unit
        assert key_of(row) == task.key
    assert any("shown to %d ns" % unit in note for note in made.notes)
    assert json.dumps(made.directory)  # it is whole
