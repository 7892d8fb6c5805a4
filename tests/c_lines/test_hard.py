"""What may go wrong with lines of C: notes that are damaged, odd builds, children of every kind."""
import os
import random
import re
import subprocess

import pytest

from conftest import VENTURI, Lines, line_of, need, run, source

BOTH = pytest.mark.parametrize("compiler", ["gcc", "clang"])


@BOTH
@pytest.mark.parametrize("options", [("-l",), ("-l", "--exact")])
@pytest.mark.parametrize("how, calls, rounds", [("spawn", 4, 20), ("vfork", 4, 20), ("threads", 2010, 20070), ("kill", 2, 24)])
def test_children(compile, record, compiler, options, how, calls, rounds):
    _, lines = record(compile(compiler, "children.c", flags=["-O0"], options=options), how)
    assert lines.function("work")["calls"] == calls
    assert lines.of("work")[line_of("children.c", "sink += i")]["hits"] == rounds


def test_two_at_once(compile, tmp_path):
    """Two recordings of one program: neither has what the other counted."""
    program = compile("gcc", "children.c", flags=["-O0"])
    both = [subprocess.Popen([VENTURI, "run", "-l", "-f", "-o", tmp_path / name, program, "threads"], stderr=subprocess.DEVNULL)
            for name in ("a.vt", "b.vt")]
    assert [one.wait(120) for one in both] == [0, 0]
    for name in ("a.vt", "b.vt"):
        assert Lines(tmp_path / name).of("work")[line_of("children.c", "sink += i")]["hits"] == 20070


def damaged(good, chance):
    """Cut off, or with some words replaced."""
    if chance.random() < 0.4:
        return good[:chance.randrange(len(good))]
    data = bytearray(good)
    for _ in range(chance.choice([1, 2, 5, 20])):
        at = chance.randrange(12, len(data)) & ~3
        data[at:at + 4] = chance.choice([0, 1, 0x7fffffff, 0xffffffff, chance.randrange(64)]).to_bytes(4, "little")
    return bytes(data)


@BOTH
def test_damaged_notes(compile, record, tmp_path, compiler):
    """At most one line about them; what is shown ends, be it after the 100,000 rows that a function without text may have."""
    program = compile(compiler, "loops.c", flags=["-O1"])
    notes = next(tmp_path.glob("*.gcno"))
    good = notes.read_bytes()
    chance = random.Random(4)
    for _ in range(25):
        notes.write_bytes(damaged(good, chance))
        done, _ = record(program, empty=True)
        assert len([line for line in done.stderr.splitlines() if ".gcno" in line]) <= 1, done.stderr
        shown = run([VENTURI, "lines", tmp_path / "out.vt"], check=False)
        assert shown.returncode in (0, 2) and len(shown.stdout) < 1 << 24
        if shown.returncode:
            assert shown.stderr.count("\n") == 1 and "do not fit" in shown.stderr


def test_sources_of_one_name(tmp_path):
    """The compiler writes the notes of both to one file: what is missing is said."""
    for folder, name in (("a", "first"), ("b", "second")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "same.c").write_text("int %s(void)\n{\n    return %d;\n}\n" % (name, len(name)))
    (tmp_path / "main.c").write_text("int first(void);\nint second(void);\nint main(void)\n{\n    return first() + second() != 11;\n}\n")
    run([VENTURI, "cc", "-l", "main.c", "a/same.c", "b/same.c", "-o", "prog"], cwd=tmp_path)
    done = run([VENTURI, "run", "-l", "-f", "-o", "out.vt", "./prog"], cwd=tmp_path)
    assert len([line for line in done.stderr.splitlines() if "another source of that name" in line]) == 1
    assert Lines(tmp_path / "out.vt").names() == {"main", "second"}


@BOTH
def test_long_and_odd_paths(tmp_path, compiler):
    """Spaces, letters that are no ASCII, relative, and longer than a thousand bytes."""
    need(compiler)
    folder = tmp_path / "a b ü"
    for _ in range(8):
        folder /= "d" * 200
    (folder / "out").mkdir(parents=True)
    (folder / "my prog.c").write_text("int main(void)\n{\n    return 0;\n}\n")
    env = {**os.environ, "VENTURI_CC": compiler}
    run([VENTURI, "cc", "-l", "-c", "../my prog.c", "-o", "my prog.o"], cwd=folder / "out", env=env)
    run([VENTURI, "cc", "-l", "my prog.o", "-o", "the prog"], cwd=folder / "out", env=env)
    run([VENTURI, "run", "-l", "-f", "-o", tmp_path / "out.vt", "./the prog"], cwd=folder / "out")
    main = Lines(tmp_path / "out.vt").function("main")
    assert main["file"] == str(folder / "my prog.c") and main["source"] == "stored"
    assert {line["line"]: line["hits"] for line in main["lines"]}[3] == 1


@BOTH
def test_line_directives(compile, record, tmp_path, compiler):
    """Code that a generator made, from a file that is not there."""
    (tmp_path / "made.c").write_text('#line 100 "gone.y"\nint act(int x)\n{\n    if (x > 3)\n        return 2 * x;\n    return x;\n}\n'
                                     '#line 20 "made.c"\nint main(void)\n{\n    int sum = 0;\n    for (int i = 0; i < 10; i++)\n'
                                     '        sum += act(i);\n    return sum == 0;\n}\n')
    _, lines = record(compile(compiler, tmp_path / "made.c", flags=["-O0"]))
    assert os.path.basename(lines.function("act")["file"]) == "gone.y"
    assert {number: line["hits"] for number, line in lines.of("act").items() if number in (102, 103, 104)} == {102: 10, 103: 6, 104: 4}
    assert lines.of("main")[24]["hits"] == 10


@BOTH
@pytest.mark.parametrize("count", [2000])
def test_many_functions(compile, record, tmp_path, compiler, count):
    text = "".join("int f%d(int x)\n{\n    return x + %d;\n}\n" % (i, i) for i in range(count))
    calls = "".join("    sum = f%d(sum) & 0xff;\n" % i for i in range(count))
    (tmp_path / "many.c").write_text(text + "int main(void)\n{\n    int sum = 0;\n" + calls + "    return sum > 255;\n}\n")
    done, lines = record(compile(compiler, tmp_path / "many.c", flags=["-O0"]))
    assert len(lines.functions) == count + 1 and all(f["calls"] == 1 for f in lines.functions)
    assert re.search(r", [\d.]+ k lines, ", done.stderr) and "events" not in done.stderr


@BOTH
def test_system_headers_by_wish(compile, record, compiler):
    program = compile(compiler, "classes.cpp", flags=["-O0"])
    _, lines = record(program)
    assert {f["file"] for f in lines.functions} == {source("classes.cpp")}
    _, lines = record(program, env={"VENTURI_SYSTEM_LINES": "1"})
    assert any(f["file"].startswith("/usr/include/c++/") for f in lines.functions)


def test_threads_apart(compile, record):
    """Hits are of a process: the merged table has all of them, and those of threads say so."""
    _, lines = record(compile("gcc", "children.c", flags=["-O0"], options=("-l", "--exact")), "threads")
    assert lines.of("count")[line_of("children.c", "work(10)")]["hits"] == 2000
    shown = run([VENTURI, "lines", "--threads", lines.path])
    assert "hits of C are counted for each process" in shown.stderr and "Thread: (all threads)" in shown.stdout
    assert "for each process" not in run([VENTURI, "lines", lines.path]).stderr
    apart = [f for f in Lines(lines.path, "--threads").functions if f["name"] == "count" and "all threads" not in f["thread"]]
    assert len(apart) == 2 and all(line["hits"] is None for f in apart for line in f["lines"])


def test_counted_only(compile, record, tmp_path):
    """No time is no 0."""
    (tmp_path / "short.c").write_text("int main(void)\n{\n    return 0;\n}\n")
    _, lines = record(compile("gcc", tmp_path / "short.c", flags=["-O0", "-static"]))
    assert lines.function("main")["total_time"] is None
    shown = run([VENTURI, "lines", "-m", lines.path])
    assert "Total time: -\n" in shown.stdout and "     - seconds - " in shown.stdout and shown.stderr == ""


def test_no_debug_info_is_said_once(compile, record):
    done, lines = record(compile("gcc", "ratio.c", flags=["-g0"]), "100")
    assert done.stderr.count("no debug info") == 1
    assert lines.function("both")["calls"] == 200
