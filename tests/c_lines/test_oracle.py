"""Hits, line by line, as the compilers' own coverage tools count them."""
import pytest

from conftest import line_of, source

PROGRAMS = {
    "loops": ["loops.c"],
    "jumps": ["jumps.c"],
    "inline": ["inline1.c", "inline2.c"],
    "threads": ["threads.c"],
    "classes": ["classes.cpp"],
}
CODES = {"jumps": 3}
HERE = {name for names in PROGRAMS.values() for name in names} | {"shared.h"}

# gcov counts a line again each time that control comes back to it, from a function that is always inlined, from a
# destructor, from another part of an expression; llvm-cov counts the end of a function for each exception that arrives
# in it. We do so less often. The right number is known.
UNSURE = {
    ("inline2.c", line_of("inline2.c", "shared_square")): 20,
    ("classes.cpp", line_of("classes.cpp", "return (int)text.size()")): 8,
    ("classes.cpp", line_of("classes.cpp", "return (int)text.size()") + 1): 8,
    ("classes.cpp", line_of("classes.cpp", "return -(int)std::string(error.what())") + 2): 10,
    ("loops.c", line_of("loops.c", "best > 3 ?")): 5,
    ("loops.c", line_of("loops.c", "on_one_line(int n)")): 38,
}


@pytest.mark.parametrize("level", ["-O0", "-O2"])
@pytest.mark.parametrize("compiler", ["gcc", "clang"])
@pytest.mark.parametrize("name", sorted(PROGRAMS))
def test_hits(compile, record, oracle, name, compiler, level):
    flags = [level]
    if compiler == "gcc":
        flags.append("-fno-early-inlining")  # as `venturi cc -l` has it: functions are counted before they are inlined
    expected, doubled = oracle(compiler, *PROGRAMS[name], flags=flags, codes=[CODES.get(name, 0)])
    done, lines = record(compile(compiler, *PROGRAMS[name], flags=[level]), check=False)
    assert done.returncode == CODES.get(name, 0), done.stderr
    mine = {key: count for key, count in lines.hits().items() if key[0] in HERE}
    expected = {key: count for key, count in expected.items() if key[0] in HERE}
    for key in UNSURE.keys() & expected.keys():
        assert UNSURE[key] <= mine[key] <= expected[key]
        mine[key] = expected[key]
    assert len(mine) > 10
    for key in doubled & mine.keys():
        assert expected[key] % mine[key] == 0, key
    left_out = doubled | (lines.shared() if compiler == "gcc" else set())  # gcov shows one function of a line
    for key in left_out:
        mine.pop(key, None)
        expected.pop(key, None)
    assert mine == expected


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_lambda(compile, record, compiler):
    """What a lambda does is its own, also where it shares a line with the function around it."""
    _, lines = record(compile(compiler, "classes.cpp", flags=["-O0"]))
    inner = [function for function in lines.functions if "lambda" in function["name"] or "$_" in function["name"]]
    begin = line_of("classes.cpp", "std::for_each(")
    eights = [line["hits"] for function in inner for line in function["lines"] if function["line"] == line["line"] == begin]
    assert lines.of("main")[begin]["hits"] == 1
    assert eights == [8]
    assert {function["file"] for function in lines.functions} == {source("classes.cpp")}  # nothing of the system's
