"""`venturi cc` and `venturi c++`: the compiler's own behaviour, and what is added to it."""
import json
import os
import re
import shlex
import shutil
import time

import pytest
from conftest import BUILD, FLAGS, SANITIZE, TOP, VENTURI, Profile, need, no_sanitizer, run, source

HELLO = "int main(void) { return 0; }\n"


@pytest.fixture
def spy(tmp_path):
    """A compiler that prints its words, one a line, and ends with 7; the environment that names it."""
    script = tmp_path / "spy"
    script.write_text("#!/bin/sh\nprintf '%s\\n' \"$@\"\nexit 7\n")
    script.chmod(0o755)
    return {**os.environ, "VENTURI_CC": str(script), "VENTURI_CXX": str(script)}


def words(env, *arguments, command="cc"):
    done = run([VENTURI, command, *arguments], check=False, env=env)
    assert done.returncode == 7
    return done.stdout.splitlines()


def test_passes_everything_on(spy):
    got = words(spy, "-c", "a b.c", "-DX=\"y z\"", "", "-o", "x.o")
    assert got[-6:] == ["-c", "a b.c", "-DX=\"y z\"", "", "-o", "x.o"]
    assert "-finstrument-functions" in got and "-g" in got


@pytest.mark.parametrize("arguments, links", [
    (["a.c"], True), (["a.o", "b.o", "-o", "x"], True), (["-shared", "a.o"], True), (["-"], True),
    (["-c", "a.c"], False), (["-S", "a.c"], False), (["-E", "a.c"], False), (["a.c", "-c"], False),
    (["-r", "a.o"], False), (["-MM", "a.c"], False), (["--version"], False), (["-v"], False),
    (["-o", "x"], False), (["-I", "include", "-D", "X"], False), (["-print-search-dirs"], False),
    (["-fsyntax-only", "a.c"], False)])
def test_links_the_runtime_when_linking(spy, arguments, links):
    assert ("-lventuri-functions" in words(spy, *arguments)) == links


@pytest.mark.parametrize("given", ["-g0", "-g3", "-ggdb", "-gsplit-dwarf", "-gdwarf-aranges", "-gno-column-info"])
def test_debug_info_as_the_user_says(spy, given):
    """Not all that begins with -g asks for debug info; of those that do the last counts."""
    got = words(spy, "-c", given, "a.c")
    assert got.index("-g") < got.index(given)
    assert "-g" not in words(spy, "-c", "-gtoggle", "a.c")


def test_cpp(spy):
    assert "-finstrument-functions" in words(spy, "-c", "a.cpp", command="c++")


def test_which_compiler(tmp_path, spy):
    done = run([VENTURI, "cc", "-c", "x.c"], check=False, env={**spy, "VENTURI_CC": "", "CC": spy["VENTURI_CC"]})
    assert done.returncode == 7
    done = run([VENTURI, "cc", "-c", "x.c"], check=False,
               env={**spy, "VENTURI_CC": "", "CC": "env SOMETHING=1 " + spy["VENTURI_CC"]})
    assert done.returncode == 7
    done = run([VENTURI, "cc", "x.c"], check=False, env={**spy, "VENTURI_CC": "/no/such/cc"})
    assert done.returncode == 127 and done.stderr == "venturi cc: /no/such/cc: No such file or directory\n"


def test_named_as_the_compiler_itself(tmp_path):
    """CC="venturi cc" is how a build system is told; it is not what `venturi cc` runs."""
    hello = tmp_path / "hello.c"
    hello.write_text(HELLO)
    env = {**os.environ, "PATH": os.path.dirname(VENTURI) + ":" + os.environ["PATH"], "CC": "venturi cc"}
    env.pop("VENTURI_CC", None)
    run([VENTURI, "cc", "-c", hello, "-o", tmp_path / "hello.o"], env=env)
    wrapper = tmp_path / "wrapper"
    wrapper.write_text("#!/bin/sh\nexec %s cc \"$@\"\n" % VENTURI)
    wrapper.chmod(0o755)
    done = run([VENTURI, "cc", "-c", hello], check=False, env={**env, "CC": str(wrapper)})
    assert done.returncode == 2 and done.stderr == "venturi cc: the compiler that it is to run is itself\n"


def test_nothing_to_compile():
    done = run([VENTURI, "c++"], check=False)
    assert done.returncode == 2 and done.stderr.startswith("venturi c++: compile what?")


def test_compiler_errors_are_its_own(tmp_path):
    bad = tmp_path / "bad.c"
    bad.write_text("int main(void) { return x; }\n")
    done = run([VENTURI, "cc", "-c", bad, "-o", tmp_path / "bad.o"], check=False)
    assert done.returncode == 1 and "undeclared" in done.stderr


def test_static_is_said(spy):
    done = run([VENTURI, "cc", "-static", "a.c"], check=False, env=spy)
    assert "-lventuri-functions" not in done.stdout
    assert done.stderr == "venturi cc: warning: -static: nothing will be recorded, our runtime is a shared library\n"


def test_compiled_and_linked_apart(tmp_path, record):
    run([VENTURI, "cc", *FLAGS, "-O1", "-c", source("known.c"), "-o", tmp_path / "known.o"])
    run([VENTURI, "cc", *FLAGS, tmp_path / "known.o", "-o", tmp_path / "known"])
    assert record(tmp_path / "known").profile().calls()["fib"] == 1973


@pytest.mark.skipif(bool(SANITIZE), reason="gcc's sanitizer is in the collector")
@no_sanitizer
def test_example_of_the_readme(tmp_path):
    """What README.md shows is what happens: its commands, and their output but for sizes, rounding and times."""
    with open(os.path.join(TOP, "README.md")) as file:
        block, = [text for text in file.read().split("```") if text.startswith("console\n$ venturi cc ")]
    lines = block.splitlines()[1:]
    shutil.copy(os.path.join(TOP, "examples", "fib.c"), tmp_path)
    path = os.path.dirname(os.path.abspath(VENTURI)) + os.pathsep + os.environ["PATH"]
    shown = []
    for command in [line[2:] for line in lines if line.startswith("$ ")]:
        done = run(shlex.split(command), cwd=tmp_path, env={**os.environ, "PATH": path})
        shown += ["$ " + command, *done.stdout.splitlines(), *done.stderr.splitlines()]
    changing = re.compile(r"[\d.]+ kB|own cost (?:below |over )?[\d.]+ %")
    assert [changing.sub("", line) for line in shown] == [changing.sub("", line) for line in lines]
    assert Profile(tmp_path / "fib.vt").calls() == {"main": 1, "fib": 635621}


@pytest.mark.skipif(bool(SANITIZE), reason="gcc's sanitizer is in the collector")
@pytest.mark.parametrize("name", ["known.c", "throws.cpp"])
def test_clang(tmp_path, record, name):
    need("clang", "clang++")
    program = tmp_path / "program"
    run([VENTURI, "c++" if name.endswith("pp") else "cc", "-O2", source(name), "-o", program],
        env={**os.environ, "VENTURI_CC": "clang", "VENTURI_CXX": "clang++"})
    calls = record(program, 100).profile().calls()
    assert calls.get("fib", 1973) == 1973 and calls.get("shop::fail(int)", 200) == 200
    assert calls["main"] == 1


@pytest.mark.skipif(bool(SANITIZE), reason="gcc's sanitizer is in the collector")
def test_clang_of_a_cache_of_compilers(tmp_path):
    """Such a one stands in front as a link of the compiler's name to the cache."""
    need("clang")
    cache = tmp_path / "bin" / "cache"
    cache.parent.mkdir()
    cache.write_text('#!/bin/sh\nPATH=${PATH#*:} exec clang "$@"\n')
    cache.chmod(0o755)
    (cache.parent / "clang").symlink_to("cache")
    run([VENTURI, "cc", source("known.c"), "-o", tmp_path / "program"],
        env={**os.environ, "PATH": f"{cache.parent}:{os.environ['PATH']}", "VENTURI_CC": "clang"})
    assert (tmp_path / "program").exists()


def test_runs_alone_without_a_recording(compile):
    assert run([compile("known.c")]).stderr == ""


def is_closed(path):
    done = run([VENTURI, "info", "--json", path], check=False)
    return done.returncode == 0 and json.loads(done.stdout)["closed"]


def test_records_on_its_own(compile, tmp_path):
    """Without `venturi run`: a helper is started, as for trace points."""
    program = compile("known.c", "-O1")
    path = tmp_path / "alone.vt"
    run([program], env={**os.environ, "VENTURI_OUTPUT": str(path)})
    end = time.monotonic() + 60
    while not is_closed(path):
        assert time.monotonic() < end, "waited too long"
        time.sleep(0.05)
    assert Profile(path).calls()["fib"] == 1973


def test_pkg_config(tmp_path, record):
    need("pkg-config", "gcc")
    env = {**os.environ, "PKG_CONFIG_PATH": os.path.join(BUILD, "meson-uninstalled")}
    flags = run(["pkg-config", "--cflags", "--libs", "venturi-functions"], env=env).stdout.split()
    program = tmp_path / "known"
    run(["gcc", *FLAGS, "-O1", source("known.c"), "-o", program, *flags])
    assert record(program).profile()["leaf"]["line"] == 15
