"""visualize(), and what it writes."""
import pytest
from in_daskset import SETS, cases, check


@pytest.mark.parametrize("one, file, name", cases("case_pages", [SETS[0], *SETS[-2:]]))
def test_pages(one, file, name):
    check(one, file, name)
