"""However a program ends, its recording is whole, and its end is ours."""
import os
import random
import signal
import struct
import subprocess
import time

import pytest

from conftest import SANITIZE, SOAK, VENTURI, Recording, child_of, program, wait_for


@pytest.mark.parametrize("how, code", [
    ("exit", 7), ("_exit", 8), ("return", 9), ("kill", -signal.SIGKILL), ("term", -signal.SIGTERM),
    ("segv", -signal.SIGSEGV), ("abort", -signal.SIGABRT), ("thread", 0)])
def test_end(record, how, code):
    if SANITIZE and how in ("segv", "abort"):
        code = None  # the sanitizer turns these into an exit code of its own
    run = record("ends", how, 1000)
    if code is not None:
        assert run.code == code
    recording = run.recording
    assert recording.spans() == {"pair": 1000, "open": 1}
    assert recording.lost == 0
    assert recording.info["closed"]
    unfinished = recording.query("SELECT name FROM spans WHERE NOT finished")
    assert [row["name"] for row in unfinished] == ["open"]
    ended = recording.info["processes"][0]["ended"]
    if code is not None:
        assert ended == ("signal" if code < 0 else "exit")


def counters(path):
    with open(path, "rb") as file:
        begins, ends, _ = struct.unpack("QQQ", file.read(24))
    return begins, ends


def test_killed_at_random_instants(tmp_path):
    """No event is lost that a counter in shared memory says was recorded."""
    rounds = 1000 if SOAK else 50 if SANITIZE else 150
    generator = random.Random(1)
    for i in range(rounds):
        path, count = tmp_path / f"{i}.vt", tmp_path / f"{i}.count"
        pace = generator.choice([0, 0, 20])
        options = generator.choice([[], ["--buffer", "256k"], ["--buffer", "256k", "--block", "1s"]])
        child = subprocess.Popen([VENTURI, "run", "-q", "-o", path, *options, "--", program("counted"), count, "0",
                                  str(pace), "5"], stderr=subprocess.PIPE)
        end = time.monotonic() + 20
        while not (count.exists() and count.stat().st_size == 24 and counters(count)[0]):
            assert time.monotonic() < end
            time.sleep(0.001)
        time.sleep(generator.uniform(0, 0.03))
        os.kill(child_of(child.pid), signal.SIGKILL)
        assert child.wait(60) == -signal.SIGKILL
        recording = Recording(path)
        assert recording.info["closed"]
        begins, ends = counters(count)
        assert recording.events + recording.lost >= begins + ends
        assert recording.events + recording.lost <= begins + ends + 1
        path.unlink()
        count.unlink()


def test_drainer_killed_leaves_a_readable_file(tmp_path):
    path, count = tmp_path / "out.vt", tmp_path / "count"
    child = subprocess.Popen([VENTURI, "run", "-q", "-o", path, "--", program("counted"), count, "0", "50"])
    wait_for(lambda: count.exists() and count.stat().st_size == 24 and counters(count)[0] > 3000)
    victim = child_of(child.pid)
    try:
        child.kill()
        child.wait()
        total = sum(counters(count))
        recording = Recording(path)
        assert not recording.info["closed"]
        assert 0 < recording.events <= total
        # at 50 us a pair the last half second is 20,000 events
        assert recording.events > total - 20000, "more than the last moments are missing"
        # the program goes on undisturbed
        wait_for(lambda: sum(counters(count)) > total + 1000)
    finally:
        os.kill(victim, signal.SIGKILL)


def test_a_program_that_never_stops(tmp_path):
    """SIGTERM to `venturi run` reaches the program and leaves a whole recording."""
    path, count = tmp_path / "out.vt", tmp_path / "count"
    child = subprocess.Popen([VENTURI, "run", "-q", "-o", path, "--", program("counted"), count, "0", "100"])
    time.sleep(0.5)
    child.terminate()
    assert child.wait(20) == -signal.SIGTERM
    recording = Recording(path)
    assert recording.info["closed"]
    assert recording.events + recording.lost >= sum(counters(count))


def test_a_file_cut_off_early_still_knows_its_clock(record, tmp_path):
    run = record("ends", "return", 20000)
    whole = run.recording.info
    with open(run.path, "rb") as file:
        (tmp_path / "cut.vt").write_bytes(file.read()[:4000])
    cut = Recording(tmp_path / "cut.vt").info
    assert not cut["closed"]
    assert abs(cut["ticks_per_ns"] / whole["ticks_per_ns"] - 1) < 0.01
