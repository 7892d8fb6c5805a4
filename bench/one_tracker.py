"""One EmissionsTracker on a machine made of files: the same steps with ours and with codecarbon's, each in a process of its own.

usage: one_tracker.py venturi|codecarbon SCENARIO FOLDER

Prints one JSON line: the joules that the tracker answers for the CPU, those that are right, and its CPU seconds.
Counters are files under FOLDER; CPU time is real.
"""
import json
import os
import resource
import subprocess
import sys
import time

RANGE_UJ = 262_143_000_000
ZONES = {"wrap": 262_138.0}
BURN = "import time\nwhile time.process_time() < 0.2: pass"


class Counters:
    """Zones lie in each other under devices, and side by side as links under class, as the kernel has them."""

    def __init__(self, folder, scenario):
        self.devices = os.path.join(folder, "sys", "devices", "virtual", "powercap", "intel-rapl")
        self.links = os.path.join(folder, "sys", "class", "powercap")
        self.joules = {}
        os.makedirs(self.devices)
        os.makedirs(self.links)
        os.symlink(self.devices, os.path.join(self.links, "intel-rapl"))
        self.add("intel-rapl:0", "package-0", ZONES.get(scenario, 5000.0))
        if scenario == "mirrored":
            self.add("intel-rapl:1", "package-1", 5000.0)
        if scenario == "dram":
            self.add("intel-rapl:0/intel-rapl:0:0", "dram", 700.0)

    def put(self, zone, name, text):
        with open(os.path.join(self.devices, zone, name), "w") as file:
            file.write(text)

    def add(self, zone, name, joules):
        os.makedirs(os.path.join(self.devices, zone))
        os.symlink(os.path.join(self.devices, zone), os.path.join(self.links, os.path.basename(zone)))
        self.put(zone, "name", name + "\n")
        self.put(zone, "max_energy_range_uj", "%d\n" % RANGE_UJ)
        self.joules[zone] = joules
        self.use(0)

    def use(self, joules):
        """Of every zone alike, in the time that it takes at 200 W."""
        time.sleep(joules / 200)
        for zone in self.joules:
            self.joules[zone] += joules
            self.put(zone, "energy_uj", "%d\n" % (self.joules[zone] * 1e6 % RANGE_UJ))

    def hide(self, seconds):
        """The counter cannot be read for a while."""
        path = os.path.join(self.devices, "intel-rapl:0", "energy_uj")
        os.rename(path, path + ".away")
        time.sleep(seconds)
        os.rename(path + ".away", path)


def tracker_of(tool, folder, **options):
    options.update(country_iso_code="FRA", output_dir=folder, log_level="critical")
    if tool == "venturi":
        os.environ["VENTURI_SYSFS"] = os.path.join(folder, "sys")
        os.environ["VENTURI_NVML"] = ""
        from venturi.energy import OfflineEmissionsTracker
        return OfflineEmissionsTracker(**options)
    from codecarbon import OfflineEmissionsTracker
    from codecarbon.core import cpu
    base = os.path.join(folder, "sys", "class", "powercap")
    cpu._get_candidate_bases = lambda rapl_dir: [base]
    cpu.IntelRAPL._setup_rapl = cpu.IntelRAPL._fetch_rapl_files
    return OfflineEmissionsTracker(**options)


def run(tool, scenario, folder):
    counters = Counters(folder, scenario)
    mode = "process" if scenario in ("idle", "children") else "machine"
    options = {"tracking_mode": mode, "rapl_include_dram": scenario == "dram"}
    if scenario == "children":
        options["force_cpu_power"] = 100
    elif scenario != "idle":  # those two as they come: how often each of them looks is what matters
        options["measure_power_secs"] = 0.2
    tracker = tracker_of(tool, folder, **options)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    tracker.start()
    if scenario == "idle":  # slowly: to start, to stop and to move the counter is work too
        for _ in range(4):
            time.sleep(1)
            counters.use(5)
        time.sleep(1)
        return answer_of(tool, scenario, tracker, 0)
    before_j = 5 if scenario == "gap" else 10  # more after it than before: what goes on at half its power may have stood still
    counters.use(before_j)
    if scenario == "gap":
        counters.hide(0.5)
    if scenario == "children":
        for _ in range(10):
            subprocess.run([sys.executable, "-S", "-c", BURN], check=True)
    counters.use(20 - before_j)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return answer_of(tool, scenario, tracker, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)


def answer_of(tool, scenario, tracker, children_s):
    tracker.stop()
    row = tracker.final_emissions_data
    joules = row.cpu_energy * 3.6e6
    if scenario == "children":  # CPU seconds: what is charged by watts of one CPU
        return {"seconds": tracker.final_energy.own_cpu_s if tool == "venturi" else joules / 100 * os.cpu_count(), "right": children_s}
    if scenario == "dram":  # ours has memory in a column of its own, codecarbon in that of the CPU if asked
        return {"joules": joules + (row.ram_energy * 3.6e6 if tool == "venturi" else 0), "right": 40.0}
    answer = {"joules": joules, "right": 0.0 if scenario == "idle" else 20.0}
    if tool == "venturi":
        answer.update(share=tracker.final_energy.share_j, gross=tracker.final_energy.gross_j)
    return answer


if __name__ == "__main__":
    print(json.dumps(run(*sys.argv[1:])))
