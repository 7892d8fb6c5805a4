"""Other tracers, measured in the same run by programs of the same shape."""
import os
import pwd
import re
import shutil
import subprocess
import tempfile
import time

from measure import Failed, run

LTTNG_TOOLS = ("lttng", "lttng-sessiond", "babeltrace2")


def folder_bytes(folder):
    return sum(os.path.getsize(os.path.join(at, name))
               for at, _, names in os.walk(folder) for name in names)


class Lttng:
    """A session daemon of our own: no socket, session or trace of anybody else is touched."""

    def __init__(self):
        self.home = tempfile.mkdtemp(prefix="venturi-lttng-")
        self.trace = os.path.join(self.home, "trace")
        self.options = {"env": dict(os.environ, LTTNG_HOME=self.home, LTTNG_UST_REGISTER_TIMEOUT="-1")}
        if os.geteuid() == 0:
            # Root's daemon would use the machine's one socket folder; any other user has its own.
            nobody = pwd.getpwnam("nobody")
            os.chown(self.home, nobody.pw_uid, nobody.pw_gid)
            self.options.update(user=nobody.pw_uid, group=nobody.pw_gid, extra_groups=[], cwd=self.home)
        self.daemon = None

    def command(self, *words):
        return run(["lttng", "--no-sessiond"] + list(words), **self.options)

    def __enter__(self):
        self.daemon = subprocess.Popen(["lttng-sessiond", "--no-kernel"], stdin=subprocess.DEVNULL,
                                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **self.options)
        for _ in range(100):
            try:
                self.command("list")
                return self
            except Failed:
                time.sleep(0.1)
            if self.daemon.poll() is not None:
                break
        self.__exit__()
        raise Failed("lttng-sessiond did not start")

    def __exit__(self, *error):
        self.stop()
        shutil.rmtree(self.home, ignore_errors=True)

    def stop(self):
        if self.daemon.poll() is not None:
            return
        self.daemon.terminate()  # it ends its consumer daemons
        try:
            self.daemon.wait(10)
        except subprocess.TimeoutExpired:
            self.daemon.kill()
            self.daemon.wait()

    def record(self, program, rounds):
        self.command("create", "bench", "--output=" + self.trace)
        self.command("enable-channel", "--userspace", "--subbuf-size=4M", "--num-subbuf=8", "bench")
        self.command("enable-event", "--userspace", "--channel=bench", "venturi_bench:*")
        self.command("start")
        output = run([program, str(rounds)], **self.options)
        self.command("stop")
        self.command("destroy")
        return output


def count_events(trace):
    """Events that babeltrace2 finds in a trace, and those that the trace says were discarded."""
    reader = subprocess.Popen(["babeltrace2", trace], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    count = sum(block.count(b"\n") for block in iter(lambda: reader.stdout.read(1 << 20), b""))
    said = reader.stderr.read().decode(errors="replace")
    reader.wait()
    discarded = sum(int(number) for number in re.findall(r"discarded (\d+) event", said))
    return count, discarded


def measure_lttng(bench):
    missing = [name for name in LTTNG_TOOLS if not shutil.which(name)]
    program = bench.program("peer_lttng")
    if missing or not program:
        bench.notes.append("LTTng-UST: not measured, missing: "
                           + ", ".join(missing or ["its headers (liblttng-ust-dev)"]))
        return
    bench.versions["lttng"] = run(["lttng", "--version"]).strip()
    with Lttng() as lttng:
        copy = os.path.join(lttng.home, "peer_lttng")  # the build folder may be closed to that user
        shutil.copy(program, copy)
        os.chmod(copy, 0o755)
        bench.keep_lines(lttng.record(copy, bench.rounds))
        count, discarded = count_events(lttng.trace)
        size = folder_bytes(lttng.trace)
    wanted = int(bench.figures.pop("lttng_events")["value"])
    if count + discarded != wanted or not count:
        raise Failed("LTTng-UST: made %d events, its trace has %d and %d discarded"
                     % (wanted, count, discarded))
    if discarded:
        bench.notes.append("LTTng-UST: discarded %d of %d events" % (discarded, wanted))
    bench.keep("lttng_bytes", size / count, "bytes")


def measure_uftrace(bench):
    programs = {"instrument": bench.program("peer_uftrace_instrument"), "pg": bench.program("peer_uftrace_pg")}
    if not shutil.which("uftrace") or not all(programs.values()):
        bench.notes.append("uftrace: not measured, it is not installed (or was not when we were built)")
        return
    bench.versions["uftrace"] = run(["uftrace", "--version"]).strip()
    for kind, program in programs.items():
        data = bench.path("uftrace-" + kind)
        output = run(["uftrace", "record", "--no-libcall", "-d", data, program, str(bench.rounds)])
        bench.keep_lines(output)
        for name in ("call", "floor"):
            bench.figures["uftrace_%s_%s" % (kind, name)] = bench.figures.pop("uftrace_" + name)
        calls = bench.figures.pop("uftrace_calls")["value"]
        bench.keep("uftrace_%s_bytes" % kind, folder_bytes(data) / (2 * calls), "bytes")
        shutil.rmtree(data)


def measure_uftrace_functions(bench, program):
    """The program that ours is measured with, under uftrace: first its figures, under names of their own."""
    if not shutil.which("uftrace"):
        bench.notes.append("functions: not measured with uftrace, it is not installed")
        return
    data = bench.path("uftrace-functions")
    bench.keep_lines(run(["uftrace", "record", "--no-libcall", "-d", data, program, str(bench.rounds)]))
    shutil.rmtree(data)
    for name in ("function_call", "function_fib"):
        bench.figures["uftrace_" + name] = bench.figures.pop(name)
