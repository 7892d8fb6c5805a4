"""venturi.trace in greenlets, in every Python."""
import pytest
from in_pythons import cases, check


@pytest.mark.parametrize("version, file, name", cases("case_trace_greenlets"))
def test_greenlets(version, file, name):
    check(version, file, name, neighbours=("",))
