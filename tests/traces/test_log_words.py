"""What report and info say of trace logs, of many traces, and of what did not end."""
import json

from trace_files import BASE, Span, span_id, venturi, write_log, write_recording

MS = 10**6


def many(count):
    return [Span(i, 0, "request", i * 100 * MS, i * 100 * MS + (90 if i == 3 else i) * MS, base=span_id(500 + i)) for i in range(1, count + 1)]


def test_the_slowest_of_many_traces_is_a_finding(tmp_path):
    for path in (write_recording(tmp_path / "x.vt", many(9)), write_log(tmp_path / "x.log", many(9))):
        text = " ".join(venturi("report", path).stdout.split())
        assert "The slowest of 9 traces, %s (request), took 90.0 ms (the middle one 6.00 ms)." % span_id(503)[:8] in text
        found = json.loads(venturi("report", "--json", path).stdout)["findings"]
        assert [each["evidence"]["name"] for each in found if each["kind"] == "slow-trace"] == [span_id(503)]


def test_unfinished_rows_are_marked(tmp_path):
    log = write_log(tmp_path / "x.log", [Span(1, 0, "outer", 0, 50 * MS), Span(2, 1, "hung", 10 * MS, None)])
    lines = venturi("report", log).stdout.splitlines()
    rows = {line.split()[-1]: line.split()[0] for line in lines if line.endswith((" outer", " hung"))}
    assert rows == {"outer": "1", "hung": "+1"}
    assert "+ some of these did not end: they count until the end of what was recorded" in lines
    assert "+ some" not in venturi("report", write_log(tmp_path / "y.log", [Span(1, 0, "outer", 0, 50 * MS)])).stdout


def test_info_claims_nothing_that_a_log_does_not_tell(tmp_path):
    log = write_log(tmp_path / "x.log", [Span(1, 0, "outer", 0, 50 * MS)])
    facts = dict(line.split(None, 1) for line in venturi("info", log).stdout.splitlines()[:9])
    assert facts["host"] == "not known: imported from a trace log"
    assert facts["clock"] == "not known: times are those that the imported file tells"
    assert facts["size"].endswith(" as a recording")
    assert "clock not known" in " ".join(venturi("report", log).stdout.split())
    venturi("import", log, "-o", tmp_path / "y.vt")
    assert "trace log" in venturi("info", tmp_path / "y.vt").stdout and "an event" in venturi("info", tmp_path / "y.vt").stdout
    assert venturi("trace", "list", "--errors", tmp_path / "y.vt").stdout.endswith("a log does not tell errors\n")


def test_report_of_several_names_merge(tmp_path):
    log = write_log(tmp_path / "x.log", [Span(1, 0, "outer", 0, 50 * MS)])
    done = venturi("report", log, log, check=2)
    assert done.stderr == "venturi report: one FILE (venturi merge makes one of several), what is '%s'?\n" % log


def test_merged_logs_stay_logs(tmp_path):
    one = write_log(tmp_path / "one.log", [Span(1, 0, "outer", 0, 50 * MS)])
    other = write_log(tmp_path / "other.log", [Span(2, 1, "inner", 10 * MS, 40 * MS)])
    venturi("merge", one, other, "-o", tmp_path / "all.vt")
    trace = json.loads(venturi("trace", "show", BASE, tmp_path / "all.vt", "--json").stdout)
    assert (trace["errors"], trace["hosts"], trace["services"]) == (None, 0, 2)
