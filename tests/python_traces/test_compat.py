"""venturi.compat.osprofiler: the same cases hold for the real package and for ours, which needs none of it."""
import pytest
from in_pythons import cases, check


@pytest.mark.parametrize("version, file, name", cases("case_compat"))
def test_ours_without_osprofiler(version, file, name):
    check(version, file, name, neighbours=(), PROFILER="venturi.compat.osprofiler", ALONE="1")


@pytest.mark.parametrize("version, file, name", cases("case_compat"))
def test_ours_with_oslo_config(version, file, name):
    check(version, file, name, PROFILER="venturi.compat.osprofiler", HIDDEN="osprofiler")


@pytest.mark.parametrize("version, file, name", [case for case in cases("case_compat") if "-ours_" not in case.id])
def test_the_real_one(version, file, name):
    check(version, file, name, PROFILER="osprofiler")


@pytest.mark.parametrize("version, file, name", cases("case_mistral"))
def test_both(version, file, name):
    check(version, file, name)
