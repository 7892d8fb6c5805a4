"""`venturi serve --dask`: a real cluster on this machine."""
import contextlib
import glob
import os
import subprocess
import sys
import urllib.request

import pytest
from conftest import BUILD, TOP, environment, named

CLUSTER = """import sys, time
from distributed import Client, LocalCluster

def inc(x):
    time.sleep(0.02)
    return x + 1

def bad(x):
    raise ValueError("no")

if __name__ == "__main__":
    cluster = LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=sys.argv[1] if sys.argv[1:] else None, scheduler_port=0, silence_logs=50)
    client = Client(cluster)
    print(cluster.scheduler_address, cluster.dashboard_link if sys.argv[1:] else "", flush=True)
    for line in sys.stdin:
        wanted = client.map(inc, range(int(line)), pure=False)
        total = client.submit(sum, wanted, pure=False)
        failed = client.submit(bad, 1, pure=False)
        try:
            failed.result()
        except ValueError:
            pass
        print(total.result(), flush=True)
    client.close()
    cluster.close()
"""


def find():
    """The folder of distributed; "" if this Python has it by itself, None if there is none."""
    version = "%d.%d" % sys.version_info[:2]
    for folder in glob.glob(os.path.join(TOP, "build", "neighbours", version + "-dask*")):
        if os.path.exists(os.path.join(folder, "distributed")):
            return folder
    done = subprocess.run([sys.executable, "-c", "import distributed"], capture_output=True)
    return "" if done.returncode == 0 else None


@contextlib.contextmanager
def running(folder, *words, beside=""):
    """A cluster in a process of its own; `beside` is one more folder of packages."""
    packages = find()
    if packages is None:
        pytest.skip("no distributed for this Python: run tools/setup")
    script = folder / "cluster.py"
    script.write_text(CLUSTER)
    path = os.pathsep.join(filter(None, [packages or os.environ.get("PYTHONPATH", ""), beside]))
    env = environment(PYTHONPATH=path, PYTHONDONTWRITEBYTECODE="1", VENTURI_DASK_PYTHON=sys.executable)
    process = subprocess.Popen([sys.executable, str(script), *words], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                               env=env, cwd=folder)
    process.address, process.dashboard = process.stdout.readline().rstrip("\n").split(" ")
    process.env = {key: env[key] for key in ("PYTHONPATH", "VENTURI_DASK_PYTHON")}
    try:
        yield process
    finally:
        process.stdin.close()
        try:
            process.wait(timeout=60)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        process.stdout.close()


@pytest.fixture
def cluster(tmp_path):
    with running(tmp_path) as process:
        yield process


def test_cluster(serve, cluster):
    """Workers, groups and the stream of tasks; then the cluster goes, and the server stays."""
    if not os.path.exists(os.path.join(BUILD, "python", "venturi", "dask", "_watch.py")):
        pytest.skip("the Python package is not built here")
    server = serve("--dask", cluster.address, env=cluster.env)
    state = server.wait(lambda state: state["cluster"]["is_connected"], "the scheduler")
    assert state["kind"] == "dask" and state["cluster"]["address"] == cluster.address and state["cluster"]["version"]
    cluster.stdin.write("60\n")
    cluster.stdin.flush()
    assert cluster.stdout.readline().strip() == str(sum(range(1, 61)))

    def is_there(state):
        inc, bad, sums = (named(state["tasks"]["groups"], name) for name in ("inc", "bad", "sum"))
        return inc and bad and sums and inc["done"] == inc["count"] == 60 and bad["failed"] == 1 and sums["done"] == 1
    state = server.wait(is_there, "all tasks")
    inc = named(state["tasks"]["groups"], "inc")
    assert inc["p50_ns"] >= 19e6 and (inc["waiting"], inc["ready"], inc["running"]) == (0, 0, 0) and inc["total"] == 60
    workers = state["tasks"]["workers"]["list"]
    assert len(workers) == 2 and all(one["is_running"] and one["slots"] == 1 and one["memory_bytes"] > 0 for one in workers)
    assert sum(one["ended"] for one in workers) == 62 and sum(one["failed"] for one in workers) == 1
    stream = server.json("/api/tasks?limit=5000")
    incs = [task for task in stream["tasks"] if stream["names"][str(task[1])] == "inc" and task[4] == 0]
    assert len(incs) == 60 and len({task[2] for task in incs}) == 2
    cluster.stdin.close()
    cluster.wait(timeout=60)
    state = server.wait(lambda state: not state["cluster"]["is_connected"], "the end of the cluster")
    assert state["cluster"]["error"] and not any(one["is_running"] for one in state["tasks"]["workers"]["list"])
    assert named(state["tasks"]["groups"], "inc")["done"] == 60
    assert server.ask("/metrics")[0] == 200


@pytest.mark.skipif(bool(os.environ.get("VENTURI_SANITIZE")), reason="no Python package is built beside it")
def test_next_to_dasks_own_dashboard(serve, tmp_path):
    bokeh = os.path.join(TOP, "build", "neighbours", "%d.%d-bokeh" % sys.version_info[:2])
    if not os.path.exists(os.path.join(bokeh, "done")):
        pytest.skip("no bokeh for this Python: run tools/setup")
    with running(tmp_path, "127.0.0.1:0", beside=bokeh) as cluster:
        server = serve("--dask", cluster.address, env=cluster.env)
        server.wait(lambda state: state["cluster"]["is_connected"], "the scheduler")
        cluster.stdin.write("20\n")
        cluster.stdin.flush()
        assert cluster.stdout.readline().strip() == str(sum(range(1, 21)))
        state = server.wait(lambda state: (named(state["tasks"]["groups"], "inc") or {"done": 0})["done"] == 20, "all tasks")
        assert state["cluster"]["address"] == cluster.address
        with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(cluster.dashboard, timeout=60) as page:
            assert page.status == 200 and b"bokeh" in page.read().lower()  # theirs goes on


@pytest.mark.skipif(bool(os.environ.get("VENTURI_SANITIZE")), reason="no Python package is built beside it")
def test_nobody_there(serve, cluster):
    server = serve("--dask", "tcp://127.0.0.1:1", env=cluster.env)
    state = server.wait(lambda state: state["cluster"]["error"] not in ("", "connecting"), "the error")
    assert not state["cluster"]["is_connected"]
