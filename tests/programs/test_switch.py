"""Recording switched from outside, and programs that record on their own."""
import json
import os
import shutil
import subprocess
import time

import pytest

from conftest import VENTURI, Recording, program, tool, wait_for


def test_switch_from_outside(tmp_path):
    path, count = tmp_path / "x.vt", tmp_path / "count"
    child = subprocess.Popen([VENTURI, "run", "-q", "--paused", "-o", path, "--", program("counted"), count, "0",
                              "200", "3"])

    def status():
        listed = json.loads(tool("control", "--json", child.pid).stdout)
        return listed[0] if listed else None

    def recorded():
        tool("control", child.pid, "flush")
        return status()["events"]

    try:
        wait_for(lambda: status() is not None)
        time.sleep(0.3)
        assert recorded() == 0 and not status()["recording"]
        tool("control", child.pid, "on")
        wait_for(lambda: recorded() > 100)
        tool("control", child.pid, "off")
        time.sleep(0.1)
        at = recorded()
        time.sleep(0.3)
        assert recorded() == at
        tool("control", child.pid, "on")
        wait_for(lambda: recorded() > at + 100)
        tool("control", child.pid, "stop")
        recording = Recording(path)
        assert recording.info["closed"]
        assert recording.query("SELECT max(depth) AS d FROM spans")[0]["d"] == 2
    finally:
        child.terminate()
        child.wait(20)


def test_control_of_nothing():
    done = tool("control", os.getpid(), "off", check=False)
    assert done.returncode == 2 and done.stderr.count("\n") == 1


def run_alone(tmp_path, name, *args, **env):
    return subprocess.run([program(name), *map(str, args)], cwd=tmp_path, capture_output=True, text=True, timeout=120,
                          env={**os.environ, **env})


def settled(path):
    wait_for(lambda: path.exists() and path.stat().st_size and Recording(path).info["closed"])
    return Recording(path)


@pytest.mark.parametrize("closed", ["0<&-", "1>&-", "0<&- 1>&-", "2>&-", "0<&- 1>&- 2>&-"])
def test_helper_of_a_program_without_streams(tmp_path, closed):
    done = subprocess.run(["sh", "-c", f'exec "$0" exit 10 {closed}', program("ends")], cwd=tmp_path, timeout=120,
                          env={**os.environ, "VENTURI_OUTPUT": "out.vt"})
    plain = tool("run", "-q", "-o", tmp_path / "plain.vt", "--", program("ends"), "exit", "10", check=False)
    assert done.returncode == plain.returncode
    assert settled(tmp_path / "out.vt").events == Recording(tmp_path / "plain.vt").events > 0


@pytest.mark.parametrize("how, name", [("fork", "child"), ("spawn", "work")])
def test_environment_starts_a_helper(tmp_path, how, name):
    path = tmp_path / "out.vt"
    done = run_alone(tmp_path, "forks", how, 10, 50, VENTURI_OUTPUT="out.vt")
    assert done.returncode == 0, done.stderr
    recording = settled(path)
    assert recording.spans() == {"parent": 1, name: 500}
    assert recording.lost == 0


def test_helper_after_a_kill(tmp_path):
    done = run_alone(tmp_path, "ends", "kill", 5000, VENTURI_OUTPUT="out.vt")
    assert done.returncode == -9
    assert settled(tmp_path / "out.vt").spans() == {"pair": 5000, "open": 1}


def test_helper_cannot_write(tmp_path):
    done = run_alone(tmp_path, "ends", "exit", 10, VENTURI_OUTPUT="/nowhere/at/all.vt")
    assert done.returncode == 7
    assert done.stderr.count("\n") == 1 and "/nowhere/at/all.vt" in done.stderr and "not recording" in done.stderr


def test_helper_missing(tmp_path):
    done = run_alone(tmp_path, "ends", "exit", 10, VENTURI_OUTPUT="out.vt", VENTURI_DRAIN="/no/such/helper")
    assert done.returncode == 7
    assert done.stderr.count("\n") == 1 and "not recording" in done.stderr


def test_a_second_run_is_not_mixed_into_the_first(tmp_path):
    """At once after the first, while its drainer may still be writing."""
    path = tmp_path / "out.vt"
    for pairs in (100, 200, 300):
        done = run_alone(tmp_path, "ends", "exit", pairs, VENTURI_OUTPUT="out.vt", VENTURI_FORCE="1")
        assert done.returncode == 7 and done.stderr == ""
    assert settled(path).spans() == {"pair": 300, "open": 1}
    done = run_alone(tmp_path, "ends", "exit", 400, VENTURI_OUTPUT="out.vt")
    assert "already exists" in done.stderr
    assert settled(path).spans() == {"pair": 300, "open": 1}


def test_stop_leaves_a_recording_of_others_alone(record, tmp_path):
    run = record("session", tmp_path / "inner.vt")
    assert run.code == 1  # it cannot start one, and says so
    assert run.recording.spans() == {"recorded": 1210}
    assert not (tmp_path / "inner.vt").exists()


def test_helper_is_no_child_of_the_program(tmp_path):
    """wait() in the program must see its own children only."""
    done = run_alone(tmp_path, "forks", "fork", 3, 5, VENTURI_OUTPUT="out.vt")
    assert done.returncode == 0
    assert settled(tmp_path / "out.vt").spans()["child"] == 15


@pytest.mark.parametrize("name, value, trouble", [
    ("VENTURI_POLICY", "panic", "neither drop nor block:MS"), ("VENTURI_POLICY", "block:soon", "not a number of milliseconds"),
    ("VENTURI_BUFFER", "64Q", "not a size"), ("VENTURI_BUFFER", "-1", "not a size"), ("VENTURI_RING", "1h", "not a number of seconds")])
def test_bad_settings_are_said(tmp_path, name, value, trouble):
    """Recorded with the default all the same: in one line, once, whatever the number of processes."""
    done = run_alone(tmp_path, "forks", "fork", 3, 5, VENTURI_OUTPUT="out.vt", **{name: value})
    assert done.returncode == 0
    assert done.stderr == f"venturi: {tmp_path}/out.vt: recording, but {name} is '{value}', {trouble}: the default holds\n"
    assert settled(tmp_path / "out.vt").spans()["child"] == 15


@pytest.mark.parametrize("name, value", [("VENTURI_POLICY", "drop"), ("VENTURI_POLICY", "block:50"), ("VENTURI_BUFFER", "1M"),
                                         ("VENTURI_BUFFER", "512kB"), ("VENTURI_RING", "60"), ("VENTURI_RING", "")])
def test_good_settings_are_not(tmp_path, name, value):
    done = run_alone(tmp_path, "ends", "exit", 10, VENTURI_OUTPUT="out.vt", **{name: value})
    assert done.returncode == 7 and done.stderr == ""
    assert settled(tmp_path / "out.vt").spans() == {"pair": 10, "open": 1}


def test_a_recording_knows_its_command(tmp_path):
    """Without `venturi run` it is that of the first process, not of those that it starts."""
    run_alone(tmp_path, "forks", "spawn", 2, 5, VENTURI_OUTPUT="out.vt")
    assert settled(tmp_path / "out.vt").info["command"] == f"{program('forks')} spawn 2 5"


def test_session_functions(tmp_path):
    done = run_alone(tmp_path, "session", "a.vt", "b.vt")
    assert done.returncode == 0, done.stderr
    assert Recording(tmp_path / "a.vt").spans() == {"recorded": 200}
    assert Recording(tmp_path / "b.vt").spans() == {"recorded": 50}
    assert Recording(tmp_path / "a.vt").info["closed"]


def test_session_refuses_an_existing_file(tmp_path):
    (tmp_path / "a.vt").write_text("precious")
    done = run_alone(tmp_path, "session", "a.vt")
    assert done.returncode == 1
    assert "already exists" in done.stderr
    assert (tmp_path / "a.vt").read_text() == "precious"


@pytest.mark.skipif(os.geteuid() != 0 or not shutil.which("setpriv"), reason="needs root and setpriv")
def test_other_users_have_no_say(tmp_path):
    """Neither do they see a recording of root, nor can they switch it."""
    nobody = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", VENTURI]
    if subprocess.run([*nobody, "--version"], capture_output=True).returncode:
        pytest.skip("another user cannot reach the tool")
    child = subprocess.Popen([VENTURI, "run", "-q", "-o", tmp_path / "x.vt", "--", program("counted"),
                              tmp_path / "count", "0", "500"])
    try:
        wait_for(lambda: json.loads(tool("control", "--json", child.pid).stdout))
        seen = subprocess.run([*nobody, "control", "--json", str(child.pid)], capture_output=True, text=True)
        assert json.loads(seen.stdout) == []
        done = subprocess.run([*nobody, "control", str(child.pid), "off"], capture_output=True, text=True)
        assert done.returncode == 2
        assert json.loads(tool("control", "--json", child.pid).stdout)[0]["recording"]
    finally:
        child.terminate()
        child.wait(20)
