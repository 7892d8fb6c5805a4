"""venturi.trace beside the real osprofiler: the same calls, and what is told."""
import contextlib
import copy
import itertools
import json
import re
import uuid

import kit
from kit import BASE, KEY, PARENT
from osprofiler import notifier, profiler
from venturi import trace


def of_real(function):
    """What the real one tells its notifier."""
    events = []
    notifier.set(events.append)
    profiler.clean()
    try:
        profiler.init(KEY, base_id=BASE, parent_id=PARENT)
        # It uses one dict for all calls of a function: what was told is kept as it was then.
        notifier.set(lambda payload: events.append(copy.deepcopy(payload)))
        function(profiler)
    finally:
        profiler.clean()
        notifier.set(notifier._noop_notifier)
    return events


def of_ours(function):
    with kit.told() as events:
        trace.clean()
        trace.init(KEY, base_id=BASE, parent_id=PARENT)
        function(trace)
        trace.clean()
    return events


def masked(events):
    """As text, so that the order of keys counts; ids by the order in which they are met."""
    seen = {BASE: "base", PARENT: "parent"}
    text = json.dumps(events)
    text = re.sub(r"0x[0-9a-f]+", "0x", text)
    text = re.sub(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}", "time", text)
    return re.sub(r"[0-9a-f]{8}-[0-9a-f-]{27}", lambda found: seen.setdefault(found[0], "id %d" % len(seen)), text)


def same(function):
    real, ours = masked(of_real(function)), masked(of_ours(function))
    assert "time" in ours and ours == real, "\n%s\n%s" % (ours, real)


class Thing:
    def __repr__(self):
        return "Thing"


def test_payloads_by_hand_as_osprofiler():
    def work(p):
        p.start("one", info={"a": 1, "b": {"c": [1, None, "é"]}})
        p.start("two")
        p.stop(info={"d": 2.5})
        p.get().start("three", info=None)
        p.get().stop({"x": True})
        p.stop()
    same(work)


def test_payloads_of_decorators_as_osprofiler():
    def work(p):
        @p.trace("f", info={"extra": 1})
        def function(a, b=2):
            return inner(b)

        @p.trace("inner", hide_args=True, hide_result=False)
        def inner(b):
            return [b, "x"]

        @p.trace("bad", hide_result=False)
        def bad(*args, **kwargs):
            raise ValueError("boom", 5)

        class Class:
            @p.trace("method")
            def method(self, x, *, y=1):
                return x
        function(1, b="é")
        function(*(Thing(), {"k": 1}))
        with contextlib.suppress(ValueError):
            bad(1, z=2)
        Class().method(3, y=4)
        Class.method(Class(), 5)
    same(work)


def test_payloads_of_with_as_osprofiler():
    def work(p):
        with p.Trace("outer", info={"k": "v"}):
            with p.Trace("inner"):
                pass
        with contextlib.suppress(KeyError):
            with p.Trace("bad"):
                raise UnicodeError("text")
        with contextlib.suppress(KeyError):
            with p.Trace("worse"):
                raise profiler_error()
    def profiler_error():
        class Own(KeyError):
            def __str__(self):
                return self.args[0]
        return Own("of its own")
    def tolerant(p):
        with contextlib.suppress(UnicodeError):
            work(p)
    same(tolerant)


def test_ids_as_osprofiler():
    def ids(p):
        here = p.get()
        return here.get_base_id(), here.get_parent_id(), here.get_id()

    def work(p):
        found.append(ids(p))
        p.start("a")
        first = ids(p)
        p.start("b")
        second = ids(p)
        assert first[:2] == (BASE, PARENT) and second == (BASE, first[2], second[2])
        assert str(uuid.UUID(second[2])) == second[2] and uuid.UUID(second[2]).version == 4
        p.stop()
        assert ids(p) == first
        p.stop()
        found.append(ids(p))
    found = []
    of_real(work)
    of_ours(work)
    assert found == [(BASE, BASE, PARENT)] * 4
    ours, real = trace.Profiler(KEY), profiler._Profiler(KEY)
    for value in (BASE, PARENT, 5, 1 << 70, "00000000-0000-0000-0000-00000000abcd"):
        assert ours.get_shorten_id(value) == real.get_shorten_id(value)
    assert ours.get_shorten_id("no uuid") == ours.get_shorten_id("no uuid") != ours.get_shorten_id("another")


def test_ids_are_kept_as_they_came():
    ours = trace.init(KEY, base_id="not-a-uuid", parent_id="é")
    assert (ours.get_base_id(), ours.get_id()) == ("not-a-uuid", "é")
    assert trace.context() == {"base_id": "not-a-uuid", "parent_id": "é"}
    assert ours.hmac_key == KEY


# ---- classes ---------------------------------------------------------------------------------------

def make_class(bases=(object,)):
    class Base(*bases):
        def inherited(self):
            return "inherited"

    class Class(Base):
        value = 5

        def public(self, x=1):
            return x

        def _private(self):
            return "private"

        def __very(self):
            return "very"

        def __call__(self):
            return "call"

        @staticmethod
        def static(x):
            return x

        @classmethod
        def of_class(cls):
            return cls.__name__
    return Class


def exercise(cls):
    instance = cls()
    return (instance.public(2), instance._private(), instance._Class__very(), instance(), instance.static(3), cls.static(4),
            instance.of_class(), cls.of_class(), instance.inherited(), instance.value)


def test_trace_cls_as_osprofiler():
    flags = ("hide_args", "hide_result", "trace_private", "trace_static_methods")
    expected = exercise(make_class())
    for chosen in itertools.product((False, True), repeat=len(flags)):
        options = dict(zip(flags, chosen))

        def work(p):
            assert exercise(p.trace_cls("rpc", info={"i": 1}, **options)(make_class())) == expected, options
        same(work)


def test_class_methods():
    def work(p):
        assert exercise(p.trace_cls("rpc", trace_class_methods=True)(make_class())) == exercise(make_class())
    told = [event["info"]["function"] for event in of_ours(work) if event["name"] == "rpc-start"]
    found = [function for function in told if function["name"].endswith(".Class.of_class")]
    assert len(found) == 2 and found[0]["args"].startswith("(<class ") and found[0]["args"].count("Class") == 1, told


def raised(function, *args, **kwargs):
    try:
        function(*args, **kwargs)
    except Exception as error:
        return type(error), re.sub(r"0x[0-9a-f]+|<function \S+ at 0x>", "", re.sub(r"<.*>", "<>", str(error)))
    return None


def test_errors_as_osprofiler():
    def twice(p):
        cls = p.trace_cls("one")(make_class())
        return raised(p.trace_cls("two", allow_multiple_trace=False), cls), hasattr(cls._private, "__traced__")

    def twice_allowed(p):
        return p.trace_cls("two")(p.trace_cls("one")(make_class())).public.__traced__

    def again(p):
        return raised(p.trace("x", allow_multiple_trace=False), p.trace("x")(lambda: 1))

    def no_name(p):
        return raised(p.TracedMeta, "Name", (), {"__trace_args__": {"trace_private": True}})

    def unknown(p):
        return raised(p.TracedMeta, "Name", (), {"__trace_args__": {"name": "x", "nonsense": 1}, "f": lambda self: 1})[0]

    def bad_calls(p):
        return [raised(call)[0] for call in (lambda: p.trace(), lambda: p.Trace(), lambda: p.start(), lambda: p.start("a", {}, 1),
                                             lambda: p.stop(1, 2), lambda: p.start("a", nonsense=1), lambda: p.init())]
    for case in (twice, twice_allowed, again, no_name, unknown, bad_calls):
        real, ours = case(profiler), case(trace)
        assert real == ours, (case, real, ours)


def test_traced_meta_as_osprofiler():
    def work(p):
        for options in ({"name": "rpc"}, {"name": "rpc", "info": {"x": 1}, "hide_args": True, "trace_private": True},
                        {"name": "rpc", "hide_result": False, "allow_multiple_trace": False}):
            class Base(metaclass=p.TracedMeta):
                __trace_args__ = options

                def base(self):
                    return 1

            class Class(Base):
                def public(self):
                    return self._private()

                def _private(self):
                    return 2

                @staticmethod
                def static():
                    return 3
            assert (Class().base(), Class().public(), Class.static()) == (1, 2, 3)
    same(work)
