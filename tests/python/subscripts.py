"""Calls that the interpreter makes for subscripts, counted by us and by cProfile, before and after instructions have
become fast; then by us in three threads. Prints what differs, and how many calls there were."""
import collections
import cProfile
import pstats
import sys
import threading

from kit import profiled, tell

TIMES = 200
OURS = ("profiled", "__exit__")


class Plain:
    def __getitem__(self, at):
        return self.look(at)

    def look(self, at):
        return at


class Child(Plain):
    pass


class Alias:
    def get(self, at):
        return at

    __getitem__ = get


class Late:
    pass


def outside(self, at):
    return at


def late(self, at):
    return at


def branch(of, is_used):
    if is_used:  # fast when it is reached for the first time
        return of[1]


def loop(of):
    for at in range(TIMES):
        of[at]


def comprehension(of):
    return [of[at] for at in range(TIMES)]


def generator(of):
    for at in range(TIMES):
        yield of[at]


def nested(of):
    def inner():
        return of[0]
    for _ in range(TIMES):
        inner()


def changing(objects):
    for of in objects:
        for _ in range(TIMES):
            of[1]


def run():
    for is_used in [False] * 30 + [True] * TIMES:
        branch(Plain(), is_used)
    made = type("Made", (), {"__getitem__": outside})
    for of in (Plain(), Alias(), made(), Child()):
        loop(of), comprehension(of), list(generator(of)), nested(of)
    of = Late()
    Late.__getitem__ = late
    loop(of)
    exec("def again(of):\n  for at in range(%d): of[at]\nagain(of)\nfor at in range(%d): of[at]" % (TIMES, TIMES),
         {"of": Alias()})
    changing([[1, 2], Plain(), (3, 4), Alias(), {1: 2}, made(), "ab"])


def counted_by_us(function):
    with profiled() as found:
        function()
    return collections.Counter({row[2]: row[6] for row in found.rows if row[2] not in OURS})


def counted_by_cprofile(function):
    profile = cProfile.Profile(builtins=False)
    profile.enable()
    function()
    profile.disable()
    return collections.Counter({name: row[1] for (_, _, name), row in pstats.Stats(profile).stats.items()})


def in_threads():
    threads = [threading.Thread(target=run) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def main():
    if "warm" in sys.argv:
        run(), run()
    ours, theirs = counted_by_us(run), counted_by_cprofile(run)
    named = ("__getitem__", "get", "outside", "late", "look")
    three = counted_by_us(in_threads)
    tell([[name for name in set(ours) | set(theirs) if ours[name] != theirs[name]],
          [ours[name] for name in named], [three[name] for name in named]])


main()
