"""Hits, line by line, as the compilers' own coverage tools count them."""
import pytest

PROGRAMS = {
    "loops": ["loops.c"],
    "jumps": ["jumps.c"],
    "inline": ["inline1.c", "inline2.c"],
    "threads": ["threads.c"],
    "classes": ["classes.cpp"],
}
CODES = {"jumps": 3}


@pytest.mark.parametrize("level", ["-O0", "-O2"])
@pytest.mark.parametrize("compiler", ["gcc", "clang"])
@pytest.mark.parametrize("name", sorted(PROGRAMS))
def test_hits(compile, record, oracle, name, compiler, level):
    flags = [level]
    if compiler == "gcc":
        flags.append("-fno-early-inlining")  # as `venturi cc -l` has it: functions are counted before they are inlined
    expected = oracle(compiler, *PROGRAMS[name], flags=flags, codes=[CODES.get(name, 0)])
    done, lines = record(compile(compiler, *PROGRAMS[name], flags=[level]), check=False)
    assert done.returncode == CODES.get(name, 0), done.stderr
    mine = {key: count for key, count in lines.hits().items() if key in expected or key[0] in {k[0] for k in expected}}
    assert mine == expected
