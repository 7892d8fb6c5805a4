"""dask's own tests of its local schedulers, callbacks and diagnostics, with our engine in their place (shim.py).

What does not apply is listed in docs/dask.md, with the reason; nothing else may fail, and what is listed must fail, or be gone.
"""
import os
import re

import pytest
from in_pythons import FEW, OWN, outcomes
from interpreters import TOP


def not_applying():
    with open(os.path.join(TOP, "docs", "dask.md"), encoding="utf-8") as file:
        return set(re.findall(r"^\| `(test_\w+)` in `test_\w+\.py` \|", file.read(), re.M))


@pytest.mark.parametrize("file", OWN, ids=[os.path.basename(file)[5:-3] for file in OWN])
@pytest.mark.parametrize("version, name", FEW, ids=["-".join(one) for one in FEW])
def test_own(version, name, file):
    found, output = outcomes(version, name, file)
    wrong = {test: text for test, (outcome, text) in found.items() if outcome == "failed"}
    unexpected = {test: text for test, text in wrong.items() if test.split("[")[0] not in not_applying()}
    assert sum(outcome == "passed" for outcome, _ in found.values()) >= 3, output[-3000:]
    assert not unexpected, "\n".join(f"{test}: {text[-1500:]}" for test, text in unexpected.items())


def test_the_list_is_true():
    """Each test that is listed fails with our engine in at least one of dask's versions that are here."""
    failed = set()
    for version, name in FEW:
        for file in OWN:
            found, _ = outcomes(version, name, file)
            failed |= {test.split("[")[0] for test, (outcome, _) in found.items() if outcome == "failed"}
    assert failed == not_applying()
