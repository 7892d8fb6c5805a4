"""Steps from and to Kafka: with the mock of a cluster that librdkafka has, and with a real broker if there is one (tools/setup --with-kafka)."""
import json
import os
import signal
import socket
import subprocess
import sys
import time

import pytest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "lib"))

from stepping import TOP, VENTURI, environment, newest_python, program, run, steps  # noqa: E402

MESSAGES = os.path.join(TOP, "examples", "step", "messages.jsonl")
READ = "auto.offset.reset=earliest&enable.partition.eof=true"


def given():
    with open(MESSAGES) as file:
        return sorted(file.read().splitlines())


def free_ports(count):
    sockets = [socket.socket() for _ in range(count)]
    for each in sockets:
        each.bind(("127.0.0.1", 0))
    ports = [each.getsockname()[1] for each in sockets]
    for each in sockets:
        each.close()
    return ports


@pytest.fixture(scope="module")
def mock():
    """The address of a mock cluster. It forgets a group's offsets when its last member leaves: each test has a group of its own."""
    child = subprocess.Popen([program("tests", "steps", "mock_kafka"), "2", "2", "alerts", "kinds", "python", "metrics", "empty"],
                             stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    yield child.stdout.readline().strip()
    child.stdin.close()
    child.wait(60)
    child.stdout.close()


@pytest.fixture(scope="module")
def broker(tmp_path_factory):
    """The address of a real broker."""
    tool = os.path.join(TOP, "tools", "kafka")
    ready = subprocess.run([tool, "check"], capture_output=True, text=True, check=False)
    if ready.returncode:
        pytest.skip(ready.stdout.strip())
    folder = tmp_path_factory.mktemp("kafka")
    for _ in range(3):
        ports = free_ports(2)
        with open(folder / "log", "wb") as log:
            child = subprocess.Popen([tool, "run", str(folder), *map(str, ports)], stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        if is_up(child, ports[0]):
            break
        child.kill()
        child.wait()
    else:
        pytest.skip("Kafka did not start: " + (folder / "log").read_text()[-200:])
    yield "127.0.0.1:%d" % ports[0]
    child.kill()
    child.wait()


def is_up(child, port):
    for _ in range(600):
        if child.poll() is not None:
            return False
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
            return True
        except OSError:
            time.sleep(0.2)
    return False


@pytest.fixture
def copy(tmp_path):
    """copy(from, to) runs a step of C that hands on what it gets."""
    path = program("tests", "steps", "copy")

    def start(source, target, check=True):
        return run([path, source, target], check=check, cwd=tmp_path, env=environment(), timeout=240)
    return start


# The mock cluster.

def test_there_and_back(mock, copy, tmp_path):
    copy(MESSAGES, "kafka://%s/alerts" % mock)
    copy("kafka://%s/alerts?group.id=back&%s" % (mock, READ), "out.jsonl")
    assert sorted((tmp_path / "out.jsonl").read_text().splitlines()) == given()


def test_from_topic_to_topic_recorded(mock, copy, tmp_path):
    copy(MESSAGES, "kafka://%s/kinds" % mock)
    run([VENTURI, "run", "-o", tmp_path / "k.vt", "--", program("tests", "steps", "copy"), "kafka://%s/kinds?group.id=topics&%s" % (mock, READ),
         "kafka://%s/empty" % mock], env=environment(), timeout=240)
    rows = steps(tmp_path / "k.vt")
    assert sum(row["messages"] for row in rows) == 200 and {row["failed"] for row in rows} == {0}
    assert all(0 <= row["lag_ns"] < 600e9 for row in rows), "since they were sent"


PYTHON_STEP = '''
from venturi.step import GenericStep
class KafkaStep(GenericStep):
    def execute(self, messages):
        return [{"oid": each["oid"], "n": len(messages)} for each in messages]
'''


def test_a_step_of_python(mock, copy, tmp_path):
    python = newest_python(tmp_path)
    (tmp_path / "in.jsonl").write_text("".join(json.dumps({"oid": "ZTF%d" % n, "mag": 18}) + "\n" for n in range(50)))
    copy("in.jsonl", "kafka://%s/python" % mock)
    done = python.record(PYTHON_STEP + '''
server = {"bootstrap.servers": sys.argv[1]}
step = KafkaStep(config={
    "CONSUMER_CONFIG": {"CLASS": "apf.consumers.KafkaConsumer", "TOPICS": ["python"], "NUM_MESSAGES": 20, "TIMEOUT": 2,
                        "PARAMS": dict(server, **{"group.id": "python", "auto.offset.reset": "earliest", "enable.partition.eof": True})},
    "PRODUCER_CONFIG": {"CLASS": "apf.producers.KafkaProducer", "TOPIC": "results", "PARAMS": server},
    "METRICS_CONFIG": {"CLASS": "apf.metrics.KafkaMetricsProducer", "EXTRA_METRICS": ["oid"], "PARAMS": {"TOPIC": "metrics", "PARAMS": server}}})
step.set_producer_key_field("oid")
step.start()
assert step.metrics_sender.lost == 0
''', mock)
    rows = done.steps
    assert sum(row["messages"] for row in rows) == 50 and max(row["messages"] for row in rows) <= 20
    assert all(row["produce_ns"] and 0 <= row["lag_ns"] < 600e9 for row in rows)
    copy("kafka://%s/results?group.id=check1&%s" % (mock, READ), "results.jsonl")
    results = [json.loads(line) for line in (tmp_path / "results.jsonl").read_text().splitlines()]
    assert sorted(each["oid"] for each in results) == sorted("ZTF%d" % n for n in range(50))
    copy("kafka://%s/metrics?group.id=check2&%s" % (mock, READ), "metrics.jsonl")
    metrics = [json.loads(line) for line in (tmp_path / "metrics.jsonl").read_text().splitlines()]
    assert sum(each["n_messages"] for each in metrics) == 50 and {each["source"] for each in metrics} == {"KafkaStep"}
    assert sorted(sum((each["oid"] for each in metrics), [])) == sorted("ZTF%d" % n for n in range(50))


def test_metrics_to_a_broker_that_is_not_there(tmp_path):
    """The step is done as if nothing were."""
    python = newest_python(tmp_path)
    done = python.record(PYTHON_STEP + '''
from venturi.step.consumers import GenericConsumer
class Many(GenericConsumer):
    def consume(self):
        for number in range(300):
            yield {"oid": number}
step = KafkaStep(Many, config={"METRICS_CONFIG": {"CLASS": "apf.metrics.KafkaMetricsProducer", "PARAMS": {"TOPIC": "metrics", "PARAMS": {
    "bootstrap.servers": "127.0.0.1:%d", "queue.buffering.max.messages": 100, "message.timeout.ms": 1000}}}})
step.start()
print(json.dumps(step.metrics_sender.lost))
''' % free_ports(1)[0])
    assert done.said >= 100, "what finds no room is counted"
    assert len(done.steps) == 300


@pytest.mark.parametrize("address, message", [
    ("kafka://{0}/alerts?group.id=x&no.such=1", 'copy: kafka: No such configuration property: "no.such"\n'),
    ("kafka://{0}/alerts?group.id=x&session.timeout.ms=never", 'copy: kafka: Invalid value for configuration property "session.timeout.ms"\n'),
    ("kafka://{0}/alerts", "copy: kafka: group.id is not set\n"),
    ("kafka://{0}/alerts?group.id", "copy: 'group.id' is no NAME=VALUE\n"),
])
def test_settings_that_are_wrong(mock, copy, address, message):
    done = copy(address.format(mock), "-", check=False)
    assert (done.returncode, done.stderr) == (1, message + "0 messages\n")


def test_one_topic_is_produced_to(mock, copy):
    done = copy(MESSAGES, "kafka://%s/alerts,kinds" % mock, check=False)
    assert done.stderr.startswith("copy: kafka: one topic is produced to, not 'alerts' and 'kinds'\n")


def test_a_broker_that_is_not_there_is_said(copy):
    done = copy(MESSAGES, "kafka://127.0.0.1:%d/alerts?message.timeout.ms=500" % free_ports(1)[0], check=False)
    assert done.returncode == 1
    assert done.stderr.startswith("copy: kafka: 16 messages to alerts not delivered: Local: Message timed out\n")


def test_without_the_library_it_is_said(tmp_path):
    """libventuri-step alone, as where no librdkafka is."""
    import shutil

    build = os.path.dirname(program("venturi"))
    for name in ("libventuri-step.so.1", "libventuri.so.1"):
        shutil.copy(os.path.join(build, name), tmp_path / name)
    shutil.copy(program("tests", "steps", "copy"), tmp_path / "copy")
    text = "import ctypes; lib = ctypes.CDLL('./libventuri.so.1', mode=ctypes.RTLD_GLOBAL); lib = ctypes.CDLL('./libventuri-step.so.1'); " \
           "lib.vt_step_error.restype = ctypes.c_char_p; at = ctypes.c_void_p(); " \
           "print(lib.vt_consumer_open(ctypes.byref(at), b'kafka://h/t?group.id=g', None), lib.vt_step_error().decode())"
    done = run([sys.executable, "-c", text], cwd=tmp_path, env=environment())
    assert done.stdout.startswith("-12 Kafka needs libventuri-kafka.so.1 and librdkafka: ")


# A real broker.

def test_what_was_committed_is_not_read_again(broker, copy, tmp_path):
    topic = "committed"
    copy(MESSAGES, "kafka://%s/%s" % (broker, topic))
    first = copy("kafka://%s/%s?group.id=c&%s" % (broker, topic, READ), "first.jsonl")
    again = copy("kafka://%s/%s?group.id=c&%s" % (broker, topic, READ), "again.jsonl")
    assert first.stderr == "200 messages\n" and again.stderr == "0 messages\n"
    assert sorted((tmp_path / "first.jsonl").read_text().splitlines()) == given()
    other = copy("kafka://%s/%s?group.id=d&%s" % (broker, topic, READ), "other.jsonl")
    assert other.stderr == "200 messages\n", "another group reads them for itself"


def test_a_killed_step_loses_nothing(broker, copy, tmp_path):
    """What it had not committed is read again: every message arrives at least once."""
    topic = "killed"
    (tmp_path / "in.jsonl").write_text("".join('{"n":%d}\n' % n for n in range(20000)))
    copy("in.jsonl", "kafka://%s/%s" % (broker, topic))
    source = "kafka://%s/%s?group.id=k&session.timeout.ms=6000&%s" % (broker, topic, READ)
    path = program("tests", "steps", "copy")
    child = subprocess.Popen([path, source, "out.jsonl"], cwd=tmp_path, stderr=subprocess.DEVNULL, env=environment())
    for _ in range(600):
        if child.poll() is not None or (os.path.exists(tmp_path / "out.jsonl") and os.path.getsize(tmp_path / "out.jsonl") > 2000):
            break
        time.sleep(0.05)
    child.send_signal(signal.SIGKILL)
    child.wait()
    copy(source, "out.jsonl")
    numbers = [json.loads(line)["n"] for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    assert set(numbers) == set(range(20000))
    assert len(numbers) - 20000 <= 2 * 16, "no more than the batch it was killed in comes twice"


def test_python_against_the_broker(broker, copy, tmp_path):
    python = newest_python(tmp_path)
    text = PYTHON_STEP + '''
server = {"bootstrap.servers": sys.argv[1]}
class Counts(KafkaStep):
    def execute(self, messages):
        if len(sys.argv) > 2 and self.metrics.get("n", 0) >= 2:
            raise RuntimeError("in the middle")
        self.metrics["n"] = self.metrics.get("n", 0) + 1
        return super().execute(messages)
Counts(config={
    "CONSUMER_CONFIG": {"CLASS": "venturi.step.consumers.KafkaJsonConsumer", "TOPICS": ["^py.*in$"], "NUM_MESSAGES": 10, "TIMEOUT": 5,
                        "PARAMS": dict(server, **{"group.id": "g", "auto.offset.reset": "earliest", "enable.partition.eof": True})},
    "PRODUCER_CONFIG": {"CLASS": "venturi.step.producers.KafkaProducer", "TOPIC": ["py-out"], "PARAMS": server}}).start()
'''
    (tmp_path / "in.jsonl").write_text("".join(json.dumps({"oid": n}) + "\n" for n in range(50)))
    copy("in.jsonl", "kafka://%s/py-in" % broker)
    failed = python.record(text, broker, "fail", check=1)
    assert "in the middle" in failed.done.stderr and [row["failed"] for row in failed.steps] == [0, 0, 1]
    taken = sum(row["messages"] for row in failed.steps if not row["failed"])
    rest = python.record(text, broker)
    assert taken and sum(row["messages"] for row in rest.steps) == 50 - taken, "it goes on where it had failed"
    copy("kafka://%s/py-out?group.id=o&%s" % (broker, READ), "out.jsonl")
    assert sorted(json.loads(line)["oid"] for line in (tmp_path / "out.jsonl").read_text().splitlines()) == list(range(50))


def test_two_of_a_group_share_a_topic(broker, copy, tmp_path):
    topic = "shared"
    (tmp_path / "in.jsonl").write_text("".join('{"n":%d}\n' % n for n in range(5000)))
    copy("in.jsonl", "kafka://%s/%s" % (broker, topic))
    path, source = program("tests", "steps", "copy"), "kafka://%s/%s?group.id=s&%s" % (broker, topic, READ)
    children = [subprocess.Popen([path, source, "out.jsonl"], cwd=tmp_path, stderr=subprocess.DEVNULL, env=environment()) for _ in range(2)]
    assert [child.wait(240) for child in children] == [0, 0]
    assert {json.loads(line)["n"] for line in (tmp_path / "out.jsonl").read_text().splitlines()} == set(range(5000))
