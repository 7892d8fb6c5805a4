"""Traces written by hand, for tests of what is shown of them: as recordings of several hosts, and as logs."""
import datetime
import json
import os
import subprocess
import sys
import uuid

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
for folder in ("lib", "reader"):
    sys.path.insert(0, os.path.join(TOP, "tests", folder))
from recorded import VENTURI  # noqa: E402
from vtwrite import Writer  # noqa: E402

BASE = "0c2f8a4e-97b1-4f5d-8d36-52e1b7c6a901"
START = datetime.datetime(2026, 11, 15, 8, 4, 25)
FAILED = 4


def span_id(number):
    return "%08x-1111-4222-8333-%012x" % (number * 0x01010101 & 0xffffffff, number)


def venturi(*words, check=0, columns=None):
    """Runs the tool without the settings of whoever runs the tests."""
    env = {key: os.environ[key] for key in ("PATH", "HOME", "TMPDIR", "ASAN_OPTIONS", "UBSAN_OPTIONS") if key in os.environ}
    env["LC_ALL"] = "C.UTF-8"
    if columns:
        env["COLUMNS"] = str(columns)
    done = subprocess.run([VENTURI, *map(str, words)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=env,
                          timeout=120)
    assert done.returncode == check, (done.returncode, done.stdout[-2000:], done.stderr)
    return done


def show(*words):
    return json.loads(venturi("trace", "show", *words, "--json").stdout)


class Span:
    """begin and end in nanoseconds after START; facts: of the begin, and of the end."""

    def __init__(self, number, parent, name, begin, end, at_begin=(), at_end=(), failed=False, base=BASE):
        self.id, self.base, self.name = span_id(number), base, name
        self.parent = span_id(parent) if parent else base
        self.begin, self.end, self.failed = begin, end, failed
        self.at_begin, self.at_end = dict(at_begin), dict(at_end)


def write_recording(path, spans, host="vm1", program="program", pid=100, losses=()):
    """All of them on one thread of one process; `end` None: it did not end. losses: from when to when events were lost."""
    realtime = int(START.replace(tzinfo=datetime.timezone.utc).timestamp()) * 10**9
    writer = Writer(created=realtime)
    writer.host(0, host)
    writer.clock(0, 0, 2, [(0, 0, realtime, 0)])
    last = max(max(span.begin, span.end or 0) for span in spans)
    writer.process(0, pid=pid, name=program, end=last)
    writer.track(0, end=last, name="main")
    sites = {}
    for span in spans:
        for name in [span.name, *span.at_begin, *span.at_end]:
            if name not in sites:
                sites[name] = len(sites) + 1
                writer.site(sites[name], name, 0 if name == span.name else 3)
    happened = []
    for number, span in enumerate(spans, 1):
        happened.append((span.begin, 0, number, span))
        if span.end is not None:
            happened.append((span.end, 1, number, span))
    events = writer.events(0, min(each[0] for each in happened))
    for tick, is_end, number, span in sorted(happened, key=lambda each: each[:3]):
        if not is_end:
            events.trace_begin(tick, sites[span.name], number, 0,
                               *(uuid.UUID(each).bytes for each in (span.base, span.id, span.parent)))
        for key, value in (span.at_end if is_end else span.at_begin).items():
            events.async_attribute(tick, number, sites[key], value)
        if is_end:
            events.async_end(tick, number, FAILED if span.failed else 0)
    events.write()
    for first, last in losses:
        writer.loss(1, 1000, 0, 0, first, last)
    writer.close()
    path.write_bytes(writer.bytes())
    return path


def time_text(ns):
    return (START + datetime.timedelta(microseconds=ns // 1000)).isoformat(timespec="microseconds")


def start_line(span, facts=""):
    return "%s          %s %s %s %s-start%s\n" % (time_text(span.begin), span.base, span.parent, span.id, span.name, facts)


def stop_line(span, facts=""):
    seconds = (span.end - span.begin) / 1e9
    return "%s %r %s %s %s %s-stop%s%s\n" % (time_text(span.end), seconds, span.base, span.parent, span.id, span.name,
                                             "  <- !!!" if seconds > 0.5 else "", facts)


def write_log(path, spans):
    lines = [(span.begin, start_line(span)) for span in spans]
    lines += [(span.end, stop_line(span)) for span in spans if span.end is not None]
    path.write_text("".join(line for _, line in sorted(lines, key=lambda each: each[0])))
    return path
