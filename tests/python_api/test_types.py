"""The package is typed: mypy --strict finds nothing in it, and the right types in a program that uses it."""
import os
import subprocess
import sys

import pytest
from conftest import TOP, environment

USER = """
import venturi
from venturi.tracing import single_thread_profiler

profile = venturi.Profile(builtins=True)

@profile
def add(a: int, b: int) -> int:
    return a + b

reveal_type(add(1, 2))
with venturi.Profile() as other:
    pass
reveal_type(other)
reveal_type(other.stats().strip_dirs().rows()[0].p99)
reveal_type(single_thread_profiler(report_name="x"))
reveal_type(venturi.Stats("x.vt").sort_stats("calls"))

venturi.items(3, effective=2)

@venturi.energy.track_emissions(country_iso_code="FRA", pue=1.25)
def half(a: int) -> float:
    return a / 2

with venturi.energy.OfflineEmissionsTracker("project", country_iso_code="FRA") as tracker:
    reveal_type(half(1))
reveal_type(tracker.final_emissions_data.energy_consumed)
reveal_type(tracker.stop())
"""

WRONG = """
import venturi

venturi.items(1.5)
venturi.energy.EmissionsTracker(pue="much")
venturi.energy.track_emissions(nobody=1)
"""


@pytest.fixture(scope="module")
def mypy(tmp_path_factory):
    """A command that runs mypy: this Python's, or the one that tools/readers has fetched. What it learns of Python itself it learns once."""
    probe = [sys.executable, "-c", "import mypy"]
    fetched = os.path.join(TOP, "build", "readers", "bin", "mypy")
    if subprocess.run(probe, capture_output=True).returncode == 0:
        command = [sys.executable, "-m", "mypy"]
    elif os.path.exists(fetched):
        command = [fetched]
    else:
        pytest.skip("no mypy: run tools/setup")
    return [*command, "--strict", "--cache-dir", tmp_path_factory.mktemp("mypy")]


def test_package_is_strict(mypy):
    done = subprocess.run([*mypy, "-p", "venturi", "--exclude", "_inject"],
                          cwd=os.path.join(TOP, "python"), capture_output=True, text=True, env=environment())
    assert done.returncode == 0, done.stdout


def test_users_get_types(mypy, tmp_path):
    (tmp_path / "user.py").write_text(USER)
    done = subprocess.run([*mypy, "user.py"], cwd=tmp_path,
                          capture_output=True, text=True, env=environment(MYPYPATH=os.path.join(TOP, "python")))
    notes = [line.split('"')[1].replace("builtins.", "") for line in done.stdout.splitlines() if "Revealed" in line]
    assert notes[:3] == ["int", "venturi.profiling.Profile", "float | None"] or notes[2] == "Union[float, None]", done.stdout
    assert notes[4] == "venturi.stats.Stats" and "error" not in done.stdout, done.stdout
    assert notes[5:7] == ["float", "float"] and notes[7] in ("float | None", "Union[float, None]"), done.stdout
    (tmp_path / "wrong.py").write_text(WRONG)
    done = subprocess.run([*mypy, "--strict", "--cache-dir", tmp_path / "cache", "wrong.py"], cwd=tmp_path,
                          capture_output=True, text=True, env=environment(MYPYPATH=os.path.join(TOP, "python")))
    assert [line.split(":")[1] for line in done.stdout.splitlines() if ": error:" in line] == ["4", "5", "6"], done.stdout
