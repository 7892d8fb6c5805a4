"""CPU, memory and I/O of all processes of a program, against programs of which they are known."""
import json
import os
import random
import signal
import subprocess
import sys
import time

import pytest
import vtread
from conftest import VENTURI, Recording, program, tool, wait_for
from vtwrite import Writer, string, varint

PYTHON = sys.executable
BURN = "import time\nwhile time.process_time() < %s: pass\n"
SLACK = 0.05  # seconds of CPU: what an interpreter needs to start is in all of them

pytestmark = pytest.mark.skipif(not os.path.exists("/proc/self/io"), reason="no /proc to read")


def watched(tmp_path, code, *options, name="out.vt"):
    """Runs Python code under `venturi run`: its recording, and what it printed."""
    path = tmp_path / name
    script = tmp_path / "script.txt"  # no .py: nothing of it is to be recorded
    script.write_text(code)
    command = [VENTURI, "run", "-q", "--no-functions", "-o", str(path), *options, "--", PYTHON, "-S", str(script)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    return Recording(path), done.stdout


def tree(recording):
    rows = recording.query("SELECT * FROM resources WHERE pid IS NULL ORDER BY time_ns")
    assert rows
    return rows


def processes(recording):
    return recording.query("SELECT * FROM watched")


# The script prints this last: all CPU time of itself and of what it has waited for, as the kernel knows it.
TRUTH = """
import resource
def used(who):
    usage = resource.getrusage(who)
    return usage.ru_utime + usage.ru_stime
print(used(resource.RUSAGE_SELF) + used(resource.RUSAGE_CHILDREN))
"""


def test_cpu_of_a_child(tmp_path):
    recording, out = watched(tmp_path, """
import subprocess, sys
subprocess.run([sys.executable, "-S", "-c", %r])
%s""" % (BURN % 0.5, TRUTH))
    cpu = tree(recording)[-1]["cpu_ns"] / 1e9
    assert float(out) <= cpu + 0.001 and cpu < float(out) + SLACK
    child = max(processes(recording), key=lambda row: row["cpu_ns"])
    assert 0.3 < child["cpu_ns"] / 1e9 < 0.5 + SLACK
    assert child["parent_pid"] in [row["pid"] for row in processes(recording)]


def test_sums_never_go_back(tmp_path):
    recording, _ = watched(tmp_path, """
import subprocess, sys
for i in range(4):
    subprocess.run([sys.executable, "-S", "-c", %r])
""" % (BURN % 0.1), "--resources", "50")
    rows = tree(recording)
    for key in ("cpu_ns", "user_ns", "read_bytes", "time_ns"):
        values = [row[key] for row in rows]
        assert values == sorted(values), key
    assert rows[0]["cpu_ns"] == 0
    assert all(row["user_ns"] <= row["cpu_ns"] + 20000000 for row in rows)


def test_short_children_are_in_the_sum(tmp_path):
    """Each lives for less than the time between two readings."""
    recording, out = watched(tmp_path, """
import os, time
for i in range(20):
    pid = os.fork()
    if not pid:
        while time.process_time() < 0.05: pass
        os._exit(0)
    os.waitpid(pid, 0)
""" + TRUTH, "--resources", "2")
    cpu = tree(recording)[-1]["cpu_ns"] / 1e9
    assert float(out) > 0.9
    assert float(out) <= cpu + 0.001 and cpu < float(out) + SLACK
    assert len(processes(recording)) < 15


def test_children_that_nobody_waits_for(tmp_path):
    """The kernel adds them to nobody: what was seen of them counts."""
    recording, out = watched(tmp_path, """
import os, signal, time
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
for i in range(3):
    if not os.fork():
        while time.process_time() < 0.3: pass
        os._exit(0)
try:
    os.waitpid(-1, 0)
except ChildProcessError:
    pass
""" + TRUTH, "--resources", "50")
    assert float(out) < 0.3
    assert 0.6 < tree(recording)[-1]["cpu_ns"] / 1e9 < 0.9 + 3 * SLACK


def test_memory(tmp_path):
    recording, _ = watched(tmp_path, """
import os, time
if not os.fork():
    block = bytearray(100 << 20)
    for i in range(0, len(block), 4096):
        block[i] = 1
    time.sleep(0.5)
    os._exit(0)
os.wait()
""")
    peak = max(row["memory_bytes"] or 0 for row in tree(recording))
    assert 100 << 20 <= peak < 160 << 20
    assert max(row["peak_bytes"] for row in processes(recording)) >= 100 << 20
    assert tree(recording)[-1]["peak_bytes"] >= 100 << 20
    assert max(row["processes"] for row in tree(recording)) == 2


def test_peak_between_readings(tmp_path):
    """Over before the second reading: the kernel has kept the mark, and wait4 tells it."""
    recording, _ = watched(tmp_path, """
block = bytearray(100 << 20)
block[::4096] = bytes(len(block[::4096]))
del block
""", "--resources", "1")
    assert tree(recording)[-1]["peak_bytes"] >= 100 << 20


def test_bytes(tmp_path):
    recording, _ = watched(tmp_path, """
import os, time
if not os.fork():
    with open("ten", "wb") as file:
        file.write(bytes(10 << 20))
    time.sleep(0.3)
    os._exit(0)
os.wait()
with open("ten", "rb") as file:
    file.read()
""")
    last = tree(recording)[-1]
    assert 10 << 20 <= last["written_bytes"] < 11 << 20
    assert 10 << 20 <= last["read_bytes"] < 12 << 20
    parent, child = sorted(processes(recording), key=lambda row: row["written_bytes"])
    assert child["parent_pid"] == parent["pid"]
    assert parent["written_bytes"] < 1 << 20  # its child's are not its own


def test_late_grandchild_that_is_no_python(tmp_path):
    recording, _ = watched(tmp_path, """
import os, subprocess, time
time.sleep(0.3)
subprocess.run(["sh", "-c", "sleep 1; true"])
""")
    rows = {row["name"]: row for row in processes(recording)}
    assert set(rows) >= {"sh", "sleep"}
    assert rows["sleep"]["parent_pid"] == rows["sh"]["pid"]
    assert rows["sleep"]["command"] == "sleep 1"
    assert 0.2e9 < rows["sleep"]["start_ns"] < rows["sleep"]["end_ns"]
    assert rows["sh"]["process"] is None


def test_daemon(tmp_path):
    """Its parents are gone before anybody can have seen them."""
    recording, out = watched(tmp_path, """
import os, time
reading, writing = os.pipe()
if not os.fork():
    os.setsid()
    if not os.fork():
        while time.process_time() < 0.3: pass
        os.write(writing, b"%d" % os.getpid())
        time.sleep(0.3)
    os._exit(0)
os.wait()
print(os.read(reading, 100).decode())
time.sleep(0.25)
""")
    daemon = [row for row in processes(recording) if row["pid"] == int(out)]
    assert len(daemon) == 1
    assert daemon[0]["cpu_ns"] >= 0.3e9
    assert tree(recording)[-1]["cpu_ns"] >= 0.3e9


def test_threads(tmp_path):
    recording, _ = watched(tmp_path, """
import threading, time
threads = [threading.Thread(target=time.sleep, args=(0.4,)) for i in range(5)]
for thread in threads: thread.start()
for thread in threads: thread.join()
""")
    assert max(row["threads"] or 0 for row in tree(recording)) == 6


def test_off(tmp_path):
    for option in (["--no-resources"], ["--resources", "0"]):
        recording, _ = watched(tmp_path, "pass", "-f", *option)
        assert recording.query("SELECT * FROM resources") == []
        assert recording.info["resource_readings"] == 0
    for wrong in ("", "-1", "101", "ten", "1.5"):
        done = tool("run", "--resources", wrong, "true", check=False)
        assert done.returncode == 2 and "not a whole number from 0 to 100" in done.stderr


def test_nothing_else_changes(record):
    """Events, losses, threads and processes are the program's own."""
    with_them = record("everything", options=["--resources", "100"])
    recording = with_them.recording
    assert recording.info["resource_readings"] > 0
    without = record("everything", options=["--no-resources", "-f"]).recording
    for key in ("events", "spans", "lost_events", "process_count", "thread_count", "site_count", "unknown_blocks"):
        assert recording.info[key] == without.info[key], key


def test_recorded_processes_are_known(record):
    recording = record("everything").recording
    pids = {row["id"]: row["pid"] for row in recording.query("SELECT id, pid FROM processes")}
    assert [row["pid"] for row in processes(recording) if row["process"] is not None] == list(pids.values())
    assert all(pids[row["process"]] == row["pid"] for row in processes(recording) if row["process"] is not None)


def test_the_format_is_as_documented(tmp_path):
    recording, _ = watched(tmp_path, "import time\ntime.sleep(0.3)\n")
    read = vtread.read(open(recording.path, "rb").read())
    assert read.damage == [] and read.is_closed
    defined = {fact.number for _, fact in read.resources if fact.type == "process"}
    readings = {}
    ticks = {}
    for offset, fact in read.resources:
        if fact.type == "reading":
            ticks[offset] = ticks.get(offset, 0) + fact.fields[0]
            readings.setdefault(fact.number, []).append((ticks[offset], fact.fields[1]))
    assert set(readings) - {0} <= defined
    assert [values[0] for _, values in readings[0]] == [row["cpu_ns"] for row in tree(recording)]
    for points in readings.values():
        assert points == sorted(points, key=lambda point: point[0])


def test_slice_and_merge(record, tmp_path):
    whole = record("threads", 2000, 8, 10).recording
    middle = max(row["time_ns"] for row in whole.query("SELECT time_ns FROM resources"))
    other = record("everything", path=tmp_path / "other.vt").recording
    tool("merge", "-o", tmp_path / "two.vt", whole.path, other.path)
    two = Recording(tmp_path / "two.vt")
    counts = two.query("SELECT tree, count(*) AS n, max(cpu_ns) AS cpu FROM resources WHERE pid IS NULL GROUP BY tree")
    assert [row["tree"] for row in counts] == [0, 1]
    assert [(row["n"], row["cpu"]) for row in counts] == [
        (len(tree(one)), tree(one)[-1]["cpu_ns"]) for one in (whole, other)]
    pids = {row["id"]: row["pid"] for row in two.query("SELECT id, pid FROM processes")}
    assert {row["pid"] for row in processes(two)} == {row["pid"] for one in (whole, other) for row in processes(one)}
    assert all(pids[row["process"]] == row["pid"] for row in processes(two) if row["process"] is not None)
    tool("slice", whole.path, "--to", "50%", "-o", tmp_path / "half.vt")
    half = Recording(tmp_path / "half.vt")
    assert all(row["time_ns"] < middle for row in tree(half))
    assert tree(half)[0]["cpu_ns"] == 0


def test_counters_of_exports(tmp_path):
    recording, _ = watched(tmp_path, BURN % 0.4)
    out = tmp_path / "out.json"
    tool("export", "-f", "chrome", "-o", out, recording.path)
    counters = {}
    for event in json.loads(out.read_text())["traceEvents"]:
        if event["ph"] == "C":
            counters.setdefault(event["name"], []).append(event["args"])
    known = [row["memory_bytes"] for row in tree(recording) if row["memory_bytes"] is not None]
    assert [args["bytes"] for args in counters["memory of all processes"]] == known
    cores = sorted(args["cores"] for args in counters["CPU of all processes"])
    assert 0 < cores[-1] and cores[len(cores) // 2] < 1.5  # a reading that was kept waiting makes one of them wrong
    tool("export", "-f", "perfetto", "-o", tmp_path / "out.pftrace", recording.path)
    data = (tmp_path / "out.pftrace").read_bytes()
    assert data.count(b"CPU of all processes") == data.count(b"memory of all processes") == 1


def test_flight_recorder(tmp_path):
    recording, _ = watched(tmp_path, """
import subprocess, time
subprocess.run(["sleep", "0.3"])
time.sleep(2.2)
subprocess.run(["sleep", "0.3"])
""", "--ring", "1s")
    rows = tree(recording)
    assert 2 <= len(rows) < 25  # of the last second or two, not of three
    assert rows[-1]["time_ns"] - rows[0]["time_ns"] < 2.2e9
    names = [row["name"] for row in processes(recording)]
    assert len(names) - names.count("sleep") == 1 and names.count("sleep") <= 1  # the first one is forgotten


def test_drainer_is_killed(tmp_path):
    path = tmp_path / "killed.vt"
    drainer = subprocess.Popen([VENTURI, "run", "-q", "-o", str(path), "sh", "-c", "echo $$; exec sleep 60"],
                               stdout=subprocess.PIPE, text=True)
    sleeper = int(drainer.stdout.readline())
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline and len(Recording(path).query("SELECT * FROM resources")) < 8:
        time.sleep(0.2)
    drainer.kill()
    drainer.wait()
    os.kill(sleeper, signal.SIGKILL)
    recording = Recording(path)
    assert not recording.info["closed"]
    assert len(tree(recording)) >= 5
    assert [row["pid"] for row in processes(recording)] == [sleeper]
    assert processes(recording)[0]["end_ns"] is None


@pytest.mark.parametrize("hz, is_read", [("20", True), ("0", False), ("nonsense", True)])
def test_program_that_records_on_its_own(tmp_path, hz, is_read):
    path = tmp_path / "out.vt"
    subprocess.run([program("forks"), "fork", "3", "50"], check=True, cwd=tmp_path,
                   env={**os.environ, "VENTURI_OUTPUT": str(path), "VENTURI_RESOURCES": hz})
    wait_for(lambda: path.exists() and Recording(path).info["closed"])
    recording = Recording(path)
    assert bool(recording.info["resource_readings"]) == is_read
    if is_read:
        assert 0 in [row["process"] for row in processes(recording)]
        assert tree(recording)[0]["cpu_ns"] == 0


# ---- recordings that no drainer wrote ----


def entry(kind, *numbers, more=b""):
    body = b"".join(map(varint, numbers)) + more
    return varint(kind) + varint(len(body)) + body


def process(number, pid, parent=0, name=b"p", start=10, end=0):
    return entry(1, 0, number, 0, 0, 0, parent, pid, start, end, more=string(name) + string(b"a\0b"))


def written(tmp_path, *payloads, count=None):
    writer = Writer()
    writer.clock(0, anchors=[(0, 0, 10**18, 1), (10**9, 10**9, 10**18 + 10**9, 1)])
    for payload in payloads:
        writer.block(29, b"".join(payload), len(payload) if count is None else count)
    writer.close()
    path = tmp_path / "made.vt"
    path.write_bytes(writer.bytes())
    return path


def test_series_of_a_recording_that_was_made(tmp_path):
    recording = Recording(written(tmp_path, [
        process(1, 50), process(2, 51, parent=1, name=b"early"), process(2, 51, parent=1, name=b"late", end=900),
        entry(2, 0, 1, 100, 0b101, 7000, 4096),       # CPU and memory
        entry(2, 0, 2, 0, 0b1, 300),                  # at the same time: all else unknown
        entry(9, 1, 2, 3),                            # of a type from the future
        entry(2, 0, 1, 100, 0b1 | 1 << 40, 9000, 1),  # with a value from the future
        entry(2, 0, 9, 5, 0b1, 1)]))                  # of a process that nobody defined
    rows = recording.query("SELECT pid, name, time_ns, cpu_ns, memory_bytes, read_bytes FROM resources")
    assert [tuple(row.values()) for row in rows] == [
        (50, "p", 100, 7000, 4096, None), (50, "p", 200, 9000, None, None), (51, "late", 100, 300, None, None),
        (0, "", 205, 1, None, None)]
    rows = processes(recording)
    assert [(row["pid"], row["parent_pid"], row["end_ns"], row["command"]) for row in rows] == [
        (50, None, None, "a b"), (51, 50, 900, "a b"), (0, None, None, "")]


def test_the_curve_has_what_was_between_its_points(tmp_path):
    """A second between two readings, then a peak a moment later, and none of it at the end."""
    path = written(tmp_path, [entry(2, 0, 0, step, 0b101, 1000, memory) for step, memory in (
        (0, 10**6), (10**6, 2 * 10**6), (10**6, 3 * 10**6), (9 * 10**8, 70 * 10**6), (10**6, 3 * 10**6), (5 * 10**8, 10**6))])
    assert "at most 70.0 MB" in tool("report", path).stdout


def test_nonsense_is_harmless(tmp_path):
    chance = random.Random(29)
    for _ in range(60):
        whole = [process(1, 50, parent=chance.choice([0, 1, 2, 2**32 - 2])), entry(2, 0, 1, 2**64 - 1, 1, 2**64 - 1),
                 entry(2, 2**32 - 2, 0, 5, 2**64 - 1, *[2**64 - 1] * 64), entry(2, 0, 0, 1, 1, 3)]
        payload = bytearray(b"".join(whole))
        for _ in range(chance.randrange(4)):
            payload[chance.randrange(len(payload))] = chance.randrange(256)
        del payload[chance.randrange(len(payload) + 1):]
        path = written(tmp_path, [bytes(payload)], count=chance.choice([0, 1, 4, 2**32 - 1]))
        for command in (["query", path, "SELECT * FROM resources"], ["query", path, "SELECT * FROM watched"],
                        ["info", path], ["report", path], ["merge", "-f", "-o", tmp_path / "m.vt", path]):
            done = tool(*command, check=False)
            assert done.returncode in (0, 1, 2) and "Sanitizer" not in done.stderr, (command, done.stderr)
