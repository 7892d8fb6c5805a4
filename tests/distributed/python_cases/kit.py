"""Clusters that cases share, what their tasks do, and questions about plugins. Everything is on loopback."""
import atexit
import json
import os
import subprocess
import time

import dask
from distributed import Client, LocalCluster

SETTINGS = {"distributed.worker.memory.target": 0.02, "distributed.worker.memory.spill": False, "distributed.worker.memory.pause": False,
            "distributed.worker.memory.terminate": False, "distributed.comm.timeouts.connect": "20s"}
_shared = {}


class Skip(Exception):
    """A case that cannot run here."""


def client():
    """Of a cluster of two processes with two threads each, which spills from 20 MB on."""
    if "client" not in _shared:
        dask.config.set(SETTINGS)
        _shared["cluster"] = LocalCluster(n_workers=2, threads_per_worker=2, processes=True, dashboard_address=":0",
                                          memory_limit="1GB", silence_logs=50)
        _shared["client"] = Client(_shared["cluster"])
    _shared["client"].wait_for_workers(2)
    return _shared["client"]


def cluster():
    client()
    return _shared["cluster"]


@atexit.register
def close():
    for name in ("client", "cluster"):
        if name in _shared:
            _shared.pop(name).close()


def plugins_in(client):
    """Names of our plugins that are anywhere in the cluster."""
    def in_scheduler(dask_scheduler):
        return [name for name in [*dask_scheduler.plugins, *dask_scheduler.worker_plugins] if "venturi" in str(name)]

    def in_worker(dask_worker):
        hooks = getattr(getattr(dask_worker.data, "fast", None), "on_evict", [])
        return [name for name in dask_worker.plugins if "venturi" in str(name)] + [hook for hook in map(str, hooks) if "Recorder" in hook]

    found = list(client.run_on_scheduler(in_scheduler))
    for names in client.run(in_worker).values():
        found += names
    return found


def until(question, seconds=20):
    """Waits until it is so."""
    end = time.monotonic() + seconds
    while not question():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.05)


def tool(*arguments):
    done = subprocess.run([os.environ["TOOL"], *map(str, arguments)], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout


def tool_json(*arguments):
    return json.loads(tool(*arguments))


# Tasks.

def inc(x):
    return x + 1


def add(a, b):
    return a + b


def slow_inc(x, seconds=0.02):
    time.sleep(seconds)
    return x + 1


def fail(x):
    raise ValueError(f"no {x}")


def fail_until(path, times):
    """Fails so many times."""
    with open(path, "a") as file:
        file.write("x")
    if os.path.getsize(path) <= times:
        raise RuntimeError("not yet")
    return "now"


def block(size):
    return bytes(size)
