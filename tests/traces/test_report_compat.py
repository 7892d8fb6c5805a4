"""venturi trace show --compat: byte for byte the report that osprofiler builds of the same notifications."""
import json
import os
import subprocess
import sys

import pytest
from trace_files import BASE, START, TOP, Span, show, time_text, venturi, write_recording

US, MS = 10**3, 10**6
OSPROFILER = os.path.join(TOP, "build", "neighbours", "%d.%d-trace" % sys.version_info[:2])
pytestmark = pytest.mark.skipif(not os.path.isdir(os.path.join(OSPROFILER, "osprofiler")), reason="no osprofiler (tools/neighbours)")

# Notifications on standard input; the report as `osprofiler trace show --json` prints it.
BUILD_REPORT = """
import json, sys
sys.path.insert(0, sys.argv[1])
from osprofiler.drivers import base
driver = base.Driver("file://")
for p in json.load(sys.stdin):
    driver._append_results(p["trace_id"], p["parent_id"], p["name"], p["project"], p["service"], p["info"].get("host"),
                           p["timestamp"], p)
print(json.dumps(driver._parse_results(), separators=(",", ": "), indent=2))
"""


def nested(flat, host):
    """Keys with dots are dicts inside each other."""
    info = {}
    for key, value in flat.items():
        parts = key.split(".")
        place = info
        for part in parts[:-1]:
            place = place.setdefault(part, {})
        place[parts[-1]] = value
    info["host"] = host
    return info


def payloads(files):
    """What the services would have sent, in order of time. files: (host, service, project, spans)."""
    sent = []
    for host, service, project, spans in files:
        for span in spans:
            said = {key: value for key, value in span.at_begin.items() if key not in ("service", "project", "host")}
            for time, kind, facts in ((span.begin, "start", said), (span.end, "stop", span.at_end)):
                if time is None:
                    continue
                sent.append((time, {"name": "%s-%s" % (span.name, kind), "base_id": span.base, "trace_id": span.id,
                                    "parent_id": span.parent, "timestamp": time_text(time), "info": nested(facts, host),
                                    "project": project, "service": service}))
    return [payload for _, payload in sorted(sent, key=lambda each: each[0])]


def theirs(notifications):
    return subprocess.run([sys.executable, "-I", "-c", BUILD_REPORT, OSPROFILER], input=json.dumps(notifications), text=True,
                          stdout=subprocess.PIPE, check=True).stdout


def compare(tmp_path, files):
    paths = [write_recording(tmp_path / ("%d.vt" % at), spans, host=host, pid=at + 1)
             for at, (host, _, _, spans) in enumerate(files)]
    ours = venturi("trace", "show", BASE, *paths, "--compat").stdout
    assert ours == theirs(payloads(files))
    return json.loads(ours)


def test_services_and_hosts(tmp_path):
    who = {"service": "api", "project": "mistral"}
    report = compare(tmp_path, [
        ("vm1", "api", "mistral", [
            Span(1, 0, "wsgi", 0, 50 * MS + 900 * US, {"request.method": "GET", "request.path": "/v1/é\U0001f600\x7f\"\\\n",
                                                       "request.query": "", "request.scheme": "http", **who}),
            Span(2, 1, "rpc", 10 * MS + 999, 40 * MS + 1, {"function.name": "m.f", "function.args": "(1,)"},
                 {"function.result": "None"})]),
        ("vm2", "engine", "mistral", [
            Span(3, 2, "workflow-set-state", 15 * MS, 30 * MS, {"service": "engine", "project": "mistral"},
                 {"etype": "KeyError", "message": "'x'"}, True),
            Span(4, 3, "db", 16 * MS, 17 * MS + 1, {"db.statement": "SELECT 1", "db.params.n": 3, "db.params.f": 0.5},
                 {"db.result": "[]"}),
            Span(5, 3, "workflow-start", 16 * MS + 400 * US, 29 * MS),
            Span(6, 3, "a.b", 20 * MS, None)])])
    assert report["stats"]["workflow"]["count"] == 2
    assert report["children"][0]["children"][0]["children"][0]["info"]["exception"] == "KeyError"


def test_reports_are_read_too(tmp_path):
    """What osprofiler printed is a file like any other: the same tree, and the same report once more."""
    spans = [Span(1, 0, "wsgi", 0, 50 * MS + 900 * US, {"service": "api", "project": "p", "request.path": "/é"}),
             Span(2, 1, "task-run", 10 * MS, 40 * MS, {}, {"etype": "KeyError", "message": "'x'"}, True), Span(3, 1, "open", 12 * MS, None)]
    report = tmp_path / "report.json"
    report.write_text(theirs(payloads([("vm1", "api", "p", spans)])))
    assert venturi("trace", "show", BASE, report, "--compat").stdout == report.read_text()
    trace = show("last", report)
    assert [(each["name"], each["duration_ns"], each["finished"]) for each in trace["spans"]] == [
        ("wsgi", 50 * MS + 900 * US, True), ("task-run", 30 * MS, True), ("open", 38 * MS + 900 * US, False)]
    assert trace["spans"][1]["error"] == {"type": "KeyError", "message": "'x'"}
    assert [(each["service"], each["project"], each["host"]) for each in trace["processes"]] == [("api", "p", "vm1")]
    text = report.read_text()
    for cut in (len(text) // 2, len(text) - 3):
        report.write_text(text[:cut])
        done = venturi("trace", "list", report, check=2)
        assert "not JSON, or cut off" in done.stderr and done.stderr.count("\n") == 1


def test_several_roots_and_missing_parents(tmp_path):
    report = compare(tmp_path, [("vm1", "s", "p", [
        Span(1, 0, "a", 0, MS, {"service": "s", "project": "p"}), Span(2, 99, "b", 2 * MS, 3 * MS), Span(3, 0, "c", 4 * MS, 90 * MS)])])
    assert [each["info"]["name"] for each in report["children"]] == ["a", "b", "c"]


def test_numbers_and_texts(tmp_path):
    values = {"x.float": 1.0, "x.tiny": 5e-324, "x.big": 1e22, "x.int": -2**63, "x.empty": "", "y": "\x00\x1f\x7f\u2028", "x.more": 1.5e-7}
    compare(tmp_path, [("h", "s", "p", [Span(1, 0, "n", 0, MS, {"service": "s", "project": "p", **values})])])


def test_of_a_log(tmp_path):
    """Without a host and a project there is null, as osprofiler has it."""
    from trace_files import write_log
    log = write_log(tmp_path / "engine.log", [Span(1, 0, "task-run", 0, 700 * MS), Span(2, 1, "db", 2 * MS, 3 * MS)])
    report = json.loads(venturi("trace", "show", BASE, log, "--compat").stdout)
    node = report["children"][0]
    assert list(node) == ["info", "trace_id", "parent_id", "children"]
    assert list(node["info"]) == ["name", "project", "service", "host", "meta.raw_payload.task-run-start", "started",
                                  "meta.raw_payload.task-run-stop", "finished", "exception"]
    assert node["info"]["host"] is None and node["info"]["service"] == "engine"
    assert (node["info"]["finished"], report["info"]["last_trace_started"]) == (700, 2)
    assert node["info"]["meta.raw_payload.task-run-start"]["timestamp"] == START.isoformat() + ".000000"


WHO = {"service": "s", "project": "p"}


@pytest.mark.parametrize("spans", [
    # Statistics in the order in which spans began, whatever is inside of what.
    [Span(1, 0, "r", 0, 100 * MS, WHO), Span(2, 1, "a", 10 * MS, 50 * MS), Span(3, 2, "x", 40 * MS, 45 * MS), Span(4, 1, "y", 20 * MS, 60 * MS)],
    # Those that begin together: as they came.
    [Span(1, 0, "r", 0, 100 * MS, WHO), Span(2, 1, "a", 10 * MS, 20 * MS), Span(3, 1, "b", 10 * MS, 60 * MS)],
    # No time at all, and an error at its end.
    [Span(1, 0, "r", 0, 100 * MS, WHO), Span(2, 1, "a", 10 * MS, 10 * MS, {"b.x": 1}, {"etype": "KeyError", "message": "x"}, True)],
    # Keys of one object that come apart from each other, many of them, very deep ones, empty parts.
    [Span(1, 0, "r", 0, 100 * MS, {**WHO, "a.b.c": 1, "d": 2, "a.b.e": 3, "a.d": 1, "a.b.f": 1})],
    [Span(1, 0, "r", 0, 100 * MS, {**WHO, **{"k%d.x%d" % (i % 2, i): i for i in range(700)}})],
    [Span(1, 0, "r", 0, 100 * MS, {**WHO, "a.b.c.d.e.f.g.h.i.j.k": 1, "a.b.c.d.e.f.g.h.x": 2})],
    [Span(1, 0, "r", 0, 100 * MS, {**WHO, "a..b": 1, ".x": 2, "y.": 3})],
    [Span(1, 0, "-", 0, 100 * MS, WHO), Span(2, 1, "", MS, 2 * MS), Span(3, 1, "non-stop", MS, 2 * MS), Span(4, 1, "x-start", 3 * MS, 4 * MS)],
])
def test_order_and_facts(tmp_path, spans):
    compare(tmp_path, [("h", "s", "p", spans)])


def test_clocks_are_left_alone(tmp_path):
    compare(tmp_path, [("h", "s", "p", [Span(1, 0, "r", 100 * MS, 200 * MS, WHO)]),
                       ("h2", "s2", "p", [Span(2, 1, "a", 10 * MS, 20 * MS, {"service": "s2", "project": "p"})])])


def test_an_empty_project_is_one(tmp_path):
    spans = [Span(1, 0, "r", 0, 100 * MS, {"service": "s", "project": ""})]
    compare(tmp_path, [("h", "s", "", spans)])
    report = tmp_path / "report.json"
    report.write_text(theirs(payloads([("h", "s", "", spans)])))
    assert venturi("trace", "show", BASE, report, "--compat").stdout == report.read_text()


def test_no_key_twice(tmp_path):
    """A value and an object of one name, and a fact that comes again: nothing that osprofiler could have."""
    path = write_recording(tmp_path / "x.vt", [Span(1, 0, "r", 0, MS, {"a.b": 1, "a.b.c": 2, "a": 3, "host.x": 4}, {"n": 1})])

    def once(pairs):
        assert len(dict(pairs)) == len(pairs), pairs
        return dict(pairs)

    report = json.loads(venturi("trace", "show", BASE, path, "--compat").stdout, object_pairs_hook=once)
    info = report["children"][0]["info"]["meta.raw_payload.r-start"]["info"]
    assert info == {"a": {"b": {"c": 2, "": 1}, "": 3}, "host": "vm1"}


def test_bytes_that_are_no_text(tmp_path):
    """Each is U+FFFD, and nothing that was not there comes up."""
    from trace_files import start_line
    log = tmp_path / "x.log"
    log.write_bytes(start_line(Span(1, 0, "NAME", 0, MS)).encode().replace(b"NAME", b"a\xe2\x82b\xf0\x9f\x98c\xc3"))
    report = json.loads(venturi("trace", "show", BASE, log, "--compat").stdout)
    assert report["children"][0]["info"]["name"] == "a\ufffd\ufffdb\ufffd\ufffd\ufffdc\ufffd"
