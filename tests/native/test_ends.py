"""What is open when a program is gone, and recordings that lack their end."""
import os
import struct
import subprocess

import pytest
from conftest import VENTURI, run


def test_a_program_that_becomes_another(compile, record):
    """The function that called exec ends there, not when the next program does."""
    done = record(compile("replaced.c", "-O1"), 2)
    assert done.code == 0, done.done.stderr
    main = done.profile("--raw")["main"]
    assert main["ncalls"] == 1
    assert main["cumtime"] < 1


def test_disk_full_is_not_called_complete(compile, tmp_path):
    """No room for the calls: nothing says that none is missing."""
    if os.geteuid():
        pytest.skip("mounting needs root")
    program = compile("known.c", "-O1")
    small = tmp_path / "small"
    small.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=16k", "tmpfs", small], capture_output=True).returncode:
        pytest.skip("no tmpfs can be mounted here")
    try:
        (small / "filler").write_bytes(b"x" * 12288)
        done = run([VENTURI, "run", "-o", small / "x.vt", program], check=False)
        assert "No space left" in done.stderr
        assert " lost," not in done.stderr and "not closed" in done.stderr
    finally:
        subprocess.run(["umount", small], check=True)


@pytest.fixture
def recorded(compile, record):
    return record(compile("known.c", "-O1")).path


def test_recording_without_its_end(recorded, tmp_path):
    with open(recorded, "rb") as file:
        whole = file.read()
    cut = tmp_path / "cut.vt"
    cut.write_bytes(whole[:-40])
    done = run([VENTURI, "stats", cut])
    assert "not closed" in done.stderr and "last second" in done.stderr


def damage_calls(data):
    """Changes the payload of every CALL_TREE block (docs/format.md); the offset of the first."""
    first = None
    at = data.find(b"VTB1")
    while at >= 0:
        kind, bytes_ = data[at + 4], struct.unpack_from("<I", data, at + 8)[0]
        if kind == 13:
            data[at + 48] ^= 0xff
            first = at if first is None else first
        at = data.find(b"VTB1", at + 48 + bytes_)
    assert first is not None
    return first


def test_recording_whose_calls_are_damaged(recorded, tmp_path):
    """Not "holds no calls", as if nobody had recorded any."""
    with open(recorded, "rb") as file:
        data = bytearray(file.read())
    at = damage_calls(data)
    broken = tmp_path / "broken.vt"
    broken.write_bytes(data)
    done = run([VENTURI, "stats", broken], check=False)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert f"bytes {at} to " in done.stderr
