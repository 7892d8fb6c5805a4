"""Shippers that are killed, stores that go away, disks that are full: nothing is lost, nothing is there twice."""
import glob
import os
import random
import signal
import subprocess
import threading
import time

import pytest

from conftest import QUICK, VENTURI, dead_of, make_steps, many, numbers, ship, spool_name, status_of, wait_for
from es_stub import Answer, Items, Silence, Stub
from recorded import in_small_tmpfs, needs_root

KILLS = 400 if os.environ.get("VENTURI_SOAK") else 15


def test_killed_at_any_time(stub, tmp_path, shipper):
    """Between any two of: sent, kept by the store, acknowledged, dead letters written, state written."""
    chance = random.Random(7)
    make_steps(tmp_path / "a.vt", many(3000))
    stub.refused = lambda document: document["n"] % 100 == 5
    for _ in range(KILLS):
        stub.faults = [chance.choice([None, None, Silence(takes=True), Items(429, {1, 2})])]
        one = shipper(tmp_path / "a.vt", "--to", stub.url, "--batch", 50, *QUICK)
        time.sleep(chance.random() * 0.15)
        one.process.kill()
        one.wait()
        stub.faults = []
    done = ship(tmp_path / "a.vt", "--to", stub.url, "--batch", 50, "--once", *QUICK)
    refused = list(range(5, 3000, 100))
    assert done.returncode in (0, 1), done.stderr
    assert numbers(stub) == sorted(set(range(3000)) - set(refused)) and len(stub.documents) == len(stub.order)
    letters, _ = dead_of(tmp_path)
    assert sorted(letter["document"]["n"] for letter in letters) == refused


def test_a_store_that_goes_away_and_comes_back(tmp_path, shipper):
    make_steps(tmp_path / "a.vt", many(2000))
    first = Stub()
    first.faults = [None, None] + [Answer(503)] * 1000
    one = shipper(tmp_path / "a.vt", "--to", first.url, "--batch", 100, *QUICK)
    wait_for(lambda: len(first.documents) >= 200)
    port = first.port
    first.close()
    wait_for(lambda: status_of(tmp_path)["state"] == "away")
    with Stub(port=port) as second:
        second.documents.update(first.documents)
        second.order += first.order
        code, messages = one.wait()
        assert code == 0, messages
        assert numbers(second) == list(range(2000))
    assert "takes documents again" in messages
    for text in messages.splitlines():
        assert text.startswith(("venturi ship: elasticsearch://127.0.0.1:", "venturi: 2000 documents")), text


def test_a_store_that_never_answers(tmp_path, stub, shipper):
    make_steps(tmp_path / "a.vt", many(100))
    stub.faults = [Silence(seconds=60)]
    one = shipper(tmp_path / "a.vt", "--to", stub.url, *QUICK)
    wait_for(lambda: stub.requests)
    one.process.send_signal(signal.SIGTERM)
    time.sleep(0.2)
    code, messages = one.end()  # a second time: now
    assert code == 1 and "not all was sent" in messages
    assert ship(tmp_path / "a.vt", "--to", stub.url, "--once").returncode == 0
    assert numbers(stub) == list(range(100))


def test_told_to_end_while_no_answer_comes(tmp_path, stub, shipper):
    """Once is enough: it does not wait for the request."""
    make_steps(tmp_path / "a.vt", many(100))
    stub.faults = [Silence(seconds=50, takes=True)]
    one = shipper(tmp_path / "a.vt", "--to", stub.url, *QUICK)
    wait_for(lambda: stub.requests)
    began = time.monotonic()
    code, messages = one.end()
    assert code == 1 and "gives no answer: none before we had to end; not all was sent" in messages
    assert time.monotonic() - began < 45
    assert ship(tmp_path / "a.vt", "--to", stub.url, "--once").returncode == 0
    assert numbers(stub) == list(range(100))


def test_told_to_end_it_sends_what_is_there(tmp_path, stub, shipper):
    os.mkdir(tmp_path / "spool")
    make_steps(tmp_path / "spool" / spool_name(1), many(500))
    one = shipper(tmp_path / "spool", "--to", stub.url, *QUICK)
    wait_for(lambda: len(stub.documents) == 500)
    make_steps(tmp_path / "spool" / ("." + spool_name(2)), many(500, 500))
    os.rename(tmp_path / "spool" / ("." + spool_name(2)), tmp_path / "spool" / spool_name(2))
    code, messages = one.end()
    assert code == 0 and "1000 documents" in messages and numbers(stub) == list(range(1000))


def test_told_to_end_while_the_store_is_away(tmp_path, stub, shipper):
    make_steps(tmp_path / "a.vt", many(10))
    stub.faults = [Answer(503)] * 10000
    one = shipper(tmp_path / "a.vt", "--to", stub.url, *QUICK)
    wait_for(lambda: len(stub.requests) > 2)
    began = time.monotonic()
    code, messages = one.end()
    assert code == 1 and "answers 503; not all was sent; it is kept" in messages
    assert time.monotonic() - began > 5  # it has tried


def test_a_state_that_is_damaged(tmp_path, stub):
    make_steps(tmp_path / "a.vt", many(300))
    assert ship(tmp_path / "a.vt", "--to", stub.url, "--once").returncode == 0
    path, = glob.glob(str(tmp_path / "*.state"))
    good = open(path, "rb").read()
    for bad in (b"", good[:-3], good.replace(b"counts 300", b"counts 301"), b"\x00" * 100, good * 2, good[:20] + b"\xff" + good[21:]):
        with open(path, "wb") as file:
            file.write(bad)
        done = ship(tmp_path / "a.vt", "--to", stub.url, "--once")
        assert done.returncode == 0 and "is damaged; all is sent again, under the same ids" in done.stderr, (bad, done.stderr)
        assert "300 documents" in done.stderr and "(300 were there)" in done.stderr
        assert numbers(stub) == list(range(300))


def test_an_interrupt_lets_the_request_end(tmp_path, stub, shipper):
    """What the store has taken is written down; a second one leaves the request alone."""
    make_steps(tmp_path / "a.vt", many(30))
    for signals in (1, 2):
        reached, go_on = threading.Event(), threading.Event()

        def wait(_, reached=reached, go_on=go_on):
            reached.set()
            go_on.wait(60)
        stub.faults = [wait]
        one = shipper(tmp_path / "a.vt", "--to", stub.url, "--batch", 10, *QUICK)
        try:
            assert reached.wait(60)
            one.process.send_signal(signal.SIGINT)
            with pytest.raises(subprocess.TimeoutExpired):
                one.process.wait(0.5)
            if signals == 2:
                code, messages = one.end(signal.SIGINT)
                assert not go_on.is_set()
        finally:
            go_on.set()
        if signals == 1:
            code, messages = one.wait()
            assert f"10 documents to {stub.url}" in messages and numbers(stub) == list(range(10)), messages
        assert code == 1 and status_of(tmp_path)["shipped"] == 10, messages
    assert ship(tmp_path / "a.vt", "--to", stub.url, "--once").returncode == 0
    assert numbers(stub) == list(range(30)) and status_of(tmp_path)["shipped"] == 30


def test_two_shippers_of_the_same(tmp_path, stub, shipper):
    make_steps(tmp_path / "a.vt", many(10))
    stub.faults = [Answer(503)] * 10000
    one = shipper(tmp_path / "a.vt", "--to", stub.url, *QUICK)
    wait_for(lambda: stub.requests)
    done = ship(tmp_path / "a.vt", "--to", stub.url, "--once")
    assert done.returncode == 2 and "another venturi ship sends it there already" in done.stderr
    one.end(signal.SIGINT)


@needs_root
def test_a_disk_without_room_for_the_state(tmp_path, stub):
    make_steps(tmp_path / "a.vt", many(2000))
    script = f"""cd {tmp_path}/small && cp ../a.vt . && dd if=/dev/zero of=filler bs=4096 2>/dev/null
        {VENTURI} ship a.vt --to {stub.url} --once --give-up 0.2 --retry-max 0.2; echo code $?"""
    done = in_small_tmpfs("1m", str(tmp_path / "small"), script)
    assert done.stdout == "code 2\n" and done.stderr.count("\n") == 1 and "cannot write: No space left on device" in done.stderr, done.stderr
    assert not stub.documents


@needs_root
def test_a_spool_on_a_full_disk_gets_room(tmp_path, stub):
    """What is sent is deleted although its state cannot be written: nobody will ask for it again."""
    make_steps(tmp_path / "a.vt", many(1000))
    make_steps(tmp_path / "b.vt", many(1000, 1000))
    script = f"""cd {tmp_path}/small && cp ../a.vt {spool_name(1)} && cp ../b.vt {spool_name(2)} && {VENTURI} ship . --to {stub.url} --once 2>/dev/null
        dd if=/dev/zero of=filler bs=4096 2>/dev/null
        {VENTURI} ship . --to {stub.url} --once --batch 5000 --give-up 30 --retry-max 0.2; echo code $?; ls *.vt 2>/dev/null | wc -l"""
    stub.faults = [Answer(401, {})]
    done = in_small_tmpfs("400k", str(tmp_path / "small"), script)
    assert numbers(stub) == list(range(2000)), done.stderr
    assert done.stdout == "code 0\n0\n", (done.stdout, done.stderr)
