"""Threads, processes, greenlets, filters, times, and other tools beside us."""
import os
import textwrap

HERE = os.path.dirname(os.path.abspath(__file__))
KIT = "import sys\nsys.path.insert(0, %r)\nfrom kit import profiled, tell, _venturi\n" % HERE


def result(python, text, *args, **options):
    return python.result(*args, text=KIT + textwrap.dedent(text), **options)


def test_threads_have_their_own_stacks(python):
    assert result(python, """
        import threading
        def inner(n): return n
        def one():
            for i in range(2000): inner(i)
        def two():
            for i in range(3000): inner(i)
        def nothing(): pass
        with profiled() as p:
            threads = [threading.Thread(target=f) for f in (one, two, one)]
            [t.start() for t in threads]
            [t.join() for t in threads]
            nothing()
        run = p.callers("run")
        tell([p.calls("inner"), p.callers("inner"), p.calls("one"), p.callers("one"), p.callers("nothing")])
        """) == [7000, {"one": 4000, "two": 3000}, 2, {"run": 2}, {}]


def test_threads_that_were_there_before(python):
    assert result(python, """
        import queue, threading
        tasks, done = queue.SimpleQueue(), queue.SimpleQueue()
        def task(): return 1
        def worker():
            while tasks.get(): done.put(task())
        thread = threading.Thread(target=worker)
        thread.start()
        tasks.put(1), done.get()
        with profiled() as p:
            for _ in range(5): tasks.put(1), done.get()
        tasks.put(1), done.get()
        tasks.put(0)
        thread.join()
        tell([p.calls("task"), p.callers("task"), p.has("worker")])
        """) == [5, {}, False]


def test_one_thread_only(python):
    assert result(python, """
        import threading
        def here(): pass
        def there(): here(), tids.append(threading.get_native_id())
        tids = []
        with profiled() as p:
            here()
            thread = threading.Thread(target=there)
            thread.start(), thread.join()
        numbers = {thread[1]: thread[0] for thread in _venturi.threads(p.after)}
        rows = _venturi.profile([(p.after, p.before)], thread=numbers[tids[0]])
        main = _venturi.profile([(p.after, p.before)], thread=numbers[threading.get_native_id()])
        tell([[row[6] for row in rows if row[2] == "here"], [row[6] for row in main if row[2] == "here"],
              [row[6] for row in main if row[2] == "there"]])
        """) == [[1], [1], []]


def test_fork(python):
    assert result(python, """
        import os
        def task(): pass
        def child():
            for _ in range(3): task()
        with profiled() as p:
            task()
            reading, writing = os.pipe()
            if os.fork() == 0:
                before = _venturi.snapshot()
                child()
                rows = {row[2]: row[6] for row in _venturi.profile([(_venturi.snapshot(), before)])}
                os.write(writing, repr([rows.get("task"), rows.get("child")]).encode())
                os._exit(0)
            os.wait()
            task()
        tell([p.calls("task"), p.has("child"), os.read(reading, 100).decode()])
        """) == [2, False, "[3, 1]"]


def test_times(python):
    own, total, napping, caller, suspended, resumed = result(python, """
        import time
        def spin(seconds):
            end = time.perf_counter() + seconds
            while time.perf_counter() < end: pass
        def outer():
            spin(0.02)
            for _ in range(3): inner()
        def inner():
            spin(0.01)
        def nap():
            time.sleep(0.03)
        def slow():
            spin(0.01)
            yield 1
            spin(0.01)
        def suspend():
            for _ in slow(): time.sleep(0.05)
        with profiled() as p:
            outer(), nap(), suspend()
        tell([p.total("inner"), p.total("outer"), p.total("nap"), p.own("outer"), p.named("slow")[10],
              p.total("slow")])
        """)
    # A busy machine makes things longer, never shorter.
    assert 0.0299 < own < total and 0.0499 < total
    assert 0.0299 < napping
    assert caller < total - own - 0.0199 + 0.001
    assert 0.0499 < suspended and 0.0199 < resumed


def test_our_cost_is_taken_off(python):
    raw, clean, pair, inner = result(python, """
        def empty(): pass
        def many():
            for _ in range(20000): empty()
        with profiled() as p: many()
        raw = [row[8] for row in _venturi.profile([(p.after, p.before)], raw=True) if row[2] == "many"][0]
        cost = _venturi.info()["python_cost"]
        tell([raw, p.total("many"), cost["pair"], cost["inner"]])
        """)
    assert 0 < inner <= pair < 1e-5
    assert 0 < clean < raw
    assert raw - clean < 20002 * pair * 1.01, "no more than what was measured"


def test_percentiles(python):
    row = result(python, """
        def f(n): return sum(range(n))
        with profiled() as p:
            for i in range(100): f(10 if i % 10 else 20000)
        tell(p.named("f")[:17])
        """)
    shortest, longest, p50, p90, p99 = row[11:16]
    assert 0 <= shortest <= p50 <= p90 <= p99 <= longest and p99 > 10 * p50


def test_filters(python):
    assert result(python, """
        import json, re
        class A:
            def keep(self): return self.drop()
            def drop(self): return leaf()
        def leaf(): return 1
        def work(): A().keep(), json.dumps({1: [2]}, indent=1)
        def names(**options):
            with profiled(**options) as p: work()
            return sorted(row[2] for row in p.rows if row[4] == "python" and row[0] == "<string>"), \
                any("json" in row[0] for row in p.rows), p
        tell([names()[:2], names(only_mine=True)[:2], names(include=("keep", "A.keep", "leaf"))[0],
              names(exclude=("*drop", "*/json/*"))[:2], names(include=("json/*.py",))[:2],
              names(exclude=["drop", "A.drop"])[2].callers("leaf"), names()[2].callers("leaf")])
        """) == [[["drop", "keep", "leaf", "work"], True], [["drop", "keep", "leaf", "work"], False],
                 ["keep", "leaf"], [["keep", "leaf", "work"], False], [[], True], {"keep": 1}, {"drop": 1}]


def test_builtins_of_ignored_code_are_ignored(python):
    assert result(python, """
        def drop(): return len(())
        def keep(): return len(()), drop()
        with profiled(builtins=True, exclude=("drop",)) as p:
            for _ in range(3): keep()
        tell([p.callers("<built-in method builtins.len>"), p.has("drop")])
        """) == [{"keep": 3}, False]


def test_call_site_that_changes(python):
    """A site that calls a Python function, then a built-in one: both are counted."""
    assert result(python, """
        def python(x): return x
        def site(f): return f(())
        def run():
            for f in (python, len, python, len, len, str.join, repr):
                try: site(f)
                except TypeError: pass
        with profiled(builtins=True) as p:
            for _ in range(200): run()
        tell([p.calls("python"), p.callers("<built-in method builtins.len>"), p.calls("<built-in method builtins.repr>")])
        """) == [400, {"site": 600}, 200]


def test_nested_starts(python):
    assert result(python, """
        def f(): pass
        with profiled() as outer:
            f()
            with profiled() as inner: f()
            f()
        f()
        tell([outer.calls("f"), inner.calls("f"), _venturi.info()["starts"]])
        """) == [3, 1, 0]


def test_started_and_stopped_deep_down(python):
    """What was open at a stop is not the caller of what comes after the next start."""
    assert result(python, """
        def leaf(): pass
        def stops(p):
            leaf()
            p.__exit__(None, None, None)
            leaf()
        first = profiled(); rows = first.__enter__()
        stops(first)
        leaf()
        with profiled() as second: leaf()
        tell([rows.callers("leaf"), second.callers("leaf"), second.calls("leaf")])
        """) == [{"stops": 1}, {}, 1]


def test_stop_without_start(python):
    done = python.run(text="from venturi import _venturi\n_venturi.stop()", check=1)
    assert "RuntimeError: stop() without start()" in done.stderr


def test_wrong_arguments(python):
    for call, error in (("start(include='x')", "TypeError"), ("start(include=[1])", "TypeError"),
                        ("start(exclude=['x'] * 300)", "ValueError"), ("profile(1)", "TypeError"),
                        ("profile(_venturi.snapshot(), 1)", "TypeError"), ("load('/nowhere.vt')", "OSError"),
                        ("load(%r)" % __file__, "ValueError"), ("load('x', thread='y')", "TypeError")):
        done = python.run(text="from venturi import _venturi\n_venturi." + call, check=1)
        assert done.stderr.splitlines()[-1].startswith(error), (call, done.stderr)
        assert python.run(text="from venturi import _venturi\n_venturi.start()\n_venturi.stop()").stderr == ""


def test_nothing_is_recorded(python):
    """Hooks that are on while nobody asks for calls do no harm, and begin to count when somebody does."""
    assert result(python, """
        def f(): pass
        _venturi.start()
        f()
        with profiled() as p: f()
        f()
        _venturi.stop()
        tell(p.calls("f"))
        """) == 1


def test_names_of_methods(python):
    found = result(python, """
        class A:
            def run(self): pass
            @classmethod
            def make(cls): return cls()
            @staticmethod
            def plain(): pass
        class B(A):
            def run(self): super().run()
        def outer():
            def inner(): pass
            inner()
        with profiled() as p:
            B.make().run(), A.plain(), outer()
        tell(sorted(row[3] for row in p.rows if row[0] == "<string>"))
        """)
    if python.version >= (3, 11):
        assert found == ["A.make", "A.plain", "A.run", "B.run", "outer", "outer.<locals>.inner"]
    else:  # code objects do not know; what the first argument and the globals tell
        assert found == ["A.make", "A.run", "B.run", "inner", "outer", "plain"]


def test_strange_names(python):
    assert result(python, r"""
        code = compile("def f(): pass\nf()", "caf\u00e9 \udcff.py", "exec")
        with profiled() as p: exec(code, {})
        tell([row[0] for row in p.rows if row[2] == "f"])
        """) == ["caf\u00e9 \\udcff.py"]


def test_exit_while_on(python):
    for end in ("sys.exit(3)", "import os; os._exit(3)", "raise SystemExit(3)"):
        python.run(text=KIT + "_venturi.calls_start(); _venturi.start(builtins=True)\ndef f(): %s\nf()" % end, check=3)


def test_threads_at_exit(python):
    """Daemon threads run on while the interpreter goes away."""
    python.run(text=KIT + textwrap.dedent("""
        import threading
        def f(): pass
        def run():
            while True: f()
        _venturi.calls_start(); _venturi.start(builtins=True)
        for _ in range(4): threading.Thread(target=run, daemon=True).start()
        """))
