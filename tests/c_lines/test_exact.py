"""Lines of C that are timed one by one: functions on a line, forked children, C that Python calls."""
import os
import shutil

import pytest

from conftest import VENTURI, Lines, line_of, run

BOTH = pytest.mark.parametrize("compiler", ["gcc", "clang"])


@BOTH
@pytest.mark.parametrize("level", ["-O0", "-O2"])
def test_functions_on_a_line(compile, record, compiler, level):
    _, lines = record(compile(compiler, "oneline.c", flags=[level], options=("-l", "--exact")))
    for name, least in (("nap", 0.07), ("one", 0.03), ("two", 0.04)):
        line = lines.of(name)[line_of("oneline.c", "// " + name)]
        assert line["timing"] == "exact" and least <= line["time"] < least + 0.5, name


@BOTH
def test_child_goes_on(compile, record, compiler):
    """What a child does in the function that forked has a time; what has ended does not begin again."""
    _, lines = record(compile(compiler, "oneline.c", flags=["-O0"], options=("-l", "--exact")))
    main = lines.of("main")
    line = main[line_of("oneline.c", "// child")]
    assert line["hits"] == 1 and 0.05 <= line["time"] < 0.5
    assert lines.function("main")["calls"] == 1
    assert main.get(line_of("oneline.c", "// end"), {}).get("time") in (None, 0) or \
        main[line_of("oneline.c", "// end")]["time"] < 0.01


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
