"""A night of a survey: two programs in C pre-select alerts while this one classifies what came before, all in one recording.

    venturi run -l --callees examples/night.py build/examples/pipeline
    venturi report night-*.vt -o night.html

Lines of functions with @profile, the functions that they call, trace points of the children, and what all of them
use of the machine: everything that a page can show.
"""
import subprocess
import sys
import threading

import alerts

try:
    profile
except NameError:  # not under a line profiler
    def profile(function):
        return function

SELECTED = 4000


@profile
def select(program, count):
    """Starts two of them at once and waits for both."""
    children = [subprocess.Popen([program, str(count)], stdout=subprocess.PIPE, text=True) for _ in range(2)]
    lines = [child.communicate()[0] for child in children]
    return [line.split(",")[0] for line in lines]


@profile
def classify(step, batch):
    found = []
    for alert in batch:
        result = step.process(alert["cutoutScience"], alert["cutoutTemplate"], alert["objectId"])
        if result >= 0:
            found.append((alert["objectId"], result))
    return found


def main(program):
    step = alerts.Step(limit=60)
    batch = list(alerts.make_alerts(600, 9, 9))
    found = []
    worker = threading.Thread(target=lambda: found.extend(classify(step, batch)), name="classify")
    worker.start()
    selected = select(program, SELECTED)
    worker.join()
    print("selected %s; classified %d of %d" % (" and ".join(selected), len(found), len(batch)))


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: night.py PROGRAM, where PROGRAM is build/examples/pipeline")
    main(sys.argv[1])
