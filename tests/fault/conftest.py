"""What the tests of `venturi ship` share: recordings whose every nanosecond is known, shippers, and a store that fails on demand."""
import glob
import json
import os
import signal
import subprocess
import sys
import time

import pytest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(os.path.dirname(HERE), "lib")]

from es_stub import Stub  # noqa: E402
from recorded import BUILD, VENTURI  # noqa: E402

MAKE_STEPS = os.path.join(BUILD, "tests", "fault", "make_steps")
DAY = 86400
NOON = 1789991999  # 2026-09-21T11:59:59Z
QUICK = ("--retry-max", "0.2", "--every", "0.1")
PATIENCE = 120

def pytest_collection_modifyitems(items):
    if not os.path.exists(os.path.join(BUILD, "venturi-ship")) or not os.path.exists(MAKE_STEPS):
        for item in items:
            item.add_marker(pytest.mark.skip(reason="venturi-ship is not built: no libcurl or no OpenSSL"))


def environment(**more):
    """Nothing of whoever runs the tests: proxies, credentials."""
    env = {key: value for key, value in os.environ.items()
           if not key.lower().endswith("_proxy") and not key.startswith("VENTURI_STORE")}
    return {**env, "LC_ALL": "C.UTF-8", **more}


def line(sent_ns, execute_ns=1_500_000, flags=0, messages=1, source="MyStep", prefix="pipeline", survey="", extra="", received_ns=None):
    received_ns = sent_ns - execute_ns if received_ns is None else received_ns
    return f"{sent_ns}\t{received_ns}\t{execute_ns}\t{flags}\t{messages}\t{source}\t{prefix}\t{survey}\t{extra}"


def many(count, first=0):
    """Lines that are told apart by `n`."""
    return [line((NOON * 1000 + i) * 1_000_000, extra=f'"n":{first + i}') for i in range(count)]


def make_steps(path, lines, *options):
    subprocess.run([MAKE_STEPS, str(path), *map(str, options)], input="".join(text + "\n" for text in lines), text=True, check=True, timeout=60)
    return path


def spool_name(number, run="1a2b3c4d5e6f"):
    return f"20260921T120000.{number:06d}Z-{run}-{number:06d}.vt"


def ship(*words, env=None, **kw):
    """Runs it to its end."""
    kw.setdefault("timeout", PATIENCE)
    return subprocess.run([VENTURI, "ship", *map(str, words)], capture_output=True, text=True, stdin=subprocess.DEVNULL,
                          env=environment(**(env or {})), **kw)


class Shipper:
    """One that runs beside the test."""

    def __init__(self, *words, env=None):
        self.process = subprocess.Popen([VENTURI, "ship", *map(str, words)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, text=True, env=environment(**(env or {})))

    def end(self, number=signal.SIGTERM):
        """Exit code and messages."""
        self.process.send_signal(number)
        return self.wait()

    def wait(self):
        _, messages = self.process.communicate(timeout=PATIENCE)
        return self.process.returncode, messages


@pytest.fixture
def shipper():
    """Starts shippers; what is left of them is killed."""
    started = []

    def start(*words, env=None):
        started.append(Shipper(*words, env=env))
        return started[-1]
    yield start
    for one in started:
        if one.process.poll() is None:
            one.process.kill()
            one.process.communicate()


@pytest.fixture
def stub():
    with Stub() as server:
        yield server


def wait_for(what, why="it did not come to that"):
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        if what():
            return
        time.sleep(0.02)
    raise AssertionError(why)


def numbers(stub):
    """The `n` of the documents that it has, sorted."""
    return sorted(document["n"] for document in stub.order)


def status_of(folder):
    paths = glob.glob(os.path.join(str(folder), "*ship-*.status.json"))
    assert len(paths) == 1
    with open(paths[0]) as text:
        return json.load(text)


def dead_of(folder):
    """Dead letters, and the file that they stand in."""
    paths = glob.glob(os.path.join(str(folder), "*.dead.ndjson"))
    if not paths:
        return [], None
    assert len(paths) == 1
    with open(paths[0]) as text:
        return [json.loads(one) for one in text], paths[0]
