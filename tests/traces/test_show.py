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
    assert lines[7].endswith("    workflow-start") and lines[8].strip() == "! KeyError: 'x'"
    assert all(len(line) <= 80 for line in lines), lines


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
    assert venturi("trace", "show", check=2).stderr == "venturi trace: show: which trace? ID, last or slowest, then FILE...\n"
    assert venturi("trace", "show", BASE, check=2).stderr == (
        "venturi trace: show %s: in which FILEs? Recordings or trace logs\n" % BASE)


def test_missing_parent(services):
    trace = show(BASE, services[1])
    assert trace["orphans"] == 2 and trace["spans"][0]["orphan"] and trace["spans"][0]["parent"] == span_id(2)
    text = venturi("trace", "show", BASE, services[1]).stdout
    assert "(its parent %s is missing)" % span_id(2) in text
    assert "note: spans whose parent is in none of the files: 2; give those of the other services too\n" in text


def test_a_span_in_a_recording_and_in_a_log_is_the_same_in_any_order(tmp_path):
    spans = [Span(1, 0, "wsgi", 0, 50 * MS, {"service": "api", "request.path": "/x"}, {"etype": "KeyError", "message": "'x'"}, True),
             Span(2, 1, "db", 10 * MS, None),
             Span(3, 1, "late", 45 * MS, 48 * MS)]
    api = write_recording(tmp_path / "api.vt", spans[:2])
    spans[1].end = 30 * MS
    log = write_log(tmp_path / "zz.log", spans)
    one, other = show(BASE, api, log), show(BASE, log, api)
    for trace in (one, other):
        assert trace["errors"] == 1 and trace["unfinished"] == 0 and trace["hosts"] == 1
        for span in trace["spans"]:
            span["service"] = trace["processes"][span.pop("process")]["service"]
        assert [span["service"] for span in trace["spans"]] == ["api", "api", "zz"]
        assert trace["spans"][0]["attrs"]["request.path"] == "/x" and trace["spans"][0]["error"]["type"] == "KeyError"
        assert [span["duration_ns"] for span in trace["spans"]] == [50 * MS, 20 * MS, 3 * MS]
        del trace["processes"]
    assert one == other
    assert venturi("trace", "list", api, log).stdout == venturi("trace", "list", log, api).stdout


def test_a_log_does_not_tell_errors_and_hosts(tmp_path):
    log = write_log(tmp_path / "x.log", [Span(1, 0, "a", 0, 50 * MS)])
    head = venturi("trace", "show", BASE, log).stdout.splitlines()[1]
    assert head == "50.0 ms, 1 span, 1 service, host not known, errors not known (a log); * is on the critical path"
    trace = show(BASE, log)
    assert trace["errors"] is None and trace["hosts"] == 0


def test_depth_on_a_narrow_terminal(tmp_path):
    levels = 40
    log = write_log(tmp_path / "x.log", [Span(i, i - 1, "level-of-the-workflow-%d" % i, i * MS, 200 * MS) for i in range(1, levels)])
    lines = venturi("trace", "show", BASE, log, columns=80).stdout.splitlines()
    assert all(len(line) <= 80 for line in lines), lines
    assert "service x" in " ".join(lines[1:3]) and "Service" not in "".join(lines)
    labels = [line[26:].rstrip() for line in lines[lines.index("") + 2:]]
    marks = [len(label) - len(label.lstrip()) + (int(label.split()[0][1:-1]) if "(" in label else 0) for label in labels]
    assert len(marks) == levels - 1 and len(set(marks)) == len(marks), labels


def test_attrs_below_their_spans(services):
    lines = [line.split("|", 1)[1].strip() for line in venturi("trace", "show", BASE, *services, "-v").stdout.splitlines() if "|" in line]
    assert lines[:4] == ["process 100 on vm1, thread main", "service: api", "request.method: GET", "request.path: /v1/tasks"]
    assert "db.statement: SELECT 1" in lines
    assert "|" not in venturi("trace", "show", BASE, *services).stdout


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
    assert trace["notes"] == ["times of late on vm2 are moved forward by 3.00 s, so that no span begins before its parent: "
                              "its clock differs"]
    assert trace["spans"][1]["begin_ns"] == 0 and trace["duration_ns"] == 100 * MS
    same = write_recording(tmp_path / "same.vt", [Span(2, 1, "serve", 2000 * MS, 2080 * MS)], program="late")
    assert [each["skew_ns"] for each in show(BASE, api, same)["processes"]] == [0, 0]


def test_work_that_was_handed_over(tmp_path):
    """A child that begins after its parent's end, or ends after it, was handed over: only one that begins before its parent tells of clocks."""
    api = write_recording(tmp_path / "api.vt", [Span(1, 0, "cast", 0, 100 * MS)], program="api")
    child = Span(2, 1, "serve", 2000 * MS, 2080 * MS)
    ahead = write_recording(tmp_path / "ahead.vt", [child], host="vm2")
    assert [each["skew_ns"] for each in show(BASE, api, ahead)["processes"]] == [0, 0]
    assert show(BASE, api, ahead)["notes"] == [] and show(BASE, api, ahead)["duration_ns"] == 2080 * MS
    assert [each["skew_ns"] for each in show(BASE, api, write_log(tmp_path / "x.log", [child]))["processes"]] == [0, 0]
    early = write_log(tmp_path / "early.log", [Span(2, 1, "serve", 0, MS)])
    late = write_recording(tmp_path / "late.vt", [Span(1, 0, "cast", 500 * MS, 600 * MS)], program="api")
    assert [each["skew_ns"] for each in show(BASE, late, early)["processes"]] == [0, 500 * MS]


def test_clocks_are_the_same_in_every_trace(tmp_path):
    """One trace tells how clocks differ, and all of them are shown so: by the list and one by one."""
    other, third = span_id(901), span_id(902)
    api = write_recording(tmp_path / "api.vt", [Span(1, 0, "call", 500 * MS, 600 * MS), Span(3, 0, "cast", 1000 * MS, 1010 * MS, base=other)])
    engine = write_recording(tmp_path / "engine.vt", [
        Span(2, 1, "serve", 200 * MS, 250 * MS), Span(4, 3, "serve", 900 * MS, 950 * MS, base=other),
        Span(5, 0, "alone", 2000 * MS, 2001 * MS, base=third)], host="vm2")
    listed = {each["trace"]: each for each in json.loads(venturi("trace", "list", api, engine, "--json").stdout)["traces"]}
    for base, skews in ((BASE, [0, 300 * MS]), (other, [0, 300 * MS]), (third, [300 * MS])):
        trace = show(base, api, engine)
        assert [each["skew_ns"] for each in trace["processes"]] == skews
        assert (trace["begin_ns"], trace["duration_ns"]) == (listed[base]["begin_ns"], listed[base]["duration_ns"])


def test_ids_are_all_of_their_bits(tmp_path):
    """UUIDs of version 1 differ in their first half only."""
    base, *ids = ("%08x-e1a9-11f1-bad9-02fc00000001" % (0xab0dc26a + i) for i in range(5))
    spans = [Span(1, 0, "root", 0, 50 * MS, base=base), Span(2, 0, "a", 10 * MS, 20 * MS, base=base),
             Span(3, 0, "b", 12 * MS, 15 * MS, base=base), Span(4, 0, "lost", 40 * MS, 45 * MS, base=base)]
    for span, number in zip(spans, ids):
        span.id = number
    spans[1].parent, spans[2].parent, spans[3].parent = ids[0], ids[1], "12345678-e1a9-11f1-bad9-02fc00000001"
    for path in (write_log(tmp_path / "x.log", spans), write_recording(tmp_path / "x.vt", spans)):
        trace = show(base, path)
        assert names(trace) == ["root", "  a", "    b", "lost"] and trace["orphans"] == 1 and trace["notes"][0].startswith("spans whose")
    for total, name in (("0.050000", "root"), ("0.010000", "a"), ("0.003000", "b")):
        assert any(line.split()[0] == total and line.split()[-1] == name
                   for line in venturi("rank", tmp_path / "x.vt").stdout.splitlines()), name


def test_parents_that_are_no_parents(tmp_path):
    path = write_log(tmp_path / "x.log", [Span(1, 0, "root", 0, 50 * MS), Span(2, 2, "self", 10 * MS, 20 * MS),
                                          Span(3, 4, "one", 20 * MS, 30 * MS), Span(4, 3, "two", 21 * MS, 22 * MS)])
    text = venturi("trace", "show", BASE, path).stdout
    assert "missing" not in text and text.count("(it is said to be inside of itself)") == 2
    assert show(BASE, path)["notes"] == [
        "spans that name themselves or a span inside of them as their parent: 2; their ids are wrong"]


def test_what_a_process_is_called(tmp_path):
    """Only spans that enter it tell, and the first of them; inside the same keys are facts like any other."""
    path = write_recording(tmp_path / "x.vt", [
        Span(1, 0, "wsgi", 0, 50 * MS, {"service": "api", "project": "p", "host": "h"}),
        Span(2, 1, "lookup", 10 * MS, 20 * MS, {"service": "dns", "project": "q", "host": "elsewhere"}),
        Span(3, 0, "wsgi", 60 * MS, 70 * MS, {"service": "second", "project": "r"})])
    process = show(BASE, path)["processes"][0]
    assert (process["service"], process["project"], process["host"]) == ("api", "p", "h")


def test_facts_that_come_twice(tmp_path):
    many = {"k%d" % i: i for i in range(40)}
    path = write_recording(tmp_path / "x.vt", [Span(1, 0, "a", 0, MS, {"n": 1, "m": 2}, {"n": 3}),
                                               Span(2, 0, "b", 0, MS, many, {"k7": "last"})])

    def once(pairs):
        assert len(dict(pairs)) == len(pairs), pairs
        return dict(pairs)

    trace = json.loads(venturi("trace", "show", BASE, path, "--json").stdout, object_pairs_hook=once)
    assert trace["spans"][0]["attrs"] == {"m": 2, "n": 3}
    assert trace["spans"][1]["attrs"] == {**many, "k7": "last"}


def test_spans_whose_end_was_lost(tmp_path):
    """They are not known to have lasted longer than until the gap: 50 of them do not add up to minutes."""
    spans = [Span(1, 0, "root", 0, 1000 * MS)]
    spans += [Span(i, 1, "lost", i * MS, None) for i in range(2, 52)]
    path = write_recording(tmp_path / "x.vt", spans, losses=[(100 * MS, 900 * MS)])
    trace = show(BASE, path)
    assert trace["unfinished"] == 50
    lost = [each for each in trace["spans"] if each["name"] == "lost"]
    assert [each["duration_ns"] for each in lost] == [(100 - i) * MS for i in range(2, 52)]
    assert not any(each["critical"] for each in lost)
    total = sum(each["duration_ns"] for each in lost)
    rows = json.loads(venturi("query", path, "select sum(duration_ns) as s, sum(not finished) as n from spans where name='lost'",
                              "--json").stdout)
    assert list(rows[0].values()) == [total, 50] if isinstance(rows, list) else total in str(rows)
    assert "not timed: 50" in venturi("rank", path).stderr
    before = write_recording(tmp_path / "y.vt", spans, losses=[(0, MS)])
    assert [each["duration_ns"] for each in show(BASE, before)["spans"] if each["name"] == "lost"][0] == 998 * MS


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
