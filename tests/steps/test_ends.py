"""Consumers and producers of Python: files, standard input and output, and topics by the day."""
import json

import pytest

KIT = '''
from venturi.step import GenericStep, get_class
class Copy(GenericStep):
    def execute(self, messages):
        return messages
def copy(consumer, producer):
    Copy(config={"CONSUMER_CONFIG": consumer, "PRODUCER_CONFIG": producer}).start()
def read(name, **config):
    return list(get_class("apf.consumers." + name)(config).consume())
'''
OUT = '{"CLASS": "apf.producers.JSONProducer", "FILE_PATH": "out.jsonl"}'


def lines(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_names_of_apf_are_ours(newest):
    run = newest.record(KIT + '''
print(json.dumps([get_class(name).__module__ for name in ("apf.consumers.KafkaConsumer", "apf.consumers.json.JSONConsumer", "apf.producers.CSVProducer",
    "apf.metrics.KafkaMetricsProducer", "apf.core.topic_management.DailyTopicStrategy", "apf.core.step.GenericStep", "collections.OrderedDict")]))
for name in ("nodots", "apf.consumers.NoSuch", "json.NoSuch"):
    try:
        get_class(name)
    except (ValueError, ImportError):
        continue
    sys.exit(name)
''')
    assert json.loads(run.done.stdout.splitlines()[-1]) == [
        "venturi.step.consumers", "venturi.step.consumers", "venturi.step.producers", "venturi.step.metrics", "venturi.step.topics", "venturi.step.step",
        "collections"]


def test_json(python):
    rows = [{"n": n, "text": "\xe9\n"} for n in range(7)]
    (python.folder / "array.json").write_text(json.dumps(rows, indent=1))
    (python.folder / "lines.json").write_text("\n".join(map(json.dumps, rows)) + "\n\n")
    python.record(KIT + '''
assert read("JSONConsumer", FILE_PATH="array.json") == read("JSONConsumer", FILE_PATH="lines.json")
assert [len(batch) for batch in read("JSONConsumer", FILE_PATH="lines.json", NUM_MESSAGES=3)] == [3, 3, 1]
parts = [read("JSONConsumer", FILE_PATH="lines.json", ID=number, N_PROCESS=3) for number in range(3)]
assert [[each["n"] for each in part] for part in parts] == [[0, 3, 6], [1, 4], [2, 5]]
copy({"CLASS": "apf.consumers.JSONConsumer", "FILE_PATH": "array.json"}, %s)
copy({"CLASS": "apf.consumers.JSONConsumer", "FILE_PATH": "array.json"}, {"CLASS": "apf.producers.JSONProducer", "FILE_PATH": "many/", "buffer_size": 3})
''' % OUT)
    assert lines(python.folder / "out.jsonl") == rows
    assert [json.loads((python.folder / "many" / ("producer_output%d.json" % n)).read_text()) for n in range(3)] == [rows[:3], rows[3:6], rows[6:]]


def test_csv(python):
    (python.folder / "in.csv").write_text('id;n;x;t;e\n1;2;1.5;text;\n2;3;-1e3;"a;b";\n')
    python.record(KIT + '''
args = {"sep": ";", "index_col": "id", "header": 0}
assert read("CSVConsumer", FILE_PATH="in.csv", OTHER_ARGS=args) == [{"n": 2, "x": 1.5, "t": "text", "e": None}, {"n": 3, "x": -1000.0, "t": "a;b", "e": None}]
assert read("CSVConsumer", FILE_PATH="in.csv", OTHER_ARGS={"sep": ";", "nrows": 1, "usecols": ["n", "t"]}) == [{"n": 2, "t": "text"}]
assert read("CSVConsumer", FILE_PATH="in.csv", OTHER_ARGS={"sep": ";", "header": None, "nrows": 1})[0][1] == "n"
assert read("CSVConsumer", FILE_PATH="in.csv", OTHER_ARGS={"sep": ";", "header": 0, "names": list("abcde")})[0]["b"] == 2
source = {"CLASS": "apf.consumers.CSVConsumer", "FILE_PATH": "in.csv", "OTHER_ARGS": {"sep": ";"}}
copy(source, {"CLASS": "apf.producers.CSVProducer", "FILE_PATH": "plain.csv"})
for _ in range(2):
    copy(source, {"CLASS": "apf.producers.CSVProducer", "FILE_PATH": "named.csv", "HEADER": True})
from venturi.step.producers import CSVProducer
nested = CSVProducer({"FILE_PATH": "nested.csv", "HEADER": True})
nested.produce({"a": {"b": 1, "c": {"d": [1, 2]}}, "e": 'x"y'})
del nested
''')
    assert (python.folder / "plain.csv").read_text() == '1,2,1.5,text,\n2,3,-1000.0,a;b,\n'
    assert (python.folder / "named.csv").read_text() == "id,n,x,t,e\n" + '1,2,1.5,text,\n2,3,-1000.0,a;b,\n' * 2
    assert (python.folder / "nested.csv").read_text() == 'a.b,a.c.d,e\n1,"[1,2]","x""y"\n'


def test_standard_input_and_output(newest):
    (newest.folder / "in.jsonl").write_text('{"n": 1}\n\n{"n": 2}\n')
    run = newest.record(KIT + '''
sys.stdin = open("in.jsonl")
copy({"CLASS": "venturi.step.consumers.StdinConsumer"}, {"CLASS": "venturi.step.producers.StdoutProducer"})
''')
    assert run.done.stdout.splitlines()[-2:] == ['{"n":1}', '{"n":2}']


@pytest.mark.parametrize("text, message", [
    ('read("JSONConsumer")', "JSONConsumer: FILE_PATH is not set"),
    ('read("JSONConsumer", FILE_PATH="bad.jsonl")', "bad.jsonl: line 2 is no JSON"),
    ('read("JSONConsumer", FILE_PATH="missing.jsonl")', "missing.jsonl"),
    ('read("CSVConsumer", FILE_PATH="bad.csv")', "bad.csv: row 2 has 1 fields where there are 2 columns"),
    ('read("CSVConsumer", FILE_PATH="bad.csv", OTHER_ARGS={"engine": "c"})', "OTHER_ARGS knows no engine"),
    ('get_class("apf.producers.JSONProducer")({})', "JSONProducer: FILE_PATH is not set"),
    ('read("KafkaConsumer", PARAMS={})', "neither TOPICS nor TOPIC_STRATEGY is set"),
    ('read("KafkaSchemalessConsumer", PARAMS={})', "SCHEMA_PATH is not set"),
])
def test_settings_and_files_that_are_wrong(newest, text, message):
    (newest.folder / "bad.jsonl").write_text('{"n": 1}\n{"n": \n')
    (newest.folder / "bad.csv").write_text("a,b\n1,2\n3\n")
    run = newest.record(KIT + text, check=1)
    assert message in run.done.stderr.splitlines()[-4:][0] or message in run.done.stderr


def test_topics_by_the_day(newest):
    run = newest.record('''
import datetime
from venturi.step.topics import DailyTopicStrategy
class At(DailyTopicStrategy):
    now = datetime.datetime(2020, 5, 22, 12, tzinfo=datetime.timezone.utc)
    def _now(self):
        return At.now
strategy = At(topic_format=["a_%s", "b_%s"], change_hour=22, retention_days=2)
found = [strategy.get_topics()]
for hours in (9, 10, 24, 24):
    At.now += datetime.timedelta(hours=hours)
    found.append(strategy.get_topics())
print(json.dumps(found))
''')
    today, same, tomorrow, third, fourth = run.said
    assert today == same == ["a_20200522", "b_20200522"]
    assert tomorrow == ["a_20200522", "b_20200522", "a_20200523", "b_20200523"]
    assert third == ["a_20200523", "b_20200523", "a_20200524", "b_20200524"]
    assert fourth == ["a_20200524", "b_20200524", "a_20200525", "b_20200525"]
