"""Which calls are seen, and that nothing else is watched for it: generators, functions made of code that -p names, copies of
functions, other profilers, modules that are loaded again."""
import textwrap

import pytest
from conftest import Lines, VENTURI

FRAMES = """
    import ctypes, sys
    api = ctypes.pythonapi
    api.PyInterpreterState_Get.restype = api._PyInterpreterState_GetEvalFrameFunc.restype = ctypes.c_void_p
    api._PyInterpreterState_GetEvalFrameFunc.argtypes = [ctypes.c_void_p]
    def is_watched():
        if sys.version_info >= (3, 12):
            return False
        usual = ctypes.cast(api._PyEval_EvalFrameDefault, ctypes.c_void_p).value
        return api._PyInterpreterState_GetEvalFrameFunc(api.PyInterpreterState_Get()) not in (usual, None)
    def check():
        assert not is_watched() and sys.gettrace() is None
"""

GENERATORS = FRAMES + """
    import asyncio, gc, inspect, types
    @profile
    def g(n):
        check()
        try:
            for i in range(n):
                x = yield i
        finally:
            check()
    @profile
    def delegates():
        got = yield from g(3)
        yield got
    @profile
    async def c(n):
        await asyncio.sleep(0)
        return n
    @profile
    async def a(n):
        try:
            for i in range(n):
                yield i
                await asyncio.sleep(0)
        finally:
            check()
    class Awaits:
        def __await__(self):
            return (yield from c(5).__await__())
    def raises(kind, function, *args):
        try:
            function(*args)
        except kind as error:
            return str(error)
        raise AssertionError(kind)
    async def main():
        assert await c(1) == 1 and await asyncio.create_task(c(2)) == 2 and await Awaits() == 5
        assert await asyncio.gather(c(3), c(4)) == [3, 4]
        assert [i async for i in a(2)] == [0, 1]
        async for i in a(2):
            break
        one = a(3)
        assert await one.asend(None) == 0
        try:
            await one.athrow(KeyError)
        except KeyError:
            pass
        try:
            await one.__anext__()
        except StopAsyncIteration:
            pass
        else:
            raise AssertionError
        done = c(1)
        await done
        try:
            await done
        except RuntimeError as error:
            assert "already awaited" in str(error)
        else:
            raise AssertionError
        check()
    assert list(g(2)) == [0, 1]
    open_one = g(5)
    assert next(open_one) == 0 and open_one.send(1) == 1
    check()
    assert isinstance(open_one, types.GeneratorType) and open_one.__class__ is types.GeneratorType
    assert inspect.getgeneratorstate(open_one) == "GEN_SUSPENDED" and repr(open_one).startswith("<generator object g")
    raises(KeyError, open_one.throw, KeyError)
    closed = g(5)
    next(closed)
    closed.close()
    raises(StopIteration, next, closed)
    dropped = g(5)
    next(dropped)
    del dropped
    circle = [g(5)]
    circle.append(circle)
    next(circle[0])
    del circle
    gc.collect()
    assert list(delegates()) == [0, 1, 2, None]
    closed = delegates()
    next(closed)
    closed.close()
    @profile
    def again():
        raises(ValueError, next, me)
        yield
    me = again()
    next(me)
    asyncio.run(main())
    check()
"""


def test_generators(run):
    """However they go on and end; and they are what they are without us."""
    table = run(GENERATORS)
    assert table.hits("g") == {2: 7, 3: 7, 4: 13, 5: 11, 7: 7}
    assert table.hits("delegates") == {2: 2, 3: 1}
    assert table.hits("c") == {2: 6, 3: 6}
    assert table.hits("a") == {2: 3, 3: 5, 4: 4, 5: 2, 7: 3}
    assert table.hits("again") == {2: 1, 3: 1}


def test_generators_alone(run):
    """The same program without us: what it asserts does not come from us."""
    run.alone("import builtins\nbuiltins.profile = lambda function: function\n" + textwrap.dedent(GENERATORS))


SCRIPT = FRAMES + """
    import functools
    def make(k):
        check()
        def inner(x):
            check()
            return x + k
        return inner
    class A:
        @staticmethod
        def s(a):
            check()
            return a
        @functools.lru_cache(None)
        def cached(self, k):
            return k
        def g(self):
            check()
            yield 1
        class B:
            async def c(self):
                return check()
    def fails():
        raise ValueError
    def not_named():
        return 1
    def run():
        one, two = make(1), make(2)
        assert one(1) + two(1) + two(2) == 9 and A.s(1) == 1 and A().cached(2) == 2 and list(A().g()) == [1]
        try:
            A.B().c().send(None)
        except StopIteration:
            pass
        try:
            fails()
        except ValueError as error:
            assert error.__traceback__.tb_next.tb_lineno == fails.__code__.co_firstlineno + 1
            assert fails.__code__.co_firstlineno == make.__code__.co_firstlineno + 20
        check()
        return not_named()
"""
NAMES = ["A.B.c", "A.cached", "A.g", "A.s", "fails", "make", "make.<locals>.inner"]


def hits_of(table):
    return {name: sorted(table.hits(name).items()) for name in NAMES}


def test_no_frames_watched_of_a_script(run):
    table = run(SCRIPT + "    run()\n    check()\n    assert __import__('sys')._getframe().f_back is None\n",
                options=("-p", "script.make,script.A,script.fails"))
    assert table.names() == NAMES
    assert table.hits("make.<locals>.inner") == {1: 3, 2: 3}
    assert table.hits("make") == {1: 2, 2: 2, 5: 2}


def test_no_frames_watched_of_a_module(run):
    run.write(SCRIPT, "named.py")
    table = run("import importlib, named\nnamed.run()\nimportlib.reload(named).run()\n",
                options=("-p", "named.make,named.A,named.fails"))
    assert table.names() == NAMES
    assert table.hits("make.<locals>.inner") == {1: 6, 2: 6}


def test_p_of_code_without_text(run):
    """There is nothing that could be compiled anew: all functions of the code are seen, watched or not."""
    script = run.write("""
        def make(k):
            def inner(x):
                return x + k
            return inner
        def g():
            yield 1
        assert make(1)(1) + make(2)(1) == 5 and list(g()) == [1]
    """, "gone.py")
    compiled = run.folder / "gone.pyc"
    run.run([run.python, "-c", "import py_compile, sys; py_compile.compile(sys.argv[1], sys.argv[2])", str(script),
             str(compiled)], 0, None)
    script.unlink()
    run.run([VENTURI, "run", "-q", "-f", "-l", "-o", str(run.output), "-p", "gone", run.python, str(compiled)], 0, None)
    table = Lines(run.output)
    assert table.names() == ["g", "make", "make.<locals>.inner"]
    assert table.hits("make.<locals>.inner") == {1: 2} and table.hits("g") == {1: 1}


def test_copies(run):
    """Before 3.12 a function is seen, not its code; it is said of which functions there are more."""
    table = run("""
        import types
        def make(k):
            def inner(x):
                return x + k
            return inner
        f = profile(make(1))
        g = make(2)
        h = types.FunctionType(f.__code__, globals(), "h", None, f.__closure__)
        assert f(1) + g(1) + h(1) == 7
        def decorates(k):
            @profile
            def each(x):
                return x + k
            return each
        assert decorates(1)(1) + decorates(2)(1) == 5
    """)
    assert table.hits("decorates.<locals>.each") == {2: 2}
    said = "lines of make.<locals>.inner: %s not decorated and not profiled" % (
        "2 more of that name were" if run.version >= (3, 11) else "1 more of that name was")
    if run.version >= (3, 12):
        assert table.hits("make.<locals>.inner") == {1: 3} and said not in run.done.stderr
    else:
        assert table.hits("make.<locals>.inner") == {1: 1} and said in run.done.stderr


def test_code_is_replaced(run):
    """line_profiler does so if two functions have the same instructions."""
    table = run("""
        @profile
        def f():
            return 1
        f()
        f.__code__ = f.__code__.replace(co_name="f")
        f()
    """)
    assert table.hits("f") == {2: 1}
    assert "lines of f: it was given another code" in run.done.stderr


def test_explicit_profiler(run):
    run.write("from .explicit_profiler import profile\n", "line_profiler/__init__.py")
    run.write("profile = None\n", "line_profiler/explicit_profiler.py")
    table = run("""
        from line_profiler.explicit_profiler import profile
        @profile
        def f():
            return 1
        f()
    """)
    assert table.hits("f") == {2: 1}


@pytest.mark.parametrize("when", ["before", "after", "within"])
def test_coverage(run, when):
    """Whoever comes first, both see every line."""
    run.needs("coverage")
    run.write("""
        def plain(i):
            return i
        @profile
        def f(n):
            for i in range(n):
                plain(i)
        @profile
        def g(n):
            for i in range(n):
                yield i
        def both():
            f(2)
            list(g(2))
    """, "measured.py")
    table = run("""
        import coverage, sys
        when = sys.argv[1]
        measured = coverage.Coverage(data_file=None, include=["*/measured.py"])
        if when == "before":
            measured.start()
        import measured as module
        @profile
        def within():
            measured.start()
            module.both()
            measured.stop()
            return module.both()
        if when == "within":
            within()
        else:
            measured.start()
            module.both()
            measured.stop()
            module.both()
        lines = set(measured.get_data().lines(module.__file__))
        assert lines >= {3, 6, 7, 10, 11, 13, 14}, lines
    """, when)
    assert table.hits("f") == {2: 6, 3: 4} and table.hits("g") == {2: 6, 3: 4}


def test_import_times(run):
    run.write("def f():\n    return 1\n", "named.py")
    script = run.write("import named\nnamed.f()\n")
    done = run.run([VENTURI, "run", "-q", "-f", "-l", "-o", str(run.output), "-p", "named", run.python, "-X", "importtime",
                    str(script)], 0, None)
    assert "| named" in done.stderr
    assert Lines(run.output).hits("f") == {1: 1}


def test_threads_before(run):
    """Threads that were there before anything was profiled."""
    table = run("""
        import threading
        go = threading.Event()
        def work():
            go.wait()
            f(3)
            list(g(2))
        threads = [threading.Thread(target=work) for _ in range(3)]
        for thread in threads:
            thread.start()
        @profile
        def f(n):
            for i in range(n):
                pass
        @profile
        def g(n):
            for i in range(n):
                yield i
        go.set()
        for thread in threads:
            thread.join()
    """)
    assert table.hits("f")[2] == 12 and table.hits("g") == {2: 9, 3: 6}
