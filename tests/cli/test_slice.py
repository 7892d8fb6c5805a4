"""Slices: what overlaps the stretch is there, with its true times, and nothing else."""
import json
import os

import pytest

from conftest import second_reader_finds

SPANS = ("SELECT s.name, p.pid, t.tid, s.depth, s.begin_ns, s.end_ns, s.finished FROM spans s "
         "JOIN threads t ON t.id = s.track JOIN processes p ON p.id = s.process WHERE NOT s.async")


def query(venturi, path, sql):
    return [tuple(row.values()) for row in json.loads(venturi("query", "--json", path, sql, check=0).stdout)]


def info(venturi, path):
    return json.loads(venturi("info", "--json", path, check=0).stdout)


def cut(venturi, tmp_path, path, *words, check=0):
    out = tmp_path / "slice.vt"
    done = venturi("slice", path, *words, "-o", out, "--force", check=check)
    if check == 0:
        assert second_reader_finds(out) == ""
    return out, done


def expected(rows, from_ns, to_ns):
    """Spans that overlap; what is open at the end is unfinished and lasts to there."""
    found = []
    for name, pid, tid, depth, begin, end, finished in rows:
        if begin < to_ns and (end > from_ns or begin >= from_ns):
            found.append((name, pid, tid, depth, begin, min(end, to_ns), int(finished and end < to_ns)))
    return sorted(found)


@pytest.mark.parametrize("from_us, to_us", [
    (0, 3000), (500, 900), (300, 301), (310, 312), (1210, 1300), (700, 1400), (0, 100), (1300, 1350), (1694, 1700)])
def test_spans(venturi, make_recording, tmp_path, from_us, to_us):
    path = make_recording("--plain")
    out, _ = cut(venturi, tmp_path, path, "--from", "%dus" % from_us, "--to", "%dus" % to_us)
    wanted = expected(query(venturi, path, SPANS), from_us * 1000, to_us * 1000)
    got = sorted(query(venturi, out, SPANS))
    # A span that ends exactly where the slice begins has its end in it.
    got = [row for row in got if row[5] > from_us * 1000 or row[4] >= from_us * 1000]
    assert got == wanted


def test_events_are_counted(venturi, make_recording, tmp_path):
    path = make_recording()
    out, done = cut(venturi, tmp_path, path, "--from", "500us", "--to", "900us")
    inside = [json.loads(line) for line in
              venturi("export", "-f", "jsonl", "--from", "500us", "--to", "900us", path).stdout.splitlines()]
    assert info(venturi, out)["events"] == inside[-1]["events"]
    assert info(venturi, out)["sliced_events"] == 157 - inside[-1]["events"]
    assert "%d events kept, %d cut away" % (inside[-1]["events"], 157 - inside[-1]["events"]) in done.stderr


@pytest.mark.parametrize("from_us, to_us", [(0, 3000), (500, 900), (310, 312), (1210, 1300)])
def test_spans_are_counted_alike(venturi, make_recording, tmp_path, from_us, to_us):
    """Those that were open at the start count as well, wherever one asks."""
    out, _ = cut(venturi, tmp_path, make_recording("--plain"), "--from", "%dus" % from_us, "--to", "%dus" % to_us)
    (count,), = query(venturi, out, "SELECT count(*) FROM spans WHERE NOT async")
    assert count and info(venturi, out)["spans"] == count
    tracks = query(venturi, out, "SELECT track, count(*) FROM spans WHERE NOT async GROUP BY track")
    assert [(track["id"], track["spans"]) for track in info(venturi, out)["threads"] if track["spans"]] == tracks


def test_cutting_is_no_loss(venturi, make_recording, tmp_path):
    out, _ = cut(venturi, tmp_path, make_recording(), "--from", "1ms", "--to", "1.5ms")
    found = info(venturi, out)
    assert found["lost_events"] == 0 and found["sliced_events"] == 97
    text = venturi("report", out, check=0).stdout
    assert "nothing lost" in text and "sliced: " in text
    assert query(venturi, out, "SELECT DISTINCT reason FROM losses") == [("cut out by slice",)]


def test_losses_in_the_range_stay(venturi, make_recording, tmp_path):
    out, _ = cut(venturi, tmp_path, make_recording(), "--from", "800us", "--to", "900us")
    assert info(venturi, out)["lost_events"] == 37


def test_only_what_is_needed_is_in_it(venturi, make_recording, tmp_path):
    out, _ = cut(venturi, tmp_path, make_recording(), "--to", "200us")
    found = info(venturi, out)
    assert [process["name"] for process in found["processes"]] == ["pipeline"]
    assert [thread["name"] for thread in found["threads"]] == ["main"]
    assert {name for name, in query(venturi, out, "SELECT name FROM sites WHERE kind = 'span'")} == {"main", "load alerts"}
    assert found["bytes"] < 2500


def test_times_stay_what_they_were(venturi, make_recording, tmp_path):
    path = make_recording()
    out, _ = cut(venturi, tmp_path, path, "--from", "10%", "--to", "90%")
    assert info(venturi, out)["start_realtime_ns"] == info(venturi, path)["start_realtime_ns"]
    again, _ = cut(venturi, tmp_path / "..", out, "--from", "800us", "--to", "900us")
    direct, _ = cut(venturi, tmp_path, path, "--from", "800us", "--to", "900us")
    assert sorted(query(venturi, again, SPANS)) == sorted(query(venturi, direct, SPANS))
    os.remove(again)


@pytest.mark.parametrize("words, begin, end", [
    (("--from", "-1ms"), 2765000 - 1000000, 2765000), (("--from", "25%", "--to", "-50%"), 691250, 1382500),
    (("--to", "0.3ms"), 0, 300000), (("--from", "0", "--to", "1"), 0, 2765000)])
def test_ways_to_say_when(venturi, make_recording, tmp_path, words, begin, end):
    out, _ = cut(venturi, tmp_path, make_recording(), *words)
    ranges = query(venturi, out, "SELECT begin_ns, end_ns FROM losses WHERE reason LIKE 'cut%' ORDER BY 1")
    outside = [part for part in ((0, begin), (end, 2765000)) if part[0] < part[1]]
    assert ranges == outside


def test_async_spans(venturi, make_recording, tmp_path):
    path = make_recording()
    sql = "SELECT async_id, begin_ns, end_ns, finished FROM spans WHERE async ORDER BY 1"
    out, _ = cut(venturi, tmp_path, path, "--from", "620us", "--to", "805us")
    assert query(venturi, path, sql)[:2] == [(100, 500000, 800000, 1), (101, 550000, 810000, 1)]
    # 100 to 102 were open and begin with the slice; 100 ends in it, the others with it.
    assert query(venturi, out, sql) == [(100, 620000, 800000, 1), (101, 620000, 805000, 0), (102, 620000, 805000, 0),
                                        (103, 650000, 805000, 0), (104, 700000, 805000, 0)]


def test_async_span_that_covers_it(venturi, make_recording, tmp_path):
    out, _ = cut(venturi, tmp_path, make_recording(), "--from", "1.2ms", "--to", "1.3ms")
    assert query(venturi, out, "SELECT async_id, begin_ns, end_ns FROM spans WHERE async") == [(103, 1200000, 1300000)]


def test_damaged(venturi, make_recording, tmp_path):
    out, done = cut(venturi, tmp_path, make_recording("--damage"), "--from", "0", "--to", "1ms")
    assert "venturi slice: warning: " in done.stderr
    assert info(venturi, out)["damage"] == []
    assert query(venturi, out, "SELECT events FROM losses WHERE reason = 'damaged source'") == [(16,)]


@pytest.mark.parametrize("options", [("--crash",), ("--no-process",), ("--monotonic",), ("--link", 5000000)])
def test_kinds_of_input(venturi, make_recording, tmp_path, options):
    path = make_recording(*options)
    out, _ = cut(venturi, tmp_path, path, "--from", "400us", "--to", "1.3ms")
    sql = "SELECT name, begin_ns FROM spans WHERE NOT async AND begin_ns >= 400000 AND begin_ns < 1300000 ORDER BY 2, 1"
    assert query(venturi, out, sql) == query(venturi, path, sql)


def test_large(venturi, make_recording, tmp_path):
    path = make_recording("--plain", "--spans", 50000)
    out, _ = cut(venturi, tmp_path, path, "--from", "40%", "--to", "60%")
    begin, end = query(venturi, out, "SELECT min(end_ns), max(begin_ns) FROM losses WHERE reason LIKE 'cut%'")[0]
    sql = "SELECT count(*), sum(begin_ns), sum(duration_ns) FROM spans WHERE NOT async AND begin_ns >= %d AND end_ns < %d" % (begin, end)
    assert query(venturi, out, sql) == query(venturi, path, sql)
    assert query(venturi, out, sql)[0][0] > 5000


@pytest.mark.parametrize("words, message", [
    ((), "which part?"), (("--from", "x"), "'x' is no time"), (("--from", "2s", "--to", "1s"), "ends before it begins"),
    (("--from", "5s"), "the range is outside"), (("--from", "2.5ms"), "nothing happened in that range"),
    (("--to", "101%"), "is no time")])
def test_refusals(venturi, make_recording, tmp_path, words, message):
    done = venturi("slice", make_recording(), *words, "-o", tmp_path / "o.vt", check=2)
    assert message in done.stderr and done.stderr.count("\n") == 1
    assert os.listdir(tmp_path) == []


def test_usage(venturi, make_recording, tmp_path):
    assert "where to?" in venturi("slice", make_recording(), "--from", "1ms", check=2).stderr
    assert "which FILE?" in venturi("slice", "--from", "1ms", check=2).stderr
    same = venturi("slice", make_recording(), "--from", "1ms", "-o", make_recording(), "-f", check=2)
    assert "is the input" in same.stderr
    (tmp_path / "o.vt").write_text("mine")
    assert "already exists" in venturi("slice", make_recording(), "--from", "1ms", "-o", tmp_path / "o.vt", check=2).stderr
    assert (tmp_path / "o.vt").read_text() == "mine"
