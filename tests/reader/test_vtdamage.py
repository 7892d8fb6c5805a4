"""Tests of the reader with damaged files and with files that contradict themselves."""

import random
import struct
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))

import vtblocks  # noqa: E402
import vtread  # noqa: E402
import vtwrite  # noqa: E402
from samples import block_of, new_file, rich_file, small_file, spans_of  # noqa: E402
from vtwrite import join, varint  # noqa: E402


def test_cut_anywhere():
    """A file that was cut off anywhere is readable up to the cut."""
    data = small_file().bytes()
    whole = vtread.read(data)
    for cut in range(64, len(data)):
        r = vtread.read(data[:cut])
        expected = [b for b in whole.blocks if b.payload_end <= cut]
        assert r.blocks == expected and not r.is_closed
        if r.damage:
            assert r.damage[-1].end == cut
            assert r.damage[0].begin == (expected[-1].end if expected else 64)
        r.problems()


def test_missing_trailer():
    w = new_file()
    w.end()
    r = vtread.read(w.bytes())
    assert not r.is_closed and r.damage == []
    assert any("no trailer" in line for line in r.problems())


def test_hole_in_the_middle():
    data = small_file().bytes()
    first, second = block_of(vtread.read(data), vtblocks.EVENTS)
    hole = data[:first.offset] + bytes(first.end - first.offset) + data[first.end:]
    r = vtread.read(hole)
    assert r.damage == [(first.offset, second.offset, "no block header")]
    assert spans_of(r) == [(1, 160, 170, 0)] and r.is_closed
    assert any("INDEX" in line for line in r.problems())


def test_bytes_taken_out():
    """The file goes on at a multiple of 8, within a block whose header is still there."""
    data = small_file(closed=False).bytes()
    first, second = block_of(vtread.read(data), vtblocks.EVENTS)
    r = vtread.read(data[:first.offset + 48] + data[first.end:])
    assert r.damage[0].begin == first.offset
    assert r.tracks and r.sites


def test_payload_checksum():
    data = bytearray(small_file().bytes())
    block = block_of(vtread.read(bytes(data)), vtblocks.SITES)[0]
    data[block.payload_at] ^= 1
    r = vtread.read(bytes(data))
    assert r.damage == [(block.offset, block.end, "the payload checksum of SITES differs")]
    assert r.site_name(1) == "site 1"


def test_header_of_a_block_that_is_too_long():
    w = new_file()
    at = len(w.data)
    head = b"VTB1" + struct.pack("<BBHIIIIQQI", 9, 0, 0, 1 << 29, 1, 0, 0, 0, 0, 0)
    w.data += head + struct.pack("<I", vtwrite.crc32c(head))
    w.site(50, "after")
    r = vtread.read(w.bytes())
    assert r.damage == [(at, at + 48, "a block that goes on past the end")]
    assert r.site_name(50) == "after"


def test_header_that_is_not_at_a_multiple_of_8():
    w = new_file()
    at = len(w.data)
    w.data += b"1234"
    w.site(50, "not seen")
    r = vtread.read(w.bytes())
    assert r.damage == [(at, len(w.data), "no block header")] and 50 not in r.sites


@pytest.mark.parametrize("payload, count, summary, expected", [
    (bytes(6) + b"\0\x02\x01", 2, 6, "after 1 events: too short"),
    (bytes(6) + b"\0\x02\x01\x00", 1, 6, "1 bytes after the last event"),
    (bytes(6) + b"\xff", 0, 6, "after 0 events: too short"),
    (bytes(6) + b"\x01\x01\x09", 0, 6, "after 0 events: an open span that began before tick 0"),
    (b"\0", 0, 6, "a summary longer than the payload"),
    (b"\0", 0, 0, "summary: too short"),
    (bytes(5) + b"\x41" + bytes(65) + b"\0", 0, 71, "summary: a summary of 65 lanes"),
    (bytes(6) + b"\0\x03\x03\x00", 1, 6, "body of an event of type 3: too short"),
])
def test_malformed_events(payload, count, summary, expected):
    w = new_file()
    at = w.block(10, payload, count=count, summary_size=summary)
    w.site(50, "after")
    r = vtread.read(w.bytes())
    assert [(d.begin, d.what) for d in r.damage] == [(at, "EVENTS: " + expected)]
    assert 50 in r.sites
    r.problems()


def test_unknown_event_keeps_the_rest():
    w = new_file()
    e = w.events()
    e.begin(1, 1)
    e.other(2, 77, b"\xff" * 300)
    e.other(3, 4, varint(3) + b"\x09?")  # a counter with an unknown type of value
    e.end(4)
    e.write()
    r = vtread.read(w.bytes())
    assert [x.kind for x in r.events()] == ["begin", "unknown", "counter", "end"]
    assert r.damage == [] and spans_of(r) == [(1, 1, 4, 0)]


def test_rich_file_with_two_levels():
    w = rich_file()
    r = vtread.read(w.bytes())
    assert r.problems() == []
    [index] = block_of(r, vtblocks.INDEX)
    assert struct.unpack_from("<II", r.payloads[index.offset]) == (2, 0)
    for span in r.spans():
        assert span.end is None or span.begin <= span.end


def test_random_damage():
    """Whatever happens to the bytes, there is no other exception, and nothing takes for ever."""
    rng = random.Random(11)
    data = rich_file().bytes()
    for _ in range(60):
        broken = bytearray(data)
        for _ in range(rng.randint(1, 20)):
            broken[rng.randrange(64, len(broken))] = rng.randrange(256)
        if rng.random() < 0.5:
            at = rng.randrange(64, len(broken))
            del broken[at:at + rng.randrange(200)]
        r = vtread.read(bytes(broken))
        vtread.as_json(r)
        r.problems()


def test_random_payloads_with_good_checksums():
    rng = random.Random(12)
    for _ in range(300):
        w = new_file()
        payload = bytes(rng.choice([0, 1, 2, 3, 5, 9, 128, 255, rng.randrange(256)])
                        for _ in range(rng.randrange(80)))
        for kind in (1, 2, 3, 4, 5, 6, 9, 10, 20, 21, 22):
            w.block(kind, payload, count=rng.choice([0, 1, 3, 2**32 - 1]), owner=rng.randrange(2),
                    summary_size=rng.choice([0, 6, len(payload)]), first=5, last=rng.randrange(9))
        w.trailer()
        r = vtread.read(w.bytes())
        vtread.as_json(r)
        vtread.describe(r)
        r.problems()


# Checks


@pytest.mark.parametrize("at, name", [
    (0, "busy"), (1, "begins"), (2, "ends"), (3, "errors"), (4, "deepest")])
def test_wrong_summary(at, name):
    w = new_file()
    e = w.events()
    e.begin(0, 1)
    e.end(10)
    wrong = bytearray(e.summary(10))
    wrong[at] += 1
    e.write(summary=bytes(wrong))
    [line] = vtread.read(w.bytes()).problems()
    assert name in line


def test_wrong_lane_and_empty_lanes():
    w = new_file()
    e = w.events(0, 0, stack=[(1, 0)])
    e.begin(0, 2)
    e.end(10)
    good = join(10, 1, 1, 0, 2, 4, 0, 3, 0, 10, 0, 0)
    e.write(summary=good)
    assert vtread.read(w.bytes()).problems() == []
    e.write(summary=join(10, 1, 1, 0, 2, 2, 0, 3, 0, 9))
    [line] = vtread.read(w.bytes()).problems()
    assert "lane 1" in line


def test_equally_long_spans():
    for end in (10, 20):
        w = new_file()
        e = w.events()
        for at in (0, 10):
            e.begin(at, 1)
            e.end(at + 10)
        e.write(summary=join(20, 2, 2, 0, 1, 1, 2, 20 - end, 10))
        assert vtread.read(w.bytes()).problems() == []


def patched_index(change):
    """rich_file() with a change to the payload of its INDEX."""
    w = rich_file()
    r = vtread.read(w.bytes())
    [index] = block_of(r, vtblocks.INDEX)
    payload = bytearray(r.payloads[index.offset])
    change(payload)
    w.data = w.data[:index.offset]
    w.blocks = [each for each in w.blocks if each[1] < index.offset]
    w.block(21, bytes(payload), index.count, index.owner)
    w.end()
    w.trailer()
    return vtread.read(w.bytes()).problems()


@pytest.mark.parametrize("at, expected", [
    (0, "do not fit"), (16, "level 0"), (8 + 2 * 16, "element 0 of level 0"),
    (8 + 2 * 16 + 40 * 40 + 16, "element 0 of level 1: busy"),
    (8 + 2 * 16 + 40 * 40 + 3 * 40, "element 0 of level 1: lane 0")])
def test_wrong_index(at, expected):
    def change(payload):
        payload[at] ^= 4
    assert any(expected in line for line in patched_index(change))
    assert patched_index(lambda payload: None) == []


@pytest.mark.parametrize("name, word", [("events", "events"), ("lost", "lost"), ("last", "last")])
def test_wrong_end(name, word):
    w = new_file()
    w.end(**{name: 77})
    w.trailer()
    [line] = vtread.read(w.bytes()).problems()
    assert line.startswith("END") and word in line


def test_wrong_trailer():
    w = new_file()
    w.end()
    w.trailer(end_offset=64, blocks=3)
    found = vtread.read(w.bytes()).problems()
    assert len(found) == 2 and all("trailer" in line for line in found)


def test_closed_without_index():
    w = small_file(closed=False)
    w.end()
    w.trailer()
    assert vtread.read(w.bytes()).problems() == ["track 0 has no INDEX"]
