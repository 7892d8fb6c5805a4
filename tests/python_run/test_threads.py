"""Threads of a Python program: their names, their own tables, and no calls of ours among theirs."""
import json
import subprocess

from conftest import VENTURI

SCRIPT = """
import threading
def leaf(): pass
def work(count):
    for _ in range(count):
        leaf()
threads = [threading.Thread(target=work, args=(10 * (at + 1),), name="worker %d" % at) for at in range(3)]
for thread in threads: thread.start()
for thread in threads: thread.join()
"""


def tool(*words):
    done = subprocess.run([VENTURI, *map(str, words)], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_threads_have_their_names(run):
    run.script(SCRIPT)
    assert run("script.py").returncode == 0
    names = [thread["name"] for thread in json.loads(tool("info", "--json", run.output))["threads"]]
    assert sorted(names) == ["MainThread", "worker 0", "worker 1", "worker 2"]
    for at in range(3):
        shown = json.loads(tool("stats", "--json", "--thread", "worker %d" % at, run.output, "leaf"))
        assert [row["ncalls"] for row in shown["functions"]] == [10 * (at + 1)]


def test_a_timeline_has_only_calls_of_the_program(run):
    run.script(SCRIPT)
    assert run("script.py", options=["--timeline"]).returncode == 0
    assert "venturi" not in tool("query", run.output, "SELECT DISTINCT file FROM sites WHERE name = 'empty'")
    rows = json.loads(tool("query", "--json", run.output, "SELECT count(*) AS n FROM spans WHERE name = 'leaf'"))
    assert rows == [{"n": 60}]
