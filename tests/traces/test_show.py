"""venturi trace show: one tree out of several services' files, with what is odd about it said."""
import json
import shutil
import subprocess

import pytest
from trace_files import BASE, Span, show, span_id, venturi, write_log, write_recording

US, MS = 10**3, 10**6


@pytest.fixture
def services(tmp_path):
    api = write_recording(tmp_path / "api.vt", [
        Span(1, 0, "wsgi", 0, 50 * MS, {"service": "api", "request.method": "GET", "request.path": "/v1/tasks"}),
        Span(2, 1, "rpc", 10 * MS, 40 * MS)])
    engine = write_recording(tmp_path / "engine.vt", [
        Span(3, 2, "workflow-start", 15 * MS, 30 * MS + 250, {"service": "engine"}, {"etype": "KeyError", "message": "'x'"}, True),
        Span(4, 3, "db", 16 * MS, 20 * MS, {"db.statement": "SELECT 1"}),
        Span(5, 3, "db", 18 * MS, 25 * MS),
        Span(6, 2, "late", 39 * MS, None)], host="vm2", pid=200)
    return api, engine


def names(trace):
    return ["  " * span["depth"] + span["name"] for span in trace["spans"]]


def test_one_tree_of_several_files(services):
    for files in (services, services[::-1]):
        trace = show(BASE, *files)
        assert names(trace) == ["wsgi", "  rpc", "    workflow-start", "      db", "      db", "    late"]
        assert [span["self_ns"] for span in trace["spans"]] == [
            20 * MS, 14 * MS - 250, 6 * MS + 250, 4 * MS, 7 * MS, 11 * MS]
        assert (trace["services"], trace["hosts"], trace["errors"], trace["unfinished"]) == (2, 2, 1, 1)


def test_json_has_everything(services):
    trace = show(BASE, *services)
    assert trace["begin"] == "2026-11-15T08:04:25.000000000Z" and trace["duration_ns"] == 50 * MS
    span = trace["spans"][2]
    process = trace["processes"][span.pop("process")]
    assert span == {"id": span_id(3), "parent": span_id(2), "depth": 2, "name": "workflow-start", "thread": "main",
                    "begin_ns": 15 * MS, "duration_ns": 15 * MS + 250, "self_ns": 6 * MS + 250, "critical": True,
                    "finished": True, "orphan": False, "error": {"type": "KeyError", "message": "'x'"},
                    "attrs": {"service": "engine", "etype": "KeyError", "message": "'x'"}}
    assert process == {"service": "engine", "project": "", "host": "vm2", "pid": 200, "file": str(services[1]), "skew_ns": 0}
    assert [each["finished"] for each in trace["spans"]] == [True] * 5 + [False]


def test_critical_path(services):
    trace = show(BASE, *services)
    assert [each["critical"] for each in trace["spans"]] == [True, True, True, False, True, True]


def test_text(services):
    lines = venturi("trace", "show", BASE, *services).stdout.splitlines()
    assert lines[0] == "trace %s, 2026-11-15T08:04:25.000000000Z" % BASE
    assert lines[1] == "50.0 ms, 6 spans, 2 services, 2 hosts, 1 error, 1 unfinished; * is on the critical path"
    assert lines[4] == "*     0ns  50.0ms  20.0ms  api      wsgi  GET /v1/tasks"
    assert lines[6] == "*  15.0ms  15.0ms  6.00ms  engine       workflow-start  ! KeyError: 'x'"
    assert lines[7] == "   16.0ms  4.00ms  4.00ms  engine         db  SELECT 1"
    assert lines[9].endswith("late  (unfinished)")


def test_errors_on_a_narrow_terminal(services):
    lines = venturi("trace", "show", BASE, *services, columns=80).stdout.splitlines()
    assert lines[6].endswith("    workflow-start") and lines[7].strip() == "! KeyError: 'x'"
    assert all(len(line) <= 80 for line in lines if not line.startswith("50.0 ms")), lines


def test_depth(services):
    lines = venturi("trace", "show", BASE, *services, "--depth", "2").stdout.splitlines()
    assert len(lines) == 6 and lines[5].endswith("rpc  [4 inside]")
    assert len(json.loads(venturi("trace", "show", BASE, *services, "--depth", "1", "--json").stdout)["spans"]) == 1
    assert "is not a number of levels" in venturi("trace", "show", BASE, *services, "--depth", "0", check=2).stderr


@pytest.mark.parametrize("word", [BASE, BASE.upper(), BASE.replace("-", ""), "{%s}" % BASE, BASE[:1], BASE[:10], "last"])
def test_ids(services, word):
    assert show(word, *services)["trace"] == BASE


def test_any_text_can_be_an_id(tmp_path):
    """What a program used as its id is mapped the same way everywhere."""
    log = write_log(tmp_path / "x.log", [Span(1, 0, "a", 0, MS, base="my trace".replace(" ", "-"))])
    assert show("my-trace", log)["trace"].count("-") == 4


def test_unknown_ids(services):
    for word in ("ffff", "ffffffff-97b1-4f5d-8d36-52e1b7c6a902", "nonsense"):
        done = venturi("trace", "show", word, *services, check=2)
        assert done.stderr == "venturi trace: %s: no such trace in %s and the others (venturi trace list shows all)\n" % (
            word, services[0])
    assert venturi("trace", "show", check=2).stderr == "venturi trace: show: which trace? ID FILE..., or last FILE...\n"
    assert venturi("trace", "show", BASE, check=2).stderr == (
        "venturi trace: show %s: in which FILEs? Recordings or trace logs\n" % BASE)


def test_missing_parent(services):
    trace = show(BASE, services[1])
    assert trace["orphans"] == 2 and trace["spans"][0]["orphan"] and trace["spans"][0]["parent"] == span_id(2)
    text = venturi("trace", "show", BASE, services[1]).stdout
    assert "(its parent %s is missing)" % span_id(2) in text
    assert "note: spans whose parent is in none of the files: 2; give those of the other services too\n" in text


def test_the_same_file_twice(services):
    trace = show(BASE, *services, services[0])
    assert trace["span_count"] == 6
    assert trace["notes"] == ["spans that were there twice and are shown once: 2"]


def test_recording_and_log_together(services, tmp_path):
    log = write_log(tmp_path / "executor.log", [Span(9, 4, "action", 17 * MS, 19 * MS)])
    trace = show(BASE, *services, log)
    assert names(trace)[3:5] == ["      db", "        action"]
    assert trace["processes"][-1]["service"] == "executor" and trace["services"] == 3


def test_clock_of_another_host(tmp_path):
    """Three seconds late: moved, and never silently."""
    api = write_recording(tmp_path / "api.vt", [Span(1, 0, "call", 5000 * MS, 5100 * MS)], program="api")
    late = write_recording(tmp_path / "late.vt", [Span(2, 1, "serve", 2000 * MS, 2080 * MS)], host="vm2", program="late")
    trace = show(BASE, api, late)
    assert [each["skew_ns"] for each in trace["processes"]] == [0, 3000 * MS]
    assert trace["notes"] == ["times of late on vm2 are moved forward by 3.00 s, so that its spans lie within their parents: "
                              "its clock differs"]
    assert trace["spans"][1]["begin_ns"] == 0 and trace["duration_ns"] == 100 * MS
    same = write_recording(tmp_path / "same.vt", [Span(2, 1, "serve", 2000 * MS, 2080 * MS)], program="late")
    assert [each["skew_ns"] for each in show(BASE, api, same)["processes"]] == [0, 0]


def test_work_that_was_handed_over(tmp_path):
    """A child that begins after its parent's end: a clock that is ahead, if the hosts differ; in a log, whose host nobody knows, just that."""
    api = write_recording(tmp_path / "api.vt", [Span(1, 0, "cast", 0, 100 * MS)], program="api")
    child = Span(2, 1, "serve", 2000 * MS, 2080 * MS)
    ahead = write_recording(tmp_path / "ahead.vt", [child], host="vm2")
    assert [each["skew_ns"] for each in show(BASE, api, ahead)["processes"]] == [0, -1980 * MS]
    assert "are moved back by 1.98 s" in show(BASE, api, ahead)["notes"][0]
    assert [each["skew_ns"] for each in show(BASE, api, write_log(tmp_path / "x.log", [child]))["processes"]] == [0, 0]
    early = write_log(tmp_path / "early.log", [Span(2, 1, "serve", 0, MS)])
    late = write_recording(tmp_path / "late.vt", [Span(1, 0, "cast", 500 * MS, 600 * MS)], program="api")
    assert [each["skew_ns"] for each in show(BASE, late, early)["processes"]] == [0, 500 * MS]


def test_hostile_texts(tmp_path):
    evil = "\033[31m</script>\n\"quoted\\"
    path = write_recording(tmp_path / "x.vt", [Span(1, 0, evil, 0, MS, {"service": evil, "db.statement": evil},
                                                    {"etype": evil, "message": evil}, True)])
    text = venturi("trace", "show", BASE, path).stdout
    assert "\033" not in text and text.count("\n") == 5
    assert "\033" not in venturi("trace", "list", path).stdout
    assert show(BASE, path)["spans"][0]["name"] == evil
    assert "\033" not in venturi("trace", "show", BASE, path, "--dot").stdout


def test_dot(services):
    text = venturi("trace", "show", BASE, *services, "--dot").stdout
    assert text.startswith('digraph {\n\t0 [label="total - 50.0 ms"]\n\t1 [label="api:wsgi - 50.0 ms\\nGET /v1/tasks" penwidth=2]\n')
    assert text.count(" -> ") == 6 and "\t2 -> 3\n" in text and text.endswith("}\n")
    if shutil.which("dot"):
        subprocess.run(["dot", "-Tsvg"], input=text, check=True, text=True, stdout=subprocess.DEVNULL)


def test_out(services, tmp_path):
    out = tmp_path / "out.json"
    done = venturi("trace", "show", BASE, *services, "--json", "--out", out)
    assert done.stdout == "" and json.loads(out.read_text())["trace"] == BASE
    assert "already exists" in venturi("trace", "show", BASE, *services, "--json", "--out", out, check=2).stderr
    venturi("trace", "show", BASE, *services, "--dot", "--out", out, "--force")
    assert out.read_text().startswith("digraph")
    assert "cannot be the output too" in venturi("trace", "show", BASE, *services, "--out", services[0], "-f", check=2).stderr
    assert venturi("trace", "show", BASE, *services, "--dot", "--json", check=2).stderr == (
        "venturi trace: one of --json, --compat, --html and --dot\n")


def test_deep_trace(tmp_path):
    """Deeper than any stack or reader of JSON allows."""
    count = 3000
    path = write_recording(tmp_path / "x.vt", [Span(i, i - 1, "a", i, 2 * count - i) for i in range(1, count)])
    trace = show(BASE, path)
    assert trace["spans"][-1]["depth"] == count - 2 and all(each["critical"] for each in trace["spans"])
    assert "(2998) a" in venturi("trace", "show", BASE, path).stdout
    assert "use --json" in venturi("trace", "show", BASE, path, "--compat", check=2).stderr
