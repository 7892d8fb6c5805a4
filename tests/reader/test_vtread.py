"""Tests of the reader and the writer that are made from docs/format.md alone."""

import json
import math
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import vtblocks  # noqa: E402
import vtread  # noqa: E402
import vtwrite  # noqa: E402
from samples import block_of, new_file, small_file, spans_of  # noqa: E402
from vtwrite import FAILED, IN_GAP, LEFT, Unsigned, Writer, join, varint  # noqa: E402


# Checksums and numbers


@pytest.mark.parametrize("data, expected", [
    (b"", 0),
    (b"123456789", 0xE3069283),
    (bytes(32), 0x8A9136AA),
    (b"\xff" * 32, 0x62A8AB43),
    (bytes(range(32)), 0x46DD794E),
    (bytes(range(31, -1, -1)), 0x113FDB5C),
])
def test_crc32c(data, expected):
    assert vtblocks.crc32c(data) == expected
    assert vtwrite.crc32c(data) == expected


@pytest.mark.parametrize("number", [0, 1, 127, 128, 300, 2**32, 2**63, 2**64 - 1])
def test_varint(number):
    assert vtblocks.Cursor(varint(number)).varint() == number
    assert vtblocks.Cursor(varint(number, 10)).varint() == number


@pytest.mark.parametrize("number", [0, -1, 1, -2, 2**63 - 1, -2**63])
def test_signed(number):
    assert vtblocks.Cursor(vtwrite.signed(number)).signed() == number


def test_bytes_of_numbers():
    assert varint(300) == b"\xac\x02"
    assert [vtwrite.signed(n) for n in (0, -1, 1, -2)] == [b"\0", b"\1", b"\2", b"\3"]


@pytest.mark.parametrize("raw", [b"", b"\x80", b"\xff" * 9 + b"\x02", b"\x80" * 10 + b"\0"])
def test_bad_varint(raw):
    with pytest.raises(vtblocks.Malformed):
        vtblocks.Cursor(raw).varint()


# Bytes written by hand


def test_events_by_hand():
    """An EVENTS payload put together by hand from the page, not by the writer."""
    summary = bytes([40, 3, 3, 0, 2, 2, 8, 0, 40, 10, 10, 10])
    events = bytes([
        0,  # nothing was open
        0 << 2 | 2, 7,  # tick 1000: begin 7; table[0] = 7
        10 << 2 | 2, 9,  # tick 1010: begin 9; table[7] = 9
        10 << 2 | 0,  # tick 1020: end of 9; table[9] is still 0
        0 << 2 | 2, 9,  # tick 1020: begin 9; table[9] = 9
        10 << 2 | 0,  # tick 1030: end of 9
        10 << 2 | 3, 1, 1, 2,  # tick 1040: end of 7, left
    ])
    w = new_file()
    w.site(7, "seven")
    w.site(9, "nine")
    w.block(10, summary + events, count=6, summary_size=12, first=1000, last=1040)
    recording = vtread.read(w.bytes())
    assert recording.damage == []
    assert [(e.ticks, e.kind, e.site, e.depth, e.flags) for e in recording.events()] == [
        (1000, "begin", 7, 0, 0), (1010, "begin", 9, 1, 0), (1020, "end", 9, 1, 0),
        (1020, "begin", 9, 1, 0), (1030, "end", 9, 1, 0), (1040, "end", 7, 0, 2)]
    assert spans_of(recording) == [(7, 1000, 1040, 0), (9, 1010, 1020, 1), (9, 1020, 1030, 1)]
    assert recording.problems() == []


def test_guess_by_hand():
    """7 9 7 9: the third begin fills table[9], so only the fourth is guessed."""
    body = bytes([0, 2, 7, 0, 2, 9, 0, 2, 7, 0, 1, 0])
    w = new_file()
    w.block(10, bytes(6) + body, count=8, summary_size=6)
    events = [e.site for e in vtread.read(w.bytes()).events() if e.kind == "begin"]
    assert events == [7, 9, 7, 9]


def test_marked_begins_do_not_touch_the_guess():
    w = new_file()
    e = w.events()
    for site in (1, 2, 1):
        e.begin(0, site)
        e.end(0)
    e.begin(1, 5, flags=IN_GAP)
    e.end(1)
    before = len(e.body)
    e.begin(2, 2)
    assert e.body[before:] == bytes([1 << 2 | 1])
    e.end(2)
    e.write()
    recording = vtread.read(w.bytes())
    assert [x.site for x in recording.events() if x.kind == "begin"] == [1, 2, 1, 5, 2]
    assert recording.problems() == []


# Round trips


def test_facts():
    w = Writer(minor=0, compatible=6, created=123)
    w.meta(command=b"a\0b", directory="/tmp")
    w.host(0, "alpha", "Linux 6", "fast", 8)
    w.clock(0, 0, 2, [(5, 6, 7, 8), (9, 10, 11, 12)])
    w.process(3, pid=42, parent_pid=41, parent=0, start=5, end=9, ended_by=2, code=11, name="prog",
              command="prog\0x", pair_cost=17, inner_cost=9)
    w.track(2, 3, 1, 77, 5, 8, "lane")
    w.link(0, 1, -5, 3)
    w.site(300, "f", 4, "func", "f.c", 12, "bytes")
    w.loss(1, 10, process=3, track=None, first=5, last=6, flags=1)
    r = vtread.read(w.bytes())
    assert (r.header.compatible, r.header.created, r.header.id) == (6, 123, b"0123456789abcdef")
    assert r.meta == {"command": "a\0b", "directory": "/tmp"}
    assert r.hosts == {0: (0, "alpha", "Linux 6", "fast", 8)}
    assert r.clocks[0] == (0, 0, 2, [(5, 6, 7, 8), (9, 10, 11, 12)])
    assert r.processes[3] == (3, 0, 0, 42, 41, 0, 5, 9, 2, 11, "prog", "prog\0x", 17, 9)
    assert r.tracks[2] == (2, 3, 1, 77, 5, 8, "lane")
    assert r.links == [(0, 1, -5, 3)]
    assert r.sites[300] == (300, 4, "f", "func", "f.c", 12, "bytes")
    assert r.losses == [(1, 3, None, 10, 5, 6, 1)]
    assert (r.damage, r.unknown_blocks, r.is_closed) == ([], 0, False)


def test_several_entries_in_one_block():
    w = Writer()
    w.block(9, join(1, 0, "a", "", "", 0, "") + join(2, 0, "b", "", "", 0, ""), count=2)
    assert [site.name for site in vtread.read(w.bytes()).sites.values()] == ["a", "b"]


def test_closed_file():
    w = small_file()
    r = vtread.read(w.bytes())
    assert r.is_closed and r.problems() == []
    assert r.trailer == (block_of(r, vtblocks.END)[0].offset, len(r.blocks))
    assert spans_of(r) == [(1, 100, 150, 0), (2, 110, 130, 1), (1, 160, 170, 0)]
    assert [b.offset % 8 for b in r.blocks] == [0] * len(r.blocks)
    assert vtread.read(bytearray(w.bytes())).is_closed


def test_every_event_and_value():
    w = new_file()
    e = w.events(0, 10)
    e.begin(10, 1, flags=IN_GAP)
    e.mark(11, 4)
    values = [-5, Unsigned(2**64 - 1), 2.5, "text"]
    for at, item in enumerate(values):
        e.counter(12 + at, 3, item)
        e.attribute(12 + at, 3, item)
    e.error(20, "ValueError", "no")
    e.async_begin(21, 5, 99)
    e.async_attribute(22, 99, 3, "v")
    e.lost(30, 1, 1000, 5)
    e.async_end(31, 99, FAILED)
    e.other(32, 200, b"from the future")
    e.end(33, flags=LEFT)
    e.write()
    w.close()
    r = vtread.read(w.bytes())
    assert r.problems() == []
    events = list(r.events(0))
    assert [x.kind for x in events] == [
        "begin", "mark", *["counter", "attribute"] * 4, "error", "async_begin", "async_attribute",
        "lost", "async_end", "unknown", "end"]
    assert [x.value for x in events if x.kind == "counter"] == values
    by_kind = {x.kind: x for x in events}
    assert by_kind["error"].value == ("ValueError", "no") and by_kind["error"].site == 1
    assert by_kind["lost"].value == {"reason": 1, "events": 1000, "duration": 5}
    assert by_kind["unknown"].value == (200, b"from the future")
    assert (by_kind["async_attribute"].async_id, by_kind["async_attribute"].site) == (99, 3)
    span, other = r.spans()
    assert (span.flags, span.error) == (IN_GAP | LEFT, ("ValueError", "no"))
    assert span.attributes == [(3, item) for item in values]
    assert (other.async_id, other.begin, other.end, other.failed) == (99, 21, 31, True)
    assert other.attributes == [(3, "v")]


def ids(*numbers):
    return [bytes([number]) * 16 for number in numbers]


def test_ids_of_a_trace():
    w = new_file()
    e = w.events(0, 10)
    e.trace_begin(10, 5, 1, 2, *ids(1, 2))  # a root
    e.trace_begin(11, 5, 2, 5, *ids(3))  # its child
    e.trace_begin(12, 5, 3, 9, *ids(4))  # a sibling of that
    e.async_begin(13, 5, 4)
    e.trace_begin(14, 5, 5, 0, *ids(6, 7, 8))
    for number in range(1, 6):
        e.async_end(20, number)
    e.write()
    e = w.events(0, 30)
    e.trace_begin(30, 5, 6, 5, *ids(9))  # nothing before it in this block
    e.trace_begin(31, 5, 7, 16, *ids(9))
    e.trace_begin(32, 5, 8, 6, *ids(9))
    e.trace_begin(33, 5, 9, 2, *ids(9))
    e.write()
    r = vtread.read(w.bytes())
    found = [s.trace and tuple(each.bytes[0] for each in s.trace) for s in r.spans()]
    assert found == [(1, 2, 1), (1, 3, 2), (1, 4, 2), None, (6, 7, 8)]
    assert [x.kind for x in r.events(0)][-4:] == ["unknown"] * 4
    assert len(r.damage) == 4


def test_body_may_be_longer_than_known():
    w = new_file()
    e = w.events()
    e.other(1, 3, varint(4) + b"more")
    e.write()
    r = vtread.read(w.bytes())
    assert [(x.kind, x.site) for x in r.events()] == [("mark", 4)] and r.damage == []


def test_strange_strings_and_numbers():
    w = new_file()
    w.site(9, b"\xff\x00caf\xc3\xa9")
    e = w.events()
    e.counter(0, 9, math.nan)
    e.counter(0, 9, -math.inf)
    e.write()
    r = vtread.read(w.bytes())
    assert r.sites[9].name.encode("utf-8", "surrogateescape") == b"\xff\x00caf\xc3\xa9"
    document = json.loads(json.dumps(vtread.as_json(r), allow_nan=False))
    assert [x["value"] for x in document["events"]] == ["nan", "-inf"]
    assert document["sites"][-1]["name"] == "\ufffd\0caf\u00e9"


# Spans


def test_span_over_several_blocks():
    w = new_file()
    e = w.events(0, 10)
    e.begin(10, 1)
    e.write()
    e = w.events(0, 20, stack=[(1, 10)])
    e.begin(20, 2)
    e.end(25)
    e.write()
    e = w.events(0, 30, stack=[(1, 10)])
    e.end(30)
    e.write()
    w.close()
    r = vtread.read(w.bytes())
    assert spans_of(r) == [(1, 10, 30, 0), (2, 20, 25, 1)] and r.problems() == []


def test_missing_block_between():
    """The stack of the later block says what was open; the rest ended unseen."""
    w = new_file()
    e = w.events(0, 10)
    e.begin(10, 1)
    e.begin(11, 2)
    e.write()
    e = w.events(0, 50, stack=[(1, 10), (3, 45)])
    e.end(50)
    e.end(60)
    e.end(61)
    e.begin(70, 4)
    e.write()
    r = vtread.read(w.bytes())
    assert spans_of(r) == [
        (1, 10, 60, 0), (2, 11, None, 1), (3, 45, 50, 1), (4, 70, None, 0)]
    assert r.ends_without_begin == 1
    assert r.problems() == []
    assert [x.site for x in r.events() if x.kind == "end"] == [3, 1, None]


def test_blocks_out_of_order_in_the_file():
    w = new_file()
    late = w.events(0, 20, stack=[(1, 10)])
    late.end(20)
    late.write()
    early = w.events(0, 10)
    early.begin(10, 1)
    early.write()
    assert spans_of(vtread.read(w.bytes())) == [(1, 10, 20, 0)]


def test_async_over_tracks():
    w = new_file()
    w.track(1)
    w.process(1)
    w.track(2, process=1)
    e = w.events(1, 5)
    e.async_end(5, 8)  # ends before the block of its begin
    e.async_end(6, 77)  # no begin anywhere
    e.write()
    e = w.events(0, 1)
    e.async_begin(1, 5, 8)
    e.async_begin(2, 5, 9)
    e.write()
    e = w.events(2, 3)
    e.async_begin(3, 5, 8)  # another process
    e.write()
    e = w.events(9, 3)
    e.async_end(3, 9)  # a track of an unknown process
    e.write()
    r = vtread.read(w.bytes())
    found = {(s.process, s.async_id): (s.track, s.end_track, s.end) for s in r.spans()}
    assert found == {(0, 8): (0, 1, 5), (0, 9): (0, None, None), (1, 8): (2, None, None)}
    assert r.ends_without_begin == 2


def test_depth_beyond_the_lanes():
    w = new_file()
    e = w.events()
    for depth in range(100):
        e.begin(depth, 1 + depth % 5)
    for depth in range(100):
        e.end(200 + depth)
    e.write()
    w.close()
    r = vtread.read(w.bytes())
    assert r.problems() == []
    [block] = r.event_blocks[0]
    assert (block.summary.deepest, len(block.summary.lanes)) == (100, 64)
    assert block.summary.lanes[0] == (1, 0, 299)


# Time


def time_file():
    w = Writer()
    w.clock(0, anchors=[(1000, 500, 10**9, 0), (2000, 2500, 10**9 + 2000, 0)])
    w.clock(1, anchors=[(0, 77, 10**9 + 100, 0)])
    return w


@pytest.mark.parametrize("ticks, expected", [
    (1000, 0), (1500, 1000), (2000, 2000), (3000, 4000), (500, -1000)])
def test_time_by_two_anchors(ticks, expected):
    assert vtread.read(time_file().bytes()).time_ns(0, ticks) == expected


def test_anchors_add_up():
    w = time_file()
    w.clock(0, anchors=[(3000, 2600, 10**9 + 2100, 0)])
    r = vtread.read(w.bytes())
    assert [r.time_ns(0, t) for t in (1500, 2500, 4000)] == [1000, 2050, 2200]
    assert len(r.clocks[0].anchors) == 3


def test_time_of_other_domains():
    r = vtread.read(time_file().bytes())
    assert (r.time_ns(1, 0), r.time_ns(1, 7), r.time_ns(5, 0)) == (100, 107, None)
    assert r.time_ns(None, 0) is None


def test_time_by_links():
    w = time_file()
    w.clock(2, anchors=[(0, 0, 10**9, 0)])
    w.link(0, 1, -30)
    w.link(2, 1, 5)  # the real time of 2 is 5 more than that of 1
    r = vtread.read(w.bytes())
    assert r.time_ns(1, 0) == 70
    assert r.time_ns(2, 0) == -35


# Definitions


def test_defined_twice():
    w = small_file(closed=False)
    w.site(1, "renamed", 4)
    w.track(0, name="learnt", end=999)
    w.process(0, end=500, ended_by=1)
    w.meta(policy="ring")
    r = vtread.read(w.bytes())
    assert (r.site_name(1), r.tracks[0].name, r.processes[0].end) == ("renamed", "learnt", 500)
    assert (r.meta["policy"], len(r.tracks)) == ("ring", 1)


def test_undefined_ids():
    w = Writer()
    e = w.events(7, 1)
    e.begin(1, 12)
    e.end(2)
    e.write()
    r = vtread.read(w.bytes())
    assert r.site_name(12) == "site 12"
    assert (r.track(7).process, r.domain(7)) == (None, None)
    assert spans_of(r) == [(12, 1, 2, 0)]
    assert any("site 12 is not defined" in line for line in r.problems())
    assert any("track 7 is not defined" in line for line in r.problems())


def test_overlong_and_large_ids():
    w = Writer()
    w.block(9, varint(5, 10) + join(0, "five", "", "", 0, ""))
    w.block(9, join(2**64 - 1, 0, "huge", "", "", 0, ""))
    w.block(9, b"\xff" * 10 + b"\x01" + join(0, "too long", "", "", 0, ""))
    e = w.events(2**32 - 1)
    e.begin(0, 2**64 - 1)
    e.begin(0, 5)
    e.end(1)
    e.begin(1, 5)
    e.write()
    r = vtread.read(w.bytes())
    names = [r.site_name(event.site) for event in r.events() if event.kind == "begin"]
    assert names == ["huge", "five", "five"]
    assert [site.name for site in r.sites.values()] == ["five", "huge"]
    assert [damage.what for damage in r.damage] == ["SITES: a varint of more than ten bytes"]


# Versions and unknown things


def test_newer_minor_version_and_longer_header():
    r = vtread.read(small_file(minor=7, compatible=2**63, size=128).bytes())
    assert r.header.minor == 7 and r.problems() == [] and len(list(r.spans())) == 3


@pytest.mark.parametrize("options", [{"major": 2}, {"major": 0}, {"incompatible": 1},
                                     {"incompatible": 1 << 63}])
def test_refused(options):
    with pytest.raises(vtread.Unsupported):
        vtread.read(small_file(**options).bytes())


def test_unknown_kinds_are_counted():
    w = new_file()
    for kind in (0, 7, 11, 19, 99, 255):
        w.block(kind, b"whatever", count=9, flags=0xFF)
    e = w.events()
    e.mark(0, 4)
    e.write()
    w.close()
    r = vtread.read(w.bytes())
    assert (r.unknown_blocks, r.problems(), len(list(r.events()))) == (6, [], 1)


def test_compressed_block_is_reported():
    w = new_file()
    w.block(9, b"\x28\xb5\x2f\xfd", flags=1)
    r = vtread.read(w.bytes())
    assert [d.what for d in r.damage] == ["SITES: a compressed payload"]


@pytest.mark.parametrize("data", [
    b"", b"\x89VT\r\n\x1a\n", b"not a recording" * 10, Writer().bytes()[:63],
    Writer().bytes()[:40] + b"X" + Writer().bytes()[41:], Writer(size=68).bytes()])
def test_not_a_recording(data):
    with pytest.raises(vtread.NotARecording):
        vtread.read(data)


def test_header_alone_is_a_recording():
    r = vtread.read(Writer().bytes())
    assert (r.blocks, r.damage, r.is_closed, list(r.events())) == ([], [], False, [])


# Command line


def run(path, *options):
    return subprocess.run([sys.executable, str(HERE / "vtread.py"), str(path), *options],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True)


def test_command_line(tmp_path):
    path = tmp_path / "a.vt"
    path.write_bytes(small_file().bytes())
    assert vtread.read(path).is_closed and vtread.read(str(path)).is_closed
    document = json.loads(run(path, "--json").stdout)
    assert document["meta"]["policy"] == "drop" and document["spans"] == 3
    assert document["events"][1] == {
        "track": 0, "ticks": 110, "kind": "begin", "site": 2, "depth": 1, "value": None, "flags": 0,
        "async_id": None, "trace": None, "name": "inner", "time_ns": 110}
    for name in ("processes", "tracks", "sites", "losses", "damage"):
        assert isinstance(document[name], list)
    checked = run(path, "--check")
    assert (checked.returncode, checked.stdout, checked.stderr) == (0, "", "")
    assert "6 events, 3 spans" in run(path).stdout


def test_command_line_with_problems(tmp_path):
    path = tmp_path / "a.vt"
    path.write_bytes(small_file().bytes()[:-30])
    checked = run(path, "--check")
    assert checked.returncode == 1 and "damaged from" in checked.stdout
    path.write_bytes(b"no")
    refused = run(path)
    assert refused.returncode == 2 and "magic" in refused.stderr
    assert run(tmp_path / "none.vt").returncode == 2
