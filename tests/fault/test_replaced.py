"""Recordings that somebody replaces or cuts off while they are followed: never a document of one under the id of another, and one clear line."""
import os
import re
import shutil
import threading

import pytest

from conftest import QUICK, make_steps, many, numbers, ship, spool_name, wait_for
from es_stub import Stub

FIRST, SECOND = 600, 900


def write_over(new, old):
    """Into the same file, as cp does it."""
    with open(new, "rb") as source, open(old, "r+b") as target:
        target.truncate(0)
        shutil.copyfileobj(source, target)


@pytest.fixture
def two(tmp_path):
    """One that is followed and has no end, and another, longer one whose documents have other numbers."""
    make_steps(tmp_path / "a.vt", many(FIRST), "--open")
    make_steps(tmp_path / "other", many(SECOND, 10000), "--open")
    return tmp_path / "a.vt", tmp_path / "other"


@pytest.mark.parametrize("replace", [os.replace, write_over], ids=["renamed", "written over"])
def test_a_recording_that_is_replaced(two, stub, shipper, replace):
    path, other = two
    one = shipper(path, "--to", stub.url, *QUICK)
    wait_for(lambda: len(stub.documents) == FIRST)
    replace(other, path)
    code, messages = one.wait()
    assert code == 2 and numbers(stub) == list(range(FIRST))
    assert re.fullmatch(f"venturi ship: {path}: (was replaced by another file|became shorter.*)\n(venturi: .*\n)?", messages), messages
    assert ship(path, "--to", stub.url, "--once").returncode == 0  # the new one, from its beginning
    assert numbers(stub) == [*range(FIRST), *range(10000, 10000 + SECOND)] and len(stub.documents) == FIRST + SECOND


class Waiting(Stub):
    """Answers its first request only when it is told to."""

    def __init__(self):
        self.reached, self.go_on = threading.Event(), threading.Event()
        super().__init__()

    def serve(self, handler):
        self.reached.set()
        self.go_on.wait(60)
        super().serve(handler)


def test_written_over_while_the_store_lets_it_wait(two, shipper):
    """Between two batches: what is read then stands in another recording."""
    path, other = two
    with Waiting() as stub:
        one = shipper(path, "--to", stub.url, "--batch", 100, *QUICK)
        assert stub.reached.wait(60)
        write_over(other, path)
        stub.go_on.set()
        code, messages = one.wait()
        assert code == 2 and numbers(stub) == list(range(100)) and f"venturi ship: {path}: was replaced by another file\n" in messages, messages


def test_cut_off_while_the_store_lets_it_wait(two, shipper):
    path, _ = two
    with Waiting() as stub:
        one = shipper(path, "--to", stub.url, "--batch", 100, *QUICK)
        assert stub.reached.wait(60)
        os.truncate(path, 0)
        stub.go_on.set()
        code, messages = one.wait()
        assert (code, messages) == (2, f"venturi ship: {path}: became shorter while it was read; what was sent is written down, start again for the rest\n")
        assert set(numbers(stub)) <= set(range(100))


def test_cut_off_while_it_is_followed(two, stub, shipper):
    path, _ = two
    one = shipper(path, "--to", stub.url, *QUICK)
    wait_for(lambda: len(stub.documents) == FIRST)
    os.truncate(path, os.path.getsize(path) // 2)
    code, messages = one.wait()
    assert code == 2 and f"venturi ship: {path}: became shorter" in messages and numbers(stub) == list(range(FIRST)), messages
    assert ship(path, "--to", stub.url, "--once").returncode == 0
    assert numbers(stub) == list(range(FIRST))


@pytest.mark.parametrize("replace", [os.replace, write_over], ids=["renamed", "written over"])
def test_one_of_a_folder_is_replaced(tmp_path, two, stub, shipper, replace):
    """The others are followed on, and so is the new one."""
    _, other = two
    folder = tmp_path / "folder"
    folder.mkdir()
    make_steps(folder / "a.vt", many(FIRST), "--open")
    one = shipper(folder, "--to", stub.url, *QUICK)
    wait_for(lambda: len(stub.documents) == FIRST)
    replace(other, folder / "a.vt")
    wait_for(lambda: len(stub.documents) == FIRST + SECOND or one.process.poll() is not None)
    if one.process.poll() is None:  # else it was read in the moment in which it was empty
        make_steps(folder / spool_name(1), many(10, 20000))
        wait_for(lambda: len(stub.documents) == FIRST + SECOND + 10)
        code, messages = one.end()
        assert code == 0 and messages.count("venturi ship: ") == 1 and f"{folder}/a.vt: " in messages, messages
    assert numbers(stub)[:FIRST] == list(range(FIRST)) and len(stub.documents) == len(stub.order)
