"""Recordings of task graphs for tests (tests/programs/make_tasks.c writes them), and what must be said of them, computed the slow and simple way.

Times are whole nanoseconds since BEGIN. The oracle looks at every nanosecond by itself: for short runs only.
"""
import os
import subprocess

BEGIN = 1800000000 * 10 ** 9
DONE, FAILED, SKIPPED, CANCELLED, TIMED_OUT, LOST = range(1, 7)
COMPUTE, TRANSFER, DISK_READ, DISK_WRITE, DESERIALIZE = range(5)
REASONS = ("dependencies", "nothing-left", "scheduler", "gone")


class Task:
    def __init__(self, number, name, worker, start, end, ready=None, deps=(), key=None, state=DONE, action=COMPUTE, retries=0,
                 freed=None, cpu=-1, bytes=-1, estimated=0):
        self.number, self.name, self.worker, self.start, self.end, self.ready = number, name, worker, start, end, ready
        self.deps, self.key, self.state, self.action, self.retries = list(deps), key, state, action, retries
        self.freed, self.cpu, self.bytes, self.estimated = freed, cpu, bytes, estimated

    @property
    def ran(self):
        return self.start is not None and self.end is not None and self.end >= self.start

    @property
    def length(self):
        return self.end - self.start if self.ran else 0

    def line(self):
        moments = [0 if one is None else BEGIN + one for one in (self.ready, self.start, self.end, self.freed)]
        key = "%s-%d" % (self.name, self.number) if self.key is None else self.key
        return ["task", self.number, key, self.name, self.worker, self.state, self.action, self.retries, *moments, self.cpu,
                self.bytes, self.estimated, ",".join(map(str, self.deps))]


class Run:
    def __init__(self, tasks, workers, begin=0, end=None, scheduler="threads", parent=0, planned=None, lost=0, error=""):
        self.tasks, self.workers = tasks, ["w%d" % i for i in range(workers)] if isinstance(workers, int) else workers
        self.begin, self.end, self.scheduler, self.parent, self.lost, self.error = begin, end, scheduler, parent, lost, error
        self.planned = len([one for one in tasks if one.action == COMPUTE]) if planned is None else planned

    def lines(self):
        end = 0 if self.end is None else BEGIN + self.end
        yield ["run", self.scheduler, self.parent, self.planned, self.lost, BEGIN + self.begin, end, self.error]
        for number, label in enumerate(self.workers):
            yield ["worker", number, label, 42, 100 + number]
        for task in self.tasks:
            yield task.line()

    # ---- what must be said of it ------------------------------------------------------------------

    @property
    def computed(self):
        return [one for one in self.tasks if one.action == COMPUTE]

    @property
    def window(self):
        ran = [one for one in self.tasks if one.ran]
        begins = [self.begin] + [one.start for one in ran]
        ends = [self.end or 0] + [one.end for one in ran]
        return min(begins), max(ends)

    def ready_of(self, task):
        if task.ready is not None:
            return min(task.ready, task.start)
        by_number = {one.number: one for one in self.computed}
        ends = [by_number[number].end for number in task.deps if by_number[number].ran]
        return min(max([self.begin] + ends), task.start)

    def longest(self):
        """(length of the longest chain that ends with it, from it on) of each task, by number."""
        by_number = {one.number: one for one in self.computed}
        dependents = {number: [] for number in by_number}
        for one in self.computed:
            for number in one.deps:
                dependents[number].append(one.number)

        def up_to(number):
            return by_number[number].length + max([up_to(one) for one in by_number[number].deps], default=0)

        def onward(number):
            return by_number[number].length + max([onward(one) for one in dependents[number]], default=0)
        return {number: (up_to(number), onward(number)) for number in by_number}

    def worker_times(self, worker):
        """Nanosecond by nanosecond: compute, moving, and idle by reason."""
        begin, end = self.window
        mine = [one for one in self.tasks if one.worker == worker and one.ran]
        last = max(mine, key=lambda one: one.start, default=None)
        ran = [one for one in self.computed if one.ran]
        found = dict.fromkeys(("compute", "moving") + REASONS, 0)
        for now in range(begin, end):
            busy = [one.action for one in mine if one.start <= now < one.end]
            if COMPUTE in busy:
                found["compute"] += 1
            elif busy:
                found["moving"] += 1
            elif last is not None and last.state == LOST and now >= max(one.end for one in mine):
                found["gone"] += 1
            elif any(self.ready_of(one) <= now < one.start for one in ran):
                found["scheduler"] += 1
            elif all(self.ready_of(one) <= now for one in ran):
                found["nothing-left"] += 1
            elif any(one.ran and one.start <= now < one.end for one in self.tasks):
                found["dependencies"] += 1
            else:
                found["scheduler"] += 1
        return found


def quantile(lengths, percent):
    """The smallest that so many percent of all do not exceed."""
    return next(one for one in sorted(lengths) if sum(other <= one for other in lengths) * 100 >= percent * len(lengths))


def maker(build):
    return os.path.join(build, "tests", "programs", "make_tasks")


def write(build, path, runs):
    text = "\n".join("\t".join(map(str, line)) for run in runs for line in run.lines()) + "\n"
    subprocess.run([maker(build), os.fspath(path)], input=text, text=True, check=True)
    return path


def simulate(random, count, workers, widest=3, jitter=4, longest=60):
    """A run of a random graph: whoever is free takes the first task that is ready, after a little while."""
    deps = [sorted(random.sample(range(i), min(i, random.randrange(widest + 1)))) for i in range(count)]
    free, ended, tasks = [random.randrange(5)] * workers, {}, {}
    while len(tasks) < count:
        able = [i for i in range(count) if i not in tasks and all(one in ended for one in deps[i])]
        ready = {i: max([1] + [ended[one] + random.randrange(jitter) for one in deps[i]]) for i in able}
        number = min(able, key=lambda i: (ready[i], i))
        worker = free.index(min(free))
        start = max(free[worker], ready[number]) + random.randrange(jitter)
        end = start + random.randrange(longest)
        ended[number] = free[worker] = end
        tasks[number] = Task(number, random.choice("abcd"), worker, start, end, ready[number], deps[number],
                             bytes=random.choice([-1, 10, 1000]))
    return Run([tasks[i] for i in range(count)], workers, end=max(ended.values()) + random.randrange(10))
