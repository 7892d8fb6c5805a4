"""Where a user of lines would not know how to go on: what the tool says then, and that numbers add up."""
import json
import os
import shutil
import subprocess

import pytest
from test_recordings import MAIN, TEXT, entry, program, write  # noqa: F401


def table_of(venturi, *words):
    return json.loads(venturi("lines", "--json", *words, check=0).stdout)["functions"][0]


# ---- numbers -----------------------------------------------------------------------------------------------------------


def test_totals_of_both_kinds_add_up(venturi, tmp_path):
    """A .lprof knows no time of the function: it is that of its lines."""
    one = write(tmp_path / "a.vt", {"main": MAIN}, {"/src/run.py": TEXT})
    venturi("export", one, "-o", tmp_path / "a.lprof", check=0)
    alone = table_of(venturi, one)["total_time"]
    for files in ([one, tmp_path / "a.lprof"], [tmp_path / "a.lprof", one], [one, one]):
        assert table_of(venturi, *files)["total_time"] == pytest.approx(2 * alone)


def test_no_line_is_more_than_all(venturi, tmp_path):
    """Our cost is taken off each line and off the function: where that leaves nothing of some, the total is what is left."""
    tiny = [entry(1, 1, 0, 4, hits=1, total=100, inner=3), entry(2, 1, 2, 2, events=1, hits=1, total=90),
            entry(3, 1, 3, 3, events=1, hits=1, total=10, inner=3)]
    found = table_of(venturi, write(tmp_path / "a.vt", {"main": tiny}, cost=5))
    assert [line["time"] for line in found["lines"]] == pytest.approx([90e-9, 0])
    assert found["total_time"] == pytest.approx(sum(line["time"] for line in found["lines"]))
    calls_itself = [entry(1, 1, 0, 4, hits=2, total=100), entry(2, 1, 2, 2, events=2, hits=2, total=90),
                    entry(3, 1, 3, 3, events=2, hits=2, total=90)]
    found = table_of(venturi, write(tmp_path / "b.vt", {"main": calls_itself}))
    assert found["total_time"] == pytest.approx(100e-9)


def test_later_parts_are_in_no_execution(venturi, tmp_path):
    """The end of a `with`: reached once more, without a beginning."""
    lines = [entry(1, 1, 2, 2, events=2, hits=1, total=40, shortest=11, longest=10),
             entry(2, 1, 3, 3, events=1, hits=1, total=40, shortest=41, longest=40)]
    first, second = table_of(venturi, write(tmp_path / "a.vt", {"main": lines}))["lines"]
    assert first["time"] == 40e-9 and first["max"] is None and first["min"] is None and first["p50"] is None
    assert second["max"] == 40e-9


def test_events_for_line_profiler(venturi, tmp_path):
    path = write(tmp_path / "a.vt", {"main": MAIN}, {"/src/run.py": TEXT})
    for options, hits in ((), [3, 3]), (("--compat",), [6, 3, 3]):
        venturi("export", "-f", "lprof", "--force", *options, path, "-o", tmp_path / "a.lprof", check=0)
        assert [line["hits"] for line in table_of(venturi, tmp_path / "a.lprof")["lines"]] == hits
    assert "needs -f lprof" in venturi("export", "-f", "csv", "--compat", path, check=2).stderr


# ---- what is said ------------------------------------------------------------------------------------------------------


def test_other_commands_name_this_one(venturi, tmp_path):
    path = write(tmp_path / "a.vt", {"main": MAIN}, {"/src/run.py": TEXT})
    assert "venturi lines shows its lines" in venturi("stats", path, check=2).stderr
    assert "next  venturi lines" in venturi("report", path, check=0).stderr
    assert "run -l --callees" in venturi("lines", "--callees", path, check=0).stderr


def test_cut_off(venturi, tmp_path):
    whole = write(tmp_path / "a.vt", {"main": MAIN}, {"/src/run.py": TEXT}).read_bytes()
    (tmp_path / "b.vt").write_bytes(whole[:len(whole) // 3])
    said = venturi("lines", tmp_path / "b.vt", check=2).stderr
    assert "@profile" not in said and "bytes" in said


@pytest.mark.parametrize("unit", ["c", "python"])
def test_recorded_without_lines(venturi, tmp_path, unit):
    """The language of its functions decides what helps, not the program that called them."""
    said = venturi("lines", write(tmp_path / "a.vt", {}, sites={1: ("f", "/src/f", 1, unit)}), check=2).stderr
    assert ("venturi cc -l" in said) == (unit == "c") and "@profile" in said


def test_missing_text_names_functions(venturi, tmp_path):
    path = write(tmp_path / "a.vt", {"main": MAIN}, sites={1: ("main", "/no/such.py", 1, "python")})
    venturi("export", path, "-o", tmp_path / "a.lprof", check=0)
    for file in (path, tmp_path / "a.lprof"):
        said = venturi("lines", file, check=0).stderr.splitlines()
        assert said[0] == "venturi lines: warning: /no/such.py: not found, and its text was not kept: main (line 1)"


def test_one_line(venturi, tmp_path):
    path = write(tmp_path / "a.vt", {"main": [entry(1, 1, 2, 2, events=1, hits=1, total=40)]})
    venturi("export", path, "-o", tmp_path / "a.lprof", check=0)
    assert venturi("import", tmp_path / "a.lprof", "-o", tmp_path / "b.vt", check=0).stderr.endswith(" 1 line\n")


def test_run_options(venturi, program):  # noqa: F811
    assert "give a file" in program(venturi, "-l", "-o", "-", check=2).stderr
    for option in ("--builtins",), ("--only-mine",), ("--include", "*"), ("--exclude", "*"):
        assert "with -l it needs --callees" in program(venturi, "-l", *option, check=2).stderr
    assert "--paused" in program(venturi, "-l", "--paused", "-o", "a.vt", check=0).stderr
    assert "paused" in venturi("lines", "a.vt", cwd=program.folder, check=2).stderr


def test_names_that_nothing_has(venturi, program):  # noqa: F811
    said = program(venturi, "-l", "-p", "program.helper,program.helpre,json", "-o", "a.vt", check=0).stderr
    assert [line.split(": ")[1] for line in said.splitlines() if " -p " in line] == ["-p program.helpre", "-p json"]


@pytest.mark.skipif(not shutil.which("gcc") or os.environ.get("VENTURI_SANITIZE") is not None, reason="no gcc, or a sanitizer")
def test_programs_of_c(venturi, tmp_path):
    (tmp_path / "c.c").write_text("int main(void)\n{\n    return 0;\n}\n")
    subprocess.run(["gcc", "c.c", "-o", "plain"], cwd=tmp_path, check=True)
    venturi("cc", "-l", "c.c", "-o", "lines", cwd=tmp_path, check=0)
    assert "next  venturi run -l ./lines" in venturi("run", "-o", "a.vt", "./lines", cwd=tmp_path, check=0).stderr
    assert "`venturi cc -l`, then `venturi run -l`" in venturi("lines", "a.vt", cwd=tmp_path, check=2).stderr
    assert "next  venturi cc -l" in venturi("run", "-l", "-o", "b.vt", "./plain", cwd=tmp_path, check=0).stderr
    said = venturi("run", "-l", "-p", "main", "-o", "c.vt", "./lines", cwd=tmp_path, check=0).stderr
    assert "-p is for Python" in said and "next  venturi lines c.vt" in said
    assert "-p is for" not in venturi("run", "-l", "-o", "d.vt", "./lines", cwd=tmp_path, check=0).stderr
