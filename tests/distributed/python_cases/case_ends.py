"""How recordings end, who else records, and where they go."""
import os
import subprocess
import sys
import tempfile
import time
import warnings

import kit
from distributed import Client, LocalCluster
from venturi.dask import record


def raised(function, kind):
    try:
        function()
    except kind as error:
        return str(error)
    raise AssertionError("nothing was raised")


def test_errors_of_the_block_stay_theirs():
    client = kit.client()

    def block():
        with record(client):
            client.submit(kit.fail, 3, pure=False).result()

    assert raised(block, ValueError) == "no 3"
    assert kit.plugins_in(client) == [], kit.plugins_in(client)


def test_inside_each_other_and_side_by_side():
    client = kit.client()
    with Client(kit.cluster(), set_as_default=False) as other:
        with record(client) as outer:
            client.submit(kit.inc, 1, pure=False).result()
            with record(client) as inner, record(other) as third:
                client.submit(kit.inc, 2, pure=False).result()
                other.submit(kit.inc, 3, pure=False).result()
            client.submit(kit.inc, 4, pure=False).result()
        assert (len(outer.tasks), len(inner.tasks), len(third.tasks)) == (4, 2, 2)
    assert kit.plugins_in(client) == [], kit.plugins_in(client)


def test_used_once():
    client = kit.client()
    run = record(client)
    assert "has not ended" in raised(lambda: run.tasks, RuntimeError)
    with run:
        pass
    assert run.tasks == [] and run.actions == []
    assert "once" in raised(run.__enter__, RuntimeError)
    assert kit.plugins_in(client) == [], kit.plugins_in(client)


def test_default_client_or_a_clear_word():
    client = kit.client()
    with record() as run:
        client.submit(kit.inc, 1, pure=False).result()
    assert len(run.tasks) == 1
    code = "import venturi.dask\ntry: venturi.dask.record().__enter__()\nexcept ValueError as error: print(error)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert "there is no dask client" in done.stdout, done.stderr
    assert "ends in .vt" in raised(lambda: record(client, "x.txt"), ValueError)


def test_a_client_that_dies():
    client = kit.client()
    code = f"""
import os, venturi.dask
from distributed import Client
client = Client({kit.cluster().scheduler_address!r})
run = venturi.dask.record(client).__enter__()
print("in", flush=True)
input()
os._exit(1)
"""
    child = subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        assert child.stdout.readline() == "in\n"
        assert kit.plugins_in(client)
        child.communicate("\n", timeout=60)
    finally:
        child.kill()
        child.wait()
    kit.until(lambda: kit.plugins_in(client) == [])


def test_a_cluster_that_goes_away():
    with LocalCluster(n_workers=1, threads_per_worker=1, processes=False, dashboard_address=":0") as cluster:
        client = Client(cluster, set_as_default=False)
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            with record(client, every=0.1) as run:
                client.gather(client.map(kit.inc, range(10), pure=False))
                time.sleep(0.5)
                client.close()
        assert any("the end is missing" in str(warning.message) for warning in said), [str(w.message) for w in said]
        assert len(run.tasks) == 10


def test_a_cluster_without_our_package():
    code = """
import sys
from distributed import LocalCluster
if __name__ == "__main__":
    try:
        import venturi
        sys.exit("venturi is there")
    except ImportError:
        pass
    with LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=":0") as cluster:
        print(cluster.scheduler_address, flush=True)
        input()
"""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "cluster.py")
        with open(path, "w") as file:
            file.write(code)
        child = subprocess.Popen([sys.executable, path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                 env={**os.environ, "PYTHONPATH": os.environ["DASK"]})
        try:
            with Client(child.stdout.readline().strip(), set_as_default=False) as client:
                with record(client) as run:
                    client.gather(client.map(abs, range(-10, 0), pure=False))
                assert len(run.tasks) == 10 and kit.plugins_in(client) == []
            child.communicate("\n", timeout=60)
        finally:
            child.kill()
            child.wait()


def test_fetched_in_pieces():
    client = kit.client()
    with record(client, every=0.1) as run:
        for _ in range(4):
            client.gather(client.map(kit.slow_inc, range(8), pure=False))
            time.sleep(0.2)
        fetched = len(run._stream.pieces)
    assert fetched >= 3 and len(run.tasks) == 32


def test_written_as_a_recording():
    client = kit.client()
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "deep", "run.vt")
        with record(client, path):
            first = client.map(kit.inc, range(10), pure=False)
            client.submit(sum, first, pure=False).result()
        found = kit.tool_json("tasks", path, "--json")
        names = {row["name"]: row for row in found["names"]}
        assert names["inc"]["count"] == 10 and names["sum"]["count"] == 1, found


def test_written_as_a_page():
    client = kit.client()
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "run.html")
        with record(client, path):
            client.gather(client.map(kit.inc, range(10), pure=False))
        with open(path, encoding="utf-8") as file:
            assert file.read(200).lower().startswith("<!doctype html")


def test_into_the_recording_of_a_program():
    code = f"""
import sys
sys.path.insert(0, {os.path.dirname(os.path.abspath(__file__))!r})
import kit, venturi.dask
from distributed import Client
with Client({kit.cluster().scheduler_address!r}) as client:
    with venturi.dask.record(client), venturi.dask.record(client) as run:
        first = client.map(kit.inc, range(20), pure=False)
        client.submit(sum, first, pure=False).result()
    assert len(run.tasks) == 21
"""
    kit.client()
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "out.vt")
        done = subprocess.run([os.environ["TOOL"], "run", "-o", path, "--", sys.executable, "-c", code], capture_output=True,
                              text=True, timeout=100)
        assert done.returncode == 0, done.stderr
        found = kit.tool_json("tasks", path, "--json")
        names = {row["name"]: row for row in found["names"]}
        assert names["inc"]["count"] == 20 and names["sum"]["count"] == 1, found


def test_clients_that_cannot_be_used():
    with Client(kit.cluster(), set_as_default=False) as client:
        pass
    assert raised(record(client).__enter__, ValueError) == "venturi.dask.record: this client is closed"
    assert raised(record(5).__enter__, TypeError) == "venturi.dask.record: 5 is no dask client"
