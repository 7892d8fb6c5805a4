"""`venturi stats` of a profile is what pstats prints, byte for byte."""
import json
import marshal

import pytest

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
    (("x.prof", "(?=a)"), "a group that begins with (? is more than this tool can search for"),
])
def test_wrong_words(venturi, tmp_path, words, message):
    write(tmp_path / "x.prof", {("a", 1, "b"): (1, 1, 1, 1, {})})
    done = venturi("stats", *words, check=2, cwd=tmp_path)
    assert done.stderr.startswith("venturi stats: " + message.split(" (see")[0]) and done.stderr.count("\n") == 1
