"""Dead letters are the user's: whatever becomes of the state, and whatever is done to the file by hand, no shipper takes one away or writes one twice."""
import glob
import json
import os

import pytest

from conftest import QUICK, dead_of, make_steps, many, numbers, ship, spool_name
from es_stub import Answer

DEAD = list(range(5, 300, 10))


def numbers_of(folder):
    return sorted(letter["document"]["n"] for letter in dead_of(folder)[0])


def send(stub, folder, first=0):
    """A file of a spool, of which every tenth document is refused; it is gone afterwards."""
    os.makedirs(folder, exist_ok=True)
    stub.refused = lambda document: document["n"] % 10 == 5
    make_steps(folder / spool_name(first + 1), many(300, first))
    done = ship(folder, "--to", stub.url, "--once", "--batch", 100)
    assert done.returncode == 1 and "30 dead" in done.stderr and not glob.glob(str(folder / "*.vt")), done.stderr


def again(stub, folder):
    done = ship(folder, "--to", stub.url, "--once", "--batch", 100)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("how", ["gone", "damaged", "empty"])
def test_a_state_that_is_lost(stub, tmp_path, how):
    spool = tmp_path / "spool"
    send(stub, spool)
    path, = glob.glob(str(spool / "*.state"))
    if how == "gone":
        os.unlink(path)
    else:
        with open(path, "w") as file:
            file.write("garbage" if how == "damaged" else "")
    for _ in range(3):
        again(stub, spool)
        assert numbers_of(spool) == DEAD
    send(stub, spool, 300)
    assert numbers_of(spool) == DEAD + [300 + n for n in DEAD]


def test_a_state_that_is_lost_while_the_recording_is_not(stub, tmp_path):
    """All is sent again, and dies again: the letters are there."""
    stub.refused = lambda document: document["n"] % 10 == 5
    make_steps(tmp_path / "a.vt", many(300))
    for _ in range(3):
        done = ship(tmp_path / "a.vt", "--to", stub.url, "--once", "--batch", 100)
        assert done.returncode == 1 and "30 dead" in done.stderr
        assert numbers_of(tmp_path) == DEAD
        os.unlink(glob.glob(str(tmp_path / "*.state"))[0])


def test_killed_between_the_letters_and_the_state(stub, tmp_path):
    """The state of before, with letters behind it; smaller batches than before; and again."""
    stub.refused = lambda document: document["n"] % 10 == 5
    stub.faults = [None] + [Answer(503)] * 1000
    make_steps(tmp_path / "a.vt", many(300))
    assert ship(tmp_path / "a.vt", "--to", stub.url, "--once", "--batch", 100, "--give-up", 0.3, *QUICK).returncode == 1
    assert numbers_of(tmp_path) == DEAD[:10]
    path, = glob.glob(str(tmp_path / "*.state"))
    before = open(path, "rb").read()
    stub.faults = []
    for batch in (100, 7, 300):
        with open(path, "wb") as file:
            file.write(before)
        assert ship(tmp_path / "a.vt", "--to", stub.url, "--once", "--batch", batch).returncode == 1
        assert numbers_of(tmp_path) == DEAD
    assert numbers(stub) == [n for n in range(300) if n not in DEAD]


def edit_longer(lines):
    return [line.replace('"n":', '"fixed":"by hand","n":') for line in lines]


def edit_shorter(lines):
    return [json.dumps({key: value for key, value in json.loads(line).items() if key != "reason"}) + "\n" for line in lines]


def append_one(lines):
    return lines + [lines[0]]


def append_without_its_end(lines):
    return lines + [lines[0].rstrip("\n")]


def remove_some(lines):
    return lines[10:]


@pytest.mark.parametrize("edit", [edit_longer, edit_shorter, append_one, append_without_its_end, remove_some])
def test_edited_by_hand(stub, tmp_path, edit):
    """As docs/ship.md says, to be sent again; the shipper goes on meanwhile."""
    spool = tmp_path / "spool"
    send(stub, spool)
    path = dead_of(spool)[1]
    with open(path) as file:
        mine = edit(file.readlines())
    with open(path, "w") as file:
        file.writelines(mine)
    again(stub, spool)
    assert open(path).read() == "".join(mine)
    send(stub, spool, 300)
    text = open(path).read()
    assert text.startswith("".join(mine)) and len(dead_of(spool)[0]) == len(mine) + 30
    stub.refused = lambda document: False
    done = ship("--replay", path, "--to", stub.url)
    assert done.returncode == 0, done.stderr


def test_a_letter_that_is_torn(stub, tmp_path):
    """What was half written when the machine died stays what it is; the next one does not become part of it."""
    spool = tmp_path / "spool"
    send(stub, spool)
    path = dead_of(spool)[1]
    with open(path, "a") as file:
        file.write('{"time":"2026-09-21T12:00:00.000000Z","sta')
    send(stub, spool, 300)
    with open(path) as file:
        lines = file.readlines()
    assert len(lines) == 61 and lines[30].endswith('"sta\n')
    assert [json.loads(line)["document"]["n"] for line in lines[31:]] == [300 + n for n in DEAD]
