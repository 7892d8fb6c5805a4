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
threads = [threading.Thread(target=work, args=(10 * (at + 1),), name="a worker with a long name %d" % at) for at in range(3)]
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
    assert sorted(names) == ["MainThread", *("a worker with a long name %d" % at for at in range(3))]
    for at in range(3):
        shown = json.loads(tool("stats", "--json", "--thread", "a worker with a long name %d" % at, run.output, "leaf"))
        assert [row["ncalls"] for row in shown["functions"]] == [10 * (at + 1)]


def test_a_timeline_has_only_calls_of_the_program(run):
    run.script(SCRIPT)
    assert run("script.py", options=["--timeline"]).returncode == 0
    assert "venturi" not in tool("query", run.output, "SELECT DISTINCT file FROM sites WHERE name = 'empty'")
    rows = json.loads(tool("query", "--json", run.output, "SELECT count(*) AS n FROM spans WHERE name = 'leaf'"))
    assert rows == [{"n": 60}]


DEEP = """
import json, sys, threading, time
sys.setrecursionlimit(10**6)
sys.setswitchinterval(1e-4)
threading.stack_size(1 << 20)
done, made, has_other, depth = False, 0, sys.argv[1] == "other", int(sys.argv[2])
def dive(n): return 0 if n == 0 else dive(n - 1) + 1
def leaf(): pass
def other():
    global made
    while not done:
        leaf()
        made += 1
def deep():
    global done
    time.sleep(0.2)  # the main thread waits by then
    for _ in range(15): dive(depth)
    done = True
threads = [threading.Thread(target=deep)] + [threading.Thread(target=other)] * has_other
for thread in threads: thread.start()
for thread in threads: thread.join()
print(json.dumps([made, sys.modules["venturi._venturi"].info()["unseen"]]))
"""


def test_others_while_one_is_deep(run):
    """On 3.11 a thread that is very deep takes the hook away from all: what that leaves out is said. On others nothing is."""
    run.script(DEEP)
    depth = 1500 if run.version in ("3.9", "3.10") else 20000
    for how in ("alone", "other"):
        done = run("script.py", how, depth)
        assert done.returncode == 0, done.stderr
        made, unseen = json.loads(done.stdout)
        shown = subprocess.run([VENTURI, "stats", "--json", run.output], capture_output=True, text=True)
        table = json.loads(shown.stdout)
        calls = {row["name"]: row["ncalls"] for row in table["functions"]}
        assert calls["dive"] + table["lost_calls"] == 15 * (depth + 1)
        assert table["lost_calls_at_least"] == (unseen > 0)
        if how == "alone" or run.version != "3.11":
            assert unseen == 0 and calls.get("leaf", 0) == made
        else:
            assert calls["leaf"] <= made and unseen
        text = subprocess.run([VENTURI, "stats", run.output], capture_output=True, text=True).stderr
        assert ("at least %d calls lost" % table["lost_calls"] in text) == (unseen > 0)
        assert ("the calls of others were not seen" in text) == (unseen > 0)
