"""Lines of C that are timed one by one: functions on a line, forked children, C that Python calls."""
import os
import shutil

import pytest

from conftest import VENTURI, Lines, line_of, need, run, source

BOTH = pytest.mark.parametrize("compiler", ["gcc", "clang"])


@BOTH
@pytest.mark.parametrize("level", ["-O0", "-O2"])
def test_functions_on_a_line(compile, record, compiler, level):
    _, lines = record(compile(compiler, "oneline.c", flags=[level], options=("-l", "--exact")))
    for name, least in (("nap", 0.07), ("one", 0.03), ("two", 0.04)):
        line = lines.of(name)[line_of("oneline.c", "// " + name)]
        assert line["timing"] == "exact" and least <= line["time"] < lines.took, name


@BOTH
def test_child_goes_on(compile, record, compiler):
    """What a child does in the function that forked has a time; what has ended does not begin again."""
    _, lines = record(compile(compiler, "oneline.c", flags=["-O0"], options=("-l", "--exact")))
    main = lines.of("main")
    line = main[line_of("oneline.c", "// child")]
    assert line["hits"] == 1 and 0.05 <= line["time"] < lines.took
    assert lines.function("main")["calls"] == 1
    assert main.get(line_of("oneline.c", "// end"), {}).get("time") in (None, 0) or \
        main[line_of("oneline.c", "// end")]["time"] < 0.05  # what the child slept


@BOTH
def test_chosen_files(record, tmp_path, compiler):
    """One file is timed, the other sampled, in one program; only what the timed one cost is subtracted."""
    need(compiler)
    env = {**os.environ, "VENTURI_CC": compiler}
    (tmp_path / "outer.c").write_text("int inner(int n);\nint main(void)\n{\n    int a = inner(1000000);\n    return a == 0;\n}\n")
    (tmp_path / "inner.c").write_text("int inner(int n)\n{\n    volatile int sum = 0;\n    for (int i = 0; i < n; i++)\n"
                                      "        sum += i & 3;\n    return sum;\n}\n")
    run([VENTURI, "cc", "-l", "--exact", "-c", "outer.c", "-o", "outer.o"], cwd=tmp_path, env=env)
    run([VENTURI, "cc", "-l", "-c", "inner.c", "-o", "inner.o"], cwd=tmp_path, env=env)
    run([VENTURI, "cc", "-l", "outer.o", "inner.o", "-o", "prog"], cwd=tmp_path, env=env)
    _, lines = record(tmp_path / "prog")
    assert lines.of("main")[4]["timing"] == "exact"
    assert lines.of("inner")[5]["hits"] == 1000000
    assert {line["timing"] for line in lines.of("inner").values()} <= {"sampled", "none"}
    assert lines.all["own_cost"] < 1e-4  # a few lines


def test_cost_is_what_was_subtracted(compile, record):
    """Never more than there is between raw and corrected times of lines that call nothing of ours."""
    _, lines = record(compile("gcc", "exact.c", flags=["-O2"], options=("-l", "--exact")))
    raw = Lines(lines.path, "--raw")
    assert raw.all["own_cost"] == 0
    shown = sum(line["time"] or 0 for f in lines.functions for line in f["lines"])
    measured = sum(line["time"] or 0 for f in raw.functions for line in f["lines"])
    assert 0 < lines.all["own_cost"] <= measured - shown + 1e-9


@BOTH
def test_says_when_lines_are_mixed(compile, record, compiler):
    """Only where the compiler has done it."""
    for level, is_mixed in (("-O0", False), ("-O2", True)):
        _, lines = record(compile(compiler, "exact.c", flags=[level], options=("-l", "--exact")))
        assert ("has mixed code" in run([VENTURI, "lines", lines.path]).stderr) == is_mixed
        assert any(line.get("mixed") for line in lines.of("numbers").values()) == is_mixed
        assert not any(line.get("mixed") for line in lines.of("three_calls").values())


def test_says_when_times_are_rough(compile, record, tmp_path):
    """More than a third of it was ours: as other estimates. What takes long is none; where it was about a third, either may be said."""
    (tmp_path / "rough.c").write_text("#include <unistd.h>\nint main(void)\n{\n    volatile int a = 0;\n"
                                      "    for (int i = 0; i < 100000; i++) {\n" + "        ;a = i;\n" * 3 + "    }\n"
                                      "    usleep(2000);\n    return 0;\n}\n")
    _, lines = record(compile("gcc", tmp_path / "rough.c", flags=["-O0"], options=("-l", "--exact")))
    main, raw = lines.of("main"), Lines(lines.path, "--raw").of("main")
    timed = {number: line["time"] for number, line in main.items() if line["time"] is not None}
    rough = {number for number, line in main.items() if line.get("rough")}
    assert {number for number, time in timed.items() if raw[number]["time"] > 1.65 * time} <= rough
    assert not rough & {number for number, time in timed.items() if raw[number]["time"] < 1.35 * time}
    assert rough <= set(timed) and 10 not in rough
    shown = run([VENTURI, "lines", lines.path])
    assert ("are rough" in shown.stderr) == bool(rough)
    for number in main:
        row = next(line for line in shown.stdout.splitlines() if line.startswith("%6d " % number))
        assert ("~" in row) == (number in rough), row
    assert "~" not in run([VENTURI, "lines", "--raw", lines.path]).stdout


@BOTH
@pytest.mark.parametrize("flags", [["-static"], ["-O2", "-flto"], ["-O2", "-flto", "-static"]])
def test_other_links(compile, record, compiler, flags):
    """Names and lines are found there too; nothing is read that is no source."""
    done, lines = record(compile(compiler, "exact.c", flags=flags, options=("-l", "--exact")))
    assert {f["file"] for f in lines.functions} == {source("exact.c")}
    line = lines.of("three_calls")[line_of("exact.c", "rest(40)")]
    assert line["timing"] == "exact" and 0.08 <= line["time"] < lines.took
    assert "warning" not in run([VENTURI, "lines", lines.path]).stderr


@BOTH
def test_no_debug_info(compile, record, compiler):
    """Hits are known by the notes; that there are no times is said, and no program is read as a source."""
    _, lines = record(compile(compiler, "exact.c", flags=["-O0", "-g0"], options=("-l", "--exact")))
    assert {f["file"] for f in lines.functions} == {source("exact.c")}
    assert lines.of("three_calls")[line_of("exact.c", "rest(40)")]["hits"] == 2
    said = run([VENTURI, "lines", lines.path]).stderr
    assert "compile with -g" in said and "UTF-8" not in said


def test_called_by_python(compile, tmp_path):
    """A line of Python pays what lines of C cost, not what its own do: it is no shorter than what it called."""
    python = shutil.which("python3")
    include = run([python, "-c", "import sysconfig; print(sysconfig.get_paths()['include'])"]).stdout.strip()
    if not os.path.exists(os.path.join(include, "Python.h")):
        pytest.skip("no headers of Python")
    compile("gcc", "extension.c", flags=["-shared", "-fPIC", "-O2", "-I" + include], output="extension.so",
            options=("-l", "--exact"))
    script = tmp_path / "script.py"
    script.write_text("from venturi import profile\nimport extension\n\n\n@profile\ndef main():\n    total = 0\n"
                      "    for i in range(10):\n        total += extension.sum_to(200000)\n    return total\n\n\nmain()\n")
    done = run([VENTURI, "run", "-l", "-f", "-o", tmp_path / "py.vt", script], cwd=tmp_path, check=False)
    if "package is not where" in done.stderr:
        pytest.skip("no Python package in this build")
    assert done.returncode == 0, done.stderr
    lines = Lines(tmp_path / "py.vt")
    assert lines.of("main")[9]["time"] >= 0.99 * lines.function("sum_to")["total_time"] > 0
