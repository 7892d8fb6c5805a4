"""What the scheduler's plugin writes and what is read from it, without a cluster: more tasks than dask keeps, and bounds."""
import pickle
from types import SimpleNamespace

from venturi.dask import plugins
from venturi.dask._stream import Rows, Stream

WORKER = SimpleNamespace(address="tcp://127.0.0.1:1", name="one", nthreads=2, executing={}, last_seen=0.0)
SAID = {"worker": WORKER.address, "thread": 7, "startstops": [{"action": "compute", "start": 10.0, "stop": 11.0}], "nbytes": 28}


class Task:
    def __init__(self, key, dependencies=()):
        self.key = key
        self.dependencies = dependencies
        self.suspicious = 0
        self.priority = (0, 1, 0)
        self.processing_on = WORKER
        self.who_wants = self.waiters = ()


def recorder(tasks, **options):
    plugin = plugins.SchedulerRecorder("name", "client", **options)
    plugin.start(SimpleNamespace(tasks={task.key: task for task in tasks}, workers={WORKER.address: WORKER}))
    return plugin


def compute(plugin, key, **said):
    plugin.transition(key, "released", "waiting", stimulus_id="x")
    plugin.transition(key, "waiting", "processing", stimulus_id="x")
    plugin.transition(key, "processing", "memory", stimulus_id="x", **{**SAID, **said})


def rows(plugin):
    stream = Stream()
    since, is_more = 0, True
    while is_more:
        since, pieces, is_more = plugin.fetch(since)
        stream.pieces += pieces
    return Rows(stream)


def test_more_than_dask_keeps():
    count = 120_000
    tasks = [Task(("x-0123", i)) for i in range(count)]
    for before, task in zip(tasks, tasks[1:]):
        task.dependencies = (before,)
    plugin = recorder(tasks)
    for i, task in enumerate(tasks):
        compute(plugin, task.key, startstops=[{"action": "compute", "start": 10.0 + i, "stop": 10.5 + i}])
    found = rows(plugin)
    assert plugin.lost == 0 and len(found.tasks) == count
    assert [task[12] for task in found.tasks] == [()] + [(i,) for i in range(count - 1)]
    assert found.tasks[-1][:5] == (("x-0123", count - 1), None, 10.0 + count - 1, 10.5 + count - 1, "tcp://127.0.0.1:1#0")


def test_memory_is_bounded_and_what_is_lost_counted():
    count = 40_000
    plugin = recorder([Task(f"x-{i}") for i in range(count)], most_bytes=2 << 20)
    for i in range(count):
        compute(plugin, f"x-{i}")
    assert plugin.waiting_bytes + len(plugin.piece) < 4 << 20
    assert 0 < plugin.lost < count
    found = rows(plugin)
    assert len(found.tasks) + plugin.lost == count
    plugin.fetch(plugin.place)  # all has arrived: there is room again
    lost = plugin.lost
    compute(plugin, "x-0")
    assert plugin.lost == lost and plugin.waiting_bytes == 0


def test_keys_are_forgotten():
    plugin = recorder([Task(f"x-{i}") for i in range(100)])
    for i in range(100):
        compute(plugin, f"x-{i}")
        plugin.transition(f"x-{i}", "memory", "released")
        plugin.transition(f"x-{i}", "released", "forgotten")
    assert not plugin.live
    assert all(task[11] is not None for task in rows(plugin).tasks)


def test_an_answer_that_was_lost_is_asked_for_again():
    plugin = recorder([Task("a"), Task("b")])
    compute(plugin, "a")
    assert plugin.fetch(0)[1] == plugin.fetch(0)[1] != []
    since = plugin.fetch(0)[0]
    compute(plugin, "b")
    later = plugin.fetch(since)
    assert len(later[1]) == 1 and len(plugin.pieces) == 1


def worker_recorder(**options):
    worker = SimpleNamespace(data={"a": 5, "b": 6}, executors={}, transfer_incoming_log=[], transfer_outgoing_log=[])
    plugin = plugins.WorkerRecorder("name", **options)
    plugin.setup(worker)
    return plugin


def test_an_answer_of_a_worker_that_was_lost_is_given_again():
    plugin = worker_recorder(metric=pickle.dumps(abs))
    stream = Stream()
    place = stream.place("w")
    plugin.transition("a", "executing", "memory")
    plugin.fetch(place.got)  # never arrives
    stream.worker_said("w", plugin.fetch(place.got))
    stream.worker_said("w", plugin.fetch(("", 0)))  # arrives twice
    plugin.transition("b", "executing", "memory")
    plugin.transition("b", "flight", "memory")  # comes from elsewhere
    stream.worker_said("w", plugin.fetch(place.got))
    assert [(note[1], pickle.loads(note[5])) for note in place.notes] == [("a", 5), ("b", 6)] and len(plugin.notes) == 1
    assert plugin.fetch(place.got)["notes"] == [] == plugin.notes
    other = worker_recorder(metric=pickle.dumps(abs))  # the same address, another process
    other.id = "another"
    other.transition("a", "executing", "memory")
    stream.worker_said("w", other.fetch(place.got))
    assert len(place.notes) == 3


def test_of_what_a_dead_worker_had_only_as_much_had_begun_as_it_has_threads():
    keys = ["done-0", "done-1", "queued", "first", "executing", "later"]
    tasks = {key: Task(key) for key in keys}
    for place, key in enumerate(keys):
        tasks[key].priority = (0, 1, {"first": 0, "queued": 9}.get(key, place))
    worker = SimpleNamespace(address=WORKER.address, name="one", nthreads=2, executing={tasks["executing"]: 0.0}, last_seen=0.0)
    plugin = recorder(tasks.values())
    compute(plugin, "done-0", thread=7, startstops=[{"action": "compute", "start": 10.0, "stop": 2e9}])
    compute(plugin, "done-1", thread=8, startstops=[{"action": "compute", "start": 10.0, "stop": 3e9}])
    for key in keys[2:]:
        tasks[key].processing_on = worker
        plugin.transition(key, "waiting", "processing")
    del plugin.scheduler.workers[WORKER.address]
    for key in keys[2:]:
        tasks[key].suspicious += 1
        plugin.transition(key, "processing", "released")
    plugin.remove_worker(plugin.scheduler, WORKER.address)
    found = [task for task in rows(plugin).tasks if task[6] == "lost"]
    assert {task[0] for task in found} == {"executing", "first"}
    assert {task[4] for task in found} == {"tcp://127.0.0.1:1#0", "tcp://127.0.0.1:1#1"}
    assert {task[2] for task in found} == {2e9, 3e9} and all(task[3] >= task[2] for task in found)


def test_many_dependencies():
    for count in (0, 1, 8, 9, 70_000):
        tasks = [Task(f"x-{i}") for i in range(count)]
        plugin = recorder([*tasks, Task("sum", tasks)])
        for i in range(count):
            compute(plugin, f"x-{i}")
        compute(plugin, "sum", startstops=[{"action": "compute", "start": 12.0, "stop": 13.0}])
        assert len(rows(plugin).tasks[-1][12]) == min(count, 65535)


def test_odd_keys():
    class Strange:
        def __reduce__(self):
            raise TypeError("no")

        def __str__(self):
            return "strange\udcff"

    keys = ["é", "x" * 100_000, b"bytes", ("t", 0, ("u", 1.5)), 17, Strange()]
    plugin = recorder([Task(key) for key in keys])
    for key in keys:
        compute(plugin, key)
    found = [task[0] for task in rows(plugin).tasks]
    assert found == ["é", "x" * 65535, b"bytes", ("t", 0, ("u", 1.5)), 17, "strange?"]
