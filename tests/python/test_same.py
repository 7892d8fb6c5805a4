"""Which code objects are one function, and what happens where there are more of them than there is room for."""
from test_hooks import result

MAKE = """
def make(text, file="<made>"):
    names = {}
    exec(compile(text, file, "exec"), names)
    return names["made"]
def counts(p): return sorted(row[6] for row in p.rows if row[2].startswith("made"))
"""


def test_made_again_and_again(python):
    """The same file, line, name and code are the same function, whether the others are gone or not."""
    assert result(python, MAKE + """
with profiled() as p:
    for _ in range(500): make("def made(): return (1, 2.5, b'x', {3, 4} and (lambda: 5))")()
    kept = [make("def made(): return (1, 2.5, b'x', {3, 4} and (lambda: 5))") for _ in range(10)]
    for made in kept + kept: made()
tell(counts(p))
""") == [520]


def test_different_code_stays_apart(python):
    assert result(python, MAKE + """
texts = ["def made(a=1, b=2): return %s" % value for value in
         ("a + b", "a - b", "1", "1.0", "True", "-1", "-2", "0.0", "-0.0", "'x'", "b'x'", "(1, 2)", "(1, 3)", "2**61",
          "2**70", "2**70 + 1", "a in {1, 2}", "a in {1, 3}", "[lambda: 1]", "[lambda: 2]", "a", "len", "max", "1j", "2j")]
texts += ["def made(a=1, *, b=2): return a + b", "def made(c=1, b=2): return c + b", "def made(a=1, b=2): yield 1"]
with profiled() as p:
    for text in texts + texts: list(made) if hasattr(made := make(text)(), "send") else None
    make(texts[0], "<other>")()
tell([counts(p), len(texts)])
""") == [[1] + [2] * 27 + [4], 28]


def test_constants_are_not_asked(python):
    """What a program has put among the constants is not called for its hash, nor for anything else."""
    assert result(python, """
        class Key:
            def __hash__(self): asked.append("hash"); return 5
            def __eq__(self, other): asked.append("eq"); return True
        asked = []
        def f(): pass
        f.__code__ = f.__code__.replace(co_consts=f.__code__.co_consts + (Key(), (Key(), 1)))
        made, asked[:] = len(asked), []
        with profiled() as p: f(), f()
        tell([p.calls("f"), asked])
        """) == [2, []]


# Long file names fill the area for names sooner.
MANY = """
import types
def f(): pass
def many(count, file="<made>"):
    for line in range(count):
        types.FunctionType(f.__code__.replace(co_firstlineno=line + 1, co_filename=file, co_name="made"), {})()
"""


def test_many_functions(python):
    """Durations give way to places in the tree: of 60,000 functions no call is lost."""
    assert result(python, MANY + """
with profiled() as p: many(60000)
made = [row[6] for row in p.rows if row[0] == "<made>"]
tell([len(made), sum(made), p.lost])
""") == [60000, 60000, 0]


def test_more_functions_than_names(python):
    """Those that have no name any more are counted together."""
    named, called, more, lost = result(python, MANY + """
with profiled() as p:
    for _ in range(2): many(20000, "x" * 1000)
made = [row[6] for row in p.rows if row[0].startswith("xxx")]
tell([len(made), sum(made), [row[6] for row in p.rows if "(more functions)" in row[2]], p.lost])
""")
    assert 10000 < named < 20000 and called == 2 * named and more == [40000 - called] and lost == 0
