"""CPU and memory of a tree of processes, without dask."""
import os
import subprocess
import sys
import threading
import time

from venturi import _venturi
from venturi.diagnostics import ResourceData, ResourceProfiler

SPIN = "import sys; kept = bytearray(100_000_000); print(1, flush=True); sys.stdin.read()"


def until(condition):
    """Waits for what must come, for as long as it takes."""
    end = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)


def test_children_that_come_later():
    with ResourceProfiler(dt=0.01) as prof:
        until(lambda: len(prof.results) > 2)
        alone = prof.results[-1].mem
        child = subprocess.Popen([sys.executable, "-c", SPIN], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        child.stdout.readline()
        until(lambda: prof.results[-1].mem > alone + 95)
        child.communicate(b"")
        until(lambda: prof.results[-1].mem < alone + 50)
    assert all(type(row) is ResourceData for row in prof.results)
    times = [row.time for row in prof.results]
    assert times == sorted(times) and prof.start_time <= times[0] and times[-1] <= prof.end_time
    with open("/proc/self/statm") as file:
        own = int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6
    assert abs(own - alone) < 50


def test_cpu():
    with ResourceProfiler(dt=0.02) as prof:
        end = time.process_time() + 0.2
        while time.process_time() < end:
            pass
    used = sum(row.cpu / 100 * (row.time - before.time) for before, row in zip(prof.results, prof.results[1:]))
    assert 0.1 < used < 2.0, used


def test_short_blocks_have_two_readings():
    with ResourceProfiler(dt=3600) as prof:
        pass
    assert len(prof.results) == 2 and prof.results() is prof.results
    prof.clear()
    assert prof.results == []


def test_threads_come_and_go():
    def count():
        return len(os.listdir("/proc/self/task"))
    before = count()
    files = len(os.listdir("/proc/self/fd"))
    for _ in range(5):
        with ResourceProfiler(dt=0.5):
            assert count() == before + 1
    assert count() == before and len(os.listdir("/proc/self/fd")) == files
    reader = _venturi.Resources()
    reader.start(0.5)
    reader.start(0.5)
    assert count() == before + 1
    del reader
    assert count() == before


def test_fork():
    with ResourceProfiler(dt=0.01) as prof:
        until(lambda: prof.results)
        pid = os.fork()
        if pid == 0:
            prof.close()
            inside = ResourceProfiler(dt=0.01)
            with inside:
                pass
            os._exit(0 if len(inside.results) >= 2 else 1)
        assert os.waitpid(pid, 0)[1] == 0


def test_wrong_intervals():
    for dt in (0, -1, float("nan"), float("inf")):
        try:
            ResourceProfiler(dt=dt)
        except ValueError as error:
            assert "0.001" in str(error)
        else:
            raise AssertionError(dt)
    for dt in (0, -1, float("nan"), float("inf"), "x", None):
        try:
            _venturi.Resources().start(dt)
        except (TypeError, ValueError):
            continue
        raise AssertionError(dt)


def test_registered_reads_while_something_runs():
    prof = ResourceProfiler(dt=0.01)
    prof.register()
    try:
        time.sleep(0.03)
        assert prof.results == []
        run = object()
        prof._run_begins(run)
        until(lambda: prof.results)
        prof._run_ends(run)
        assert threading.active_count() == 1
        count = len(prof.results)
        time.sleep(0.03)
        assert len(prof.results) == count
    finally:
        prof.unregister()
