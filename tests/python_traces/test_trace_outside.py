"""Trace points of Python outside of any trace, under `venturi run`: they have parents all the same, but no trace."""
import json
import os
import subprocess
import sys

import pytest
from in_pythons import TOP, VENTURI, VERSIONS, environment, python_or_skip

sys.path.insert(0, os.path.join(TOP, "tests", "reader"))

PROGRAM = '''
import asyncio, os, threading, time
from venturi import trace

with trace.Trace("outer"):
    time.sleep(0.01)
    with trace.Trace("inner"):
        time.sleep(0.03)

@trace.trace("task", hide_args=True)
async def task():
    with trace.Trace("step"):
        await asyncio.sleep(0.03)

async def both():
    with trace.Trace("all"):
        time.sleep(0.01)
        await asyncio.gather(task(), task())
asyncio.run(both())

@trace.trace("again", hide_args=True)
def again(n):
    time.sleep(0.01)
    if n:
        again(n - 1)
again(2)

def work():
    with trace.Trace("thread"):
        time.sleep(0.01)
        trace.start("hand")
        time.sleep(0.02)
        trace.stop()
with trace.Trace("join"):
    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads: thread.start()
    for thread in threads: thread.join()

with trace.Trace("parent"):
    pid = os.fork()
    if not pid:
        with trace.Trace("child"):
            time.sleep(0.01)
        os._exit(0)
    os.waitpid(pid, 0)
TRACED
'''
TRACED = '''
trace.init("k")
with trace.Trace("traced"):
    pass
'''


def tool(*words):
    done = subprocess.run([VENTURI, *map(str, words)], capture_output=True, text=True, timeout=60, env=environment())
    assert done.returncode == 0, done.stderr
    return done.stdout


def record(version, folder, more=""):
    (folder / "program.py").write_text(PROGRAM.replace("TRACED", more))
    command = [VENTURI, "run", "-q", "-f", "-o", folder / "out.vt", "--python", python_or_skip(version), folder / "program.py"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120, env=environment())
    assert done.returncode == 0, done.stderr
    return folder / "out.vt"


@pytest.fixture(scope="module", params=VERSIONS)
def recorded(request, tmp_path_factory):
    return record(request.param, tmp_path_factory.mktemp("outside"))


def spans(path):
    found = {}
    for row in json.loads(tool("query", "--json", path, "SELECT * FROM spans WHERE async ORDER BY begin_ns")):
        found.setdefault(row["name"], []).append(row)
    return found


def covered(rows, inside):
    """How much of the time of `rows` lies in some of `inside`, a row at a time."""
    total = 0
    for row in rows:
        until = row["begin_ns"]
        for other in inside:
            begin, end = max(until, other["begin_ns"]), min(row["end_ns"], other["end_ns"])
            if end > begin:
                total, until = total + end - begin, end
    return total


def test_self_times(recorded):
    """Own time is without that of nested ones, to the nanosecond: in a block, in tasks, on threads."""
    rows = spans(recorded)
    stats = {row["name"]: row for row in json.loads(tool("query", "--json", recorded, "SELECT * FROM stats"))}
    whole = {name: sum(row["duration_ns"] for row in rows[name]) for name in rows}
    for name, inside in (("outer", "inner"), ("all", "task")):
        assert stats[name]["self_ns"] == whole[name] - covered(rows[name], rows[inside]), name
    for name, inside in (("task", "step"), ("thread", "hand")):  # each has one, which lies in none of the others' parents
        assert stats[name]["self_ns"] == whole[name] - whole[inside], name
    for name in ("inner", "step", "hand", "join", "child"):
        assert stats[name]["self_ns"] == stats[name]["total_ns"] == whole[name], name
    assert stats["parent"]["self_ns"] == whole["parent"]  # what another process does is not part of it
    assert stats["again"]["total_ns"] == rows["again"][0]["duration_ns"] and stats["again"]["self_ns"] == stats["again"]["total_ns"]


def test_rank_says_the_same(recorded):
    lines = [line.split() for line in tool("rank", "-w", recorded).splitlines()]
    at = lines[0].index("Self")
    outer = next(line for line in lines if line[-1:] == ["outer"])
    assert outer[at] != outer[lines[0].index("Total")]


def test_ids_without_a_trace(recorded):
    rows = spans(recorded)
    every = [row for found in rows.values() for row in found]
    assert {row["base_id"] for row in every} == {None} and len({row["trace_id"] for row in every} - {None}) == len(every)
    for name, parent in (("inner", "outer"), ("task", "all"), ("hand", "thread"), ("step", "task")):
        assert sorted(row["parent_trace_id"] for row in rows[name]) in (sorted(row["trace_id"] for row in rows[parent]),
                                                                        [rows[parent][0]["trace_id"]] * 2), name
    first, second, third = rows["again"]
    assert (second["parent_trace_id"], third["parent_trace_id"]) == (first["trace_id"], second["trace_id"])
    for name in ("outer", "all", "thread", "join", "parent", "child"):
        assert {row["parent_trace_id"] for row in rows[name]} == {None}, name


def test_they_are_no_trace(recorded, tmp_path):
    done = subprocess.run([VENTURI, "trace", "list", recorded], capture_output=True, text=True, env=environment())
    assert done.returncode == 2 and "holds no traces" in done.stderr and "trace.init()" in done.stderr, done
    zero = "00000000-0000-0000-0000-000000000000"
    done = subprocess.run([VENTURI, "trace", "show", zero, recorded], capture_output=True, text=True, env=environment())
    assert done.returncode == 2 and not done.stdout, done
    assert "outer" in tool("flame", "--spans", recorded)
    for kind in ("jsonl", "chrome", "perfetto"):
        tool("export", "-f", kind, "-o", tmp_path / kind, recorded)
        data = (tmp_path / kind).read_bytes()
        assert b"trace_id" in data and b"base_id" not in data and zero.encode() not in data, kind
    assert zero not in tool("export", "-f", "csv", recorded)


def test_copies_keep_them(recorded, tmp_path):
    tool("slice", "--from", "0%", "-o", tmp_path / "copy.vt", recorded)
    ids = [[tuple(row[key] for key in ("name", "base_id", "trace_id", "parent_trace_id")) for found in spans(path).values() for row in found]
           for path in (recorded, tmp_path / "copy.vt")]
    assert ids[0] == ids[1] and all(row[2] for row in ids[0])


def test_the_second_reader_agrees(recorded):
    import vtread
    traces = [span.trace for span in vtread.read(str(recorded)).spans() if span.trace]
    assert len(traces) > 10 and {trace.base.int for trace in traces} == {0} and 0 in {trace.parent.int for trace in traces}


def test_beside_a_trace(tmp_path):
    path = record(VERSIONS[0], tmp_path, TRACED)
    listed = json.loads(tool("trace", "list", "--json", path))
    assert [trace["spans"] for trace in listed["traces"]] == [1], listed
    shown = json.loads(tool("trace", "show", "last", "--json", path))
    assert "outer" not in json.dumps(shown) and "traced" in json.dumps(shown)
    page = tmp_path / "page.html"
    tool("report", "-o", page, path)
    assert page.stat().st_size > 1000
