"""Calls are counted exactly: what cProfile counts for the script's own functions, we count."""
import json
import os
import subprocess

import pytest
from conftest import VENTURI

# A program with a bit of everything that can be called.
PROGRAM = """
import sys

def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)

def even(n): return True if n == 0 else odd(n - 1)
def odd(n): return False if n == 0 else even(n - 1)

def numbers(n):
    for at in range(n):
        yield at

def delegating(n):
    yield from numbers(n)
    yield from numbers(n)

def raises(depth):
    if depth == 0:
        raise ValueError
    raises(depth - 1)

def catches():
    try:
        raises(5)
    except ValueError:
        return 1

class Thing:
    count = 0
    def __init__(self): self.value = 1
    def method(self): return self.value
    @staticmethod
    def static(): return 1
    @classmethod
    def of_class(cls): return cls()
    @property
    def prop(self): return self.method()
    def __add__(self, other): return self.prop + other.prop
    def __len__(self): return 3
    def __iter__(self): return numbers(2)

def with_default(a, b=1, *args, **kwargs): return a + b

def closure(n):
    def inner(): return n
    return inner() + inner()

def unfinished():
    generator = numbers(10)
    next(generator)
    next(generator)
    generator.close()

def thrown():
    generator = numbers(10)
    next(generator)
    try:
        generator.throw(KeyError)
    except KeyError:
        pass

async def step(n):
    return n

async def coroutine(n):
    total = 0
    for at in range(n):
        total += await step(at)
    return total

def drive(awaitable):
    try:
        awaitable.send(None)
    except StopIteration as end:
        return end.value

def everything():
    fib(10)
    even(7)
    list(delegating(5))
    sum(at for at in numbers(4))
    catches()
    things = [Thing() for _ in range(3)]
    things[0] + things[1]
    len(things[0]); list(things[2]); Thing.static(); Thing.of_class()
    sorted(range(5), key=lambda value: -value)
    list(map(with_default, [1, 2, 3]))
    with_default(1, 2, 3, x=4)
    closure(1)
    unfinished()
    thrown()
    drive(coroutine(6))
    exec("def made(): return fib(2)\\nmade()", globals())

def deep(n):
    return 0 if n == 0 else 1 + deep(n - 1)

def main():
    for _ in range(3):
        everything()
    deep(300)
"""

IMPORTED = ("<module>", "Thing")  # what runs when the program is imported, which cProfile is not told to see

CPROFILE = """
import cProfile, json, program
profile = cProfile.Profile(builtins=False)
profile.runcall(program.main)
profile.create_stats()
print(json.dumps([[*key, *row[:2], sorted([*caller, *numbers[:2]] for caller, numbers in row[4].items() if caller[0] == program.__file__)]
                  for key, row in profile.stats.items() if key[0] == program.__file__]))
"""


def both(run, options=()):
    run.script(PROGRAM, "program.py")
    run.script("import program\nprogram.main()\n")
    reference = run.alone("-c", CPROFILE)
    assert reference.returncode == 0, reference.stderr
    expected = {(line, name): (cc, nc, callers) for _, line, name, cc, nc, callers in json.loads(reference.stdout)}
    done = run("script.py", options=options)
    assert (done.returncode, done.stderr) == (0, "")
    rows = [row for row in run.profile().functions if row["file"].endswith("/program.py")]
    return expected, [row for row in rows if row["name"] not in IMPORTED]


@pytest.mark.parametrize("options", [(), ("--builtins",), ("--timeline",), ("--only-mine",)],
                         ids=["plain", "builtins", "timeline", "only-mine"])
def test_same_as_cprofile(run, options):
    expected, rows = both(run, options)
    found = {(row["line"], row["name"]): (row["pcalls"], row["ncalls"]) for row in rows}
    assert found == {key: value[:2] for key, value in expected.items()}


def test_callers_are_the_same(run):
    expected, rows = both(run)
    for row in rows:
        callers = sorted([who["file"], who["line"], who["name"], who["ncalls"], who["pcalls"]] for who in row["callers"]
                         if who["file"] == row["file"] and who["name"] not in IMPORTED)
        assert callers == expected[(row["line"], row["name"])][2], row["name"]


def test_built_in_functions(run):
    run.script("""
        def f(values):
            values.append(len(values))
            return sorted(values)
        values = []
        for _ in range(100):
            f(values)
    """)
    run("script.py", options=["--builtins"])
    names = {row["name"]: sum(who["ncalls"] for who in row["callers"] if who["name"] == "f")
             for row in run.profile().functions if row["language"] == "builtin"}
    assert names["<method 'append' of 'list' objects>"] == 100
    assert names["<built-in method builtins.len>"] == 100
    assert names["<built-in method builtins.sorted>"] == 100
    run("script.py")
    assert not [row for row in run.profile().functions if row["language"] == "builtin"]


def test_filters(run):
    run.script("def one(): pass\n", "mine/one.py")
    run.script("def two(): pass\n", "mine/two.py")
    run.script("""
        import json, sys
        sys.path.insert(0, "mine")
        import one, two
        def mine():
            one.one()
            two.two()
            json.dumps({1: [2]})
        mine()
    """)
    def seen(*options):
        assert run("script.py", options=options).stderr == ""
        profile = run.profile()
        return {name: bool(profile.calls(file).get(name)) for name, file in
                (("mine", "script.py"), ("one", "one.py"), ("two", "two.py"), ("dumps", "__init__.py"))}
    assert seen() == {"mine": True, "one": True, "two": True, "dumps": True}
    assert seen("--only-mine") == {"mine": True, "one": True, "two": True, "dumps": False}
    assert seen("--include", "*/mine/*") == {"mine": False, "one": True, "two": True, "dumps": False}
    assert seen("--include", "*/mine/*", "--include", "*/script.py") == {"mine": True, "one": True, "two": True, "dumps": False}
    assert seen("--exclude", "*/two.py") == {"mine": True, "one": True, "two": False, "dumps": True}
    assert seen("--only-mine", "--exclude", "*/o*.py") == {"mine": True, "one": False, "two": True, "dumps": False}


def test_no_functions(run):
    run.script("def f(): pass\nf()\nimport sys\nprint([name for name in sys.modules if 'venturi' in name])\n")
    done = run("script.py", options=["--no-functions"])
    assert (done.stdout, done.stderr) == ("[]\n", "")
    assert run.profile().functions == []


def test_functions_with_the_same_name_and_line(run):
    run.script("f, g = (lambda: 1), (lambda: 2)\nfor _ in range(3): f()\nfor _ in range(5): g()\n")
    run("script.py")
    rows = [row for row in run.profile().functions if row["file"].endswith("script.py") and "<lambda>" in row["name"]]
    assert sorted(row["ncalls"] for row in rows) == [3, 5]


def test_times(run):
    """Sleeping takes as long as it takes, for every way of counting it."""
    run.script("""
        import time
        def sleeper(): time.sleep(0.1)
        def outer():
            sleeper()
            sleeper()
        outer()
    """)
    run("script.py")
    profile = run.profile()
    sleeper, outer = profile.row("sleeper"), profile.row("outer")
    assert 0.2 <= sleeper["tottime"] < 2 and 0.2 <= sleeper["cumtime"] < 2
    assert sleeper["cumtime"] <= outer["cumtime"] < 2 and outer["tottime"] < 0.1
    assert 0.1 <= sleeper["min"] <= sleeper["p50"] <= sleeper["p99"] <= sleeper["max"] < 2


def on_a_terminal(command):
    """What a command shows there."""
    master, slave = os.openpty()
    done = subprocess.Popen(command, stdin=slave, stdout=slave, stderr=subprocess.DEVNULL)
    os.close(slave)
    shown = b""
    try:
        while more := os.read(master, 4096):
            shown += more
    except OSError:
        pass  # its end
    os.close(master)
    assert done.wait(60) == 0
    return shown.decode()


def test_name_with_a_line_end_stays_in_its_row(run):
    run.script("def f(): pass\n"
               "type(f)(f.__code__.replace(co_name='one\\n    9    9.999    9.999    9.999 two'), {})()\n")
    run("script.py")
    shown = on_a_terminal([VENTURI, "stats", run.output])
    assert r"(one\n    9    9.999" in shown
    assert not any(line.startswith("    9    9.999") for line in shown.splitlines())
