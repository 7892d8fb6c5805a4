"""venturi.Profile."""
import asyncio
import threading
import time

import venturi


def leaf():
    pass


def work(count=10):
    for _ in range(count):
        leaf()


def calls(stats):
    found = {}
    for row in stats.rows():
        if row.file == __file__:
            found[row.name] = found.get(row.name, 0) + row.ncalls
    return found


def test_context_manager():
    with venturi.Profile() as profile:
        work()
    work()
    assert calls(profile.stats()) == {"work": 1, "leaf": 10}, calls(profile.stats())


def test_nothing_of_ours_is_seen():
    for builtins in (False, True):
        profile = venturi.Profile(builtins=builtins)
        with profile:
            work()
        profile(work)()
        assert sorted(row.name for row in profile.stats().rows()) == ["leaf", "work"], profile.stats().rows()
        assert profile.stats().stats[(__file__, work.__code__.co_firstlineno, "work")][4] == {}


def test_start_and_stop():
    profile = venturi.Profile()
    profile.start()
    work()
    profile.stop()
    work()
    profile.start()
    work()
    profile.start()
    work()
    profile.stop()
    work()
    profile.stop()
    stats = profile.stats()
    assert calls(stats) == {"work": 4, "leaf": 40}, calls(stats)
    assert stats.total_calls == sum(row[1] for row in stats.stats.values())


def test_stop_without_start():
    try:
        venturi.Profile().stop()
    except RuntimeError as error:
        assert str(error) == "this profile was not started"
    else:
        raise AssertionError("no error")


def test_stats_while_it_goes_on():
    with venturi.Profile() as profile:
        work()
        assert calls(profile.stats())["leaf"] == 10
        work()
        assert calls(profile.stats())["leaf"] == 20
    assert calls(profile.stats())["leaf"] == 20


def test_empty():
    profile = venturi.Profile()
    assert profile.stats().rows() == []
    profile.stats().print_stats()
    with profile:
        pass
    assert calls(profile.stats()) == {}


def test_two_at_once():
    one, two = venturi.Profile(), venturi.Profile()
    one.start()
    work(1)
    two.start()
    work(10)
    one.stop()
    work(100)
    two.stop()
    work(1000)
    assert calls(one.stats())["leaf"] == 11
    assert calls(two.stats())["leaf"] == 110


def test_decorator():
    profile = venturi.Profile()

    @profile
    def decorated(a, b=2):
        "Doc."
        work()
        return a + b
    assert decorated(1) == 3 and decorated(1, b=5) == 6
    work()
    assert decorated.__name__ == "decorated" and decorated.__doc__ == "Doc." and decorated.profile is profile
    assert calls(profile.stats()) == {"decorated": 2, "work": 2, "leaf": 20}, calls(profile.stats())


def test_decorator_of_what_raises():
    profile = venturi.Profile()

    @profile
    def raises():
        raise KeyError("mine")
    for _ in range(2):
        try:
            raises()
        except KeyError:
            pass
    work()
    assert calls(profile.stats()) == {"raises": 2}


def test_decorator_of_a_generator():
    profile = venturi.Profile()

    @profile
    def numbers(count):
        for at in range(count):
            leaf()
            got = yield at
            if got:
                return got
    assert list(numbers(5)) == [0, 1, 2, 3, 4]
    generator = numbers(5)
    assert next(generator) == 0
    try:
        generator.send("enough")
    except StopIteration as end:
        assert end.value == "enough"
    abandoned = numbers(5)
    next(abandoned)
    del abandoned
    work()
    assert calls(profile.stats())["leaf"] == 7


def test_decorator_of_a_coroutine():
    profile = venturi.Profile()

    @profile
    async def step(value):
        leaf()
        await asyncio.sleep(0)
        leaf()
        return value

    async def main():
        return await asyncio.gather(*(step(at) for at in range(5)))
    assert asyncio.run(main()) == [0, 1, 2, 3, 4]
    work()
    assert calls(profile.stats())["leaf"] == 10


def test_decorator_of_an_async_generator():
    profile = venturi.Profile()

    @profile
    async def numbers(count):
        for at in range(count):
            leaf()
            try:
                yield at
            except KeyError:
                yield "thrown"

    async def main():
        seen = [at async for at in numbers(4)]
        generator = numbers(4)
        seen.append(await generator.__anext__())
        seen.append(await generator.athrow(KeyError("x")))
        await generator.aclose()
        return seen
    assert asyncio.run(main()) == [0, 1, 2, 3, 0, "thrown"]
    work()
    assert calls(profile.stats())["leaf"] == 5


def test_decorator_of_a_method():
    profile = venturi.Profile()

    class Thing:
        @profile
        def method(self):
            leaf()
            return self
    thing = Thing()
    assert thing.method() is thing
    assert calls(profile.stats())["leaf"] == 1


def test_all_threads():
    started, go_on = threading.Event(), threading.Event()

    def early():
        started.set()
        go_on.wait()
        work(100)
    before = threading.Thread(target=early)
    before.start()
    started.wait()
    with venturi.Profile() as profile:
        go_on.set()
        threads = [threading.Thread(target=work, args=(1000,)) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in [before, *threads]:
            thread.join()
    found = calls(profile.stats())
    assert found["leaf"] == 3100 and found["work"] == 4, found


def test_recursion_through_the_decorator():
    profile = venturi.Profile()

    @profile
    def down(n):
        return 0 if n == 0 else 1 + down(n - 1)
    assert down(10) == 10
    assert calls(profile.stats()) == {"down": 11}


def test_filters():
    import json
    for options, sees in ((dict(), True), (dict(only_mine=True), False), (dict(exclude=["*/json/*"]), False),
                          (dict(include=["*/json/*"]), True), (dict(include="*/json/*"), True)):
        with venturi.Profile(**options) as profile:
            json.dumps({1: 2})
            leaf()
        files = [row.file for row in profile.stats().rows()]
        assert any("/json/" in file for file in files) == sees, options
        assert any(file == __file__ for file in files) == ("include" not in options), options


def test_built_in_functions():
    with venturi.Profile(builtins=True) as profile:
        values = []
        for at in range(50):
            values.append(at)
        len(values)
    names = {row.name: row.ncalls for row in profile.stats().rows() if row.language == "builtin"}
    assert names["<method 'append' of 'list' objects>"] == 50 and names["<built-in method builtins.len>"] == 1, names


def test_times():
    def sleeper():
        time.sleep(0.05)
    with venturi.Profile() as profile:
        sleeper()
        sleeper()
    row = [row for row in profile.stats().rows() if row.name == "sleeper"][0]
    assert 0.1 <= row.cumtime < 2 and 0.05 <= row.min <= row.p50 <= row.p90 <= row.p99 <= row.max < 2, row


def test_same_counts_as_cprofile():
    import cProfile

    def fib(n):
        return n if n < 2 else fib(n - 1) + fib(n - 2)
    reference = cProfile.Profile()
    reference.runcall(fib, 12)
    reference.create_stats()
    with venturi.Profile() as profile:
        fib(12)
    key = (__file__, fib.__code__.co_firstlineno, "fib")
    assert profile.stats().stats[key][:2] == reference.stats[key][:2]
    assert profile.stats().stats[key][4][key][:2] == reference.stats[key][4][key][:2]


def test_beside_cprofile():
    import cProfile
    reference = cProfile.Profile()
    with venturi.Profile() as profile:
        reference.runcall(work)
    reference.create_stats()
    assert calls(profile.stats())["leaf"] == 10
    assert reference.stats[(__file__, leaf.__code__.co_firstlineno, "leaf")][1] == 10


def test_bad_filters():
    for options in (dict(include=[None]), dict(exclude=[3])):
        profile = venturi.Profile(**options)
        try:
            profile.start()
        except TypeError:
            try:
                profile.stop()
            except RuntimeError:
                continue
        raise AssertionError(options)


def test_many_times():
    profile = venturi.Profile()
    for _ in range(200):
        with profile:
            leaf()
    assert calls(profile.stats()) == {"leaf": 200}


def test_threads_that_come_and_go():
    """More of them than a process has places for at once; those that have ended give theirs back."""
    profile = venturi.Profile()
    with profile:
        for _ in range(3000):
            thread = threading.Thread(target=leaf, name="short")
            thread.start()
            thread.join()
    stats = profile.stats()
    assert calls(stats) == {"leaf": 3000}, calls(stats)
    assert 1900 < calls(stats.thread("(more threads)"))["leaf"] <= 3000 - 1024  # the last may be about to end
    assert venturi._venturi.info()["lost_calls"] == 0
    with venturi.Profile() as again:
        work(100)
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
    assert calls(again.stats()) == {"work": 2, "leaf": 110}, calls(again.stats())


def test_threads_that_were_there_before():
    """What a thread did before a profile is not part of it, also if it ends within as the last of many."""
    steps = [threading.Event() for _ in range(2)]

    def long():
        work(7)
        steps[0].set()
        steps[1].wait()
        work(5)
    with venturi.Profile():
        thread = threading.Thread(target=long)
        thread.start()
        steps[0].wait()
        with venturi.Profile() as profile:
            for _ in range(1100):
                short = threading.Thread(target=leaf)
                short.start()
                short.join()
            steps[1].set()
            thread.join()
    assert calls(profile.stats()) == {"work": 1, "leaf": 1105}, calls(profile.stats())


def test_names_of_threads():
    name = "a name that is longer than the fifteen bytes of the kernel"
    with venturi.Profile() as profile:
        for text in (name, "x" * 100, "\N{GREEK SMALL LETTER ALPHA}" * 40):
            thread = threading.Thread(target=work, name=text)
            thread.start()
            thread.join()
        work()
    names = [thread.name for thread in profile.stats().threads()]
    assert names == ["MainThread", name, "x" * 63, "\N{GREEK SMALL LETTER ALPHA}" * 31], names
    assert calls(profile.stats().thread(name)) == {"work": 1, "leaf": 10}


def test_built_in_functions_that_another_asked_for():
    """They are in the table of the one that asked; to the other their time belongs to who called them."""
    with venturi.Profile() as outer:
        with venturi.Profile(builtins=True) as inner:
            sorted([3, 1, 2], key=lambda value: leaf() or value)
    languages = [{row.language for row in profile.stats().rows()} for profile in (outer, inner)]
    assert languages == [{"python"}, {"python", "builtin"}], languages
    assert calls(outer.stats()) == calls(inner.stats()) == {"<lambda>": 3, "leaf": 3}
    key = next(key for key in outer.stats().stats if key[2] == "leaf")
    assert [caller[2] for caller in outer.stats().stats[key][4]] == ["<lambda>"]


def test_in_the_place_of_cprofile():
    import contextlib
    import io
    import os
    import pstats

    def shown(profile):
        return {key[2]: row[1] for key, row in pstats.Stats(profile).stats.items()}
    profile = venturi.Profile()
    profile.disable()
    profile.enable()
    profile.enable()
    work()
    profile.disable()
    profile.disable()
    work()
    assert shown(profile) == {"work": 1, "leaf": 10} and shown(profile) == {"work": 1, "leaf": 10}
    assert profile.runcall(lambda *args, **kw: (leaf(), args, kw)[1:], 1, func=2) == ((1,), {"func": 2})
    assert profile.runctx("work(2)", globals(), {}) is profile
    assert shown(profile) == {"work": 2, "leaf": 13, "<lambda>": 1, "<module>": 1}, shown(profile)
    assert calls(profile.stats()) == {"work": 2, "leaf": 13, "<lambda>": 1}
    __import__("__main__").here = leaf
    assert venturi.Profile().run("here()").stats().total_calls == 2
    profile.dump_stats("x.prof")
    assert shown("x.prof") == shown(profile)
    text = io.StringIO()
    with contextlib.redirect_stdout(text):
        profile.print_stats("cumulative")
        profile.print_stats()
    assert "Ordered by: cumulative time" in text.getvalue() and os.path.basename(__file__) + ":" in text.getvalue()
    profile.create_stats()
    assert isinstance(profile.stats, dict) and calls(profile.stats())["work"] == 2
    profile.enable()
    leaf()
    assert shown(profile)["leaf"] == 14  # create_stats() disables it
    leaf()
    assert shown(profile)["leaf"] == 14


def test_decorator_without_parentheses():
    @venturi.Profile
    def step():
        "What it does."
        return leaf() or 5
    assert step() == 5 and step.__name__ == "step" and step.__doc__ == "What it does."
    assert calls(step.profile.stats()) == {"step": 1, "leaf": 1}
    try:
        venturi.Profile(3)
    except TypeError as error:
        assert "callable" in str(error), error
    else:
        raise AssertionError("no error")


def test_statistics_while_it_goes_on():
    """Making them is not part of them, not even the first time, when modules have to be loaded."""
    profile = venturi.Profile()
    with profile:
        leaf()
        first = profile.stats()
    assert [row.name for row in first.rows()] == ["leaf"], first.rows()
