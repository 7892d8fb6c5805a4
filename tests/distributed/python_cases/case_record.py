"""What a recording of a cluster says."""
import asyncio
import os
import signal
import tempfile
import time

import dask
import kit
from distributed import Client, LocalCluster
from venturi.dask import record


def by_name(run, name):
    return [task for task in run.tasks if str(task[0]).startswith(name)]


def test_every_task_with_its_dependencies():
    client = kit.client()
    before = time.time()
    with record(client) as run:
        first = client.map(kit.inc, range(50), pure=False)
        second = client.map(kit.add, first[::2], first[1::2], pure=False)
        assert sum(client.gather(second)) == sum(range(1, 51))
    after = time.time()
    assert len(by_name(run, "inc")) == 50 and len(by_name(run, "add")) == 25 and len(run.tasks) == 75
    keys = [task[0] for task in run.tasks]
    assert {keys[i] for task in by_name(run, "add") for i in task[12]} == {future.key for future in first}
    assert all(len(task[12]) == 2 for task in by_name(run, "add"))
    for key, task, start, end, worker, ready, state, retries, cpu, is_estimated, size, freed, others in run.tasks:
        assert before - 5 < ready < after + 5 and before - 5 < start <= end < after + 5  # dask only guesses how clocks differ
        assert (task, state, retries, cpu, is_estimated, size) == (None, "done", 0, None, False, 28)
    assert [task[2] for task in run.tasks] == sorted(task[2] for task in run.tasks)
    assert run.lost == run.unfinished == 0
    assert kit.plugins_in(client) == [], kit.plugins_in(client)


def spin(seconds):
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        pass
    return 5


async def waits(seconds):
    await asyncio.sleep(seconds)
    return 6


def taps_in(client):
    def in_worker(dask_worker):
        return [str(vars(executor)["submit"]) for executor in dask_worker.executors.values() if "submit" in vars(executor)]
    return sum(client.run(in_worker).values(), [])


def test_cpu_times_on_request():
    client = kit.client()
    with record(client, cpu_time=True) as run, record(client, "cpu.vt", cpu_time=True) as other, record(client) as plain:
        assert len(taps_in(client)) >= 2
        client.submit(spin, 0.05, pure=False).result()
        client.submit(time.sleep, 0.1, pure=False).result()
        assert client.submit(waits, 0.01, pure=False).result() == 6
        assert client.submit(kit.fail, 3, pure=False).exception() is not None
    assert taps_in(client) == []
    for asked in (run, other):  # by name: their order is that of the workers' clocks, which dask estimates
        (spun,), (slept,), (waited,), (failed,) = ([task[8] for task in by_name(asked, name)] for name in ("spin", "sleep", "waits", "fail"))
        assert spun >= 0.05 and slept < 0.05 and failed > 0
        assert waited is None  # a coroutine has no thread of its own
    assert [task[8] for task in plain.tasks] == [None] * 4
    told = kit.tool_json("query", "cpu.vt", "--json", "select cpu_ns from tasks where cpu_ns > 0")
    assert len(told) >= 1


def test_metric():
    client = kit.client()
    with record(client, metric=len) as run, record(client) as plain:
        size = 30_000_000  # more than stays in memory
        assert client.submit(len, client.submit(kit.block, size, pure=False), pure=False).result() == size
        client.submit(kit.block, 3, pure=False).result()
    measures = {task[0].split("-")[0]: [] for task in run.tasks}
    for task, measure in zip(run.tasks, run.measures):
        measures[task[0].split("-")[0]].append(measure)
    assert measures == {"block": [size, 3], "len": [None]} and plain.measures == [None] * 3
    assert kit.plugins_in(client) == []


def test_workers_are_processes_and_threads():
    client = kit.client()
    with record(client) as run:
        client.gather(client.map(kit.slow_inc, range(16), pure=False))
    pids = client.run(os.getpid)
    used = {task[4] for task in run.tasks}
    assert len(used) == 4
    for worker in used:
        facts = run.workers[worker]
        assert worker.split("#")[0] == facts["address"] and pids[facts["address"]] == facts["pid"]
        assert os.path.exists(f"/proc/{facts['pid']}/task/{facts['tid']}")


def test_workers_that_ran_nothing_are_workers():
    client = kit.client()
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "run.vt")
        with record(client, path) as run:
            client.submit(kit.slow_inc, client.submit(kit.slow_inc, 1, pure=False), pure=False).result()
        addresses = set(client.scheduler_info()["workers"])
        assert set(run.workers) == {f"{address}#{thread}" for address in addresses for thread in (0, 1)}
        (told,) = kit.tool_json("tasks", path, "--json")["runs"]
        assert told["workers"] == 4, told


def test_why_a_task_failed_is_the_error_of_the_run():
    client = kit.client()
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "run.vt")
        with record(client, path):
            client.submit(kit.fail, 3, key="fails-3").exception()
            client.submit(kit.fail_until, os.path.join(folder, "tries"), 1, retries=2, key="again").result()
        (told,) = kit.tool_json("tasks", path, "--json")["runs"]
        assert told["error"] == "task 'fails-3' failed: ValueError('no 3')", told
        with record(client, path) as run:
            client.submit(kit.fail_until, os.path.join(folder, "other tries"), 1, retries=2, key="again-2").result()
        assert run.errors and run._runs("")[0]["error"] == "", (run.errors, run.tasks)


def test_keys_that_are_tuples():
    client = kit.client()
    with record(client) as run:
        client.get({("x", 0): (kit.inc, 1), ("x", 1): (kit.inc, ("x", 0))}, [("x", 1)])
    keys = [task[0] for task in run.tasks]
    assert keys in ([("x", 0), ("x", 1)], ["('x', 0)", "('x', 1)"])  # older ones turn them into texts
    assert run.tasks[1][12] == (0,)


def test_results_that_are_freed():
    client = kit.client()
    with record(client) as run:
        first = client.submit(kit.inc, 1, pure=False)
        future = client.submit(kit.add, first, 1, pure=False)
        future.result()
        key = first.key
        del first
        kit.until(lambda: client.run_on_scheduler(lambda dask_scheduler: dask_scheduler.tasks[key].state != "memory"))
    (one,), (two,) = by_name(run, "inc"), by_name(run, "add")
    assert one[11] >= one[5] and two[11] is None


def test_failures_and_what_depends_on_them():
    client = kit.client()
    with record(client) as run:
        bad = client.submit(kit.fail, 17, pure=False)
        after = client.submit(kit.inc, bad, pure=False)
        assert isinstance(after.exception(), ValueError)
    assert [task[6] for task in run.tasks] == ["failed"]
    assert "no 17" in run.errors[0]
    mine = run._runs("")[0]["tasks"]
    assert [(task[0], task[6]) for task in mine] == [(bad.key, "failed"), (after.key, "skipped")] and mine[1][12] == (0,)


def test_retries():
    client = kit.client()
    with tempfile.TemporaryDirectory() as folder, record(client) as run:
        future = client.submit(kit.fail_until, os.path.join(folder, "tries"), 2, retries=3, pure=False)
        assert future.result() == "now"
    assert sorted((task[7], task[6]) for task in run.tasks) == [(0, "failed"), (1, "failed"), (2, "done")]
    assert sorted(run.errors.values()) == ["RuntimeError('not yet')"] * 2
    assert all(task[4].count("#") and task[3] - task[2] < 5 for task in run.tasks)


def test_transfers_have_bytes():
    client = kit.client()
    one, two = sorted(client.scheduler_info()["workers"])
    with record(client) as run:
        there = client.submit(kit.block, 300_000, workers=[one], pure=False)
        assert client.submit(len, there, workers=[two], pure=False).result() == 300_000
    moved = [action for action in run.actions if action[1] == "transfer" and action[4].startswith(two) and action[5] != 28]
    assert len(moved) == 1 and 300_000 <= moved[0][5] < 301_000, run.actions
    assert moved[0][2] <= moved[0][3]


def test_spills():
    client = kit.client()
    one = sorted(client.scheduler_info()["workers"])[0]
    with record(client) as run:
        kept = client.map(kit.block, [3_000_000] * 10, workers=[one], pure=False)
        client.gather(client.map(len, kept, pure=False))
    written = [action for action in run.actions if action[1] == "disk-write"]
    written = [action for action in written if (action[5] or 0) >= 3_000_000]  # dask tells of some without their size
    assert len(written) >= 3 and all(action[4].startswith(one) for action in written), run.actions
    assert {action[0] for action in written} <= {future.key for future in kept}
    assert all(0 < action[3] - action[2] < 30 for action in written)


def test_a_worker_that_joins_later():
    client, cluster = kit.client(), kit.cluster()
    known = set(client.scheduler_info()["workers"])
    with record(client) as run:
        cluster.scale(3)
        client.wait_for_workers(3)
        (new,) = set(client.scheduler_info()["workers"]) - known
        client.submit(kit.inc, 1, workers=[new], pure=False).result()
        cluster.scale(2)
        kit.until(lambda: len(client.scheduler_info()["workers"]) == 2)
    (task,) = run.tasks
    facts = run.workers[task[4]]
    assert facts["address"] == new and facts["joined"] <= task[5] <= facts["left"]


def test_a_worker_that_is_killed():
    client = kit.client()
    with record(client, every=0.2) as run:
        done = client.map(kit.inc, range(20), pure=False)
        client.gather(done)
        futures = client.map(kit.slow_inc, range(16), [0.3] * 16, pure=False)
        kit.until(lambda: sum(future.done() for future in futures) >= 2)
        address, pid = sorted(client.run(os.getpid).items())[0]
        os.kill(pid, signal.SIGKILL)
        assert sorted(client.gather(futures)) == list(range(1, 17))
        client.wait_for_workers(2)
    lost = [task for task in run.tasks if task[6] == "lost"]
    assert lost and {task[4].split("#")[0] for task in lost} == {address}
    again = {task[0]: task for task in by_name(run, "slow") if task[6] == "done" and task[7]}
    assert {task[0] for task in lost} <= set(again) and all(again[task[0]][7] == 1 for task in lost)
    assert {task[0] for task in by_name(run, "slow") if task[6] == "done"} == {future.key for future in futures}
    before = [task for task in by_name(run, "inc") if task[4].startswith(address)]
    assert before and all(task[6] == "done" for task in before)
    assert run.workers[lost[0][4]]["left"] >= max(task[3] for task in lost)
    assert len(lost) <= 2  # it has two threads
    for task in lost:
        assert all(other[3] <= task[2] for other in run.tasks if other is not task and other[4] == task[4]), run.tasks


def test_work_that_goes_on_is_counted():
    client = kit.client()
    with record(client) as run:
        futures = client.map(kit.slow_inc, range(4), [0.5] * 4, pure=False)
        kit.until(lambda: client.run_on_scheduler(lambda dask_scheduler: sum(len(w.processing) for w in dask_scheduler.workers.values())))
    assert run.unfinished and len(run.tasks) + run.unfinished == 4
    client.gather(futures)


def test_collections():
    client = kit.client()
    with record(client) as run:
        total = dask.delayed(sum)([dask.delayed(kit.inc)(i) for i in range(10)])
        assert total.compute(scheduler=client) == 55
    assert len(by_name(run, "inc")) == 10 and len(by_name(run, "sum")[0][12]) == 10


def test_one_process():
    with LocalCluster(n_workers=1, threads_per_worker=2, processes=False, dashboard_address=":0") as cluster, \
            Client(cluster, set_as_default=False) as client:
        with record(client) as run:
            client.gather(client.map(kit.inc, range(30), pure=False))
        assert len(run.tasks) == 30 and {facts["pid"] for facts in run.workers.values()} == {os.getpid()}
        assert kit.plugins_in(client) == [], kit.plugins_in(client)


def test_asynchronous():
    async def main():
        async with LocalCluster(n_workers=1, threads_per_worker=1, processes=False, dashboard_address=":0", asynchronous=True) as cluster:
            async with Client(cluster, asynchronous=True, set_as_default=False) as client:
                async with record(client) as run:
                    await client.gather(client.map(kit.inc, range(20), pure=False))
                try:
                    with record(client):
                        pass
                except TypeError as error:
                    assert "async with" in str(error)
                else:
                    raise AssertionError("it blocked the loop")
                left = await client.run_on_scheduler(lambda dask_scheduler: [p for p in dask_scheduler.plugins if "venturi" in str(p)])
        return run, left

    run, left = asyncio.run(main())
    assert len(run.tasks) == 20 and left == []


def test_async_with_for_an_ordinary_client():
    client = kit.client()

    async def main():
        async with record(client) as run:
            client.gather(client.map(kit.inc, range(5), pure=False))
        return run

    assert len(asyncio.run(main()).tasks) == 5
