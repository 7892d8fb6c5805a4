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
