"""What a document holds, and in which index it is."""
import json
import os

import pytest

from conftest import NOON, line, make_steps, ship

AT = NOON * 10**9 + 123_456_789


def sent(stub, tmp_path, *lines, words=()):
    make_steps(tmp_path / "a.vt", lines)
    done = ship(tmp_path / "a.vt", "--to", stub.url, "--once", *words)
    assert done.returncode == 0, done.stderr
    return stub.order


def test_a_message(stub, tmp_path):
    one, = sent(stub, tmp_path, line(AT, execute_ns=2_000_000_001, messages=7, flags=1, survey="ztf", extra='"candid":["1","2"]'))
    assert one == {
        "@timestamp": "2026-09-21T11:59:59.123456789Z", "source": "MyStep", "execution_time": 2.000000001,
        "timestamp_received": "2026-09-21T11:59:57.123456788Z", "timestamp_sent": "2026-09-21T11:59:59.123456789Z", "n_messages": 7,
        "failed": True, "survey": "ztf", "host": {"name": "alpha"}, "process": {"pid": 4711, "name": "steps"}, "candid": ["1", "2"]}
    (index, name), = stub.documents
    assert index == "pipeline-mystep-20260921" and len(name) == 32


def test_a_document_by_hand(stub, tmp_path):
    one, = sent(stub, tmp_path, line(AT, flags=2, extra='"execution_time":3,"n_messages":"few","source":"other","@timestamp":1'))
    assert one == {"@timestamp": "2026-09-21T11:59:59.123456789Z", "source": "MyStep", "host": {"name": "alpha"},
                   "process": {"pid": 4711, "name": "steps"}, "execution_time": 3, "n_messages": "few"}


def test_names_that_are_ours_are_not_doubled(stub, tmp_path):
    extra = ('"source":"x", "@timestamp":"y","execution_time":9,"a":1,"timestamp_sent":0,"so\\u0075rce":"z","failed":[{"failed":1}],"a":2,'
             '"host":"h","process":{},"survey":1,"b" : {"source":1},"timestamp_received":{},"n_messages":{"n":[1]}')
    one, = sent(stub, tmp_path, line(AT, extra=extra))
    assert one["source"] == "MyStep" and one["execution_time"] == 0.0015 and one["a"] == 1 and one["b"] == {"source": 1}
    assert set(one) == {"@timestamp", "source", "execution_time", "timestamp_received", "timestamp_sent", "n_messages", "failed", "host", "process", "a", "b"}


def test_names_in_dots_that_are_ours(stub, tmp_path):
    """`host.name` is the name of host; below what has a value there can be nothing."""
    extra = '"host.name":"x","process.pid":1,"process.name":{},"source.keyword":1,"execution_time.max":2,"extra_cut":1,"host.ip":"10.0.0.1","sources":1'
    one, = sent(stub, tmp_path, line(AT, extra=extra))
    assert {key for key in one if "." in key or key.startswith("extra")} == {"host.ip"} and one["sources"] == 1 and one["host"] == {"name": "alpha"}


def test_names_inside_are_not_doubled(stub, tmp_path):
    many = ",".join(f'"k{i % 40}":{i}' for i in range(80))
    extra = ('"v":{"1":1,"1":2},"w":[{"a":{"x":[],"x":0,"\\u0078":3},"b":"{","a":4}, {} ,[{"a" : 1 , "a":2}]],"x":{"v":{"1":3}},'
             f'"m":{{{many},"n":{{{many}}},"o":{{"k39":0}}}},"t":"{{\\"a\\":1}}","v":5')
    one, = sent(stub, tmp_path, line(AT, extra=extra))  # the stand-in refuses twins in any depth
    names = {f"k{i}": i for i in range(40)}
    assert (one["v"], one["x"], one["t"]) == ({"1": 1}, {"v": {"1": 3}}, '{"a":1}')
    assert one["w"] == [{"a": {"x": []}, "b": "{"}, {}, [{"a": 1}]]
    assert one["m"] == {**names, "n": names, "o": {"k39": 0}}


def test_deep_values(stub, tmp_path):
    deep = '{"a":[' * 120 + "1" + "]}" * 120
    one, = sent(stub, tmp_path, line(AT, extra=f'"v":{deep},"n":1'))
    assert one["v"] == json.loads(deep) and one["n"] == 1


def test_many_names(stub, tmp_path):
    extra = ",".join(f'"k{i % 300}":{i}' for i in range(600))
    one, = sent(stub, tmp_path, line(AT, extra=extra))
    assert {f"k{i}": i for i in range(300)}.items() <= one.items()


@pytest.mark.parametrize("extra", ["no JSON", '"a":', '"a":1,', '"a":1}', "NaN", '"a":NaN', "\x01\x02", '"a":1 "b":2', "[]", '"a"'])
def test_an_extra_that_is_no_json_is_kept_as_text(stub, tmp_path, extra):
    one, = sent(stub, tmp_path, line(AT, extra=extra))
    assert one["extra_text"] == extra and "a" not in one


def test_the_day_is_that_of_the_document(stub, tmp_path):
    """A message that is received before midnight and sent after it, and one that is sent a nanosecond before."""
    midnight = 1_790_035_200 * 10**9  # 2026-09-22T00:00:00Z
    sent(stub, tmp_path, line(midnight - 1, extra='"n":0'), line(midnight, extra='"n":1'), line(midnight + 10**9, execute_ns=5 * 10**9, extra='"n":2'))
    days = {document["n"]: index for (index, _), document in stub.documents.items()}
    assert days == {0: "pipeline-mystep-20260921", 1: "pipeline-mystep-20260922", 2: "pipeline-mystep-20260922"}
    for name in os.listdir(tmp_path):
        if "ship-" in name:
            os.remove(tmp_path / name)
    done = ship(tmp_path / "a.vt", "--to", stub.url, "--once")  # on another day, as it were
    assert done.returncode == 0 and len(stub.documents) == 3


def test_names_of_indices(stub, tmp_path):
    sent(stub, tmp_path, line(AT, source="Ünï Step/9*", prefix="My_Prefix"), line(AT, source="A" * 300, prefix="p" * 300), line(AT, source="x", prefix="-a"))
    names = sorted(index for index, _ in stub.documents)
    assert all(len(name.encode()) <= 255 and name.endswith("-20260921") for name in names)
    assert "my_prefix-ünï_step_9_-20260921" in names and "xa-x-20260921" in names


def test_another_prefix(stub, tmp_path):
    sent(stub, tmp_path, line(AT), words=["--prefix", "night"])
    assert [index for index, _ in stub.documents] == ["night-mystep-20260921"]


@pytest.mark.parametrize("second, day", [(4_102_444_800, "2100-01-01"), (3, "1970-01-01")])
def test_a_clock_that_was_wrong_is_said_once(stub, tmp_path, second, day):
    make_steps(tmp_path / "a.vt", [line(second * 10**9, execute_ns=1, extra='"n":1'), line(second * 10**9 + 1, execute_ns=1), line(AT)])
    done = ship(tmp_path / "a.vt", "--to", stub.url, "--once")
    assert done.returncode == 0 and len(stub.documents) == 3
    assert done.stderr.splitlines()[0] == (f"venturi ship: pipeline-mystep-{day.replace('-', '')}: a document is dated {day}, today is not: "
                                           "a clock was wrong; it goes to the index of its own date")
    assert len(done.stderr.splitlines()) == 2


def test_time_that_goes_back(stub, tmp_path):
    """Sent before it was received: the clock was set in between. What was measured stays."""
    one, = sent(stub, tmp_path, line(AT, execute_ns=5, received_ns=AT + 3600 * 10**9))
    assert one["execution_time"] == 5e-9 and one["@timestamp"] == "2026-09-21T11:59:59.123456789Z"


def test_what_was_lost_before_is_counted(stub, tmp_path):
    make_steps(tmp_path / "a.vt", [line(AT)], "--lost", 12)
    done = ship(tmp_path / "a.vt", "--to", stub.url, "--once")
    assert done.returncode == 0 and done.stderr == f"venturi: 1 documents to {stub.url}, 12 lost before\n"


def test_a_recording_without_an_end(stub, tmp_path):
    make_steps(tmp_path / "a.vt", [line(AT + i, extra=f'"n":{i}') for i in range(700)], "--open")
    for _ in range(2):
        assert ship(tmp_path / "a.vt", "--to", stub.url, "--once").returncode == 0
        assert len(stub.documents) == 700
    with open(tmp_path / "a.vt", "r+b") as file:
        file.truncate(os.path.getsize(tmp_path / "a.vt") - 7)
    assert ship(tmp_path / "a.vt", "--to", stub.url, "--once").returncode == 0


def test_blanks_between_members(stub, tmp_path):
    one, = sent(stub, tmp_path, line(AT, extra='"a" : 1 , "b":"\\n"'))
    assert (one["a"], one["b"]) == (1, "\n")
    assert stub.requests[0][3].count(b"\n") == 2
