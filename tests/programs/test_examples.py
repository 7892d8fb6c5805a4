"""Examples are compiled as somebody would who has read one: without the flags of our build."""
import glob
import os
import shutil
import subprocess

import pytest

SOURCE = os.environ["VENTURI_SOURCE"]


@pytest.mark.parametrize("path", sorted(glob.glob(os.path.join(SOURCE, "examples", "*.c"))), ids=os.path.basename)
def test_plain_compiler_has_nothing_to_say(tmp_path, path):
    compiler = shutil.which("gcc") or shutil.which("cc")
    done = subprocess.run([compiler, "-std=c11", "-O2", "-Wall", "-Wextra", "-I", os.path.join(SOURCE, "include"), "-c", path, "-o", str(tmp_path / "x.o")],
                          capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stderr) == (0, "")
