"""venturi.trace: greenlets have contexts of their own."""
import contextvars

import greenlet
import kit
from kit import BASE, KEY, PARENT
from venturi import trace


def ids():
    here = trace.get()
    return (here.get_base_id(), here.get_id()) if here else None


def take_turns(*functions):
    """Each runs in a greenlet of its own, which gives way to the next whenever it switches to its parent."""
    running = [greenlet.greenlet(function) for function in functions]
    while running:
        for one in list(running):
            one.switch()
            if one.dead:
                running.remove(one)


def give_way():
    """And we are where we were."""
    before = ids()
    greenlet.getcurrent().parent.switch()
    assert ids() == before


@trace.trace("generator")
def generate(count):
    for i in range(count):
        give_way()
        yield i


@trace.trace("function")
def work(depth):
    give_way()
    if depth:
        work(depth - 1)
        give_way()


def test_they_take_turns():
    variable = contextvars.ContextVar("theirs")

    def serve(base, depth):
        def run():
            assert ids() is None
            trace.init(KEY, base_id=base)
            variable.set(base)
            with trace.Trace("with " + base) as span:
                give_way()
                work(depth)
                trace.start("by hand " + base)
                give_way()
                variable.set(base + "2")
                for _ in generate(3):
                    give_way()
                trace.stop()
                assert ids() == (base, span.id) and variable.get() == base + "2"
            assert ids() == (base, base)
        return run

    def expected(base, depth):
        nested = ("function", [])
        for _ in range(depth):
            nested = ("function", [nested])
        return ("with " + base, [nested, ("by hand " + base, [("generator", [])])])
    with kit.told() as events:
        take_turns(serve(BASE, 3), serve(PARENT, 5), serve("third", 0), lambda: give_way())
    assert ids() is None
    for base, depth in ((BASE, 3), (PARENT, 5), ("third", 0)):
        assert kit.shape([event for event in events if event["base_id"] == base]) == [expected(base, depth)]


def test_one_that_is_killed():
    def run():
        trace.init(KEY, base_id=BASE)
        with trace.Trace("outer"):
            work(1)
    with kit.told() as events:
        one = greenlet.greenlet(run)
        one.switch()
        trace.init(KEY, base_id=PARENT)
        with trace.Trace("killer"):
            one.throw()
            assert ids()[0] == PARENT
    assert one.dead and kit.shape(events) == [("outer", [("function", [])]), ("killer", [])]
    ends = [event for event in events if event["name"] in ("outer-stop", "function-stop")]
    assert [event["info"].get("etype") for event in ends] == ["greenlet.GreenletExit"] * 2


def test_ones_that_are_given_a_trace():
    trace.init(KEY, base_id=BASE)
    with trace.Trace("outer") as span:
        assert greenlet.greenlet(ids).switch() is None
        assert greenlet.greenlet(trace.carry(ids)).switch() == (BASE, span.id)
        copied = greenlet.greenlet(ids)
        copied.gr_context = contextvars.copy_context()
        assert copied.switch() == (BASE, span.id)
