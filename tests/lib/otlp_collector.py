"""The receiver of the OpenTelemetry collector itself, if tools/setup --with-otlp has been run: else tests are skipped, with the reason."""
import json
import os
import subprocess
import time

import pytest
from recorded import TOP
from trace_stores import free_port

PROGRAM = os.path.join(TOP, "build", "otlp-receiver", "receiver")


class Collector:
    def __init__(self, folder):
        if not os.access(PROGRAM, os.X_OK):
            pytest.skip("no OpenTelemetry receiver: run tools/setup --with-otlp")
        self.path = folder / "took"
        self.port = free_port()
        self.url = f"otlp://127.0.0.1:{self.port}"

    def __enter__(self):
        with open(self.path, "w") as out:
            self.process = subprocess.Popen([PROGRAM, f"127.0.0.1:{self.port}"], stdin=subprocess.DEVNULL, stdout=out)
        for _ in range(600):
            if self.said().startswith("ready") or self.process.poll() is not None:
                break
            time.sleep(0.05)
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()

    def said(self):
        return self.path.read_text()

    def took(self):
        """All that it took, as (kind, message), once it is stopped."""
        self.process.terminate()
        self.process.wait(60)
        return [(line.split(" ", 1)[0], json.loads(line.split(" ", 1)[1])) for line in self.said().splitlines()[1:]]
