"""A machine made of files: one package of 100 kJ, 4 CPUs, 16 GiB. Its counters move when a test says so."""
import csv
import logging
import os
import time

RANGE_UJ = 100_000_000_000
KWH = 3.6e6


def put(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as file:
        file.write(text)


class Machine:
    def __init__(self, root="machine", with_proc=True):
        self.root = os.path.abspath(root)
        self.busy_s = self.own_s = 0.0
        self.joules = {}
        self.zone("intel-rapl:0", "package-0", 1000)
        os.environ["VENTURI_SYSFS"] = os.path.join(self.root, "sys")
        os.environ["VENTURI_NVML"] = ""
        if with_proc:
            put(self.root + "/proc/meminfo", "MemTotal: 16777216 kB\nMemAvailable: 8388608 kB\n")
            put(self.root + "/proc/cpuinfo", "processor : 0\nmodel name : Test CPU 100\n")
            os.environ["VENTURI_PROCFS"] = os.path.join(self.root, "proc")
            self.work(10, 1)

    def zone(self, zone, name, joules):
        folder = "%s/sys/class/powercap/%s/" % (self.root, zone)
        put(folder + "name", name + "\n")
        put(folder + "max_energy_range_uj", "%d\n" % RANGE_UJ)
        self.joules[zone] = joules
        self.use(0, zone)

    def use(self, joules, zone="intel-rapl:0"):
        """And the time that so many joules take at 500 W: more is not credible."""
        time.sleep(joules / 500)
        self.joules[zone] += joules
        put("%s/sys/class/powercap/%s/energy_uj" % (self.root, zone), "%d\n" % (self.joules[zone] * 1e6 % RANGE_UJ))

    def work(self, busy_s, own_s, pid=None):
        """Seconds of CPU: of the machine, and of this process in them."""
        self.busy_s += busy_s
        self.own_s += own_s
        put(self.root + "/proc/stat", "cpu  %d 0 0 99999 50 0 0 70 0 0\ncpu0 1 1\ncpu1 1 1\ncpu2 1 1\ncpu3 1 1\nintr 5 0\n" % (self.busy_s * 100))
        put(self.root + "/proc/loadavg", "0 0 0 1/99 0\n")
        put("%s/proc/%d/stat" % (self.root, pid or os.getpid()),
            "%d (x) S 1 1 1 0 -1 0 0 0 0 0 %d 0 0 0 20 0 1 0 5 0 1000 0 0\n" % (pid or os.getpid(), self.own_s * 100))


def near(value, expected, by=1e-9):
    assert abs(value - expected) <= by * max(1, abs(expected)), "%r is not %r" % (value, expected)


def rows(path="emissions.csv"):
    """Dictionaries; every row has as many fields as the header."""
    with open(path, newline="") as file:
        header, *lines = csv.reader(file)
    assert all(len(line) == len(header) for line in lines), lines
    return [dict(zip(header, line)) for line in lines]


class Said(logging.Handler):
    """What the package logs."""

    def __init__(self):
        logging.Handler.__init__(self)
        self.lines = []
        logging.getLogger("venturi.energy").addHandler(self)

    def emit(self, record):
        self.lines.append(record.getMessage())

    def has(self, text):
        return sum(text in line for line in self.lines)
