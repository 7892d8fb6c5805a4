#!/usr/bin/env python3
"""A reader of Venturi recordings, written from docs/format.md alone.

It is a second implementation of that page, to check files and to check the page. It needs Python
3.9 and nothing else. `read(path or bytes)` gives a Recording; from the command line:

    python3 vtread.py FILE            what is in the file, in a few lines
    python3 vtread.py FILE --json     facts and events as one JSON document
    python3 vtread.py FILE --check    whatever in the file contradicts itself; exit status 1 if any

The bytes are read by vtblocks.py, the checks are in vtcheck.py.
"""

import argparse
import json
import math
import os
import sys
import uuid
from bisect import bisect_right
from collections import defaultdict
from dataclasses import dataclass, field
from heapq import heappop, heappush
from pathlib import Path
from typing import Any, Dict, Iterator, List, Optional, Tuple, Union

import vtcheck
from vtblocks import (
    CALL_TREE, CLOCK, CLOCK_LINK, COSTS, DURATIONS, EDGES, END, EVENTS, FACT_READERS, FLAG_COMPRESSED, HOST, INDEX,
    ENERGY, KIND_NAMES, LINES, LINE_CALLEES, LINE_DURATIONS, LOSSES, META, PROCESS, RESOURCES, SAMPLES, SAMPLING, SITES, SOURCES, STEPS, TASKS, THREAD_CPU,
    TRACK, TRAILER_SIZE, Anchor, Block, Call, Callee, Clock, Cost, Cursor, Damage, Durations, Event, EventBlock, FileHeader,
    Host, Line, Link, Loss, Malformed, NotARecording, Process, Sample, Sampling, Site, ThreadCpu, Track, Trace, Trailer, Unsupported,
    read_events, read_file_header, read_trailer, scan_blocks)
from vtsteps import Step, StepDecoder
from vttasks import TaskDecoder, Tasks

SPAN_IN_GAP, SPAN_LEFT, SPAN_FAILED = 1, 2, 4


@dataclass
class Span:
    """A span of a track, or of a process if it has an async id. end is None if it never ended."""
    track: int
    process: Optional[int]
    site: int
    begin: int
    depth: int
    end: Optional[int] = None
    async_id: Optional[int] = None
    end_track: Optional[int] = None
    flags: int = 0  # those of its begin and of its end
    error: Optional[Tuple[str, str]] = None
    attributes: List[Tuple[int, Any]] = field(default_factory=list)
    trace: Optional[Trace] = None

    @property
    def failed(self) -> bool:
        return self.error is not None or bool(self.flags & SPAN_FAILED)

    def finish(self, event: Event) -> None:
        self.end = event.ticks
        self.end_track = event.track
        self.flags |= event.flags


class Timeline:
    """Turns ticks of any clock domain into nanoseconds since the first anchor of the first one."""

    def __init__(self, clocks: Dict[int, Clock], links: List[Link]):
        self.anchors = {clock.id: clock.anchors for clock in clocks.values() if clock.anchors}
        self.ticks = {key: [a.ticks for a in anchors] for key, anchors in self.anchors.items()}
        self.first = next(iter(self.anchors), None)
        self.shift = self._shifts(links)

    def _shifts(self, links: List[Link]) -> Dict[int, int]:
        """What to add to the real time of a domain to get that of the first; by the smallest error."""
        near: Dict[int, List[Tuple[int, int, int]]] = defaultdict(list)
        for link in links:
            near[link.a].append((link.b, link.offset, link.error))
            near[link.b].append((link.a, -link.offset, link.error))
        shift: Dict[int, int] = {}
        ways = [(0, self.first, 0)]
        while ways:
            error, domain, offset = heappop(ways)
            if domain in shift:
                continue
            shift[domain] = offset
            for other, more, further in near.get(domain, []):
                heappush(ways, (error + further, other, offset + more))
        return shift

    def elapsed(self, domain: int, ticks: int) -> int:
        """CLOCK_MONOTONIC since the domain's first anchor, rounded down."""
        anchors = self.anchors[domain]
        if len(anchors) == 1:
            return ticks - anchors[0].ticks
        right = min(max(bisect_right(self.ticks[domain], ticks), 1), len(anchors) - 1)
        a, b = anchors[right - 1], anchors[right]
        since = (ticks - a.ticks) * (b.monotonic - a.monotonic) // (b.ticks - a.ticks)
        return a.monotonic - anchors[0].monotonic + since

    def time_ns(self, domain: Optional[int], ticks: int) -> Optional[int]:
        """None if the domain has no anchors."""
        if domain not in self.anchors:
            return None
        apart = self.anchors[domain][0].real - self.anchors[self.first][0].real
        return self.elapsed(domain, ticks) + apart + self.shift.get(domain, 0)


class SpanMatcher:
    """Matches begins with ends: on a track by the stack, async ones by process and id."""

    def __init__(self, recording: "Recording"):
        self.recording = recording
        self.spans: List[Span] = []
        self.stray_ends = 0
        self.async_begins: Dict[Any, List[Event]] = defaultdict(list)
        self.async_ends: Dict[Any, List[Event]] = defaultdict(list)
        self.async_attributes: Dict[Any, List[Event]] = defaultdict(list)
        for track in recording.event_blocks:
            self._match_track(track)
        for key in list(self.async_begins) + list(self.async_ends):
            self._match_async(key)

    def _match_track(self, track: int) -> None:
        stack: List[Span] = []
        for block in self.recording.event_blocks[track]:
            self._resume(stack, track, block)
            for event in block.events:
                self._step(stack, event)

    def _open(self, stack: List[Span], track: int, site: int, begin: int, flags: int = 0) -> None:
        process = self.recording.track(track).process
        stack.append(Span(track, process, site, begin, len(stack), flags=flags))
        self.spans.append(stack[-1])

    def _resume(self, stack: List[Span], track: int, block: EventBlock) -> None:
        """The block's own stack counts: what it lacks ended unseen, what it adds began unseen."""
        same = 0
        for span, (site, begin) in zip(stack, block.stack):
            if (span.site, span.begin) != (site, begin):
                break
            same += 1
        del stack[same:]
        for site, begin in block.stack[same:]:
            self._open(stack, track, site, begin)

    def _step(self, stack: List[Span], event: Event) -> None:
        if event.kind == "begin":
            self._open(stack, event.track, event.site, event.ticks, event.flags)
        elif event.kind == "end":
            if stack:
                stack.pop().finish(event)
            else:
                self.stray_ends += 1
        elif event.kind == "attribute" and stack:
            stack[-1].attributes.append((event.site, event.value))
        elif event.kind == "error" and stack:
            stack[-1].error = event.value
        elif event.async_id is not None:
            self._keep_async(event)

    def _keep_async(self, event: Event) -> None:
        process = self.recording.track(event.track).process
        owner = ("process", process) if process is not None else ("track", event.track)
        keep = {"async_begin": self.async_begins, "async_end": self.async_ends,
                "async_attribute": self.async_attributes}[event.kind]
        keep[owner + (event.async_id,)].append(event)

    def _match_async(self, key: Any) -> None:
        """Ids are unique, so the order between tracks does not matter: nth begin to nth end."""
        begins = sorted(self.async_begins.pop(key, []), key=lambda event: event.ticks)
        ends = sorted(self.async_ends.pop(key, []), key=lambda event: event.ticks)
        self.stray_ends += max(len(ends) - len(begins), 0)
        spans = [Span(event.track, self.recording.track(event.track).process, event.site,
                      event.ticks, 0, async_id=event.async_id, trace=event.trace) for event in begins]
        for span, event in zip(spans, ends):
            span.finish(event)
        for event in self.async_attributes.pop(key, []):
            if spans:
                older = [span for span in spans if span.begin <= event.ticks]
                (older or spans)[-1].attributes.append((event.site, event.value))
        self.spans.extend(spans)


class Recording:
    """What a file says, and what is wrong with it."""

    def __init__(self, data: bytes):
        self.header: FileHeader = read_file_header(data)
        self.trailer: Optional[Trailer] = read_trailer(data)
        self.meta: Dict[str, str] = {}
        self.hosts: Dict[int, Host] = {}
        self.processes: Dict[int, Process] = {}
        self.tracks: Dict[int, Track] = {}
        self.clocks: Dict[int, Clock] = {}
        self.links: List[Link] = []
        self.sites: Dict[int, Site] = {}
        self.losses: List[Loss] = []
        self.calls: Dict[int, Dict[int, Call]] = {}  # by track, then node
        self.durations: Dict[int, Dict[int, Durations]] = {}  # by track, then site
        self.samples: Dict[int, Dict[int, Sample]] = {}  # by track, then node
        self.samplings: Dict[int, Sampling] = {}  # by process
        self.lines: Dict[int, Dict[int, Line]] = {}  # by track, then node
        self.line_durations: Dict[int, Dict[int, Durations]] = {}  # by track, then node
        self.line_callees: Dict[int, Dict[Tuple[int, int], Callee]] = {}  # by track, then node and site
        self.resources: List[Tuple[int, Any]] = []  # offset of its block, entry
        self.energy: List[Tuple[int, Any]] = []  # the same
        self.thread_cpu: Dict[int, List[Any]] = {}  # by track; ticks as they are
        self.sources: Dict[Tuple[Optional[int], str], str] = {}  # by process (None: all) and file
        self.costs: Dict[Tuple[int, int], Cost] = {}  # by process and language
        self.tasks = Tasks()
        self.steps: List[Step] = []
        self.blocks: List[Block] = []
        self.damage: List[Damage] = []
        self.unknown_blocks = 0
        self.event_blocks: Dict[int, List[EventBlock]] = {}
        self.defined_at: Dict[Tuple[int, Any], int] = {}  # first offset, by kind and id
        self.payloads: Dict[int, bytes] = {}  # of INDEX and END blocks, by offset
        self._matched: Optional[SpanMatcher] = None
        self._cpu_at = (-1, 0)  # the block that its entries are of, and the ticks so far
        self._read_blocks(data)
        self._timeline = Timeline(self.clocks, self.links)

    def _read_blocks(self, data: bytes) -> None:
        stop = len(data) - (TRAILER_SIZE if self.trailer else 0)
        for block in scan_blocks(data, self.header.size, stop, self.damage):
            self.blocks.append(block)
            if block.kind not in KIND_NAMES:
                self.unknown_blocks += 1
            elif block.flags & FLAG_COMPRESSED:
                self._report(block, "a compressed payload")
            else:
                self._read_payload(block, data[block.payload_at:block.payload_end])
        self.damage.sort()
        self.event_blocks = {track: sorted(blocks, key=lambda each: each.block.first)
                             for track, blocks in sorted(self.event_blocks.items())}

    def _read_payload(self, block: Block, payload: bytes) -> None:
        if block.kind == EVENTS:
            events = read_events(block, payload)
            self.event_blocks.setdefault(block.owner, []).append(events)
            for fault in events.faults:
                self._report(block, fault)
        elif block.kind in (INDEX, END):
            self.payloads[block.offset] = payload
        elif block.kind in (TASKS, EDGES):
            self._read_tasks(block, Cursor(payload))
        elif block.kind == STEPS:
            self._read_steps(block, Cursor(payload))
        else:
            self._read_facts(block, Cursor(payload))

    def _read_tasks(self, block: Block, cursor: Cursor) -> None:
        decoder = TaskDecoder()
        try:
            for _ in range(block.count):
                entry = decoder.tasks(cursor) if block.kind == TASKS else decoder.edges(cursor)
                self.tasks.learn(block.owner, entry)
            if cursor.left():
                raise Malformed("%d bytes after the last entry" % cursor.left())
        except Malformed as fault:
            self._report(block, str(fault))

    def _read_steps(self, block: Block, cursor: Cursor) -> None:
        try:
            decoder = StepDecoder(block.owner, cursor)
            self.steps += filter(None, (decoder.next(cursor) for _ in range(block.count)))
            if cursor.left():
                raise Malformed("%d bytes after the last entry" % cursor.left())
        except Malformed as fault:
            self._report(block, str(fault))

    def _read_facts(self, block: Block, cursor: Cursor) -> None:
        try:
            for _ in range(block.count):
                fact = FACT_READERS[block.kind](cursor)
                self.defined_at.setdefault((block.kind, fact[0]), block.offset)
                self._learn(block, fact)
            if cursor.left():
                raise Malformed("%d bytes after the last entry" % cursor.left())
        except Malformed as fault:
            self._report(block, str(fault))

    def _learn(self, block: Block, fact: Any) -> None:
        """The later definition of an id counts."""
        kind = block.kind
        if kind == META:
            self.meta[fact[0]] = fact[1]
        elif kind == CLOCK:
            self._learn_clock(fact)
        elif kind == CLOCK_LINK:
            self.links.append(fact)
        elif kind == LOSSES:
            self.losses.append(fact)
        elif kind == COSTS:
            self.costs[fact.process, fact.language] = fact
        elif kind == SAMPLING:
            self.samplings[fact.process] = fact
        elif kind == SOURCES:
            self.sources[fact.process, fact.file] = fact.text
        elif kind == RESOURCES:
            self.resources.append((block.offset, fact))
        elif kind == ENERGY:
            self.energy.append((block.offset, fact))
        elif kind == THREAD_CPU:
            self._learn_cpu(block, fact)
        elif kind == LINE_CALLEES:
            self.line_callees.setdefault(block.owner, {})[fact.id, fact.site] = fact
        elif kind in (CALL_TREE, DURATIONS, SAMPLES, LINES, LINE_DURATIONS):
            known = {CALL_TREE: self.calls, DURATIONS: self.durations, SAMPLES: self.samples, LINES: self.lines,
                     LINE_DURATIONS: self.line_durations}[kind]
            known.setdefault(block.owner, {})[fact.id] = fact
        else:
            known = {HOST: self.hosts, PROCESS: self.processes, TRACK: self.tracks,
                     SITES: self.sites}[kind]
            known[fact.id] = fact

    def _learn_cpu(self, block: Block, fact: ThreadCpu) -> None:
        """Ticks are told since the entry before in the block."""
        offset, ticks = self._cpu_at
        ticks = fact.ticks + (ticks if offset == block.offset else 0)
        self._cpu_at = (block.offset, ticks)
        self.thread_cpu.setdefault(block.owner, []).append(fact._replace(ticks=ticks))

    def _learn_clock(self, clock: Clock) -> None:
        """Anchors add up; of two anchors with the same ticks the later counts."""
        before = self.clocks[clock.id].anchors if clock.id in self.clocks else []
        anchors: Dict[int, Anchor] = {anchor.ticks: anchor for anchor in before + clock.anchors}
        self.clocks[clock.id] = clock._replace(anchors=[anchors[key] for key in sorted(anchors)])

    def _report(self, block: Block, what: str) -> None:
        self.damage.append(Damage(block.offset, block.end, "%s: %s" % (block.name, what)))

    @property
    def is_closed(self) -> bool:
        return self.trailer is not None

    @property
    def ends_without_begin(self) -> int:
        return self._match().stray_ends

    def track(self, track: int) -> Track:
        """A track that is not defined is a thread of an unknown process."""
        return self.tracks.get(track) or Track(track, None, 0, 0, 0, 0, "")

    def domain(self, track: int) -> Optional[int]:
        process = self.processes.get(self.track(track).process)
        return process.domain if process else None

    def site_name(self, site: int) -> str:
        return self.sites[site].name if site in self.sites else "site %d" % site

    def time_ns(self, domain: Optional[int], ticks: int) -> Optional[int]:
        return self._timeline.time_ns(domain, ticks)

    def events(self, track: Optional[int] = None) -> Iterator[Event]:
        """The events of one track in order, or those of all tracks, track after track."""
        for each in list(self.event_blocks) if track is None else [track]:
            for block in self.event_blocks.get(each, []):
                yield from block.events

    def spans(self) -> Iterator[Span]:
        """Track after track in the order of their begins, then the async ones."""
        return iter(self._match().spans)

    def _match(self) -> SpanMatcher:
        if self._matched is None:
            self._matched = SpanMatcher(self)
        return self._matched

    def problems(self) -> List[str]:
        return vtcheck.problems(self)


def read(source: Union[str, os.PathLike, bytes, bytearray, memoryview]) -> Recording:
    """Reads a file or its bytes; raises NotARecording or Unsupported, and nothing for damage."""
    if isinstance(source, (bytes, bytearray, memoryview)):
        return Recording(bytes(source))
    return Recording(Path(source).read_bytes())


# The command line


def _plain(value: Any) -> Any:
    """As JSON can say it: bytes as hexadecimal digits, numbers that are not finite as strings."""
    if hasattr(value, "_asdict"):
        value = value._asdict()
    if isinstance(value, dict):
        return {str(_plain(key)): _plain(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(each) for each in value]
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, uuid.UUID):
        return str(value)
    if isinstance(value, str):
        return value.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value


def _events_as_json(recording: Recording) -> Iterator[Dict[str, Any]]:
    for event in recording.events():
        one = event._asdict()
        one["name"] = None if event.site is None else recording.site_name(event.site)
        one["time_ns"] = recording.time_ns(recording.domain(event.track), event.ticks)
        yield one


def as_json(recording: Recording) -> Dict[str, Any]:
    """The whole recording as one JSON document."""
    facts = {name: list(getattr(recording, name).values())
             for name in ("hosts", "processes", "tracks", "clocks", "sites")}
    return _plain({
        "header": recording.header, "meta": recording.meta, **facts, "links": recording.links,
        "events": list(_events_as_json(recording)), "spans": len(list(recording.spans())),
        "ends_without_begin": recording.ends_without_begin, "losses": recording.losses,
        "damage": recording.damage, "unknown_blocks": recording.unknown_blocks,
        "blocks": len(recording.blocks), "is_closed": recording.is_closed,
    })


def describe(recording: Recording) -> str:
    spans = list(recording.spans())
    lines = [
        "%s, version %d.%d" % ("closed" if recording.is_closed else "not closed",
                               recording.header.major, recording.header.minor),
        "%d blocks, %d of an unknown kind" % (len(recording.blocks), recording.unknown_blocks),
        "%d processes, %d tracks, %d sites" % (
            len(recording.processes), len(recording.tracks), len(recording.sites)),
        "%d events, %d spans, %d of them unfinished" % (
            sum(1 for _ in recording.events()), len(spans),
            sum(1 for span in spans if span.end is None)),
        "%d lost events" % sum(loss.events for loss in recording.losses),
    ]
    lines += ["damaged from %d to %d: %s" % tuple(each) for each in recording.damage]
    return "\n".join(lines)


def main(arguments: Optional[List[str]] = None) -> int:
    parser = argparse.ArgumentParser(description="Reads a Venturi recording.")
    parser.add_argument("file")
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    parser.add_argument("--check", action="store_true", help="print problems; status 1 if any")
    options = parser.parse_args(arguments)
    try:
        recording = read(options.file)
    except (NotARecording, Unsupported, OSError) as error:
        print("%s: %s" % (options.file, error), file=sys.stderr)
        return 2
    problems = recording.problems() if options.check else []
    if options.json:
        json.dump(as_json(recording), sys.stdout)
        print()
    elif not options.check:
        print(describe(recording))
    for problem in problems:
        print(problem, file=sys.stderr if options.json else sys.stdout)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
