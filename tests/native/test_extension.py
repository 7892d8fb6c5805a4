"""C functions of a Python extension stand under their Python callers, in the same tree."""
import json
import os
import sys
import sysconfig

import pytest
from conftest import BUILD, SANITIZE, VENTURI, need, run, source

SCRIPT = """
import extension

def inner():
    return extension.sum_of_squares(50)

def outer(count):
    for _ in range(count):
        inner()
        extension.call_back(inner)

def fails():
    try:
        extension.sum_of_squares("no number")
    except TypeError:
        extension.sum_of_squares(1)

outer(20)
fails()
"""

pytestmark = [
    pytest.mark.skipif(bool(SANITIZE), reason="this Python has no sanitizer"),
    pytest.mark.skipif(not os.path.exists(os.path.join(sysconfig.get_path("include"), "Python.h")),
                       reason="no headers of this Python"),
    pytest.mark.skipif(not os.path.isdir(os.path.join(BUILD, "python", "venturi")), reason="no Python package built"),
]


def compile_extension(tmp_path):
    path = tmp_path / ("extension" + sysconfig.get_config_var("EXT_SUFFIX"))
    run([VENTURI, "cc", "-O2", "-shared", "-fPIC", "-I" + sysconfig.get_path("include"), source("extension.c"), "-o", path])
    return path


def test_c_functions_under_python_functions(tmp_path, record):
    compile_extension(tmp_path)
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    profile = record(script, options=["--python", sys.executable]).profile()
    assert profile.lost == 0
    assert profile.callers("inner") == {"outer": 20, "call_back": 20}
    assert profile.callers("sum_of_squares") == {"inner": 40, "fails": 2}
    assert profile.callers("call_back") == {"outer": 20}
    assert profile.callers("square") == {"sum_of_squares": 40 * 50 + 1, "call_back": 20}
    assert profile["square"]["language"] == "c" and profile["inner"]["language"] == "python"


def cost_of_a_call(recording):
    profile = recording.profile()
    return profile.all["own_cost"] / sum(row["ncalls"] for row in profile.rows.values() if row["language"] == "c")


def test_cost_of_calls_is_known(tmp_path, record, compile):
    """What is taken off for a call of C in a Python program is what is taken off in a program of C alone."""
    compile_extension(tmp_path)
    script = tmp_path / "script.py"
    script.write_text("import extension\nextension.sum_of_squares(100000)\n")
    program = compile("cost.c", "-O2")
    for _ in range(5):  # the machine's other work disturbs either
        alone = cost_of_a_call(record(program, 1000))
        under = cost_of_a_call(record(script, options=["--python", sys.executable, "--only-mine"]))
        if 0.5 < under / alone < 2:
            break
    assert 0.5 < under / alone < 2


LIVE = """
import json, sys, venturi, extension
from venturi import _venturi

def inner(): return extension.sum_of_squares(50)

inner()  # seen before anybody counts
with venturi.Profile() as profile:
    for _ in range(20): inner()
stats = profile.stats()
raw = {row[2]: row[7] for row in _venturi.profile(profile.periods(), raw=True)}
print(json.dumps([[row.name, row.file, row.language, row.ncalls, row.tottime, raw[row.name]] for row in stats.rows()]))
"""


@pytest.mark.parametrize("is_stripped", [False, True])
def test_profile_of_a_live_process(tmp_path, is_stripped):
    """No recording, no tool: functions have the names that their file has for them, static ones too."""
    path = compile_extension(tmp_path)
    if is_stripped:
        need("strip")
        run(["strip", path])
    script = tmp_path / "script.py"
    script.write_text(LIVE)
    done = run([sys.executable, script], env={**os.environ, "PYTHONPATH": os.path.join(BUILD, "python")})
    rows = {row[0]: row[1:] for row in json.loads(done.stdout)}
    c_rows = {name: row for name, row in rows.items() if row[1] == "c"}
    assert rows["inner"][1:3] == ["python", 20]
    assert all(row[0] == str(path) for row in c_rows.values())
    assert sorted(row[2] for row in c_rows.values()) == [20, 1000]
    if is_stripped:
        assert all(name.startswith(path.name + "+0x") for name in c_rows)
    else:
        assert (c_rows["sum_of_squares"][2], c_rows["square"][2]) == (20, 1000)
    for _, _, _, own, raw in c_rows.values():  # what the hooks of C cost is taken off here too
        assert 0 <= own < raw
