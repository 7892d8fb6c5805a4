"""venturi.trace in every Python: what trace points do when the program does what nobody expects, here and while all is recorded."""
import subprocess

import pytest
from in_pythons import CASES, VENTURI, VERSIONS, cases, check, environment, neighbours_or_skip, python_or_skip


@pytest.mark.parametrize("version, file, name", cases("case_trace_rules"))
def test_rules(version, file, name):
    check(version, file, name)


@pytest.mark.parametrize("version", VERSIONS)
def test_rules_while_recorded(version, tmp_path):
    done = subprocess.run([VENTURI, "run", "-f", "-o", str(tmp_path / "r.vt"), "--", python_or_skip(version), CASES + "/runner.py",
                           "case_trace_rules"], capture_output=True, text=True, timeout=300,
                          env=environment(neighbours_or_skip(version, "trace"), RECORDED="1"))
    lines = [line for line in done.stdout.splitlines() if line.startswith('{"case"')]
    assert done.returncode == 0 and lines, done.stdout + done.stderr
    assert not [line for line in lines if '"why": ""' not in line]
