"""The summary: figures that can be checked by hand, at 80 columns."""
import json
import os

import pytest

from conftest import NewRecording


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
    assert ["Count", "Total", "Self", "Share", "p50", "p99", "Span"] in [line.split() for line in lines]
    assert max(map(len, lines)) <= 80
    assert "   10  1.24ms  1.00ms   46% ██▊   119us   174us  classify" in lines
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


def test_sites_of_one_place_are_one_row(venturi, tmp_path):
    """Defined twice, as by two processes: one row. Two functions that share their name: two rows, with their places."""
    w = NewRecording()
    w.site(1, "load", function="a", file="x.c", line=7)
    w.site(2, "load", function="b", file="x.c", line=7)
    w.site(3, "load", function="a", file="x.c", line=8)
    w.site(4, "load", function="a", file="y.c", line=7)
    w.site(5, "load", kind=1, file="x.c", line=7)
    w.site(6, "load", kind=1, file="x.c", line=7, unit="n")
    events = w.events(0, 1000)
    events.begin(1000, 1)
    events.begin(1100, 2)  # inside: it counts once
    events.end(1200)
    events.end(1400)
    for at, site in ((2000, 2), (3000, 3), (4000, 4)):
        events.begin(at, site)
        if site == 2:
            events.error(at, "Bad", "")
        events.end(at + site)
    events.counter(5000, 5, 10)
    events.counter(5001, 6, 20)
    events.write()
    path = w.save(tmp_path / "x.vt")
    found = report(venturi, path)
    assert [(s["file"], s["line"], s["count"], s["total_ns"], s["self_ns"]) for s in found["spans"]] == [
        ("x.c", 7, 3, 402, 402), ("y.c", 7, 1, 4, 4), ("x.c", 8, 1, 3, 3)]
    assert [(c["name"], c["count"], c["max"]) for c in found["counters"]] == [("load", 2, 20)]
    text = venturi("report", path, check=0).stdout
    assert text.count("load x.c:7\n") == 1 and "load x.c:8\n" in text and "load y.c:7\n" in text
    rows = json.loads(venturi("query", "--json", path, "SELECT site, count, p99_ns FROM stats ORDER BY 1", check=0).stdout)
    assert [tuple(row.values()) for row in rows] == [(1, 3, 400), (3, 1, 3), (4, 1, 4)]
    assert json.loads(venturi("rank", "--json", path, check=0).stdout)["names"][0]["count"] == 5


def test_self_is_never_more_than_total(venturi, tmp_path):
    """A stack overflow: spans in each other that never ended, each shorter than what a whole one costs."""
    w = NewRecording(pair_cost=20000, inner_cost=8000, end=20000)  # 20 and 8 ns
    w.site(1, "main")
    w.site(2, "deep")
    w.site(3, "leaf")
    events = w.events(0, 1000)
    events.begin(1000, 1)
    for level in range(500):
        events.begin(1000 + 10 * level, 2)
    events.begin(7000, 3)
    events.end(7100)
    events.write()
    path = w.save(tmp_path / "x.vt")
    found, raw = spans(venturi, path), spans(venturi, path, "--raw")
    assert found["deep"]["unfinished"] == 500
    for name in ("main", "deep", "leaf"):
        assert found[name]["self_ns"] <= found[name]["total_ns"], name
    # Only the one that ended has cost something: 8 ns of its own, and 12 around it.
    assert raw["deep"]["total_ns"] - found["deep"]["total_ns"] == 20
    assert raw["deep"]["self_ns"] - found["deep"]["self_ns"] == 12
    assert raw["leaf"]["self_ns"] - found["leaf"]["self_ns"] == 8
    assert found["main"]["total_ns"] >= found["deep"]["total_ns"]


def test_program_that_ended_with_open_spans(venturi, tmp_path):
    program = os.path.join(os.environ.get("VENTURI_BUILD", os.path.dirname(venturi.path)), "tests", "programs", "ends")
    if not os.access(program, os.X_OK):
        pytest.skip("%s is not built" % program)
    path = tmp_path / "x.vt"
    venturi("run", "-q", "-o", path, program, "abort", "100")
    found = spans(venturi, path)
    assert (found["open"]["count"], found["open"]["unfinished"], found["pair"]["count"]) == (1, 1, 100)
    assert all(span["self_ns"] <= span["total_ns"] for span in found.values())


def lossy(folder, losses):
    """A loop until 9000 ns, one span before it, another thread beside it."""
    w = NewRecording()
    w.track(1, name="other", thread=101)
    for number, name in enumerate(["start", "loop", "elsewhere"], 1):
        w.site(number, name)
    for reason, track, first, last in losses:
        w.loss(reason, 5, process=0 if track is not None else None, track=track, first=first, last=last)
    events = w.events(0, 1000)
    events.begin(1000, 1)
    events.end(1100)
    for at in range(2000, 10000, 1000):
        events.begin(at, 2)
        events.end(at + 100)
    events.write()
    events = w.events(1, 1000)
    events.begin(1000, 3)
    events.end(9000)
    events.write()
    return w.save(folder / "x.vt")


@pytest.mark.parametrize("losses, marked", [
    ([], set()),
    ([(1, 0, 5200, 5300)], {"loop"}),  # in the middle of the loop
    ([(3, 0, 9800, 20000)], {"loop"}),  # right after it: more was due
    ([(1, 0, 15000, 20000)], set()),  # long after
    ([(1, 0, 1050, 1060)], {"start", "loop"}),
    ([(1, 1, 5000, 5001)], {"elsewhere"}),  # another thread
    ([(3, None, 5000, 20000)], {"loop", "elsewhere"}),  # all threads
    ([(4, None, 0, 900), (7, None, 10000, 20000)], set()),  # cut away as asked, around all spans
    ([(7, None, 0, 1050)], {"start", "elsewhere"}),  # … and where two had begun already
])
def test_rows_that_losses_distort_are_marked(venturi, tmp_path, losses, marked):
    path = lossy(tmp_path, losses)
    assert {span["name"] for span in report(venturi, path)["spans"] if span["distorted"]} == marked
    lines = venturi("report", path, check=0).stdout.splitlines()
    top = next(number for number, line in enumerate(lines) if line.startswith("Count "))
    rows = [line.split() for line in lines[top + 1:top + 4]]
    assert {row[-1] for row in rows if row[0].startswith("~")} == marked
    explained = [line for line in lines if line.startswith("~ events around these spans are missing")]
    assert len(explained) == bool(marked) and all(len(line) <= 80 for line in explained)


def test_counts_are_exact(venturi, make_recording):
    path = make_recording("--plain", "--spans", 300000)
    found = spans(venturi, path)
    text = venturi("report", path, env={"COLUMNS": "80", "TZ": "UTC"}, check=0).stdout
    rows = {line.split()[-1]: line.split()[0] for line in text.splitlines() if line}
    assert rows["classify"] == "200010" == str(found["classify"]["count"])
    assert rows["features"] == "100010" == str(found["features"]["count"])
    assert text.splitlines()[0].endswith(", 300056 spans")
    assert max(map(len, text.splitlines())) <= 80


def test_not_a_number(venturi, tmp_path):
    """Text shows -, JSON null, CSV nothing."""
    w = NewRecording()
    w.site(1, "odd", kind=1)
    events = w.events(0, 1000)
    for at, number in enumerate([1.5, float("nan"), float("inf")]):
        events.counter(1000 + at, 1, number)
    events.write()
    path = w.save(tmp_path / "x.vt")
    row, = [line.split() for line in venturi("report", path, check=0).stdout.splitlines() if line.endswith("odd")]
    assert row == ["3", "1.5", "-", "-", "-", "odd"]
    odd, = report(venturi, path)["counters"]
    assert (odd["min"], odd["avg"], odd["max"], odd["last"]) == (1.5, None, None, None)
    sql = "SELECT value, 1 AS one FROM counters"
    assert [line.split() for line in venturi("query", path, sql, check=0).stdout.splitlines()[1:]] == [
        ["1.5", "1"], ["-", "1"], ["-", "1"]]
    assert venturi("query", "--csv", path, sql, check=0).stdout == "value,one\n1.5,1\n,1\n,1\n"
    assert [row["value"] for row in json.loads(venturi("query", "--json", path, sql, check=0).stdout)] == [1.5, None, None]


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


def test_damage_marks_the_rows_of_its_thread(venturi, make_recording, tmp_path):
    path = make_recording("--damage", "--spans", "200")
    shown = report(venturi, path)
    assert shown["trust"]["damaged_ranges"] == 1
    assert [span["name"] for span in shown["spans"] if span["distorted"]]
    assert "nothing lost" not in venturi("report", path, check=0).stdout
