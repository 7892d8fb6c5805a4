"""The hook of SQLAlchemy, with both of its kinds: venturi.sql."""
import pytest
from in_pythons import cases, check


@pytest.mark.parametrize("neighbours", [("trace",), ("sql1",)], ids=["2", "1.4"])
@pytest.mark.parametrize("version, file, name", cases("case_sql"))
def test_sql(version, file, name, neighbours):
    check(version, file, name, neighbours=neighbours)
