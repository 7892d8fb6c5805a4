"""Traces and metrics by OTLP over HTTP: what arrives is read with the official opentelemetry-proto, in both forms, and taken by the receiver of the
OpenTelemetry collector; answers of every kind."""
import gzip
import json
import os
import subprocess
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "lib"))

import trace_stores  # noqa: E402
from otlp_collector import Collector  # noqa: E402
from recorded import BUILD, run  # noqa: E402
from trace_stores import imported, notifications, python_or_skip, recorded_program, ship, shown, stores_or_skip, venturi  # noqa: E402

pytestmark = trace_stores.pytestmark
MAKE_STEPS = os.path.join(BUILD, "tests", "fault", "make_steps")

# Bytes come in as lines of hex, with what they are in front; messages go out as JSON. Fields that the schema does not have are an error.
READER = r"""
import json, sys
from google.protobuf import json_format
from opentelemetry.proto.collector.metrics.v1 import metrics_service_pb2 as metrics
from opentelemetry.proto.collector.trace.v1 import trace_service_pb2 as trace

def unknown(message):
    from google.protobuf.unknown_fields import UnknownFieldSet
    if len(UnknownFieldSet(message)):
        return True
    for field, value in message.ListFields():
        if field.message_type:
            for one in (value if not hasattr(value, "ListFields") else [value]):
                if unknown(one):
                    return True
    return False

for line in sys.stdin:
    path, text = line.split()
    kind = trace.ExportTraceServiceRequest if path == "/v1/traces" else metrics.ExportMetricsServiceRequest
    message = kind.FromString(bytes.fromhex(text))
    assert not unknown(message)
    print(json.dumps(json_format.MessageToDict(message)))
"""


class Receiver:
    """Keeps what comes; `answers` are (status, body, headers) for the next requests, then all is well."""

    def __init__(self):
        self.got, self.answers = [], []
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                if self.headers.get("Content-Encoding") == "gzip":
                    body = gzip.decompress(body)
                status, said, headers = receiver.answers.pop(0) if receiver.answers else (200, b"", {})
                if status == 200:
                    receiver.got.append((self.path, self.headers["Content-Type"], body))
                self.send_response(status)
                for key, value in dict(headers, **{"Content-Length": len(said)}).items():
                    self.send_header(key, str(value))
                self.end_headers()
                self.wfile.write(said)

            def log_message(self, *_):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    @property
    def url(self):
        return f"otlp://127.0.0.1:{self.server.server_address[1]}"

    def close(self):
        self.server.shutdown()
        self.server.server_close()

    def messages(self, path="/v1/traces"):
        """As the official package reads them; JSON is taken as it came, its ids being hex there."""
        found = [json.loads(body) for where, kind, body in self.got if where == path and kind == "application/json"]
        lines = "".join(f"{where} {body.hex()}\n" for where, kind, body in self.got if where == path and kind == "application/x-protobuf")
        if lines:
            done = run([python_or_skip("3.11"), "-c", READER], input=lines, env={**os.environ, "PYTHONPATH": stores_or_skip()})
            found += map(json.loads, done.stdout.splitlines())
        return found


@pytest.fixture
def receiver():
    one = Receiver()
    yield one
    one.close()


def hexed(text):
    """MessageToDict has base64 for bytes."""
    import base64
    return text if len(text) in (16, 32) and all(digit in "0123456789abcdef" for digit in text) else base64.b64decode(text).hex()


def value(attribute):
    (kind, said), = attribute["value"].items()
    return int(said) if kind == "intValue" else said


def attributes(holder):
    return {one["key"]: value(one) for one in holder.get("attributes", [])}


def spans(messages):
    """span id -> (span, its resource)"""
    found = {}
    for message in messages:
        for resource in message["resourceSpans"]:
            for scope in resource["scopeSpans"]:
                assert scope["scope"]["name"] == "venturi"
                for span in scope["spans"]:
                    found[hexed(span["spanId"])] = (span, attributes(resource["resource"]))
    return found


@pytest.fixture
def collector(tmp_path):
    with Collector(tmp_path) as one:
        yield one.url, one.took


@pytest.mark.parametrize("form", ["protobuf", "json"])
def test_a_collector_takes_it(collector, tmp_path, form):
    url, took = collector
    base, path = recorded_program(tmp_path)
    ship(path, url + "?format=" + form)
    if os.path.exists(MAKE_STEPS):
        steps = tmp_path / "steps.vt"
        run([MAKE_STEPS, steps], input="".join(f"{1_789_991_999_000_000_000 + i}\t{1_789_991_998_000_000_000}\t1000\t0\t1\tS\tp\t\t\n" for i in range(10)))
        ship(steps, url + "?format=" + form)
    got = took()
    found, own = spans([message for signal, message in got if signal == "traces"]), shown(base, path)
    assert {one: (span["name"], int(span["startTimeUnixNano"]), int(span["endTimeUnixNano"])) for one, (span, _) in found.items()} == \
        {span["id"].replace("-", "")[16:]: (span["name"], own["begin_ns"] + span["begin_ns"], own["begin_ns"] + span["begin_ns"] + span["duration_ns"])
         for span in own["spans"]}
    assert {hexed(span["traceId"]) for span, _ in found.values()} == {base.replace("-", "")}
    metrics = [message for signal, message in got if signal == "metrics"]
    assert len(metrics) == int(os.path.exists(MAKE_STEPS))
    for message in metrics:
        by_name = {one["name"]: one for one in message["resourceMetrics"][0]["scopeMetrics"][0]["metrics"]}
        assert by_name["venturi.step.messages"]["sum"]["dataPoints"][0]["asInt"] == "10"
        assert by_name["venturi.step.execution_time"]["histogram"]["dataPoints"][0]["count"] == "10"


@pytest.mark.parametrize("form", ["protobuf", "json"])
def test_spans_are_those_of_the_recording(receiver, tmp_path, form):
    base, path = recorded_program(tmp_path)
    ship(path, receiver.url + "?format=" + form)
    assert {kind for _, kind, _ in receiver.got} == {"application/json" if form == "json" else "application/x-protobuf"}
    found, own = spans(receiver.messages()), shown(base, path)
    assert set(found) == {span["id"].replace("-", "")[16:] for span in own["spans"]} and len(found) == 5
    for span in own["spans"]:
        sent, resource = found[span["id"].replace("-", "")[16:]]
        assert hexed(sent["traceId"]) == base.replace("-", "") and sent["name"] == span["name"]
        begin = own["begin_ns"] + span["begin_ns"]
        assert int(sent["startTimeUnixNano"]) == begin and int(sent["endTimeUnixNano"]) == begin + span["duration_ns"]
        if span["parent"] == base:
            assert "parentSpanId" not in sent
        else:
            assert hexed(sent["parentSpanId"]) == span["parent"].replace("-", "")[16:]
        assert resource["service.name"] == "till" and resource["service.namespace"] == "shop" and resource["process.pid"] == own["processes"][0]["pid"]
        assert resource["host.name"] == own["processes"][0]["host"]
        for key, said in span["attrs"].items():
            if key not in ("etype", "message", "service", "project", "host"):
                assert attributes(sent)[key] == said, key
        if span["error"]:
            assert sent["status"]["code"] in (2, "STATUS_CODE_ERROR") and sent["events"][0]["name"] == "exception"
            assert attributes(sent["events"][0]) == {"exception.type": "KeyError", "exception.message": span["error"]["message"]}
        else:
            assert "status" not in sent
    root, _ = found[own["spans"][0]["id"].replace("-", "")[16:]]
    assert root["kind"] in (2, "SPAN_KIND_SERVER")


def test_what_never_ended_says_so(receiver, tmp_path):
    _, events = notifications(3)
    ship(imported(tmp_path, events[:-1]), receiver.url)
    found = [span for span, _ in spans(receiver.messages()).values()]
    assert sorted(attributes(span).get("venturi.unfinished", False) for span in found) == [False, False, True]


def test_large_answers_no(receiver, tmp_path):
    """413 halves, until it fits."""
    receiver.answers = [(413, b"", {})] * 3
    _, events = notifications(100)
    ship(imported(tmp_path, events), receiver.url)
    assert len(spans(receiver.messages())) == 100 and len(receiver.got) > 2


@pytest.mark.parametrize("status", [429, 502, 503, 504])
def test_later_means_later(receiver, tmp_path, status):
    receiver.answers = [(status, b"", {})] * 2
    _, events = notifications(10)
    ship(imported(tmp_path, events), receiver.url, "--retry-max", "0.1")
    assert len(spans(receiver.messages())) == 10 and len(receiver.got) == 1


def test_refused_is_dead(receiver, tmp_path):
    receiver.answers = [(400, b"no such thing", {})]
    _, events = notifications(10)
    path = imported(tmp_path, events)
    assert ship(path, receiver.url, check=False).returncode == 1
    assert not receiver.got
    dead = [line for file in tmp_path.glob("*dead*") for line in file.read_text().splitlines()]
    assert len(dead) == 10 and "no such thing" in dead[0]


def test_dead_letters_are_the_same_spans(receiver, tmp_path):
    base, path = recorded_program(tmp_path)
    ship(path, receiver.url)
    wanted = spans(receiver.messages())
    receiver.got.clear()
    (tmp_path / "again").mkdir()
    receiver.answers = [(400, b"not today", {})]
    assert ship(path, receiver.url, "--state", tmp_path / "again", check=False).returncode == 1
    letters, = (tmp_path / "again").glob("*.dead.ndjson")
    venturi("ship", "--replay", letters, "--to", receiver.url)
    assert spans(receiver.messages()) == wanted and len(wanted) == 5


@pytest.mark.parametrize("form, said", [("json", b'{"partialSuccess":{"rejectedSpans":"3","errorMessage":"too old"}}'),
                                        ("protobuf", b"\x0a\x0b\x08\x03\x12\x07too old")])
def test_some_refused(receiver, tmp_path, form, said):
    receiver.answers = [(200, said, {})]
    _, events = notifications(10)
    assert ship(imported(tmp_path, events), receiver.url + "?format=" + form, check=False).returncode == 1
    dead = [line for file in tmp_path.glob("*dead*") for line in file.read_text().splitlines()]
    assert len(dead) == 3 and "too old" in dead[0] and len(receiver.got) == 1


@pytest.mark.parametrize("said", [b"\x0a", b"\x0a\xff\xff\xff\xff\x0f", b"\x0a\x03\x12\x7fx", b"\xff" * 20, b"{", b"<html>"])
def test_answers_that_are_none(receiver, tmp_path, said):
    receiver.answers = [(200, said, {})]
    _, events = notifications(3)
    ship(imported(tmp_path, events), receiver.url)
    assert len(receiver.got) == 1


def test_steps_as_metrics(receiver, tmp_path):
    if not os.path.exists(MAKE_STEPS):
        pytest.skip("tests/fault/make_steps is not built")
    path = tmp_path / "steps.vt"
    lines = []
    for i in range(5000):  # more than a batch
        sent = 1_789_991_999_000_000_000 + i * 1_000_000
        lines.append(f"{sent}\t{sent - 3_000_000}\t{2_000_000 if i % 2 else 40_000}\t{int(i % 100 == 0)}\t3\tMyStep\tpipeline\tztf\t")
    run([MAKE_STEPS, path], input="\n".join(lines) + "\n")
    ship(path, receiver.url)
    messages = receiver.messages("/v1/metrics")
    assert len(messages) > 1
    resource = messages[-1]["resourceMetrics"][0]
    assert attributes(resource["resource"])["service.name"] == "MyStep"
    metrics = {one["name"]: one for one in resource["scopeMetrics"][0]["metrics"]}
    total = metrics["venturi.step.messages"]["sum"]
    assert total["isMonotonic"] and total["aggregationTemporality"] == "AGGREGATION_TEMPORALITY_CUMULATIVE"
    assert int(total["dataPoints"][0]["asInt"]) == 15000 and attributes(total["dataPoints"][0]) == {"source": "MyStep", "survey": "ztf"}
    assert int(metrics["venturi.step.failures"]["sum"]["dataPoints"][0]["asInt"]) == 150  # messages, as everywhere: batches of 3
    point = metrics["venturi.step.execution_time"]["histogram"]["dataPoints"][0]
    buckets = list(map(int, point["bucketCounts"]))
    assert sum(buckets) == int(point["count"]) == 5000 and len(buckets) == len(point["explicitBounds"]) + 1
    assert buckets[0] == 2500 and buckets[[bound >= 0.002 for bound in point["explicitBounds"]].index(True)] == 2500
    assert abs(point["sum"] - (2500 * 0.002 + 2500 * 0.00004)) < 1e-9 and point["min"] == 0.00004 and point["max"] == 0.002
    starts = {one["resourceMetrics"][0]["scopeMetrics"][0]["metrics"][0]["sum"]["dataPoints"][0]["startTimeUnixNano"] for one in messages}
    assert starts == {str(1_789_991_999_000_000_000 - 3_000_000)}


def test_a_batch_that_is_sent_again_counts_once(receiver, tmp_path):
    if not os.path.exists(MAKE_STEPS):
        pytest.skip("tests/fault/make_steps is not built")
    path = tmp_path / "steps.vt"
    run([MAKE_STEPS, path], input="".join(f"{1_789_991_999_000_000_000 + i}\t{1_789_991_998_000_000_000}\t1000\t0\t1\tS\tp\t\t\n" for i in range(10)))
    receiver.answers = [(503, b"", {})] * 3
    ship(path, receiver.url, "--retry-max", "0.1")
    message, = receiver.messages("/v1/metrics")
    assert int(message["resourceMetrics"][0]["scopeMetrics"][0]["metrics"][0]["sum"]["dataPoints"][0]["asInt"]) == 10


@pytest.mark.parametrize("url, word", [("otlp://127.0.0.1:1", "127.0.0.1:1"), ("otlp://127.0.0.1:1?format=xml", "format=")])
def test_nobody_there(tmp_path, url, word):
    _, events = notifications(2)
    done = ship(imported(tmp_path, events), url, "--give-up", "0.1", check=False)
    assert done.returncode in (1, 2) and word in done.stderr, done.stderr
