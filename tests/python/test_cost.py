"""What our own hooks cost is taken off: what is left is closer to the truth, and makes sense."""
from test_hooks import result

# A call that is cheaper or dearer than the average of those that were measured at the start is off by the difference.
MOST_OFF = 0.75  # of what is taken off for a call, whatever kind of call it is …
MEAN_OFF = 0.5   # … and for all kinds together

SHAPES = """
    from time import perf_counter as clock
    def leaf(): pass
    def flat():
        for _ in range(6000): leaf()
    def fib(n): return n if n < 2 else fib(n - 1) + fib(n - 2)
    def nested(): fib(17)
    def one(n): return two(n)
    def two(n): return three(n)
    def three(n): return n
    def chain():
        for n in range(2000): one(n)
    def builtin():
        for n in range(6000): abs(n)
    def timed(work):
        begin = clock()
        work()
        return clock() - begin
    def measure(work, **options):
        plain, raw, left, sane = [], [], [], True
        for _ in range(25):
            plain.append(timed(work))
            with profiled(**options) as p: work()
            rows = _venturi.profile([(p.after, p.before)], raw=True)
            raw.append([row for row in rows if row[2] == work.__name__][0][8])
            left.append(p.total(work.__name__))
            for row in p.rows + rows: sane = sane and 0 <= row[7] <= row[8] * (1 + 1e-9)
        calls = sum(row[6] for row in p.rows)
        return [sane] + [min(times) / calls * 1e9 for times in (plain, raw, left)]
"""


def off(python, shape, **options):
    """By how much of its cost a call is off, with its cost left in and taken off. Whatever else the machine does only
    adds time, to one or the other: of five tries the best counts."""
    best = None
    for _ in range(5):
        cost, (sane, plain, raw, left) = result(python, SHAPES + """
    found = measure(%s, **%r)
    info = _venturi.info()
    tell([info["builtin_cost" if %r else "python_cost"]["pair"] * 1e9, found])
""" % (shape, options, options))
        assert sane
        found = (abs(left - plain) / cost, (raw - plain) / cost)
        best = found if best is None or found[0] < best[0] else best
        if best[0] < MEAN_OFF / 2 and best[0] < best[1]:
            break
    return best


def test_cost_of_calls_is_taken_off(python):
    """Compared with how long the same work takes without us."""
    found = [off(python, shape) for shape in ("flat", "nested", "chain")]
    for left, raw in found:
        assert left < raw and left < MOST_OFF, found
    assert sum(left for left, _ in found) / len(found) < MEAN_OFF, found


def test_cost_of_builtins_is_taken_off(python):
    left, raw = off(python, "builtin", builtins=True)
    assert left < raw and left < MOST_OFF, (left, raw)


def test_known_durations(python):
    """Work that looks at the clock to end in time, reached through calls: its time is known, theirs is little."""
    for _ in range(10):  # a machine that takes the processor away between the clock and the hook
        known, raw, left, layers = result(python, """
            from time import perf_counter as clock
            took = 0.0
            def spin():
                global took
                begin = clock()
                while clock() < begin + 0.00002: pass
                took += clock() - begin
            def one(): two()
            def two(): three()
            def three(): spin()
            def work():
                for _ in range(3000): one()
            with profiled() as p: work()
            rows = {row[2]: row for row in _venturi.profile([(p.after, p.before)], raw=True)}
            tell([took, [rows[name][8] for name in ("work", "one", "spin")],
                  [p.total(name) for name in ("work", "one", "spin")], [p.own(name) for name in ("one", "two", "three")]])
            """)
        if left[0] < known * 1.05 and max(layers) < 3000 * 1e-6:
            break
    assert known <= left[2] <= left[1] <= left[0] < known * 1.05
    assert left[0] < raw[0] and left[1] < raw[1] and left[2] < raw[2]
    assert all(0 <= own < 3000 * 1e-6 for own in layers)
