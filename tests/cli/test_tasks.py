"""venturi tasks: figures that a slow and simple computation gives too, runs of every kind, damaged graphs, and wrong words."""
import json
import os
import random
import re

import pytest
import taskgraphs as graphs
from taskgraphs import Run, Task

BUILD = os.environ.get("VENTURI_BUILD")


@pytest.fixture
def tasks(venturi, tmp_path):
    """tasks(runs, options…) -> what --json says of them."""
    build = BUILD or os.path.dirname(venturi.path)
    if not os.access(graphs.maker(build), os.X_OK):
        pytest.skip("make_tasks is not built")

    def show(runs, *options):
        path = graphs.write(build, tmp_path / "tasks.vt", runs)
        return json.loads(venturi("tasks", path, "--json", *options, check=0).stdout)
    show.write = lambda runs, name="tasks.vt": graphs.write(build, tmp_path / name, runs)
    return show


def ns(seconds):
    return round(seconds * 1e9)


DIAMOND = [Task(0, "load", 0, 3, 13, 2), Task(1, "long", 0, 14, 64, 13, [0]), Task(2, "short", 1, 16, 36, 13, [0]),
           Task(3, "sum", 1, 68, 73, 64, [1, 2], bytes=800)]


# ---- figures ---------------------------------------------------------------------------------------

@pytest.mark.parametrize("seed", range(6))
def test_workers_against_every_nanosecond(tasks, seed):
    rng = random.Random(seed)
    run = graphs.simulate(rng, 25, 1 + seed % 4)
    said = tasks([run], "--by", "worker")
    for number, worker in enumerate(said["workers"]):
        expected = run.worker_times(number)
        found = {"compute": ns(worker["compute_s"]), "moving": ns(worker["moving_s"]),
                 **{reason: ns(value) for reason, value in worker["idle_s"].items()}}
        assert found == expected, number
        assert sum(found.values()) == run.window[1] - run.window[0]
        assert worker["tasks"] == sum(one.worker == number for one in run.tasks)


@pytest.mark.parametrize("seed", range(6))
def test_path_against_every_chain(tasks, seed):
    run = graphs.simulate(random.Random(100 + seed), 18, 3, widest=2)
    chains = run.longest()
    length = max(up_to for up_to, _ in chains.values())
    path = tasks([run], "--critical-path")["critical_paths"][0]
    assert ns(path["length_s"]) == length == sum(ns(one["time_s"]) for one in path["tasks"])
    numbers = [one["number"] for one in path["tasks"]]
    by_number = {one.number: one for one in run.tasks}
    assert all(before in by_number[after].deps for before, after in zip(numbers, numbers[1:]))
    assert not by_number[numbers[0]].deps or by_number[numbers[0]].length == chains[numbers[0]][0]
    # Tasks and the gaps before and behind them are the whole run.
    wall = run.window[1] - run.window[0]
    assert sum(ns(one["time_s"]) + ns(one["gap_s"]) for one in path["tasks"]) + ns(path["rest_s"]) == wall == ns(path["wall_s"])
    assert path["share"] == pytest.approx(length / wall)
    total = sum(one.length for one in run.tasks)
    assert ns(path["at_least_s"]) == max(length, total // 3)
    slacks = sorted(length - (up_to + onward - by_number[number].length) for number, (up_to, onward) in chains.items())
    beside = [one for one in slacks if one > 0]
    assert (ns(path["middle_slack_s"]) if beside else path["middle_slack_s"]) == (beside[(len(beside) - 1) // 2] if beside else None)


@pytest.mark.parametrize("seed", range(4))
def test_names_against_sorting(tasks, seed):
    run = graphs.simulate(random.Random(200 + seed), 40, 2)
    said = tasks([run])
    assert sum(ns(one["total_s"]) for one in said["names"]) == sum(one.length for one in run.tasks) == ns(said["runs"][0]["task_s"])
    for row in said["names"]:
        mine = [one for one in run.tasks if one.name == row["name"]]
        lengths = [one.length for one in mine]
        assert (row["count"], row["failed"], row["retries"]) == (len(mine), 0, 0)
        assert [ns(row[key]) for key in ("total_s", "min_s", "p50_s", "p90_s", "p99_s", "max_s", "wait_s")] == [
            sum(lengths), min(lengths), *(graphs.quantile(lengths, percent) for percent in (50, 90, 99)), max(lengths),
            sum(one.start - one.ready for one in mine)]
        known = [one.bytes for one in mine if one.bytes >= 0]
        assert row["bytes"] == (sum(known) if known else None)
        assert row["cpu_s"] is None
    assert [row["name"] for row in said["names"]] == [
        row["name"] for row in sorted(said["names"], key=lambda row: (-row["total_s"], row["name"]))]


def test_a_run(tasks):
    run = tasks([Run(DIAMOND, 2, end=80, planned=5, lost=1, scheduler="my scheduler")])["runs"][0]
    assert (run["run"], run["scheduler"], run["planned"], run["tasks"], run["lost"], run["workers"], run["ended"]) == (
        1, "my scheduler", 5, 4, 1, 2, True)
    assert run["states"] == {"done": 4} and run["error"] is None and run["parent"] is None
    assert run["begin_epoch_s"] == graphs.BEGIN / 1e9 and ns(run["end_s"] - run["begin_s"]) == 80 == ns(run["wall_s"])
    assert run["parallelism"] == 85 / 80
    assert {key: ns(value) for key, value in run["idle_s"].items()} == {
        "dependencies": 38, "nothing-left": 19, "scheduler": 18, "gone": 0}
    assert (ns(run["compute_s"]), ns(run["critical_path_s"])) == (85, 65)


def test_times_are_epoch_and_since_the_begin(tasks):
    steps = tasks([Run(DIAMOND, 2, end=80)], "--critical-path")["critical_paths"][0]["tasks"]
    assert [one["key"] for one in steps] == ["load-0", "long-1", "sum-3"]
    for one, task in zip(steps, (DIAMOND[0], DIAMOND[1], DIAMOND[3])):
        for name, moment in (("ready", task.ready), ("start", task.start), ("end", task.end)):
            assert one[name + "_epoch_s"] == pytest.approx((graphs.BEGIN + moment) / 1e9, abs=1e-6)
            assert ns(one[name + "_s"] - steps[0]["start_s"]) == moment - DIAMOND[0].start
    assert [ns(one["gap_s"]) for one in steps] == [3, 1, 4]
    assert [ns(one["queued_s"]) for one in steps] == [1, 1, 4]


def test_queued_is_a_part_of_the_gap(tasks, venturi):
    # A scheduler that says a task is ready before the last of its dependencies ended, by the clock of its worker.
    run = Run([Task(0, "load", 0, 0, 10_000, 0), Task(1, "sum", 0, 15_000, 20_000, 2_000, [0])], 1, end=20_000)
    steps = tasks([run], "--critical-path")["critical_paths"][0]["tasks"]
    assert [(ns(one["gap_s"]), ns(one["queued_s"])) for one in steps] == [(0, 0), (5_000, 5_000)]
    rows = venturi("tasks", tasks.write([run]), "--critical-path", check=0).stdout.splitlines()
    assert next(row for row in rows if row.endswith("sum-1")).split()[:3] == ["15.0us", "5.00us", "5.00us"]


def test_ready_is_found_where_nobody_said_it(tasks):
    silent = [Task(one.number, one.name, one.worker, one.start, one.end, None, one.deps) for one in DIAMOND]
    run = Run(silent, 2, end=80)
    said = tasks([run], "--by", "worker")
    assert ns(said["runs"][0]["wait_s"]) == 3 + 1 + 3 + 4
    for number, worker in enumerate(said["workers"]):
        expected = run.worker_times(number)
        assert {reason: ns(value) for reason, value in worker["idle_s"].items()} == {one: expected[one] for one in graphs.REASONS}


# ---- what a run can be ------------------------------------------------------------------------------

def test_other_actions_are_apart(tasks):
    moves = [Task(1, "long", 0, 13, 14, action=graphs.TRANSFER, bytes=500), Task(1, "long", 0, 20, 70, action=graphs.DISK_READ),
             Task(2, "short", 1, 14, 16, action=graphs.TRANSFER), Task(2, "short", 1, 36, 40, action=graphs.DESERIALIZE)]
    run = Run(DIAMOND + moves, 2, end=80)
    said = tasks([run])
    assert (said["runs"][0]["tasks"], said["runs"][0]["actions"]) == (4, 4)
    assert {row["action"]: (row["count"], ns(row["total_s"]), row["bytes"]) for row in said["actions"]} == {
        "transfer": (2, 3, 500), "disk-read": (1, 50, None), "deserialize": (1, 4, None)}
    assert {row["name"]: row["count"] for row in said["names"]} == {"load": 1, "long": 1, "short": 1, "sum": 1}
    for number, worker in enumerate(tasks([run], "--by", "worker")["workers"]):
        expected = run.worker_times(number)
        assert (ns(worker["compute_s"]), ns(worker["moving_s"])) == (expected["compute"], expected["moving"])


def test_states_retries_and_a_worker_that_died(tasks):
    run = Run([Task(0, "a", 0, 1, 10, 0, state=graphs.FAILED, retries=2), Task(1, "a", 1, 1, 30, 0, state=graphs.LOST),
               Task(2, "b", -1, None, None, deps=[0], state=graphs.SKIPPED), Task(3, "b", 0, 12, 20, 0, state=graphs.TIMED_OUT),
               Task(4, "c", -1, None, None, state=graphs.CANCELLED)], 2, end=100, error="ValueError: no")
    said = tasks([run])
    assert said["runs"][0]["states"] == {"failed": 1, "lost": 1, "skipped": 1, "timed-out": 1, "cancelled": 1}
    assert (said["runs"][0]["error"], said["runs"][0]["retries"], said["runs"][0]["dead_workers"]) == ("ValueError: no", 2, 1)
    rows = {row["name"]: row for row in said["names"]}
    assert (rows["a"]["failed"], rows["a"]["retries"], rows["b"]["failed"], rows["b"]["ran"]) == (2, 2, 1, 1)
    assert rows["c"]["p50_s"] is None and rows["c"]["avg_s"] is None
    workers = tasks([run], "--by", "worker")["workers"]
    assert ns(workers[1]["idle_s"]["gone"]) == 70 == run.worker_times(1)["gone"]
    assert [one["failed"] for one in workers] == [2, 1]


def test_a_try_that_was_made_again_has_not_failed(venturi, tasks):
    ms = 10 ** 6
    again = [Task(0, "a", 0, ms, 10 * ms, 0, key="k", state=graphs.FAILED),
             Task(1, "a", 0, 12 * ms, 20 * ms, 0, key="k", state=graphs.FAILED, retries=1)]
    well = again + [Task(2, "a", 0, 22 * ms, 30 * ms, 0, key="k", retries=2), Task(3, "b", 0, 32 * ms, 40 * ms, 0)]
    said = tasks([Run(well, 1)])
    assert said["runs"][0]["states"] == {"done": 2, "retried": 2}
    assert {row["name"]: row["failed"] for row in said["names"]} == {"a": 0, "b": 0}
    assert "failed" not in venturi("report", tasks.write([Run(well, 1)]), check=0).stdout
    # The last try says how it ended; other runs and other keys are others.
    said = tasks([Run(again, 1, error="no"), Run([Task(0, "a", 0, 50 * ms, 60 * ms, 0, key="k", retries=5)], 1, 50 * ms)])
    assert [run["states"] for run in said["runs"]] == [{"failed": 1, "retried": 1}, {"done": 1}]
    text = venturi("report", tasks.write([Run(again, 1, end=30 * ms, error="no")]), check=0).stdout
    assert "1 of 1 tasks failed, it was k: no." in " ".join(text.split())


def test_many_runs(venturi, tasks):
    runs = [Run([Task(0, "x", 0, 100 * i, 100 * i + 10 + i, state=graphs.FAILED if i == 3 else graphs.DONE)], 1, 100 * i, end=100 * i + 11 + i, error="no" if i == 3 else "")
            for i in range(30)] + [Run([], 0, 4000, 4001) for _ in range(3)]
    text = venturi("tasks", tasks.write(runs), check=0, env={"COLUMNS": "80"}).stdout
    assert [int(number) for number in re.findall(r"^run (\d+):", text, re.M)] == [4, 30, 29, 28, 27, 26, 25, 24, 23, 22]
    assert "10 of 30 runs: what failed, then the longest; --run N shows another" in text
    few = venturi("tasks", tasks.write(runs[28:]), check=0).stdout
    assert re.findall(r"^run (\d+):", few, re.M) == ["1", "2"], "without tasks there is nothing to say"
    assert "run 3: " in venturi("tasks", tasks.write(runs[28:]), "--run", "3", check=0).stdout
    assert len(tasks(runs)["runs"]) == 33


@pytest.mark.parametrize("length, said", [(1, "less than 0.01 at once"), (18, "0.018 at once"), (500, "0.5 at once")])
def test_at_once_has_two_digits(venturi, tasks, length, said):
    assert said in venturi("tasks", tasks.write([Run([Task(0, "x", 0, 0, length)], 1, 0, 1000)]), check=0, env={"COLUMNS": "80"}).stdout


def test_info_counts_actions_apart(venturi, tasks):
    moves = [Task(1, "long", 0, 13, 14, action=graphs.TRANSFER), Task(1, "long", 0, 20, 70, action=graphs.DISK_READ)]
    path = tasks.write([Run(DIAMOND + moves, 2, end=80)])
    said = json.loads(venturi("info", path, "--json", check=0).stdout)
    assert (said["tasks"], said["task_actions"], said["task_runs"]) == (4, 2, 1)
    assert "4 tasks in 1 run, 2 actions beside them (venturi tasks)" in venturi("info", path, check=0).stdout
    assert json.loads(venturi("report", path, "--json", check=0).stdout)["tasks"]["tasks"] == 4


def test_several_runs_and_nested_ones(venturi, tasks):
    inner = Run([Task(0, "in", 0, 22, 40, 21), Task(1, "in", 0, 40, 60, 40, [0])], 1, 21, 62, "sync", parent=1)
    runs = [Run(DIAMOND, 2, end=80), inner, Run([Task(0, "late", -1, 200, 300)], 0, 190, None, "dask")]
    said = tasks(runs)
    assert [(run["scheduler"], run["parent"], run["tasks"], run["workers"], run["ended"]) for run in said["runs"]] == [
        ("threads", None, 4, 2, True), ("sync", 1, 2, 1, True), ("dask", None, 1, 0, False)]
    assert ns(said["runs"][2]["wall_s"]) == 110 and said["runs"][2]["compute_s"] == 0
    assert {row["name"] for row in said["names"]} == {"load", "long", "short", "sum", "in", "late"}
    one = tasks(runs, "--run", "2")
    assert [run["run"] for run in one["runs"]] == [2] and [row["name"] for row in one["names"]] == ["in"]
    paths = tasks(runs, "--critical-path")["critical_paths"]
    assert [(path["run"], ns(path["length_s"])) for path in paths] == [(1, 65), (2, 38), (3, 100)]
    text = venturi("tasks", tasks.write(runs), check=0, env={"COLUMNS": "80"}).stdout
    assert "run 2: sync, within run 1, 2 tasks, 1 worker" in text and "not seen to end" in text
    # What ran within tasks is no part of the sum of these.
    shares = {line.split()[-1]: line.split()[2] for line in text.splitlines() if "%" in line and line.split()[-1] in ("in", "late", "long")}
    assert shares == {"in": "100%", "late": "54%", "long": "27%"} and "Task within tasks" in text
    assert {row["name"]: row["level"] for row in said["names"]} == {"load": 0, "long": 0, "short": 0, "sum": 0, "late": 0, "in": 1}
    text = venturi("tasks", tasks.write(runs), "--critical-path", check=0).stdout
    assert "critical path of run 3: 1 task, 100 ns of 110 ns (91 %)" in text


# ---- damaged and hostile ---------------------------------------------------------------------------

def test_circles_end(venturi, tasks):
    ring = [Task(i, "ring", 0, 10 * i, 10 * i + 5, 0, [(i + 1) % 50]) for i in range(50)]
    path = tasks.write([Run(ring, 1, end=600)])
    done = venturi("tasks", path, "--critical-path", "--json", check=0, timeout=20)
    found = json.loads(done.stdout)["critical_paths"][0]
    assert (found["circular"], len(found["tasks"]), ns(found["length_s"])) == (1, 50, 250)
    assert "1 dependency closes a chain in a circle" in done.stderr and done.stderr.count("\n") == 1


def test_a_chain_and_a_star_of_many(tasks):
    count = 100000
    chain = [Task(i, "link", 0, 10 * i, 10 * i + 7, 0, [i - 1] if i else []) for i in range(count)]
    path = tasks([Run(chain, 1)], "--critical-path")["critical_paths"][0]
    assert len(path["tasks"]) == count and ns(path["length_s"]) == 7 * count
    star = [Task(i, "ray", i % 4, 10 * i, 10 * i + 9, 0) for i in range(count)]
    star.append(Task(count, "hub", 0, 10 * count, 10 * count + 1, 0, range(count)))
    path = tasks([Run(star, 4)], "--critical-path")["critical_paths"][0]
    assert (len(path["tasks"]), ns(path["length_s"])) == (2, 10)


def test_a_damaged_recording(venturi, tasks, tmp_path):
    """Every 37th byte spoilt: an answer or one line, never a crash or a hang."""
    data = tasks.write([graphs.simulate(random.Random(5), 30, 2)]).read_bytes()
    spoilt = tmp_path / "spoilt.vt"
    for at in range(64, len(data), 37):
        spoilt.write_bytes(data[:at] + bytes([data[at] ^ 0x5A]) + data[at + 1:])
        done = venturi("tasks", spoilt, "--critical-path", "--json", timeout=20)
        assert done.returncode in (0, 2), (at, done.stderr)
        assert done.returncode == 0 or done.stderr.count("\n") == 1
        spoilt.write_bytes(data[:at])
        assert venturi("tasks", spoilt, "--by", "worker", timeout=20).returncode in (0, 2)


def test_names_cannot_steer_the_terminal(venturi, tasks):
    evil = "\x1b[31mred\u202e"
    path = tasks.write([Run([Task(0, evil, 0, 0, 10, 0, key=evil)], [evil], end=20, scheduler=evil, error=evil)])
    for options in ((), ("--by", "worker"), ("--critical-path",)):
        text = venturi("tasks", path, *options, check=0).stdout
        assert "\x1b" not in text and "\u202e" not in text and "\\x1b[31mred" in text


# ---- text ------------------------------------------------------------------------------------------

@pytest.mark.parametrize("columns", [40, 60, 80, 100, 140])
@pytest.mark.parametrize("options", [(), ("--by", "worker"), ("--critical-path", "-n", "5")])
def test_it_fits_the_terminal(venturi, tasks, columns, options):
    run = graphs.simulate(random.Random(9), 60, 4)
    for task in run.tasks:
        task.start, task.end, task.ready = task.start * 12345, task.end * 12345, task.ready * 12345
        task.key = "('%s-0123456789abcdef0123456789abcdef', %d, 7)" % (task.name, task.number)
        task.state = graphs.FAILED if task.number == 7 else graphs.DONE
    path = tasks.write([Run(run.tasks, 4, scheduler="processes", error="")])
    text = venturi("tasks", path, *options, check=0, env={"COLUMNS": str(columns)}).stdout
    wide = [line for line in text.splitlines() if len(line) > columns]
    assert not wide


@pytest.mark.parametrize("options", [(), ("--by", "worker"), ("--critical-path",)])
def test_a_file_is_as_wide_as_a_terminal(venturi, tasks, options):
    run = graphs.simulate(random.Random(9), 60, 4)
    for task in run.tasks:
        task.state = graphs.FAILED if task.number == 7 else graphs.DONE
        task.retries, task.bytes = 3, 123456
    text = venturi("tasks", tasks.write([Run(run.tasks, 4, error="it did not work, " * 9)]), *options, check=0).stdout
    assert max(map(len, text.splitlines())) <= 80


def test_an_error_is_a_sentence_of_its_own(venturi, tasks):
    path = tasks.write([Run(DIAMOND, 2, end=80, error="task 'x' failed on worker 0: " + "because " * 20)])
    lines = venturi("tasks", path, check=0, env={"COLUMNS": "80"}).stdout.splitlines()
    assert lines[2].startswith("       task 'x' failed on worker 0: because because")
    assert all(len(line) <= 80 for line in lines)


def test_the_table(venturi, tasks):
    path = tasks.write([Run(DIAMOND, 2, end=80)])
    lines = venturi("tasks", path, check=0, env={"COLUMNS": "80"}).stdout.splitlines()
    assert lines[:2] == ["run 1: threads, 4 tasks, 2 workers, 80 ns, 1.1 at once, workers computing 53 %,",
                         "       idle 47 % (dependencies 24 %, nothing left 12 %, scheduler 11 %)"]
    assert re.split(r"\s{2,}", lines[-5].strip()) == ["Count", "Total", "Share", "p50", "p90", "p99", "Max", "Task"]
    assert lines[-4].split() == ["1", "50ns", "59%", "50ns", "50ns", "50ns", "50ns", "long"]


@pytest.mark.parametrize("column, first", [("total", "b"), ("count", "a"), ("max", "b"), ("p50", "b"), ("avg", "b"), ("name", "a"),
                                           ("failed", "c"), ("retries", "c"), ("bytes", "a"), ("wait", "c"), ("cpu", "c")])
def test_sort(tasks, column, first):
    run = Run([Task(0, "a", 0, 1, 4, 0, bytes=9), Task(1, "a", 0, 5, 8, 4), Task(2, "b", 0, 10, 30, 9, bytes=1),
               Task(3, "c", 0, 40, 41, 10, state=graphs.FAILED, retries=1, cpu=1)], 1)
    assert tasks([run], "--sort", column)["names"][0]["name"] == first
    assert len(tasks([run], "--sort", column, "-n", "1")["names"]) == 1


@pytest.mark.parametrize("column, first", [("total", "w0"), ("count", "w1"), ("idle", "w1"), ("failed", "w1"), ("name", "w0")])
def test_sort_of_workers(tasks, column, first):
    run = Run([Task(0, "a", 0, 1, 40, 0), Task(1, "a", 1, 5, 8, 4), Task(2, "b", 1, 10, 30, 9, state=graphs.FAILED)], 2)
    assert tasks([run], "--by", "worker", "--sort", column)["workers"][0]["worker"] == first


def test_a_long_path_is_folded(venturi, tasks):
    chain = [Task(i, "x", 0, 100 * i, 100 * i + (50 if i in (3, 7) else 10), 0, [i - 1] if i else []) for i in range(12)]
    text = venturi("tasks", tasks.write([Run(chain, 1)]), "--critical-path", "-n", "2", check=0).stdout
    assert [line.split()[-1] if "..." not in line else line[line.index("..."):] for line in text.splitlines()
            if "%" in line.split("Share")[0] and ("x-" in line or "..." in line)] == [
                "... 3 tasks", "x-3", "... 3 tasks", "x-7", "... 4 tasks"]
    assert "-n 0 shows every task" in text
    assert "x-11" in venturi("tasks", tasks.write([Run(chain, 1)]), "--critical-path", "-n", "0", check=0).stdout


def test_report_speaks_of_tasks(venturi, tasks):
    def slower(task, **more):
        return Task(task.number, task.name, task.worker, task.start * 10 ** 6, task.end * 10 ** 6, task.ready * 10 ** 6, task.deps, **more)
    path = tasks.write([Run([slower(one) for one in DIAMOND], 2, end=80 * 10 ** 6)])
    text = " ".join(venturi("report", path, check=0).stdout.split())
    assert "run 1: threads, 4 tasks, 2 workers, 80.0 ms" in text and "No spans" not in text
    assert "The critical path, 3 of 4 tasks, is 81 % of the run (65.0 ms of 80.0 ms): more workers will not help" in text
    assert "The 2 workers were idle 47 % of the time of the run, most of it waiting for dependencies." in text
    said = json.loads(venturi("report", path, "--json", check=0).stdout)
    assert said["tasks"] == {"runs": 1, "tasks": 4, "workers": 2}
    assert {one["kind"] for one in said["findings"]} >= {"critical-path", "idle-workers"}
    failing = [slower(one) for one in DIAMOND[:2]] + [slower(DIAMOND[2], state=graphs.FAILED, key="bad"),
                                                      Task(3, "sum", -1, None, None, None, [1, 2], state=graphs.SKIPPED)]
    text = " ".join(venturi("report", tasks.write([Run(failing, 2, end=10 ** 8, error="KeyError: 'x'")]), check=0).stdout.split())
    assert "1 of 4 tasks failed, it was bad: KeyError: 'x'; 1 task was not begun." in text
    said = "task 'bad' failed on w1: " + "ü" * 200
    text = " ".join(venturi("report", tasks.write([Run(failing, 2, end=10 ** 8, error=said)]), check=0).stdout.split())
    assert "1 of 4 tasks failed: task 'bad' failed on w1: ü" in text and "ü…; 1 task was not begun." in text
    dying = [slower(one) for one in DIAMOND[:3]] + [slower(DIAMOND[3], state=graphs.LOST)]
    text = " ".join(venturi("report", tasks.write([Run(dying, 2)]), check=0).stdout.split())
    assert "1 task was lost with the worker that died, it was sum-3 on w1." in text


def test_findings_about_workers_and_data(venturi, tasks):
    ms = 10 ** 6
    wide = [Task(i, "x", i % 2, 10 * ms * (i // 2), 10 * ms * (i // 2) + 10 * ms, 0) for i in range(40)]
    text = " ".join(venturi("report", tasks.write([Run(wide, 2)]), check=0).stdout.split())
    assert "with more workers it could take as little as 10.0 ms instead of 200 ms" in text
    moves = [Task(i, "x", 0, 20 * ms * i, 20 * ms * i + 10 * ms, 0, [i - 1] if i else []) for i in range(8)] + [
        Task(i, "x", 0, 20 * ms * i + 10 * ms, 20 * ms * (i + 1), action=graphs.TRANSFER) for i in range(8)]
    text = " ".join(venturi("report", tasks.write([Run(moves, 1)]), check=0).stdout.split())
    assert "Workers spent 50 % of what they did in the run on moving data" in text


# ---- wrong words -----------------------------------------------------------------------------------

@pytest.mark.parametrize("words, message", [
    ((), "which FILE? A recording (.vt)"),
    (("-",), "-: a recording is read from a file, not from standard input"),
    (("nothing.vt", "--by", "size"), "--by: 'size' is none of name|worker"),
    (("nothing.vt", "--run", "0"), "--run: '0' is not the number of a run"),
    (("nothing.vt", "--run", "-1"), "--run: '-1' is not the number of a run"),
    (("nothing.vt", "--limit", "x"), "--limit: 'x' is not a number of rows"),
    (("nothing.vt", "--by", "name", "--critical-path"), "one of --critical-path and --by"),
    (("nothing.vt", "--sort", "name", "--critical-path"), "--sort: a path stands in the order of its tasks"),
    (("nothing.vt", "--sort", "size"), "--sort: 'size' is none of total|count|avg|p50|p90|p99|max|wait|cpu|bytes|failed|retries|name"),
    (("nothing.vt", "--sort", "idle"), "--sort: 'idle' is a column of --by worker"),
    (("nothing.vt", "--sort", "p50", "--by", "worker"), "--sort: 'p50' is none of total|count|idle|failed|name"),
])
def test_wrong_words(venturi, words, message):
    done = venturi("tasks", *words, check=2)
    assert (done.stdout, done.stderr) == ("", "venturi tasks: %s\n" % message)


def test_no_such_run(venturi, tasks):
    done = venturi("tasks", tasks.write([Run(DIAMOND, 2)]), "--run", "2", check=2)
    assert done.stderr == "venturi tasks: --run: there is no run 2, only 1\n"


def test_a_recording_without_tasks(venturi, make_recording):
    path = make_recording()
    done = venturi("tasks", path, check=2)
    assert done.stderr == "venturi tasks: %s: holds no tasks (venturi report shows what there is)\n" % path
    assert done.stdout == ""
