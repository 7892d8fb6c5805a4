"""Running the benchmark programs: figures from their JSON lines, processor time, recordings."""
import json
import os
import re
import shutil
import subprocess
import tempfile
import time
import urllib.request


class Failed(Exception):
    """A measurement that could not be made; the text says why."""


class Bench:
    """One run of all benchmarks: where things are, how long to measure, what was found."""

    def __init__(self, build, quick):
        self.build = os.path.abspath(build)
        self.quick = quick
        self.rounds = 300 if quick else 600
        # Not under /tmp, which may be memory: a recording of 200 million spans is large.
        self.folder = tempfile.mkdtemp(prefix="tmp-", dir=os.path.join(self.build, "bench"))
        self.figures = {}  # name -> {"value", "median", "unit"}
        self.notes = []
        self.versions = {}

    def close(self):
        shutil.rmtree(self.folder, ignore_errors=True)

    def tool(self):
        return os.path.join(self.build, "venturi")

    def program(self, name):
        """Path of a benchmark program, or None if it was not built."""
        path = os.path.join(self.build, "bench", name)
        return path if os.access(path, os.X_OK) else None

    def need(self, name):
        path = self.program(name)
        if not path:
            raise Failed("%s was not built" % name)
        return path

    def path(self, name):
        return os.path.join(self.folder, name)

    def keep(self, name, value, unit, median=None, **more):
        self.figures[name] = dict(value=value, unit=unit, median=median, **more)

    def keep_lines(self, text):
        for line in text.splitlines():
            if line.startswith("{"):
                figure = json.loads(line)
                self.figures[figure.pop("name")] = figure

    def value(self, name):
        figure = self.figures.get(name)
        return figure["value"] if figure else None


def run(command, **options):
    """Runs to the end and returns standard output; a failure carries the last line of what it said."""
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          stdin=subprocess.DEVNULL, **options)
    if done.returncode:
        said = (done.stderr or done.stdout).strip().splitlines() or ["exit code %d" % done.returncode]
        raise Failed("%s: %s" % (os.path.basename(command[0]), said[-1]))
    return done.stdout


def own_cpu_ns(pid):
    """Processor time of a process that has ended but was not yet waited for, without its children."""
    try:
        with open("/proc/%d/schedstat" % pid) as file:
            return int(file.read().split()[0])
    except (OSError, ValueError, IndexError):
        pass
    with open("/proc/%d/stat" % pid) as file:  # in hundredths of a second: better than nothing
        words = file.read().rpartition(")")[2].split()
    return (int(words[11]) + int(words[12])) * 10**9 // os.sysconf("SC_CLK_TCK")


def record(bench, name, command):
    """Records `command`: its output, what the recording says, its size, the drainer's CPU in ns."""
    recording, errors = bench.path(name + ".vt"), bench.path(name + ".err")
    with open(errors, "w") as to:
        process = subprocess.Popen([bench.tool(), "run", "-q", "-o", recording, "--"] + command,
                                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=to, text=True)
    try:
        output = process.stdout.read()
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        cpu_ns = own_cpu_ns(process.pid)
    except BaseException:
        process.terminate()  # it passes the signal on to the program
        raise
    finally:
        process.wait()
    if process.returncode:
        with open(errors) as file:
            said = file.read().strip().splitlines() or ["exit code %d" % process.returncode]
        raise Failed("venturi run %s: %s" % (os.path.basename(command[0]), said[-1]))
    info = json.loads(run([bench.need("bench_info"), recording]))
    if info["damage"] or not info["is_closed"]:
        raise Failed("venturi run %s: its recording is not whole" % os.path.basename(command[0]))
    size = os.path.getsize(recording)
    os.unlink(recording)
    return output, info, size, cpu_ns


def first_picture_s(venturi, recording):
    """From starting `venturi serve` to the first picture of all of a recording, 2,000 pixels wide."""
    before = time.perf_counter()
    server = subprocess.Popen([venturi, "serve", recording, "--port", "0"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                              stderr=subprocess.PIPE, text=True)
    try:
        for line in server.stderr:
            found = re.search(r"(http://127\.0\.0\.1:\d+)/status\?token=(\w+)", line)
            if found:
                break
        else:
            raise Failed("venturi serve: it did not say where it is")
        request = urllib.request.Request(found[1] + "/api/window?pixels=2000", headers={"Authorization": "Bearer " + found[2]})
        with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request, timeout=60) as answer:
            if not json.load(answer)["tracks"]:
                raise Failed("venturi serve: a picture without tracks")
        return time.perf_counter() - before
    finally:
        server.terminate()
        server.wait()
        server.stderr.close()


def spawn_ms(command, runs):
    """Shortest and middle time from starting a program to its end, in milliseconds."""
    quiet = [(os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)]
    times = []
    for _ in range(runs):
        before = time.perf_counter()
        pid = os.posix_spawn(command[0], command, os.environ, file_actions=quiet)
        _, status = os.waitpid(pid, 0)
        times.append((time.perf_counter() - before) * 1000)
        if status:
            raise Failed("%s: exit status %d" % (command[0], status))
    times.sort()
    return times[0], times[len(times) // 2]
