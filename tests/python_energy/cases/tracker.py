"""EmissionsTracker: what it measures, and its life from start to stop."""
import asyncio
import ctypes
import json
import logging
import math
import os
import subprocess
import sys
import threading
import time

import venturi
from machine import KWH, Machine, Said, near, rows
from venturi.energy import (
    BaseOutput, EmissionsTracker, LoggerOutput, OfflineEmissionsTracker, OutputMethod, track_emissions,
)

FRA = dict(country_iso_code="FRA", measure_power_secs=60)


def measured(machine, joules, busy_s, own_s, **options):
    tracker = EmissionsTracker(**{**FRA, **options})
    tracker.start()
    machine.work(busy_s, own_s)
    machine.use(joules)
    tracker.stop()
    return tracker


def test_machine_and_process():
    machine = Machine()
    row = measured(machine, 30, 2.0, 0.5).final_emissions_data
    near(row.cpu_energy * KWH, 30)
    near(row.cpu_power, 30 / row.duration)
    assert row.tracking_mode == "machine" and row.cpu_model == "Test CPU 100" and row.ram_total_size == 16
    tracker = measured(machine, 30, 2.0, 0.5, tracking_mode="process", pue=1.25)
    row = tracker.final_emissions_data
    near(row.cpu_energy * KWH, 30 * 0.25 * 1.25)
    near(row.energy_consumed, row.cpu_energy + row.ram_energy + row.gpu_energy)
    near(tracker.final_energy.gross_j, 30 + tracker.final_energy.sources[-1].joules)
    assert row.provenance.startswith("cpu=measured:powercap;ram=modelled:modules;charged=cpu-time"), row.provenance
    near(row.emissions, row.energy_consumed * 56.039 / 1000, 0.01)
    near(row.emissions_rate, row.emissions / row.duration)


def test_an_idle_process_is_charged_nothing():
    machine = Machine()
    tracker = measured(machine, 50, 2.0, 0.0, tracking_mode="process")
    near(tracker.final_emissions_data.cpu_energy, 0)
    assert tracker.final_energy.gross_j > 50


def test_readings_are_nobodys_work():
    """A process that only sleeps: what its CPU time goes to is reading, a hundred times as often as usual."""
    tracker = EmissionsTracker(tracking_mode="process", force_cpu_power=100, country_iso_code="FRA", measure_power_secs=0.0025)
    tracker.start()
    before = time.process_time()
    time.sleep(0.5)
    used = tracker.energy()
    took = time.process_time() - before
    tracker.stop()
    assert used.meter_cpu_s > 0.3 * took and 0 < used.meter_j < used.gross_j, (used, took)
    assert used.own_cpu_s <= took - 0.9 * used.meter_cpu_s + 0.001, (used, took)
    assert tracker.final_energy.meter_cpu_s >= used.meter_cpu_s


def test_wraps_and_gaps():
    machine = Machine()
    machine.joules["intel-rapl:0"] = 99_990
    machine.use(0)
    row = measured(machine, 30, 2.0, 0.5).final_emissions_data
    near(row.cpu_energy * KWH, 30)
    tracker = EmissionsTracker(**FRA)
    tracker.start()
    subprocess.run(["rm", machine.root + "/sys/class/powercap/intel-rapl:0/energy_uj"], check=True)
    tracker.stop()
    near(tracker.final_emissions_data.cpu_energy, 0)
    assert "unknown=" in tracker.final_emissions_data.provenance


def test_unknown_location_is_said_and_not_guessed():
    Machine()
    said = Said()
    for _ in range(3):
        tracker = EmissionsTracker(output_file="out.csv")
        tracker.start()
        assert math.isnan(tracker.flush())
        assert math.isnan(tracker.stop())
    assert said.has("location is not known") == 1, said.lines
    assert math.isnan(tracker.final_emissions_data.emissions_rate) and tracker.final_throughput.grams is None
    row = rows("out.csv")[0]
    assert row["emissions"] == row["emissions_rate"] == row["country_iso_code"] == ""
    assert float(row["energy_consumed"]) > 0 and row["provenance"].endswith("intensity=unknown")
    assert json.loads(tracker.final_emissions_data.toJSON())["emissions"] is None
    EmissionsTracker(country_iso_code="XYZ")
    assert said.has("'XYZ' is not in the table") == 1


def test_where_the_intensity_comes_from():
    machine = Machine()
    forced = measured(machine, 10, 1, 1, force_carbon_intensity_g_co2e_kwh=500, wue=2.0).final_emissions_data
    near(forced.emissions, forced.energy_consumed / 2)
    near(forced.water_consumed, forced.energy_consumed * 2)
    assert forced.country_name == "France" and forced.provenance.endswith("intensity=given")
    offline = OfflineEmissionsTracker(country_2letter_iso_code="de", measure_power_secs=60)
    with offline:
        machine.use(5)
    assert offline.final_emissions_data.country_iso_code == "DEU" and "intensity=table:DEU:" in offline.final_emissions_data.provenance
    near(offline.final_emissions_data.emissions / offline.final_emissions_data.energy_consumed, 0.381, 0.01)
    assert measured(machine, 5, 1, 1, force_carbon_intensity_g_co2e_kwh=0).final_emissions == 0


def test_rest_while_others_work():
    """Says so, and rest is no better known than what it was measured with."""
    machine = Machine()
    said = Said()
    tracker = EmissionsTracker(baseline_secs=0.3, force_mode_cpu_load=True, force_ram_power=1, tracking_mode="process", save_to_file=False)
    others = threading.Timer(0.1, lambda: machine.work(1.16, 0))
    others.start()
    tracker.start()
    others.join()
    assert said.has("of the CPUs busy during the baseline"), said.lines
    assert tracker.energy().idle_how == "given" and said.has("busy during the baseline") == 1
    tracker.stop()
    quiet = EmissionsTracker(baseline_secs=0.1, save_to_file=False)
    quiet.start()
    assert said.has("busy during the baseline") == 1 and quiet.energy().idle_how == "modelled"  # memory is
    quiet.stop()


def test_forced_watts():
    machine = Machine()
    row = measured(machine, 10, 0.02, 0.02, force_cpu_power=100, force_ram_power=7).final_emissions_data
    assert row.provenance.startswith("cpu=given:given;ram=given:given"), row.provenance
    near(row.ram_power, 7, 1e-6)
    row = measured(machine, 10, 0.02, 0.02, force_mode_cpu_load=True).final_emissions_data
    assert row.provenance.startswith("cpu=estimated:"), row.provenance


def test_rest():
    machine = Machine()
    used = measured(machine, 10, 2.0, 1.0, tracking_mode="process", baseline_secs=0.2, force_ram_power=1e-9).final_energy
    assert used.idle_how == "given" and used.idle_watts < 1e-6  # no better than the worst of its sources
    near(used.share_j, 5, 1e-6)
    near(used.dynamic_j, 5, 1e-6)
    used = measured(machine, 10, 2.0, 1.0, tracking_mode="process", force_idle_power=50).final_energy
    assert (used.idle_watts, used.idle_how) == (50, "given") and used.dynamic_j < used.share_j
    for wrong in (-1, 1e9):
        try:
            EmissionsTracker(baseline_secs=wrong)
        except ValueError:
            continue
        raise AssertionError(wrong)


def test_life():
    Machine()
    said = Said()
    tracker = EmissionsTracker(**FRA)
    assert tracker.stop() is None and tracker.flush() is None and tracker.energy() is None
    assert said.has("never started") and said.has("first need to start")
    tracker.start()
    first = tracker.run_id
    tracker.start()
    assert said.has("Already started")
    assert tracker.energy().gross_j >= 0
    kilograms = tracker.stop()
    assert kilograms == tracker.stop() == tracker.final_emissions > 0
    tracker.start()
    tracker.stop()
    assert tracker.run_id != first and [row["run_id"] for row in rows()] == [str(first), str(tracker.run_id)]


def test_an_exception_goes_on_and_the_row_is_there():
    Machine()
    try:
        with EmissionsTracker(**FRA):
            raise KeyError("mine")
    except KeyError:
        assert len(rows()) == 1
        return
    raise AssertionError("it was swallowed")


def test_decorators():
    Machine()

    @track_emissions(project_name="one", offline=True, **FRA)
    def add(a, b=1):
        """Adds."""
        return a + b

    @track_emissions
    def bare():
        raise ValueError("mine")

    @track_emissions(project_name="later", **FRA)
    async def later():
        await asyncio.sleep(0.05)
        return 5

    assert add(1, b=2) == 3 and add.__doc__ == "Adds." and add.__name__ == "add"
    try:
        bare()
    except ValueError as error:
        assert str(error) == "mine"
    assert asyncio.run(later()) == 5
    found = rows()
    assert [row["project_name"] for row in found] == ["one", "codecarbon", "later"] and float(found[2]["duration"]) >= 0.05
    try:
        track_emissions(offline=True)(len)("")
    except ValueError as error:
        assert "ISO Code" in str(error)
    else:
        raise AssertionError("no country, and nothing was said")


def test_ticks_need_no_interpreter_lock():
    Machine()
    tracker = EmissionsTracker(country_iso_code="FRA", measure_power_secs=0.001)
    tracker.start()
    meter = tracker._meter._meter
    before = meter.take()[12]
    ctypes.PyDLL(None).usleep(300000)  # holds it all the time
    assert meter.take()[12] >= before + 4
    tracker.stop()


def test_outputs():
    Machine()
    calls = []

    class Sink(BaseOutput):
        def out(self, total, delta):
            calls.append(("out", total.duration, delta.duration))

        def live_out(self, total, delta):
            calls.append(("live",))
            is_live.set()

        def task_out(self, data, experiment_name):
            calls.append(("task", [one.task_name for one in data], data[0].cpu_energy, experiment_name))

        def exit(self):
            calls.append(("exit",))

    class Broken(BaseOutput):
        def out(self, total, delta):
            raise OSError("no room")

    is_live = threading.Event()
    said = Said()
    logger = logging.getLogger("test")
    lines = []
    logger.addHandler(type("Keep", (logging.Handler,), {"emit": lambda self, record: lines.append(record.getMessage())})())
    logger.setLevel("INFO")
    tracker = EmissionsTracker(country_iso_code="FRA", measure_power_secs=0.01, api_call_interval=1, output_handlers=[Broken(), Sink()],
                               output_methods=[OutputMethod.LOGGER], logging_logger=LoggerOutput(logger), experiment_name="night")
    tracker.start_task("t")
    assert is_live.wait(60)
    tracker.stop_task("t")
    tracker.flush()
    tracker.stop()
    outs = [call for call in calls if call[0] == "out"]
    assert len(outs) == 2 and outs[1][2] < outs[1][1]
    assert [call for call in calls if call[0] == "task"][0][1] == ["t"] and calls[-1] == ("exit",)
    assert said.has("Broken.out: no room") == 2
    assert json.loads(lines[-1])["run_id"] == str(tracker.run_id)
    assert not os.path.exists("emissions.csv")


def test_nothing_is_sent():
    Machine()
    import socket

    def refuse(*args, **keywords):
        raise AssertionError("a connection")
    socket.socket = refuse
    said = Said()
    tracker = EmissionsTracker(
        save_to_api=True, save_to_prometheus=True, save_to_logfire=True, emissions_endpoint="http://localhost:1", api_key="x",
        electricitymaps_api_token="x", metadata={"boamps": {}}, api_endpoint="http://localhost:1", region="bretagne", **FRA)
    with tracker:
        pass
    assert len(rows()) == 1
    for name in ("api", "prometheus", "logfire", "emissions_endpoint", "electricitymaps_api_token"):
        assert said.has(name), (name, said.lines)
    assert not {"pandas", "numpy", "requests", "psutil"} & set(sys.modules)


def test_items_of_a_tracker():
    machine = Machine()
    venturi.items(5)
    tracker = EmissionsTracker(tracking_mode="process", pue=2, force_carbon_intensity_g_co2e_kwh=100, measure_power_secs=60)
    tracker.start()
    machine.work(2.0, 0.5)
    machine.use(30)
    venturi.items(500, effective=125)
    assert tracker.throughput().items == 500
    tracker.stop()
    found = tracker.final_throughput
    assert (found.items, found.effective, found.effective_share) == (500, 125, 0.25)
    near(found.per_second, 500 / found.seconds)
    near(found.per_core, 500 / found.seconds / found.cores)
    near(found.per_cpu_second, 1000)
    near(found.effective_per_second, 125 / found.seconds)
    near(found.joules_per_1000, 2 * tracker.final_energy.share_j)
    near(found.grams_per_1000, 2 * tracker.final_energy.share_j / KWH * 2 * 100)
    tracker.start()
    venturi.items(3)
    tracker.stop()
    assert tracker.final_throughput[:2] == (3, None) and tracker.final_throughput.effective_share is None


def test_the_program_of_the_seed():
    Machine()
    import venturi.energy as codecarbon
    with codecarbon.EmissionsTracker(tracking_mode='process', pue=1.25) as tracker:
        out = [i % 3 - 1 for i in range(1000)]
    assert len(out) == 1000 and tracker.final_emissions_data.pue == 1.25 and codecarbon.__version__


def test_one_at_a_time_if_asked():
    Machine()
    os.environ["TMPDIR"] = os.getcwd()
    said = Said()
    one, other = (EmissionsTracker(allow_multiple_runs=False, **FRA) for _ in range(2))
    one.start()
    other.start()
    assert said.has("another tracker is running") and other.stop() is None
    assert one.stop() > 0
    other.start()
    ours, theirs = os.pipe()
    if os.fork() == 0:  # has the lock's file open too, until the pipe is closed
        os.close(theirs)
        os.read(ours, 1)
        os._exit(0)
    assert other.stop() > 0
    one.start()
    assert one.stop() > 0 and said.has("another tracker is running") == 1
    os.close(theirs)
    os.wait()


def test_a_signal_while_it_stops():
    Machine()
    tracker = EmissionsTracker(output_handlers=[], **FRA)

    class Interrupts(BaseOutput):
        def out(self, total, delta):
            tracker.service_shutdown(15, None)

    class Raises(BaseOutput):
        def exit(self):
            raise KeyboardInterrupt

    tracker._handlers += [Interrupts(), Raises()]
    tracker.start()
    try:
        tracker.stop()
    except KeyboardInterrupt:
        pass
    else:
        raise AssertionError("it was swallowed")
    assert tracker.stop() == tracker.final_emissions > 0
    assert len(rows()) == 1


def test_a_meter_that_cannot_be_opened():
    """Says so, and lets others run."""
    machine = Machine()
    os.environ["TMPDIR"] = os.getcwd()
    os.environ["VENTURI_SYSFS"] = "x" * 5000
    said = Said()
    tracker = EmissionsTracker(allow_multiple_runs=False, **FRA)
    tracker.start()
    assert tracker.start_task("x") is None and tracker.stop() is None and said.has("energy cannot be measured") == 2
    os.environ["VENTURI_SYSFS"] = machine.root + "/sys"
    other = EmissionsTracker(allow_multiple_runs=False, **FRA)
    other.start()
    assert other.stop() > 0 and len(rows()) == 1


def test_log_level_and_preamble():
    Machine()
    said = Said()
    EmissionsTracker(log_level="error", logger_preamble="50 %:", **FRA).stop()
    assert not said.lines
    EmissionsTracker(log_level="WARNING", region="x", **FRA).stop()
    assert [line[:20] for line in said.lines] == ["50 %: region 'x': th", "50 %: Tracker alread"]
