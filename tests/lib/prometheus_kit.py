"""A real Prometheus, promtool, the official readers of its formats, `venturi serve`, and a program for it to show; all on loopback."""
import json
import os
import re
import select
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.parse
import urllib.request

import pytest

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.path.abspath(os.environ.get("VENTURI_BUILD", os.path.join(TOP, "build")))
VENTURI = os.environ.get("VENTURI", os.path.join(BUILD, "venturi"))
UNPACKED = os.path.join(TOP, "build", "prometheus")  # tools/prometheus
MONITORED = os.path.join(BUILD, "tests", "programs", "monitored")
OPENMETRICS = "application/openmetrics-text;version=1.0.0,text/plain;version=0.0.4;q=0.5"
WAIT_SECONDS = 90  # on a machine that does much else

sys.path.append(os.path.join(UNPACKED, "python"))


def tool(name):
    """prometheus or promtool; without it the test is skipped."""
    path = shutil.which(name) or os.path.join(UNPACKED, "bin", name)
    if not os.access(path, os.X_OK):
        pytest.skip(f"no {name}: run tools/setup")
    return path


def need_yaml():
    return pytest.importorskip("yaml", reason="no PyYAML: run tools/setup")


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def wait_for(ask, what, seconds=WAIT_SECONDS):
    """What ask() gives as soon as that is something; an error in between is only asked again."""
    end = time.monotonic() + seconds
    last = None
    while time.monotonic() < end:
        try:
            last = ask()
            if last:
                return last
        except (OSError, ValueError, KeyError) as error:
            last = error
        time.sleep(0.1)
    raise AssertionError(f"waited for {what}: {last}")


def get(url, accept=None, timeout=30):
    """Content type and text."""
    request = urllib.request.Request(url, headers={"Accept": accept} if accept else {})
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with opener.open(request, timeout=timeout) as answer:
        return answer.headers["Content-Type"], answer.read().decode()


class Process:
    """Something that runs beside the test and is stopped by it."""

    def __init__(self, command, log, **kw):
        self.log = str(log)
        with open(self.log, "ab") as out:
            self.process = subprocess.Popen(list(map(str, command)), stderr=out, **{"stdin": subprocess.DEVNULL, "stdout": out, **kw})

    def said(self):
        with open(self.log, errors="replace") as text:
            return text.read()

    def check(self):
        assert self.process.poll() is None, f"it has ended: {self.said()[-2000:]}"

    def close(self):
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(30)
            except subprocess.TimeoutExpired:
                self.process.kill()
        self.process.wait(30)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


class Prometheus(Process):
    def __init__(self, folder, config, *options):
        """`config` is the path of a configuration."""
        self.port = free_port()
        super().__init__([tool("prometheus"), f"--config.file={config}", f"--storage.tsdb.path={folder}/data",
                          f"--web.listen-address=127.0.0.1:{self.port}", "--enable-feature=exemplar-storage", *options],
                         os.path.join(folder, "prometheus.log"), cwd=folder)
        wait_for(self.is_ready, "Prometheus to be ready")

    def is_ready(self):
        self.check()
        return get(f"http://127.0.0.1:{self.port}/-/ready")[1]

    def api(self, path, **parameters):
        try:
            text = get(f"http://127.0.0.1:{self.port}/api/v1/{path}?{urllib.parse.urlencode(parameters)}")[1]
        except urllib.error.HTTPError as error:
            raise AssertionError(f"{path} {parameters}: {error.read().decode()}") from None
        return json.loads(text)["data"]

    def query(self, expression):
        """[(labels, value)] of an instant query."""
        found = self.api("query", query=expression)
        if found["resultType"] == "scalar":
            return [({}, float(found["result"][1]))]
        return [(one["metric"], float(one["value"][1])) for one in found["result"]]

    def value(self, expression):
        found = self.query(expression)
        assert len(found) == 1, (expression, found)
        return found[0][1]

    def until(self, expression, wanted):
        """Asks until the one value is so: a number, or whether a function says yes to it."""
        is_it = wanted if callable(wanted) else lambda value: value == wanted

        def ask():
            self.check()
            found = self.query(expression)
            return found and is_it(found[0][1]) and (found,)
        return wait_for(ask, expression)[0]

    def targets(self):
        return self.api("targets")["activeTargets"]


class Serve(Process):
    """`venturi serve TARGET`."""

    def __init__(self, folder, target, *options):
        log = os.path.join(folder, f"serve-{free_port()}.log")
        super().__init__([VENTURI, "serve", target, "--port", free_port(), *options], log, cwd=folder)
        self.address = wait_for(self.is_up, "venturi serve to say where it is")

    def is_up(self):
        if self.process.poll() is not None and re.search("not a command|unknown command|No such file", self.said()):
            pytest.skip("this build has no venturi serve: " + self.said().strip()[-200:])
        self.check()
        found = re.search(r"http://127\.0\.0\.1:\d+", self.said())
        return found and get(found.group() + "/health") and found.group()

    @property
    def host(self):
        return self.address[len("http://"):]

    def metrics(self, accept=None):
        self.check()
        return get(self.address + "/metrics", accept)

    def samples(self):
        """{(name, labels as a sorted tuple): value}, read by the official reader of OpenMetrics."""
        return samples_of(openmetrics(self.metrics(OPENMETRICS)[1]))

    def until(self, name, wanted, **labels):
        """All samples, as soon as this one has that value."""
        key = (name, tuple(sorted(labels.items())))

        def ask():
            found = self.samples()
            return found.get(key) == wanted and found
        return wait_for(ask, f"{key} to be {wanted}")


class Monitored(Process):
    """tests/programs/monitored under `venturi run`."""

    def __init__(self, folder, *options, log="run.log"):
        if not os.path.exists(MONITORED):
            pytest.skip("tests/programs/monitored is not built")
        super().__init__([VENTURI, "run", *options, "--", MONITORED], os.path.join(folder, log), cwd=folder,
                         stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.pid = json.loads(self.line())["pid"]

    def line(self):
        assert select.select([self.process.stdout], [], [], WAIT_SECONDS)[0], "it says nothing"
        text = self.process.stdout.readline()
        assert text, self.said()[-2000:]
        return text

    def tell(self, text):
        """Returns when it is done."""
        self.process.stdin.write(text.encode() + b"\n")
        self.process.stdin.flush()
        self.line()

    def end(self):
        self.process.stdin.close()
        assert self.process.wait(WAIT_SECONDS) == 0, self.said()[-2000:]

    def close(self):
        self.process.stdin.close()
        self.process.stdout.close()
        try:
            self.process.wait(30)  # it ends with its input
        except subprocess.TimeoutExpired:
            super().close()


def openmetrics(text):
    """Families; what is not OpenMetrics is an error."""
    parser = pytest.importorskip("prometheus_client.openmetrics.parser", reason="no prometheus_client: run tools/setup")
    return list(parser.text_string_to_metric_families(text))


def classic(text):
    """Families of the text format, by the official reader."""
    parser = pytest.importorskip("prometheus_client.parser", reason="no prometheus_client: run tools/setup")
    return list(parser.text_string_to_metric_families(text))


def samples_of(families):
    found = {}
    for family in families:
        for sample in family.samples:
            key = (sample.name, tuple(sorted(sample.labels.items())))
            assert key not in found, f"twice: {key}"
            found[key] = sample.value
    return found


def lint(text):
    """promtool check metrics: no error, no advice."""
    done = subprocess.run([tool("promtool"), "check", "metrics"], input=text, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout + done.stderr) == (0, ""), done.stdout + done.stderr
