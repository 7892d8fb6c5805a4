"""Python 3.12 runs some pairs of instructions as one; our hook leaves them so, and other tools miss nothing by that."""
import textwrap

import pytest
from test_hooks import result

LOOP = """
    import dis
    def loop(count):
        a = b = 0
        while a < count:
            b = b + a
            a += 1
        return a, b, 1, a
    def shape(function):
        return [one.opname.replace("INSTRUMENTED_", "") for one in dis.get_instructions(function, adaptive=True)]
    def pairs(function): return sum("__" in name for name in shape(function))
    def warm():
        for _ in range(20): loop(20)
    """


def needs_pairs(python):
    if python.version != (3, 12):
        pytest.skip("only Python 3.12 parts pairs of instructions")


def text(body):
    return textwrap.dedent(LOOP) + textwrap.dedent(body)


def test_instructions_are_those_without_us(python):
    needs_pairs(python)
    same, count, compiled = result(python, text("""
        warm()
        before, code = shape(loop), loop.__code__.co_code
        with profiled() as p:
            warm()
            within, count = shape(loop), pairs(loop)
        tell([before == within, count, code == loop.__code__.co_code])
        """))
    assert same and count > 5 and compiled


def test_code_that_runs_already(python):
    needs_pairs(python)
    assert result(python, text("""
        def outer():
            a = b = 1
            before = pairs(outer)
            with profiled():
                within = pairs(outer)
            return [a + b, before > 0, before == within]
        tell(outer())
        """)) == [2, True, True]


@pytest.mark.parametrize("is_first", [True, False], ids=["before", "after"])
@pytest.mark.parametrize("events", ["LINE", "INSTRUCTION"])
def test_another_tool_misses_nothing(python, events, is_first):
    """It comes before us or while we count. A pair may be the end of a line and the beginning of the next."""
    needs_pairs(python)
    assert result(python, text("""
        m, seen = sys.monitoring, []
        def start():
            m.use_tool_id(1, "other")
            m.register_callback(1, m.events.%s, lambda code, at: seen.append(at))
            m.set_local_events(1, loop.__code__, m.events.%s)
        def stop():
            m.set_local_events(1, loop.__code__, 0)
            m.free_tool_id(1)
        def told():
            del seen[:]
            loop(3)
            return list(seen)
        warm(), start()
        alone = told()
        stop()
        if %r: start()
        with profiled() as p:
            warm()
            if not %r: start()
            beside = told()
            stop(), warm()
        tell([len(alone) > 10, beside == alone, p.calls("loop")])
        """ % (events, events, is_first, is_first))) == [True, True, 41]


def test_a_trace_function_sees_every_line(python):
    needs_pairs(python)
    assert result(python, text("""
        seen = []
        def trace(frame, event, argument):
            if frame.f_code is loop.__code__ and event == "line": seen.append(frame.f_lineno - loop.__code__.co_firstlineno)
            return trace
        with profiled() as p:
            warm()
            sys.settrace(trace)
            loop(2)
            sys.settrace(None)
            warm()
        tell([seen, p.calls("loop")])
        """)) == [[1, 2, 3, 4, 2, 3, 4, 2, 5], 41]
