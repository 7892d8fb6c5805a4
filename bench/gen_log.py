#!/usr/bin/env python3
"""Writes a trace log as osprofiler in Mistral writes it: nested spans, seeded, of any length.

usage: gen_log.py [--lines N] [--names K] [--seed S] [--defects KIND,...|all] [-o FILE]

Without --defects the log is one that Mistral's script ranks rightly. Each kind of defect is sprinkled
over about one line in twenty: blank, short, foreign, long (durations of 1000 s and more), spaces (in
names), negative, crlf, cut (no newline at the end), bytes (not UTF-8).
"""
import argparse
import datetime
import random
import sys

DEFECTS = ("blank", "short", "foreign", "long", "spaces", "negative", "crlf", "cut", "bytes")
# Names and how often each came in a day of a workflow service.
NAMES = (
    ("task-run", 5878), ("task-handler-run-task", 5735), ("task-run-new", 5735),
    ("ad-hoc-action-prepare-input", 4732), ("dispatcher-dispatch-commands", 2948),
    ("engine-on-action-complete", 2420), ("action-handler-on-action-complete", 2420),
    ("task-handler-on-action-complete", 2420), ("regular-task-on-action-complete", 2420),
    ("task-complete", 2420), ("regular-task-get-action-input", 2420),
    ("ad-hoc-action-validate-input", 2366), ("default-executor-run-action", 1894),
    ("workflow-handler-check-and-fix-integrity", 1291), ("task-handler-refresh-task-state", 1056),
    ("direct-wf-controller-get-join-logical-state", 1024), ("workflow-handler-check-and-complete", 597),
    ("workflow-check-and-complete", 597), ("workflow-handler-start-workflow", 528),
    ("workflow-start", 528), ("workflow-action-schedule", 526), ("task-run-existing", 143), ("db", 120),
)


def make_names(count):
    """The names above, then made-up ones, with their weights."""
    more = [("%s-%d" % (NAMES[i % len(NAMES)][0], i), 300) for i in range(count - len(NAMES))]
    names = (list(NAMES) + more)[:count]
    return [name for name, _ in names], [weight for _, weight in names]


class Log:
    """Spans of one trace after the other; time is in microseconds."""

    def __init__(self, options):
        self.rng = random.Random(options.seed)
        self.names, self.weights = make_names(options.names)
        self.defects = options.defects
        self.epoch = datetime.datetime(2026, 11, 15)
        self.now = 0
        self.base = self.uuid()
        self.open = []  # [id, parent, name, begin]

    def uuid(self):
        bits = "%032x" % self.rng.getrandbits(128)
        return "%s-%s-4%s-a%s-%s" % (bits[:8], bits[8:12], bits[13:16], bits[17:20], bits[20:])

    def timestamp(self):
        moment = self.epoch + datetime.timedelta(microseconds=self.now)
        return moment.strftime("%Y-%m-%dT%H:%M:%S.%f")

    def start(self):
        parent = self.open[-1][0] if self.open else self.base
        name = self.rng.choices(self.names, self.weights)[0]
        if "spaces" in self.defects and self.rng.random() < 0.05:
            name = name.replace("-", " ", 1)
        span = [self.uuid(), parent, name, self.now]
        self.open.append(span)
        text = "%s          %s %s %s %s-start" % (self.timestamp(), self.base, parent, span[0], name)
        if name == "db":
            text += ' {"statement": "SELECT 1 -- not the end: x-start"}'
        return text

    def stop(self):
        span_id, parent, name, begin = self.open.pop()
        seconds = (self.now - begin) / 1e6
        if "long" in self.defects and self.rng.random() < 0.05:
            seconds = round(seconds + 1000 + 9000 * self.rng.random(), 6)
        if "negative" in self.defects and self.rng.random() < 0.05:
            seconds = -seconds - 1e-6
        text = "%s %s %s %s %s %s-stop" % (self.timestamp(), seconds, self.base, parent, span_id, name)
        if not self.open:
            self.base = self.uuid()
        return text + ("  <- !!!" if seconds > 0.5 else "")

    def line(self):
        self.now += int(self.rng.lognormvariate(7, 3)) % 5_000_000
        if self.open and (len(self.open) > 12 or self.rng.random() < 0.5):
            return self.stop()
        return self.start()

    def spoil(self, text):
        chosen = self.rng.choice(self.defects)
        if chosen == "blank":
            return "\n" + text
        if chosen == "short":
            return text[:self.rng.randint(1, 100)]
        if chosen == "foreign":
            return "Traceback (most recent call last):\n" + text
        if chosen == "crlf":
            return text + "\r"
        if chosen == "bytes":
            return text.replace("-", "\udcff", 3)
        return text


def parse_defects(text):
    kinds = DEFECTS if text == "all" else tuple(kind for kind in text.split(",") if kind)
    for kind in kinds:
        if kind not in DEFECTS:
            raise argparse.ArgumentTypeError("%r is none of %s" % (kind, ", ".join(DEFECTS)))
    return kinds


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--lines", type=int, default=2_000_000)
    parser.add_argument("--names", type=int, default=64)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--defects", type=parse_defects, default=())
    parser.add_argument("-o", "--output")
    options = parser.parse_args()
    log = Log(options)
    # Large writes: a kernel keeps such a file in large pieces, as it does one that was read from the disk.
    out = open(options.output, "w", buffering=4 << 20, newline="", encoding="utf-8",
               errors="surrogateescape") if options.output else sys.stdout
    for number in range(options.lines):
        text = log.line()
        if log.defects and log.rng.random() < 0.05:
            text = log.spoil(text)
        is_last = number + 1 == options.lines
        out.write(text if is_last and "cut" in log.defects else text + "\n")
    if out is not sys.stdout:
        out.close()


if __name__ == "__main__":
    main()
