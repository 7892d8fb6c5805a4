"""The same profilers under our own engine, with dask and without."""
import pytest
from in_daskset import SETS, VERSIONS, cases, check


@pytest.mark.parametrize("one, file, name", cases("case_engine", SETS + [(version, "") for version in VERSIONS[-1:]]))
def test_engine(one, file, name):
    check(one, file, name)
