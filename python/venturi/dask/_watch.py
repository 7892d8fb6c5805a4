"""What a dask cluster does now, as lines of JSON: behind `venturi serve --dask ADDRESS`, a script of its own.

It needs distributed and nothing of ours. In the scheduler sits a small plugin, which travels by value, keeps the last tasks and goes when nobody has
asked for a minute; everything else is read from the scheduler four times a second.
"""
# mypy: ignore-errors
# Its functions run in schedulers, by value, with whichever distributed is there.
import sys

if __name__ == "__main__":
    del sys.path[0]  # our folder: its modules have names that others mean the standard library's by

import json  # noqa: E402
import time  # noqa: E402
import uuid  # noqa: E402

EVERY = 0.25
MOST_TASKS = 5000  # that wait for us; the rest is counted
LONGEST = 60.0  # without being asked the plugin goes
TIMEOUT = "10s"


def make_plugin(name):
    """In a function, so that it travels by value."""
    from distributed.diagnostics.plugin import SchedulerPlugin

    class Watch(SchedulerPlugin):
        def __init__(self, name, most, longest):
            self.name = name
            self.most = most
            self.longest = longest

        async def start(self, scheduler):
            self.scheduler = scheduler
            self.begin()

        def begin(self):
            import collections
            import time

            self.tasks = collections.deque()
            self.lost = 0
            self.clock = time.time
            self.asked = time.time()

        def transition(self, key, start, finish, *args, **said):
            if start != "processing" or finish not in ("memory", "erred"):
                return
            if len(self.tasks) >= self.most:
                self.lost += 1
                if self.clock() - self.asked > self.longest:
                    self.leave()
                return
            self.tasks.append((str(key), said.get("worker"), said.get("thread"), said.get("startstops") or (),
                               1 if finish == "memory" else 2, said.get("nbytes")))

        def leave(self):
            self.tasks.clear()
            try:
                self.scheduler.remove_plugin(self.name)
            except Exception:
                pass

    return Watch(name, MOST_TASKS, LONGEST)


def look(name, dask_scheduler=None):
    """Runs in the scheduler: everything that is shown, as plain lists."""
    import time

    from distributed.utils import key_split

    scheduler = dask_scheduler
    plugin = scheduler.plugins.get(name)
    tasks = []
    lost = 0
    if plugin is not None:
        plugin.asked = time.time()
        taken, plugin.tasks = plugin.tasks, type(plugin.tasks)()
        lost, plugin.lost = plugin.lost, 0
        for key, worker, thread, startstops, state, nbytes in taken:
            for one in startstops:
                if isinstance(one, dict):
                    action, begin, end = one.get("action"), one.get("start"), one.get("stop")
                else:
                    action, begin, end = one
                tasks.append([key[:200], key_split(key), worker, str(thread), state, action, begin, end, nbytes])
            if not startstops:
                tasks.append([key[:200], key_split(key), worker, str(thread), state, "compute", 0, 0, nbytes])
    workers = []
    for worker in scheduler.workers.values():
        metrics = worker.metrics or {}
        spilled = metrics.get("spilled_bytes") or {}
        if isinstance(spilled, dict):
            spilled = spilled.get("memory", 0)
        executing = metrics.get("executing")
        workers.append({
            "name": str(worker.name), "address": worker.address, "slots": worker.nthreads, "pid": worker.pid,
            "processing": len(worker.processing), "executing": executing if isinstance(executing, int) else None,
            "cpu": metrics.get("cpu"), "memory": metrics.get("memory"), "limit": worker.memory_limit,
            "managed": worker.nbytes, "spilled": spilled, "seen": worker.last_seen})
    groups = []
    for prefix in list(scheduler.task_prefixes.values())[:1024]:
        states = dict(prefix.states)
        counts = dict(getattr(prefix, "state_counts", {}))
        groups.append({"name": prefix.name, "states": states, "counts": counts})
    return {"id": scheduler.id, "workers": workers, "groups": groups, "tasks": tasks, "lost": lost}


def say(what):
    sys.stdout.write(json.dumps(what, default=str) + "\n")
    sys.stdout.flush()


def watch(address):
    import distributed

    name = "venturi-watch-" + uuid.uuid4().hex
    client = distributed.Client(address, timeout=TIMEOUT, set_as_default=False)
    plugin = make_plugin(name)
    try:
        if hasattr(client, "register_plugin"):
            client.register_plugin(plugin, name=name)
        else:
            client.register_scheduler_plugin(plugin, name=name)
        version = distributed.__version__
        while True:
            seen = client.run_on_scheduler(look, name)
            seen["version"] = version
            say(seen)
            if client.status != "running":
                raise OSError("the scheduler is gone")
            time.sleep(EVERY)
    finally:
        try:
            client.unregister_scheduler_plugin(name)
        except Exception:
            pass
        try:
            client.close(timeout=1)
        except Exception:
            pass


def main():
    import logging

    logging.disable(logging.CRITICAL)
    try:
        watch(sys.argv[1])
    except ImportError as error:
        say({"error": f"{sys.executable}: {error}"})
    except (BrokenPipeError, KeyboardInterrupt):
        pass
    except Exception as error:
        say({"error": f"{type(error).__name__}: {error}"[:300].replace("\n", " ")})


if __name__ == "__main__":
    import signal

    def stop(*_):
        raise KeyboardInterrupt

    signal.signal(signal.SIGTERM, stop)
    try:
        main()
    except (BrokenPipeError, KeyboardInterrupt):
        pass
