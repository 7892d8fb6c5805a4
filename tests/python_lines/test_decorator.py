"""What @profile takes, that it gives it back, and how programs come to it."""
import os
import zipfile

import pytest
from conftest import VENTURI, Lines

KINDS = """
    import functools

    def mark(function):
        @functools.wraps(function)
        def wrapper(*args):
            return function(*args)
        return wrapper

    def plain(n):
        n += 1
        return n
    assert profile(plain) is plain

    class A:
        @profile
        def method(self):
            return 1

        @profile
        @staticmethod
        def static():
            return 2

        @classmethod
        @profile
        def of_class(cls):
            return 3

        @profile
        @property
        def value(self):
            return 4

        @value.setter
        def value(self, given):
            self.given = given

        @profile
        @functools.cached_property
        def cached(self):
            return 5

        @profile
        def __new__(cls):
            return object.__new__(cls)

    @profile
    class B:
        class Inner:
            def deep(self):
                return 1

        def one(self):
            return self.Inner().deep()

        @staticmethod
        def two():
            return 2
        imported = staticmethod(functools.reduce)

    @profile
    @functools.lru_cache
    def remembered(n):
        return n

    def added(a, b):
        return a + b
    part = functools.partial(added, 1)
    assert profile(part) is part

    @mark
    @profile
    def under(n):
        return n

    @profile
    @mark
    def over(n):
        return n

    a = A()
    plain(1), a.method(), A.static(), A.of_class(), a.value, a.cached, a.cached
    a.value = 3
    B().one(), B.two()
    remembered(1), remembered(1), part(2), under(1), over(1), over.__wrapped__(2)
    assert type(plain).__name__ == "function" and isinstance(plain, type(mark)) and plain.__name__ == "plain"
    for other in (3, "text", None, len):
        assert profile(other) is other
"""


def test_kinds(run):
    table = run(KINDS)
    called = {function["name"]: function["calls"] for function in table.functions if function["calls"]}
    names = {"plain": 1, "A.method": 1, "A.static": 1, "A.of_class": 1, "A.value": 1, "A.cached": 1, "A.__new__": 1,
             "B.one": 1, "B.two": 1, "B.Inner.deep": 1, "remembered": 1, "added": 1, "under": 1}
    for name, calls in names.items():
        assert called.get(name) == calls, (name, called)
    # The function that was given, not the one that it wraps.
    assert "over" in called or "mark.<locals>.wrapper" in called
    assert table.hits("plain") == {1: 1, 2: 1}


def test_off_costs_nothing(run):
    """Without the tool nothing is loaded or recorded, and functions stay as they are."""
    done = run.alone("""
        import sys
        from venturi import profile
        def f(): return 1
        code = f.__code__
        assert profile(f) is f and f.__code__ is code and type(f) is type(lambda: 0) and f() == 1
        assert "venturi._venturi" not in sys.modules and "ast" not in sys.modules
        print(sorted(name for name in sys.modules if name.startswith("venturi")))
    """)
    assert done.stdout.strip() == "['venturi', 'venturi.lines']"
    assert not [name for name in os.listdir(run.folder) if name != "script.py"]


@pytest.mark.parametrize("is_installed", [False, True])
def test_line_profiler(run, is_installed):
    """The decorator of line_profiler is ours, whether that is installed or not."""
    if is_installed:
        run.write("def profile(function):\n    raise RuntimeError('not ours')\nclass LineProfiler: pass\n",
                  "line_profiler/__init__.py")
    table = run("""
        import line_profiler
        from line_profiler import profile, LineProfiler
        import builtins
        assert profile is builtins.profile is line_profiler.profile
        @profile
        def f():
            return 1
        f()
        if %r:
            given = LineProfiler()
            def g():
                return 2
            given.add_function(g)
            g()
    """ % (not is_installed))
    assert "f" in table.names() and ("g" in table.names()) is not is_installed


def test_in_child_processes(run):
    table = run("""
        import multiprocessing, os, subprocess, sys
        @profile
        def f(n):
            return n
        if __name__ == "__main__":
            with multiprocessing.get_context("spawn").Pool(1) as pool:
                pool.map(f, range(3))
            with multiprocessing.get_context("fork").Pool(1) as pool:
                pool.map(f, range(4))
            subprocess.run([sys.executable, __file__, "child"], check=True)
            f(0)
        if sys.argv[1:] == ["child"]:
            f(1)
    """.replace('if __name__ == "__main__":', 'if __name__ == "__main__" and not sys.argv[1:]:'))
    assert sum(row["hits"] for function in table.functions for row in function["lines"]) == 9


PACKAGE_FILES = {
    "app/__init__.py": "def top():\n    return 1\n",
    "app/work.py": """
        import functools
        def plain(n):
            return n + 1
        @functools.lru_cache
        def cached(n):
            return n
        class Worker:
            def run(self):
                return plain(1)
            def idle(self):
                return 0
    """,
    "other.py": "def elsewhere():\n    return 1\n",
}
USES = """
    import app.work, other
    def own(n):
        return [k for k in range(n)]
    class Local:
        def method(self):
            def nested():
                return 1
            return nested()
    app.top(), app.work.plain(1), app.work.cached(1), app.work.Worker().run(), app.work.Worker().idle()
    other.elsewhere(), own(2), Local().method()
"""


@pytest.mark.parametrize("target, names", [
    ("app", ["Worker.idle", "Worker.run", "cached", "plain", "top"]),
    ("app.work", ["Worker.idle", "Worker.run", "cached", "plain"]),
    ("app.work.plain", ["plain"]),
    ("app.work.cached", ["cached"]),
    ("app.work.Worker", ["Worker.idle", "Worker.run"]),
    ("app.work.Worker.run", ["Worker.run"]),
    ("script.py", ["Local.method", "Local.method.<locals>.nested", "own"]),
    ("own", ["own"]),
    ("__main__.Local", ["Local.method", "Local.method.<locals>.nested"]),
])
def test_named_by_option(run, target, names):
    for name, text in PACKAGE_FILES.items():
        run.write(text, name)
    table = run(USES, options=("-p", target))
    assert [function["name"] for function in sorted(table.functions, key=lambda each: each["name"])
            if function["calls"]] == names


def test_named_in_vain(run):
    run.run([VENTURI, "run", "-q", "-f", "-l", "-o", str(run.output), "--python", run.python, "-p", "nothing.like.it",
             str(run.write("print(1)"))], 0, None)
    assert run.run([VENTURI, "lines", str(run.output)], 2, None).stderr.count("\n") == 1


def test_named_in_spawned_children(run):
    table = run("""
        import multiprocessing
        def f(n):
            return n
        if __name__ == "__main__":
            with multiprocessing.get_context("spawn").Pool(1) as pool:
                pool.map(f, range(3))
    """, options=("-p", "script.py"))
    assert sum(row["hits"] for function in table.functions for row in function["lines"]) == 3


def test_environment(run):
    """LINE_PROFILE=1 shows and writes at the end what line_profiler would, and nothing else."""
    text = """
        from venturi import profile
        @profile
        def f(n):
            for i in range(n):
                n += i
            return n
        f(3)
    """
    done = run.alone(text, LINE_PROFILE="1")
    assert "script.py:3 - f\n" in done.stdout and "Function:" not in done.stdout, done.stdout + done.stderr
    made = sorted(os.listdir(run.folder))
    stamped = [name for name in made if name.startswith("profile_output_") and name.endswith(".txt")]
    assert len(stamped) == 1 and made == ["profile_output.lprof", "profile_output.txt", *stamped, "script.py"]
    table = (run.folder / "profile_output.txt").read_text()
    assert "Function: f at line 3" in table and "     5         4" in table
    assert not run.alone(text, LINE_PROFILE="0").stdout


def test_own_recording(run):
    done = run.alone("""
        import os, subprocess, sys
        from venturi import profile
        @profile
        def f(n):
            return n
        f(3)
        if sys.argv[1:]:
            sys.exit()
        subprocess.run([sys.executable, __file__, "child"], check=True)
        if os.fork() == 0:
            f(4)
            raise SystemExit
        os.wait()
        f(5)
    """, VENTURI_LINES="mine.vt")
    assert not done.stdout and done.stderr.startswith("venturi: mine.vt  ") and done.stderr.count("\n") == 1, done.stderr
    assert Lines(run.folder / "mine.vt").hits("f") == {2: 4}


OWN = """
    from venturi import profile
    @profile()
    def f(n):
        return n
    f(3)
"""


def test_own_recording_by_other_names(run):
    assert run.alone(OWN, VENTURI_LINES="mine.lprof").stderr.count("\n") == 1
    assert Lines(run.folder / "mine.lprof").hits("f") == {2: 1}
    before = (run.folder / "mine.lprof").read_bytes()
    assert "mine.lprof: already exists" in run.alone(OWN, VENTURI_LINES="mine.lprof").stderr
    assert (run.folder / "mine.lprof").read_bytes() == before
    for value in ("", "0"):
        assert not run.alone(OWN, VENTURI_LINES=value).stderr
    assert sorted(os.listdir(run.folder)) == ["mine.lprof", "script.py"]
    run.alone(OWN, VENTURI_LINES="1")
    made = [name for name in os.listdir(run.folder) if name.startswith("script-") and name.endswith(".vt")]
    assert len(made) == 1 and Lines(run.folder / made[0]).hits("f") == {2: 1}


def test_text_of_option_c(run):
    run.run([VENTURI, "run", "-q", "-l", "-o", str(run.output), "--python", run.python, "-c",
             "@profile\ndef f(n):\n    return (n +\n        1)\nf(2)"], 0, None)
    function = Lines(run.output).of("f")
    assert function["source"] == "stored" and {row["line"]: row["hits"] for row in function["lines"] if row["hits"]} == {3: 1}


def test_named_module_has_inner_functions(run):
    run.write("""
        def outer():
            def inner():
                return 1
            return inner()
    """, "nested.py")
    uses = "import nested\nnested.outer()\n"
    assert run(uses, options=("-p", "nested")).names() == ["outer", "outer.<locals>.inner"]
    assert run(uses, options=("-p", "nested.outer.<locals>.inner")).names() == ["outer.<locals>.inner"]


def test_switched_by_hand(run):
    done = run.alone("""
        from venturi import profile
        @profile
        def f(n):
            return n
        f(1)
        profile.enable(output_prefix="by_hand")
        f(2)
        f(3)
        profile.disable()
        f(4)
        profile.print_stats()
        profile.dump_stats("x.lprof")
    """)
    assert done.stdout.count("Function: f at line 3") == 1, done.stdout + done.stderr
    assert Lines(run.folder / "by_hand.lprof").hits("f") == {2: 2}
    assert os.path.exists(run.folder / "x.lprof")


# ---- texts ---------------------------------------------------------------------------------------------


def test_source_is_stored(run):
    function = run("""
        @profile
        def f():
            return "\u00e4"
        f()
    """).of("f")
    assert function["source"] == "stored" and function["text"][-1].strip() == 'return "\u00e4"'
    assert function["last_line"] == 4


def test_no_source(run):
    """Lines are counted without any text; nothing is made up."""
    function = run("""
        names = {"profile": profile}
        exec("@profile\\ndef f(n):\\n    for i in range(n):\\n        n += 1\\n    return (n +\\n        1)", names)
        names["f"](2)
    """).of("f")
    assert function["source"] != "stored"
    hits = {row["line"]: row["hits"] for row in function["lines"] if row["hits"]}
    assert hits[3] == 3 and hits[4] == 2


def test_text_from_elsewhere(run):
    """A cell of a notebook, and a module in a zip archive."""
    with zipfile.ZipFile(run.folder / "lib.zip", "w") as archive:
        archive.writestr("zipped.py", "def f(n):\n    return (n +\n        1)\n")
    table = run("""
        import linecache, sys
        text = "@profile\\ndef cell(n):\\n    x = [n,\\n        n]\\n    return x\\n"
        linecache.cache["<ipython-input-1>"] = (len(text), None, text.splitlines(True), "<ipython-input-1>")
        names = {"profile": profile}
        exec(compile(text, "<ipython-input-1>", "exec"), names)
        names["cell"](1)
        sys.path.insert(0, "lib.zip")
        import zipped
        profile.add_module(zipped)
        zipped.f(1)
    """)
    assert table.of("cell")["source"] == "stored" and table.hits("cell") == {2: 1, 4: 1}
    assert table.of("f")["source"] == "stored" and table.hits("f") == {1: 1}


@pytest.mark.parametrize("text", ["# one\\n# two\\n# three\\ndef f(n):\\n    return n\\n",
                                  "def f(n):\\n    y = n\\n    return y + 1\\n", "def f(:\\n"])
def test_changed_text(run, text):
    """A text that the code is not from is not stored."""
    run.write("def f(n):\n    x = n\n    return x\n", "lib.py")
    function = run("""
        import lib
        with open("lib.py", "w") as file:
            file.write("%s")
        profile(lib.f)
        lib.f(1)
    """ % text).of("f")
    assert function["source"] != "stored"
    assert {row["line"]: row["hits"] for row in function["lines"] if row["hits"]} == {2: 1, 3: 1}


def test_compiled_only(run):
    """No text beside the compiled module; one in an encoding that is not what it says."""
    run.write("def f(n):\n    return n\n", "only.py")
    table = run("""
        import os, py_compile
        py_compile.compile("only.py", "only.pyc")
        os.remove("only.py")
        import only
        profile(only.f)
        only.f(1)
        source = b"# coding: latin-1\\ndef g(n):\\n    return '\\xe4' + n\\n"
        with open("latin.py", "wb") as file:
            file.write(source)
        names = {"profile": profile}
        exec(compile(source, "latin.py", "exec"), names)
        profile(names["g"])("x")
        with open("broken.py", "wb") as file:
            file.write(b"# coding: utf-8\\ndef h(n):\\n    return '\\xe4' + n\\n")
        exec(compile("# one\\ndef h(n):\\n    return n\\n", "broken.py", "exec"), names)
        profile(names["h"])("x")
    """)
    assert table.of("f")["source"] != "stored" and table.hits("f") == {1: 1}
    assert table.of("g")["text"][-1] == "    return '\u00e4' + n" and table.hits("g") == {1: 1}
    assert table.of("h")["source"] != "stored" and table.hits("h") == {1: 1}


def test_same_code_twice(run):
    """Functions that are alike but stand elsewhere; one that is made again and again; one that is defined anew."""
    table = run("""
        @profile
        def a(n):
            return n
        @profile
        def b(n):
            return n
        def make():
            @profile
            def inner(n):
                return n
            return inner
        for i in range(50):
            make()(1)
        a(1); b(1); b(2)
        for i in range(30):
            names = {"profile": profile}
            exec(compile("@profile\\ndef again(n):\\n    return n\\n", "again.py", "exec"), names)
            names["again"](1)
    """)
    assert table.hits("a") == {2: 1} and table.hits("b") == {2: 2} and table.hits("make.<locals>.inner") == {2: 50}
    assert sum(row["hits"] for each in table.functions if each["name"] == "again" for row in each["lines"]) == 30
