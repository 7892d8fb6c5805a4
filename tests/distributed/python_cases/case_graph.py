"""C graphs on a cluster: cut into blocks, computed by the engine in the workers, one recording of two levels."""
import asyncio
import atexit
import functools
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from types import SimpleNamespace

import kit
from distributed import Client, LocalCluster
from venturi.dask import Graph, cluster, run_graph
from venturi.dask._blocks import BlockError

S = 1_000_000_000
SOURCES = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "programs")


@functools.lru_cache(maxsize=None)
def built():
    """A folder with the library and the program that makes graphs of it."""
    if not shutil.which("cc"):
        raise kit.Skip("there is no compiler")
    folder = tempfile.mkdtemp(prefix="venturi-graph-")
    atexit.register(shutil.rmtree, folder)
    libraries = os.path.dirname(os.environ["PACKAGE"])
    common = ["cc", "-std=gnu11", "-Wall", "-Wextra", "-Werror", "-g", "-I", os.environ["INCLUDE"]]
    link = ["-L", libraries, "-Wl,-rpath," + libraries, "-lventuri-graph", "-lventuri"]
    subprocess.run([*common, "-shared", "-fPIC", "-o", os.path.join(folder, "libtasks.so"), os.path.join(SOURCES, "tasks.c"), *link],
                   check=True)
    subprocess.run([*common, "-o", os.path.join(folder, "make_graph"), os.path.join(SOURCES, "make_graph.c"), *link], check=True)
    return folder


def graph(kind):
    """The graph, and the file in which its slow tasks leave a sign."""
    folder = built()
    path, sign = os.path.join(folder, kind + ".graph"), os.path.join(folder, kind + ".sign")
    if os.path.exists(sign):
        os.unlink(sign)
    subprocess.run([os.path.join(folder, "make_graph"), os.path.join(folder, "libtasks.so"), sign, path, kind], check=True)
    return Graph(path), sign


def blocks_of(ran):
    return [task for task in ran.record.tasks if "venturi-block" in str(task[0])]


def test_blocks():
    blocks = graph("sums")[0].blocks(["total"], 0.05, 0.002)
    assert len(blocks) > 4
    made = set()
    for saved, inputs, outputs in blocks:
        assert set(inputs) <= made and saved
        made |= set(outputs)
    assert "total" in made


def test_sums_in_one_recording():
    client = kit.client()
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "run.vt")
        ran = run_graph(client, graph("sums")[0], ["total", "end-3"], 0.05, cost=0.002, filename=path)
        assert ran.values == {"total": 320, "end-3": 40}
        assert ran.blocks > 4 and len(blocks_of(ran)) == ran.blocks
        assert len({task[4].split("#")[0] for task in blocks_of(ran)}) == 2  # both workers
        runs = ran.record._runs("")
        assert len(runs) == 1 + ran.blocks and {run["scheduler"] for run in runs[1:]} <= {"threads", "sync"}
        assert sorted(task[0] for run in runs[1:] for task in run["tasks"]) == sorted(
            ["total"] + [f"end-{i}" for i in range(8)] + [f"step-{i}-{j}" for i in range(8) for j in range(39)])
        rows = {task[4]: ran.record.workers[task[4]]["pid"] for task in blocks_of(ran)}
        for run in runs[1:]:
            assert run["parent"] == 0 and run["start_time"] <= min(task[2] for task in run["tasks"])
            assert all(rows[facts["label"].split(" ")[0]] == facts["pid"] for facts in run["workers"].values())
        found = kit.tool_json("tasks", path, "--json")
        names = {row["name"]: row for row in found["names"]}
        assert names["step"]["count"] == 320 and names["total"]["count"] == 1 and names["venturi-block"]["count"] == ran.blocks
    assert kit.plugins_in(client) == []


def test_under_venturi_run_each_task_is_told_once():
    code = """
import sys, venturi.dask
from distributed import Client, LocalCluster
if __name__ == "__main__":
    with LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0") as machines, Client(machines) as client:
        ran = venturi.dask.run_graph(client, venturi.dask.Graph(sys.argv[1]), ["total"], 0.05, cost=0.002, filename=sys.argv[2])
        print(ran.blocks)
"""
    graph("sums")
    with tempfile.TemporaryDirectory() as folder:
        program, live, alone = (os.path.join(folder, name) for name in ("program.py", "live.vt", "alone.vt"))
        with open(program, "w") as file:
            file.write(code)
        done = subprocess.run([os.environ["TOOL"], "run", "-o", live, "--", sys.executable, program, os.path.join(built(), "sums.graph"), alone],
                              capture_output=True, text=True, timeout=100)
        assert done.returncode == 0, done.stderr
        found, told = kit.tool_json("tasks", live, "--json"), kit.tool_json("tasks", alone, "--json")
        assert len(found["runs"]) == len(told["runs"]) == 1 + int(done.stdout)
        assert {row["name"]: row["count"] for row in found["names"]} == {row["name"]: row["count"] for row in told["names"]}
        assert sum(row["count"] for row in found["names"] if row["name"] in ("step", "total")) == 321
        lengths, true = (sorted(run["wall_s"] for run in recording["runs"]) for recording in (found, told))
        assert all(abs(one - other) < 1e-3 for one, other in zip(lengths, true)), (lengths, true)


def test_times_are_nanoseconds():
    ran = run_graph(kit.client(), graph("sums")[0], ["total"], 0.05, cost=0.002)
    times = [task[3] for run in ran.record._runs("")[1:] for task in run["tasks"]]
    assert all(type(time) is int for time in times) and len({time % 256 for time in times}) > 20


def test_values_of_all_kinds():
    ran = run_graph(kit.client(), graph("values")[0], ["bytes", "half"])
    assert ran.values == {"bytes": b"x" * 200001, "half": 100000.5}
    ran = run_graph(kit.client(), graph("values")[0])
    assert ran.values == {"half": 100000.5, "#2": b"xxx"}


def test_asynchronous():
    async def main():
        async with LocalCluster(n_workers=1, threads_per_worker=2, processes=False, dashboard_address=":0", asynchronous=True) as machines:
            async with Client(machines, asynchronous=True, set_as_default=False) as client:
                return await run_graph(client, graph("sums")[0], ["end-0"], cost=0.002)

    ran = asyncio.run(main())
    assert ran.values == {"end-0": 40} and ran.record.unfinished == 0


def test_clocks_of_other_machines():
    run = {"block": 0, "host": "another", "entered": 5_000 * S, "start_time": 5_001 * S, "end_time": 5_003 * S, "workers": {0: {"pid": 1}},
           "tasks": [("x", None, 5_001 * S, 5_002 * S, 0, None, "done", 0, None, False, None, None, (), "x")]}
    rows = SimpleNamespace(tasks=[("block", None, 100.0, 104.0, "tcp://there#0", 99.0, "done")])
    (moved,) = cluster._inner([run], ["block"], rows)
    assert (moved["start_time"], moved["tasks"][0][2], moved["tasks"][0][5]) == (101 * S, 101 * S, None)
    for begin, end, moved in ((4_999, 5_004, 5_001), (5_001.5, 5_004, 5_001.5), (4_000, 5_002, 5_000), (5_001, 5_002, 5_001)):
        rows.tasks = [("block", None, float(begin), float(end), "tcp://there#0", 99.0, "done")]
        (same,) = cluster._inner([{**run, "host": cluster.this_host()}], ["block"], rows)
        assert same["start_time"] == moved * S and same["workers"][0]["label"] == "tcp://there#0 0"


def test_a_worker_that_is_killed():
    client = kit.client()
    saved, sign = graph("slow")

    def kill():
        kit.until(lambda: os.path.exists(sign) and os.path.getsize(sign))
        time.sleep(0.1)
        with open(sign) as file:
            os.kill(int(file.readline()), signal.SIGKILL)

    killer = threading.Thread(target=kill)
    killer.start()
    try:
        ran = run_graph(client, saved, ["total"], 0.05, cost=0.1)
    finally:
        killer.join()
    assert ran.values == {"total": sum(range(8))}
    blocks = blocks_of(ran)
    lost = [task for task in blocks if task[6] == "lost"]
    assert lost
    for task in lost:
        assert [other[7] for other in blocks if other[0] == task[0] and other[6] == "done"][-1] >= 1
    client.wait_for_workers(2)


def test_a_task_that_fails():
    client = kit.client()
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "run.vt")
        try:
            run_graph(client, graph("bad")[0], ["total"], filename=path)
        except BlockError as error:
            assert "bad" in str(error) and "does not want to" in str(error)
            assert "block 0 on tcp://" in str(error), error
        else:
            raise AssertionError("nothing was raised")
        assert "bad" in kit.tool("tasks", path)
        runs = kit.tool_json("tasks", path, "--json")["runs"]
        assert sum("does not want to" in (run["error"] or "") for run in runs if run["scheduler"] != "dask.distributed") == 1, runs
    assert kit.plugins_in(client) == []


def test_what_is_no_graph():
    client = kit.client()
    for call, kind, words in ((lambda: run_graph(client, Graph(b"VTGRAPH1nonsense"), ["x"]), ValueError, "no graph"),
                              (lambda: run_graph(client, graph("sums")[0], ["nothing"]), KeyError, "nothing"),
                              (lambda: Graph("/nonexistent/graph"), OSError, "/nonexistent/graph"),
                              (lambda: Graph(__file__), ValueError, __file__)):
        try:
            call()
        except kind as error:
            assert words in str(error), error
        else:
            raise AssertionError("nothing was raised")
    assert kit.plugins_in(client) == []
