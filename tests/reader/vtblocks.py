"""The bytes of a Venturi recording: numbers, blocks and what their payloads say.

Written from docs/format.md alone, as a second implementation of that page. This module turns bytes
into records; vtread.py, the module to use, puts the records together.
"""

import struct
import uuid
from collections import namedtuple
from typing import Any, List, NamedTuple, Optional, Tuple

FILE_MAGIC = bytes.fromhex("8956540d0a1a0a00")
BLOCK_MAGIC = b"VTB1"
TRAILER_MAGIC = b"VTEND\0\0\0"
FILE_HEADER_SIZE = 64
BLOCK_HEADER_SIZE = 48
TRAILER_SIZE = 24
MAJOR_VERSION = 1
KNOWN_INCOMPATIBLE = 0  # zstd (bit 0) is not in the standard library
FLAG_COMPRESSED = 1
MAX_PAYLOAD = 1 << 30
MAX_LANES = 64
MAX_LEVELS = 8

META, HOST, PROCESS, TRACK, CLOCK, CLOCK_LINK = range(1, 7)
SITES, EVENTS, LOSSES, INDEX, END = 9, 10, 20, 21, 22
SAMPLES, CALL_TREE, DURATIONS, COSTS, SAMPLING = 12, 13, 23, 24, 26
SOURCES, LINES, LINE_DURATIONS, LINE_CALLEES, RESOURCES = 8, 14, 27, 28, 29
TASKS, EDGES = 15, 16
ENERGY, THREAD_CPU = 18, 30
STEPS = 31
KIND_NAMES = {
    META: "META", HOST: "HOST", PROCESS: "PROCESS", TRACK: "TRACK", CLOCK: "CLOCK",
    CLOCK_LINK: "CLOCK_LINK", SITES: "SITES", EVENTS: "EVENTS", LOSSES: "LOSSES",
    INDEX: "INDEX", END: "END", CALL_TREE: "CALL_TREE", DURATIONS: "DURATIONS", COSTS: "COSTS",
    SAMPLES: "SAMPLES", SAMPLING: "SAMPLING",
    SOURCES: "SOURCES", LINES: "LINES", LINE_DURATIONS: "LINE_DURATIONS", LINE_CALLEES: "LINE_CALLEES",
    RESOURCES: "RESOURCES", TASKS: "TASKS", EDGES: "EDGES", ENERGY: "ENERGY", THREAD_CPU: "THREAD_CPU",
    STEPS: "STEPS",
}


class NotARecording(Exception):
    """The file does not begin with a sound file header."""


class Unsupported(Exception):
    """The file asks for something that this reader does not know."""


class Malformed(Exception):
    """Bytes that carry a good checksum but do not follow the page; never leaves read()."""


# Checksums


def _crc_table() -> List[int]:
    table = []
    for byte in range(256):
        for _ in range(8):
            byte = (byte >> 1) ^ (0x82F63B78 if byte & 1 else 0)
        table.append(byte)
    return table


_CRC_TABLE = _crc_table()


def crc32c(data: bytes) -> int:
    """CRC-32C (Castagnoli): crc32c(b"123456789") is 0xE3069283."""
    table = _CRC_TABLE
    crc = 0xFFFFFFFF
    for byte in data:
        crc = table[(crc ^ byte) & 0xFF] ^ (crc >> 8)
    return crc ^ 0xFFFFFFFF


# Numbers and strings


class Cursor:
    """Reads numbers and strings one after the other, and never past the end."""

    def __init__(self, data: bytes, at: int = 0, end: Optional[int] = None):
        self.data = data
        self.at = at
        self.end = len(data) if end is None else end

    def left(self) -> int:
        return self.end - self.at

    def take(self, size: int) -> bytes:
        if size > self.left():
            raise Malformed("too short")
        self.at += size
        return self.data[self.at - size:self.at]

    def unpack(self, layout: str) -> Tuple[Any, ...]:
        return struct.unpack("<" + layout, self.take(struct.calcsize("<" + layout)))

    def u8(self) -> int:
        return self.take(1)[0]

    def varint(self) -> int:
        value = shift = 0
        while True:
            byte = self.u8()
            value |= (byte & 0x7F) << shift
            if not byte & 0x80:
                break
            shift += 7
            if shift > 63:
                raise Malformed("a varint of more than ten bytes")
        if value >> 64:
            raise Malformed("a varint of more than 64 bits")
        return value

    def signed(self) -> int:
        value = self.varint()
        return (value >> 1) ^ -(value & 1)

    def string(self) -> str:
        return self.take(self.varint()).decode("utf-8", "surrogateescape")

    def plus_one(self) -> Optional[int]:
        """A number written one larger, so that 0 can mean that there is none."""
        value = self.varint()
        return value - 1 if value else None

    def fields(self, layout: str) -> List[Any]:
        """v: varint, s: string, i: signed, p: varint written one larger."""
        read = {"v": self.varint, "s": self.string, "i": self.signed, "p": self.plus_one}
        return [read[letter]() for letter in layout]

    def value(self) -> Any:
        """A value of an event; None for a type of value that the page does not list."""
        kind = self.u8()
        if kind == 1:
            return self.signed()
        if kind == 2:
            return self.varint()
        if kind == 3:
            return self.unpack("d")[0]
        if kind == 4:
            return self.string()
        return None


# The frame: file header, blocks, trailer


FileHeader = namedtuple("FileHeader", "major minor size incompatible compatible created id")
Damage = namedtuple("Damage", "begin end what")
Trailer = namedtuple("Trailer", "end_offset blocks")


class Block(NamedTuple):
    kind: int
    offset: int
    flags: int
    size: int
    count: int
    owner: int
    summary_size: int
    first: int
    last: int
    checksum: int

    @property
    def name(self) -> str:
        return KIND_NAMES.get(self.kind, "kind %d" % self.kind)

    @property
    def payload_at(self) -> int:
        return self.offset + BLOCK_HEADER_SIZE

    @property
    def payload_end(self) -> int:
        return self.payload_at + self.size

    @property
    def end(self) -> int:
        return (self.payload_end + 7) // 8 * 8


def read_file_header(data: bytes) -> FileHeader:
    if data[:8] != FILE_MAGIC:
        raise NotARecording("the file does not begin with the magic of a recording")
    if len(data) < FILE_HEADER_SIZE:
        raise NotARecording("the file ends within its header")
    header = FileHeader(*struct.unpack_from("<HHIQQQ16s", data, 8))
    if header.major != MAJOR_VERSION:
        raise Unsupported("major version %d" % header.major)
    if crc32c(data[:60]) != struct.unpack_from("<I", data, 60)[0]:
        raise NotARecording("the checksum of the file header differs")
    if header.size < FILE_HEADER_SIZE or header.size % 8:
        raise NotARecording("a file header of %d bytes" % header.size)
    unknown = header.incompatible & ~KNOWN_INCOMPATIBLE
    if unknown:
        raise Unsupported("incompatible features %#x" % unknown)
    return header


def read_trailer(data: bytes) -> Optional[Trailer]:
    raw = data[-TRAILER_SIZE:]
    if len(data) < FILE_HEADER_SIZE + TRAILER_SIZE or raw[:8] != TRAILER_MAGIC:
        return None
    end_offset, blocks, checksum = struct.unpack("<QII", raw[8:])
    return Trailer(end_offset, blocks) if crc32c(raw[:20]) == checksum else None


def read_block_header(data: bytes, at: int, stop: int) -> Optional[Block]:
    raw = data[at:at + BLOCK_HEADER_SIZE]
    if at + BLOCK_HEADER_SIZE > stop or raw[:4] != BLOCK_MAGIC:
        return None
    kind, flags, _, size, count, owner, summary, first, last, payload_crc, header_crc = (
        struct.unpack("<BBHIIIIQQII", raw[4:]))
    if crc32c(raw[:44]) != header_crc or size > MAX_PAYLOAD:
        return None
    return Block(kind, at, flags, size, count, owner, summary, first, last, payload_crc)


def find_block_header(data: bytes, at: int, stop: int) -> int:
    """The offset of the first good block header in steps of 8 from at; stop if there is none."""
    while True:
        at = data.find(BLOCK_MAGIC, at, stop)
        if at < 0:
            return stop
        if at % 8 == 0 and read_block_header(data, at, stop):
            return at
        at += 1


def scan_blocks(data: bytes, at: int, stop: int, damage: List[Damage]):
    """Yields every sound block; what is not sound goes to damage."""
    while at < stop:
        block = read_block_header(data, at, stop)
        if block is None or block.payload_end > stop:
            what = "a block that goes on past the end" if block else "no block header"
            found = find_block_header(data, at + 8, stop)
            damage.append(Damage(at, found, what))
            at = found
            continue
        at = min(block.end, stop)
        if crc32c(data[block.payload_at:block.payload_end]) != block.checksum:
            what = "the payload checksum of %s differs" % block.name
            damage.append(Damage(block.offset, at, what))
        else:
            yield block


# Facts


Host = namedtuple("Host", "id name system cpu cpus")
Process = namedtuple("Process", "id host domain pid parent_pid parent start end ended_by code "
                                "name command pair_cost inner_cost")
Track = namedtuple("Track", "id process type thread start end name")
Clock = namedtuple("Clock", "id host type anchors")
Anchor = namedtuple("Anchor", "ticks monotonic real uncertainty")
Link = namedtuple("Link", "a b offset error")
Site = namedtuple("Site", "id type name function file line unit")
Loss = namedtuple("Loss", "reason process track events first last flags")
Call = namedtuple("Call", "id parent site calls resumes total suspended shortest longest open")
Durations = namedtuple("Durations", "id counts")
Cost = namedtuple("Cost", "process language pair inner")
Sample = namedtuple("Sample", "id parent site samples ns")
Sampling = namedtuple("Sampling", "process clock stopped period samples ours cut lost spent")

Line = namedtuple("Line", "id site line statement time events hits total inner suspended resumes shortest longest open")
Callee = namedtuple("Callee", "id site calls total")
Resource = namedtuple("Resource", "type tree number fields")
Source = namedtuple("Source", "process file text")
Energy = namedtuple("Energy", "type tree fields")
ThreadCpu = namedtuple("ThreadCpu", "ticks span cpu flags node line")


def _read_clock(cursor: Cursor) -> Clock:
    domain, host, kind, count = cursor.fields("vvvv")
    if count * 28 > cursor.left():
        raise Malformed("too short")
    return Clock(domain, host, kind, [Anchor(*cursor.unpack("QQQI")) for _ in range(count)])


def _read_call(cursor: Cursor) -> Call:
    """`shortest` and `open` are None where there is none."""
    *numbers, shortest, longest, is_open = cursor.fields("v" * 10)
    if not numbers[0]:
        raise Malformed("a node without a number")
    return Call(*numbers, shortest - 1 if shortest else None, longest, is_open - 1 if is_open else None)


def _read_sample(cursor: Cursor) -> Sample:
    sample = Sample(*cursor.fields("vvvvv"))
    if not sample.id:
        raise Malformed("a node without a number")
    return sample


def _read_durations(cursor: Cursor) -> Durations:
    site, pairs = cursor.fields("vv")
    counts = {}
    for _ in range(pairs):
        bucket, count = cursor.fields("vv")
        if bucket >= 128:
            raise Malformed("bucket %d" % bucket)
        counts[bucket] = count
    return Durations(site, counts)


def _read_line(cursor: Cursor) -> Line:
    """`shortest` and `open` are None where there is none."""
    *numbers, shortest, longest, is_open = cursor.fields("v" * 14)
    line = Line(*numbers, shortest - 1 if shortest else None, longest, is_open - 1 if is_open else None)
    if not line.id or line.time > 3:
        raise Malformed("a line without a number or of unknown time")
    return line


def _read_line_durations(cursor: Cursor) -> Durations:
    durations = _read_durations(cursor)
    if not durations.id:
        raise Malformed("durations of no line")
    return durations


def _read_line_callee(cursor: Cursor) -> Callee:
    callee = Callee(*cursor.fields("vvvv"))
    if not callee.id:
        raise Malformed("a callee of no line")
    return callee


def _read_resource(cursor: Cursor) -> Resource:
    """A process, or a reading: values by bit, ticks still since the reading before. Other types have no fields."""
    kind, length = cursor.fields("vv")
    body = Cursor(cursor.take(length))
    if kind == 1:
        tree, number, *fields = body.fields("vvvvpvvvvss")
        return Resource("process", tree, number, fields)
    if kind == 2:
        tree, number, ticks, known = body.fields("vvvv")
        values = {bit: body.fields("v")[0] for bit in range(64) if known >> bit & 1}
        return Resource("reading", tree, number, [ticks, values])
    return Resource("unknown", 0, 0, [])


def _read_energy(cursor: Cursor) -> Energy:
    """Of a reading: ticks still since the one before, microjoules by source, sources with a loss. Unknown types have no fields."""
    kind, length = cursor.fields("vv")
    body = Cursor(cursor.take(length))
    if not 1 <= kind <= 5:
        return Energy("unknown", 0, [])
    tree = body.varint()
    if kind == 1:
        fields = body.fields("vvvpvvsss")
        if fields[0] >= 64 or (fields[3] or 0) >= 64:
            raise Malformed("source %d" % fields[0])
        return Energy("source", tree, fields)
    if kind == 2:
        ticks, known = body.fields("vv")
        values = {bit: body.varint() for bit in range(64) if known >> bit & 1}
        lost = body.varint()
        return Energy("reading", tree, [ticks, values, [bit for bit in values if lost >> bit & 1]])
    return Energy({3: "rest", 4: "note", 5: "machine"}[kind], tree, body.fields({3: "vvv", 4: "vs", 5: "vvvv"}[kind]))


FACT_READERS = {
    META: lambda cursor: tuple(cursor.fields("ss")),
    HOST: lambda cursor: Host(*cursor.fields("vsssv")),
    PROCESS: lambda cursor: Process(*cursor.fields("vvvvvpvvvvssvv")),
    TRACK: lambda cursor: Track(*cursor.fields("vvvvvvs")),
    CLOCK: _read_clock,
    CLOCK_LINK: lambda cursor: Link(*cursor.fields("vviv")),
    SITES: lambda cursor: Site(*cursor.fields("vvsssvs")),
    LOSSES: lambda cursor: Loss(*cursor.fields("vppvvvv")),
    CALL_TREE: _read_call,
    DURATIONS: _read_durations,
    COSTS: lambda cursor: Cost(*cursor.fields("vvvv")),
    SAMPLES: _read_sample,
    SAMPLING: lambda cursor: Sampling(*cursor.fields("v" * 9)),
    LINES: _read_line,
    LINE_DURATIONS: _read_line_durations,
    LINE_CALLEES: _read_line_callee,
    RESOURCES: _read_resource,
    ENERGY: _read_energy,
    THREAD_CPU: lambda cursor: ThreadCpu(*cursor.fields("v" * 6)),
    SOURCES: lambda cursor: Source(*cursor.fields("pss")),
}


# Events


class Lane(NamedTuple):
    """The longest span of one depth that ended in a block."""
    site: int
    begin: int
    end: int


class Summary(NamedTuple):
    busy: int
    begins: int
    ends: int
    errors: int
    deepest: int
    lanes: List[Optional[Lane]]


class Trace(NamedTuple):
    """The ids of a span of a trace."""
    base: uuid.UUID
    span: uuid.UUID
    parent: uuid.UUID


class Event(NamedTuple):
    """depth counts the open spans, without the one that begins or ends at this event."""
    track: int
    ticks: int
    kind: str
    site: Optional[int]
    depth: int
    value: Any = None
    flags: int = 0
    async_id: Optional[int] = None
    trace: Optional[Trace] = None


class EventBlock(NamedTuple):
    block: Block
    summary: Optional[Summary]
    stack: List[Tuple[int, int]]  # the spans open at the first tick: site, begin tick
    events: List[Event]
    faults: List[str]


def read_summary(cursor: Cursor, last: int) -> Summary:
    busy, begins, ends, errors, deepest, count = cursor.fields("vvvvvv")
    if count > MAX_LANES:
        raise Malformed("a summary of %d lanes" % count)
    lanes: List[Optional[Lane]] = []
    for _ in range(count):
        site = cursor.plus_one()
        if site is None:
            lanes.append(None)
        else:
            before_last, duration = cursor.fields("vv")
            lanes.append(Lane(site, last - before_last - duration, last - before_last))
    return Summary(busy, begins, ends, errors, deepest, lanes)


class _EventDecoder:
    """Decodes the events of one block: the guess, the ticks and the stack of open spans."""

    def __init__(self, block: Block, stack: List[Tuple[int, int]], faults: List[str]):
        self.track = block.owner
        self.ticks = block.first
        self.sites = [site for site, _ in stack]
        self.faults = faults
        self.table = [0] * 256
        self.last = 0
        self.before: Optional[Trace] = None

    def next(self, cursor: Cursor) -> Event:
        head = cursor.varint()
        self.ticks += head >> 2
        code = head & 3
        if code == 0:
            return self.end(0)
        if code == 3:
            return self.other(cursor)
        site = self.table[self.last % 256] if code == 1 else cursor.varint()
        self.table[self.last % 256] = site
        self.last = site
        return self.begin(site, 0)

    def event(self, kind: str, site: Optional[int], **more: Any) -> Event:
        return Event(self.track, self.ticks, kind, site, len(self.sites), **more)

    def begin(self, site: int, flags: int) -> Event:
        event = self.event("begin", site, flags=flags)
        self.sites.append(site)
        return event

    def end(self, flags: int) -> Event:
        site = self.sites.pop() if self.sites else None
        return self.event("end", site, flags=flags)

    def other(self, cursor: Cursor) -> Event:
        kind = cursor.u8()
        body = cursor.take(cursor.varint())
        try:
            return self.known(kind, Cursor(body))
        except Malformed as fault:
            self.faults.append("body of an event of type %d: %s" % (kind, fault))
            return self.event("unknown", None, value=(kind, body))

    def known(self, kind: int, body: Cursor) -> Event:
        if kind == 1:
            return self.end(body.varint())
        if kind == 2:
            flags, site = body.fields("vv")
            return self.begin(site, flags)
        if kind == 3:
            return self.event("mark", body.varint())
        if kind == 4:
            return self.event("counter", body.varint(), value=body.value())
        if kind == 5:
            return self.event("attribute", body.varint(), value=body.value())
        if kind == 6:
            site = self.sites[-1] if self.sites else None
            return self.event("error", site, value=tuple(body.fields("ss")))
        return self.known_rest(kind, body)

    def known_rest(self, kind: int, body: Cursor) -> Event:
        if kind in (7, 8, 9, 11):
            site = body.varint() if kind in (7, 11) else None
            span = body.varint()
            return self.known_async(kind, body, site, span) if span else self.event("unknown", None, value=(kind, body.data))
        if kind == 10:
            value = dict(zip(("reason", "events", "duration"), body.fields("vvv")))
            return self.event("lost", None, value=value)
        return self.event("unknown", None, value=(kind, body.data))

    def known_async(self, kind: int, body: Cursor, site: Optional[int], span: int) -> Event:
        if kind == 8:
            return self.event("async_end", None, async_id=span, flags=body.varint())
        if kind == 9:
            return self.event("async_attribute", body.varint(), async_id=span, value=body.value())
        return self.event("async_begin", site, async_id=span, trace=self.trace(body) if kind == 11 else None)

    def trace(self, body: Cursor) -> Trace:
        how = body.varint()
        if how > 15 or how & ~1 not in (0, 2, 4, 8):
            raise Malformed("ids left out in an unknown way")
        if how & ~2 and self.before is None:
            raise Malformed("ids of an event that is not there")
        base = self.before.base if how & 1 else uuid.UUID(bytes=body.take(16))
        span = uuid.UUID(bytes=body.take(16))
        if how & 2:
            parent = base
        elif how & 4:
            parent = self.before.span
        elif how & 8:
            parent = self.before.parent
        else:
            parent = uuid.UUID(bytes=body.take(16))
        self.before = Trace(base, span, parent)
        return self.before


def _read_stack(cursor: Cursor, first: int) -> List[Tuple[int, int]]:
    stack = []
    for _ in range(cursor.varint()):
        site, ago = cursor.fields("vv")
        if ago > first:
            raise Malformed("an open span that began before tick 0")
        stack.append((site, first - ago))
    return stack


def read_events(block: Block, payload: bytes) -> EventBlock:
    """Decodes as much as there is; faults says what was wrong."""
    result = EventBlock(block, None, [], [], [])
    if block.summary_size > block.size:
        result.faults.append("a summary longer than the payload")
        return result
    try:
        summary = read_summary(Cursor(payload, 0, block.summary_size), block.last)
        result = result._replace(summary=summary)
    except Malformed as fault:
        result.faults.append("summary: %s" % fault)
    cursor = Cursor(payload, block.summary_size)
    try:
        result.stack.extend(_read_stack(cursor, block.first))
        decoder = _EventDecoder(block, result.stack, result.faults)
        for _ in range(block.count):
            result.events.append(decoder.next(cursor))
    except Malformed as fault:
        result.faults.append("after %d events: %s" % (len(result.events), fault))
    else:
        if cursor.left():
            result.faults.append("%d bytes after the last event" % cursor.left())
    return result
