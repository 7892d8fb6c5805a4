"""Profilers under dask's own schedulers, compared with dask's own profilers; without dask; and their processes."""
import pytest
from in_daskset import VERSIONS, cases, check


@pytest.mark.parametrize("one, file, name", cases("case_profilers"))
def test_profilers(one, file, name):
    check(one, file, name)


@pytest.mark.parametrize("one, file, name", cases("case_progress"))
def test_progress(one, file, name):
    check(one, file, name)


@pytest.mark.parametrize("one, file, name", cases("case_resources", [(version, "") for version in VERSIONS]))
def test_resources(one, file, name):
    check(one, file, name)
