"""`venturi serve` on loopback: servers on free ports that each test starts and stops, programs that they show, and clients of every kind."""
import http.client
import importlib.util
import json
import os
import socket
import subprocess
import sys
import time

import pytest

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path[:0] = [os.path.join(TOP, "tests", "lib")]
BUILD = os.path.abspath(os.environ.get("VENTURI_BUILD", os.path.join(TOP, "build")))
VENTURI = os.environ.get("VENTURI", os.path.join(BUILD, "venturi"))
PROGRAMS = os.path.join(BUILD, "tests", "programs")
TOKEN = "only-for-these-tests"
WAIT_SECONDS = 90  # on a machine that does much else

if not os.path.exists(os.path.join(BUILD, "venturi-serve")):
    collect_ignore_glob = ["test_*.py"]


def environment(**more):
    env = {key: value for key, value in os.environ.items() if not key.startswith("VENTURI")}
    return {**env, "LC_ALL": "C.UTF-8", **more}


def wait_for(ask, what, seconds=WAIT_SECONDS):
    """What ask() gives as soon as that is something."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        last = ask()
        if last:
            return last
        time.sleep(0.05)
    raise AssertionError(f"waited for {what}")


class Server:
    """A `venturi serve`, ready when it has said its address."""

    def __init__(self, *words, cwd=None, env=None, token=TOKEN):
        words = [*words, "--port", "0"] if "--port" not in words else list(words)
        if token:
            words += ["--token", token]
        self.process = subprocess.Popen([VENTURI, "serve", *map(str, words)], stderr=subprocess.PIPE, text=True, cwd=cwd,
                                        stdin=subprocess.DEVNULL, env=environment(**(env or {})))
        self.said = []
        self.address = None
        for line in self.process.stderr:
            self.said.append(line.rstrip("\n"))
            if "http://" in line:
                self.address = line.split()[-1]
                break
        assert self.address, self.said
        self.port = int(self.address.split("/status")[0].rsplit(":", 1)[1])
        self.token = self.address.rsplit("token=", 1)[1]

    def ask(self, path, *, method="GET", token=True, host=None, headers=None, body=None, timeout=60):
        """(status, headers, body) of one request on a connection of its own."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)
        all_headers = {"Host": host or f"127.0.0.1:{self.port}", **(headers or {})}
        if token:
            all_headers["Authorization"] = f"Bearer {self.token}"
        try:
            connection.request(method, path, body=body, headers=all_headers)
            answer = connection.getresponse()
            return answer.status, dict(answer.getheaders()), answer.read()
        finally:
            connection.close()

    def json(self, path):
        status, _, body = self.ask(path)
        assert status == 200, body
        return json.loads(body)

    def state(self):
        return self.json("/api/state")

    def wait(self, test, what, seconds=WAIT_SECONDS):
        """The first state that passes the test."""
        found = []

        def look():
            state = self.state()
            if test(state):
                found.append(state)
            return found
        wait_for(look, what, seconds)
        return found[0]

    def connect(self):
        """A bare socket."""
        made = socket.create_connection(("127.0.0.1", self.port), timeout=60)
        return made

    def request(self, path, *more):
        lines = [f"GET {path} HTTP/1.1", f"Host: 127.0.0.1:{self.port}", f"Authorization: Bearer {self.token}", *more, "", ""]
        return "\r\n".join(lines).encode()

    def stop(self):
        if self.process.poll() is None:
            self.process.terminate()
        code = self.process.wait(timeout=60)
        self.process.stderr.close()
        return code


class Events:
    """An event stream as a browser reads it: (name, data) one after the other."""

    def __init__(self, server):
        self.connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
        self.connection.request("GET", "/api/events", headers={"Authorization": f"Bearer {server.token}"})
        self.answer = self.connection.getresponse()
        assert self.answer.status == 200

    def __iter__(self):
        name, data = None, []
        while True:
            line = self.answer.readline().decode().rstrip("\n")
            if line.startswith("event: "):
                name = line[7:]
            elif line.startswith("data: "):
                data.append(line[6:])
            elif not line:
                if name:
                    yield name, json.loads("\n".join(data))
                elif self.answer.isclosed():
                    return
                name, data = None, []

    def close(self):
        self.connection.close()


class Monitored:
    """tests/programs/monitored under `venturi run`: does what it is told, and says when it is done."""

    def __init__(self, folder, *options, env=None):
        self.path = os.path.join(folder, "run.vt")
        where = [] if "--spool" in options else ["-o", self.path]
        self.process = subprocess.Popen([VENTURI, "run", "-q", *where, *options, os.path.join(PROGRAMS, "monitored")], cwd=folder,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment(**(env or {})))
        self.pid = json.loads(self.process.stdout.readline())["pid"]

    def tell(self, what):
        self.process.stdin.write(what + "\n")
        self.process.stdin.flush()
        assert "done" in self.process.stdout.readline()

    def stop(self):
        if not self.process.stdin.closed:
            self.process.stdin.close()
        self.process.wait(timeout=60)
        self.process.stdout.close()


@pytest.fixture
def serve():
    """serve(words…) -> a Server, stopped at the end."""
    made = []

    def start(*words, **more):
        made.append(Server(*words, **more))
        return made[-1]
    yield start
    codes = [one.stop() for one in made]
    assert not any(codes), codes  # a sanitizer has its own


@pytest.fixture
def monitored(tmp_path):
    made = []

    def start(*options, **more):
        made.append(Monitored(str(tmp_path), *options, **more))
        return made[-1]
    yield start
    for one in made:
        one.stop()


@pytest.fixture
def finished(tmp_path, monitored):
    """The path of a finished recording: two children, one of them killed."""
    program = monitored()
    program.tell("round 2")
    program.stop()
    return program.path


def named(lists, name, key="name"):
    return next((one for one in lists["list"] if one[key] == name), None)


def cli_conftest():
    """tests/cli/conftest.py, which makes recordings byte by byte."""
    tests = os.path.join(TOP, "tests")
    sys.path[:0] = [os.path.join(tests, "reader")]
    spec = importlib.util.spec_from_file_location("cli_conftest", os.path.join(tests, "cli", "conftest.py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
