"""Traces as records of Kafka: librdkafka's mock of a cluster, and a real broker if there is one; read back by a step of C."""
import json
import os
import socket
import subprocess
import sys
import time

import pytest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "lib"))

import trace_stores  # noqa: E402
from recorded import BUILD, TOP, run  # noqa: E402
from trace_stores import essence, free_port, imported, notifications, ship, shown, venturi  # noqa: E402

pytestmark = trace_stores.pytestmark
MOCK = os.path.join(BUILD, "tests", "steps", "mock_kafka")
COPY = os.path.join(BUILD, "tests", "steps", "copy")
READ = "auto.offset.reset=earliest&enable.partition.eof=true"


@pytest.fixture(scope="module")
def mock():
    if not os.path.exists(MOCK):
        pytest.skip("tests/steps/mock_kafka is not built: no librdkafka")
    child = subprocess.Popen([MOCK, "2", "2", "traces", "osprofiler-notifications"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    yield child.stdout.readline().strip().split(",")[0]
    child.stdin.close()
    child.wait(60)
    child.stdout.close()


@pytest.fixture(scope="module")
def broker(tmp_path_factory):
    tool = os.path.join(TOP, "tools", "kafka")
    ready = subprocess.run([tool, "check"], capture_output=True, text=True)
    if ready.returncode:
        pytest.skip(ready.stdout.strip())
    folder, port = tmp_path_factory.mktemp("kafka"), free_port()
    with open(folder / "log", "wb") as log:
        child = subprocess.Popen([tool, "run", str(folder), str(port), str(free_port())], stdin=subprocess.DEVNULL, stdout=log, stderr=log)
    for _ in range(1200):
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
            break
        except OSError:
            time.sleep(0.1)
    yield f"127.0.0.1:{port}"
    child.kill()
    child.wait()


def read(server, topic, folder):
    """What is in a topic, as lines."""
    to = folder / (topic + ".jsonl")
    run([COPY, f"kafka://{server}/{topic}?group.id=g{time.monotonic_ns()}&{READ}", to], cwd=folder, timeout=240)
    return to, [json.loads(line) for line in to.read_text().splitlines()]


@pytest.mark.parametrize("which", ["mock", "broker"])
@pytest.mark.parametrize("topic", ["traces", ""])
def test_a_record_for_each_begin_and_end(request, tmp_path, which, topic):
    server = request.getfixturevalue(which)
    base, events = notifications(50, fails=(3,))
    path = imported(tmp_path, events)
    ship(path, f"kafka://{server}/{topic}")
    where, found = read(server, topic or "osprofiler-notifications", tmp_path)
    assert sorted((event["trace_id"], event["name"]) for event in found) == sorted((event["trace_id"], event["name"]) for event in events)
    assert essence(shown(base, where)) == essence(shown(base, path))


def test_nobody_there(tmp_path):
    if not os.path.exists(MOCK):
        pytest.skip("tests/steps/mock_kafka is not built: no librdkafka")
    _, events = notifications(2)
    done = ship(imported(tmp_path, events), f"kafka://127.0.0.1:{free_port()}/t", "--give-up", "1", check=False)
    assert done.returncode == 1 and "kafka://127.0.0.1" in done.stderr, done.stderr
    done = venturi("trace", "list", "--from", "kafka://127.0.0.1/t", check=False)
    assert done.returncode == 2 and "cannot be read back" in done.stderr
