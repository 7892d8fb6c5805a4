"""Middleware for WSGI and ASGI: venturi.web."""
import pytest
from in_pythons import cases, check


@pytest.mark.parametrize("version, file, name", cases("case_web"))
def test_web(version, file, name):
    check(version, file, name)
