"""Steps of Python: both forms, what is recorded of them, and that nothing of it can harm them."""
import json
import os

import pytest
import stepping

EARLY = '''
from venturi.step import GenericStep
from venturi.step.consumers import GenericConsumer

class Numbers(GenericConsumer):
    committed = 0
    def __init__(self, count):
        super().__init__()
        self.count = count
    def consume(self):
        for number in range(self.count):
            yield {"candid": number, "oid": "ZTF%d" % number}
    def commit(self):
        Numbers.committed += 1

class EarlyStep(GenericStep):
    def __init__(self, consumer=None, config=None, level=20, **step_args):
        super().__init__(consumer, config=config, level=level)
        self.seen = []
    def execute(self, message):
        self.seen.append(message)
        return message     # nobody is to produce it
'''

LATER = '''
from venturi.step import GenericStep
from venturi.step.consumers import GenericConsumer
from venturi.step.producers import GenericProducer

ORDER = []

class Given(GenericConsumer):
    def consume(self):
        for item in self.config["ITEMS"]:
            yield item
    def commit(self):
        ORDER.append("commit")

class Kept(GenericProducer):
    messages = []
    def produce(self, message=None, **kwargs):
        ORDER.append("produce")
        Kept.messages.append(message)
    def flush(self):
        ORDER.append("flush")

class LaterStep(GenericStep):
    def pre_consume(self): ORDER.append("pre_consume")
    def pre_execute(self, messages): ORDER.append("pre_execute"); return messages
    def execute(self, messages): ORDER.append("execute"); return [dict(each, done=True) for each in messages]
    def post_execute(self, result): ORDER.append("post_execute"); self.metrics["own"] = len(result); return result
    def pre_produce(self, result): ORDER.append("pre_produce"); return result
    def post_produce(self): ORDER.append("post_produce")
    def tear_down(self): ORDER.append("tear_down")

def config(items, **more):
    return dict({"CONSUMER_CONFIG": {"CLASS": "__main__.Given", "ITEMS": items}, "PRODUCER_CONFIG": {"CLASS": "__main__.Kept"}}, **more)
'''


def test_early_form(python):
    run = python.record(EARLY + '''
step = EarlyStep(Numbers(5), config={"ES_CONFIG": {"INDEX_PREFIX": "test_step"}})
step.start()
print(json.dumps([step.seen, Numbers.committed, step.producer]))
''')
    assert run.said == [[{"candid": n, "oid": "ZTF%d" % n} for n in range(5)], 5, None]
    rows = run.steps
    assert len(rows) == 5
    for row in rows:
        assert (row["source"], row["prefix"], row["survey"]) == ("EarlyStep", "test_step", None)
        assert (row["messages"], row["failed"], row["extra"]) == (1, 0, {})
        assert row["pre_ns"] is row["post_ns"] is row["produce_ns"] is row["lag_ns"] is None
        assert 0 < row["execute_ns"] == pytest.approx(row["sent_ns"] - row["received_ns"], abs=2000, rel=0.01)


def test_level_may_stand_second(newest):
    run = newest.record(EARLY + '''
class Second(GenericStep):
    def __init__(self, consumer, level):
        super().__init__(consumer, level, config={})
    def execute(self, message):
        pass
Second(Numbers(1), 10).start()
''')
    assert [row["source"] for row in run.steps] == ["Second"]


def test_without_a_consumer_there_is_one_empty_message(newest):
    run = newest.record(EARLY + "step = EarlyStep()\nstep.start()\nprint(json.dumps(step.seen))")
    assert run.said == [{}] and len(run.steps) == 1 and run.steps[0]["prefix"] == "pipeline"


def test_later_form(python):
    run = python.record(LATER + '''
step = LaterStep(config=config([{"candid": 1}, [{"candid": 2}, {"candid": 3}]], METRICS_CONFIG={}, ES_CONFIG={}))
step.start()
print(json.dumps([ORDER, Kept.messages]))
''')
    each = ["pre_execute", "execute", "post_execute", "pre_produce"]
    end = ["flush", "commit", "post_produce"]
    assert run.said == [["pre_consume", *each, "produce", *end, *each, "produce", "produce", *end, "flush", "tear_down"],
                        [{"candid": n, "done": True} for n in (1, 2, 3)]]
    rows = run.steps
    assert [(row["messages"], row["extra"]) for row in rows] == [(1, {"own": 1}), (2, {"own": 2})]
    for row in rows:
        assert row["pre_ns"] is not None and row["post_ns"] is not None and row["produce_ns"] is not None
        assert row["pre_ns"] + row["post_ns"] <= row["execute_ns"]


def test_extra_metrics(python):
    run = python.record(LATER + '''
extra = ["candid", "missing", {"key": "oid", "alias": "object", "format": str.lower}, {"key": "bad", "format": len}]
items = [{"candid": 7, "oid": "ZTF", "bad": 4}, [{"candid": 8, "oid": "A"}, {"candid": "9", "oid": "B", "missing": 1.5}]]
step = LaterStep(config=config(items, METRICS_CONFIG={"EXTRA_METRICS": extra}))
step.start()
''')
    first, second = (row["extra"] for row in run.steps)
    assert first == {"candid": [7], "missing": [None], "object": ["ztf"], "bad": [None], "own": 1}
    assert second == {"candid": [8, "9"], "missing": [None, 1.5], "object": ["a", "b"], "bad": [None, None], "own": 2}


def test_candid_is_the_default_and_one_value_for_one_message(newest):
    run = newest.record(EARLY + 'EarlyStep(Numbers(2), config={"METRICS_CONFIG": {"PARAMS": {}}}).start()')
    assert [row["extra"] for row in run.steps] == [{"candid": 0}, {"candid": 1}]


def test_wrong_extra_metrics_are_said_at_once(newest):
    for extra, message in (({"alias": "x"}, "without 'key'"), ({"key": "x", "format": 3}, "must be callable"), (7, "a str or a dict")):
        run = newest.record(EARLY + 'EarlyStep(Numbers(1), config={"METRICS_CONFIG": {"EXTRA_METRICS": [%r]}})' % (extra,), check=1)
        assert message in run.done.stderr


def test_send_metrics_by_hand(python):
    run = python.record(EARLY + '''
class ByHand(EarlyStep):
    def execute(self, message):
        self.send_metrics(compute_time=0.5, oid=message["oid"], source="never", **{"@timestamp": "never"})
step = ByHand(Numbers(2))
step.send_metrics(execution_time=1.25)
step.start()
''')
    assert [(row["kind"], row["extra"]) for row in run.steps] == [
        ("metrics", {"execution_time": 1.25}), ("metrics", {"compute_time": 0.5, "oid": "ZTF0"}), ("step", {}),
        ("metrics", {"compute_time": 0.5, "oid": "ZTF1"}), ("step", {})]


def test_names_of_metrics_are_kept_whole(newest):
    """A NUL ends none, and half of a pair of surrogates spoils none."""
    run = newest.record(EARLY + r'''
EarlyStep(Numbers(0)).send_metrics(**{"a": 1, "a\0b": 2, "c": {"d\0": 3, "d": 4}, "e\ud800": 5})
''')
    assert [row["extra"] for row in run.steps] == [{"a": 1, "a\0b": 2, "c": {"d\0": 3, "d": 4}, "e?": 5}]


def test_metrics_of_the_step_can_be_asked_for(newest):
    run = newest.record(EARLY + '''
import datetime
class Asks(EarlyStep):
    def execute(self, message):
        age = datetime.datetime.now(datetime.timezone.utc) - self.metrics["timestamp_received"]
        assert -1 < age.total_seconds() < 60, age
        self.metrics["execution_time"] = "cannot be changed"
        self.metrics["mine"] = [1, {"a": None}]
step = Asks(Numbers(1))
step.start()
del step.metrics["execution_time"]
took = step.metrics["timestamp_sent"] - step.metrics["timestamp_received"]
assert abs(took.total_seconds() - step.metrics["execution_time"]) < 1e-5
assert "timestamp_sent" not in step.metrics
''')
    assert [row["extra"] for row in run.steps] == [{"mine": [1, {"a": None}]}]


def test_failures_are_told_and_raised(python):
    run = python.record(LATER + '''
class Fails(LaterStep):
    def execute(self, messages):
        return [{"n": 1 // each["n"]} for each in messages]
step = Fails(config=config([{"n": 1}, {"n": 0}, {"n": 2}], METRICS_CONFIG={"EXTRA_METRICS": ["n"]}))
try:
    step.start()
except ZeroDivisionError:
    print(json.dumps(ORDER.count("commit")))
''')
    assert run.said == 1
    assert [(row["failed"], row["extra"].get("error")) for row in run.steps] == [(0, None), (1, "ZeroDivisionError")]
    assert run.steps[1]["extra"]["n"] == [0]


def test_failures_are_left_out_if_asked(newest):
    run = newest.record(LATER + '''
class Fails(LaterStep):
    def execute(self, messages):
        return [{"n": 1 // each["n"]} for each in messages]
Fails(config=config([{"n": 1}, {"n": 0}, {"n": 2}], SKIP_FAILED=True)).start()
print(json.dumps([ORDER.count("commit"), len(Kept.messages)]))
''')
    assert run.said == [3, 2] and [row["failed"] for row in run.steps] == [0, 1, 0]


def test_failures_count_as_those_of_c(newest):
    """The same batches, of which each third fails: batches and messages are the same numbers."""
    done = newest.record(LATER + '''
class Fails(LaterStep):
    def execute(self, messages):
        if messages[0]["n"] % 3 == 2:
            raise ValueError
        return messages
Fails(config=config([[{"n": n}, {"n": n}] for n in range(9)], SKIP_FAILED=True)).start()
''')
    told = newest.folder / "c.vt"
    counted = json.loads(stepping.run([stepping.VENTURI, "run", "-o", told, "--", stepping.program("tests", "steps", "steps_of_c"), "18", "2", "skip"]).stdout)
    python, c = (json.loads(stepping.run([stepping.VENTURI, "report", "--json", path]).stdout)["steps"][0] for path in (done.path, told))
    for name in ("count", "messages", "failed_count", "failed"):
        assert python[name] == c[name], name
    assert (counted["batches"], counted["messages"], counted["failed"], 2 * counted["failed"]) == (c["count"], c["messages"], c["failed_count"], c["failed"])


def test_phases_that_it_did_not_come_to_have_no_time(newest):
    run = newest.record(LATER + '''
class Fails(LaterStep):
    def pre_execute(self, messages): return self.at(1, messages)
    def execute(self, messages): return self.at(2, messages)
    def post_execute(self, messages): return self.at(3, messages)
    def pre_produce(self, messages): return self.at(4, messages)
    def at(self, phase, messages):
        if messages[0]["n"] == phase:
            raise ValueError(phase)
        return messages
Fails(config=config([{"n": number} for number in range(1, 6)], SKIP_FAILED=True)).start()
''')
    assert [row["failed"] for row in run.steps] == [1, 1, 1, 1, 0]
    there = [tuple(row[key] is not None for key in ("pre_ns", "post_ns", "produce_ns")) for row in run.steps]
    assert there == [(True, False, False)] * 2 + [(True, True, False)] + [(True, True, True)] * 2


def test_an_interrupt_is_no_failure(newest):
    run = newest.record(EARLY + '''
class Interrupted(EarlyStep):
    def execute(self, message):
        if message["candid"] == 1:
            raise KeyboardInterrupt
try:
    Interrupted(Numbers(3)).start()
except KeyboardInterrupt:
    pass
''')
    assert [row["failed"] for row in run.steps] == [0]


def test_metrics_of_any_kind_are_json(python):
    """None of it fails, and what is recorded can be read."""
    run = python.record(EARLY + '''
import datetime, decimal, uuid
class Hostile:
    def __str__(self): raise ValueError("no text")
    __repr__ = __str__
class Scalar:
    def item(self): return 2.5
class Array:
    def tolist(self): return [1, 2]
class Endless:
    def tolist(self): return Endless2()
class Endless2:
    def tolist(self): return Endless()
loop = []
loop.append(loop)
step = EarlyStep()
step.send_metrics(nan=float("nan"), inf=[float("inf"), -0.0], big=2 ** 70, negative=-5, flag=True, none=None, text="a\\"\\n\\x00\\u00e9\\U0001f600",
    half="\\ud800x", when=datetime.datetime(2020, 5, 22, 10, tzinfo=datetime.timezone.utc), day=datetime.date(2020, 5, 22), decimal=decimal.Decimal("1.5"),
    hostile=Hostile(), scalar=Scalar(), array=Array(), endless=Endless(), loop=loop, keys={1: 2, (1, 2): 3}, pair=(1, "2"), kind=int, data=b"x",
    digits="many")
step.metrics["long"] = "x" * 40000
step.start()
print("0")
''')
    by_hand, message = run.steps
    extra = by_hand["extra"]
    assert extra.pop("text") == 'a"\n\x00\xe9\U0001f600'
    assert extra.pop("half").endswith("x")
    assert extra.pop("endless") is None and json.dumps(extra.pop("loop")).strip("[]") == "null", "cut off where it is too deep"
    assert "digits" in extra and extra.pop("digits") == "many"
    assert extra == {"nan": None, "inf": [None, 0.0], "big": 2 ** 70, "negative": -5, "flag": True, "none": None, "when": "2020-05-22T10:00:00+00:00",
                     "day": "2020-05-22", "decimal": "1.5", "hostile": None, "scalar": 2.5, "array": [1, 2], "keys": {"1": 2, "(1, 2)": 3},
                     "pair": [1, "2"], "kind": "<class 'int'>", "data": "b'x'"}
    assert message["extra"] == {}, "what is too long is left out, the message is counted"


def test_lag_of_messages(python):
    run = python.record(EARLY + '''
import datetime, time
class Sent(GenericConsumer):
    def consume(self):
        now = time.time() - 10
        utc = datetime.datetime.fromtimestamp(now, datetime.timezone.utc)
        east = utc.astimezone(datetime.timezone(datetime.timedelta(hours=5, minutes=30)))
        for sent in (now, int(now), utc, utc.isoformat(), east.isoformat(), utc.strftime("%Y-%m-%dT%H:%M:%SZ"), utc.strftime("%Y-%m-%d %H:%M:%S.%f")):
            yield {"timestamp_sent": sent}
        for nothing in (None, "yesterday", "2020-13", -1, float("nan"), [], "", "2020-05-22T10:00:00 nowhere"):
            yield {"timestamp_sent": nothing}
EarlyStep(Sent()).start()
''')
    lags = [row["lag_ns"] for row in run.steps]
    assert all(9e9 < lag < 200e9 for lag in lags[:7]), lags
    assert lags[7:] == [None] * 8


def test_others_are_told_too(python):
    """A sender, and an author's send_metrics(): one record a message all the same, with what the author added."""
    run = python.record(LATER + '''
from venturi.step.metrics import GenericMetricsProducer
class Sender(GenericMetricsProducer):
    told = []
    def send_metrics(self, metrics):
        Sender.told.append(sorted(metrics))
        raise RuntimeError("the sender is ill")
class Adds(LaterStep):
    def send_metrics(self, **metrics):
        super().send_metrics(host="h", **metrics)
Adds(config=config([{"candid": 5}], METRICS_CONFIG={"CLASS": "__main__.Sender", "PARAMS": {}})).start()
print(json.dumps(Sender.told))
''')
    assert run.said == [["candid", "execution_time", "host", "n_messages", "own", "source", "timestamp_received", "timestamp_sent"]]
    assert [(row["kind"], row["extra"]) for row in run.steps] == [("step", {"candid": [5], "host": "h", "own": 1})]


def test_an_author_may_make_the_extra_metrics(newest):
    run = newest.record(LATER + '''
class Makes(LaterStep):
    def get_extra_metrics(self, message):
        return {"first": message[0]["candid"], "n_messages": 99}
Makes(config=config([{"candid": 5}], METRICS_CONFIG={})).start()
''')
    assert [row["extra"] for row in run.steps] == [{"own": 1}], "METRICS_CONFIG that is empty asks for none"
    run = newest.record(LATER + '''
class Makes(LaterStep):
    def get_extra_metrics(self, message):
        return {"first": message[0]["candid"], "n_messages": 99}
Makes(config=config([{"candid": 5}], METRICS_CONFIG={"PARAMS": {}})).start()
''')
    assert [(row["extra"], row["messages"]) for row in run.steps] == [({"own": 1, "first": 5}, 1)]


def test_log_file_of_metrics(newest):
    newest.record(LATER + '''
step = LaterStep(config=config([{"candid": 5}, {"candid": 6}], METRICS_CONFIG={"CLASS": "apf.metrics.LogfileMetricsProducer", "PARAMS": {"PATH": "logs/m.jsonl"}}))
step.start()
''')
    lines = [json.loads(line) for line in (newest.folder / "logs" / "m.jsonl").read_text().splitlines()]
    assert [(line["source"], line["candid"], line["n_messages"]) for line in lines] == [("LaterStep", [5], 1), ("LaterStep", [6], 1)]
    assert all(line["timestamp_sent"].endswith("+00:00") and line["execution_time"] >= 0 for line in lines)


def test_a_sender_that_cannot_be_made_is_no_reason_to_stop(newest):
    run = newest.record(EARLY + '''
EarlyStep(Numbers(2), config={"METRICS_CONFIG": {"CLASS": "no.such.Class", "PARAMS": {}}}).start()
''')
    assert len(run.steps) == 2 and "metrics are recorded only" in run.done.stderr


def test_source_and_survey_from_the_environment(newest):
    run = newest.record(EARLY + "EarlyStep(Numbers(1)).start()", METRICS_SOURCE="Other", METRICS_SURVEY="LSST")
    assert [(row["source"], row["survey"]) for row in run.steps] == [("Other", "LSST")]


def test_success_file_if_asked(newest):
    newest.record(EARLY + 'EarlyStep(Numbers(1), config={"SUCCESS_FILE": "__SUCCESS__"}).start()')
    assert os.path.getsize(newest.folder / "__SUCCESS__") == 0


def test_prometheus_objects_are_told(newest):
    run = newest.record(LATER + '''
class Summary(list):
    observe = list.append
class Metrics:
    consumed_messages, processed_messages, execution_time = Summary(), Summary(), Summary()
LaterStep(config=config([[{}, {}]]), prometheus_metrics=Metrics()).start()
print(json.dumps([Metrics.consumed_messages, Metrics.processed_messages, len(Metrics.execution_time)]))
''')
    assert run.said == [[2], [2], 1]


def test_a_forked_child_goes_on_with_its_parents_step(python):
    run = python.record(EARLY + '''
step = EarlyStep(Numbers(3), config={"ES_CONFIG": {"INDEX_PREFIX": "test_step"}})
child = os.fork()
step.start()
if child:
    os.waitpid(child, 0)
    print(json.dumps([os.getpid(), child]))
''')
    parent, child = run.said
    assert sorted(row["pid"] for row in run.steps) == sorted([parent] * 3 + [child] * 3)


def test_many_messages_leave_nothing_behind(python):
    """References and memory stay what they were, and every message is counted."""
    run = python.record('''
import resource
from venturi import _venturi
meter = _venturi.StepMeter("Many", None, None, (("candid", str, "candid"), ("list", None, "list")), sent_key="t", pre=True, post=True, produce=True)
message, metrics = {"candid": 123456789, "list": [1, "two"], "t": "2020-05-22T10:00:00"}, {"own": {"a": [1.5]}}
error = ValueError("x")
def some(count):
    for number in range(count):
        meter.receive([message]); meter.mark(); meter.mark(); meter.mark()
        if number % 10: meter.done([message], metrics)
        else: meter.fail(message, metrics, error)
some(1000)
before = [sys.getrefcount(each) for each in (message, metrics, metrics["own"], message["list"], error)]
used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
some(30000)
after = [sys.getrefcount(each) for each in (message, metrics, metrics["own"], message["list"], error)]
print(json.dumps([before == after, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - used]))
''')
    same, grown_kb = run.said
    assert same
    assert grown_kb < 70000, "the shared memory, which may be touched for the first time, and no more"


def test_the_meter_refuses_nonsense(newest):
    run = newest.record('''
from venturi import _venturi
meter = _venturi.StepMeter("S", None, None)
bad = [lambda: meter.done(1), lambda: meter.done({}, []), lambda: meter.fail({}, {}), lambda: meter.send([]), lambda: _venturi.StepMeter(1, None, None),
       lambda: _venturi.StepMeter("S", None, None, (1,)), lambda: _venturi.StepMeter("S", None, None, ((1, 2),))]
found = []
for each in bad:
    try:
        each()
    except TypeError as error:
        found.append(str(error))
print(json.dumps(found))
''')
    assert len(run.said) == 7


def test_without_a_recording_it_only_runs(newest):
    (newest.folder / "program.py").write_text("import json\n" + EARLY + "step = EarlyStep(Numbers(3))\nstep.start()\nprint(len(step.seen))\n")
    assert newest.run("program.py").stdout == "3\n"
    assert os.listdir(newest.folder) == ["program.py"]


def test_the_environment_can_ask_for_a_recording(newest):
    from stepping import steps

    (newest.folder / "program.py").write_text(EARLY + "EarlyStep(Numbers(3)).start()\n")
    newest.run("program.py", VENTURI_OUTPUT=str(newest.folder / "env.vt"))
    assert len(steps(newest.folder / "env.vt")) == 3


def test_a_file_that_is_not_there(newest):
    """Whoever runs the step may tell it from what the step does, by either kind of error."""
    done = newest.record("""
from venturi.step import FileError, GenericStep, SettingsError
from venturi.step.consumers import AVROFileConsumer, CSVConsumer, JSONConsumer
said = []
for consumer, setting in ((JSONConsumer, "FILE_PATH"), (CSVConsumer, "FILE_PATH"), (AVROFileConsumer, "DIRECTORY_PATH")):
    for kind in (FileError, SettingsError, FileNotFoundError):
        try:
            GenericStep(consumer({setting: "nowhere"})).start()
        except kind as error:
            said.append([str(error), error.filename, error.errno])
print(json.dumps(said))
""")
    assert done.said == [["%s: cannot open: No such file or directory" % what, "nowhere", 2] for what in
                         ("JSONConsumer: FILE_PATH: nowhere", "CSVConsumer: FILE_PATH: nowhere", "AVROFileConsumer: DIRECTORY_PATH: nowhere") for _ in range(3)]


def test_a_step_without_a_consumer(newest):
    """As with APF it gets one empty message; but it says so."""
    done = newest.record(STEP_WITHOUT_CONSUMER % "{}")
    assert done.said == [{}] and done.done.stderr.startswith("Lonely has no consumer: it gets one empty message. CONSUMER_CONFIG, or the argument consumer, names one\n")
    assert [row["messages"] for row in done.steps] == [1]


def test_names_do_nothing_to_a_terminal(newest):
    done = newest.record("from venturi.step import GenericStep\n"
                         "type('L\\x1b[31m\\n\\xe9', (GenericStep,), {'execute': lambda self, messages: {}})(config={}).start()\n")
    assert done.done.stderr.startswith("L\\x1b[31m\\n\xe9 has no consumer: ")


def test_an_author_may_set_the_consumer_himself(newest):
    done = newest.record(STEP_WITHOUT_CONSUMER.replace("def execute", "def pre_consume(self): self.consumer = Mine()\n    def execute") % '{"CONSUMER_CONFIG": {"mine": 1}}')
    assert done.said == [[{"a": 1}]] and "has no consumer" not in done.done.stderr


def test_settings_of_a_consumer_that_nobody_named(newest):
    done = newest.record(STEP_WITHOUT_CONSUMER % '{"CONSUMER_CONFIG": {"FILE_PATH": "x"}}', check=1)
    assert done.done.stdout == "" and "venturi.step._classes.SettingsError: Lonely: CONSUMER_CONFIG has FILE_PATH but no CLASS, so nobody reads messages: name one, such as" in done.done.stderr


STEP_WITHOUT_CONSUMER = '''
from venturi.step import GenericStep
from venturi.step.consumers import GenericConsumer
got = []
class Mine(GenericConsumer):
    def consume(self): yield {"a": 1}
class Lonely(GenericStep):
    def execute(self, messages): got.append(messages); return []
Lonely(config=%s).start()
print(json.dumps(got))
'''
