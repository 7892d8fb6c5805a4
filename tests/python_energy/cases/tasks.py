"""Tasks: nested, overlapping, in threads, and without start()."""
import glob
import threading

from machine import KWH, Machine, Said, near, rows
from venturi.energy import EmissionsTracker, TaskEmissionsTracker, track_task_emissions

FRA = dict(country_iso_code="FRA", measure_power_secs=60)


def joules(data):
    return data.cpu_energy * KWH


def test_nested_and_overlapping():
    machine = Machine()
    tracker = EmissionsTracker(experiment_name="night", **FRA)
    tracker.start()
    machine.use(1)
    tracker.start_task("outer")
    machine.use(2)
    tracker.start_task("inner")
    machine.use(4)
    near(joules(tracker.stop_task()), 4)
    tracker.start_task("late")
    machine.use(8)
    near(joules(tracker.stop_task("outer")), 14)
    machine.use(16)
    near(joules(tracker.stop_task("late")), 24)
    machine.use(32)
    tracker.stop()
    near(joules(tracker.final_emissions_data), 63)
    found = rows("emissions_night_%s.csv" % tracker.run_id)
    assert [row["task_name"] for row in found] == ["outer", "inner", "late"]
    assert list(found[0])[:3] == ["task_name", "timestamp", "project_name"] and "pue" not in found[0] and list(found[0])[-1] == "provenance"
    near(float(found[0]["cpu_energy"]) * KWH, 14)


def test_names():
    Machine()
    said = Said()
    tracker = EmissionsTracker(**FRA)
    assert tracker.stop_task() is None and said.has("No active task")
    keys = [tracker.start_task("a"), tracker.start_task("a"), tracker.start_task()]
    assert keys[0] == "a" and keys[1].startswith("a_") and len(set(keys)) == 3
    assert tracker.stop_task("nobody") is None
    assert tracker.stop_task("a") is not None  # the first, by its key
    assert tracker.stop_task("a") is not None  # the other, by its name
    assert tracker.stop_task("a") is None
    tracker.stop()
    assert len(rows(glob.glob("emissions_base_*.csv")[0])) == 3


def test_without_start_only_tasks_count():
    machine = Machine()
    tracker = EmissionsTracker(**FRA)
    with TaskEmissionsTracker("one", tracker) as task:
        machine.use(5)
    near(joules(task.emissions_data), 5)
    machine.use(20)
    with TaskEmissionsTracker("two", tracker=tracker):
        with TaskEmissionsTracker("within", tracker=tracker):
            machine.use(3)
    tracker.stop()
    near(joules(tracker.final_emissions_data), 8)


def test_without_start_tasks_add_up_to_the_run():
    """To the last bit: a task's end is where the run's count stands still, its begin where it goes on."""
    machine = Machine()
    tracker = EmissionsTracker(tracking_mode="process", **FRA)
    tasks = []
    for i in range(5):
        tracker.start_task()
        machine.work(0.5, 0.25)
        machine.use(2)
        tasks.append(tracker.stop_task())
        machine.use(1)
    tracker.stop()
    for name in ("duration", "energy_consumed", "cpu_energy", "ram_energy", "emissions"):
        near(sum(getattr(task, name) for task in tasks), getattr(tracker.final_emissions_data, name), 1e-12)


def test_threads_stop_their_own():
    machine = Machine()
    tracker = EmissionsTracker(**FRA)
    tracker.start()
    steps = [threading.Event() for _ in range(3)]
    found = {}

    def other():
        tracker.start_task("other")
        steps[0].set()
        steps[1].wait(60)
        found["other"] = tracker.stop_task()
        steps[2].set()

    tracker.start_task("main")
    machine.use(1)
    thread = threading.Thread(target=other)
    thread.start()
    steps[0].wait(60)
    machine.use(2)
    found["main"] = tracker.stop_task()
    machine.use(4)
    steps[1].set()
    thread.join()
    near(joules(found["main"]), 3)
    near(joules(found["other"]), 6)
    tracker.stop()


def test_decorator():
    machine = Machine()
    tracker = EmissionsTracker(**FRA)

    @track_task_emissions(tracker=tracker, task_name="step")
    def step(used):
        machine.use(used)
        return used

    @track_task_emissions
    def alone():
        return 7

    tracker.start()
    assert [step(1), step(2)] == [1, 2]
    tracker.start_task("left open")
    machine.use(4)
    tracker.stop()
    tasks = rows("emissions_base_%s.csv" % tracker.run_id)
    assert [round(float(row["cpu_energy"]) * KWH, 6) for row in tasks] == [1, 2, 4]
    assert tasks[0]["task_name"] == "step" and tasks[1]["task_name"].startswith("step_")
    assert alone() == alone() == 7
    assert len(rows()) == 3
