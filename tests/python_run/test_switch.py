"""Recording that is switched from outside, and profiles within a program that is recorded."""
import json
import subprocess

import pytest
from conftest import VENTURI, environment, stop_group, wait_for
from interpreters import PACKAGE, TOP

STEPS = """
import os, sys, time
def leaf(): pass
def work(count):
    for _ in range(count): leaf()
def step(name):
    print(name, flush=True)
    while not os.path.exists(name): time.sleep(0.005)
"""


def stats(path, *options):
    done = subprocess.run([VENTURI, "stats", "--json", *options, str(path)], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def steps(run, text, actions, options=(), env=None):
    """Runs a script that says which step it has come to; at each it waits for us, who switch first."""
    run.script(STEPS + text)
    child = run.start("script.py", options=options, env=env, stdout=subprocess.PIPE)
    try:
        for name, action in actions.items():
            line = child.stdout.readline()
            assert line == name + "\n"
            done = subprocess.run([VENTURI, "control", str(child.pid), action], capture_output=True, text=True, timeout=60,
                                  env=environment())
            assert done.returncode == 0, done.stderr
            (run.folder / name).touch()
        rest = child.stdout.read()
        assert child.wait(60) == 0
    finally:
        stop_group(child)
    return rest


@pytest.mark.parametrize("option", [[], ["--builtins"]])
def test_paused_at_the_start(run, option):
    """Only what came after is there; what it cost is known all the same, and taken off."""
    steps(run, "work(100)\nstep('on')\nwork(50000)\nstep('off')\nwork(7)\n", {"on": "on", "off": "off"},
          options=["--paused", *option])
    calls = run.calls()
    assert (calls["leaf"], calls["work"]) == (50000, 1)
    left, raw = stats(run.output), stats(run.output, "--raw")
    assert 0 < left["own_cost"] < raw["total_time"] and left["own_cost"] / 50000 > 3e-9
    own = [{row["name"]: row["tottime"] for row in found["functions"]} for found in (left, raw)]
    assert own[0]["leaf"] < own[1]["leaf"] and own[0]["work"] < own[1]["work"]


GREENLETS = """
import greenlet
def turn():
    while True:
        leaf()
        greenlet.getcurrent().parent.switch()
def rounds(all, count):
    for _ in range(count):
        for one in all: one.switch()
def main():
    old = [greenlet.greenlet(turn) for _ in range(3)]
    rounds(old, 10)
    step('off')
    unseen = [greenlet.greenlet(turn) for _ in range(2)]
    rounds(old + unseen, 10)
    step('on')
    new = [greenlet.greenlet(turn) for _ in range(4)]
    rounds(old + unseen + new, 10)
main()
"""


def test_greenlets_that_are_switched_off_and_on(run):
    """Calls that were open when it was switched off ended there; those that go on are called by nobody we know."""
    neighbours = "%s/build/neighbours/%s" % (TOP, run.version)
    if run.alone("-c", "import greenlet", env={"PYTHONPATH": neighbours}).returncode:
        pytest.skip("Python %s has no greenlet" % run.version)
    steps(run, GREENLETS, {"off": "off", "on": "on"}, env={"PYTHONPATH": neighbours})
    profile = run.profile()
    callers = {row["name"]: row["ncalls"] for row in profile.row("leaf")["callers"]}
    assert profile.row("leaf")["ncalls"] == 30 + 90
    assert callers == {"turn": 30 + 40}
    assert profile.row("turn")["ncalls"] == 3 + 4 and profile.row("turn")["callers"] == []
    assert profile.row("rounds")["ncalls"] == 2
    assert all(0 <= row["tottime"] <= row["cumtime"] for row in profile.functions)


def test_greenlets_of_a_recording_that_begins_later(run):
    """Those that were there before have stacks of their own from the next switch on; also in a thread, of which nothing
    was known."""
    neighbours = "%s/build/neighbours/%s" % (TOP, run.version)
    if run.alone("-c", "import greenlet", env={"PYTHONPATH": neighbours}).returncode:
        pytest.skip("Python %s has no greenlet" % run.version)
    text = GREENLETS.replace("step('off')", "step('on')").replace("step('on')\n    new", "new")
    text = text.replace("\nmain()\n", "\nimport threading\nthread = threading.Thread(target=main)\nthread.start()\nthread.join()\n")
    steps(run, text, {"on": "on"}, options=["--paused"], env={"PYTHONPATH": neighbours})
    profile = run.profile()
    assert profile.row("leaf")["ncalls"] == 50 + 90
    # Of the greenlets that were there, nobody we know has called; none of their calls are within another's.
    assert {row["name"]: row["ncalls"] for row in profile.row("leaf")["callers"]} == {"turn": 20 + 60}
    assert profile.row("turn")["ncalls"] == 2 + 4 and profile.row("turn")["callers"] == []


PROFILE = """
import json, threading, venturi
def leaf(): pass
def work(count):
    for _ in range(count): leaf()
def both(count):
    thread = threading.Thread(target=work, args=(count,))
    thread.start()
    work(count)
    thread.join()
def told(stats): return {row.name: [row.ncalls, row.tottime, row.cumtime] for row in stats.rows()}
both(1000)
profile = venturi.Profile(builtins=%(builtins)r)
with profile: both(20000)
both(300)
with profile: both(4000)
both(50)
found = told(profile.stats())
print(json.dumps([found["leaf"], found["work"], found["both"]]))
"""


@pytest.mark.parametrize("options, builtins", [([], False), ([], True), (["--builtins"], False), (["--timeline"], False)])
def test_profile_within_a_recording(run, options, builtins):
    run.script(PROFILE % {"builtins": builtins})
    done = run("script.py", options=options, env={"PYTHONPATH": PACKAGE})
    assert done.returncode == 0, done.stderr
    leaf, work, both = json.loads(done.stdout)
    assert (leaf[0], work[0], both[0]) == (2 * 24000, 2 * 2, 2)
    profile = run.profile()
    rows = {name: profile.row(name) for name in ("leaf", "work", "both")}
    assert [rows[name]["ncalls"] for name in rows] == [2 * 25350, 2 * 5, 5]
    assert {row["name"]: row["ncalls"] for row in rows["leaf"]["callers"]} == {"work": 2 * 25350}
    assert {row["name"] for row in rows["both"]["callers"]} == {"<module>"}
    for _, own, total in leaf, work, both:
        assert 0 <= own <= total * (1 + 1e-9)
    # It is part of the whole, and nearly all of it; what is taken off for a call is measured anew with built-ins.
    assert 0 < both[2] < rows["both"]["cumtime"] * 1.1


def test_calls_that_are_open_when_a_profile_ends(run):
    """In a recording of every single call: what comes after goes there again, each call with its own end."""
    run.script("""
        import threading, time, venturi
        inside, after = threading.Event(), threading.Event()
        def again(depth):
            if depth == 0: return
            inside.set()
            after.wait()
            again(depth - 1)
            time.sleep(0.3)
        profile = venturi.Profile()
        def counted(): pass
        def on():
            profile.start()
            counted()
        def off(): profile.stop()
        on()
        thread = threading.Thread(target=again, args=(1,))
        thread.start()
        inside.wait()
        off()
        after.set()
        thread.join()
        """)
    done = run("script.py", options=["--timeline"], env={"PYTHONPATH": PACKAGE})
    assert done.returncode == 0, done.stderr
    sql = "SELECT name, duration_ns AS took, finished FROM spans WHERE name IN ('again', 'on') ORDER BY name"
    found = subprocess.run([VENTURI, "query", "--json", str(run.output), sql], capture_output=True, text=True, timeout=60)
    rows = json.loads(found.stdout)
    assert [row["name"] for row in rows] == ["again", "on"]
    assert all(row["finished"] and row["took"] < 2e8 for row in rows), rows
    calls = run.calls()
    assert (calls["again"], calls["on"], calls["off"]) == (2, 1, 1)
