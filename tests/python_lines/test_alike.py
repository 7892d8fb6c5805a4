"""What a program can do with profiled functions and with what they make ends as it does without us, and is counted."""
import textwrap

TELL = """
    import builtins, gc, sys, types
    if not hasattr(builtins, "profile"):
        builtins.profile = lambda function: function
    def tell(function, *args):
        try:
            print(repr(function(*args)))
        except BaseException as error:
            print(type(error).__name__, error)
"""


def both(run, text):
    """The table, when the program has said the same with and without the tool."""
    alone = run.alone(textwrap.dedent(TELL) + textwrap.dedent(text))
    table = run(textwrap.dedent(TELL) + textwrap.dedent(text))
    assert run.done.stdout == alone.stdout
    assert alone.stdout.strip()
    return table


def test_methods_that_were_kept(run):
    """Taken while a generator was suspended, called while it goes on and when it has ended."""
    table = both(run, """
        @profile
        def g():
            gc.collect()
            for one in kept:
                tell(one, *([None] if one is kept[0] else [KeyError] if one is kept[1] else []))
            yield 1
            yield 2
        me = g()
        kept = [me.send, me.throw, me.close, me.__next__]
        tell(next, me)
        del kept[:]
        tell(list, me)
    """)
    assert table.hits("g") == {2: 1, 3: 5, 4: 4, 5: 1, 6: 1}


def test_methods_at_the_end(run):
    """Collected as garbage, a generator has been closed when somebody else's __del__ calls its methods."""
    table = both(run, """
        class Last:
            def __del__(self):
                for one in self.kept:
                    tell(one)
        @profile
        def g():
            try:
                yield 1
            finally:
                print("closed")
        def circle():
            one, last = g(), Last()
            last.kept, last.me = [one.__next__, one.close], last
            next(one)
        circle()
        gc.collect()
    """)
    assert table.hits("g")[5] == 1


def test_coroutines_are_not_iterable(run):
    both(run, """
        @profile
        async def c():
            return 1
        def delegates(one):
            yield from one
        given = c(), c(), c()
        tell(iter, given[0])
        tell(list, given[1])
        tell(list, delegates(given[2]))
        for one in given:
            one.close()
        tell(c().send, None)
    """)


def test_awaited_by_hand(run):
    table = both(run, """
        @types.coroutine
        def pause():
            return (yield 1)
        @profile
        async def c():
            x = await pause()
            return x
        one = c().__await__()
        print(type(one).__name__, next(one))
        tell(one.send, 5)
        one = c()
        one.send(None)
        tell(one.__await__().close)
    """)
    assert table.hits("c") == {2: 2, 3: 1}


def test_generators_that_are_coroutines(run):
    """Of types.coroutine(), below @profile."""
    table = both(run, """
        @profile
        @types.coroutine
        def g():
            x = yield 1
            return x
        @profile
        def plain():
            yield 1
        async def awaits(one):
            return await one()
        first = awaits(g)
        tell(first.send, None)
        tell(first.send, 7)
        tell(awaits(plain).send, None)
    """)
    assert table.hits("g") == {3: 1, 4: 1}


def test_subscripts_that_were_fast(run):
    """Python 3.11 has kept the function of a subscript that ran often before it was profiled."""
    table = both(run, """
        class C:
            def __getitem__(self, i):
                return i
        def use(c):
            return sum(c[i] for i in range(100)) + sum([c[i] for i in range(100)])
        tell(use, C())
        tell(use, C())
        profile(C.__getitem__)
        tell(use, C())
    """)
    assert table.hits("C.__getitem__") == {1: 200}


def test_warnings_of_the_compiler(run):
    """The text of what -p names may be compiled anew; the program hears nothing of that."""
    run.write("def f(x):\n    return x is 1\n", "named.py")
    text = "import named\ndef g(x):\n    return x is 2\nnamed.f(g(1))\n"
    alone = run.alone(text)
    table = run(text, options=("-p", "named,script"))
    assert run.done.stderr == alone.stderr and alone.stderr.count("SyntaxWarning") == 2
    assert table.hits("f") == {1: 1} and table.hits("g") == {1: 1}
