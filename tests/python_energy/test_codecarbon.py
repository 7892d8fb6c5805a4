"""Beside the real codecarbon: the same counters, both answers; and files that both of them read and write.

Where codecarbon is right, both must agree. Where it is not, ours must be right: what it answers then is printed by `bench/run --only energy`,
since its next release may be right too.
"""
import json
import os
import subprocess

import pytest
from conftest import environment
from interpreters import PACKAGE, TOP, VERSIONS, find

ONE = os.path.join(TOP, "bench", "one_tracker.py")

FILES = """
import sys
from codecarbon import OfflineEmissionsTracker as Theirs
from venturi.energy import OfflineEmissionsTracker as Ours
options = dict(country_iso_code="FRA", log_level="critical")
for kind in {"theirs": Theirs, "ours": Ours}[sys.argv[1]], Ours, Ours, Theirs, Ours:
    tracker = kind(project_name=kind.__module__.split(".")[0], **options)
    tracker.start()
    tracker.stop()
"""

READ = """
import json, pandas
frame = pandas.read_csv("emissions.csv")
print(json.dumps([list(frame.columns), list(frame.project_name), [float(value) for value in frame.energy_consumed],
                  [str(value) for value in frame.tracking_mode], [float(value) for value in frame.wue]]))
"""

FIELDS = """
import dataclasses, inspect, json
from codecarbon import EmissionsTracker, OfflineEmissionsTracker, OutputMethod, track_emissions
from codecarbon.output_methods.emissions_data import EmissionsData, TaskEmissionsData
from venturi import energy
from venturi.energy import _data, _options
mine = [field.name for field in dataclasses.fields(energy.EmissionsData)]
assert mine == [field.name for field in dataclasses.fields(EmissionsData)] + ["provenance"], mine
assert list(_data.TASK_COLUMNS) == [field.name for field in dataclasses.fields(TaskEmissionsData)] + ["provenance"]
theirs = [name for name in inspect.signature(EmissionsTracker).parameters if name != "self"]
assert list(_options.ORDER[:len(theirs)]) == theirs, theirs
for more in OfflineEmissionsTracker.__init__, track_emissions:
    names = set(inspect.signature(more).parameters) - {"self", "args", "kwargs", "fn", "offline"}
    assert names <= set(_options.ORDER), names - set(_options.ORDER)
assert {one.value for one in OutputMethod} == {one.value for one in energy.OutputMethod}
"""


LOGGERS = """
import json, logging
from codecarbon.output import LoggerOutput
from venturi.energy import EmissionsTracker
lines = []
logger = logging.getLogger("rows")
logger.setLevel("INFO")
logger.addHandler(type("Keep", (logging.Handler,), {"emit": lambda self, record: lines.append(record.getMessage())})())
with EmissionsTracker(save_to_logger=True, logging_logger=LoggerOutput(logger), country_iso_code="FRA") as tracker:
    pass
assert [json.loads(line)["run_id"] for line in lines] == [str(tracker.run_id)], lines
"""


def codecarbon():
    """An interpreter that has it, and the folder where it is."""
    for version in VERSIONS:
        folder = os.path.join(TOP, "build", "neighbours", version + "-codecarbon")
        if find(version)[0] and os.path.exists(os.path.join(folder, "done")):
            return find(version)[0], folder
    pytest.skip("no codecarbon among the neighbours: run tools/neighbours")


def run(tmp_path, *arguments):
    python, folder = codecarbon()
    done = subprocess.run([python, *map(str, arguments)], capture_output=True, text=True, timeout=120, cwd=tmp_path,
                          env=environment(tmp_path, PACKAGE, folder))
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout


def answer(tmp_path, tool, scenario):
    folder = tmp_path / (tool + scenario)
    folder.mkdir()
    return json.loads(run(tmp_path, ONE, tool, scenario, folder).splitlines()[-1])


@pytest.mark.parametrize("scenario", ["plain", "wrap"])
def test_both_are_right(tmp_path, scenario):
    for tool in ("venturi", "codecarbon"):
        said = answer(tmp_path, tool, scenario)
        assert abs(said["joules"] - said["right"]) < 1e-3, (tool, said)


@pytest.mark.parametrize("scenario", ["gap", "mirrored", "dram"])
def test_ours_is_right(tmp_path, scenario):
    said = answer(tmp_path, "venturi", scenario)
    assert abs(said["joules"] - said["right"]) < 1e-3, said


def test_an_idle_process_is_charged_at_most_one_percent(tmp_path):
    said = answer(tmp_path, "venturi", "idle")
    assert said["share"] <= 0.01 * said["gross"], said


def test_short_children_are_charged(tmp_path):
    said = answer(tmp_path, "venturi", "children")
    assert said["seconds"] >= 0.99 * said["right"], said


def test_names_of_options_and_columns(tmp_path):
    run(tmp_path, "-c", FIELDS)


def test_its_logger_output_takes_our_rows(tmp_path):
    run(tmp_path, "-c", LOGGERS)


def test_a_file_that_codecarbon_began(tmp_path):
    """It keeps its columns, and both go on with it."""
    run(tmp_path, "-c", FILES, "theirs")
    columns, names, energies, modes, wue = json.loads(run(tmp_path, "-c", READ))
    assert len(columns) == 38 and names == ["codecarbon", "venturi", "venturi", "codecarbon", "venturi"]
    assert all(energy > 0 for energy in energies) and modes == ["machine"] * 5 and wue == [0.0] * 5
    assert not [name for name in os.listdir(tmp_path) if name.endswith(".bak")]


def test_a_file_that_we_began(tmp_path):
    """Codecarbon sets it aside, as it does with every column that it does not know; we go on with what it began then."""
    run(tmp_path, "-c", FILES, "ours")
    columns, names, *_ = json.loads(run(tmp_path, "-c", READ))
    assert len(columns) == 38 and names == ["codecarbon", "venturi"]
    os.replace(tmp_path / "emissions.csv.bak", tmp_path / "emissions.csv")
    columns, names, energies, modes, wue = json.loads(run(tmp_path, "-c", READ))
    assert len(columns) == 39 and names == ["venturi"] * 3 and modes == ["machine"] * 3 and wue == [0.0] * 3
