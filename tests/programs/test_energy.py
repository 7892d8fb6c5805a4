"""Real processes on a /sys whose counters go up by what a test says."""
import itertools
import json
import os
import subprocess
import sys

import pytest

PROGRAMS = os.path.join(os.environ["VENTURI_BUILD"], "tests", "programs")
REST_CPUS = 0.1  # busy CPUs up to which a machine is at rest
STEP = 0.1  # seconds of the counters between two readings, however long those take


def start(name, *args, **env):
    process = subprocess.Popen([os.path.join(PROGRAMS, name), *args], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                               env=dict(os.environ, **env))
    assert process.stdout.readline() == "ready\n"
    return process


def say(process, text):
    process.stdin.write(text + "\n")
    process.stdin.flush()
    return process.stdout.readline().strip()


@pytest.fixture
def measure(tmp_path):
    """What a program says of itself after so many steps of the counters."""
    numbers = itertools.count()

    def run(what, steps, *zones):
        folder = str(tmp_path / ("sys%d" % next(numbers)))
        with start("energy_tree", "--step", folder, *zones) as tree, start("energy", what, VENTURI_SYSFS=folder) as program:
            assert say(program, "") == "ready"
            for _ in range(steps):
                assert say(tree, str(STEP)) == "done"
                assert say(program, "") == "ready"
            return json.loads(program.communicate()[0])

    return run


def test_known_power(measure):
    found = measure("idle", 20, "intel-rapl:0,package-0,50")
    assert found["gross"] == pytest.approx(100, abs=1e-3)
    assert found["unknown"] == 0 and found["how"] == 1


@pytest.mark.parametrize("others", ["as it is", "a busy CPU"])
def test_idle_program_is_charged_nothing(measure, others):
    """codecarbon 3.3.0 charges it for all. Twenty times it is woken to take a reading: what that takes is the meter's."""
    load = subprocess.Popen([sys.executable, "-c", "while True: pass"]) if others == "a busy CPU" else None
    try:
        found = measure("idle", 20, "intel-rapl:0,package-0,50")
    finally:
        if load:
            load.kill()
            load.wait()
    assert 0 <= found["share"] <= 0.01 * found["gross"]
    assert found["own"] <= 0.01 * REST_CPUS * found["wall"]  # also if nobody else had done anything
    assert found["meter"] > 0 and 0 < found["meter_j"] < found["gross"]


def test_busy_program_is_charged_its_share(measure):
    found = measure("busy", 30, "intel-rapl:0,package-0,50")
    assert found["own"] >= 2.9
    assert found["share"] == pytest.approx(found["gross"] * min(1, found["own"] / found["busy"]), rel=0.25)
    assert 0 < found["dynamic"] <= found["share"]


def test_short_children_are_charged(measure):
    """20 children of 0.2 s: of theirs codecarbon 3.3.0 saw a fiftieth."""
    found = measure("children", 20, "intel-rapl:0,package-0,50")
    assert found["own"] == pytest.approx(4, rel=0.08)
    assert found["share"] == pytest.approx(found["gross"] * min(1, found["own"] / found["busy"]), rel=0.25)


def test_wrap_while_it_runs(measure):
    found = measure("idle", 5, "intel-rapl:0,package-0,50,262143228850")  # 0.1 J before its end
    assert found["sources"][0]["wraps"] == 1 and found["unknown"] == 0
    assert found["gross"] == pytest.approx(25, abs=1e-3)


def test_all_kinds_of_zones(measure):
    found = measure("idle", 5, "intel-rapl:0,package-0,50", "intel-rapl:0:0,core,30", "intel-rapl:0:1,dram,5",
                    "intel-rapl-mmio:0,package-0,50", "intel-rapl:1,package-1,20,7")
    assert found["gross"] == pytest.approx(0.5 * 70, abs=1e-3)  # memory was not asked for
    assert [s["inside"] for s in found["sources"]] == [-1, 0, -1]


def test_mirrored_dies(measure):
    found = measure("idle", 5, "intel-rapl:0,package-0-die-0,50", "intel-rapl:1,package-0-die-1,50")
    assert found["gross"] == pytest.approx(25, abs=1e-3)
    assert [s["inside"] for s in found["sources"]] == [-1, 0]
