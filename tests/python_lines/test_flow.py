"""Recursion, generators, coroutines, threads, forks, greenlets, exceptions, other people's tracers."""
import pytest

SLEEP = 0.05


def test_recursion_is_inclusive_once(run):
    table = run("""
        import time
        @profile
        def f(n):
            if n:
                time.sleep(%g)
                f(n - 1)
            return n
        f(4)
    """ % SLEEP)
    row = table.row("f", 4)
    assert row["hits"] == 4 and 3 * SLEEP <= row["time"] <= 4 * SLEEP + 0.5
    assert 4 * SLEEP <= table.of("f")["total_time"] <= 4 * SLEEP + 0.5


def test_suspended_apart(run):
    table = run("""
        import asyncio, time
        @profile
        async def wait():
            await asyncio.sleep(%g)
            return 1
        @profile
        def numbers():
            for i in range(3):
                yield i
                yield (
                    i)
        async def main():
            await asyncio.gather(wait(), wait(), wait())
        asyncio.run(main())
        for i in numbers():
            time.sleep(%g)
    """ % (SLEEP, SLEEP))
    row = table.row("wait", 2)
    assert row["hits"] == 3 and row["resumes"] == 3
    assert row["await"] >= 3 * SLEEP and row["time"] < SLEEP
    first, second = table.row("numbers", 3), table.row("numbers", 4)
    assert first["hits"] == second["hits"] == 3 and first["await"] >= 3 * SLEEP and second["await"] >= 3 * SLEEP
    assert table.hits("numbers") == {2: 4, 3: 3, 4: 3}


def test_exceptions(run):
    table = run("""
        @profile
        def deep(n):
            if n == 0:
                raise ValueError(n)
            return deep(n - 1)
        @profile
        def f():
            for i in range(5):
                try:
                    deep(i)
                except ValueError:
                    i = 0
                finally:
                    i += 1
            return i
        @profile
        def generate():
            try:
                yield 1
                yield 2
            finally:
                done = True
        f()
        f()
        for i in range(3):
            it = generate()
            next(it)
            if i == 0:
                it.close()
            elif i == 1:
                try:
                    it.throw(KeyError)
                except KeyError:
                    pass
            del it
        unborn = generate()
        try:
            unborn.throw(KeyError)
        except KeyError:
            pass
        f()
    """)
    assert table.hits("f") == {2: 18, 3: 15, 4: 15, 5: 15, 6: 15, 8: 15, 9: 3}
    assert table.hits("deep") == {2: 45, 3: 15, 4: 30}
    assert table.hits("generate") == {2: 3, 3: 3, 6: 3}
    assert table.of("f")["calls"] == 3


def test_threads(run):
    table = run("""
        import threading
        @profile
        def f(n):
            for i in range(n):
                g(i)
        def g(i):
            return h(i)
        @profile
        def h(i):
            return i
        threads = [threading.Thread(target=f, args=(1000,)) for _ in range(4)]
        for thread in threads: thread.start()
        f(1000)
        for thread in threads: thread.join()
    """)
    assert table.hits("f") == {2: 5005, 3: 5000} and table.hits("h") == {2: 5000}


def test_fork_in_the_middle(run):
    table = run("""
        import os
        @profile
        def f():
            x = 1
            child = os.fork()
            x += 1
            if not child:
                os._exit(0)
            os.waitpid(child, 0)
            return x
        f()
    """)
    assert table.hits("f") == {2: 1, 3: 1, 4: 2, 5: 2, 6: 1, 7: 1, 8: 1}


def test_total_has_the_child(run):
    function = run("""
        import os, time
        @profile
        def f():
            child = os.fork()
            if not child:
                time.sleep(%g)
                os._exit(0)
            os.waitpid(child, 0)
        f()
    """ % SLEEP).of("f")
    assert function["total_time"] >= 2 * SLEEP and function["calls"] == 1
    assert abs(function["total_time"] - sum(row["time"] for row in function["lines"])) < 1e-6


def test_end_of_with(run):
    """Its time is that of both ends; no execution may be shorter than what is counted of it."""
    row = run("""
        import time
        class Slow:
            def __enter__(self):
                pass
            def __exit__(self, *reason):
                time.sleep(%g)
        @profile
        def f():
            with Slow():
                pass
        f()
    """ % SLEEP).row("f", 2)
    if run.version >= (3, 10):
        assert row["hits"] == 1 and row["time"] >= SLEEP
    assert row["max"] is None or row["max"] >= row["time"] * 0.9


@pytest.mark.parametrize("how", ["switch(other)", "other[0].switch()"])
def test_greenlets(run, how):
    run.needs("greenlet")
    table = run("""
        import greenlet
        @profile
        def f(other):
            for i in range(5):
                x = i
                HOW
                x += 1
            return x
        def switch(other):
            other[0].switch()
        def plain(other):
            for i in range(5):
                other[0].switch()
        one, two, three = [None], [None], [None]
        one[0] = greenlet.greenlet(lambda: f(two))
        two[0] = greenlet.greenlet(lambda: f(three))
        three[0] = greenlet.greenlet(lambda: plain(one))
        one[0].switch()
        while not one[0].dead or not two[0].dead:
            for each in (one, two, three):
                if not each[0].dead:
                    each[0].switch()
    """.replace("HOW", how))
    assert table.hits("f") == {2: 12, 3: 10, 4: 10, 5: 10, 6: 2}


def test_other_tracers(run):
    """A trace function is called as without us, and is still there afterwards; one that is set within too."""
    text = """
        import sys
        events = []
        def trace(frame, event, arg):
            if frame.f_code.co_name in ("f", "g", "later"):
                events.append((frame.f_code.co_name, event, frame.f_lineno))
            return trace
        @profile
        def f(n):
            x = g(n)
            return x
        def g(n):
            return n
        @profile
        def later():
            sys.settrace(trace)
            x = g(1)
            return x
        sys.settrace(trace)
        f(1)
        assert sys.gettrace() is trace
        sys.settrace(None)
        f(2)
        later()
        assert sys.gettrace() is trace
        f(3)
        sys.settrace(None)
        print(events)
    """
    table = run(text)
    alone = run.alone("profile = lambda given: given\n" + "\n".join(line[8:] for line in text.splitlines()[1:]))
    assert run.done.stdout == alone.stdout != "[]\n"
    assert table.hits("f") == {2: 3, 3: 3}


def test_coverage_beside(run):
    run.needs("coverage")
    run.write("""\
        def f(n):
            for i in range(n):
                n += g(i)
            return n
        def g(i):
            return i
        """, "lib.py")
    table = run("""
        import coverage
        cover = coverage.Coverage(data_file=None)
        cover.start()
        import lib
        profile(lib.f)
        lib.f(3)
        cover.stop()
        print(sorted(cover.get_data().lines(lib.__file__)))
    """)
    assert run.done.stdout.strip() == "[1, 2, 3, 4, 5, 6]"
    assert table.hits("f") == {1: 4, 2: 3, 3: 1}


def test_functions_stay_functions(run):
    run("""
        import copy, inspect, pickle, types, multiprocessing.pool, sys
        @profile
        def f(a, b=2, *, c: int = 3):
            "Text."
            return a + b + c
        class A:
            @profile
            def m(self): return 1
            @profile
            def __init_subclass__(cls): cls.seen = 1
            @profile
            def __class_getitem__(cls, key): return key
            @profile
            def __getitem__(self, key): return key
        class B(A): pass
        assert B.seen == 1 and A[3] == 3 and A()[4] == 4
        assert isinstance(f, types.FunctionType) and inspect.isfunction(f) and type(f).__name__ == "function"
        assert pickle.loads(pickle.dumps(f)) is f and pickle._loads(pickle._dumps(f)) is f
        assert copy.copy(f) is f and copy.deepcopy(f) is f
        assert str(inspect.signature(f)) == "(a, b=2, *, c: int = 3)" and f.__doc__ == "Text." and f(1, c=1) == 4
        assert inspect.ismethod(A().m) and A().m() == 1 and A.m.__qualname__ == "A.m"
        f.attribute = 1
        f.__defaults__ = (5,)
        assert f(1) == 9 and f.attribute == 1 and repr(f).startswith("<function f at")
        try:
            f()
        except TypeError as error:
            assert "missing 1 required positional argument: 'a'" in str(error)
    """)


def test_deep_recursion(run):
    """As deep as without us, and nothing is lost."""
    depth = 50000 if run.version >= (3, 11) else 5000
    table = run("""
        import sys, threading
        sys.setrecursionlimit(10 ** 6)
        @profile
        def f(n):
            return f(n - 1) if n else plainly()
        def plainly():
            thread = threading.Thread(target=h)  # while this one is deep
            thread.start()
            thread.join()
            return sum(g()) + h()
        @profile
        def g():
            yield 1
            yield 2
        @profile
        def h():
            return 1
        f(%d)
        f(10)
        @profile
        def fails(n):
            if n:
                return fails(n - 1)
            raise ValueError
        try:
            fails(%d)
        except ValueError:
            pass
        def plain(n):
            return plain(n - 1) if n else list(g())
        plain(%d)
        list(g())
    """ % (depth, depth, depth))
    assert table.hits("f") == {2: depth + 12}
    assert table.hits("g") == {2: 4, 3: 4} and table.hits("h") == {2: 4}
    assert table.hits("fails") == {2: depth + 1, 3: depth, 4: 1}


def test_nothing_is_set_for_others(run):
    """Code that is not profiled runs as without us."""
    if run.version < (3, 12):
        run("""
            import types
            def plain(): return 1
            @profile
            def f(): return plain()
            f()
            assert type(plain) is types.FunctionType
        """)
        return
    run("""
        import sys
        monitoring = sys.monitoring
        tools = [tool for tool in range(6) if monitoring.get_tool(tool)]
        assert [monitoring.get_tool(tool) for tool in tools] == ["venturi lines"]
        events = monitoring.events
        assert monitoring.get_events(tools[0]) == events.PY_UNWIND | events.PY_THROW
        def plain(): return 1
        @profile
        def f(): return plain()
        f()
        assert monitoring.get_local_events(tools[0], plain.__code__) == 0
        assert monitoring.get_local_events(tools[0], f.__code__) & events.LINE
    """)


def test_callees(run):
    """Beside functions: what each line called, and how long that took."""
    table = run("""
        import time
        def slow():
            time.sleep(%g)
        def quick(n):
            return n
        @profile
        def own(n):
            return sorted(range(n), key=quick)
        def generate():
            yield 1
            yield 2
        @profile
        def f(n):
            slow(), quick(1)
            quick(2)
            own(
                3)
            for i in generate():
                n += 1
            try:
                int("x")
                fail()
            except ValueError:
                n = 0
        f(1)
        f(2)
    """ % SLEEP, options=("--callees",))
    callees = {row["line"] - table.of("f")["line"]: {each["name"]: each["calls"] for each in row["callees"]}
               for row in table.of("f")["lines"] if row["callees"]}
    assert callees == {2: {"slow": 2, "quick": 2}, 3: {"quick": 2}, 4: {"own": 2}, 6: {"generate": 6}}
    slow = [each for each in table.row("f", 2)["callees"] if each["name"] == "slow"][0]
    assert 2 * SLEEP <= slow["time"] <= table.row("f", 2)["time"] + 0.001
    assert table.hits("own") == {2: 2} and table.row("own", 2)["callees"][0]["calls"] == 6
