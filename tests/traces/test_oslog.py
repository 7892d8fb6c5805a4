"""Trace logs of osprofiler as recordings: what becomes of each line, and commands that take a log as it is."""
import gzip
import json
import os
import subprocess
import sys

import pytest
from trace_files import BASE, TOP, Span, show, span_id, start_line, stop_line, venturi, write_log, write_recording

MS = 10**6
SECOND = 10**9


def import_log(tmp_path, text):
    """What it is as JSON, and what the import said; a second reader finds nothing wrong with the recording."""
    log, out = tmp_path / "service.log", tmp_path / "service.vt"
    log.write_bytes(text if isinstance(text, bytes) else text.encode())
    done = venturi("import", log, "-o", out, "--force")
    reader = os.path.join(TOP, "tests", "reader", "vtread.py")
    checked = subprocess.run([sys.executable, reader, str(out), "--check"], stdout=subprocess.PIPE, text=True)
    assert checked.stdout == "", checked.stdout
    return show("last", out), done.stderr


def test_nested_spans(tmp_path):
    outer, inner = Span(1, 0, "engine-start", 0, 2 * SECOND), Span(2, 1, "my name with blanks", 10 * MS, 600 * MS)
    trace, said = import_log(tmp_path, start_line(outer) + start_line(inner) + stop_line(inner) + stop_line(outer))
    assert [(each["name"], each["depth"], each["begin_ns"], each["duration_ns"], each["self_ns"]) for each in trace["spans"]] == [
        ("engine-start", 0, 0, 2 * SECOND, 1410 * MS), ("my name with blanks", 1, 10 * MS, 590 * MS, 590 * MS)]
    assert trace["processes"] == [{"service": "service", "project": "", "host": "", "pid": 0,
                                   "file": str(tmp_path / "service.vt"), "skew_ns": 0}]
    assert "warning" not in said and trace["begin"] == "2026-11-15T08:04:25.000000000Z"


def test_starts_and_stops_alone(tmp_path):
    """A span that never stopped lasts as long as its trace is known; one whose start is elsewhere has its duration."""
    hung, late, other = Span(1, 0, "hung", 0, 1), Span(2, 1, "late", 100 * MS, 400 * MS), Span(3, 0, "x", SECOND, 9 * SECOND,
                                                                                           base=span_id(77))
    text = start_line(hung) + stop_line(late) + start_line(other) + stop_line(other)
    trace, said = import_log(tmp_path, text.replace(span_id(77), BASE.replace("0c2f", "0c2e")))
    trace = show(BASE, tmp_path / "service.vt")
    assert [(each["name"], each["begin_ns"], each["duration_ns"], each["finished"]) for each in trace["spans"]] == [
        ("hung", 0, 400 * MS, False), ("late", 100 * MS, 300 * MS, True)]
    assert "stops without a start: 1; starts without a stop: 1" in said


def test_facts(tmp_path):
    span = Span(1, 0, "db", 0, 10 * MS)
    start = {"statement": "SELECT \"é\" -- x-stop\n", "params": {"a": [1, 2], "n": 3, "f": 0.5, "none": None, "yes": True}}
    stop = {"original_exception": "OperationalError('gone')", "rows": 7}
    trace, _ = import_log(tmp_path, start_line(span, " " + json.dumps(start)) + stop_line(span, " " + json.dumps(stop)))
    (found,) = trace["spans"]
    assert found["attrs"] == {"db.statement": start["statement"], "db.params.a": "[1, 2]", "db.params.n": 3, "db.params.f": 0.5,
                              "db.params.yes": "true", "db.original_exception": "OperationalError('gone')", "db.rows": 7}
    assert found["error"] == {"type": "", "message": "OperationalError('gone')"}
    assert "SELECT" in venturi("trace", "show", BASE, tmp_path / "service.log").stdout


@pytest.mark.parametrize("facts", ["{", '{"a": ', '{"a": {"b": {"c"', "{" * 5000, '{"a": "\\ud800"}', '{"a": nul}', "{}", '{"": ""}'])
def test_broken_facts(tmp_path, facts):
    span = Span(1, 0, "db", 0, 10 * MS)
    trace, _ = import_log(tmp_path, start_line(span, " " + facts) + stop_line(span))
    assert [each["name"] for each in trace["spans"]] == ["db"]


def test_lines_that_are_none(tmp_path):
    span = Span(1, 0, "a", 0, 10 * MS)
    odd = ["\n", "Traceback (most recent call last):\n", start_line(span)[:40] + "\n",
           start_line(span).replace("2026-11-15", "2026-99-15"), stop_line(span).replace("0.01", "1e300"), "\x00\xff\n"]
    trace, said = import_log(tmp_path, "".join(odd) + start_line(span) + stop_line(span))
    assert trace["span_count"] == 1
    assert "lines not used: 6 of 8; the first: line 1 is blank" in said


def test_negative_duration(tmp_path):
    """The clock was set back: the timestamps are all there is."""
    span = Span(1, 0, "a", 0, 10 * MS)
    trace, _ = import_log(tmp_path, start_line(span) + stop_line(span).replace(" 0.01 ", " -3.5 "))
    assert trace["spans"][0]["duration_ns"] == 10 * MS


def test_rotated_files_together(tmp_path):
    outer, inner = Span(1, 0, "outer", 0, 100 * MS), Span(2, 1, "inner", 10 * MS, 20 * MS)
    (tmp_path / "x.log.1").write_text(start_line(outer) + start_line(inner))
    (tmp_path / "x.log").write_text(stop_line(inner) + stop_line(outer))
    trace = show(BASE, tmp_path / "x.log.1", tmp_path / "x.log")
    assert [(each["name"], each["begin_ns"], each["duration_ns"]) for each in trace["spans"]] == [
        ("outer", 0, 100 * MS), ("inner", 10 * MS, 10 * MS)]
    assert trace["unfinished"] == 0 and trace["services"] == 1


@pytest.fixture
def log(tmp_path):
    return write_log(tmp_path / "mistral.log", [
        Span(1, 0, "engine-start", 0, 100 * MS), Span(2, 1, "task-run", 10 * MS, 60 * MS), Span(3, 2, "db", 20 * MS, 30 * MS)])


def test_rank_of_log_and_recording_agree(log, tmp_path):
    venturi("import", log, "-o", tmp_path / "x.vt")
    ours, theirs = (json.loads(venturi("rank", "--wide", "--json", each).stdout) for each in (tmp_path / "x.vt", log))
    for key in ("total_s", "self_s", "count", "max_s", "min_s"):
        assert [row[key] for row in ours["names"]] == pytest.approx([row[key] for row in theirs["names"]]), key
    assert [row["self_s"] for row in ours["names"]] == pytest.approx([0.05, 0.04, 0.01])


def test_self_time_is_without_children_elsewhere(tmp_path):
    """A child on another thread or process of the recording takes its parent's own time, too."""
    path = write_recording(tmp_path / "x.vt", [Span(1, 0, "a", 0, 100 * MS), Span(2, 1, "b", 10 * MS, 60 * MS),
                                               Span(3, 1, "b", 40 * MS, 80 * MS)])
    rows = {row["name"]: row for row in json.loads(venturi("rank", "--wide", "--json", path).stdout)["names"]}
    assert rows["a"]["self_s"] == pytest.approx(0.03) and rows["b"]["self_s"] == pytest.approx(0.09)


def test_commands_take_a_log(log, tmp_path):
    assert "engine-start" in venturi("report", log).stdout
    assert json.loads(venturi("report", "--json", log).stdout)["file"] == str(log)
    assert "task-run" in venturi("query", log, "SELECT DISTINCT name FROM spans").stdout
    assert str(log) in venturi("info", log).stdout
    assert "engine-start" in venturi("export", "-f", "jsonl", log).stdout
    venturi("report", log, "-o", tmp_path / "page.html")
    assert (tmp_path / "page.html").stat().st_size > 10000


def test_messages_name_the_file(tmp_path):
    (tmp_path / "x.txt").write_text("no log")
    for command in ("report", "info"):
        assert venturi(command, tmp_path / "x.txt", check=2).stderr == "venturi %s: %s: not a Venturi recording (it does not begin like one)\n" % (
            command, tmp_path / "x.txt")


def test_no_temporary_file_stays(log, tmp_path, monkeypatch):
    place = tmp_path / "tmp"
    place.mkdir()
    monkeypatch.setenv("TMPDIR", str(place))
    venturi("trace", "list", log)
    venturi("report", log)
    assert os.listdir(place) == []
    monkeypatch.setenv("TMPDIR", str(tmp_path / "none"))
    assert "cannot make a folder" in venturi("trace", "list", log, check=2).stderr


def test_total_counts_a_span_within_its_like_once(tmp_path):
    """However they nest: directly, with others between them, side by side, in another trace."""
    spans = [Span(1, 0, "walk", 0, 100 * MS), Span(2, 1, "walk", 10 * MS, 50 * MS), Span(3, 2, "other", 10 * MS, 40 * MS),
             Span(4, 3, "walk", 15 * MS, 35 * MS), Span(5, 1, "walk", 60 * MS, 90 * MS), Span(6, 0, "walk", 200 * MS, 207 * MS, base=span_id(99))]
    write_recording(tmp_path / "a.vt", spans)

    def totals():
        text = venturi("query", tmp_path / "a.vt", "SELECT name, count, total_ns, self_ns FROM stats ORDER BY name", "--json").stdout
        return {row["name"]: (row["count"], row["total_ns"] // MS, row["self_ns"] // MS) for row in json.loads(text)}
    assert totals() == {"walk": (5, 107, 30 + 10 + 20 + 30 + 7), "other": (1, 30, 10)}


def test_flame_of_traces(log, tmp_path):
    """Frames are as wide as what is under them, also where that ran at the same time."""
    drawn = json.loads(venturi("flame", "--json", "--min", "0", log).stdout)
    assert drawn["of"] == "spans" and drawn["total_ns"] == 100 * MS
    frames = {frame["name"]: frame for frame in drawn["frames"]}
    assert [frames[name]["total_ns"] // MS for name in ("engine-start", "task-run", "db")] == [100, 50, 10]
    assert "task-run" in venturi("flame", log).stdout
    assert "no calls or spans" in venturi("flame", "--threads", log, check=2).stderr, "a trace is of no one thread"
    path = write_recording(tmp_path / "x.vt", [Span(1, 0, "a", 0, 10 * MS), Span(2, 1, "b", 0, 10 * MS), Span(3, 1, "b", 0, 30 * MS),
                                               Span(4, 0, "a", 40 * MS, 45 * MS)])
    drawn = json.loads(venturi("flame", "--json", "--min", "0", path).stdout)
    assert {frame["name"]: frame["total_ns"] // MS for frame in drawn["frames"]} == {"a": 45, "b": 40} and drawn["total_ns"] == 45 * MS


def test_diff_of_logs(log, tmp_path):
    slow = write_log(tmp_path / "slow.log", [
        Span(1, 0, "engine-start", 0, 150 * MS), Span(2, 1, "task-run", 10 * MS, 60 * MS), Span(3, 2, "db", 20 * MS, 30 * MS)])
    assert "engine-start" in venturi("diff", log, slow).stdout


def test_stats_of_a_log(log):
    assert venturi("stats", log, check=2).stderr == "venturi stats: %s: holds no calls of functions (venturi report shows its spans)\n" % log


def test_merge_of_logs(log, tmp_path):
    other = write_log(tmp_path / "other.log", [Span(4, 1, "elsewhere", 70 * MS, 80 * MS)])
    venturi("merge", log, other, "-o", tmp_path / "all.vt")
    assert [span["name"] for span in show("last", tmp_path / "all.vt")["spans"]] == ["engine-start", "task-run", "db", "elsewhere"]


def test_one_wrong_date_does_not_spoil_a_log(tmp_path):
    good, bad = Span(1, 0, "good", 0, MS), Span(2, 0, "bad", 2 * MS, 3 * MS)
    wrong = [line.replace("2026-11-15", "1970-01-01") for line in (start_line(bad), stop_line(bad))]
    path = tmp_path / "x.log"
    path.write_text(start_line(good) + stop_line(good) + "".join(wrong))
    done = venturi("trace", "show", BASE, path, "--json")
    assert [each["name"] for each in json.loads(done.stdout)["spans"]] == ["good"]
    assert done.stderr == ("venturi trace: warning: %s: spans before 1970 or many years from the others, not used: 1\n" % path)
    path.write_text(stop_line(bad).replace("2026-11-15T08:04", "1970-01-01T00:00").replace(" 0.001 ", " 100.0 "))
    assert venturi("trace", "list", path, check=2).stderr == "venturi trace: %s: all of its times are before 1970\n" % path


def test_compressed_logs_say_so(tmp_path):
    path = tmp_path / "x.log.gz"
    path.write_bytes(gzip.compress(start_line(Span(1, 0, "a", 0, MS)).encode()))
    for words in (("trace", "list", path), ("report", path), ("import", path, "-o", tmp_path / "x.vt")):
        assert venturi(*words, check=2).stderr.endswith("%s: compressed with gzip: gunzip it first\n" % path), words


def test_zero_bytes_are_seen(tmp_path):
    path = tmp_path / "x.log"
    path.write_bytes(start_line(Span(1, 0, "aNULb", 0, MS)).encode().replace(b"NUL", bytes(1)))
    assert show(BASE, path)["spans"][0]["name"] == "a\u2400b"


def test_broken_facts_are_counted(tmp_path):
    span = Span(1, 0, "a", 0, MS)
    path = tmp_path / "x.log"
    path.write_text(start_line(span, ' {"statement": "SELECT 1"}') + stop_line(span, ' {"result": "cut o'))
    done = venturi("trace", "show", BASE, path, "--json")
    assert done.stderr == "venturi trace: warning: %s: lines with broken JSON, facts missing: 1\n" % path
    assert json.loads(done.stdout)["spans"][0]["attrs"] == {"db.statement": "SELECT 1"}


def test_facts_of_the_end_of_a_span_that_took_no_time(tmp_path):
    span = Span(1, 0, "a", 0, 0)
    path = tmp_path / "x.log"
    path.write_text(start_line(span, ' {"statement": "SELECT 1"}') + stop_line(span, ' {"original_exception": "no"}'))
    info = json.loads(venturi("trace", "show", BASE, path, "--compat").stdout)["children"][0]["info"]
    assert info["meta.raw_payload.a-start"]["info"] == {"db": {"statement": "SELECT 1"}, "host": None}
    assert info["meta.raw_payload.a-stop"]["info"] == {"db": {"original_exception": "no"}, "host": None}
    assert show(BASE, path)["spans"][0]["error"]["message"] == "no"
