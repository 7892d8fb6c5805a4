"""Files of line_profiler: our table is theirs to the byte, and what we write opens in theirs."""
import os
import pickle
import struct

import pytest

PROGRAM = '''
import time


@profile
def work(n):
    """A docstring.

    Of three lines."""
    total = 0
    for i in range(n):
        total += i * \\
            2
        if i % 3 == 0:  # now and then
            total -= sum(
                [1,
                 2],
                0)
    # before the end
    return total
    # after it


class Step:
    @profile
    def execute(self, x):

        def inner(y):
            return y
        return inner(x) + max(1,
                              2)

    @staticmethod
    @profile
    def never(x, y=(1,
                    2)): return x

    other = 3


@profile
def text(x):
\tif x:
\t\treturn f"{x!r:>{10}} {'a' 'b'} {{ {x:'>10}" + \'\'\'
of several lines
\'\'\' + "é"


short = profile(lambda x: x
                + 1)


work(300); Step().execute(3); text(2); short(3)
'''

OPTIONS = [[], ["-u", "1e-3"], ["-u", "1"], ["-z"], ["-t"], ["-m"], ["-z", "-t", "-m", "-u", "1e-9"]]


@pytest.fixture
def profiled(peer, tmp_path):
    """A folder with program.py and what kernprof made of it."""
    (tmp_path / "program.py").write_text(PROGRAM, encoding="utf-8")
    peer.run("-m", "kernprof", "-l", "-o", "program.lprof", "program.py", cwd=tmp_path)
    return tmp_path


def ours(venturi, folder, *args):
    return venturi("lines", *args, cwd=folder, check=0, text=False).stdout


def test_table_is_theirs(venturi, peer, profiled):
    for options in OPTIONS:
        assert ours(venturi, profiled, *options, "program.lprof") == \
            peer.table(*options, "program.lprof", cwd=profiled), options


def test_missing_source(venturi, peer, profiled):
    os.rename(profiled / "program.py", profiled / "elsewhere.py")
    shown = ours(venturi, profiled, "-m", "program.lprof")
    assert shown == peer.table("-m", "program.lprof", cwd=profiled)
    assert b"Could not find file program.py\nAre you sure" in shown


def test_there_and_back(venturi, peer, profiled):
    """.lprof to a recording, to .lprof: the same table everywhere, also where the source is not."""
    table = ours(venturi, profiled, "-z", "program.lprof")
    venturi("import", "program.lprof", "-o", "back.vt", cwd=profiled, check=0)
    venturi("export", "-f", "lprof", "back.vt", "-o", "back.lprof", cwd=profiled, check=0)
    assert ours(venturi, profiled, "-z", "back.vt") == table
    assert ours(venturi, profiled, "-z", "back.lprof") == table
    assert peer.table("-z", "back.lprof", cwd=profiled) == table
    os.rename(profiled / "program.py", profiled / "elsewhere.py")
    assert ours(venturi, profiled, "-z", "back.vt") == table


def test_several_are_added(venturi, new_peer, tmp_path):
    (tmp_path / "a.py").write_text("def f():\n    pass\n\n\ndef g():\n    pass\n")
    new_peer.write(tmp_path / "one.lprof", {("a.py", 1, "f"): [(2, 10, 3333)], ("a.py", 5, "g"): []}, 1e-9)
    new_peer.write(tmp_path / "two.lprof", {("a.py", 5, "g"): [(6, 3, 71)], ("a.py", 1, "f"): [(2, 1, 4)]}, 1e-6)
    for files in (["one.lprof"], ["one.lprof", "one.lprof"], ["one.lprof", "two.lprof"]):
        shown = ours(venturi, tmp_path, "-t", *files)
        assert shown == new_peer.table("-t", *files, cwd=tmp_path)
    assert b"     2        11          7.0" in shown


@pytest.mark.parametrize("protocol", [2, 3, 4, 5])
def test_protocols(venturi, new_peer, tmp_path, protocol):
    timings = {("a.py", 1, "f"): [(2, 1, 2 ** 31), (3, 2 ** 40, 5), (70000, 300, 10 ** 12)], ("<b>", 300, "g"): []}
    new_peer.write(tmp_path / "x.lprof", timings, 1e-9, protocol)
    assert ours(venturi, tmp_path, "x.lprof") == new_peer.table("x.lprof", cwd=tmp_path)


def test_wide_numbers(venturi, new_peer, tmp_path):
    """Where they do not fit, three digits, and columns that grow."""
    (tmp_path / "a.py").write_text("def f():\n" + "    pass\n" * 9)
    timings = {("a.py", 1, "f"): [(2, 1, 10 ** 15), (3, 123456789, 5), (4, 1234567890123, 10 ** 18), (5, 3, 1), (6, 7, 0)]}
    new_peer.write(tmp_path / "x.lprof", timings)
    for unit in ("1e-6", "1e-9", "1e-15", "1000"):
        assert ours(venturi, tmp_path, "-u", unit, "x.lprof") == new_peer.table("-u", unit, "x.lprof", cwd=tmp_path)


@pytest.mark.parametrize("hits, is_capped", [(2 ** 63 - 2, False), (2 ** 64, True), (2 ** 200, True)])
def test_numbers_that_are_too_large(venturi, tmp_path, hits, is_capped):
    (tmp_path / "x.lprof").write_bytes(pickled({"timings": {("a.py", 1, "f"): [(2, hits, 5)]}, "unit": 1e-9}))
    said = venturi("lines", "x.lprof", cwd=tmp_path, check=0).stderr
    assert said.count("above 2^63") == is_capped


def test_never_called(venturi, new_peer, tmp_path):
    (tmp_path / "a.py").write_text("def f():\n    pass\n")
    new_peer.write(tmp_path / "x.lprof", {("a.py", 1, "f"): []})
    for options in ([], ["-z"], ["-m"], ["-zm"]):
        assert ours(venturi, tmp_path, *options, "x.lprof") == new_peer.table(*options, "x.lprof", cwd=tmp_path)


def test_encodings(venturi, new_peer, tmp_path):
    (tmp_path / "latin.py").write_bytes("# -*- coding: latin-1 -*-\ndef f():\n    return 'é'\n".encode("latin-1"))
    (tmp_path / "mark.py").write_bytes(b"\xef\xbb\xbfdef f():\r\n    return 1\r\n")
    (tmp_path / "bad.py").write_bytes(b"def f():\n    return '\xe9'\n")
    new_peer.write(tmp_path / "x.lprof", {("latin.py", 2, "f"): [(3, 1, 5)], ("mark.py", 1, "f"): [(2, 1, 5)]})
    assert ours(venturi, tmp_path, "x.lprof") == new_peer.table("x.lprof", cwd=tmp_path)
    new_peer.write(tmp_path / "y.lprof", {("bad.py", 1, "f"): [(2, 1, 5000)]})
    done = venturi("lines", "y.lprof", cwd=tmp_path, check=0)
    assert "     2         1          5.0" in done.stdout  # the numbers are there all the same
    assert done.stderr == "venturi lines: warning: bad.py: is not UTF-8 and names no other encoding\n"


def test_outside_of_the_function(venturi, new_peer, tmp_path):
    (tmp_path / "a.py").write_text("def f():\n    pass\n")
    new_peer.write(tmp_path / "x.lprof", {("a.py", 1, "f"): [(2, 1, 5000), (40, 1, 1)]})
    done = venturi("lines", "x.lprof", cwd=tmp_path, check=0)
    assert done.stdout.encode() == new_peer.table("x.lprof", cwd=tmp_path)
    assert "1 line of 1 function is outside of what is shown" in done.stderr


def test_changed_source(venturi, new_peer, tmp_path):
    new_peer.write(tmp_path / "x.lprof", {("a.py", 1, "f"): [(2, 1, 5000)]})
    (tmp_path / "a.py").write_text("def f():\n    pass\n")
    os.utime(tmp_path / "x.lprof", (1e9, 1e9))
    assert "was changed after this was recorded" in venturi("lines", "x.lprof", cwd=tmp_path, check=0).stderr
    venturi("import", "x.lprof", "-o", "x.vt", cwd=tmp_path, check=0)  # and is not kept beside other numbers
    os.unlink(tmp_path / "a.py")
    assert "Could not find file a.py" in venturi("lines", "x.vt", cwd=tmp_path, check=0).stdout


# ---- files that want more than to be read ---------------------------------------------------------------------------

class LineStats:
    """Pickled under the name of another class."""


def pickled(state, module="line_profiler._line_profiler", name="LineStats"):
    made = LineStats()
    made.__dict__.update(state)
    data = pickle.dumps(made, 2)
    return data.replace(b"c%s\nLineStats\n" % LineStats.__module__.encode(), b"c%s\n%s\n" % (module.encode(), name.encode()))


GOOD = {"timings": {("a.py", 1, "f"): [(2, 1, 5)]}, "unit": 1e-9}


def test_all_class_names(venturi, tmp_path):
    for module in ("_line_profiler", "line_profiler._line_profiler", "line_profiler.line_profiler"):
        (tmp_path / "x.lprof").write_bytes(pickled(GOOD, module))
        assert "     2         1" in venturi("lines", "x.lprof", cwd=tmp_path, check=0).stdout


class Evil:
    def __reduce__(self):
        return os.system, ("touch evil",)


BAD = {
    "code": (pickle.dumps(Evil(), 2), "it wants code to be run"),
    "code inside": (pickled({"timings": {}, "unit": Evil()}), "it wants code to be run"),
    "another class": (pickled(GOOD, "os", "LineStats"), "an object of another class"),
    "another name": (pickled(GOOD, "line_profiler.line_profiler", "Popen"), "an object of another class"),
    "a dictionary": (pickle.dumps(GOOD), "something else was pickled"),
    "no timings": (pickled({"unit": 1e-9}), "it has no timings"),
    "no unit": (pickled({"timings": {}}), "it has no unit"),
    "unit of nothing": (pickled({"timings": {}, "unit": 0.0}), "it has no unit"),
    "timings of another kind": (pickled({"timings": [], "unit": 1e-9}), "its timings are no dictionary"),
    "key": (pickled({"timings": {"f": []}, "unit": 1e-9}), "a key is not (file, line, name)"),
    "list": (pickled({"timings": {("a", 1, "f"): 3}, "unit": 1e-9}), "has no list of lines"),
    "line": (pickled({"timings": {("a", 1, "f"): [(1, 2)]}, "unit": 1e-9}), "a line is not (line, hits, time)"),
    "negative": (pickled({"timings": {("a", 1, "f"): [(-1, 2, 3)]}, "unit": 1e-9}), "a line is not (line, hits, time)"),
    "nan": (pickled({"timings": {("a", 1, "f"): [(1, 2, float("nan"))]}, "unit": 1e-9}), "a line is not"),
    "cut": (pickled(GOOD)[:-5], "cut off"),
    "protocol 0": (b"(dp0\n.", "not how one begins"),
    "protocol 9": (b"\x80\x09}.", "unknown protocol"),
    "nothing": (b"\x80\x02.", "it is empty"),
    "memo": (b"\x80\x02h\x05.", "refers to what is not there"),
    "memo far away": (b"\x80\x02}r" + struct.pack("<I", 2 ** 31) + b".", "remembers what is not there"),
    "text beyond the end": (b"\x80\x02X\xff\xff\xff\x7fabc.", "cut off in a text"),
    "no mark": (b"\x80\x02}u.", "a mark is missing"),
    "persistent": (b"\x80\x02X\x01\x00\x00\x00aQ.", "it wants code to be run"),
    "extension": (b"\x80\x02\x82\x01.", "it wants code to be run"),
    "text file": (b"def f(): pass\n", "not how one begins"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_files(venturi, tmp_path, name):
    data, why = BAD[name]
    (tmp_path / "x.lprof").write_bytes(data)
    for command in (["lines", "x.lprof"], ["import", "-f", "lprof", "x.lprof", "-o", "x.vt"]):
        done = venturi(*command, cwd=tmp_path, check=2)
        assert done.stdout == ""
        assert done.stderr.count("\n") == 1 and why in done.stderr and "x.lprof" in done.stderr
    assert sorted(os.listdir(tmp_path)) == ["x.lprof"]


def test_shared_lists(venturi, tmp_path):
    """One list under many names: a small file must not make a large table."""
    shared = [(i, 1, 1) for i in range(1000)]
    (tmp_path / "x.lprof").write_bytes(pickled({"timings": {("a", i, "f"): shared for i in range(10000)}, "unit": 1.0}))
    assert "lines are shared by functions" in venturi("lines", "x.lprof", cwd=tmp_path, check=2).stderr


def test_lines_far_apart(venturi, tmp_path):
    (tmp_path / "x.lprof").write_bytes(pickled({"timings": {("a", 1, "f"): [(2, 1, 1), (2 ** 31 - 1, 1, 1)]}, "unit": 1.0}))
    done = venturi("lines", "x.lprof", cwd=tmp_path, check=0)
    assert len(done.stdout) < 1000 and "2147483647         1" in done.stdout


def test_line_zero(venturi, tmp_path):
    (tmp_path / "a.py").write_text("def f():\n    pass\n")
    for file in ("a.py", "none.py"):
        (tmp_path / "x.lprof").write_bytes(pickled({"timings": {(file, 0, "f"): [(0, 1, 1), (1, 1, 1)]}, "unit": 1.0}))
        assert "     0         1" in venturi("lines", "x.lprof", cwd=tmp_path, check=0).stdout
        venturi("lines", "--json", "x.lprof", cwd=tmp_path, check=0)
        venturi("import", "x.lprof", "-o", "x.vt", "--force", cwd=tmp_path, check=0)
        venturi("lines", "x.vt", cwd=tmp_path, check=0)


def test_list_in_itself(venturi, tmp_path):
    around = []
    around.append(around)
    (tmp_path / "x.lprof").write_bytes(pickled({"timings": {("a", 1, "f"): around}, "unit": 1.0}))
    assert "a line is not (line, hits, time)" in venturi("lines", "x.lprof", cwd=tmp_path, check=2).stderr
