"""venturi trace list: one line a trace, of recordings and logs, and what is said where there is none."""
import json

import pytest
from trace_files import BASE, Span, span_id, venturi, write_log, write_recording

OTHER = "ffffffff-97b1-4f5d-8d36-52e1b7c6a902"
MS = 10**6


@pytest.fixture
def files(tmp_path):
    write_recording(tmp_path / "api.vt", [
        Span(1, 0, "wsgi", 0, 50 * MS, {"service": "api"}),
        Span(2, 1, "rpc", 10 * MS, 40 * MS)])
    write_recording(tmp_path / "engine.vt", [
        Span(3, 2, "workflow-start", 15 * MS, 30 * MS, {"service": "engine"}, {"etype": "KeyError", "message": "x"}, True)],
        host="vm2")
    write_log(tmp_path / "mistral.log", [Span(1, 0, "db", 2000 * MS, 2003 * MS, base=OTHER)])
    return tmp_path


def test_one_line_a_trace(files):
    lines = venturi("trace", "list", files / "mistral.log", files / "engine.vt", files / "api.vt").stdout.splitlines()
    assert [line.split() for line in lines] == [
        ["Trace", "When", "(UTC)", "Time", "Spans", "Errors", "Root", "Services"],
        [BASE, "2026-11-15", "08:04:25", "50.0ms", "3", "1", "wsgi", "api,", "engine"],
        [OTHER, "2026-11-15", "08:04:27", "3.00ms", "1", "-", "db", "mistral"]]


def test_fits_80_columns_with_ids_that_show_takes(files):
    lines = venturi("trace", "list", files / "api.vt", files / "mistral.log", columns=80).stdout.splitlines()
    assert all(len(line) <= 80 for line in lines), lines
    short = lines[2].split()[0]
    assert len(short) == 8 and OTHER.startswith(short)
    assert OTHER in venturi("trace", "show", short, files / "api.vt", files / "mistral.log").stdout


def test_errors_only(files):
    done = venturi("trace", "list", "--errors", files / "engine.vt", files / "mistral.log")
    assert BASE in done.stdout and OTHER not in done.stdout
    assert venturi("trace", "list", "--errors", files / "api.vt").stdout == "no trace has an error\n"


def test_a_log_does_not_tell_errors(files):
    assert venturi("trace", "list", "--errors", files / "mistral.log").stdout == (
        "no trace has an error that is known: a log does not tell errors\n")
    assert venturi("trace", "list", "--errors", files / "mistral.log", files / "api.vt").stdout == (
        "no trace has an error (of 1 there are only logs, which do not tell errors)\n")
    listed = json.loads(venturi("trace", "list", "--json", files / "mistral.log", files / "api.vt").stdout)["traces"]
    assert [each["errors"] for each in listed] == [0, None]


@pytest.mark.parametrize("sort, order", [("begin", "abc"), ("time", "bca"), ("spans", "cab"), ("errors", "bac")])
def test_sort_and_limit(tmp_path, sort, order):
    bases = dict(zip("abc", (span_id(101), span_id(102), span_id(103))))
    write_recording(tmp_path / "x.vt", [
        Span(1, 0, "a", 0, 5 * MS, base=bases["a"]),
        Span(2, 0, "b", 10 * MS, 40 * MS, failed=True, base=bases["b"]),
        Span(3, 0, "c", 20 * MS, 45 * MS, base=bases["c"]), Span(4, 3, "c", 21 * MS, 22 * MS, base=bases["c"])])

    def roots(*words):
        done = venturi("trace", "list", "--json", "--sort", sort, *words, tmp_path / "x.vt")
        return "".join(each["root"] for each in json.loads(done.stdout)["traces"])

    assert roots() == order
    assert roots("-n", "2") == (order[1:] if sort == "begin" else order[:2])
    assert roots("--limit", "9") == order
    assert "102 " not in venturi("trace", "list", tmp_path / "x.vt", "-n1").stdout
    assert "--limit: '0' is not a number of traces" in venturi("trace", "list", "-n", "0", tmp_path / "x.vt", check=2).stderr
    shown = json.loads(venturi("trace", "show", "slowest", tmp_path / "x.vt", "--json").stdout)
    assert shown["trace"] == bases["b"]


@pytest.mark.parametrize("columns", [60, 72, 80, 100])
@pytest.mark.parametrize("services", [("api",), ("identity-management", "workflow-engine-of-the-whole-cloud")])
def test_one_line_a_trace_however_narrow(tmp_path, columns, services):
    spans = [Span(i, 0, "workflow-handler-start-workflow-with-all-its-input", i * MS, (i + 1) * MS, base=span_id(7000 + i))
             for i in range(1, 5)]
    files = [write_recording(tmp_path / ("%s.vt" % name), spans[i::len(services)], program=name, host=name)
             for i, name in enumerate(services)]
    lines = venturi("trace", "list", *files, columns=columns).stdout.splitlines()
    if len(services) == 1:
        assert lines.pop(0) == "all of service api"
    assert len(lines) == 5 and all(len(line) <= columns for line in lines), lines


def test_json(files):
    listed = json.loads(venturi("trace", "list", "--json", files / "api.vt", files / "engine.vt").stdout)
    assert listed == {"traces": [{
        "trace": BASE, "begin": "2026-11-15T08:04:25.000000000Z", "begin_ns": 1794729865 * 10**9, "duration_ns": 50 * MS,
        "spans": 3, "errors": 1, "unfinished": 0, "orphans": 0, "services": 2, "hosts": 2, "service": "api",
        "service_names": ["api", "engine"], "root": "wsgi"}]}


def test_same_beginnings_are_told_apart(tmp_path):
    near = BASE[:-1] + "2"
    write_log(tmp_path / "x.log", [Span(1, 0, "a", 0, MS), Span(2, 0, "b", 5 * MS, 6 * MS, base=near)])
    lines = venturi("trace", "list", tmp_path / "x.log", columns=80).stdout.splitlines()
    assert BASE in "".join(lines) and near in "".join(lines) and len(lines) == 4
    done = venturi("trace", "show", BASE[:12], tmp_path / "x.log", check=2)
    assert done.stderr == "venturi trace: %s: 2 traces begin so, say more of the id\n" % BASE[:12]


@pytest.mark.parametrize("words, message", [
    ((), "list, show or request? See venturi trace --help"),
    (("lst",), "lst: list, show or request? See venturi trace --help"),
    (("list",), "list: which FILEs? Recordings or trace logs"),
    (("list", "--dot", "x.vt"), "list: takes --errors, --sort, --limit and --json only; the rest is for show"),
    (("list", "-"), "-: a recording is read from a file, not from standard input"),
    (("list", "/"), "/: is a folder, not a recording (.vt)"),
    (("list", "/dev/null"), "/dev/null: is not a regular file"),
])
def test_wrong_words_are_one_line(words, message):
    assert venturi("trace", *words, check=2).stderr == "venturi trace: %s\n" % message


def test_files_without_traces(tmp_path):
    (tmp_path / "x.txt").write_text("no log\n" * 10)
    done = venturi("trace", "list", tmp_path / "x.txt", check=2)
    assert done.stderr == "venturi trace: %s: not a Venturi recording (it does not begin like one)\n" % (tmp_path / "x.txt")
    write_recording(tmp_path / "x.vt", [Span(1, 0, "a", 0, MS)])
    data = (tmp_path / "x.vt").read_bytes()
    (tmp_path / "cut.vt").write_bytes(data[:100])
    assert venturi("trace", "list", tmp_path / "cut.vt", check=2).stderr.count("\n") == 1


def test_help_of_actions(tmp_path):
    text = venturi("trace", "--help").stdout
    assert venturi("trace", "list", "--help").stdout == text
    assert venturi("trace", "show", "-h").stdout == text
    assert text.count("\n") <= 24


def test_many_traces_in_order(tmp_path):
    spans = [Span(i, 0, "a", i * MS, i * MS + 5, base=span_id(7000 + i)) for i in range(300, 0, -1)]
    write_recording(tmp_path / "x.vt", spans)
    listed = json.loads(venturi("trace", "list", "--json", tmp_path / "x.vt").stdout)["traces"]
    assert [each["trace"] for each in listed] == [span_id(7000 + i) for i in range(1, 301)]
