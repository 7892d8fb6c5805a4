"""What happens to programs while their lines are counted: how they end, what they load, how they were made."""
import json
import os
import shutil

import pytest

from conftest import VENTURI, Lines, line_of, need, run, source

BOTH = pytest.mark.parametrize("compiler", ["gcc", "clang"])


def loop(lines):
    work = lines.of("work")
    return work[line_of("ends.c", "for (int i = 0;")]["hits"], work[line_of("ends.c", "sum += i")]["hits"]


@BOTH
@pytest.mark.parametrize("how", ["return", "_exit", "quick_exit", "abort", "kill", "crash", "exec"])
def test_ends(compile, record, compiler, how):
    """Nothing is lost, however a program ends."""
    _, lines = record(compile(compiler, "ends.c", flags=["-O0"]), how, check=False)
    assert loop(lines) == (101, 100)
    assert lines.function("work")["calls"] == 1


@BOTH
def test_fork(compile, record, compiler):
    """Children begin at zero and are counted; the parent has its own."""
    _, lines = record(compile(compiler, "ends.c", flags=["-O2"]), "fork")
    assert loop(lines) == (101 + 6003, 100 + 6000)
    assert lines.function("work")["calls"] == 4
    assert lines.function("main")["calls"] == 1
    rows = run([VENTURI, "query", "--json", lines.path, "select process, hits from lines where kind = 'line' and line = %d"
                " and hits > 0" % line_of("ends.c", "sum += i")]).stdout
    assert sorted(row["hits"] for row in json.loads(rows)) == [100, 1000, 2000, 3000]
    assert len({row["process"] for row in json.loads(rows)}) == 4


def test_exec_of_itself(compile, record):
    _, lines = record(compile("gcc", "ends.c"), "again")
    assert lines.function("main")["calls"] == 2
    assert loop(lines) == (202, 200)


@BOTH
def test_plugin(compile, record, compiler):
    """A library that comes and goes; children of a process that has it, and of one that had it."""
    library = compile(compiler, "plugin.c", flags=["-shared", "-fPIC"], output="plugin.so")
    _, lines = record(compile(compiler, "loader.c", flags=["-ldl"]), library, 5)
    assert lines.of("plugin_work")[line_of("plugin.c", "sum += n")]["hits"] == 5 * (10 + 100)
    assert lines.function("plugin_work")["calls"] == 10


def test_plugin_of_a_plain_program(compile, record, tmp_path):
    """Only the library was compiled for it."""
    library = compile("gcc", "plugin.c", flags=["-shared", "-fPIC"], output="plugin.so")
    run(["gcc", source("loader.c"), "-o", tmp_path / "plain", "-ldl"])
    _, lines = record(tmp_path / "plain", library, 2)
    assert lines.names() == {"plugin_work"}
    assert lines.of("plugin_work")[line_of("plugin.c", "sum += n")]["hits"] == 2 * 110


@BOTH
def test_static(compile, record, compiler):
    done, lines = record(compile(compiler, "ends.c", flags=["-static"]), "kill", check=False)
    assert loop(lines) == (101, 100)
    assert "counted, not sampled" in done.stderr


@BOTH
def test_stripped(compile, record, compiler):
    """The notes still say what was counted."""
    program = compile(compiler, "ends.c")
    run(["strip", program])
    _, lines = record(program)
    assert loop(lines) == (101, 100)
    assert lines.function("work")["file"] == source("ends.c")


@BOTH
def test_separate_objects(compile, record, compiler, tmp_path):
    """Compiled one by one in another folder, linked later, by relative names."""
    folder = tmp_path / "src"
    folder.mkdir()
    for name in ("inline1.c", "inline2.c", "shared.h"):
        shutil.copy(source(name), folder)
    env = {**os.environ, "VENTURI_CC": compiler}
    need(compiler)
    for name in ("inline1", "inline2"):
        run([VENTURI, "cc", "-l", "-O2", "-c", f"src/{name}.c", "-o", f"{name}.o"], cwd=tmp_path, env=env)
    run([VENTURI, "cc", "-l", "inline1.o", "inline2.o", "-o", "prog"], cwd=tmp_path, env=env)
    _, lines = record(tmp_path / "prog")
    assert lines.function("other")["file"] == str(folder / "inline2.c")
    assert lines.of("shared_square")[line_of("shared.h", "int y = x")]["hits"] == 120  # of both objects
    assert "int y = x;" in "".join(lines.function("shared_square")["text"])


def test_lto(compile, record):
    program = compile("gcc", "inline1.c", "inline2.c", flags=["-O2", "-flto"])
    _, lines = record(program)
    assert lines.of("shared_square")[line_of("shared.h", "int y = x")]["hits"] == 120


@BOTH
def test_sanitizer(compile, record, compiler):
    done, lines = record(compile(compiler, "ends.c", flags=["-fsanitize=address,undefined", "-O1"]), "fork",
                         env={"ASAN_OPTIONS": "detect_leaks=0"})
    assert loop(lines) == (101 + 6003, 100 + 6000)
    assert "ERROR" not in done.stderr


def test_alone(compile, tmp_path):
    """Without `venturi run` it runs as ever, and leaves no file."""
    program = compile("gcc", "loops.c")
    before = sorted(os.listdir(tmp_path))
    assert run([program], cwd=tmp_path).returncode == 0
    assert sorted(os.listdir(tmp_path)) == before


def test_notes_missing(compile, record, tmp_path):
    program = compile("gcc", "ends.c")
    for path in tmp_path.glob("*.gcno"):
        path.unlink()
    done, _ = record(program, empty=True)
    said = [line for line in done.stderr.splitlines() if ".gcno" in line]
    assert len(said) == 1 and "cannot be read" in said[0] and "not counted" in said[0]


def test_notes_of_another_build(compile, record, tmp_path):
    first = compile("gcc", "ends.c")
    notes = next(tmp_path.glob("*.gcno"))
    other = tmp_path / "other"
    other.mkdir()
    compile("gcc", "loops.c", folder=other, output="prog")
    shutil.copy(next(other.glob("*.gcno")), notes)
    done, _ = record(first, empty=True)
    assert [line for line in done.stderr.splitlines() if "another build" in line]


@pytest.mark.parametrize("damage", [b"", b"oncg", b"x" * 200])
def test_notes_damaged(compile, record, tmp_path, damage):
    program = compile("gcc", "ends.c")
    next(tmp_path.glob("*.gcno")).write_bytes(damage)
    done, _ = record(program, empty=True)
    assert [line for line in done.stderr.splitlines() if ".gcno" in line and "not counted" in line]


def test_other_linker(tmp_path):
    done = run([VENTURI, "cc", "-l", "-fuse-ld=gold", source("loops.c"), "-o", tmp_path / "x"], check=False)
    assert done.returncode == 2 and "INSERT" in done.stderr


@BOTH
def test_sampled_times(compile, record, compiler):
    """Inclusive, by line, on both threads; the marked error is that of the count."""
    _, lines = record(compile(compiler, "ratio.c", flags=["-O2"]), "150")
    both = lines.of("both")
    first, second = both[line_of("ratio.c", "spin(1, n)")], both[line_of("ratio.c", "spin(x, 3 * n)")]
    assert first["timing"] == second["timing"] == "sampled"
    assert second["time"] / first["time"] == pytest.approx(3, rel=0.5)
    work = lines.of("work")
    whole = next(line for line in work.values() if line["timing"] == "sampled" and line["hits"] == 300)
    assert whole["time"] == pytest.approx(first["time"] + second["time"], rel=0.2)
    assert lines.of("main")[line_of("ratio.c", "work(&b)")]["time"] < 0.75 * whole["time"]  # one of two threads


@BOTH
@pytest.mark.parametrize("level", ["-O0", "-O2"])
def test_exact(compile, record, compiler, level):
    """Three calls on three lines, each with its own time; results and hits as ever."""
    program = compile(compiler, "exact.c", flags=[level], options=("-l", "--exact"))
    plain = run([program]).stdout
    assert plain.split()[0] == "144"
    done, lines = record(program)
    assert done.stdout == plain
    calls = lines.of("three_calls")
    for text, least in (("rest(20)", 0.04), ("rest(40)", 0.08), ("rest(10); rest(10)", 0.04)):
        line = calls[line_of("exact.c", text)]
        assert line["hits"] == 2 and line["timing"] == "exact"
        assert least <= line["time"] < lines.took
    assert 0.03 <= lines.of("main")[line_of("exact.c", "rest(30)")]["time"] < lines.took  # after the jump
    assert lines.function("fib")["calls"] == 465
    assert lines.function("leap")["calls"] == 6


def test_exact_needs_lines(tmp_path):
    done = run([VENTURI, "cc", "--exact", source("loops.c"), "-o", tmp_path / "x"], check=False)
    assert done.returncode == 2 and "-l --exact" in done.stderr


def test_python_extension(compile, tmp_path):
    """A table of each language in one recording."""
    python = shutil.which("python3")
    include = run([python, "-c", "import sysconfig; print(sysconfig.get_paths()['include'])"]).stdout.strip()
    if not os.path.exists(os.path.join(include, "Python.h")):
        pytest.skip("no headers of Python")
    compile("gcc", "extension.c", flags=["-shared", "-fPIC", "-O2", "-I" + include], output="extension.so")
    script = tmp_path / "script.py"
    script.write_text("from venturi import profile\nimport extension\n\n\n@profile\ndef main():\n    total = 0\n"
                      "    for i in range(50):\n        total += extension.sum_to(200000)\n    return total\n\n\nmain()\n")
    done = run([VENTURI, "run", "-l", "-f", "-o", tmp_path / "py.vt", script], cwd=tmp_path, check=False)
    if "package is not where" in done.stderr:
        pytest.skip("no Python package in this build")
    assert done.returncode == 0, done.stderr
    lines = Lines(tmp_path / "py.vt")
    inner = lines.of("sum_to")
    assert inner[line_of("extension.c", "sum += i % 7")]["hits"] == 50 * 200000
    assert any(line["timing"] == "sampled" for line in inner.values())
    assert lines.of("main")[9]["hits"] == 50
    shown = run([VENTURI, "lines", tmp_path / "py.vt"]).stdout
    assert "Function: main at line 5\n" in shown and "Function: sum_to at line " in shown
    assert "total += extension.sum_to(200000)" in shown and "sum += i % 7" in shown


def test_source_changed(compile, record, tmp_path):
    """The text is that of now, and a line says that it is newer than the program."""
    shutil.copy(source("loops.c"), tmp_path / "mine.c")
    program = compile("gcc", tmp_path / "mine.c")
    later = os.stat(program).st_mtime + 10
    os.utime(tmp_path / "mine.c", (later, later))
    done, lines = record(program)
    assert [line for line in done.stderr.splitlines() if "changed since" in line and "mine.c" in line]
    assert lines.function("nested")["calls"] == 1


def test_source_gone(compile, record, tmp_path):
    shutil.copy(source("loops.c"), tmp_path / "mine.c")
    program = compile("gcc", tmp_path / "mine.c")
    (tmp_path / "mine.c").unlink()
    _, lines = record(program)
    assert lines.of("nested")[line_of("loops.c", "sum += i * j")]["hits"] > 0


@BOTH
def test_with_stacks(compile, record, compiler):
    """Lines and native stacks from the same samples."""
    _, lines = record(compile(compiler, "ratio.c", flags=["-O2"]), "100", options=["--native"])
    both = lines.of("both")
    assert both[line_of("ratio.c", "spin(x, 3 * n)")]["timing"] == "sampled"


def test_recursion_counts_once(compile, record, tmp_path):
    """A line that a stack stands on several times has no more time than there was."""
    (tmp_path / "deep.c").write_text("#include <stdlib.h>\nstatic volatile long sink;\nstatic void deep(int n)\n{\n"
                                     "    if (n)\n        deep(n - 1);\n    else\n"
                                     "        for (long i = 0; i < 20000000; i++)\n            sink += i;\n}\n"
                                     "int main(void)\n{\n    for (int i = 0; i < 5; i++)\n        deep(50);\n    return 0;\n}\n")
    _, lines = record(compile("gcc", tmp_path / "deep.c", flags=["-O0"]))
    deep, main = lines.of("deep"), lines.of("main")
    assert deep[6]["time"] == pytest.approx(main[14]["time"], rel=0.05)
    assert deep[6]["hits"] == 250
