"""examples/services: one trace goes through a Python service and two in C, and through nothing else."""
import json
import os
import re
import sys

import pytest

TESTS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path[:0] = [os.path.join(TESTS, "lib"), os.path.join(TESTS, "python_run")]
from interpreters import VERSIONS, python_or_skip  # noqa: E402
from recorded import BUILD, TOP, VENTURI, need, run  # noqa: E402

FILES = ("classifier.vt", "north.vt", "south.vt")
CATALOG = os.path.join(BUILD, "examples", "services", "catalog")
pytestmark = pytest.mark.skipif(not os.access(CATALOG, os.X_OK) or not os.access(os.path.join(BUILD, "venturi-request"), os.X_OK),
                                reason="no libcrypto or no libcurl: the services are not built")


class Demo:
    """What run.sh printed and left behind."""

    def __init__(self, folder, python):
        self.folder = folder
        self.files = [str(folder / name) for name in FILES]
        self.done = run([os.path.join(TOP, "examples", "services", "run.sh"), BUILD, folder],
                        env={**{key: value for key, value in os.environ.items() if key != "COLUMNS"}, "VENTURI_PYTHON": python})
        self.ids = re.findall(r"^venturi: trace ([0-9a-f-]{36}), status (\d+)", self.done.stdout, re.M)

    def trace(self, base):
        """What `trace show --json` says, with each span's service."""
        shown = json.loads(run([VENTURI, "trace", "show", base, *self.files, "--json"]).stdout)
        for span in shown["spans"]:
            span["service"] = shown["processes"][span["process"]]["service"]
        return shown


@pytest.fixture(scope="module", params=VERSIONS)
def demo(request, tmp_path_factory):
    need("curl", "bash")
    return Demo(tmp_path_factory.mktemp("services"), python_or_skip(request.param))


def tree(trace, parent):
    """{"service: name": its children} of the spans below that id."""
    return {"%s: %s" % (span["service"], span["name"]): tree(trace, span["id"]) for span in trace["spans"] if span["parent"] == parent}


def test_answers(demo):
    answers = [json.loads(line) for line in demo.done.stdout.splitlines() if line.startswith("{")]
    assert len(answers) == 3
    assert answers[0]["near"].startswith("north-") and answers[1]["near"].startswith("south-")
    assert answers[2] == {"error": "not a position in the sky"}
    assert [status for _, status in demo.ids] == ["200", "502"]
    assert "exit code 1" in demo.done.stdout


def test_only_requests_with_the_secret_leave_a_trace(demo):
    listed = json.loads(run([VENTURI, "trace", "list", "--json", *demo.files]).stdout)
    assert sorted(trace["trace"] for trace in listed["traces"]) == sorted(base for base, _ in demo.ids)
    requests = json.loads(run([VENTURI, "query", "--json", demo.files[1], "SELECT base_id FROM spans WHERE name = 'match'"]).stdout)
    assert len(requests) == 3  # all were served; that of curl is a plain span
    assert sorted(row["base_id"] for row in requests if row["base_id"]) == sorted(base for base, _ in demo.ids)


def test_the_trace_crosses_all_services(demo):
    base = demo.ids[0][0]
    assert tree(demo.trace(base), base) == {"classifier: wsgi": {"classifier: classify": {
        "classifier: brightness": {},
        "classifier: ask-catalog": {"classifier: http": {"north: match": {
            "north: parse-position": {},
            "north: ask-other-half": {"south: match": {"south: parse-position": {}, "south: search": {}}},
        }}},
        "classifier: decide": {},
    }}}


def test_parents_lie_around_their_children(demo):
    trace = demo.trace(demo.ids[0][0])
    assert (trace["unfinished"], trace["orphans"], trace["errors"]) == (0, 0, 0)
    by_id = {span["id"]: span for span in trace["spans"]}
    assert len(by_id) == 12
    for span in trace["spans"]:
        parent = by_id.get(span["parent"])
        assert span["finished"]
        if parent:
            assert parent["begin_ns"] <= span["begin_ns"]
            assert span["begin_ns"] + span["duration_ns"] <= parent["begin_ns"] + parent["duration_ns"]


def test_facts_of_both_languages(demo):
    spans = {(span["service"], span["name"]): span["attrs"] for span in demo.trace(demo.ids[0][0])["spans"]}
    assert spans["classifier", "wsgi"]["request.path"] == "/alerts/nova" and spans["classifier", "wsgi"]["request.status"] == 200
    assert spans["classifier", "http"]["requests.status_code"] == 200
    assert spans["north", "ask-other-half"]["status"] == 200
    assert spans["south", "match"]["project"] == "survey" and spans["south", "search"]["objects"] == 20000


def test_errors_are_where_they_happened(demo):
    failed = demo.ids[1][0]
    errors = json.loads(run([VENTURI, "trace", "list", "--errors", "--json", *demo.files]).stdout)["traces"]
    assert [trace["trace"] for trace in errors] == [failed]
    said = {"%s: %s" % (span["service"], span["name"]): span["error"] for span in demo.trace(failed)["spans"] if span["error"]}
    assert said["north: parse-position"] == {"type": "BadPosition", "message": "not a position in the sky"}
    assert said["classifier: ask-catalog"] == {"type": "__main__.CatalogError", "message": "not a position in the sky"}
    assert "502" in said["classifier: wsgi"]["message"]
    assert "classifier: brightness" not in said
    assert "BadPosition" in demo.done.stdout and "CatalogError" in demo.done.stdout


def test_the_page(demo):
    page = (demo.folder / "trace.html").read_text()
    assert page.rstrip().endswith("</html>")


def test_every_recording_was_closed(demo):
    for path in demo.files:
        assert json.loads(run([VENTURI, "info", "--json", path]).stdout)["closed"]
    assert sorted(os.listdir(demo.folder)) == sorted([*FILES, "trace.html"])
