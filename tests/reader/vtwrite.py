"""A writer of small Venturi recordings for tests, written from docs/format.md alone.

It writes every kind of block, event and flag of the page, and on request what a real writer never
would: unknown kinds and types, newer versions, missing trailers, numbers longer than they need be.

    w = Writer()
    w.site(1, "work")
    e = w.events(track=0, first=100)
    e.begin(100, 1)
    e.end(150)
    e.write()
    w.close()
    data = w.bytes()
"""

import struct
from typing import Any, Dict, List, Optional, Sequence, Tuple, Union

Text = Union[str, bytes]

FILE_MAGIC = b"\x89VT\r\n\x1a\n\x00"
META, HOST, PROCESS, TRACK, CLOCK, CLOCK_LINK = 1, 2, 3, 4, 5, 6
SITES, EVENTS, LOSSES, INDEX, END = 9, 10, 20, 21, 22
TASKS = 15
IN_GAP, LEFT, FAILED = 1, 2, 4
MAX_LANES = 64
FANOUT = 16


def crc32c(data: bytes) -> int:
    """Bit by bit, unlike the reader's."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


def varint(number: int, size: int = 1) -> bytes:
    """At least `size` bytes, so that overlong numbers can be written."""
    out = bytearray()
    while number > 0x7F or len(out) + 1 < size:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


def signed(number: int) -> bytes:
    return varint((number << 1) ^ (number >> 63))


def string(text: Text) -> bytes:
    raw = text.encode() if isinstance(text, str) else text
    return varint(len(raw)) + raw


def value(item: Any) -> bytes:
    """An int is signed; use Unsigned for the other kind."""
    if isinstance(item, Unsigned):
        return b"\x02" + varint(item)
    if isinstance(item, int):
        return b"\x01" + signed(item)
    if isinstance(item, float):
        return b"\x03" + struct.pack("<d", item)
    return b"\x04" + string(item)


def join(*parts: Any) -> bytes:
    """ints as varints, text as strings, one after the other; bytearrays as they are."""
    out = b""
    for part in parts:
        if isinstance(part, int):
            out += varint(part)
        else:
            out += bytes(part) if isinstance(part, bytearray) else string(part)
    return out


class Unsigned(int):
    """A value to be written as type 2."""


class Events:
    """One EVENTS block in the making."""

    def __init__(self, writer: "Writer", track: int, first: int,
                 stack: Sequence[Tuple[int, int]] = ()):
        self.writer, self.track, self.first, self.now = writer, track, first, first
        self.opening = list(stack)  # site, begin tick
        self.stack = list(stack)
        self.body = b""
        self.count = self.begins = self.ends = self.errors = self.busy = 0
        self.deepest = len(self.stack)
        self.lanes: List[Optional[Tuple[int, int, int]]] = []  # site, begin, end
        self.table: Dict[int, int] = {}
        self.last_site = 0

    def _event(self, tick: int, code: int, rest: bytes = b"") -> None:
        self.body += varint((tick - self.now) << 2 | code) + rest
        self.busy += tick - self.now if self.stack else 0
        self.now = tick
        self.count += 1

    def other(self, tick: int, kind: int, body: bytes) -> None:
        self._event(tick, 3, bytes([kind]) + varint(len(body)) + body)

    def begin(self, tick: int, site: int, flags: Optional[int] = None) -> None:
        if flags is not None:
            self.other(tick, 2, join(flags, site))
        elif self.table.get(self.last_site % 256, 0) == site:
            self._event(tick, 1)
        else:
            self._event(tick, 2, varint(site))
        if flags is None:
            self.table[self.last_site % 256] = site
            self.last_site = site
        self.stack.append((site, tick))
        self.begins += 1
        self.deepest = max(self.deepest, len(self.stack))

    def end(self, tick: int, flags: Optional[int] = None) -> None:
        if flags is None:
            self._event(tick, 0)
        else:
            self.other(tick, 1, varint(flags))
        if self.stack:
            site, begin = self.stack.pop()
            self.ends += 1
            self._ended(len(self.stack), site, begin, tick)

    def _ended(self, depth: int, site: int, begin: int, end: int) -> None:
        if depth >= MAX_LANES:
            return
        self.lanes += [None] * (depth + 1 - len(self.lanes))
        best = self.lanes[depth]
        if best is None or end - begin > best[2] - best[1]:
            self.lanes[depth] = (site, begin, end)

    def mark(self, tick: int, site: int) -> None:
        self.other(tick, 3, varint(site))

    def counter(self, tick: int, site: int, number: Any) -> None:
        self.other(tick, 4, varint(site) + value(number))

    def attribute(self, tick: int, key: int, item: Any) -> None:
        self.other(tick, 5, varint(key) + value(item))

    def error(self, tick: int, kind: Text, message: Text) -> None:
        self.other(tick, 6, join(kind, message))
        self.errors += 1

    def async_begin(self, tick: int, site: int, number: int) -> None:
        self.other(tick, 7, join(site, number))

    def async_end(self, tick: int, number: int, flags: int = 0) -> None:
        self.other(tick, 8, join(number, flags))

    def async_attribute(self, tick: int, number: int, key: int, item: Any) -> None:
        self.other(tick, 9, join(number, key) + value(item))

    def trace_begin(self, tick: int, site: int, number: int, how: int, *ids: bytes) -> None:
        self.other(tick, 11, join(site, number, how) + b"".join(ids))

    def lost(self, tick: int, reason: int, events: int, duration: int) -> None:
        self.other(tick, 10, join(reason, events, duration))

    def summary(self, last: int) -> bytes:
        busy = self.busy + (last - self.now if self.stack else 0)
        out = join(busy, self.begins, self.ends, self.errors, self.deepest, len(self.lanes))
        for lane in self.lanes:
            if lane is None:
                out += varint(0)
            else:
                site, begin, end = lane
                out += join(site + 1, last - end, end - begin)
        return out

    def write(self, last: Optional[int] = None, summary: Optional[bytes] = None,
              **fields: Any) -> int:
        """Appends the block. Unless given, `last` is the last event's tick, the summary right."""
        last = self.now if last is None else last
        right = self.summary(last)
        chosen = right if summary is None else summary
        stack = varint(len(self.opening)) + b"".join(
            join(site, self.first - begin) for site, begin in self.opening)
        payload = chosen + stack + self.body
        fields = {"count": self.count, "owner": self.track, "summary_size": len(chosen),
                  "first": self.first, "last": last, **fields}
        offset = self.writer.block(EVENTS, payload, **fields)
        busy = self.busy + (last - self.now if self.stack else 0)
        self.writer.written_events.setdefault(self.track, []).append(
            (offset, self.first, last, len(payload), self.count, self.begins, self.deepest, busy,
             self.lanes, bool(self.opening)))
        return offset


class Writer:
    """A recording in memory. Every method appends one block and gives its offset."""

    def __init__(self, major: int = 1, minor: int = 0, incompatible: int = 0, compatible: int = 0,
                 size: int = 64, created: int = 1700000000 * 10**9, ident: bytes = b"0123456789abcdef"):
        head = FILE_MAGIC + struct.pack("<HHIQQQ16sI", major, minor, size, incompatible, compatible,
                                        created, ident, 0)
        self.data = head + struct.pack("<I", crc32c(head)) + bytes(size - 64)
        self.blocks: List[Tuple[int, int]] = []  # kind, offset
        self.written_events: Dict[int, List[Tuple[Any, ...]]] = {}
        self.total_lost = 0

    def bytes(self) -> bytes:
        return self.data

    def block(self, kind: int, payload: bytes, count: int = 1, owner: int = 0,
              summary_size: int = 0, first: int = 0, last: int = 0, flags: int = 0) -> int:
        offset = len(self.data)
        head = b"VTB1" + struct.pack("<BBHIIIIQQI", kind, flags, 0, len(payload), count, owner,
                                     summary_size, first, last, crc32c(payload))
        self.data += head + struct.pack("<I", crc32c(head)) + payload + bytes(-len(payload) % 8)
        self.blocks.append((kind, offset))
        return offset

    def meta(self, **pairs: Text) -> int:
        return self.block(META, b"".join(join(*pair) for pair in pairs.items()), len(pairs))

    def host(self, host: int = 0, name: Text = "host", system: Text = "Linux", cpu: Text = "CPU",
             cpus: int = 4) -> int:
        return self.block(HOST, join(host, name, system, cpu, cpus))

    def process(self, process: int, host: int = 0, domain: int = 0, pid: int = 100,
                parent_pid: int = 1, parent: Optional[int] = None, start: int = 0, end: int = 0,
                ended_by: int = 0, code: int = 0, name: Text = "program",
                command: Text = "program\0-x", pair_cost: int = 0, inner_cost: int = 0) -> int:
        above = 0 if parent is None else parent + 1
        return self.block(PROCESS, join(process, host, domain, pid, parent_pid, above, start, end,
                                        ended_by, code, name, command, pair_cost, inner_cost))

    def track(self, track: int, process: int = 0, kind: int = 0, thread: int = 0, start: int = 0,
              end: int = 0, name: Text = "") -> int:
        return self.block(TRACK, join(track, process, kind, thread, start, end, name))

    def clock(self, domain: int = 0, host: int = 0, kind: int = 1,
              anchors: Sequence[Tuple[int, int, int, int]] = ((0, 0, 0, 0),)) -> int:
        packed = b"".join(struct.pack("<QQQI", *anchor) for anchor in anchors)
        return self.block(CLOCK, join(domain, host, kind, len(anchors)) + packed)

    def link(self, a: int, b: int, offset: int, error: int = 0) -> int:
        return self.block(CLOCK_LINK, join(a, b) + signed(offset) + varint(error))

    def site(self, site: int, name: Text, kind: int = 0, function: Text = "", file: Text = "",
             line: int = 0, unit: Text = "") -> int:
        return self.block(SITES, join(site, kind, name, function, file, line, unit))

    def loss(self, reason: int, events: int, process: Optional[int] = None,
             track: Optional[int] = None, first: int = 0, last: int = 0, flags: int = 0) -> int:
        self.total_lost += events
        above = [0 if each is None else each + 1 for each in (process, track)]
        return self.block(LOSSES, join(reason, *above, events, first, last, flags))

    def tasks(self, tasks: Sequence[Tuple[int, int, int]], process: int = 0, run: int = 1, site: int = 1) -> int:
        """Tasks without keys of the first worker: number, start and end tick."""
        payload = b""
        time = last = 0
        for number, start, end in tasks:
            body = (varint(1 | 1 << 8 | 1 << 13) + varint(run) + signed(number - last) + join(site, 1)
                    + signed(start - time) + join(end - start, 0, ""))
            payload += join(3, len(body)) + body
            time, last = end, number
        return self.block(TASKS, payload, len(tasks), process)

    def events(self, track: int = 0, first: int = 0,
               stack: Sequence[Tuple[int, int]] = ()) -> Events:
        return Events(self, track, first, stack)

    def index(self, track: int) -> int:
        blocks = sorted(self.written_events.get(track, []), key=lambda each: each[1])
        first = min([each[1] for each in blocks], default=0)
        last = max([each[2] for each in blocks], default=0)
        return self.block(INDEX, index_payload(blocks), len(blocks), track, first=first, last=last)

    def end(self, **totals: int) -> int:
        """Totals that are not given are right ones."""
        leaves = [leaf for blocks in self.written_events.values() for leaf in blocks]
        facts = [at for kind, at in self.blocks if kind not in (EVENTS, INDEX, END)]
        indexes = [at for kind, at in self.blocks if kind == INDEX]
        right = {"events": sum(leaf[4] for leaf in leaves), "lost": self.total_lost,
                 "last": max([leaf[2] for leaf in leaves], default=0)}
        right.update(totals)
        payload = struct.pack("<QQQII", right["events"], right["lost"], right["last"], len(facts),
                              len(indexes))
        payload += struct.pack("<%dQ" % len(facts + indexes), *facts, *indexes)
        return self.block(END, payload, len(facts + indexes), last=right["last"])

    def trailer(self, end_offset: Optional[int] = None, blocks: Optional[int] = None) -> None:
        at = self.blocks[-1][1] if end_offset is None else end_offset
        count = len(self.blocks) if blocks is None else blocks
        raw = b"VTEND\0\0\0" + struct.pack("<QI", at, count)
        self.data += raw + struct.pack("<I", crc32c(raw))

    def close(self) -> None:
        for track in sorted(self.written_events):
            self.index(track)
        self.end()
        self.trailer()


# INDEX


def _join_lanes(all_lanes: List[List[Any]]) -> List[Any]:
    lanes = []
    for depth in range(max(map(len, all_lanes), default=0)):
        spans = [each[depth] for each in all_lanes if depth < len(each) and each[depth]]
        lanes.append(max(spans, key=lambda span: span[2] - span[1]) if spans else None)
    return lanes


def _busy(group: List[Tuple[Any, ...]]) -> int:
    between = sum(after[0] - before[1] for before, after in zip(group, group[1:]) if after[5])
    return sum(each[2] for each in group) + between


def _levels(blocks: List[Tuple[Any, ...]]) -> List[List[Tuple[Any, ...]]]:
    """The levels above 0, as lists of (first, last, busy, begins, lanes, a span was open before)."""
    level = [(first, last, busy, begins, lanes, is_open)
             for _, first, last, _, _, begins, _, busy, lanes, is_open in blocks]
    levels = []
    while len(level) > FANOUT:
        groups = [level[at:at + FANOUT] for at in range(0, len(level), FANOUT)]
        level = [(group[0][0], max(each[1] for each in group), _busy(group),
                  sum(each[3] for each in group), _join_lanes([each[4] for each in group]),
                  group[0][5])
                 for group in groups]
        levels.append(level)
    return levels


def index_payload(blocks: List[Tuple[Any, ...]]) -> bytes:
    """Directory, the arrays of all levels, then all lanes."""
    levels = _levels(blocks)
    sizes = [len(blocks)] + [len(level) for level in levels]
    at = 8 + 16 * len(sizes)
    directory = struct.pack("<II", len(sizes), 0)
    for size in sizes:
        directory += struct.pack("<QQ", at, size)
        at += 40 * size
    arrays = b"".join(struct.pack("<QQQIIII", *block[:7]) for block in blocks)
    lanes = b""
    for first, last, busy, begins, spans, _ in (node for level in levels for node in level):
        arrays += struct.pack("<QQQQII", first, last, busy, begins, (at + len(lanes)) // 8,
                              len(spans))
        for span in spans:
            site, begin, end = span or (-1, 0, 0)
            lanes += struct.pack("<IIQQ", site + 1, 0, begin, end)
    return directory + arrays + lanes
