"""Steps: in C, and in every Python that Venturi was built for, under the real tool.

VENTURI_BUILD names the build folder (default: build). What is recorded is read back with `venturi query`.
"""
import os
import sys

import pytest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "lib"))

from stepping import PYTHONS, VERSIONS, Interpreter, extension, newest_python  # noqa: E402


@pytest.fixture(params=VERSIONS)
def python(request, tmp_path):
    if not extension(request.param):
        pytest.skip("no extension for Python " + request.param)
    return Interpreter(PYTHONS[request.param][0], tmp_path)


@pytest.fixture
def newest(tmp_path):
    return newest_python(tmp_path)
