"""Headers across services: venturi.propagation."""
import pytest
from in_pythons import cases, check


@pytest.mark.parametrize("version, file, name", cases("case_propagation"))
def test_propagation(version, file, name):
    check(version, file, name)
