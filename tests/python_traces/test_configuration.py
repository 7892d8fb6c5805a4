"""A service's settings and its log lines: venturi.configuration, with the two files of the guide as they are."""
import os

import pytest
from in_pythons import HERE, cases, check


@pytest.mark.parametrize("version, file, name", cases("case_configuration"))
def test_configuration(version, file, name):
    check(version, file, name, FIXTURES=os.path.join(HERE, "fixtures"))
