"""A recording without an end, as a drainer that was killed leaves it: who follows it ends when all is sent, if nobody writes it any more."""
import os
import time

from conftest import QUICK, make_steps, many, numbers, ship, spool_name, wait_for


def cut_off(path, count=300, age_s=60):
    """Nobody has written to it for a minute."""
    make_steps(path, many(count), "--open")
    os.utime(path, (time.time() - age_s,) * 2)
    return path


def test_it_ends_and_says_so(stub, tmp_path, shipper):
    path = cut_off(tmp_path / "a.vt")
    code, messages = shipper(path, "--to", stub.url, *QUICK).wait()
    assert code == 0 and f"{path}: has no end and nobody writes it: it was cut off; all that is there is sent" in messages
    assert numbers(stub) == list(range(300))
    done = ship(path, "--to", stub.url, "--once")
    assert done.returncode == 0 and "venturi: 0 documents" in done.stderr


def test_somebody_writes_it(stub, tmp_path, shipper):
    path = cut_off(tmp_path / "a.vt")
    with open(path, "r+b"):
        one = shipper(path, "--to", stub.url, *QUICK)
        wait_for(lambda: len(stub.documents) == 300)
        time.sleep(2.5)  # two looks
        assert one.process.poll() is None
    code, messages = one.wait()
    assert code == 0 and "was cut off" in messages


def test_it_was_written_just_now(stub, tmp_path, shipper):
    one = shipper(cut_off(tmp_path / "a.vt", age_s=-3600), "--to", stub.url, *QUICK)
    wait_for(lambda: len(stub.documents) == 300)
    time.sleep(1.5)
    assert one.process.poll() is None
    assert one.end()[0] == 0


def test_a_folder_is_followed(stub, tmp_path, shipper):
    os.mkdir(tmp_path / "spool")
    cut_off(tmp_path / "spool" / "a.vt")
    cut_off(tmp_path / "spool" / spool_name(1))
    one = shipper(tmp_path / "spool", "--to", stub.url, *QUICK)
    wait_for(lambda: len(stub.documents) == 600)
    time.sleep(1.5)
    assert one.process.poll() is None
    code, messages = one.end()
    assert code == 0 and "cut off" not in messages
