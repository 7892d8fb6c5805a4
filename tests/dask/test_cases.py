"""The files of cases/, in every interpreter: a test here is one of them in one interpreter."""
import pytest
from in_pythons import FILES, SETS, outcomes


@pytest.mark.parametrize("file", FILES)
@pytest.mark.parametrize("version, name", SETS, ids=["-".join(one) for one in SETS])
def test_cases(version, name, file):
    found, output = outcomes(version, name, file)
    wrong = {test: text for test, (outcome, text) in found.items() if outcome == "failed"}
    assert found, output[-3000:]
    assert not wrong, "\n".join(f"{test}: {text[-1500:]}" for test, text in wrong.items())
