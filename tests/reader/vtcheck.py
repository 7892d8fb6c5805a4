"""Checks of a Venturi recording against itself, written from docs/format.md alone.

Summaries, indexes and the END block repeat what the events say. Here they are worked out again from
the events and compared. `problems(recording)` gives one line for each contradiction.
"""

import struct
from collections import namedtuple
from typing import Any, Dict, Iterator, List, Optional, Tuple

from vtblocks import (
    END, EVENTS, INDEX, MAX_LANES, MAX_LEVELS, SITES, TRACK, Block, Cursor, EventBlock, Lane,
    Malformed, Summary)

FANOUT = 16
LEAF_LAYOUT, NODE_LAYOUT, LANE_LAYOUT = "<QQQIIII", "<QQQQII", "<IIQQ"

# Spans that ended: for each depth all those that share the longest duration.
Longest = List[List[Lane]]
Node = namedtuple("Node", "first last busy begins longest is_open")
EndFacts = namedtuple("EndFacts", "events lost last facts indexes")


def problems(recording: Any) -> List[str]:
    found = ["damaged from %d to %d: %s" % tuple(each) for each in recording.damage]
    for blocks in recording.event_blocks.values():
        for block in blocks:
            found += _labelled(block.block, _check_events(block))
    found += _check_definitions(recording)
    found += _check_indexes(recording)
    found += _check_end(recording)
    return found


def _labelled(block: Block, lines: Iterator[str]) -> List[str]:
    return ["%s at %d: %s" % (block.name, block.offset, line) for line in lines]


def _differs(what: str, written: Any, found: Any) -> Iterator[str]:
    if written != found:
        yield "%s is %s but should be %s" % (what, written, found)


# Summaries


class _Tally:
    """Works out a summary from the stack and the events of a block."""

    def __init__(self, block: EventBlock):
        self.stack = list(block.stack)
        self.now = block.block.first
        self.busy = self.begins = self.ends = self.errors = 0
        self.deepest = len(self.stack)
        self.longest: Longest = [[] for _ in range(MAX_LANES)]
        for event in block.events:
            self._advance(event.ticks)
            if event.kind == "begin":
                self._begin(event.site)
            elif event.kind == "end" and self.stack:
                self._end()
            elif event.kind == "error":
                self.errors += 1
        self._advance(block.block.last)

    def _advance(self, ticks: int) -> None:
        if self.stack:
            self.busy += ticks - self.now
        self.now = ticks

    def _begin(self, site: int) -> None:
        self.begins += 1
        self.stack.append((site, self.now))
        self.deepest = max(self.deepest, len(self.stack))

    def _end(self) -> None:
        self.ends += 1
        site, begin = self.stack.pop()
        if len(self.stack) < MAX_LANES:
            _keep_longest(self.longest[len(self.stack)], Lane(site, begin, self.now))


def _keep_longest(best: List[Lane], lane: Lane) -> None:
    length = lane.end - lane.begin
    if best and length < best[0].end - best[0].begin:
        return
    if best and length > best[0].end - best[0].begin:
        best.clear()
    best.append(lane)


def _check_events(events: EventBlock) -> Iterator[str]:
    block = events.block
    if block.first > block.last:
        yield "the first tick %d is after the last %d" % (block.first, block.last)
    if events.events and events.events[-1].ticks > block.last:
        yield "the last event, at %d, is after the last tick %d" % (
            events.events[-1].ticks, block.last)
    if len(events.events) == block.count and events.summary:
        yield from _check_summary(events.summary, _Tally(events))


def _check_summary(summary: Summary, tally: _Tally) -> Iterator[str]:
    for name in ("busy", "begins", "ends", "errors", "deepest"):
        yield from _differs(name, getattr(summary, name), getattr(tally, name))
    yield from _check_lanes(summary.lanes, tally.longest)


def _check_lanes(lanes: List[Optional[Lane]], longest: Longest) -> Iterator[str]:
    """Empty lanes at the end may be written or not; any of several equally long spans will do."""
    for depth, best in enumerate(longest):
        lane = lanes[depth] if depth < len(lanes) else None
        if lane is None and not best or lane in best:
            continue
        yield "lane %d is %s but should be %s" % (depth, lane, best[0] if best else None)


# Definitions


def _check_definitions(recording: Any) -> List[str]:
    """That ids are defined before use; a file with damage may have lost the definitions."""
    if recording.damage:
        return []
    found = []
    for blocks in recording.event_blocks.values():
        for block in blocks:
            found += _labelled(block.block, _undefined(recording.defined_at, block))
    for track in recording.tracks.values():
        if track.process not in recording.processes:
            found.append("process %d of track %d is not defined" % (track.process, track.id))
    for process in recording.processes.values():
        if process.host not in recording.hosts:
            found.append("host %d of process %d is not defined" % (process.host, process.id))
        if process.domain not in recording.clocks:
            found.append("clock %d of process %d is not defined" % (process.domain, process.id))
    return found


def _undefined(defined_at: Dict[Tuple[int, Any], int], events: EventBlock) -> Iterator[str]:
    offset = events.block.offset
    if defined_at.get((TRACK, events.block.owner), offset) >= offset:
        yield "track %d is not defined before" % events.block.owner
    for site in sorted(set(_sites_of(events))):
        if defined_at.get((SITES, site), offset) >= offset:
            yield "site %d is not defined before" % site


def _sites_of(block: EventBlock) -> Iterator[int]:
    yield from (site for site, _ in block.stack)
    yield from (event.site for event in block.events if event.site is not None)


# INDEX


def _array(payload: bytes, layout: str, at: int, count: int) -> List[Tuple[int, ...]]:
    size = struct.calcsize(layout)
    if at % 8 or at + count * size > len(payload):
        raise Malformed("%d elements of %d bytes at %d do not fit" % (count, size, at))
    return list(struct.iter_unpack(layout, payload[at:at + count * size]))


def _read_levels(payload: bytes) -> List[List[Tuple[int, ...]]]:
    levels, _ = Cursor(payload).unpack("II")
    if not 1 <= levels <= MAX_LEVELS:
        raise Malformed("%d levels" % levels)
    heads = _array(payload, "<QQ", 8, levels)
    return [_array(payload, NODE_LAYOUT if level else LEAF_LAYOUT, at, count)
            for level, (at, count) in enumerate(heads)]


def _read_lanes(payload: bytes, at: int, count: int) -> List[Optional[Lane]]:
    if count > MAX_LANES:
        raise Malformed("%d lanes" % count)
    return [Lane(site - 1, begin, end) if site else None
            for site, _, begin, end in _array(payload, LANE_LAYOUT, at * 8, count)]


def _node(events: EventBlock) -> Node:
    tally = _Tally(events)
    return Node(events.block.first, events.block.last, tally.busy, tally.begins, tally.longest,
                bool(events.stack))


def _join(nodes: List[Node]) -> Node:
    longest: Longest = [[] for _ in range(MAX_LANES)]
    for node in nodes:
        for best, lanes in zip(longest, node.longest):
            for lane in lanes:
                _keep_longest(best, lane)
    between = sum(after.first - before.last for before, after in zip(nodes, nodes[1:])
                  if after.is_open)
    return Node(min(node.first for node in nodes), max(node.last for node in nodes),
                sum(node.busy for node in nodes) + between, sum(node.begins for node in nodes),
                longest, nodes[0].is_open)


def _leaf(events: EventBlock) -> Tuple[int, ...]:
    block, tally = events.block, _Tally(events)
    return (block.offset, block.first, block.last, block.size, block.count,
            tally.begins, tally.deepest)


def _check_index(recording: Any, index: Block) -> Iterator[str]:
    payload = recording.payloads[index.offset]
    blocks = recording.event_blocks.get(index.owner, [])
    yield from _differs("count", index.count, len(blocks))
    try:
        levels = _read_levels(payload)
        yield from _check_leaves(levels[0], blocks)
        yield from _check_upper(payload, levels, [_node(block) for block in blocks])
    except (Malformed, struct.error) as fault:
        yield str(fault)


def _check_leaves(leaves: List[Tuple[int, ...]], blocks: List[EventBlock]) -> Iterator[str]:
    yield from _differs("the number of elements of level 0", len(leaves), len(blocks))
    for at, (leaf, block) in enumerate(zip(leaves, blocks)):
        yield from _differs("element %d of level 0" % at, leaf, _leaf(block))


def _check_upper(payload: bytes, levels: List[Any], nodes: List[Node]) -> Iterator[str]:
    for level in range(1, len(levels)):
        if len(nodes) <= FANOUT:
            yield "level %d is one too many" % level
            return
        nodes = [_join(nodes[at:at + FANOUT]) for at in range(0, len(nodes), FANOUT)]
        what = "the number of elements of level %d" % level
        yield from _differs(what, len(levels[level]), len(nodes))
        for at, (element, node) in enumerate(zip(levels[level], nodes)):
            lines = _check_element(payload, element, node)
            yield from ("element %d of level %d: %s" % (at, level, line) for line in lines)
    if len(nodes) > FANOUT:
        yield "the levels end at one of %d elements" % len(nodes)


def _check_element(payload: bytes, element: Tuple[int, ...], node: Node) -> Iterator[str]:
    for name, written in zip(("first", "last", "busy", "begins"), element):
        yield from _differs(name, written, getattr(node, name))
    yield from _check_lanes(_read_lanes(payload, *element[4:]), node.longest)


def _check_indexes(recording: Any) -> List[str]:
    found: List[str] = []
    seen: Dict[int, Block] = {}
    for block in recording.blocks:
        if block.kind == INDEX and block.offset in recording.payloads:
            found += _labelled(block, _check_index(recording, block))
            if block.owner in seen:
                found += _labelled(block, iter(["a second one for track %d" % block.owner]))
            seen[block.owner] = block
    if recording.is_closed:
        found += ["track %d has no INDEX" % track
                  for track in recording.event_blocks if track not in seen]
    return found


# END


def read_end(payload: bytes) -> EndFacts:
    cursor = Cursor(payload)
    events, lost, last, facts, indexes = cursor.unpack("QQQII")
    if cursor.left() != 8 * (facts + indexes):
        raise Malformed("%d bytes for %d offsets" % (cursor.left(), facts + indexes))
    return EndFacts(events, lost, last, list(cursor.unpack("%dQ" % facts)),
                    list(cursor.unpack("%dQ" % indexes)))


def _check_end(recording: Any) -> List[str]:
    ends = [block for block in recording.blocks if block.kind == END]
    if not recording.is_closed:
        return _labelled(ends[-1], iter(["it has no trailer"])) if ends else []
    found = list(_check_trailer(recording, ends))
    if ends and ends[-1].offset in recording.payloads:
        found += _labelled(ends[-1], _check_end_facts(recording, ends[-1]))
    return found


def _check_trailer(recording: Any, ends: List[Block]) -> Iterator[str]:
    yield from _differs("the trailer's number of blocks", recording.trailer.blocks,
                        len(recording.blocks))
    yield from _differs("the number of END blocks", len(ends), 1)
    if ends:
        yield from _differs("the trailer's offset of END", recording.trailer.end_offset,
                            ends[-1].offset)
        if recording.blocks[-1] is not ends[-1]:
            yield "END is not the last block"


def _check_end_facts(recording: Any, block: Block) -> Iterator[str]:
    try:
        end = read_end(recording.payloads[block.offset])
    except Malformed as fault:
        yield str(fault)
        return
    events = [each for each in recording.blocks if each.kind == EVENTS]
    facts = [each.offset for each in recording.blocks if each.kind not in (EVENTS, INDEX, END)]
    indexes = [each.offset for each in recording.blocks if each.kind == INDEX]
    yield from _differs("events", end.events, sum(each.count for each in events))
    yield from _differs("lost events", end.lost, sum(loss.events for loss in recording.losses if loss.reason != 7))
    yield from _differs("last tick", end.last, max((each.last for each in events), default=0))
    yield from _differs("offsets of fact blocks", sorted(end.facts), facts)
    yield from _differs("offsets of INDEX blocks", sorted(end.indexes), indexes)
