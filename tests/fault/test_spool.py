"""A folder of recordings: sent in order, deleted when all of it is there, counted when it gave way."""
import fcntl
import glob
import json
import os
import re
import subprocess

import pytest

from conftest import BUILD, QUICK, VENTURI, environment, make_steps, many, numbers, ship, spool_name, status_of, wait_for
from es_stub import Answer, Items, Stub

STEPS = os.path.join(BUILD, "tests", "programs", "steps")


@pytest.fixture
def spool(tmp_path):
    folder = tmp_path / "spool"
    os.mkdir(folder)
    for i in range(3):
        make_steps(folder / spool_name(i + 1), many(100, 100 * i))
    return folder


def recordings(folder):
    return sorted(name for name in os.listdir(folder) if name.endswith(".vt"))


def test_sent_and_deleted_in_order(spool, stub):
    make_steps(spool / "mine.vt", many(50, 300))  # not a spool's: stays
    done = ship(spool, "--to", stub.url, "--once")
    assert done.returncode == 0, done.stderr
    assert [document["n"] for document in stub.order] == list(range(350))
    assert recordings(spool) == ["mine.vt"]
    status = status_of(spool)
    assert (status["shipped"], status["waiting"], status["waiting_files"], status["lost"], status["state"]) == (350, 0, 0, 0, "ended")
    assert ship(spool, "--to", stub.url, "--once").returncode == 0 and len(stub.order) == 350


def test_a_merged_recording_is_known_as_one(spool, stub, tmp_path):
    """Its steps have ids of their own: whoever has sent its parts is told."""
    names = [spool / name for name in recordings(spool)]
    subprocess.run([VENTURI, "merge", *names, "-o", tmp_path / "all.vt"], check=True, capture_output=True, timeout=60)
    said = "all.vt was merged: if its parts are sent too, their steps will be there twice\n"
    done = ship(tmp_path / "all.vt", "--to", stub.url, "--once", "--batch", "10")
    assert done.returncode == 0 and done.stderr.count(said) == 1 and len(stub.order) == 300
    assert "merged" not in ship(tmp_path / "all.vt", "--to", stub.url, "--once").stderr
    assert "merged" not in ship(spool, "--to", stub.url, "--once").stderr


def test_what_is_kept_of_a_spool_is_kept_up_to_its_limit(spool, stub):
    stub.faults = [Answer(503, {})] * 1000
    done = ship(spool, "--to", stub.url, "--once", "--give-up", "1")
    assert done.returncode == 1 and "; everything is kept up to the limit of the spool, trying again for 1 s" in done.stderr, done.stderr


def test_what_a_store_does_not_take_is_counted_and_kept(spool):
    """Redis takes traces only: nothing listens there, and nothing has to, as there is nothing for it."""
    url = "redis://127.0.0.1:1"
    done = ship(spool, "--to", url, "--once")
    if "no store of that kind" in done.stderr:
        pytest.skip("built without hiredis")
    assert done.returncode == 1 and "0 documents to redis://127.0.0.1:1, 300 steps not sent: redis takes traces only\n" in done.stderr
    assert done.stderr.count("steps are not sent: redis does not take them") == 1
    assert len(recordings(spool)) == 3 and status_of(spool)["unsent"] == 300 and status_of(spool)["lost"] == 0
    assert ship(spool, "--to", url, "--once").returncode == 0 and status_of(spool)["unsent"] == 300  # counted once
    assert len(recordings(spool)) == 3
    with Stub() as other:  # who takes them sends and deletes
        assert ship(spool, "--to", other.url, "--once").returncode == 0
        assert numbers(other) == list(range(300)) and recordings(spool) == []


def test_what_is_not_meant_goes(spool):
    done = ship(spool, "--to", "redis://127.0.0.1:1", "--once", "--only", "traces")
    if "no store of that kind" in done.stderr:
        pytest.skip("built without hiredis")
    assert done.returncode == 0 and "not sent" not in done.stderr and recordings(spool) == []
    done = ship(spool, "--to", "redis://127.0.0.1:1", "--once", "--only", "steps")
    assert (done.returncode, done.stderr) == (2, "venturi ship: --only steps: redis does not take them\n")


def test_run_keeps_what_the_store_does_not_take(tmp_path):
    done = subprocess.run([VENTURI, "run", "--ship", "redis://127.0.0.1:1", "--", STEPS, "plain", "50"], capture_output=True, text=True, cwd=tmp_path,
                          timeout=300, env=environment())
    if "no store of that kind" in done.stderr:
        pytest.skip("built without hiredis")
    folder, = os.listdir(tmp_path)
    assert len(recordings(tmp_path / folder)) == 1 and "kept for what that store does not take" in done.stderr, done.stderr


def test_a_pipe_among_them_holds_nothing_up(spool, stub):
    os.mkfifo(spool / "a.vt")
    assert ship(spool, "--to", stub.url, "--once", timeout=60).returncode == 0
    assert numbers(stub) == list(range(300))


def test_a_damaged_one_is_set_aside(spool, stub):
    """What cannot be read is not sent, and neither passed over in silence nor deleted."""
    name = spool_name(2)
    data = bytearray((spool / name).read_bytes())
    data[len(data) // 2] ^= 1  # in the steps, which are nearly all of it
    (spool / name).write_bytes(data)
    done = ship(spool, "--to", stub.url, "--once")
    assert "%s: damaged in 1 place" % name in done.stderr and recordings(spool) == []
    assert (spool / (name + ".damaged")).read_bytes() == data
    assert len(stub.order) == 200


def test_kept_if_asked(spool, stub):
    assert ship(spool, "--to", stub.url, "--once", "--keep").returncode == 0
    assert len(recordings(spool)) == 3 and len(stub.documents) == 300
    assert ship(spool, "--to", stub.url, "--once").returncode == 0
    assert len(stub.order) == 300


def test_one_that_somebody_reads_is_not_deleted(spool, stub):
    with open(spool / spool_name(2)) as file:
        fcntl.flock(file, fcntl.LOCK_SH)
        assert ship(spool, "--to", stub.url, "--once").returncode == 0
    assert recordings(spool) == [spool_name(2)] and numbers(stub) == list(range(300))


def test_one_that_grows_is_neither_ended_nor_deleted(spool, stub):
    with open(spool / spool_name(3)) as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        assert ship(spool, "--to", stub.url, "--once").returncode == 0
        assert recordings(spool) == [spool_name(3)] and len(stub.documents) == 300
    assert ship(spool, "--to", stub.url, "--once").returncode == 0
    assert recordings(spool) == [] and len(stub.order) == 300


def test_two_stores_get_all(spool, stub):
    with Stub() as other:
        assert ship(spool, "--to", stub.url, "--once", "--keep").returncode == 0
        other.faults = [Answer(401)]
        assert ship(spool, "--to", other.url, "--once").returncode == 2
        assert ship(spool, "--to", stub.url, "--once").returncode == 0
        assert len(recordings(spool)) == 3  # the other has none of it yet
        assert ship(spool, "--to", other.url, "--once").returncode == 0
        assert numbers(stub) == numbers(other) == list(range(300)) and recordings(spool) == []


def ids(folder):
    """Of recordings, by name, as a shipper has written them down."""
    path, = glob.glob(str(folder / "ship-*.state"))
    with open(path) as text:
        return {words[5]: words[1] for words in map(str.split, text) if words[0] == "file"}


def add_loss(folder, name, recording, steps, events=10):
    with open(folder / "losses", "a") as losses:
        losses.write(json.dumps({"time": "2026-09-21T12:00:00Z", "file": name, "recording": recording, "run": "1a2b3c4d5e6f", "bytes": 1,
                                 "events": events, "steps": steps, "tasks": 0}) + "\n")


def test_a_damaged_state_of_another_store(spool, stub):
    """It says nothing about what that store has: nothing is deleted until it has all."""
    with Stub() as other:
        assert ship(spool, "--to", other.url, "--once", "--keep").returncode == 0
        path, = glob.glob(str(spool / "ship-*.state"))
        with open(path, "r+") as state:
            state.write("garbage")
        make_steps(spool / spool_name(4), many(100, 300))
        done = ship(spool, "--to", stub.url, "--once")
        assert done.returncode == 0 and numbers(stub) == list(range(400)) and len(recordings(spool)) == 4
        assert done.stderr.count(f"{path}: is damaged; all recordings are kept for that store") == 1, done.stderr
        assert ship(spool, "--to", other.url, "--once").returncode == 0
        assert numbers(other) == list(range(400)) and recordings(spool) == []


def test_what_was_sent_and_went_another_way_is_not_taken_off(spool, stub):
    """Somebody tidied up what --keep had left; another recording gave way to the limit."""
    assert ship(spool, "--to", stub.url, "--once", "--keep").returncode == 0
    for name in recordings(spool):
        os.remove(spool / name)
    add_loss(spool, spool_name(9), "00112233445566778899aabbccddeeff", 250)
    done = ship(spool, "--to", stub.url, "--once")
    assert done.returncode == 0 and "250 lost before" in done.stderr and status_of(spool)["lost"] == 250


def test_the_later_line_of_a_recording_counts(spool, stub):
    for steps, recording in ((20, "a" * 32), (3, ""), (5, "b" * 32), (4, ""), (30, "a" * 32)):
        add_loss(spool, spool_name(9), recording, steps, 2 * steps)
    assert ship(spool, "--to", stub.url, "--once").returncode == 0
    assert (status_of(spool)["lost"], status_of(spool)["lost_events"]) == (42, 84)


def test_what_gave_way_is_counted(spool, stub):
    """One file goes before it was sent, one when a half of it was; the drainer has counted both whole."""
    stub.faults = [None] * 3 + [Answer(401)]
    assert ship(spool, "--to", stub.url, "--once", "--batch", 50).returncode == 2
    assert numbers(stub) == list(range(150)) and recordings(spool) == [spool_name(2), spool_name(3)]
    for number, recording in ((2, ids(spool)[spool_name(2)]), (3, "0" * 32)):
        os.remove(spool / spool_name(number))
        add_loss(spool, spool_name(number), recording, 100)
    with open(spool / "losses", "a") as losses:
        losses.write('{"steps":1000')
    make_steps(spool / spool_name(4), many(10, 300))
    done = ship(spool, "--to", stub.url, "--once")
    assert done.returncode == 0 and "150 lost before" in done.stderr
    status = status_of(spool)
    assert (status["lost"], status["lost_events"], status["shipped"]) == (150, 20, 160)
    assert len(stub.order) == 160


def test_files_that_are_no_recordings(spool, stub):
    (spool / "a.vt").write_text("x")
    (spool / spool_name(9)).write_text("")
    os.mkdir(spool / "folder.vt")
    os.symlink("/nowhere", spool / "gone.vt")
    done = ship(spool, "--to", stub.url, "--once")
    assert done.returncode == 0 and numbers(stub) == list(range(300))
    assert 1 <= done.stderr.count("venturi ship:") <= 4
    assert {"a.vt", "folder.vt", spool_name(9)} <= set(recordings(spool))


def test_nothing_to_follow(tmp_path, stub):
    done = ship(tmp_path / "none", "--to", stub.url)
    assert done.returncode == 2 and done.stderr == f"venturi ship: {tmp_path}/none: cannot open: No such file or directory\n"
    (tmp_path / "text").write_text("hello")
    done = ship(tmp_path / "text", "--to", stub.url)
    assert done.returncode == 2 and done.stderr.count("\n") == 1


needs_programs = pytest.mark.skipif(not os.path.exists(STEPS) or not os.path.exists(os.path.join(BUILD, "venturi")), reason="the programs are not built")


@needs_programs
def test_a_program_that_runs(tmp_path, shipper, stub):
    """From a real drainer, while it writes; all is there when both have ended."""
    folder = tmp_path / "spool"
    os.mkdir(folder)
    one = shipper(folder, "--to", stub.url, *QUICK)
    subprocess.run([os.path.join(BUILD, "venturi"), "run", "--spool", folder, "--", STEPS, "plain", "20000", "2", "100"], check=True, timeout=120,
                   env=environment(), capture_output=True)
    code, messages = one.end()
    assert code == 0, messages
    assert numbers(stub) == list(range(20000)) and recordings(folder) == []


@needs_programs
def test_load(tmp_path, stub):
    """Two threads put as quickly as they can, the store says now and then that it is too much: all is there, once, or counted as lost."""
    stub.faults = [Answer(429), Answer(503), Items(429, range(5, 900)), None] * 3
    done = subprocess.run([os.path.join(BUILD, "venturi"), "run", "--ship", stub.url, "--spool", tmp_path / "spool", "--", STEPS, "plain", "60000", "2", "0"],
                          check=True, timeout=300, env=environment(), capture_output=True, text=True, cwd=tmp_path)
    lost = int(re.search(r", (\d+) lost", done.stderr).group(1))
    assert len(numbers(stub)) == 60000 - lost and len(set(numbers(stub))) == 60000 - lost, done.stderr
    assert f"{60000 - lost} documents to" in done.stderr and recordings(tmp_path / "spool") == []


@needs_programs
def test_a_recording_that_grows(tmp_path, shipper, stub):
    path = tmp_path / "a.vt"
    program = subprocess.Popen([os.path.join(BUILD, "venturi"), "run", "-o", path, "--", STEPS, "plain", "3000", "1", "1000"], env=environment(),
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        wait_for(lambda: path.exists() and path.stat().st_size > 0)
        one = shipper(path, "--to", stub.url, *QUICK)
        wait_for(lambda: len(stub.documents) > 100)
        was_running = program.poll() is None
        program.wait(120)
        code, messages = one.wait()  # the recording has its end: so has this
    finally:
        program.kill()
        program.wait()
    assert code == 0 and was_running, messages
    assert numbers(stub) == list(range(3000))
