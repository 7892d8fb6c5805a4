"""examples/throughput.py, as its first lines tell to run it: by itself, and recorded."""
import json
import os
import re
import subprocess

import pytest
from conftest import environment
from interpreters import PACKAGE, VERSIONS, find

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SCRIPT = os.path.join(TOP, "examples", "throughput.py")
PYTHONS = [version for version in VERSIONS if find(version)[0]]


@pytest.mark.skipif(not PYTHONS, reason="no Python with the package")
def test_throughput(tmp_path):
    python = find(PYTHONS[0])[0]
    done = subprocess.run([python, SCRIPT], cwd=tmp_path, capture_output=True, text=True, timeout=120, env=environment(tmp_path, PACKAGE))
    assert done.returncode == 0 and done.stderr == "", done.stderr
    assert re.match(r"\d+\.\d\d alert/second\n\d+% objects with p > 0\n\d+\.\d\d alert/second of CPU time, ", done.stdout), done.stdout
    assert re.search(r" J and [\d.e-]+ g CO2e for 1,000 alerts\n", done.stdout) and " kg CO2e (cpu=" in done.stdout
    assert (tmp_path / "emissions.csv").read_text().count("\n") == 2


@pytest.mark.skipif(not PYTHONS, reason="no Python with the package")
def test_throughput_in_a_report(tmp_path):
    tool, path = os.environ["VENTURI"], str(tmp_path / "run.vt")
    subprocess.run([tool, "run", "-q", "--python", find(PYTHONS[0])[0], "--energy", "--country", "FRA", "-o", path, SCRIPT], cwd=tmp_path, check=True,
                   capture_output=True, timeout=120)
    told = json.loads(subprocess.run([tool, "report", "--json", path], check=True, capture_output=True, timeout=60).stdout)["energy"]["items"]
    assert told["raw"] > told["effective"] > 0 and told["raw_per_core_s"] > 0
    assert told["j_per_1000"] > 0 and told["co2e_g_per_1000"] > 0
