"""venturi.trace: decorated functions are what they were, and what osprofiler gets wrong."""
import contextlib
import contextvars
import copy
import functools
import gc
import inspect
import pickle
import sys
import weakref

import kit
from kit import BASE, KEY, PARENT
from venturi import trace


# ---- decorated functions are functions -------------------------------------------------------------

@trace.trace("module level", hide_args=True)
def at_module_level(a, b: int = 2, *rest, **more) -> str:
    """What it does."""
    return "%s %s %s %s" % (a, b, rest, more)


def test_decorated_functions_are_as_they_were():
    f = at_module_level
    assert (f.__name__, f.__qualname__, f.__module__, f.__doc__) == ("at_module_level", "at_module_level", __name__, "What it does.")
    assert str(inspect.signature(f)) == "(a, b: int = 2, *rest, **more) -> str" and f.__annotations__ == {"b": int, "return": str}
    assert f.__traced__ == 1 and inspect.isfunction(f.__wrapped__) and inspect.isroutine(f) and callable(f)
    assert f(1, 3, 4, x=5) == "1 3 (4,) {'x': 5}" and f(*[1], **{"b": 7}) == "1 7 () {}"
    assert pickle.loads(pickle.dumps(f)) is f and copy.deepcopy(f) is f and weakref.ref(f)() is f
    assert functools.partial(f, 1)(2) == "1 2 () {}"
    assert "at_module_level" in repr(f)
    assert str(inspect.signature(trace.start)) == "(name, info=None)" and str(inspect.signature(trace.stop)) == "(info=None)"
    f.mine = 5
    assert f.mine == f.__dict__["mine"] == 5
    try:
        f()
    except TypeError as error:
        assert "missing" in str(error)
    trace.init(KEY)
    try:
        f()
    except TypeError as error:
        assert "missing" in str(error)


def test_methods_bind():
    class Class:
        @trace.trace("m")
        def method(self, x):
            return self, x

        @classmethod
        @trace.trace("c")
        def of_class(cls, x):
            return cls, x

        @staticmethod
        @trace.trace("s")
        def static(x):
            return x

        @property
        @trace.trace("p")
        def prop(self):
            return "prop"
    for _ in range(2):
        one = Class()
        bound = one.method
        assert bound(1) == one.method(1) == Class.method(one, 1) == (one, 1) and bound.__self__ is one
        assert Class.of_class(2) == one.of_class(2) == (Class, 2) and Class.static(3) == one.static(3) == 3 and one.prop == "prop"
        trace.init(KEY)


# ---- what osprofiler gets wrong ---------------------------------------------------------------------

class Unprintable:
    def __repr__(self):
        raise RuntimeError("not me")


class Counting:
    count = 0

    def __repr__(self):
        Counting.count += 1
        return "counting"


def test_arguments_are_texts_only_for_those_who_read_them():
    @trace.trace("shown")
    def shown(*args, **kwargs):
        return Counting()

    @trace.trace("hidden", hide_args=True)
    def hidden(*args, **kwargs):
        return Counting()

    @trace.trace("result", hide_args=True, hide_result=False)
    def result():
        return Counting()

    def all_three():
        Counting.count = 0
        shown(Counting(), k=Counting()), hidden(Counting(), k=Counting()), result()
        return Counting.count
    assert all_three() == 0
    trace.init(KEY)
    assert all_three() == 0
    with kit.told():
        assert all_three() == 3


def test_arguments_that_cannot_be_printed():
    @trace.trace("f", hide_result=False)
    def function(*args, **kwargs):
        return args[0]
    trace.init(KEY)
    with kit.told() as events:
        function(Unprintable())
        function("x" * 5000, key=["y" * 5000])
    begin = events[0]["info"]["function"]
    assert begin["kwargs"] == "{}" and "unprintable" in begin["args"] and "unprintable" in events[1]["info"]["function"]["result"]
    long = events[2]["info"]["function"]
    assert long["args"] == "('" + "x" * 2046 and long["kwargs"].startswith("{'key': ['yyy") and len(long["kwargs"]) == 2048


class Interrupting:
    def __repr__(self):
        raise KeyboardInterrupt


def test_an_interrupt_is_not_lost():
    """One that comes while arguments are printed for a notifier reaches the program after that."""
    @trace.trace("f")
    def function(x):
        return x
    trace.init(KEY)
    with kit.told() as events:
        try:
            function(Interrupting())
            for _ in range(10000):
                pass
        except KeyboardInterrupt:
            pass
        else:
            raise AssertionError("it was swallowed")
    assert events[0]["name"] == "f-start" and trace.get().get_id() == trace.get().get_base_id()


def test_nothing_told_is_shared():
    info = {"mine": [1]}

    @trace.trace("f", info=info)
    def function(x):
        pass
    trace.init(KEY)
    with kit.told() as events:
        function(1)
        function(2)
        trace.start("hand", info)
        trace.stop(info)
    assert info == {"mine": [1]}
    assert [event["info"]["function"]["args"] for event in events if "function" in event["info"]] == ["(1,)", "(2,)"]
    assert len({id(event["info"]) for event in events}) == len(events)


class BadText(Exception):
    def __str__(self):
        raise RuntimeError("no text")


def test_every_exception_is_an_error():
    @trace.trace("f", hide_args=True)
    def function(error):
        raise error

    def block(error):
        with trace.Trace("f"):
            raise error
    trace.init(KEY)
    for call in (function, block):
        for error, expected in ((KeyboardInterrupt("stop"), ("KeyboardInterrupt", "stop")), (SystemExit(3), ("SystemExit", "3")),
                                (ValueError("a", 5), ("ValueError", "('a', 5)")), (ValueError(), ("ValueError", "")),
                                (ValueError({1: 2}), ("ValueError", "{1: 2}")),
                                (BadText(), (__name__ + ".BadText", "<unprintable BadText object>"))):
            with kit.told() as events:
                try:
                    call(error)
                except BaseException as caught:
                    assert caught is error
                else:
                    raise AssertionError("it was swallowed")
            assert (events[1]["info"]["etype"], events[1]["info"]["message"]) == expected, events[1]
            assert trace.get().get_id() == trace.get().get_base_id()


def test_init_of_another_trace_begins_it():
    first = trace.init(KEY, base_id=BASE)
    assert trace.init("other") is first and trace.init(KEY, base_id=BASE) is first and trace.get() is first
    trace.start("open")
    second = trace.init("other", base_id=PARENT)
    assert second is not first and trace.get() is second and second.get_base_id() == second.get_id() == PARENT
    third = trace.init(KEY, base_id=PARENT, parent_id=BASE)
    assert (third.get_base_id(), third.get_id()) == (PARENT, BASE)
    trace.clean()
    assert trace.get() is None and trace.context() is None
    with kit.told() as events:
        trace.start("nothing")
        trace.stop()
    assert events == []


def test_stop_ends_only_what_start_began():
    trace.init(KEY)
    with kit.told() as events:
        with trace.Trace("with"):
            trace.stop()
            trace.start("hand")
            trace.stop({"said": 1})
            trace.stop()
        trace.stop()
    assert [event["name"] for event in events] == ["with-start", "hand-start", "hand-stop", "with-stop"]


def test_what_was_left_open_ends_with_what_is_around_it():
    trace.init(KEY)
    with kit.told() as events:
        with trace.Trace("with"):
            trace.start("forgotten")
            trace.start("too")
        with trace.Trace("next"):
            pass
    assert kit.shape(events) == [("with", [("forgotten", [("too", [])])]), ("next", [])]


def test_handles():
    with trace.Trace("nobody is interested") as span:
        span["a"] = 1
        span.add(b=2)
        assert span.id is None
    trace.init(KEY)
    with kit.told() as events:
        with contextlib.suppress(ValueError):
            with trace.Trace("x", info={"begin": 1}) as span:
                assert span.id == trace.get().get_id() and span.name == "x"
                span["a"] = 1
                span.add(b="two", c=None)
                raise ValueError("boom")
        span["late"] = 1
    assert [event["info"] for event in events] == [
        {"begin": 1, "host": events[0]["info"]["host"]},
        {"a": 1, "b": "two", "c": None, "etype": "ValueError", "message": "boom", "host": events[0]["info"]["host"]}]


def test_one_with_object_is_used_again_within_itself():
    one = trace.Trace("again")
    trace.init(KEY)
    with kit.told() as events:
        with one:
            with one:
                pass
            with one, contextlib.ExitStack() as stack:
                stack.enter_context(one)
    assert kit.shape(events) == [("again", [("again", []), ("again", [("again", [])])])]


def test_cleaned_within_a_span():
    trace.init(KEY)
    with kit.told() as events:
        with trace.Trace("outer"):
            trace.clean()
            with trace.Trace("none"):
                pass
        assert trace.get() is None
    assert kit.shape(events) == [("outer", [])]


def test_profilers_without_init():
    """As osprofiler's own tests use them."""
    own = trace.Profiler(KEY, base_id="1", parent_id="2")
    assert (own.get_base_id(), own.get_parent_id(), own.get_id()) == ("1", "1", "2") and trace.get() is None
    with kit.told() as events:
        own.start("a")
        assert own.get_parent_id() == "2" and own.get_base_id() == "1"
        own.stop()
        own.stop()
    assert [(event["name"], event["base_id"], event["parent_id"]) for event in events] == [("a-start", "1", "2"), ("a-stop", "1", "2")]
    assert trace.get() is None


def test_notifiers_that_fail():
    def fail(payload):
        with trace.Trace("within a notifier"):
            calls.append(payload["name"])
        raise RuntimeError("the store is away")
    calls = []
    before = trace.notifier_failures()
    trace.init(KEY)
    with kit.logged("venturi.trace") as messages:
        trace.set_notifier(fail)
        with trace.Trace("x"):
            trace.start("y")
            trace.stop()
    assert calls == ["x-start", "y-start", "y-stop", "x-stop"] and trace.notifier_failures() - before == 4
    assert len(messages) == (before == 0)
    try:
        trace.set_notifier(5)
    except TypeError:
        return
    raise AssertionError("that cannot be called")


def test_attach_puts_back_what_was():
    outer = trace.init(KEY)
    trace.start("here")
    before = trace.context()
    for given in ({"base_id": BASE, "parent_id": PARENT}, {"base_id": BASE, "parent_id": PARENT, "flags": 0, "tracestate": "a=b"}):
        with trace.attach(given, "key") as profiler_:
            assert trace.context() == given and profiler_.hmac_key == "key" and "hmac_key" not in trace.context()
            with trace.attach(None):
                assert trace.get() is None
            trace.start("left open")
        assert trace.context() == before and trace.get() is outer
    for nonsense in ({}, {"base_id": None}, [], "text", 5, {"base_id": 5, "flags": "x", "tracestate": 7, "parent_id": b"x"}):
        with trace.attach(nonsense):
            trace.context()
    with contextlib.suppress(ZeroDivisionError):
        with trace.attach({"base_id": BASE}):
            1 / 0
    assert trace.context() == before


def test_deep_and_long():
    """A hundred thousand spans that nobody ends are no recursion, and are gone with their trace."""
    trace.init(KEY)
    for _ in range(100000):
        trace.start("deep")
    trace.stop()
    trace.clean()
    gc.collect()
    before = sys.getallocatedblocks()
    for _ in range(3):
        trace.init(KEY)
        for _ in range(20000):
            trace.start("x")
            with trace.Trace("y", info={"a": 1}) as span:
                span["b"] = 2
                at_module_level(1)
            trace.stop()
        trace.clean()
    gc.collect()
    assert sys.getallocatedblocks() - before < 1000


def test_circles_are_found():
    """A span that is never ended and refers to itself, through a variable of the program's own."""
    class Request:
        pass

    def handle():
        request = Request()
        variable.set(request)
        trace.init(KEY)
        trace.start("never ended")
        request.span = trace._venturi.trace_current()
        return weakref.ref(request)
    variable = contextvars.ContextVar("request")
    seen = contextvars.Context().run(handle)
    gc.collect()
    assert seen() is None


def test_variables_of_the_program_are_left_alone():
    """Leaving a span puts its own variable back and no other."""
    trace.init(KEY)
    one, two = contextvars.ContextVar("one"), contextvars.ContextVar("two")
    for count in range(50):
        with trace.Trace("a"):
            one.set(count)
            with trace.Trace("b"):
                two.set(count)
                one.set(-count)
        assert (one.get(), two.get()) == (-count, count) and trace.get().get_id() == trace.get().get_base_id()
        token = one.set(0)
        with trace.Trace("c"):
            one.reset(token)
        assert one.get() == -count


def test_classes_made_of_trace():
    class Own(trace.Trace):
        def __init__(self, number):
            super().__init__("own", info={"number": number})
            self.log = []

        def __enter__(self):
            self.log.append("enter")
            return super().__enter__()

        def __exit__(self, *reason):
            self.log.append(reason[0])
            return super().__exit__(*reason)

    class Plain(trace.Trace):
        pass
    for _ in range(2):
        own = Own(7)
        with contextlib.suppress(KeyError):
            with own:
                raise KeyError
        assert own.log == ["enter", KeyError] and isinstance(own, trace.Trace)
        trace.init(KEY)
    with kit.told() as events:
        with Own(8) as span, Plain("plain"):
            assert span.name == "own"
    assert kit.shape(events) == [("own", [("plain", [])])] and events[0]["info"]["number"] == 8
