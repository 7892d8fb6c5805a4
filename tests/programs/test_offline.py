"""Nothing is asked of the network unless somebody asks for it: a recorded program with its drainer, what reads a recording, a program that measures itself."""
import json

import offline
import pytest
from conftest import VENTURI, program, tool


def test_the_filter():
    offline.check_the_filter()


@pytest.mark.parametrize("options", [[], ["--energy"], ["--energy", "--country", "FRA"]], ids=" ".join)
def test_a_run(tmp_path, options):
    """A drainer that was killed would have left a recording that is not closed."""
    path = tmp_path / "run.vt"
    done = offline.run([VENTURI, "run", "-q", *options, "-o", path, program("items")])
    assert done.returncode == 0, done
    info = json.loads(tool("info", "--json", path).stdout)
    assert info["closed"] and info["spans"] > 0 and (info["energy_readings"] > 0) == bool(options), info


@pytest.mark.parametrize("words", [["report"], ["report", "-o", "page.html"], ["energy", "--country", "FRA"]], ids=" ".join)
def test_what_reads_a_recording(tmp_path, words):
    tool("run", "-q", "--energy", "-o", tmp_path / "run.vt", program("items"))
    done = offline.run([VENTURI, *words, "run.vt"], cwd=tmp_path)
    assert done.returncode == 0, done


def test_a_meter_of_its_own():
    done = offline.run([program("energy"), "idle"], input="\n\n\n")
    assert done.returncode == 0 and json.loads(done.stdout.splitlines()[-1])["wall"] > 0, done
