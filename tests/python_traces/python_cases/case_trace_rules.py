"""venturi.trace and programs that do what nobody expects: in their texts and notifiers, with threads, generators and signals."""
import asyncio
import contextlib
import gc
import inspect
import os
import queue
import signal
import subprocess
import sys
import threading
import types
from unittest import mock

import kit
from kit import BASE, KEY
from venturi import propagation, trace

is_recorded = bool(os.environ.get("RECORDED"))


def base():
    profiler = trace.get()
    return profiler and profiler.get_base_id()


# ---- code of the program that is asked --------------------------------------------------------------

class Beginner:
    """Begins another trace whenever its text is wanted."""

    def __repr__(self):
        trace.init("other", "another", "one")
        with trace.Trace("of the text"):
            trace.start("more"), trace.stop(), trace.stop()
        plain(self)
        return "text"


@trace.trace("plain", hide_result=False)
def plain(value):
    return value


@trace.trace("steps", hide_result=False)
def steps(value):
    yield value
    return value


def collected(function):
    """With a collection at every chance, and the memory of what is freed used again."""
    before = gc.get_threshold()
    gc.set_threshold(1)
    try:
        for number in range(30):
            trace.init(KEY, "base-%d" % number)
            function()
            assert base() == "base-%d" % number and trace.get().get_id() == "base-%d" % number
            assert [bytes(64 + size) for size in range(100)]
            gc.collect()
            assert trace.get().get_base_id() == "base-%d" % number
    finally:
        gc.set_threshold(*before)


def in_all_ways():
    plain(Beginner())
    list(steps(Beginner()))
    with trace.Trace(Beginner(), info={"of": Beginner()}) as span:
        span["more"] = Beginner()
    trace.start(Beginner(), info={"of": {"of": Beginner()}})
    trace.stop(info={"at": Beginner()})
    with contextlib.suppress(ValueError), trace.Trace("x"):
        raise ValueError(Beginner())


def test_a_trace_that_a_text_begins_is_none():
    trace.init(KEY)
    plain(Beginner())
    collected(in_all_ways)
    with kit.told():
        collected(in_all_ways)


def test_trace_points_of_texts_are_none():
    trace.init(KEY)
    with kit.told() as events:
        plain(Beginner())
    assert [event["name"] for event in events] == ["plain-start", "plain-stop"]


def test_trace_points_of_notifiers_are_none():
    told = []

    def notify(payload):
        told.append(payload["name"])
        trace.init("other", "another")
        with trace.Trace("of the notifier"):
            plain(1)
        trace.stop()
    trace.init(KEY, BASE)
    trace.set_notifier(notify)
    with trace.Trace("outer"):
        plain(2)
    assert told == ["outer-start", "plain-start", "plain-stop", "outer-stop"] and base() == BASE
    collected(lambda: plain(3))


def test_a_text_that_changes_its_trace():
    class Renewed:
        def __str__(self):
            it.__init__("b", info={"x": [1] * 100})
            return "a"
    trace.init(KEY)
    with kit.told():
        for _ in range(20):
            it = trace.Trace(Renewed(), info={"y": Renewed()})
            with it:
                pass


# ---- what ends the program ---------------------------------------------------------------------------

class Leaving(BaseException):
    pass


def leave_at(name, error):
    def notify(payload):
        told.append(payload["name"])
        if payload["name"] == name:
            raise error
    told = []
    trace.set_notifier(notify)
    return told


def raises(kind, function, *args):
    try:
        function(*args)
    except kind:
        return True
    return False


def test_what_is_no_exception_goes_on():
    trace.init(KEY, BASE)

    def block():
        with trace.Trace("plain"):
            pass

    def by_hand():
        trace.start("plain")
        trace.stop()
    before = trace.notifier_failures()
    for work in (lambda: plain(1), block, by_hand):
        for when in ("plain-start", "plain-stop"):
            for error in (SystemExit(3), Leaving(), KeyboardInterrupt()):
                told = leave_at(when, error)
                assert raises(type(error), work), (when, error)
                assert told == ["plain-start", "plain-stop"] and trace.get().get_id() == BASE, told
            leave_at(when, ValueError())
            assert not raises(ValueError, work)
    for when in ("steps-start", "steps-stop"):
        told = leave_at(when, Leaving())
        assert raises(Leaving, list, steps(1)) and told == ["steps-start", "steps-stop"] and trace.get().get_id() == BASE
    assert trace.notifier_failures() == before + 6


def test_signals_in_a_notifier():
    def end(*_):
        sys.exit(5)
    before = signal.signal(signal.SIGTERM, end)
    try:
        trace.init(KEY)
        trace.set_notifier(lambda payload: os.kill(os.getpid(), signal.SIGTERM))
        assert raises(SystemExit, plain, 1)
    finally:
        signal.signal(signal.SIGTERM, before)


# ---- threads and contexts ------------------------------------------------------------------------------

def test_one_object_for_several_threads():
    shared, is_inside, go_on = trace.Trace("shared"), threading.Event(), threading.Event()

    def first():
        trace.init(KEY)
        with shared:
            is_inside.set()
            go_on.wait(10)
            events.append({"name": "still inside"})
    with kit.told() as events:
        thread = threading.Thread(target=first)
        thread.start()
        is_inside.wait(10)
        for _ in range(2):
            with shared:
                pass
        go_on.set()
        thread.join()
    assert [event["name"] for event in events] == ["shared-start", "still inside", "shared-stop"]


def worker():
    """A thread that does what it is told and gives what it saw."""
    todo, done = queue.Queue(), queue.Queue()

    def work():
        for function in iter(todo.get, None):
            done.put(function())

    def ask(function):
        todo.put(function)
        return done.get(timeout=10) if function else thread.join()
    thread = threading.Thread(target=work)
    thread.start()
    return ask


def test_a_thread_is_in_its_starters_trace_until_that_ends():
    open_spans = contextlib.ExitStack()
    trace.init(KEY, "first")
    ask = worker()
    assert ask(base) == "first"
    carried = trace.carry(base)
    trace.clean()
    trace.init(KEY, "second")
    assert ask(base) is None and ask(carried) == "first" and ask(base) is None
    assert ask(lambda: trace.get() is None and trace.context() is None)
    ask(None)
    ask = worker()
    ask(lambda: open_spans.enter_context(trace.Trace("open")))
    trace.init(KEY, "third")
    with kit.told() as events:
        assert ask(base) == "second" and ask(lambda: plain(1)) == 1
        ask(open_spans.close)
        assert ask(base) is None and ask(lambda: plain(2)) == 2
        ask(lambda: trace.init(KEY, "own"))
        assert ask(base) == "own"
    ask(None)
    assert [event["name"] for event in events] == ["plain-start", "plain-stop", "open-stop"]
    assert base() == "third"


def test_the_end_of_attach_ends_it_for_threads():
    with trace.attach({"base_id": "attached"}, KEY):
        ask = worker()
        with trace.attach({"base_id": "within"}, KEY):
            assert ask(base) == "attached"
        assert ask(base) == "attached"
    assert ask(base) is None
    ask(None)


def test_the_end_in_a_thread_is_that_threads_alone():
    trace.init(KEY, "first")
    ask, other = worker(), worker()
    ask(trace.clean)
    assert ask(base) is None and other(base) == "first" == base()
    ask(None), other(None)


def test_stop_ends_nothing_of_others():
    async def main():
        trace.start("parent")
        task = asyncio.ensure_future(child())
        await task
        events.append({"name": "goes on"})
        trace.stop()

    async def child():
        trace.stop()
        trace.start("own"), trace.stop(), trace.stop()
    trace.init(KEY)
    with kit.told() as events:
        asyncio.run(main())
        trace.start("main")
        thread = threading.Thread(target=trace.stop)
        thread.start(), thread.join()
        events.append({"name": "goes on"})
        trace.stop()
    assert [event["name"] for event in events] == ["parent-start", "own-start", "own-stop", "goes on", "parent-stop", "main-start",
                                                   "goes on", "main-stop"]


def test_a_block_ends_its_own_span_only():
    def generate():
        with trace.Trace("of the generator"):
            yield
    trace.init(KEY, BASE)
    with kit.told() as events:
        generator = generate()
        next(generator)
        with trace.Trace("body"):
            generator.close()
            with trace.Trace("leaf"):
                pass
        assert trace.get().get_id() == BASE
        with trace.Trace("later"):
            pass
    assert [event["name"] for event in events] == ["of the generator-start", "body-start", "of the generator-stop", "leaf-start",
                                                   "leaf-stop", "body-stop", "later-start", "later-stop"]
    assert kit.shape(events) == [("of the generator", [("body", [("leaf", [])])]), ("later", [])]


# ---- ids and keys ----------------------------------------------------------------------------------------

class Bad:
    def __str__(self):
        raise ValueError("no text")


class Worse:
    def __bool__(self):
        raise ValueError("neither")


def goes_on():
    headers = propagation.headers()
    assert all(value.isascii() and value.isprintable() for value in headers.values()), headers
    trace.environment()
    return subprocess.call(["true"]) == 0


def test_contexts_that_cannot_be():
    for given in ("a\nb", "\ud800", "x" * 257, "\0", "\x7f"):
        before = propagation.rejected()
        for context in ({"base_id": given}, {"base_id": "b", "parent_id": given}):
            with kit.logged("venturi.propagation"), trace.attach(context, KEY) as profiler:
                assert profiler is None and goes_on()
        assert propagation.rejected() == before + 2
    for given in (Bad(), Worse(), {}, [], "", None):
        with trace.attach({"base_id": given}, KEY) as profiler:
            assert profiler is None and goes_on()
    for given in (5, "x" * 256, "\u20ac"):
        with trace.attach({"base_id": given, "flags": 10 ** 30}, KEY) as profiler:
            assert profiler.get_base_id() == str(given) and goes_on()


def test_tracestates_that_cannot_be():
    for given in ("a=1\r\nEvil: 1", "a\0b", "\u20ac", "x" * 100000, "\ud800", 5):
        with trace.attach({"base_id": "b", "tracestate": given}, KEY) as profiler:
            assert profiler.tracestate is None and goes_on()
    with trace.attach({"base_id": "b", "tracestate": "a=1"}, KEY) as profiler:
        assert profiler.tracestate == "a=1" and goes_on()


def test_init_takes_anything():
    for given in ("a\nb", "\ud800", "x" * 10 ** 6, Bad(), Worse()):
        trace.clean()
        profiler = trace.init(KEY, given, given)
        assert len(profiler.get_base_id()) == 36 and trace.init(KEY) is profiler and goes_on()
        if isinstance(given, str):
            assert trace.init(KEY, given) is profiler and trace.id_hex(given) == profiler.get_base_id().replace("-", "")
    for key in (5, ["a"], Bad(), b"bytes", "", None):
        trace.clean()
        assert trace.init(key) and goes_on()


# ---- decorators ---------------------------------------------------------------------------------------------

def test_methods_that_are_none():
    class Class:
        made = []

        @trace.trace("new")
        def __new__(cls, value):
            return super().__new__(cls)

        @trace.trace("subclass")
        def __init_subclass__(cls, **kwargs):
            super().__init_subclass__(**kwargs)
            Class.made.append(cls)

        @trace.trace("item")
        @trace.trace("twice")
        def __class_getitem__(cls, item):
            return cls, item

    class Derived(Class):
        pass
    for _ in range(2):
        assert type(Derived(1)) is Derived and Class.made == [Derived] and Derived[5] == (Derived, 5)
        trace.init(KEY)


def test_generators_of_types_coroutine():
    @trace.trace("old")
    @types.coroutine
    def old(value):
        yield
        return value

    async def main():
        return await old(5)
    for _ in range(2):
        assert asyncio.run(main()) == 5
        trace.init(KEY)
    with kit.told() as events:
        assert asyncio.run(main()) == 5
    assert kit.shape(events) == [("old", [])]


def test_classes_made_of_trace():
    class Decorator(trace.Trace, contextlib.ContextDecorator):
        pass

    class Called(trace.Trace):
        def __call__(self, *args):
            return ("called",) + args

    def work():
        @Decorator("of the function")
        def function(value):
            return value
        assert function(3) == 3
        with Called("called") as span:
            assert Called("x")(1) == ("called", 1) and isinstance(span, trace.TraceSpan)
    work()
    trace.init(KEY)
    with kit.told() as events:
        work()
    assert kit.shape(events) == [("of the function", []), ("called", [])]


def test_wrong_arguments_are_said_at_the_call():
    @trace.trace("g")
    def generate(a):
        yield a

    @trace.trace("a")
    async def agenerate(a):
        yield a

    @trace.trace("c")
    async def wait(a):
        return a
    for _ in range(2):
        assert raises(TypeError, generate) and raises(TypeError, agenerate)
        assert inspect.isgeneratorfunction(generate) and inspect.isasyncgenfunction(agenerate) and inspect.iscoroutinefunction(wait)
        assert list(generate(1)) == [1] and asyncio.run(wait(2)) == 2 and asyncio.iscoroutinefunction(wait)
        trace.init(KEY)


def test_as_the_function():
    def function(a, b=2, *, c=3):
        return a, b, c
    traced = trace.trace("f")(function)
    for name in ("__code__", "__defaults__", "__kwdefaults__", "__globals__", "__closure__"):
        assert getattr(traced, name) is getattr(function, name), name
        assert raises(AttributeError, setattr, traced, name, None)
    assert inspect.isfunction(traced) and raises(TypeError, mock.create_autospec(traced))
    assert mock.create_autospec(traced, return_value=7)(1) == 7
    assert not inspect.isfunction(trace.trace("len")(len)) and trace.trace("len")(len)("abc") == 3


def test_dormant_generators_are_the_functions_own():
    @trace.trace("g")
    def generate():
        yield 1
    if not is_recorded:
        assert generate().gi_code is inspect.unwrap(generate).__code__
    assert list(generate()) == [1]


# ---- deep calls ----------------------------------------------------------------------------------------------

def down(count):
    return count and 1 + down(count - 1)


deep = trace.trace("deep", hide_args=True)(lambda count: count and 1 + deep(count - 1))


def test_recursion_as_deep_as_without():
    assert down(900) == 900
    for _ in range(2):
        assert deep(900) == 900 and raises(RecursionError, deep, 10 ** 6)
        trace.init(KEY)


def test_recursion_with_small_stacks():
    def work():
        found.append(raises(RecursionError, deep, 10 ** 6) and deep(100) == 100)
    found = []
    trace.init(KEY)
    for size in (1 << 20, 16 << 20):
        before = threading.stack_size(size)
        try:
            thread = threading.Thread(target=work)
            thread.start()
        finally:
            threading.stack_size(before)
        thread.join()
    assert found == [True, True]
