"""The machine's own Python, which may be older than those that the rest is tested with."""
import json
import os
import subprocess

import pytest
from conftest import VENTURI, environment

SYSTEM = "/usr/bin/python3"

PROGRAM = """
class Map:
    def __getitem__(self, at): return self.look(at)
    def look(self, at): return at

def subscripts(of):
    for at in range(1000):
        of[at]

def leaf(): pass

def calls():
    for _ in range(1000):
        leaf()

subscripts(Map())
calls()
"""


def is_supported():
    if not os.path.exists(SYSTEM):
        return False
    done = subprocess.run([SYSTEM, "-c", "import sys; sys.exit(not (3, 9) <= sys.version_info[:2] <= (3, 13))"])
    return done.returncode == 0


@pytest.mark.skipif(not is_supported(), reason=f"no {SYSTEM} of version 3.9 to 3.13")
@pytest.mark.parametrize("options", [[], ["--builtins"]], ids=["functions", "builtins"])
def test_every_call_is_counted(tmp_path, options):
    """Python 3.11.2 of Debian 12 calls __getitem__ past the hook once the subscript has become fast."""
    (tmp_path / "script.py").write_text(PROGRAM)
    done = subprocess.run([VENTURI, "run", "-q", "-o", "out.vt", "--python", SYSTEM, *options, "script.py"],
                          cwd=tmp_path, env=environment(), capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stderr) == (0, "")
    shown = subprocess.run([VENTURI, "stats", "--json", "out.vt"], cwd=tmp_path, capture_output=True, text=True, check=True)
    calls = {row["name"]: row["ncalls"] for row in json.loads(shown.stdout)["functions"]
             if row["file"].endswith("script.py")}
    assert (calls["__getitem__"], calls["look"], calls["leaf"]) == (1000, 1000, 1000)
