"""visualize(), and what it writes."""
import pytest
from in_daskset import FEW, cases, check


@pytest.mark.parametrize("one, file, name", cases("case_pages", FEW))
def test_pages(one, file, name):
    check(one, file, name)
