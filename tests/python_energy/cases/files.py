"""emissions.csv: columns that never shift, whoever wrote the file."""
import csv
import fcntl
import os
import resource
import signal
import subprocess
import sys

from machine import Machine, Said, rows
from venturi.energy import EmissionsTracker, _lock
from venturi.energy._data import CODECARBON_COLUMNS, COLUMNS

FRA = dict(country_iso_code="FRA", measure_power_secs=60)
ORDER = (
    "timestamp project_name run_id experiment_id duration emissions emissions_rate cpu_power gpu_power ram_power cpu_energy gpu_energy "
    "ram_energy energy_consumed water_consumed country_name country_iso_code region cloud_provider cloud_region os python_version "
    "codecarbon_version cpu_count cpu_model gpu_count gpu_model longitude latitude ram_total_size tracking_mode cpu_utilization_percent "
    "gpu_utilization_percent ram_utilization_percent ram_used_gb on_cloud pue wue").split()

WRITER = """
from venturi.energy import EmissionsTracker
for i in range(10):
    tracker = EmissionsTracker(country_iso_code="FRA", project_name="x" * 3000, on_csv_write="update")
    tracker.start()
    for _ in range(3):
        tracker.flush()
    tracker.stop()
"""


def run(**options):
    tracker = EmissionsTracker(**{**FRA, **options})
    tracker.start()
    tracker.stop()
    return tracker


def write(text, path="emissions.csv"):
    with open(path, "w") as file:
        file.write(text)


def test_order_and_fields():
    Machine()
    assert list(COLUMNS) == ORDER + ["provenance"] and len(ORDER) == 38
    run()
    run(project_name='a "b", c\nd', region="x")
    with open("emissions.csv", newline="") as file:
        header, first, second = csv.reader(file)
    assert header == list(COLUMNS) and len(first) == len(second) == 39
    assert second[1] == 'a "b", c\nd' and second[-1].startswith("cpu=measured:powercap")
    assert first[header.index("longitude")] == "" and first[header.index("gpu_model")] == ""


def test_a_file_of_codecarbon_stays_codecarbons():
    """With its 38 columns, in its order: both may go on writing to it."""
    Machine()
    said = Said()
    order = list(reversed(CODECARBON_COLUMNS))
    write(",".join(order) + "\n" + ",".join("old" for _ in order) + "\n")
    tracker = run()
    run()
    found = rows()
    assert list(found[0]) == order and len(found) == 3 and found[0]["os"] == "old"
    assert found[1]["run_id"] == str(tracker.run_id) and not os.path.exists("emissions.csv.bak")
    assert said.has("without a column for provenance") == 1 and tracker.final_emissions_data.provenance


def test_other_columns_are_set_aside():
    Machine()
    said = Said()
    for i, name in enumerate(["emissions.csv.bak", "emissions.csv_0.bak", "emissions.csv_1.bak"]):
        write("a,b\n1,%d\n" % i)
        run()
        assert open(name).read() == "a,b\n1,%d\n" % i and len(rows()) == 1
    assert said.has("has other columns") == 3
    with open("emissions.csv", "wb") as file:
        file.write(b"\xff\xfe\0\n")
    run()
    assert len(rows()) == 1 and os.path.exists("emissions.csv_2.bak")


def test_empty_and_cut_off_files():
    Machine()
    write("")
    run()
    assert len(rows()) == 1
    with open("emissions.csv", "a") as file:
        file.write("2026-01-01,cut")
    run()
    lines = open("emissions.csv").read().splitlines()
    assert len(lines) == 4 and lines[2] == "2026-01-01,cut" and lines[3].count(",") == 38


def test_names_of_all_kinds_stay_in_their_field():
    Machine()
    names = ["a\rb", "\r", "a\r\nb", '"', "", " a ", "a,b", "'"]
    for name in names:
        run(project_name=name)
    assert [row["project_name"] for row in rows()] == names


def test_rows_cut_off_in_quotes():
    """… or in the middle of a character, or at the end of a line that is in a field."""
    Machine()
    for cut in (b'2026-01-01,"cut, here', b'2026-01-01,"cut\n', b'2026-01-01,cut \xe2\x82', b'2026-01-01,"cut ""'):
        write("")
        run(project_name="before")
        with open("emissions.csv", "ab") as file:
            file.write(cut)
        for how in ("append", "update"):
            run(project_name="after", on_csv_write=how)
        with open("emissions.csv", newline="", encoding="utf-8", errors="replace") as file:
            found = list(csv.reader(file))
        assert [row[1] for row in found if len(row) == 39] == ["project_name", "before", "after", "after"], (cut, found)
        assert len(found) == 5 and found[2][0] == "2026-01-01"


def test_a_full_disk_leaves_no_part_of_a_row():
    Machine()
    said = Said()
    run()
    size = os.path.getsize("emissions.csv")
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    most = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size + 100, most[1]))
    assert run().final_emissions > 0
    resource.setrlimit(resource.RLIMIT_FSIZE, most)
    assert os.path.getsize("emissions.csv") == size and said.has("FileOutput.out") == 1
    run()
    assert len(rows()) == 2


def test_a_lock_that_somebody_keeps():
    Machine()
    said = Said()
    _lock.WAIT_S = 0.05
    run()
    with open("emissions.csv") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        for how in ("append", "update"):
            run(on_csv_write=how)
        assert len(rows()) == 3 and said.has("keeps it locked") == 2
        write("a,b\n")
        run()
        assert open("emissions.csv").read() == "a,b\n" and said.has("no row is written")


def test_devices():
    Machine()
    said = Said()
    for device, troubles in (("/dev/null", 0), ("/dev/full", 1), ("/dev/zero", 1)):
        os.symlink(device, "emissions.csv")
        assert run().final_emissions > 0
        assert said.has("FileOutput.out") == troubles
        os.unlink("emissions.csv")


def test_update_replaces_the_row_of_the_run():
    Machine()
    run(project_name="before")
    os.chmod("emissions.csv", 0o640)
    tracker = EmissionsTracker(on_csv_write="update", project_name="mine", **FRA)
    tracker.start()
    tracker.flush()
    first = rows()[1]
    run(project_name="after")
    tracker.flush()
    tracker.stop()
    found = rows()
    assert [row["project_name"] for row in found] == ["before", "mine", "after"]
    assert float(found[1]["duration"]) > float(first["duration"]) and found[1]["run_id"] == first["run_id"]
    assert os.stat("emissions.csv").st_mode & 0o777 == 0o640 and not [name for name in os.listdir(".") if name.endswith(".new")]
    appended = EmissionsTracker(**FRA)
    appended.start()
    appended.flush()
    appended.stop()
    assert len(rows()) == 5


def test_processes_at_the_same_time():
    Machine(with_proc=False)
    children = [subprocess.Popen([sys.executable, "-c", WRITER]) for _ in range(4)]
    assert [child.wait(100) for child in children] == [0] * 4
    found = rows()
    assert len(found) == 40 == len({row["run_id"] for row in found})


def test_a_link_stays_a_link():
    Machine()
    os.mkdir("elsewhere")
    os.symlink("elsewhere/real.csv", "emissions.csv")
    for how in ("append", "update", "update"):
        run(on_csv_write=how)
    assert os.path.islink("emissions.csv") and len(rows("elsewhere/real.csv")) == 3
    write("a,b\n", "elsewhere/real.csv")
    run()
    assert os.path.islink("emissions.csv") and os.path.exists("elsewhere/real.csv.bak") and len(rows()) == 1


def test_what_cannot_be_written_is_said():
    Machine()
    said = Said()
    os.mkdir("emissions.csv")
    assert run().final_emissions > 0
    assert said.has("FileOutput.out")
    for wrong in (dict(output_dir="nowhere"), dict(on_csv_write="replace")):
        try:
            EmissionsTracker(**wrong)
        except (OSError, ValueError):
            continue
        raise AssertionError(wrong)


def test_update_beside_a_row_of_any_size():
    """The csv module reads fields of 131,072 characters, unless it is told otherwise."""
    Machine()
    before = csv.field_size_limit()
    run(project_name="x" * 200000)
    tracker = EmissionsTracker(on_csv_write="update", project_name="mine", **FRA)
    tracker.start()
    tracker.flush()
    tracker.flush()
    tracker.stop()
    assert csv.field_size_limit() == before
    csv.field_size_limit(10**6)
    assert [len(row["project_name"]) for row in rows()] == [200000, 4]


def test_tasks_of_any_name():
    Machine()
    names = ["a", "\udc80", "b\ud800,\r\n", "c"]
    tracker = EmissionsTracker(experiment_name="e", **FRA)
    tracker.start()
    for name in names:
        tracker.start_task(name)
        tracker.stop_task(name)
    tracker.stop()
    found = [name for name in os.listdir(".") if name.startswith("emissions_e_")]
    assert len(found) == 1
    assert [row["task_name"] for row in rows(found[0])] == [name.encode("utf-8", "backslashreplace").decode() for name in names]
