"""The summary: figures that can be checked by hand, at 80 columns."""
import json

import pytest


def report(venturi, path, *options):
    return json.loads(venturi("report", "--json", *options, path, check=0).stdout)


def spans(venturi, path, *options):
    return {span["name"]: span for span in report(venturi, path, *options)["spans"]}


def test_figures(venturi, make_recording):
    found = spans(venturi, make_recording("--plain"), "--raw")
    # Ten of them: 75, 86, 97 … 174 microseconds.
    classify = found["classify"]
    assert classify["count"] == 10 and classify["errors"] == 1
    assert (classify["min_ns"], classify["avg_ns"], classify["max_ns"]) == (75000, 124500, 174000)
    assert classify["total_ns"] == 1245000
    assert classify["self_ns"] == 1245000 - sum(20000 + 1000 * i for i in range(10))
    assert classify["p50_ns"] == pytest.approx(119000, rel=0.01)
    assert classify["p99_ns"] == pytest.approx(174000, rel=0.01)
    assert classify["min_ns"] <= classify["p50_ns"] <= classify["p99_ns"] <= classify["max_ns"]
    assert found["request"]["unfinished"] == 1 and found["request"]["errors"] == 1
    assert found["step"]["count"] == 21 and found["step"]["unfinished"] == 1


def test_own_cost_is_subtracted(venturi, make_recording):
    raw = spans(venturi, make_recording("--plain"), "--raw")
    corrected = spans(venturi, make_recording("--plain"))
    assert corrected["features"]["total_ns"] == raw["features"]["total_ns"] - 10 * 8
    assert corrected["classify"]["total_ns"] == raw["classify"]["total_ns"] - 10 * 8 - 10 * 20
    trust = report(venturi, make_recording("--plain"))["trust"]
    assert trust["overhead_subtracted"] is True and trust["overhead_ns"] > 0
    assert report(venturi, make_recording("--plain"), "--raw")["trust"]["overhead_ns"] == trust["overhead_ns"]


def test_counters_marks_errors(venturi, make_recording):
    found = report(venturi, make_recording())
    queue, memory = found["counters"]
    assert (queue["name"], queue["unit"], queue["count"]) == ("queue", "items", 10)
    assert (queue["min"], queue["avg"], queue["max"], queue["last"]) == (1, 5.5, 10, 1)
    assert memory["last"] == 2 ** 19
    mark, = found["marks"]
    assert (mark["name"], mark["count"], mark["first_ns"]) == ("loaded", 1, 300000)
    error, = found["errors"]
    assert (error["name"], error["type"], error["message"]) == ("classify", "ValueError", "no detections in \"ZTF\"\n")
    assert found["trust"]["lost_events"] == 49


def test_text_at_80_columns(venturi, make_recording):
    text = venturi("report", make_recording(), env={"COLUMNS": "80", "TZ": "UTC"}, check=0).stdout
    lines = text.splitlines()
    assert lines[0] == "pipeline, 2027-01-15 08:00:00, 2.77 ms, 2 processes, 3 threads, 63 spans"
    assert lines[2].split() == ["Count", "Total", "Self", "Min", "Avg", "Max", "p50", "p99", "Span"]
    assert max(map(len, lines)) <= 80
    assert "   10  1.24ms  1.00ms  75.0us   124us   174us   119us   174us  classify" in lines
    assert "\n\ntrust: 49 events lost (buffers full), 2 failed, 3 unfinished,\n" in text
    assert "clock tsc 2.50 GHz" in lines[-1]
    assert "\x1b" not in text and "\x07" not in text


def test_names_are_whole_without_terminal(venturi, make_recording):
    text = venturi("report", make_recording(), check=0).stdout
    assert "x" * 10000 in text
    assert "\\x1b[31mred" in text


@pytest.mark.parametrize("key", ["total", "self", "count", "min", "avg", "max", "p50", "p99", "errors", "name"])
def test_sort(venturi, make_recording, key):
    found = report(venturi, make_recording("--plain"), "--sort", key)["spans"]
    if key == "name":
        assert [span["name"] for span in found] == sorted(span["name"] for span in found)
    else:
        field = key if key in ("count", "errors") else key + "_ns"
        values = [span[field] for span in found]
        assert values == sorted(values, reverse=True)


def test_limit(venturi, make_recording):
    path = make_recording("--plain")
    assert len(report(venturi, path, "-n", "2")["spans"]) == 2
    text = venturi("report", "-n2", path, check=0).stdout
    assert "... and 6 more, -n 0 shows all" in text
    assert "... and" not in venturi("report", "-n0", path, check=0).stdout


def test_places_of_shared_names(venturi, make_recording, tmp_path):
    merged = tmp_path / "m.vt"
    venturi("merge", make_recording("--plain"), make_recording("--plain", "--pid", 99, "--start", 1), "-o", merged, check=0)
    assert "src/pipeline.c" not in venturi("report", merged, check=0).stdout, "equal sites are one"


def test_damaged(venturi, make_recording):
    done = venturi("report", make_recording("--damage"), check=0)
    assert done.stderr.startswith("venturi report: warning: ") and done.stderr.count("\n") == 1
    assert "1 range of the file damaged" in done.stdout


def test_no_spans(venturi, make_recording):
    assert "No spans were recorded" in venturi("report", make_recording("--empty"), check=0).stdout


@pytest.mark.parametrize("words", [(), ("a", "b"), ("-n", "x", "a"), ("--sort", "size", "a")])
def test_usage(venturi, words):
    done = venturi("report", *words, check=2)
    assert done.stdout == "" and done.stderr.count("\n") == 1
