"""SQL: tables that agree with the other commands, conditions that narrow without changing results, a shut box."""
import csv
import io
import itertools
import json
import os
import signal
import subprocess
import time

import pytest

from conftest import bare_environment


def rows(venturi, path, sql):
    return [tuple(row.values()) for row in json.loads(venturi("query", "--json", path, sql, check=0).stdout)]


def tables(venturi):
    return {table["table"]: table["columns"] for table in json.loads(venturi("query", "--list", "--json", check=0).stdout)}


def test_list(venturi):
    text = venturi("query", "--list", check=0).stdout
    assert max(map(len, text.splitlines())) <= 80
    assert list(tables(venturi)) == venturi.listed("src/analyze/sql_tables.def", "VTI_SQL_TABLE")
    assert {"spans", "stats", "counters", "marks", "attributes", "sites", "threads", "tracks", "processes", "hosts", "losses",
            "damage"} <= set(tables(venturi))
    for name in tables(venturi):
        assert "\n%s: " % name in "\n" + text


@pytest.mark.parametrize("options", [(), ("--crash",), ("--damage",), ("--no-process",), ("--empty",), ("--link", 7)])
def test_every_table_of_every_recording(venturi, make_recording, options):
    path = make_recording(*options)
    for name, columns in tables(venturi).items():
        found = json.loads(venturi("query", "--json", path, "SELECT * FROM " + name, check=0).stdout)
        assert all(list(row) == columns for row in found)


def test_spans(venturi, make_recording):
    path = make_recording()
    assert rows(venturi, path, "SELECT count(*), sum(async), sum(NOT finished), count(error) FROM spans") == [(63, 5, 3, 2)]
    found = rows(venturi, path, "SELECT name, track, process, depth, begin_ns, end_ns, duration_ns, self_ns, corrected_ns, "
                                "parent, error, finished, async FROM spans WHERE error LIKE 'Value%'")
    assert found == [("classify", 0, 0, 1, 573000, 681000, 108000, 85000, 107972, "main",
                      "ValueError: no detections in \"ZTF\"\n", 1, 0)]
    assert rows(venturi, path, "SELECT json_extract(attributes, '$.ndet') FROM spans WHERE name = 'load alerts'") == [(-7,)]
    assert rows(venturi, path, "SELECT DISTINCT error FROM spans WHERE async") == [(None,), ("failed",)]


def test_ids_and_parents(venturi, make_recording):
    path = make_recording()
    found = rows(venturi, path, "SELECT id, parent_id, name, parent, depth, async FROM spans")
    names = {row[0]: row[2] for row in found}
    assert sorted(names) == list(range(1, 64))
    for _, parent_id, _, parent, depth, is_async in found:
        assert (parent_id is None) == (depth == 0 or bool(is_async))
        if parent_id:
            assert names[parent_id] == parent


@pytest.mark.parametrize("options", [("--plain", "--spans", 3000), ()])
def test_conditions_narrow_without_changing_anything(venturi, make_recording, options):
    """Ids included: they must not depend on what part of the recording was visited."""
    path = make_recording(*options)
    columns = "id, parent_id, name, track, site, begin_ns, end_ns, depth, async_id"
    everything = rows(venturi, path, "SELECT %s FROM spans" % columns)
    times = sorted(row[5] for row in everything)
    for at, (lower, upper) in itertools.product((len(times) // 3, len(times) - 2), ((">", "<"), (">=", "<="))):
        begin, end = times[len(times) // 4], times[at]
        wanted = [row for row in everything if (row[5] > begin if lower == ">" else row[5] >= begin)
                  and (row[5] < end if upper == "<" else row[5] <= end)]
        sql = "SELECT %s FROM spans WHERE begin_ns %s %d AND begin_ns %s %d" % (columns, lower, begin, upper, end)
        assert rows(venturi, path, sql) == wanted
        assert rows(venturi, path, sql.replace(str(begin), str(begin) + ".0")) == wanted
    for track in (0, 1, 2, 9):
        wanted = [row for row in everything if row[3] == track]
        assert rows(venturi, path, "SELECT %s FROM spans WHERE track = %d" % (columns, track)) == wanted
    site = everything[5][4]
    assert rows(venturi, path, "SELECT %s FROM spans WHERE site = %d" % (columns, site)) == [
        row for row in everything if row[4] == site]
    assert rows(venturi, path, "SELECT %s FROM spans WHERE begin_ns = %d AND track = 0" % (columns, times[3])) == [
        row for row in everything if row[5] == times[3] and row[3] == 0]
    for odd in ("'x'", "NULL", "1e300", "-1e300", "''", "x'00'"):
        for operator in ("<", ">", "="):
            sql = "SELECT count(*) FROM spans WHERE %%sbegin_ns %s %s" % (operator, odd)
            assert rows(venturi, path, sql % "") == rows(venturi, path, sql % "+"), sql


def test_events(venturi, make_recording):
    path = make_recording()
    assert rows(venturi, path, "SELECT name, unit, value FROM counters WHERE name = 'queue' LIMIT 2") == [
        ("queue", "items", 10), ("queue", "items", 9)]
    assert rows(venturi, path, "SELECT count(*) FROM counters WHERE begin_ns > 1000000 AND track = 0") == [(6,)]
    assert rows(venturi, path, "SELECT begin_ns, name, track, process FROM marks") == [(300000, "loaded", 0, 0)]
    assert rows(venturi, path, "SELECT key, value FROM attributes WHERE async_id IS NULL AND typeof(value) <> 'text'") == [
        ("ndet", -7), ("score", 0.1), ("nan", None)]
    assert rows(venturi, path, "SELECT value FROM attributes WHERE key = 'size'") == [(str(2 ** 64 - 1),)]
    assert rows(venturi, path, "SELECT count(*) FROM attributes WHERE async_id BETWEEN 100 AND 104") == [(5,)]


def test_joins(venturi, make_recording):
    path = make_recording()
    found = rows(venturi, path, "SELECT p.name AS process, t.name, count(*) FROM spans s JOIN threads t ON t.id = s.track "
                                "JOIN processes p ON p.id = t.process GROUP BY 1, 2 ORDER BY 3 DESC")
    assert found == [("pipeline", "main", 29), ("worker", "", 22), ("pipeline", "io", 12)]
    per_site = rows(venturi, path, "SELECT s.name, s.total_ns FROM stats s JOIN sites p ON p.id = s.site ORDER BY 2 DESC LIMIT 1")
    report = json.loads(venturi("report", "--json", path, check=0).stdout)["spans"][0]
    assert per_site == [(report["name"], report["total_ns"])]


def test_what_is_missing(venturi, make_recording):
    assert rows(venturi, make_recording(), "SELECT reason, events, lower_bound, process, track, begin_ns, end_ns FROM losses") == [
        ("buffers full", 12, 0, 0, 1, 760000, 790000), ("buffers full", 37, 1, 0, 1, 810000, 830000)]
    assert rows(venturi, make_recording("--damage"), "SELECT what FROM damage") == [("block checksum differs",)]
    assert rows(venturi, make_recording("--crash"), "SELECT ended, status FROM processes WHERE pid = 4711") == [("exit", 0)]
    assert rows(venturi, make_recording("--cut", 600), "SELECT ended, status FROM processes WHERE pid = 4712") == [(None, None)]


def test_outputs_agree(venturi, make_recording):
    path = make_recording()
    sql = "SELECT name, begin_ns, 0.5 AS half, NULL AS none FROM spans WHERE length(name) < 30"
    plain = rows(venturi, path, sql)
    text = venturi("query", "--csv", path, sql, text=False, check=0).stdout.decode()
    table = list(csv.reader(io.StringIO(text, newline="")))
    assert table[0] == ["name", "begin_ns", "half", "none"]
    assert [tuple(row) for row in table[1:]] == [(r[0], str(r[1]), "0.5", "") for r in plain]
    lines = venturi("query", path, sql, check=0).stdout.splitlines()
    assert lines[0].split() == ["name", "begin_ns", "half", "none"] and len(lines) == len(plain) + 1
    assert "\x1b" not in "".join(lines)
    assert json.loads(venturi("query", "--json", path, "SELECT 1 WHERE 0", check=0).stdout) == []
    assert venturi("query", path, "SELECT 1 AS one WHERE 0", check=0).stdout == "one\n"


def shown(venturi, path, sql, columns=80):
    text, code, _ = venturi.on_terminal("query", path, sql, columns=columns, NO_COLOR="1")
    assert code == 0
    return text.decode().splitlines()


def test_rows_fit_the_terminal(venturi, make_recording):
    """Texts lose their middle; without a terminal they are whole."""
    path = make_recording()
    sql = "SELECT name, begin_ns, attributes, error FROM spans ORDER BY begin_ns"
    for columns in (40, 80, 120):
        lines = shown(venturi, path, sql, columns)
        assert max(map(len, lines)) <= columns
    lines = shown(venturi, path, sql)
    assert len(lines) == 64 and lines[0].split() == ["name", "begin_ns", "attributes", "error"]
    assert any(line.startswith("xxxxx") and "x\u2026x" in line for line in lines)
    assert "x" * 10000 in venturi("query", path, sql, check=0).stdout
    assert "\u2026" not in venturi("query", path, sql, check=0).stdout


def test_many_columns_take_several_lines(venturi, make_recording):
    lines = shown(venturi, make_recording(), "SELECT * FROM spans LIMIT 5")
    assert max(map(len, lines)) <= 80
    assert " ".join(line for line in lines[:4]).split() == tables(venturi)["spans"]
    assert len(lines) == 4 * 6 and [line.startswith("  ") for line in lines[:4]] == [False, True, True, True]
    whole = venturi("query", make_recording(), "SELECT * FROM spans LIMIT 5", check=0).stdout
    assert whole.count("\n") == 6


def test_late_rows_fit_too(venturi, make_recording):
    """Widths are those of the first rows; a long text that comes later is cut to them."""
    sql = ("WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c WHERE x < 1500) "
           "SELECT x, CASE WHEN x > 1200 THEN replace(hex(zeroblob(100)), '00', 'ab') ELSE 'short' END AS a, x AS b FROM c")
    lines = shown(venturi, make_recording(), sql)
    assert len(lines) == 1501 and max(map(len, lines)) <= 80


def test_many_rows_are_streamed(venturi, make_recording):
    path = make_recording("--plain", "--spans", 5000)
    lines = venturi("query", path, "SELECT id, name, begin_ns FROM spans", check=0).stdout.splitlines()
    assert len(lines) == 5057
    assert len({line.index("features") for line in lines if "features" in line}) == 1


@pytest.mark.parametrize("sql", [
    "CREATE TABLE x(a)", "CREATE TEMP TABLE x AS SELECT 1", "ATTACH 'x' AS y", "PRAGMA journal_mode", "INSERT INTO spans DEFAULT VALUES",
    "DELETE FROM spans", "DROP TABLE spans", "VACUUM INTO 'x'", "BEGIN", "SELECT load_extension('x')", "SELECT readfile('x')",
    "SELECT writefile('x', 'y')", "CREATE VIRTUAL TABLE y USING spans", "SELECT * FROM pragma_database_list",
    "REINDEX", "ANALYZE", "SELECT edit('x')"])
def test_nothing_but_reading(venturi, make_recording, tmp_path, sql):
    done = venturi("query", make_recording(), sql, cwd=tmp_path, check=2)
    assert done.stdout == "" and done.stderr.startswith("venturi query: ") and done.stderr.count("\n") == 1
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("sql, message", [
    ("SELEC 1", 'near "SELEC": syntax error'), ("SELECT nme FROM spans", "no such column: nme"),
    ("SELECT * FROM span", "no such table: span"), ("", "the query is empty"), ("/* nothing */ ;", "the query is empty"),
    ("SELECT 1; SELECT 2", "one query at a time, there is more after the first ';'"),
    ("SELECT abs(-9223372036854775808)", "integer overflow"), ("SELECT randomblob(100000000)", "string or blob too big")])
def test_errors_are_one_line(venturi, make_recording, sql, message):
    done = venturi("query", make_recording(), sql, check=2)
    assert done.stderr == "venturi query: %s\n" % message


def test_comment_after_the_query_is_fine(venturi, make_recording):
    assert rows(venturi, make_recording(), "SELECT 1 AS one; -- that is all") == [(1,)]


def test_damaged_warns(venturi, make_recording):
    done = venturi("query", make_recording("--damage"), "SELECT count(*) FROM spans", check=0)
    assert done.stderr.startswith("venturi query: warning: ") and "damaged" in done.stderr


@pytest.mark.parametrize("words", [(), ("a.vt",), ("a.vt", "SELECT 1", "SELECT 2"), ("--json", "--csv", "a.vt", "SELECT 1"),
                                   ("/none.vt", "SELECT 1")])
def test_usage(venturi, words):
    done = venturi("query", *words, check=2)
    assert done.stdout == "" and done.stderr.count("\n") == 1


def test_interrupt(venturi, make_recording):
    child = subprocess.Popen([venturi.path, "query", make_recording(), "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) "
                              "SELECT count(*) FROM c"], env=bare_environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    time.sleep(0.5)
    child.send_signal(signal.SIGINT)
    child.communicate(timeout=60)
    assert child.returncode == -signal.SIGINT
