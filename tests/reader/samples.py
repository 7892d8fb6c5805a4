"""Recordings for the tests of the reader."""

import random

from vtwrite import IN_GAP, LEFT, Writer


def new_file(**options):
    """A writer with the facts that nearly every recording needs."""
    w = Writer(**options)
    w.meta(venturi="1.0", policy="drop")
    w.host()
    w.clock(anchors=[(0, 1000, 10**18, 5)])
    w.process(0)
    w.track(0, name="main")
    for number, name in enumerate(["work", "inner", "size", "tick", "request"], 1):
        w.site(number, name)
    return w


def small_file(closed=True, **options):
    w = new_file(**options)
    e = w.events(0, 100)
    e.begin(100, 1)
    e.begin(110, 2)
    e.end(130)
    e.end(150)
    e.write()
    e = w.events(0, 160)
    e.begin(160, 1)
    e.end(170)
    e.write()
    if closed:
        w.close()
    return w


def spans_of(recording):
    return [(span.site, span.begin, span.end, span.depth) for span in recording.spans()]


def block_of(recording, kind):
    return [block for block in recording.blocks if block.kind == kind]


def rich_file():
    rng = random.Random(5)
    w = new_file()
    stack = []
    tick = 0
    for _ in range(40):
        e = w.events(0, tick, stack=list(stack))
        for _ in range(12):
            tick += rng.choice([0, 1, 7, 300])
            if rng.random() < 0.5:
                e.begin(tick, rng.randint(1, 5), rng.choice([None, None, 0, IN_GAP]))
            elif rng.random() < 0.8:
                e.end(tick, rng.choice([None, None, LEFT]))
            else:
                e.attribute(tick, 3, rng.choice([1, "a", 1.5]))
        stack = e.stack
        e.write(last=tick + rng.choice([0, 3]))
        tick = tick + 3
    w.loss(1, 5)
    w.close()
    return w
