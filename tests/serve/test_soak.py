"""A pipeline whose children come, work and are killed all the time, its shipper too, with people who look and go: every message is in the
server's numbers and once in the store, and neither the server nor the spool grows."""
import os
import signal
import subprocess
import time

from conftest import VENTURI, Events, environment, named, wait_for
from es_stub import Answer, Items, Silence, Stub

ROUNDS = 600 if os.environ.get("VENTURI_SOAK") else 8
SANITIZE = os.environ.get("VENTURI_SANITIZE", "")
CHILDREN = 2
MESSAGES = 100  # of a child, as in tests/programs/monitored.c


def size_of(server):
    """Bytes of its own (not those of files that it has mapped) and open descriptors."""
    process = f"/proc/{server.process.pid}"
    with open(process + "/status") as file:
        facts = dict(line.split(":", 1) for line in file)
    return int(facts["RssAnon"].split()[0]) << 10, len(os.listdir(process + "/fd"))


def counter(server, name):
    """The sum of a metric over its labels."""
    _, _, body = server.ask("/metrics")
    return sum(float(line.rsplit(" ", 1)[1]) for line in body.decode().splitlines() if line.startswith((name + "{", name + " ")))


def has(messages):
    def test(state):
        step = named(state["steps"], "ClassifyStep", "source")
        return step and step["count"] == messages
    return test


def documents(store):
    return sum(document.get("source") == "ClassifyStep" for document in store.order)


class Shipper:
    """One that is killed and started again."""

    def __init__(self, folder, url):
        self.words = [VENTURI, "ship", folder, "--to", url, "--every", "0.1", "--retry-max", "0.2"]
        self.start()

    def start(self):
        self.process = subprocess.Popen(self.words, stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment())

    def end(self, number):
        self.process.send_signal(number)
        self.process.wait(timeout=60)

    def again(self):
        self.end(signal.SIGKILL)
        self.start()


def test_a_long_time(serve, monitored, tmp_path):
    spool = tmp_path / "spool"
    program = monitored("--spool", str(spool))
    server = serve(spool)
    sizes, watchers = [], []
    with Stub() as store:
        shipper = Shipper(str(spool), store.url)
        try:
            for i in range(ROUNDS):
                store.faults = [[None], [Answer(503)], [Items(429, {1, 2})], [Silence(takes=True)]][i % 4]
                program.tell(f"round {CHILDREN}")
                watchers.append(Events(server))
                next(iter(watchers[-1]))
                if len(watchers) > 4:
                    watchers.pop(0).close()
                state = server.wait(has((i + 1) * CHILDREN * MESSAGES), "the messages of a round")
                assert counter(server, "venturi_step_messages_total") == 2 * (i + 1) * CHILDREN * MESSAGES
                if i % 4 == 3:
                    shipper.again()
                if i >= ROUNDS // 4:
                    sizes.append(size_of(server))
            store.faults = []
            all_of = ROUNDS * CHILDREN * MESSAGES
            program.stop()
            wait_for(lambda: documents(store) >= all_of, "all documents")
            time.sleep(0.3)  # for what comes twice
        finally:
            shipper.end(signal.SIGTERM)
            for one in watchers:
                one.close()
        assert documents(store) == all_of
        assert len(store.documents) == len(store.order), "a document twice"
    assert named(state["spans"], "classify")["count"] == all_of and state["lost_events"] == 0
    early, late = sizes[0], sizes[-1]
    assert late[1] <= early[1] + 2, "descriptors"
    assert SANITIZE or late[0] < 1.3 * early[0] + (8 << 20), "memory"
