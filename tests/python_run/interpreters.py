"""The Pythons of this machine that Venturi is for, as tools/pythons finds them."""
import functools
import os
import subprocess
import sys

import pytest

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.path.abspath(os.environ.get("VENTURI_BUILD", os.path.join(TOP, "build")))
PACKAGE = os.path.join(BUILD, "python")
VERSIONS = ["3.9", "3.10", "3.11", "3.12", "3.13"]


@functools.lru_cache(maxsize=None)
def _lines(*options):
    command = [sys.executable, os.path.join(TOP, "tools", "pythons"), *options]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()


@functools.lru_cache(maxsize=None)
def find(version):
    """Path of a Python of that version that has its extension, or why there is none."""
    for line in _lines():
        found, path, _, suffix = line.split("\t")
        if found == version:
            is_built = os.path.exists(os.path.join(PACKAGE, "venturi", "_venturi" + suffix))
            return (path, "") if is_built else (None, f"the extension for Python {version} is not built")
    reasons = [line for line in _lines("--missing") if line.startswith(f"Python {version}:")]
    return None, reasons[0] if reasons else f"no Python {version}"


def python_or_skip(version):
    if os.environ.get("VENTURI_SANITIZE"):
        pytest.skip("an interpreter without sanitizers cannot load an extension with them")
    path, why = find(version)
    if not path:
        pytest.skip(why)
    return path
