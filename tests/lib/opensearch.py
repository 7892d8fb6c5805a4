"""A real OpenSearch or Elasticsearch node for tests, if tools/setup --with-opensearch has been run: else they are skipped, with the reason."""
import json
import os
import random
import socket
import subprocess
import time
import urllib.error
import urllib.request

import pytest

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
TOOL = os.path.join(TOP, "tools", "opensearch")
START_SECONDS = 400  # a machine that does much else at the same time


def free_port():
    """The runner takes 9201 to 9299 only."""
    ports = list(range(9201, 9299))
    random.shuffle(ports)
    for port in ports:
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
    pytest.skip("no free port from 9201 to 9298 for OpenSearch")
    return None


class OpenSearch:
    """One node. start() and stop() may be called again and again: data and port stay."""

    def __init__(self, folder, kind="opensearch"):
        checked = subprocess.run([TOOL, "check", kind], capture_output=True, text=True)
        if checked.returncode:
            pytest.skip(checked.stdout.strip())
        self.folder, self.kind, self.port, self.process = str(folder), kind, free_port(), None

    @property
    def url(self):
        return f"{self.kind}://127.0.0.1:{self.port}"

    @property
    def http(self):
        return f"http://127.0.0.1:{self.port}"

    def start(self):
        log = open(os.path.join(self.folder, "log"), "ab")
        with log:
            self.process = subprocess.Popen([TOOL, "run", os.path.join(self.folder, "node"), str(self.port), self.kind], stdin=subprocess.DEVNULL,
                                            stdout=log, stderr=log)
        end = time.monotonic() + START_SECONDS
        while time.monotonic() < end:
            if self.process.poll() is not None:
                break
            try:
                health = self.ask("GET", "/_cluster/health?wait_for_status=yellow&timeout=30s")
                if health["status"] in ("yellow", "green"):
                    return self.be_alone(health)
            except (OSError, ValueError):
                time.sleep(0.5)
        with open(os.path.join(self.folder, "log"), errors="replace") as text:
            tail = text.read()[-2000:]
        self.stop()
        raise AssertionError(self.kind + " did not start:\n" + tail)

    def be_alone(self, health):
        """A node that has met another one holds the other's documents, and leaves ours there."""
        if health["number_of_nodes"] != 1:
            self.stop()
            raise AssertionError(f"{self.kind} is in a cluster with {health['number_of_nodes'] - 1} nodes that are not ours")
        return self

    def stop(self, hard=False):
        if self.process:
            (self.process.kill if hard else self.process.terminate)()
            try:
                self.process.wait(60)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait(60)
        self.process = None

    def ask(self, method, path, body=None, check=True):
        """JSON in, JSON out; with check=False also of what failed."""
        data = json.dumps(body).encode() if body is not None else None
        request = urllib.request.Request(self.http + path, data=data, method=method, headers={"Content-Type": "application/json"})
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        try:
            with opener.open(request, timeout=60) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as error:
            if check:
                raise AssertionError(f"{method} {path}: {error.code}: {error.read()[:1000]}") from None
            return json.load(error)

    def count(self, index="*"):
        self.ask("POST", f"/{index}/_refresh")
        return self.ask("GET", f"/{index}/_count")["count"]

    def search(self, index, body):
        self.ask("POST", f"/{index}/_refresh")
        return self.ask("POST", f"/{index}/_search", body)

    def __enter__(self):
        return self.start()

    def __exit__(self, *_):
        self.stop()
