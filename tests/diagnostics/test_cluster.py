"""Profilers under a distributed Client, and dask_profiler."""
import pytest
from in_daskset import FEW, cases, check


@pytest.mark.parametrize("one, file, name", cases("case_cluster", FEW))
def test_cluster(one, file, name):
    check(one, file, name)
