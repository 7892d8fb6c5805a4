"""Functions of C++: one table for each, whatever compilers, linkers and debug info call it."""
import re

import pytest

from conftest import VENTURI, Lines, line_of, run

BOTH = pytest.mark.parametrize("compiler", ["gcc", "clang"])
PLACES = ("// hidden", "// named", "// lambda")


@BOTH
@pytest.mark.parametrize("options", [("-l",), ("-l", "--exact")])
def test_one_table(compile, record, compiler, options):
    """Hits and times of a line stand together: static functions, those of namespaces, lambdas, templates."""
    _, lines = record(compile(compiler, "names.cpp", flags=["-O0"], options=options))
    assert len(lines.functions) == len({(f["line"], f["name"]) for f in lines.functions}) == 8
    for text in PLACES:
        number = line_of("names.cpp", text)
        found = [line for f in lines.functions for line in f["lines"] if line["line"] == number]
        assert len(found) == 1 and found[0]["hits"] == 1 and 0.002 < found[0]["time"] < lines.took, text
    shaped = [line for f in lines.functions for line in f["lines"] if line["line"] == line_of("names.cpp", "// shaped")]
    assert len(shaped) == 2 and all(line["hits"] == 1 and line["time"] > 0.002 for line in shaped)


@BOTH
def test_inlined(compile, record, compiler):
    """Of a function that is nowhere but in others there is one table too."""
    _, lines = record(compile(compiler, "names.cpp", flags=["-O2"]))
    places = [(f["line"], f["name"].split("(")[0]) for f in lines.functions if "lambda" not in f["name"]]
    assert len(places) == len(set(places))


@BOTH
@pytest.mark.parametrize("options", [("-l",), ("-l", "--exact")])
def test_no_system_headers(compile, record, compiler, options):
    _, lines = record(compile(compiler, "names.cpp", flags=["-O0"], options=options))
    assert {f["file"].split("/")[-1] for f in lines.functions} == {"names.cpp"}


@pytest.mark.parametrize("wanted, count", [("named", 1), ("ns::named", 1), ("ns::named(double)", 1), ("ns::*", 1), ("shaped", 2),
                                           ("shaped<float>", 1), ("burn", 1), ("hidden", 1), ("ame", 0)])
def test_wanted_by_name(compile, record, wanted, count):
    _, lines = record(compile("gcc", "names.cpp", flags=["-O0"]))
    done = run([VENTURI, "lines", lines.path, wanted], check=False)
    assert len(re.findall("^Function: ", done.stdout, re.M)) == count, done.stdout


def test_unknown_hits_are_blank(compile, record, tmp_path):
    """A time without counters: how often is not known, which is not never."""
    program = compile("gcc", "names.cpp", flags=["-O0"])
    for path in tmp_path.glob("*.gcno"):
        path.unlink()
    done, _ = record(program, empty=True)
    path = next(tmp_path.glob("*.vt"))
    lines = [line for f in Lines(path).functions for line in f["lines"]]
    assert lines and all(line["hits"] is None for line in lines)
    assert re.search(r"^ +\d+ +~[\d.]+ +~", run([VENTURI, "lines", path]).stdout, re.M)
    assert not re.search(r"^ +\d+ +0 +~", run([VENTURI, "lines", path]).stdout, re.M)


@BOTH
@pytest.mark.parametrize("level", ["-O0", "-O2"])
def test_end_of_a_function_that_catches(compile, record, tmp_path, compiler, level):
    """An exception that arrives is no execution of the end of its function."""
    (tmp_path / "catch.cpp").write_text("static int work(int n)\n{\n    int r = 0;\n    try {\n        if (n > 3)\n"
                                        "            throw 1;\n        r = 2;\n    } catch (int e) {\n        r += e;\n    }\n"
                                        "    return r;\n}\nint main()\n{\n    for (int i = 0; i < 6; i++)\n        work(i);\n"
                                        "    return 0;\n}\n")
    _, lines = record(compile(compiler, tmp_path / "catch.cpp", flags=[level]))
    work = lines.of("work(int)")
    assert work[9]["hits"] == 2
    assert work.get(12, {"hits": 6})["hits"] == 6  # or it has no code
