"""`venturi stats` of a profile is what pstats prints, byte for byte."""
import json
import marshal

import pytest

import trees
from conftest import NEW_PYTHONS, PYTHONS

KEYS = ["calls", "ncalls", "cumulative", "cumtime", "filename", "module", "line", "name", "nfl", "pcalls", "stdname",
        "time", "tottime"]
SHOW = """
import pstats, sys
stats = pstats.Stats(sys.argv[1])
for step in eval(sys.argv[2]):
    getattr(stats, step[0])(*step[1:])
"""


def expected(python, path, *steps, version=NEW_PYTHONS[-1]):
    return python(version, "-c", SHOW, path, repr(steps))


@pytest.mark.parametrize("version", sorted(PYTHONS))
def test_profiles_of_every_python(venturi, python, prof, version):
    path = prof(version)
    if version.startswith("2."):  # its dictionaries have no order
        assert venturi("stats", path, "--sort", "stdname", check=0).stdout == expected(
            python, path, ("sort_stats", "stdname"), ("print_stats",), version=version)
        return
    assert venturi("stats", path, "--sort", "none", check=0).stdout == expected(
        python, path, ("print_stats",), version=version)
    assert venturi("stats", path, "--sort", "time", "--strip-dirs", check=0).stdout == expected(
        python, path, ("strip_dirs",), ("sort_stats", "time"), ("print_stats",), version=version)


@pytest.mark.parametrize("version", sorted(PYTHONS))
def test_the_slow_profiler_has_only_counts(venturi, python, prof, version):
    path = prof(version, "profile", how=(
        "-c", "import profile; p = profile.Profile(); p.run(open('%(script)s').read()); p.dump_stats('%(path)s')"))
    reader = version if version.startswith("2.") else NEW_PYTHONS[-1]
    for option, step in (("--callers", "print_callers"), ("--callees", "print_callees")):
        found = venturi("stats", path, option, ".", "--sort", "stdname", check=0).stdout
        if version.startswith("2."):
            found = found.replace(" \n", "\n")  # its print does not end lines with a blank
        assert found == expected(python, path, ("sort_stats", "stdname"), (step, "."), version=reader)


@pytest.mark.parametrize("version", sorted(PYTHONS))
def test_code_where_a_name_belongs(venturi, prof, version):
    """`python -m profile` writes the code of the script instead of its name."""
    rows = json.loads(venturi("stats", prof(version, "profile"), "--json", check=0).stdout)["functions"]
    found = {row["name"]: row for row in rows}
    assert (found["fib"]["ncalls"], found["fib"]["pcalls"], found["even"]["ncalls"]) == (465, 1, 11)
    assert [row["name"] for row in rows if row["file"] == "profile" and row["ncalls"]] == ["<module>"]


@pytest.mark.parametrize("key", KEYS)
def test_sort_keys_and_their_abbreviations(venturi, python, prof, key):
    path = prof(NEW_PYTHONS[-1])
    for strip in (False, True):
        steps = [("strip_dirs",)] if strip else []
        options = ["--strip-dirs"] if strip else []
        assert venturi("stats", path, "--sort", key, *options, check=0).stdout == expected(
            python, path, *steps, ("sort_stats", key), ("print_stats",))


def test_every_beginning_of_a_key(venturi, python, prof):
    path = prof(NEW_PYTHONS[-1])
    known = json.loads(python(NEW_PYTHONS[-1], "-c", "import pstats, json\n"
                              "print(json.dumps({k: v[1] for k, v in pstats.Stats().get_sort_arg_defs().items()}))"))
    for word in {key[:length] for key in KEYS for length in range(1, len(key) + 1)}:
        done = venturi("stats", path, "--sort", word, "-n", "1")
        if word in known:
            assert "   Ordered by: %s\n" % known[word] in done.stdout
        else:
            assert done.returncode == 2 and done.stderr.startswith("venturi stats: --sort: '%s' could be " % word)


def test_several_keys_numbers_and_reverse(venturi, python, prof):
    path = prof(NEW_PYTHONS[-1])
    assert venturi("stats", path, "--sort", "calls,name", check=0).stdout == expected(
        python, path, ("sort_stats", "calls", "name"), ("print_stats",))
    assert venturi("stats", path, "--sort", "pcalls,file,line", "--reverse", check=0).stdout == expected(
        python, path, ("sort_stats", "pcalls", "file", "line"), ("reverse_order",), ("print_stats",))
    for number in (-1, 0, 1, 2):
        assert venturi("stats", path, "--sort", str(number), check=0).stdout == expected(
            python, path, ("sort_stats", number), ("print_stats",))


@pytest.mark.parametrize("words", [
    (0,), (1,), (10,), (100000,), (0.1,), (0.5,), (0.0,), (0.05, 3), ("json",), ("json", 0.5, 2), ("built-in",),
    (r"\.py:\d+\(",), (r"^/",), (r"\(fib\)$",), ("{built",), (r"\{built",), ("[{}]",), ("nothing fits",), ("(",), ("*a",),
    (r"(?:fib|even)",), (r"[\w.]+\.py", 5), (r"[^a-z]lambda[^a-z]",), (r"w.*?k",), ("it's",), ('say "it\'s"',),
    (r"(?i)STEP|EXECUTE",), (r"\bfib\b",), ("a{2,3}|l{,2}", 7), (r"[]x]|[a-c-]main",), ("é",),
])
def test_restrictions(venturi, python, prof, words):
    path = prof(NEW_PYTHONS[-1])
    steps = ("sort_stats", "stdname"), ("print_stats", *words)
    assert venturi("stats", path, "-s", "stdname", "--", *map(str, words), check=0).stdout == expected(
        python, path, *steps)


def test_limit_is_the_last_restriction(venturi, python, prof):
    path = prof(NEW_PYTHONS[-1])
    assert venturi("stats", path, "-n", "2", "json", check=0).stdout == expected(
        python, path, ("sort_stats", "cumulative"), ("print_stats", "json", 2))


@pytest.mark.parametrize("function", ["fib", "even|odd", "json", "len", ".", "none of them"])
@pytest.mark.parametrize("strip", [False, True])
def test_callers_and_callees(venturi, python, prof, function, strip):
    path = prof(NEW_PYTHONS[-1])
    steps = [("strip_dirs",)] if strip else []
    options = ["--strip-dirs"] if strip else []
    for option, step in (("--callers", "print_callers"), ("--callees", "print_callees")):
        assert venturi("stats", path, option, function, "--sort", "name", *options, check=0).stdout == expected(
            python, path, *steps, ("sort_stats", "name"), (step, function))


def write(path, rows):
    path.write_bytes(marshal.dumps(rows))
    return path


def test_rows_that_become_equal(venturi, python, tmp_path):
    """Rows are added up; of callers that become equal pstats keeps the last one."""
    rows = {("/a/x.py", 1, "f"): (1, 2, 0.25, 0.5, {("/a/y.py", 1, "g"): (1, 1, 0.125, 0.25),
                                                      ("/b/y.py", 1, "g"): (1, 1, 0.375, 0.75)}),
            ("/b/x.py", 1, "f"): (2, 2, 0.1, 0.2, {("/c/y.py", 1, "g"): (2, 2, 0.1, 0.2)}),
            ("/a/y.py", 1, "g"): (1, 1, 0.0005, 0.0015, {}), ("/c/y.py", 1, "g"): (10 ** 12, 10 ** 12, 1e9, 1e9, {}),
            ("~", 0, "<len>"): (0, 0, 0.0, 0.0, {("/not/a/row.py", 3, "h"): (4, 3, 1, 2)}),
            ("~", 0, "bare"): (1, 1, 0, 0, {}), ("~", 7, "<odd>"): (1, 1, 0, 0, {}), ("é.py", 1, "ü"): (1, 1, 1, 1, {}),
            ("jprofile.py", 1, "top"): (1, 1, 1, 1, {("jprofile", 0, "profiler"): (1, 1, 1, 1)})}
    path = write(tmp_path / "x.prof", rows)
    for strip in (False, True):
        steps = [("strip_dirs",)] if strip else []
        options = ["--strip-dirs"] if strip else []
        for key in ("name", "cumulative", "stdname"):
            for option, step in (((), "print_stats"), (("--callers", "."), "print_callers"),
                                 (("--callees", "."), "print_callees")):
                wanted = [("sort_stats", key), (step, ".") if option else (step,)]
                assert venturi("stats", path, "-s", key, *option, *options, check=0).stdout == expected(
                    python, path, *steps, *wanted)


def test_json(venturi, prof):
    path = prof(NEW_PYTHONS[-1])
    rows = marshal.loads(path.read_bytes())
    found = json.loads(venturi("stats", path, "--json", check=0).stdout)
    assert found["total_calls"] == sum(row[1] for row in rows.values())
    again = {(f["file"], f["line"], f["name"]): (
        f["pcalls"], f["ncalls"], f["tottime"], f["cumtime"],
        {(c["file"], c["line"], c["name"]): (c["ncalls"], c["pcalls"], c["tottime"], c["cumtime"])
         for c in f["callers"]}) for f in found["functions"]}
    assert again == rows


def test_wide(venturi, prof):
    text = venturi("stats", prof(NEW_PYTHONS[-1]), "--wide", "fib", check=0).stdout
    assert text.splitlines()[0].split() == ["Calls", "Primitive", "Resumes", "Self", "Total", "Suspended", "Min", "P50",
                                            "P99", "Max", "Function"]
    assert text.splitlines()[1].split()[:2] == ["465", "1"]


def test_wide_fits_a_terminal(venturi, tmp_path):
    path = tmp_path / "x.prof"
    path.write_bytes(marshal.dumps({("/usr/lib/" + "long/" * 30 + "x.py", 1234, "work"): (1000, 1000, 12.34, 56.78, {})}))
    for columns in (80, 90, 120):
        text = venturi("stats", path, "--wide", env={"COLUMNS": str(columns)}, check=0).stdout
        assert max(map(len, text.splitlines())) <= columns
        assert ("Primitive" in text) == (columns == 120)


@pytest.mark.parametrize("options, shown", [
    (["--callers", "nosuch"], "no function fits nosuch"), (["--callees", "nosuch"], "no function fits nosuch"),
    (["nosuch"], "no function fits the restrictions"),
])
def test_nothing_fits(venturi, prof, options, shown):
    path = prof(NEW_PYTHONS[-1])
    assert shown in venturi("stats", path, *options, check=0).stderr
    assert "no function fits" not in venturi("stats", path, "--callers", "fib", check=0).stderr


@pytest.mark.parametrize("key, words", [("c", "calls or cumtime or cumulative"), ("time,n", "ncalls or name or nfl"),
                                        ("t", "time or tottime")])
def test_ambiguous_keys(venturi, prof, key, words):
    done = venturi("stats", prof(NEW_PYTHONS[-1]), "--sort", key, check=2)
    assert f"'{key[-1]}' could be {words} (see --help)\n" in done.stderr


@pytest.mark.parametrize("content, message", [
    (b"", "x.prof: is empty"), (b"{0", "x.prof: not a profile of Python: it is empty"),
    (b"hello", "x.prof: no recording, nor a profile of Python: byte 1: not what one begins with"),
    (b"{", "x.prof: no recording, nor a profile of Python: byte 1: cut off"),
    (marshal.dumps([1]), "x.prof: not a profile of Python: not a dictionary"),
    (marshal.dumps({1: 2}), "x.prof: not a profile of Python: a row is not (calls, calls, seconds, seconds, callers)"),
    (marshal.dumps({1: (1, 1, 1, 1, {})}), "x.prof: not a profile of Python: a key is not (file, line, name)"),
    (marshal.dumps({("a", 1, "b"): (1, 1, 1, 1, {("a", 1, "b"): "x"})}),
     "x.prof: not a profile of Python: a caller has no numbers"),
    (b"(" * 1000, "x.prof: no recording, nor a profile of Python: byte 5: a tuple that is longer than the file"),
    (b")\x01" * 1000, "x.prof: no recording, nor a profile of Python: byte 129: nested too deeply"),
    (b"{\xa9\x03r\x00\x00\x00\x00", "x.prof: no recording, nor a profile of Python: byte 8: refers to nothing"),
])
def test_bad_files_are_one_line(venturi, tmp_path, content, message):
    (tmp_path / "x.prof").write_bytes(content)
    done = venturi("stats", "x.prof", check=2, cwd=tmp_path)
    assert done.stdout == "" and done.stderr == "venturi stats: %s\n" % message


def test_every_cut_is_refused(venturi, prof, tmp_path):
    data = prof(NEW_PYTHONS[-1]).read_bytes()
    for length in list(range(1, 40)) + list(range(40, len(data) - 1, len(data) // 20)):
        (tmp_path / "cut.prof").write_bytes(data[:length])
        done = venturi("stats", tmp_path / "cut.prof", check=2)
        assert done.stderr.count("\n") == 1 and done.stdout == ""


@pytest.mark.parametrize("words, message", [
    ((), "which FILE? A recording (.vt) or a profile (.prof)"),
    (("x.prof", "--thread", "1"), "x.prof: is no recording: it knows no threads and processes"),
    (("x.prof", "--sort", "x"), "--sort: 'x' is none of calls, cumulative, filename, line, name, nfl, pcalls, stdname, "
     "time (or short for one), none"),
    (("x.prof", "7.5"), "'7.5' is no share: from 0 to 1 (see --help)"),
    *[(("x.prof", text), "'%s': regular expressions have no %s here (those of venturi.Stats in Python do)" % (text, what))
      for text, what in (("(?=a)", "looking ahead or back"), ("x(?!a)", "looking ahead or back"),
                         ("(?<=a)b", "looking ahead or back"), ("(?<!a)b", "looking ahead or back"),
                         ("(?#a)", "groups that begin with (?"), ("(?", "groups that begin with (?"),
                         (r"(a)\1", "back references"), ("a++", "possessive quantifiers"), (r"[\W]", r"classes like [\W]"))],
])
def test_wrong_words(venturi, tmp_path, words, message):
    write(tmp_path / "x.prof", {("a", 1, "b"): (1, 1, 1, 1, {})})
    done = venturi("stats", *words, check=2, cwd=tmp_path)
    assert done.stderr.startswith("venturi stats: " + message.split(" (see")[0]) and done.stderr.count("\n") == 1
    assert "update" not in done.stderr


def table(venturi, path, *options):
    """(file, line, name) to numbers and callers."""
    rows = {}
    for row in json.loads(venturi("stats", "--json", *options, path, check=0).stdout)["functions"]:
        callers = {(c["file"], c["line"], c["name"]): [c["ncalls"], c["pcalls"], c["tottime"], c["cumtime"]]
                   for c in row["callers"]}
        rows[row["file"], row["line"], row["name"]] = [row["ncalls"], row["pcalls"], row["tottime"], row["cumtime"], callers]
    return rows


def test_merged_with_what_was_imported(venturi, tmp_path):
    """A recording that has trees and a table of another profiler: both are shown, and functions in both added up."""
    shared, other = trees.key(3), ("/else/where.py", 9, "far")
    write(tmp_path / "x.prof", {shared: (5, 7, 0.25, 0.5, {other: (7, 5, 0.25, 0.5)}), other: (1, 1, 1.0, 1.5, {})})
    venturi("import", tmp_path / "x.prof", "-o", tmp_path / "x.vt", check=0)
    recorded = trees.write(tmp_path / "trees.vt")
    venturi("merge", recorded, tmp_path / "x.vt", "-o", tmp_path / "both.vt", check=0)
    found, one, two = (table(venturi, tmp_path / name) for name in ("both.vt", "trees.vt", "x.vt"))
    assert set(found) == set(one) | set(two)
    for key, row in found.items():
        parts = [rows[key] for rows in (one, two) if key in rows]
        assert row[:4] == pytest.approx([sum(column) for column in zip(*(part[:4] for part in parts))], rel=1e-9)
        for caller, numbers in row[4].items():
            parts_of = [part[4][caller] for part in parts if caller in part[4]]
            assert numbers == pytest.approx([sum(column) for column in zip(*parts_of)], rel=1e-9)
    assert found[shared][0] == one[shared][0] + 7 and other in found[shared][4]
    # A table knows no threads.
    assert set(table(venturi, tmp_path / "both.vt", "--thread", "worker")) == set(
        table(venturi, recorded, "--thread", "worker"))


def test_slices_say_that_functions_are_left_out(venturi, tmp_path):
    """Sums know no time."""
    recorded, out = trees.write(tmp_path / "trees.vt"), tmp_path / "slice.vt"
    done = venturi("slice", recorded, "--from", "0", "--to", "1s", "-o", out, check=2)
    assert "nothing happened in that range but calls, which it has sums of only" in done.stderr and not out.exists()
    spans = tmp_path / "spans.json"
    spans.write_text(json.dumps([{"ph": "X", "name": "work", "ts": i * 10, "dur": 5, "pid": 1, "tid": 1} for i in range(9)]))
    write(tmp_path / "x.prof", {("a.py", 1, "f"): (1, 1, 1.0, 1.0, {})})
    for name in ("spans.json", "x.prof"):
        venturi("import", tmp_path / name, "-o", tmp_path / (name + ".vt"), check=0)
    for other in (recorded, tmp_path / "x.prof.vt"):
        both = tmp_path / "both.vt"
        venturi("merge", "-f", tmp_path / "spans.json.vt", other, "-o", both, check=0)
        done = venturi("slice", "-f", both, "--from", "0", "-o", out, check=0)
        assert done.stderr.splitlines()[1] == \
            "venturi slice: warning: functions are left out: %s has sums of their calls over all its time" % both
        assert venturi("stats", out).returncode == 2
    assert "left out" not in venturi("slice", "-f", tmp_path / "spans.json.vt", "--from", "0", "-o", out, check=0).stderr


@pytest.mark.parametrize("key, best", [("count", "stripped"), ("total", "work"), ("self", "work"), ("avg", "work"),
                                       ("name", "<module>"), (None, "work")])
def test_report_sorts_functions_too(venturi, tmp_path, key, best):
    path = trees.write(tmp_path / "tree.vt")
    words = ["--sort", key] if key else []
    names = [row["name"] for row in json.loads(venturi("report", "--json", path, *words, check=0).stdout)["functions"]]
    lines = venturi("report", path, *words, check=0).stdout.splitlines()
    first = next(at for at, line in enumerate(lines) if line.endswith("Function")) + 1
    assert best in names[0] and best in lines[first]
    if key == "name":
        shown = [trees.FUNCTIONS[site][1 if trees.FUNCTIONS[site][4] == "c" else 0] for site in trees.FUNCTIONS]
        assert [trees.FUNCTIONS[site][0] for site in sorted(trees.FUNCTIONS, key=lambda site: shown[site - 1])] == names
