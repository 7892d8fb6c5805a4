"""venturi.dask.record and graphs on a cluster."""
import pytest
from in_dask import FILES, cases, check


@pytest.mark.parametrize("version, neighbours, file, name", cases(*FILES))
def test_distributed(version, neighbours, file, name):
    check(version, neighbours, file, name)
