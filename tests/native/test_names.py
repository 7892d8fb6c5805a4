"""What functions are called, and where they are said to be, by either compiler."""
import os

import pytest
from conftest import SYMBOLS, VENTURI, need, no_sanitizer, record, run, source  # noqa: F401

pytestmark = [no_sanitizer, pytest.mark.skipif(not os.access(SYMBOLS, os.X_OK), reason="venturi-symbols is not built: no libdw")]

COMPILERS = [("gcc", "g++"), ("clang", "clang++")]


def build(name, compiler, output, *flags):
    need(compiler)
    words = [VENTURI, "c++" if name.endswith(".cpp") else "cc", source(name), *flags, "-o", output]
    run(words, cwd=os.path.dirname(output), env={**os.environ, "VENTURI_CC": compiler, "VENTURI_CXX": compiler})
    return output


def line_of(name, text):
    return next(number for number, line in enumerate(open(source(name)), 1) if text in line)


@pytest.mark.parametrize("flags", [[], ["-gsplit-dwarf"], ["-gno-column-info"]], ids=" ".join)
@pytest.mark.parametrize("c, cpp", COMPILERS)
def test_files_and_lines(record, tmp_path, c, cpp, flags):
    """Also where the compiler writes no table of addresses (clang), and with options that do not ask for debug info."""
    profile = record(build("known.c", c, tmp_path / "known", "-pthread", *flags)).profile()
    mine = [row for row in profile.rows.values()]
    assert mine and all(row["file"] == source("known.c") and row["line"] > 0 for row in mine), mine
    assert profile["main"]["line"] == line_of("known.c", "int main")


@pytest.mark.parametrize("c, cpp", COMPILERS)
def test_names_of_cpp(record, tmp_path, c, cpp):
    program = build("names.cpp", cpp, tmp_path / "names", "-O1")
    profile = record(program).profile()
    mine = {row["name"]: row for row in profile.rows.values() if row["file"] == source("names.cpp")}
    expected = {"main": 1, "before_main": 1, "shop::Till<double>::take": 3, "shop::Till<std::string>::take": 1,
                "shop::Purse::operator bool": 1, "shop::Purse::operator<<": 1, "shop::Purse::operator()": 1,
                "shop::(anonymous namespace)::same<int>": 1}
    assert {name: mine[name]["ncalls"] for name in expected} == expected
    lambdas = sorted(row["line"] for name, row in mine.items() if "lambda" in name)
    assert lambdas == [line_of("names.cpp", "auto first"), line_of("names.cpp", "auto second")]
    if cpp == "g++":  # clang instruments no such function
        assert mine["static initialisation of names.cpp"]["ncalls"] == 1
    assert profile["shop::Till<double>::take(double const&)"]["name"] == "shop::Till<double>::take"
    text = run([VENTURI, "stats", "--strip-dirs", tmp_path / "out.vt", "take"]).stdout
    line = line_of("names.cpp", "KEEP void take")
    assert "names.cpp:%d(shop::Till<double>::take)" % line in text and "[2]" not in text


@pytest.mark.parametrize("how, left", [("jump", "fall"), ("signal", "wait_for_signal"), ("timeline", "fall")])
def test_after_a_jump(record, tmp_path, how, left):
    """main() sleeps after the jump, and then calls a function that sleeps as long."""
    program = build("jumped.c", "cc", tmp_path / "jumped", "-O1")
    profile = record(program, how, options=["--timeline"] if how == "timeline" else []).profile()
    assert profile[left]["cumtime"] < 0.1
    assert profile["main"]["tottime"] > 0.19 and profile["rest"]["tottime"] > 0.19
    assert profile.callers("rest") == {"main": 1}
