"""Children, threads, and the end of the interpreter. The counters are of files, CPU time is real."""
import locale
import os
import subprocess
import sys
import threading

from machine import Machine, near, rows
from venturi import _venturi
from venturi.energy import EmissionsTracker

LEFT = """
from venturi.energy import EmissionsTracker
tracker = EmissionsTracker(country_iso_code="FRA")
tracker.start()
%s
"""


def test_the_end_of_the_interpreter_stops_it():
    Machine(with_proc=False)
    for text, code in (("pass", 0), ("import sys; sys.exit(3)", 3), ("1 / 0", 1), ("del tracker", 0)):
        done = subprocess.run([sys.executable, "-c", LEFT % text], capture_output=True)
        assert done.returncode == code, done.stderr
    assert len(rows()) == 4 == len({row["run_id"] for row in rows()})


def test_a_tracker_is_its_process_own():
    Machine(with_proc=False)
    tracker = EmissionsTracker(country_iso_code="FRA", measure_power_secs=0.001)
    tracker.start()
    for _ in range(10):
        pid = os.fork()
        if pid == 0:
            try:
                assert tracker.stop() is None and tracker.flush() is None and tracker.start_task("x") is None
                assert tracker.energy() is None and tracker.stop_task() is None
                with EmissionsTracker(country_iso_code="FRA", project_name="child"):
                    pass
                del tracker
                code = 0
            except BaseException:
                code = 1
            finally:
                os._exit(code)
        assert os.waitpid(pid, 0)[1] == 0
    assert tracker.stop() > 0
    assert [row["project_name"] for row in rows()] == ["child"] * 10 + ["codecarbon"]


def test_a_child_that_ends_normally_writes_nothing():
    Machine(with_proc=False)
    text = LEFT % "import os, sys\nif os.fork() == 0: sys.exit(0)\nos.wait()"
    subprocess.run([sys.executable, "-c", text], check=True)
    assert len(rows()) == 1


def test_many_at_once():
    machine = Machine(with_proc=False)
    found = []

    def work():
        tracker = EmissionsTracker(country_iso_code="FRA", measure_power_secs=0.01)
        with tracker:
            barrier.wait(60)
            barrier.wait(60)
        found.append(tracker.final_emissions_data.cpu_energy)

    barrier = threading.Barrier(9)
    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    barrier.wait(60)
    machine.use(18)
    barrier.wait(60)
    for thread in threads:
        thread.join()
    assert len(found) == 8 and len(rows()) == 8
    for energy in found:
        near(energy * 3.6e6, 18, 1e-6)


ORPHANS = """
import os, time
from venturi.energy import EmissionsTracker
if os.fork():
    os._exit(os.wait()[1] >> 8)
os.setsid()
tracker = EmissionsTracker(country_iso_code="FRA", tracking_mode="process", measure_power_secs=0.02)
tracker.start()
reading, writing = os.pipe()
if os.fork() == 0:
    if os.fork() == 0:
        until = time.process_time() + 0.5
        while time.process_time() < until: pass
        os.write(writing, b"x")
        time.sleep(0.2)
    os._exit(0)
os.wait()
os.read(reading, 1)
print(tracker.energy().own_cpu_s)
tracker.stop()
"""


def test_orphans_are_charged():
    """What a child starts and leaves behind: it is of the same group, and its new parent of another session."""
    Machine(with_proc=False)
    done = subprocess.run([sys.executable, "-c", ORPHANS], capture_output=True, text=True, check=True)
    assert float(done.stdout) >= 0.45, done.stdout


def test_a_locale_with_a_comma():
    Machine(with_proc=False)
    with open("comma", "w") as file:
        file.write('LC_NUMERIC\ndecimal_point "<U002C>"\nthousands_sep ""\ngrouping -1\nEND LC_NUMERIC\n')
    os.mkdir("locales")
    try:
        subprocess.run(["localedef", "--force", "--no-archive", "-i", "./comma", "-f", "ANSI_X3.4-1968", "locales/xx"], stderr=subprocess.DEVNULL)
    except FileNotFoundError:
        return
    os.environ["LOCPATH"] = os.path.abspath("locales")
    locale.setlocale(locale.LC_NUMERIC, "xx")
    assert locale.localeconv()["decimal_point"] == ","
    with EmissionsTracker(country_iso_code="ZWE") as tracker:
        pass
    assert tracker.final_emissions > 0 and "table:ZWE" in tracker.final_emissions_data.provenance
    near(_venturi.grid_intensity("ZWE")[0], 297.9)


def test_short_children_are_charged():
    """All that they use is the program's: with it alone on the machine nothing is left over."""
    machine = Machine(with_proc=False)
    tracker = EmissionsTracker(country_iso_code="FRA", tracking_mode="process", measure_power_secs=0.05)
    tracker.start()
    for _ in range(10):
        subprocess.run([sys.executable, "-c", "import time\nwhile time.process_time() < 0.1: pass"], check=True)
    machine.use(5)
    tracker.stop()
    used = tracker.final_energy
    assert used.own_cpu_s >= 10 * 0.1 * 0.95, used
    assert 0 < used.share_j <= used.gross_j
