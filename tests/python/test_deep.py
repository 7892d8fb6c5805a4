"""Deep recursion never ends a program that would not have ended alone, and no call goes uncounted."""
import os
import textwrap

import pytest

HERE = os.path.dirname(os.path.abspath(__file__))

PROGRAM = textwrap.dedent("""
    import json, sys, threading
    sys.path.insert(0, %r)
    depth, stack, mode, shape = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3], sys.argv[4]
    sys.setrecursionlimit(10**6)
    def dive(n): return 0 if n == 0 else dive(n - 1) + 1
    def key(n): return 0 if n == 0 else max((n - 1,), key=dive_in_c) + 1
    def dive_in_c(n): return key(n)
    def go(): found.append(dive(depth) if shape == "python" else bool(dive_in_c(depth)) * depth)
    def run():
        if not stack: return go()
        threading.stack_size(stack)
        thread = threading.Thread(target=go)
        thread.start(), thread.join()
    found = []
    if mode == "alone":
        run()
        print(json.dumps(found))
    else:
        from kit import profiled
        with profiled(builtins=mode == "builtins") as p: run()
        print(json.dumps([found, p.calls("dive" if shape == "python" else "key"), p.lost]))
    """) % HERE


def check(python, depth, stack, shape):
    alone = python.run(depth, stack, "alone", shape, text=PROGRAM, check=None)
    if alone.returncode or alone.stdout != "[%d]\n" % depth:
        return False
    for mode in ("functions", "builtins"):
        found, calls, lost = python.result(depth, stack, mode, shape, text=PROGRAM)
        assert found == [depth]
        assert calls <= depth + 1
        if shape == "python":
            assert calls + lost == depth + 1
        if python.version >= (3, 11):
            assert lost == 0
    return True


@pytest.mark.parametrize("depth", [900, 6000, 15000, 20000, 100000])
def test_main_thread(python, depth):
    assert check(python, depth, 0, "python") or depth > 10000


@pytest.mark.parametrize("stack", [65536, 262144, 1 << 20, 8 << 20])
def test_threads(python, stack):
    """From the number of calls that any thread can do to one that only the later versions can."""
    assert [check(python, depth, stack, "python") for depth in (50, stack // 600, stack // 100)][0]


@pytest.mark.parametrize("stack", [0, 1 << 20])
def test_through_built_in_functions(python, stack):
    assert check(python, 300, stack, "c")
    check(python, 4000, stack, "c")


def most(works, low, high):
    """The greatest number that works, if all below it do."""
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if works(middle) else (low, middle)
    return low


@pytest.mark.parametrize("stack", [65536, 262144])
def test_near_the_end_of_the_stack(python, stack):
    """Where nine tenths of it are enough for a program alone, they are with us."""
    def works(depth):
        return python.run(depth, stack, "alone", "c", text=PROGRAM, check=None).returncode == 0
    depth = most(works, 5, stack // 100) * 9 // 10
    for mode in ("functions", "builtins"):
        assert python.result(depth, stack, mode, "c", text=PROGRAM)[0] == [depth]
