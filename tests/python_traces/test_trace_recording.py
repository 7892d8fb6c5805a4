"""Trace points of Python programs under `venturi run`: what the recording holds, and what the tool shows of it."""
import json
import subprocess

import pytest
from in_pythons import VENTURI, VERSIONS, environment, python_or_skip

PROGRAM = '''
import asyncio, os, sys, threading, time
from venturi import trace

@trace.trace("sleeper")
async def sleeper(n):
    with trace.Trace("inner", info={"n": n, "deep": {"text": "x", "share": 2.5}}) as span:
        await asyncio.sleep(0.02)
        span["done"] = True
    return n

@trace.trace("plain", hide_args=True)
def plain():
    time.sleep(0.01)

@trace.trace("bad", hide_result=False)
def bad(x):
    if x:
        raise ValueError("boom")
    return "a result"

class Odd:
    def __str__(self):
        raise RuntimeError("no text")

@trace.trace("generator", hide_args=True)
def generate():
    for i in range(3):
        time.sleep(0.01)
        yield i

async def gather():
    await asyncio.gather(*[sleeper(i) for i in range(100)])

plain()                                             # of no trace
trace.set_service(project="shop", service="cart", host="h1")
trace.init("k", base_id="f12e75d5-5d59-4cbc-b74d-357f19290dd7")
asyncio.run(gather())
for _ in generate():
    plain()
for x in (5, 0):
    try:
        bad(x)
    except ValueError:
        pass
trace.start("hand", info={"list": [1, 2], "none": None, "big": 1 << 80, "odd": Odd(), "lone": "\\ud800", "long": "\\xe9" * 3000, 5: 6,
                          "many": {str(i): i for i in range(100)}})
trace.stop(info={"etype": "Mine", "message": "said by hand"})
pid = os.fork()
if not pid:
    with trace.Trace("in the child"):
        plain()
    os._exit(0)
os.waitpid(pid, 0)
'''


class Recorded:
    def __init__(self, path):
        self.path = path

    def tool(self, *words):
        done = subprocess.run([VENTURI, *map(str, words)], capture_output=True, text=True, timeout=60, env=environment())
        assert done.returncode == 0, done.stderr
        return done.stdout

    def spans(self, name):
        rows = json.loads(self.tool("query", "--json", self.path, "SELECT * FROM spans WHERE name = '%s' ORDER BY begin_ns" % name))
        for row in rows:
            row["attributes"] = json.loads(row["attributes"] or "{}")
        return rows


@pytest.fixture(scope="module", params=VERSIONS)
def recorded(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("recorded")
    (folder / "program.py").write_text(PROGRAM)
    command = [VENTURI, "run", "-q", "-f", "-o", folder / "out.vt", "--python", python_or_skip(request.param), folder / "program.py"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120, env=environment())
    assert done.returncode == 0, done.stderr
    return Recorded(folder / "out.vt")


COUNTS = {"sleeper": 100, "inner": 100, "plain": 5, "generator": 1, "bad": 2, "hand": 1, "in the child": 1}
SHORTEST = {"sleeper": 2.0, "inner": 2.0, "plain": 0.05, "generator": 0.06, "in the child": 0.01}


def test_rank_and_report(recorded):
    ranked = {row["name"]: row for row in json.loads(recorded.tool("rank", "--json", recorded.path))["names"]}
    assert {name: row["count"] for name, row in ranked.items()} == COUNTS
    for name, seconds in SHORTEST.items():
        assert seconds * 0.99 <= ranked[name]["total_s"] < seconds + 60
    report = recorded.tool("report", recorded.path)
    for name, count in COUNTS.items():
        assert any(line.split()[:1] == [str(count)] and line.endswith("  " + name) for line in report.splitlines()), (name, report)


def test_ids(recorded):
    outside, inside = recorded.spans("plain")[0], recorded.spans("plain")[1:]
    assert outside["base_id"] is None and {row["base_id"] for row in inside} == {"f12e75d5-5d59-4cbc-b74d-357f19290dd7"}
    tasks = {row["trace_id"]: row for row in recorded.spans("sleeper")}
    inner = recorded.spans("inner")
    assert len(tasks) == 100 and {row["parent_trace_id"] for row in inner} == set(tasks)
    assert {row["parent_trace_id"] for row in tasks.values()} == {"f12e75d5-5d59-4cbc-b74d-357f19290dd7"}
    (generator,), (child,) = recorded.spans("generator"), recorded.spans("in the child")
    assert [row["parent_trace_id"] for row in inside] == [generator["base_id"]] * 3 + [child["trace_id"]]
    assert child["process"] != generator["process"]


def test_facts(recorded):
    inner = recorded.spans("inner")
    assert sorted(row["attributes"]["n"] for row in inner) == list(range(100))
    assert all(row["attributes"] == {"n": row["attributes"]["n"], "deep.text": "x", "deep.share": 2.5, "done": "true"} for row in inner)
    task = recorded.spans("sleeper")[0]["attributes"]
    assert task == {"function.name": "__main__.sleeper", "function.args": task["function.args"], "function.kwargs": "{}",
                    "project": "shop", "service": "cart", "host": "h1"}
    assert recorded.spans("plain")[0]["attributes"] == {"function.name": "__main__.plain"}


def test_failures(recorded):
    failed, good = recorded.spans("bad")
    assert failed["attributes"]["etype"] == "ValueError" and failed["attributes"]["message"] == "boom" and failed["error"]
    assert failed["attributes"]["function.args"] == "(5,)" and good["attributes"]["function.result"] == "'a result'" and not good["error"]
    (by_hand,) = recorded.spans("hand")
    assert by_hand["error"] and by_hand["attributes"]["message"] == "said by hand"


def test_any_value(recorded):
    (span,) = recorded.spans("hand")
    said = span["attributes"]
    assert said["list"] == "[1, 2]" and said["none"] == "null" and said["big"] == str(1 << 80) and said["5"] == 6
    assert "unprintable" in said["odd"] and said["lone"] == "\\ud800" and said["long"] == "é" * 1024
    assert said["many.0"] == 0 and "many.99" not in said


def test_one_tree(recorded):
    shown = recorded.tool("trace", "show", "f12e75d5-5d59-4cbc-b74d-357f19290dd7", recorded.path)
    assert sum(" sleeper " in line for line in shown.splitlines()) == 100 and "ValueError: boom" in shown
