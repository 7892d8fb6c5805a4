"""Child processes of a Python program are in the same recording."""
import json
import subprocess

import pytest
from conftest import VENTURI

COMMON = """
import os, subprocess, sys, threading
def leaf(): pass
def work(count):
    for _ in range(count):
        leaf()
"""


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_multiprocessing(run, method):
    run.script(COMMON + f"""
import multiprocessing
if __name__ == "__main__":
    context = multiprocessing.get_context("{method}")
    processes = [context.Process(target=work, args=(100 * (at + 1),)) for at in range(3)]
    for process in processes: process.start()
    for process in processes: process.join()
    assert all(process.exitcode == 0 for process in processes)
    work(10)
""")
    done = run("script.py")
    assert (done.returncode, done.stderr) == (0, "")
    assert (run.calls()["work"], run.calls()["leaf"]) == (4, 610)


def test_how_children_ended(run):
    """Their parent waits for them only after a while: until then anybody can see it."""
    run.script("""
import os, time
def child(code):
    if code < 0: os.kill(os.getpid(), -code)
    os._exit(code)
for code in (0, 7, -9):
    if os.fork() == 0: child(code)
time.sleep(0.5)
for _ in range(3): os.wait()
os._exit(5)
""")
    assert run("script.py").returncode == 5
    shown = subprocess.run([VENTURI, "info", "--json", run.output], capture_output=True, text=True)
    ends = {(process["ended"], process["status"]) for process in json.loads(shown.stdout)["processes"]}
    assert ends == {("exit", 0), ("exit", 7), ("signal", 9), ("exit", 5)}


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_pool(run, method):
    run.script(COMMON + f"""
import multiprocessing
def one(value):
    leaf()
    return value * 2
if __name__ == "__main__":
    with multiprocessing.get_context("{method}").Pool(2) as pool:
        print(sum(pool.map(one, range(100))))
        pool.close()
        pool.join()
""")
    assert run("script.py").stdout == "9900\n"
    assert (run.calls()["one"], run.calls()["leaf"]) == (100, 100)


def test_executor(run):
    run.script(COMMON + """
import concurrent.futures
def one(value):
    leaf()
    return value * 2
if __name__ == "__main__":
    with concurrent.futures.ProcessPoolExecutor(2) as pool:
        print(sum(pool.map(one, range(50))))
""")
    assert run("script.py").stdout == "2450\n"
    assert run.calls()["one"] == 50


def test_subprocess(run):
    run.script(COMMON + """
work(5)
if len(sys.argv) == 1:
    for at in range(3):
        subprocess.run([sys.executable, "script.py", "child"], check=True)
""")
    assert run("script.py").returncode == 0
    assert (run.calls()["work"], run.calls()["leaf"]) == (4, 20)


def test_fork(run):
    run.script(COMMON + """
work(10)
pid = os.fork()
if pid == 0:
    work(100)
    os._exit(0)
os.waitpid(pid, 0)
if os.fork() == 0:
    if os.fork() == 0:
        work(1000)
        os._exit(0)
    os.wait()
    os._exit(0)
os.wait()
""")
    assert run("script.py").returncode == 0
    calls = run.calls()
    assert (calls["work"], calls["leaf"]) == (3, 1110)


def test_fork_within_calls(run):
    """The child goes on inside functions that the parent entered."""
    run.script(COMMON + """
def outer():
    pid = os.fork()
    work(100)
    if pid:
        os.waitpid(pid, 0)
    return pid
if outer() == 0:
    os._exit(0)
""")
    assert run("script.py").returncode == 0
    calls = run.calls()
    assert (calls["work"], calls["leaf"]) == (2, 200)
    assert calls["outer"] == 1


def test_threads(run):
    run.script(COMMON + """
threads = [threading.Thread(target=work, args=(100 * (at + 1),)) for at in range(4)]
for thread in threads: thread.start()
for thread in threads: thread.join()
""")
    assert run("script.py").returncode == 0
    profile = run.profile()
    assert (profile.calls("script.py")["work"], profile.calls("script.py")["leaf"]) == (4, 1000)
    assert profile.row("work")["pcalls"] == 4


def test_killed_child(run):
    run.script(COMMON + """
import signal
pid = os.fork()
if pid == 0:
    work(100)
    os.kill(os.getpid(), signal.SIGKILL)
os.waitpid(pid, 0)
work(1)
""")
    assert run("script.py").returncode == 0
    assert (run.calls()["work"], run.calls()["leaf"]) == (2, 101)
