"""Where pages are shown: a terminal of IPython and a kernel, both real."""
import html
import json
import os
import re
import subprocess
import sys

import pytest
from in_daskset import VERSIONS, environment, neighbour_or_skip
from interpreters import TOP, python_or_skip

FUNCTION = """
from venturi.tracing import dask_profiler
from venturi.diagnostics import Profiler
from distributed import Client
import dask
def work():
    return dask.delayed(sum)([1, 2], dask_key_name="sum-1").compute()
client = Client(processes=False, n_workers=1, threads_per_worker=1, dashboard_address="127.0.0.1:0")
assert dask_profiler(report_name="shown.html")(work)() == 3
assert dask_profiler(report_name="hidden.html", display_report=False)(work)() == 3
with Profiler() as prof:
    work()
saved = prof.visualize(filename="profile.html")
client.close()
"""

KERNEL = """
import json, sys
from jupyter_client.manager import start_new_kernel

manager, client = start_new_kernel(kernel_name="python3")
shown = []
def hear(message):
    if message["msg_type"] == "display_data":
        shown.append(message["content"]["data"].get("text/html", ""))
    elif message["msg_type"] in ("stream", "error"):
        print(message["content"], file=sys.stderr)
reply = client.execute_interactive(sys.stdin.read(), timeout=60, output_hook=hear)
print(json.dumps({"status": reply["content"]["status"], "shown": shown}))
client.stop_channels()
manager.shutdown_kernel(now=True)
"""


@pytest.fixture(params=[VERSIONS[0], VERSIONS[-1]])
def machine(request, tmp_path):
    """A Python with IPython and dask, and an environment whose browser writes down what it is given."""
    python = python_or_skip(request.param)
    path = [neighbour_or_skip(request.param, name) for name in ("dask", "ipython")]
    browser = tmp_path / "browser"
    browser.write_text(f"#!/bin/sh\necho \"$1\" >>{tmp_path}/opened\n")
    browser.chmod(0o755)
    return python, environment(*path, BROWSER=f"{browser} %s", IPYTHONDIR=str(tmp_path / "ipython"), JUPYTER_PLATFORM_DIRS="1",
                               JUPYTER_PATH=os.path.join(path[1], "share", "jupyter"), HOME=str(tmp_path))


def pages_opened(folder):
    return (folder / "opened").read_text().split() if (folder / "opened").exists() else []


def read(page):
    sys.path.insert(0, os.path.join(TOP, "tests", "page"))
    from page_reader import Page

    return Page(page)


def test_terminal(machine, tmp_path):
    python, env = machine
    done = subprocess.run([python, "-m", "IPython", "--no-banner", "--simple-prompt", "--colors=NoColor"], input="exec(%r)\nsaved\n" % FUNCTION,
                          cwd=tmp_path, env=env, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0 and "Error" not in done.stdout, done.stdout + done.stderr
    assert pages_opened(tmp_path) == [f"file://{tmp_path}/{name}.html#tasks" for name in ("shown", "profile")], done.stdout + done.stderr
    for name in ("shown", "hidden", "profile"):
        assert read((tmp_path / f"{name}.html").read_text()).table("tasks").rows >= 1


def test_kernel(machine, tmp_path):
    python, env = machine
    done = subprocess.run([python, "-c", KERNEL], input=FUNCTION, cwd=tmp_path, env=env, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    said = json.loads(done.stdout.splitlines()[-1])
    assert said["status"] == "ok" and len(said["shown"]) == 2, done.stderr
    for shown in said["shown"]:
        (page,) = re.findall(r'<iframe srcdoc="([^"]*)"', shown)
        assert read(html.unescape(page)).table("tasks").rows >= 1
    assert pages_opened(tmp_path) == []
    assert sorted(name for name in os.listdir(tmp_path) if name.endswith(".html")) == ["hidden.html", "shown.html"]


def test_plain_python_shows_nothing(machine, tmp_path):
    python, env = machine
    code = FUNCTION.replace("prof.visualize(", "prof.visualize(show=False, ")
    done = subprocess.run([python, "-c", code], cwd=tmp_path, env=env, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert pages_opened(tmp_path) == [] and (tmp_path / "shown.html").exists()
