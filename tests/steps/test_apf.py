"""Steps written for APF: the same program with APF's imports and with ours, run beside each other; the real package, in both of its eras."""
import json
import os

import pytest
from stepping import BUILD, PYTHONS, TOP, VENTURI, environment, run, steps

NEIGHBOURS = os.path.join(TOP, "build", "neighbours")

# As in APF's own template of that time: the consumer is made by the script, execute() gets one message.
EARLY = '''
import json, logging, sys
from apf.core.step import GenericStep
from apf.core import get_class
from apf.consumers import JSONConsumer
from apf.producers import GenericProducer

class Sender:
    told = []
    def __init__(self, config): self.config = config
    def send_metrics(self, metrics): Sender.told.append(dict(metrics))

class Kept(GenericProducer):
    messages = []
    def produce(self, message=None, **kwargs): Kept.messages.append(message)

class MagnitudeStep(GenericStep):
    """Early steps produce by themselves."""
    def __init__(self, consumer=None, config=None, level=logging.INFO, **step_args):
        super().__init__(consumer, config=config, level=level)
        self.producer = Kept(config["PRODUCER_CONFIG"])
    def execute(self, message):
        self.producer.produce({"oid": message["oid"], "bright": message["mag"] < 18})
        return message

CONSUMER_CONFIG = {"CLASS": "apf.consumers.JSONConsumer", "FILE_PATH": "messages.json"}
STEP_CONFIG = {"PRODUCER_CONFIG": {}, "ES_CONFIG": {"INDEX_PREFIX": "test_step"},
    "METRICS_CONFIG": {"CLASS": "__main__.Sender", "PARAMS": {}, "EXTRA_METRICS": [
        "candid", {"key": "oid", "alias": "object"}, {"key": "mag", "format": lambda mag: round(mag), "alias": "whole"}, "missing"]}}
consumer = get_class(CONSUMER_CONFIG["CLASS"])(config=CONSUMER_CONFIG)
step = MagnitudeStep(consumer, config=STEP_CONFIG, level=logging.INFO)
step.start()
'''

# The later form: classes in the settings, hooks, lists.
LATER = '''
import json, sys
from apf.core.step import GenericStep
from apf.core import get_class
from apf.consumers import GenericConsumer
from apf.producers import GenericProducer

class Sender:
    told = []
    def __init__(self, config): self.config = config
    def send_metrics(self, metrics): Sender.told.append(dict(metrics))

class Batches(GenericConsumer):
    def consume(self):
        with open(self.config["FILE_PATH"]) as file:
            rows = json.load(file)
        yield rows[0]
        yield rows[1:]

class Kept(GenericProducer):
    messages = []
    def produce(self, message=None, **kwargs): Kept.messages.append([message, self.key_field])

class LaterStep(GenericStep):
    def pre_execute(self, messages): return [dict(each, n=len(messages)) for each in messages]
    def execute(self, messages): return [{"oid": each["oid"], "n": each["n"]} for each in messages]
    def post_execute(self, result): self.metrics["produced"] = len(result); return result
    def pre_produce(self, result):
        self.set_producer_key_field("oid")
        return result if len(result) > 1 else result[0]

step = LaterStep(config={"CONSUMER_CONFIG": {"CLASS": "__main__.Batches", "FILE_PATH": "messages.json"}, "PRODUCER_CONFIG": {"CLASS": "__main__.Kept"},
    "METRICS_CONFIG": {"CLASS": "__main__.Sender", "PARAMS": {}, "EXTRA_METRICS": ["candid", {"key": "oid", "alias": "object"}]}})
step.start()
'''

SHOW = '''
print(json.dumps({"told": Sender.told, "produced": Kept.messages}, default=str))
'''

CHANGES = [("from apf.core.step import", "from venturi.step import"), ("from apf.core import", "from venturi.step import"),
           ("from apf.consumers import", "from venturi.step.consumers import"), ("from apf.producers import", "from venturi.step.producers import")]


def ours(text):
    """The same program; nothing but its imports is another."""
    changed = text
    for theirs, mine in CHANGES:
        changed = changed.replace(theirs, mine)
    before, after = text.splitlines(), changed.splitlines()
    assert all(line == other or line.startswith("from apf") for line, other in zip(before, after))
    return changed


@pytest.fixture
def both(tmp_path):
    """both(text, eras…) -> what APF said, what ours said, and what was recorded of ours."""
    path, suffix = PYTHONS.get("3.11", (None, ""))
    if path is None or not os.path.exists(os.path.join(BUILD, "python", "venturi", "_venturi" + suffix)):
        pytest.skip("no extension for Python 3.11")
    (tmp_path / "messages.json").write_text(json.dumps([{"candid": n, "oid": "ZTF%d" % n, "mag": 17.2 + n} for n in range(3)]))

    def start(text, *folders):
        for folder in folders:
            if not os.path.exists(os.path.join(NEIGHBOURS, folder, "done")):
                pytest.skip("no apf-base: run tools/setup")
        (tmp_path / "theirs.py").write_text(text + SHOW)
        (tmp_path / "ours.py").write_text(ours(text) + SHOW)
        their_path = os.pathsep.join(os.path.join(NEIGHBOURS, folder) for folder in folders)
        theirs = run([path, "theirs.py"], cwd=tmp_path, env=dict(environment(), PYTHONPATH=their_path))
        mine = run([VENTURI, "run", "-f", "-o", "out.vt", "--", path, "ours.py"], cwd=tmp_path, env=environment())
        return json.loads(theirs.stdout.splitlines()[-1]), json.loads(mine.stdout.splitlines()[-1]), steps(tmp_path / "out.vt")
    return start


def known(told):
    """Documents without what differs from run to run, which is there and of the same kind."""
    for metrics in told:
        assert metrics.pop("execution_time") >= 0
        assert metrics.pop("timestamp_received").endswith("+00:00") and metrics.pop("timestamp_sent").endswith("+00:00")
    return told


def test_an_early_step_runs_with_its_imports_changed(both):
    theirs, mine, rows = both(EARLY, "3.11-apf")
    assert len(theirs["told"]) == 3 and known(mine["told"]) == known(theirs["told"])
    assert mine["produced"] == theirs["produced"]
    assert [(row["source"], row["prefix"], row["messages"]) for row in rows] == [("MagnitudeStep", "test_step", 1)] * 3
    assert [row["extra"] for row in rows] == [{"candid": n, "object": "ZTF%d" % n, "whole": 17 + n} for n in range(3)], "null is left out"


def test_a_later_step_runs_with_its_imports_changed(both):
    theirs, mine, rows = both(LATER, "3.11-apf2", "3.11-apf")
    assert len(theirs["told"]) == 2 and known(mine["told"]) == known(theirs["told"])
    assert mine["produced"] == theirs["produced"]
    assert [row["messages"] for row in rows] == [1, 2]
    assert [row["extra"] for row in rows] == [{"candid": [0], "object": ["ZTF0"], "produced": 1},
                                              {"candid": [1, 2], "object": ["ZTF1", "ZTF2"], "produced": 2}]


def test_names_that_settings_use_are_there(both):
    """Every consumer, producer and sender of both eras has one of ours with its name."""
    names = '''
import inspect
found = {}
for module, base in (("consumers", "GenericConsumer"), ("producers", "GenericProducer")):
    package = __import__("apf." + module, fromlist=["x"])
    found[module] = sorted(name for name, item in vars(package).items() if inspect.isclass(item) and name.endswith(base[7:]) and name not in ("Consumer", "Producer"))
print(json.dumps(found))
'''
    folders = ["3.11-apf2", "3.11-apf"]
    if not all(os.path.exists(os.path.join(NEIGHBOURS, folder, "done")) for folder in folders):
        pytest.skip("no apf-base: run tools/setup")
    path = PYTHONS["3.11"][0]
    for used in (folders, folders[1:]):
        env = dict(environment(), PYTHONPATH=os.pathsep.join(os.path.join(NEIGHBOURS, folder) for folder in used))
        theirs = json.loads(run([path, "-c", "import json" + names], env=env).stdout.splitlines()[-1])
        mine = json.loads(run([path, "-c", "import json, venturi.step.consumers as c, venturi.step.producers as p\n"
                               "print(json.dumps({'consumers': dir(c), 'producers': dir(p)}))"], env=environment()).stdout)
        for module in theirs:
            assert theirs[module] and set(theirs[module]) <= set(mine[module]), module
