"""venturi.trace in every Python: what it tells, beside the real osprofiler, and where spans begin and end."""
import pytest
from in_pythons import cases, check


@pytest.mark.parametrize("version, file, name", cases("case_trace_points", "case_trace_spans", "case_trace_flow", "case_trace_carry"))
def test_points(version, file, name):
    check(version, file, name)
