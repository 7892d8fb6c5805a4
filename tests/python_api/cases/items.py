"""venturi.items: sums of the process, and counters of the recording."""
import json
import os
import subprocess
import sys
import threading

import venturi
from venturi import _venturi

PROGRAM = """
import os, threading, venturi
def work():
    for i in range(1000):
        venturi.items(3, effective=i % 2)
threads = [threading.Thread(target=work) for _ in range(4)]
[t.start() for t in threads]
[t.join() for t in threads]
if os.fork() == 0:
    venturi.items(n=2**60)
    os._exit(0)
os.wait()
venturi.items(1)
"""


def raises(kind, *args, **keywords):
    before = _venturi.items_total()
    try:
        venturi.items(*args, **keywords)
    except kind as error:
        assert _venturi.items_total() == before
        return str(error)
    raise AssertionError("no %s" % kind.__name__)


class Five:
    def __index__(self):
        return 5


def test_sums_without_a_recording():
    assert _venturi.items_total() == (0, 0, 0)
    venturi.items(10)
    venturi.items(5, effective=None)
    assert _venturi.items_total() == (15, 0, 0)
    venturi.items(5, effective=0)
    assert _venturi.items_total() == (20, 0, 1)
    venturi.items(Five(), Five())
    venturi.items(effective=1, n=True)
    venturi.items(0)
    assert _venturi.items_total() == (26, 6, 3)


def test_threads_lose_nothing():
    threads = [threading.Thread(target=lambda: [venturi.items(1, effective=1) for _ in range(10000)]) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert _venturi.items_total() == (80000, 80000, 80000)


def test_bad_arguments_add_nothing():
    assert "n is -1" in raises(ValueError, -1)
    assert "2**63" in raises(ValueError, 2**63)
    assert "effective is -2" in raises(ValueError, 1, effective=-2)
    raises(TypeError)
    raises(TypeError, 1.5)
    raises(TypeError, "3")
    raises(TypeError, 1, 2, 3)
    raises(TypeError, 1, n=1)
    raises(TypeError, 1, done=1)
    raises(TypeError, 1, effective=1.0)


def test_a_recording_holds_the_sums():
    with open("program.py", "w") as file:
        file.write(PROGRAM)
    subprocess.run([os.environ["TOOL"], "run", "-o", "x.vt", "--", sys.executable, "program.py"], check=True)
    rows = json.loads(subprocess.run(
        [os.environ["TOOL"], "query", "--json", "x.vt", "SELECT name, unit, value FROM counters"],
        check=True, capture_output=True).stdout)
    assert {row["unit"] for row in rows} == {"items"}
    found = {}
    for row in rows:
        found[row["name"]] = found.get(row["name"], 0) + row["value"]
    assert found == {"venturi.items": 4 * 1000 * 3 + 2**60 + 1, "venturi.items.effective": 4 * 500}
