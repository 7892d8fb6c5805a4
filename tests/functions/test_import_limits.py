"""Files that hold what cannot be: what can be used is used, and one line says how much was not."""
import json
import marshal
import struct

import pytest

import trees
from test_import import import_file, spans
from trees import Writer, join, varint

SAMPLES, COSTS, PROFILE = 12, 24, 25
MOST = 2 ** 64 - 1
OK = {"ph": "X", "ts": 10, "dur": 5, "name": "ok"}


def import_text(venturi, folder, text, name="x", **kw):
    (folder / name).write_text(text)
    return venturi("import", name, "-o", "x.vt", cwd=folder, **kw)


# ---- Chrome --------------------------------------------------------------------------------------

def test_chrome_times_may_be_texts(venturi, tmp_path):
    events = [dict(OK, ts="5", dur="7.25", pid="p", tid="t"), dict(OK, ts="1e1", dur=2E0)]
    assert "warning" not in import_text(venturi, tmp_path, json.dumps(events), check=0).stderr
    rows = spans(venturi, import_file(venturi, tmp_path / "x", tmp_path / "y.vt"))
    assert sorted((row["begin_ns"], row["duration_ns"]) for row in rows) == [(0, 7250), (5000, 2000)]


@pytest.mark.parametrize("change, why", [
    ({"ts": 1e300}, "ts out of range"), ({"ts": 2 ** 63 - 1}, "ts out of range"), ({"ts": "-1e300"}, "ts out of range"),
    ({"ts": "soon"}, "ts is not a number"), ({"ts": "0x10"}, "ts is not a number"), ({"ts": "nan"}, "ts is not a number"),
    ({"ts": ""}, "ts is not a number"), ({"ts": None}, "ts is not a number"), ({"ts": [1]}, "ts is not a number"),
    ({"dur": 1e300}, "dur out of range"), ({"dur": True}, "dur is not a number"), ({"dur": -20}, "dur below 0"),
    ({"ph": "E"}, "an end without a begin"),
])
def test_chrome_events_that_cannot_be(venturi, tmp_path, change, why):
    bad = dict(OK, **change)
    first = json.dumps(dict(OK, ts=20))
    text = "[%s, %s, %s, %s]" % (first, json.dumps(bad), json.dumps(dict(OK, ts=30)), json.dumps(bad))
    done = import_text(venturi, tmp_path, text, check=0)
    place = 1 + len(first) + 2
    assert done.stderr.splitlines()[0] == (
        "venturi import: warning: x: 2 events could not be used, the first at byte %d: %s" % (place, why)), done.stderr
    assert done.stderr.count("\n") == 2 and len(spans(venturi, tmp_path / "x.vt")) == 2
    if bad["ph"] == "X":
        (tmp_path / "x.vt").unlink()
        done = import_text(venturi, tmp_path, "[%s]" % json.dumps(bad), "y", check=2)
        assert done.stderr == "venturi import: y: byte 1: %s\n" % why and not (tmp_path / "x.vt").exists()


def test_chrome_without_ts(venturi, tmp_path):
    done = import_text(venturi, tmp_path, '[{"ph":"X"},%s,{"ph":"M"},{"ph":"s"}]' % json.dumps(OK), check=0)
    assert "x: 1 event could not be used, the first at byte 1: has no ts\n" in done.stderr


@pytest.mark.parametrize("end", ["", ",", " , \n", "\n"])
def test_chrome_arrays_need_not_end(venturi, tmp_path, end):
    done = import_text(venturi, tmp_path, "[" + json.dumps(OK) + "," + json.dumps(dict(OK, ts=20)) + end, check=0)
    assert "warning" not in done.stderr and len(spans(venturi, tmp_path / "x.vt")) == 2


@pytest.mark.parametrize("text", [json.dumps([OK])[:-3], json.dumps([OK])[:-1] + ",{", json.dumps({"traceEvents": [OK]})[:-2],
                                  "[" + json.dumps(OK) + ",,", "[", "[,"])
def test_chrome_cut_elsewhere_is_refused(venturi, tmp_path, text):
    done = import_text(venturi, tmp_path, text, check=2)
    assert done.stderr.count("\n") == 1 and not (tmp_path / "x.vt").exists()


def test_chrome_times_far_apart(venturi, tmp_path):
    """No time is shown as another one because it is too far off."""
    text = json.dumps([dict(OK, ts=3e15, dur=1), dict(OK, ts=3e15 + 1, dur=1e15)])
    import_text(venturi, tmp_path, text, check=0)
    assert sorted(row["duration_ns"] for row in spans(venturi, tmp_path / "x.vt")) == [1000, pytest.approx(10 ** 18)]
    (tmp_path / "x.vt").unlink()
    for far in (dict(OK, ts=-9e14), dict(OK, ts=2e15, dur=0), dict(OK, ts=3e15, dur=3.9e15)):
        done = import_text(venturi, tmp_path, json.dumps([far, dict(OK, ts=3.9e15)]), check=2)
        assert done.stderr == "venturi import: x: times more than 36 years apart\n"


# ---- stacks --------------------------------------------------------------------------------------

def test_a_long_first_line_is_a_stack_too(venturi, tmp_path):
    line = ";".join("f%d" % i for i in range(200000))
    done = import_text(venturi, tmp_path, "# remark\n%s 5\nf0 1\n" % line, check=0)
    assert done.stderr.endswith("200 k calls\n") and len(line) > 1 << 20
    (tmp_path / "x.vt").unlink()
    done = import_text(venturi, tmp_path, "a;" * (9 << 20) + "b 5\n", "y", check=2)
    assert done.stderr == "venturi import: y: line 1: too long\n"


@pytest.mark.parametrize("depth, says", [(4096, ""), (4097, "1 stack is"), (9000, "1 stack is")])
def test_stacks_of_perf_that_are_too_deep(venturi, tmp_path, depth, says):
    frames = "".join("\t%x f%d+0x1 (/bin/x)\n" % (0x1000 + i, i) for i in range(depth))
    text = "x 1/1 1.000000: 1000000 cpu-clock:\n%s\nx 1/1 2.000000: 1000000 cpu-clock:\n\t1000 f0+0x1 (/bin/x)\n" % frames
    done = import_text(venturi, tmp_path, text, check=0)
    assert done.stderr.count("\n") == 1 + bool(says) and done.stderr.endswith("2 samples\n")
    if says:
        assert done.stderr.startswith("venturi import: warning: x: %s deeper than 4096 functions, the outer ones left out\n" % says)


# ---- pstats --------------------------------------------------------------------------------------

@pytest.mark.parametrize("key, numbers, count, row", [
    (1, (1, 1, 0.5, 0.75), 0, (1, 1, 1, 0.5, 0.75)),
    (1, (10 ** 30, 2, 0.5, 0.75), 1, (1, 2 ** 63 - 2, 2, 0.5, 0.75)),
    (1, (-5, -5, -1.0, -2.0), 4, (1, 0, 0, 0, 0)),
    (1, (1, 1, float("nan"), float("inf")), 2, (1, 1, 1, 0, 1e12)),
    (1, (1, 1, -10 ** 30, 1e308), 2, (1, 1, 1, 0, 1e12)),
    (-1, (1, 1, 0.5, 0.75), 1, (0, 1, 1, 0.5, 0.75)),
    (2 ** 40, (1, 1, 0.5, 0.75), 1, (2 ** 31 - 1, 1, 1, 0.5, 0.75)),
])
def test_numbers_of_profiles_that_cannot_be(venturi, tmp_path, key, numbers, count, row):
    (tmp_path / "x").write_bytes(marshal.dumps({("f.py", key, "f"): numbers + ({},)}))
    says = "x: %d number%s out of range, taken as the nearest that can be\n" % (count, "" if count == 1 else "s")
    shown = venturi("stats", "--json", "x", cwd=tmp_path, check=0)
    assert shown.stderr == ("venturi stats: warning: " + says if count else "")
    found, = json.loads(shown.stdout)["functions"]
    assert tuple(found[name] for name in ("line", "ncalls", "pcalls", "tottime", "cumtime")) == (row[0], row[2], row[1], *row[3:])
    done = venturi("import", "x", "-o", "x.vt", cwd=tmp_path, check=0)
    assert done.stderr.startswith("venturi import: warning: " + says if count else "venturi: x.vt")
    again = venturi("stats", "--json", "x.vt", cwd=tmp_path, check=0)
    assert json.loads(again.stdout)["functions"] == [found] and again.stderr == ""


def test_callers_that_cannot_be(venturi, tmp_path):
    rows = {("f.py", 1, "f"): (1, 1, 1.0, 1.0, {("g.py", 2, "g"): (-1, 2, float("nan"), 1.0), ("h.py", -3, "h"): 7})}
    (tmp_path / "x").write_bytes(marshal.dumps(rows))
    for words in ((), ("--strip-dirs",)):
        assert ": 3 numbers out of range" in venturi("stats", "x", *words, cwd=tmp_path, check=0).stderr


# ---- recordings ----------------------------------------------------------------------------------

def recording(path, blocks):
    writer = Writer()
    writer.clock(kind=2)
    writer.process(0, pid=100)
    writer.track(0, 0, thread=200, name="main", end=10 ** 6)
    for site in (1, 2, 3):
        writer.site(site, "f%d" % site, 4, "f%d" % site, "f.py", site, "python")
    for kind, entries, owner in blocks:
        writer.block(kind, b"".join(entries), len(entries), owner=owner, last=10 ** 6)
    writer.close()
    path.write_bytes(writer.bytes())
    return path


def node(number, parent, site, calls=1, resumes=0, total=1000):
    return join(number, parent, site, calls, resumes, total, 0) + varint(0) * 3


def test_sums_of_calls_do_not_wrap(venturi, tmp_path):
    path = recording(tmp_path / "x.vt", [(trees.CALL_TREE, [node(1, 0, 1, MOST, MOST), node(2, 1, 2, MOST, 5), node(3, 2, 1, 7)], 0)])
    shown = venturi("stats", path, check=0).stdout
    assert "%d function calls in" % MOST in shown, shown
    rows = json.loads(venturi("stats", "--json", path, check=0).stdout)["functions"]
    assert {row["ncalls"] for row in rows} == {MOST}
    assert json.loads(venturi("info", "--json", path, check=0).stdout)["calls"] == MOST


def test_cost_that_is_said_is_what_was_taken(venturi, tmp_path):
    """Hooks that claim to cost more than was measured."""
    cost = join(0, 1, 10 ** 12, 10 ** 11)
    tree = [node(1, 0, 1, 1, 0, 9000), node(2, 1, 2, 1000, 0, 5000)]
    path = recording(tmp_path / "x.vt", [(trees.CALL_TREE, tree, 0), (COSTS, [cost], 0)])
    shown = venturi("stats", path, check=0)
    assert "in 0.000 seconds" in shown.stdout and shown.stderr.startswith("venturi: 9.00 us of our own cost subtracted ("), shown.stderr
    assert json.loads(venturi("report", "--json", path, check=0).stdout)["trust"]["overhead_share"] <= 1


def test_errors_of_samples_are_no_more_than_their_time(venturi, tmp_path):
    path = recording(tmp_path / "x.vt", [(trees.CALL_TREE, [node(1, 0, 1)], 0), (SAMPLES, [join(2, 1, 2, 5, 10 ** 15)], 0)])
    rows = {row["name"]: row for row in json.loads(venturi("stats", "--json", path, check=0).stdout)["functions"]}
    assert rows["f2"]["tottime_error"] == rows["f2"]["tottime"] == pytest.approx(1e-6)
    path = recording(tmp_path / "y.vt", [(SAMPLES, [join(2, 0, 2, 0, 10 ** 9)], 0)])
    row, = json.loads(venturi("stats", "--json", path, check=0).stdout)["functions"]
    assert row["tottime_error"] == row["tottime"] == pytest.approx(1)


def test_imported_tables_that_cannot_be(venturi, tmp_path):
    entry = join(1, 0, MOST, MOST) + struct.pack("<dd", float("nan"), -1.0) + varint(0)
    path = recording(tmp_path / "x.vt", [(PROFILE, [entry, entry], 0)])
    shown = venturi("stats", "--json", path, check=0)
    assert ": 4 numbers out of range" in shown.stderr
    row, = json.loads(shown.stdout)["functions"]
    assert (row["ncalls"], row["tottime"], row["cumtime"]) == (MOST, 0, 0)
