"""Other tools that watch the program at the same time: each sees what it would see alone."""

from test_hooks import KIT, result

FUNCTIONS = """
        def leaf(n): return n + 1
        def work():
            total = 0
            for i in range(10):
                total += leaf(i)
            return total
"""


def test_trace_function(python):
    alone, beside, calls = result(python, FUNCTIONS + """
        def lines():
            seen = []
            def trace(frame, event, arg):
                if frame.f_code in (work.__code__, leaf.__code__): seen.append((event, frame.f_lineno))
                return trace
            sys.settrace(trace)
            try: work()
            finally: sys.settrace(None)
            return seen
        alone = lines()
        with profiled(builtins=True) as p: beside = lines()
        tell([alone, beside, p.calls("leaf")])
        """)
    assert alone == beside and len(alone) > 50 and calls == 10


def test_profile_function(python):
    """One that was there before, one that comes later, and what sys.getprofile() says."""
    assert result(python, FUNCTIONS + """
        def events(seen):
            def profile(frame, event, arg):
                if frame.f_code in (work.__code__, leaf.__code__): seen.append(event)
            return profile
        alone, before, later = [], [], []
        sys.setprofile(events(alone)); work(); sys.setprofile(None)
        mine = events(before)
        sys.setprofile(mine)
        with profiled(builtins=True) as first:
            work()
            same = sys.getprofile() is mine
        work()
        after = sys.getprofile() is mine
        sys.setprofile(None)
        with profiled(builtins=True) as second:
            sys.setprofile(events(later)); work(); sys.setprofile(None)
            work()
        tell([before == 2 * alone, later == alone, same, after, sys.getprofile() is None, first.calls("leaf"),
              second.calls("leaf")])
        """) == [True, True, True, True, True, 10, 20]


def test_coverage(python, tmp_path):
    python.needs("coverage")
    cores = ["ctrace", "pytrace"] + (["sysmon"] if python.version >= (3, 12) else [])
    script = tmp_path / "script.py"
    script.write_text("def leaf(n):\n    if n > 5:\n        return 1\n    return n\n\n"
                      "def unused():\n    return 2\n\ndef work():\n    return sum(leaf(i) for i in range(10))\n")
    for core in cores:
        assert result(python, """
            import coverage
            watcher = coverage.Coverage(data_file=None, include=[%r])
            sys.path.insert(0, %r)
            watcher.start()
            with profiled(builtins=True) as p:
                import script
                script.work()
            watcher.stop()
            data = watcher.get_data()
            tell([p.calls("leaf"), p.calls("<built-in method builtins.sum>"),
                  sorted(data.lines(list(data.measured_files())[0]))])
            """ % (str(script), str(tmp_path)), env={"COVERAGE_CORE": core}) == [10, 1, [1, 2, 3, 4, 6, 9, 10]]


def test_debugger(python):
    done = python.run(text=KIT + """
import pdb, io
def leaf(n): return n + 1
def work(): return leaf(1) + leaf(2)
commands = io.StringIO("step\\nstep\\nstep\\nreturn\\ncontinue\\n")
debugger = pdb.Pdb(stdin=commands, stdout=io.StringIO(), nosigint=True, readrc=False)
debugger.use_rawinput = False
with profiled() as p:
    debugger.runcall(work)
tell([p.calls("leaf"), p.callers("leaf")])
""")
    assert done.stdout.splitlines()[-1] == '[2, {"work": 2}]'


def test_other_tools(python):
    """The ids of tools that are taken are left alone; ours is given back."""
    if python.version < (3, 12):
        assert result(python, "with profiled() as p: kind = _venturi.info()\ntell([kind['tool'], kind['hook']])") \
            == [-1, "frame"]
        return
    assert result(python, """
        monitoring = sys.monitoring
        def f(): pass
        tools, counts = [], []
        for taken in ((), (5,), (5, 4), (5, 4, 3), (5, 4, 3, 1)):
            for tool in taken: monitoring.use_tool_id(tool, "other")
            with profiled() as p:
                tools.append(_venturi.info()["tool"])
                f()
            counts.append(p.calls("f"))
            for tool in taken: monitoring.free_tool_id(tool)
        for tool in (0, 1, 3, 4, 5): monitoring.use_tool_id(tool, "other")
        try: _venturi.start()
        except RuntimeError as error: said = str(error)
        tell([tools, counts, said])
        """) == [[5, 4, 3, 1, 0], [1] * 5, "all tool ids of sys.monitoring are taken"]


def test_greenlets(python):
    python.needs("greenlet")
    for early in ("import greenlet", ""):
        assert result(python, early + """
        import time
        def make():
            from greenlet import greenlet
            def leaf(): pass
            def inner(other):
                leaf()
                (main if other is None else other).switch()
                leaf()
            def one(): inner(second)
            def two():
                inner(None)
                leaf()
            main = greenlet.getcurrent()
            second = greenlet(two)
            first = greenlet(one)
            first.switch()
            leaf()
            first.switch()
            second.switch()
            return first.dead, second.dead
        with profiled() as p: dead = make()
        tell([dead, p.callers("inner"), p.callers("leaf"), p.callers("one"), p.callers("two"), p.calls("inner")])
        """.replace("\n        ", "\n")) == [[True, True], {"one": 1, "two": 1}, {"inner": 4, "two": 1, "make": 1}, {}, {}, 2]


def test_greenlets_are_not_aged_by_others(python):
    python.needs("greenlet")
    slow, quick = result(python, """
        import greenlet, time
        def spin(seconds):
            end = time.perf_counter() + seconds
            while time.perf_counter() < end: pass
        def waits(): main.switch()
        def works(): spin(0.05)
        main = greenlet.getcurrent()
        with profiled() as p:
            waiting = greenlet.greenlet(waits)
            waiting.switch()
            works()
            waiting.switch()
        tell([p.total("works"), p.total("waits")])
        """)
    assert 0.0499 < slow and quick < slow  # aged, it would be the longer one


def test_greenlets_with_a_trace_function(python):
    python.needs("greenlet")
    assert result(python, """
        import greenlet
        seen = []
        def trace(event, arguments): seen.append(event)
        greenlet.settrace(trace)
        def leaf(): pass
        def run(): leaf()
        with profiled() as p: greenlet.greenlet(run).switch()
        tell([seen, p.callers("leaf")])
        """) == [["switch", "switch"], {"run": 1}]


def test_greenlets_in_threads(python):
    python.needs("greenlet")
    assert result(python, """
        import greenlet, threading
        def leaf(): pass
        def turn():
            for _ in range(50):
                leaf()
                greenlet.getcurrent().parent.switch()
        def thread():
            all = [greenlet.greenlet(turn) for _ in range(20)]
            while all:
                for one in all: one.switch()
                all = [one for one in all if not one.dead]
        with profiled() as p:
            threads = [threading.Thread(target=thread) for _ in range(3)]
            [t.start() for t in threads]
            [t.join() for t in threads]
        tell([p.calls("leaf"), p.callers("leaf"), p.callers("turn")])
        """) == [3000, {"turn": 3000}, {}]
