"""C functions of a Python extension stand under their Python callers, in the same tree."""
import os
import sys
import sysconfig

import pytest
from conftest import BUILD, SANITIZE, VENTURI, run, source

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


def test_c_functions_under_python_functions(tmp_path, record):
    suffix = sysconfig.get_config_var("EXT_SUFFIX")
    run([VENTURI, "cc", "-O2", "-shared", "-fPIC", "-I" + sysconfig.get_path("include"), source("extension.c"),
         "-o", tmp_path / ("extension" + suffix)])
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    profile = record(script, options=["--python", sys.executable]).profile()
    assert profile.lost == 0
    assert profile.callers("inner") == {"outer": 20, "call_back": 20}
    assert profile.callers("sum_of_squares") == {"inner": 40, "fails": 2}
    assert profile.callers("call_back") == {"outer": 20}
    assert profile.callers("square") == {"sum_of_squares": 40 * 50 + 1, "call_back": 20}
    assert profile["square"]["language"] == "c" and profile["inner"]["language"] == "python"
