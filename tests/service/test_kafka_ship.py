"""`ship --to kafka://` that is killed: every document is in the topic, and of one that is there twice both are the same."""
import collections
import json
import os
import random
import subprocess
import sys
import time

import pytest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "lib"))

import trace_stores  # noqa: E402
from recorded import BUILD, VENTURI, run  # noqa: E402
from test_kafka_traces import COPY, MOCK, READ, broker  # noqa: E402, F401

pytestmark = trace_stores.pytestmark
MAKE_STEPS = os.path.join(BUILD, "tests", "fault", "make_steps")
COUNT, BATCH, KILLS = 3000, 50, 8


@pytest.fixture
def mock():
    if not os.path.exists(MOCK) or not os.path.exists(MAKE_STEPS):
        pytest.skip("tests/steps/mock_kafka is not built: no librdkafka")
    child = subprocess.Popen([MOCK, "1", "2", "steps"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    yield child.stdout.readline().strip().split(",")[0]
    child.stdin.close()
    child.wait(60)
    child.stdout.close()


def start(path, server, *words):
    return subprocess.Popen([VENTURI, "ship", path, "--to", f"kafka://{server}/steps", "--batch", str(BATCH), "--retry-max", "0.2", "--every", "0.1", *words],
                            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)


def read(server, folder):
    to = folder / "read.jsonl"
    run([COPY, f"kafka://{server}/steps?group.id=g{time.monotonic_ns()}&{READ}", to], cwd=folder, timeout=240)
    return to.read_text().splitlines()


@pytest.mark.parametrize("which", ["mock", "broker"])
def test_killed_at_any_time(request, tmp_path, which):
    """Between any two of: sent, acknowledged, written down."""
    server = request.getfixturevalue(which)
    noon = 1789991999000000000
    lines = "".join(f"{noon + i}\t{noon + i - 5}\t5\t0\t1\tMyStep\tpipeline\t\t\"n\":{i}\n" for i in range(COUNT))
    subprocess.run([MAKE_STEPS, tmp_path / "a.vt"], input=lines, text=True, check=True, timeout=60)
    chance, killed = random.Random(7), 0
    for _ in range(KILLS):
        one = start(tmp_path / "a.vt", server)
        time.sleep(chance.random() * 0.4)
        killed += one.poll() is None
        one.kill()
        one.communicate()
    last = start(tmp_path / "a.vt", server, "--once")
    _, messages = last.communicate(timeout=240)
    assert last.returncode == 0 and killed, messages
    found = read(server, tmp_path)
    times = collections.Counter(found)
    assert sorted(json.loads(text)["n"] for text in times) == list(range(COUNT)), "each is there, with one text"
    assert len(found) - COUNT <= killed * BATCH, "no more than what was in hand comes again"
