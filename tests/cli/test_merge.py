"""Merging: nothing is lost, nothing is mixed up, and times fit as far as clocks allow."""
import json
import os

import pytest

from conftest import NewRecording, second_reader_finds
from vtwrite import join

SECOND = 10 ** 9


def query(venturi, path, sql):
    return [tuple(row.values()) for row in json.loads(venturi("query", "--json", path, sql, check=0).stdout)]


def events(venturi, path):
    """Events without ids that a merge gives anew."""
    found = []
    for line in venturi("export", "-f", "jsonl", path, check=0).stdout.splitlines():
        line = json.loads(line)
        if "time_ns" in line:
            line.pop("site", None)
            found.append(line)
    return found


def merge(venturi, tmp_path, *words, check=0):
    out = tmp_path / "merged.vt"
    done = venturi("merge", *words, "-o", out, check=check)
    if check == 0:
        assert second_reader_finds(out) == ""
    return out, done


ALL_SPANS = ("SELECT p.pid, t.tid, s.name, s.begin_ns, s.end_ns, s.depth, s.finished, s.error, s.attributes, s.async_id "
             "FROM spans s LEFT JOIN threads t ON t.id = s.track LEFT JOIN processes p ON p.id = s.process")


def shifted(rows, ns):
    return [row[:3] + (row[3] + ns, row[4] + ns) + row[5:] for row in rows]


@pytest.mark.parametrize("options", [(), ("--crash",), ("--no-process",), ("--monotonic",), ("--link", 5000000)])
def test_one_input_stays_what_it_was(venturi, make_recording, tmp_path, options):
    path = make_recording(*options)
    out, done = merge(venturi, tmp_path, path)
    assert events(venturi, out) == events(venturi, path)
    sql = ALL_SPANS.replace("p.pid", "0") if "--no-process" in options else ALL_SPANS
    assert sorted(map(str, query(venturi, out, sql))) == sorted(map(str, query(venturi, path, sql)))
    before, after = [json.loads(venturi("info", "--json", p, check=0).stdout) for p in (path, out)]
    assert after["closed"] is True
    for key in ("command", "directory", "events", "spans", "lost_events", "hosts", "start_realtime_ns", "clock"):
        assert after[key] == before[key], key
    if options != ("--no-process",):
        for key in ("processes", "threads"):
            assert after[key] == before[key], key
    assert done.stderr.startswith("venturi: %s  " % out)


def test_two_runs_of_one_host(venturi, make_recording, tmp_path):
    first, second = make_recording(), make_recording("--pid", 100, "--start", 1.5)
    out, done = merge(venturi, tmp_path, first, second)
    assert "warning" not in done.stderr
    assert sorted(map(str, query(venturi, out, ALL_SPANS))) == sorted(map(str, (
        query(venturi, first, ALL_SPANS) + shifted(query(venturi, second, ALL_SPANS), 3 * SECOND // 2))))
    assert query(venturi, out, "SELECT name FROM hosts") == [("alpha",)]
    assert query(venturi, out, "SELECT count(*) FROM sites") == [(25,)]
    info = json.loads(venturi("info", "--json", out, check=0).stdout)
    assert (info["merged"], info["lost_events"], len(info["processes"])) == (2, 98, 4)
    parents = {process["pid"]: process["parent"] for process in info["processes"]}
    ids = {process["pid"]: process["id"] for process in info["processes"]}
    assert parents[101] == ids[100] and parents[4712] == ids[4711]


def test_order_of_inputs_does_not_matter_for_times(venturi, make_recording, tmp_path):
    first, second = make_recording("--plain"), make_recording("--plain", "--pid", 100, "--start", 1.5)
    out, _ = merge(venturi, tmp_path, second, first)
    assert query(venturi, out, "SELECT min(begin_ns) FROM spans") == [(0,)]
    assert query(venturi, out, "SELECT min(begin_ns) FROM spans WHERE process >= 2") == [(3 * SECOND // 2,)]


def test_wall_clock_that_was_set_does_not_shift_one_host(venturi, make_recording, tmp_path):
    """The second run's wall clock is 0.8 s ahead, but its monotonic clock tells."""
    first = make_recording("--plain", "--boot", 5)
    second = make_recording("--plain", "--pid", 100, "--start", 1.8, "--boot", 4.2)
    out, done = merge(venturi, tmp_path, first, second)
    assert "warning" not in done.stderr
    assert query(venturi, out, "SELECT min(begin_ns) FROM spans WHERE process >= 2") == [(SECOND,)]


def test_a_host_that_was_restarted_is_another_clock(venturi, make_recording, tmp_path):
    first = make_recording("--plain", "--boot", 500)
    second = make_recording("--plain", "--pid", 100, "--start", 60, "--boot", -50)
    out, done = merge(venturi, tmp_path, first, second)
    assert "no clock link" in done.stderr
    assert query(venturi, out, "SELECT name FROM hosts") == [("alpha",), ("alpha",)]


def test_other_hosts_are_aligned_by_wall_clock_with_a_warning(venturi, make_recording, tmp_path):
    first, second = make_recording("--plain"), make_recording("--plain", "--host", "beta", "--start", 2)
    out, done = merge(venturi, tmp_path, first, second)
    assert ("venturi merge: warning: %s: no clock link to %s: aligned by their wall clocks, uncertainty unknown\n"
            % (second, first)) in done.stderr
    assert query(venturi, out, "SELECT min(begin_ns) FROM spans WHERE process >= 2") == [(2 * SECOND,)]


@pytest.mark.parametrize("offset, ns", [("-1.5ms", -1500000), ("+2s", 2 * SECOND), ("250us", 250000)])
def test_offset(venturi, make_recording, tmp_path, offset, ns):
    first, second = make_recording("--plain"), make_recording("--plain", "--host", "beta", "--start", 1)
    out, done = merge(venturi, tmp_path, first, second, "--offset", "2=" + offset)
    assert "warning" not in done.stderr
    assert query(venturi, out, "SELECT min(begin_ns) FROM spans WHERE process >= 2") == [(SECOND + ns,)]
    assert query(venturi, out, "SELECT offset_ns FROM hosts WHERE name = 'beta'") == [(ns,)]


def test_offset_that_puts_it_first(venturi, make_recording, tmp_path):
    first, second = make_recording("--plain"), make_recording("--plain", "--host", "beta", "--start", 1)
    out, _ = merge(venturi, tmp_path, first, second, "--offset", "2=-3s")
    rows = dict(query(venturi, out, "SELECT h.name, min(s.begin_ns) FROM spans s JOIN processes p ON p.id = s.process "
                                    "JOIN hosts h ON h.id = p.host GROUP BY 1"))
    assert rows["alpha"] - rows["beta"] == 2 * SECOND


def test_links_of_inputs_are_kept(venturi, make_recording, tmp_path):
    linked = make_recording("--plain", "--link", 5000000)
    other = make_recording("--plain", "--pid", 100, "--start", 1)
    out, done = merge(venturi, tmp_path, linked, other)
    assert "warning" not in done.stderr
    assert query(venturi, out, "SELECT name, offset_ns, error_ns FROM hosts") == [("alpha", 0, 0), ("linked", 5000000, 250)]
    again, _ = merge(venturi, tmp_path / "..", out, make_recording("--plain", "--host", "gamma", "--start", 2))
    assert json.loads(venturi("info", "--json", again).stdout)["merged"] == 3
    os.remove(again)


def test_damaged_input(venturi, make_recording, tmp_path):
    damaged = make_recording("--damage")
    out, done = merge(venturi, tmp_path, make_recording("--pid", 1), damaged)
    assert done.returncode == 0
    assert "venturi merge: warning: %s: bytes " % damaged in done.stderr and "the rest is merged" in done.stderr
    assert query(venturi, out, "SELECT events FROM losses WHERE reason = 'damaged source'") == [(16,)]
    assert query(venturi, out, "SELECT count(*) FROM spans WHERE process >= 2") == query(
        venturi, damaged, "SELECT count(*) FROM spans")
    info = json.loads(venturi("info", "--json", out, check=0).stdout)
    assert (info["events"], info["damage"], info["lost_events"]) == (157 + 141, [], 49 + 49 + 16)


def test_unknown_blocks(venturi, make_recording, tmp_path):
    _, done = merge(venturi, tmp_path, make_recording("--unknown"))
    assert "1 block(s) of a kind that this version does not know" in done.stderr


def test_large(venturi, make_recording, tmp_path):
    """Several blocks a track, cut anew."""
    first, second = make_recording("--plain", "--spans", 20000), make_recording("--plain", "--spans", 9000, "--pid", 7)
    out, _ = merge(venturi, tmp_path, first, second)
    for path, where in ((first, "process < 2"), (second, "process >= 2")):
        sums = "SELECT count(*), sum(duration_ns), sum(self_ns), sum(begin_ns), max(depth) FROM spans"
        assert query(venturi, out, sums + " WHERE " + where) == query(venturi, path, sums)


@pytest.mark.parametrize("words, message", [
    ((), "which FILEs?"), (("a.vt",), "where to? -o OUT"), (("a.vt", "-o", "b", "--offset", "x"), "is not like 2=-1.5ms"),
    (("a.vt", "-o", "b", "--offset", "2=1s"), "there are 1 FILEs"),
    (("a.vt", "b.vt", "-o", "c", "--offset", "1=1s"), "times count from the first FILE"),
    (("/none.vt", "-o", "c"), "/none.vt: cannot open")])
def test_usage(venturi, tmp_path, words, message):
    done = venturi("merge", *words, cwd=tmp_path, check=2)
    assert message in done.stderr and done.stderr.count("\n") == 1
    assert os.listdir(tmp_path) == []


def test_refusals(venturi, make_recording, tmp_path):
    path = tmp_path / "a.vt"
    path.write_bytes(make_recording("--plain").read_bytes())
    other = make_recording("--plain", "--pid", 5)
    assert venturi("merge", path, make_recording("--plain"), "-o", tmp_path / "o.vt", check=2).stderr == (
        "venturi merge: %s and %s are the same recording (see --help)\n" % (path, make_recording("--plain")))
    assert venturi("merge", path, other, "-o", path, "--force", check=2).stderr == (
        "venturi merge: %s: is an input, so it cannot be the output too (see --help)\n" % path)
    assert "already exists" in venturi("merge", other, "-o", path, check=2).stderr
    bad = tmp_path / "bad.vt"
    bad.write_text("no recording")
    assert "%s: not a Venturi recording" % bad in venturi("merge", path, bad, "-o", tmp_path / "o.vt", check=2).stderr
    assert "is not a file" in venturi("merge", path, "-o", "-", check=2).stderr
    assert sorted(os.listdir(tmp_path)) == ["a.vt", "bad.vt"]
    assert path.read_bytes() == make_recording("--plain").read_bytes()


def test_result_is_private(venturi, make_recording, tmp_path):
    out, _ = merge(venturi, tmp_path, make_recording())
    assert os.stat(out).st_mode & 0o777 == 0o600


LINES = ("SELECT p.pid, t.tid, l.name, l.kind, l.line, l.statement, l.events, l.hits, l.total_ns, l.self_ns, l.min_ns, l.max_ns, "
         "l.suspended_ns, l.resumes, l.open, l.samples FROM lines l JOIN threads t ON t.id = l.track JOIN processes p ON p.id = l.process")


def test_lines_and_sources_are_kept(venturi, make_recording, tmp_path):
    first, second = make_recording("--lines"), make_recording("--lines", "--pid", 9000, "--start", 3)
    rows = [query(venturi, path, LINES) for path in (first, second)]
    assert len(rows[0]) == 8
    out, _ = merge(venturi, tmp_path, first, second)
    assert sorted(map(str, query(venturi, out, LINES))) == sorted(map(str, rows[0] + rows[1]))
    # One text for all, and one for the second process of each.
    sources = "SELECT p.pid, s.file, s.text FROM sources s LEFT JOIN processes p ON p.id = s.process"
    assert query(venturi, out, sources) == [(None, "step.py", "# a step\n"), (4712, "step.py", "# a step of another day\n"),
                                            (9001, "step.py", "# a step of another day\n")]


def test_another_text_of_the_same_file(venturi, tmp_path):
    """What stands for all processes of its recording stands for each of them beside another recording."""
    paths = []
    for number, text in enumerate(["one", "two", "one"]):
        writer = NewRecording(b"recording no. %2d" % number, pid=100 + number, end=1000)
        writer.block(8, join(0, "a.py", text))
        paths.append(writer.save(tmp_path / ("%d.vt" % number)))
    out, _ = merge(venturi, tmp_path, *paths)
    sources = "SELECT p.pid, s.text FROM sources s LEFT JOIN processes p ON p.id = s.process"
    assert query(venturi, out, sources) == [(None, "one"), (101, "two")]
