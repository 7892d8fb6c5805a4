"""What is in a page is what the other commands say."""
import math

import pytest

from page_reader import same

ALL = ["everything", "calls", "lines", "monotonic", "no-process", "crash", "cut", "damage", "empty"]
FLAGS = {"unfinished": 1, "error": 2}


def sites_of(page):
    return page.table("sites").dicts()


@pytest.mark.parametrize("name", ALL)
def test_every_span_in_its_place(venturi, page, golden, name):
    made = page(golden(name))
    wanted = venturi.spans(golden(name))
    tracks = [track["id"] for track in made.recording["tracks"]]
    sites = sites_of(made)
    found = made.table("spans").dicts()
    assert [(tracks[row["track"]], sites[row["site"]]["name"], row["depth"], row["start"], row["duration"],
             row["count"], bool(row["flags"] & 1)) for row in found] == [
        (row["track"], row["name"], row["depth"], row["begin_ns"], row["duration_ns"], 1, not row["finished"])
        for row in wanted]
    assert [bool(row["flags"] & 2) for row in found] == [row["error"] is not None for row in wanted]


@pytest.mark.parametrize("name", ALL)
def test_sums_of_spans(venturi, page, golden, name):
    made = page(golden(name))
    report = venturi.json("report", "--json", "-n", "0", golden(name))
    sites = sites_of(made)
    found = made.table("span_stats").dicts()
    assert len(found) == len(report["spans"])
    by_name = {(row["name"], row.get("file", ""), row.get("line", 0)): row for row in report["spans"]}
    for row in found:
        site = sites[row["site"]]
        wanted = by_name[site["name"], site["file"], site["line"]]
        assert (row["count"], row["errors"]) == (wanted["count"], wanted["errors"])
        for key in ("total", "self", "min", "avg", "max", "p50", "p90", "p99"):
            assert row[key] == wanted[key + "_ns"], (site["name"], key)
    recording = made.recording
    assert recording["spans"] == report["span_count"]
    assert recording["duration_ns"] == report["duration_ns"]
    assert recording["lost_events"] == report["trust"]["lost_events"]
    assert recording["overhead_ns"] == report["trust"]["overhead_ns"]
    assert len(recording["damage"]) == report["trust"]["damaged_ranges"]
    assert len(recording["processes"]) == report["process_count"]
    assert [finding["text"] for finding in made.directory["findings"]] == [
        finding["text"] for finding in report["findings"]]


def test_paths_are_those_of_the_spans(venturi, page, golden):
    made = page(golden("everything"))
    spans = {row["id"]: row for row in venturi.spans(golden("everything"))}
    sites, tracks = sites_of(made), [track["id"] for track in made.recording["tracks"]]
    wanted = {}
    for row in spans.values():
        path, at = (), row
        while at:
            path, at = (at["name"],) + path, spans.get(at["parent_id"])
        wanted[row["track"], path] = wanted.get((row["track"], path), 0) + 1
    found, names = {}, []
    for row in made.table("paths").dicts():
        assert row["parent"] <= len(names)
        path = (names[row["parent"] - 1] if row["parent"] else ()) + (sites[row["site"]]["name"],)
        names.append(path)
        found[tracks[row["track"]], path] = row["count"]
    assert found == wanted


def test_async_spans_have_lanes(venturi, page, golden):
    made = page(golden("everything"))
    sites = sites_of(made)
    wanted = venturi.spans(golden("everything"), "async")
    rows = made.table("async").dicts()
    assert sorted((sites[row["site"]]["name"], row["start"], row["duration"]) for row in rows) == sorted(
        (row["name"], row["begin_ns"], row["duration_ns"]) for row in wanted)
    assert rows == sorted(rows, key=lambda row: row["start"])
    free = {}
    for row in rows:
        lane = made.recording["tracks"][row["track"]]["process"], row["lane"]
        assert free.get(lane, 0) <= row["start"], "two spans overlap in a lane"
        free[lane] = row["start"] + row["duration"]


def test_counters_marks_errors(venturi, page, golden):
    made = page(golden("everything"))
    report = venturi.json("report", "--json", golden("everything"))
    sites = sites_of(made)
    values = {}
    for row in made.table("counters").dicts():
        values.setdefault(sites[row["site"]]["name"], []).append(row["value"])
    assert {name: (len(list_), min(list_), max(list_)) for name, list_ in values.items()} == {
        row["name"]: (row["count"], row["min"], row["max"]) for row in report["counters"]}
    assert made.table("marks").rows == sum(row["count"] for row in report["marks"])
    assert made.table("errors").rows >= sum(row["count"] for row in report["errors"])
    named = {(sites[row["site"]]["name"], row["type"]) for row in made.table("errors").dicts()}
    assert {(row["name"], row["type"]) for row in report["errors"]} <= named


@pytest.mark.parametrize("name", ["calls", "everything"])
def test_functions(venturi, page, golden, name):
    made = page(golden(name))
    report = venturi.json("report", "--json", "-n", "0", golden(name))["functions"]
    found = made.table("functions").dicts()
    key = lambda row: (row["name"], row["file"], row["line"], row["calls"], row["total_ns"])  # noqa: E731
    for row in found:
        row["total_ns"] = row["total"]
    assert len(found) == len(report)
    for row, wanted in zip(sorted(found, key=key), sorted(report, key=key)):
        assert (row["name"], row["file"], row["line"], row["language"], row["calls"], row["primitive"]) == (
            wanted["name"], wanted["file"], wanted["line"], wanted["language"], wanted["calls"],
            wanted["primitive_calls"])
        for own in ("total", "self", "min", "max", "p50", "p99"):
            assert same(row[own], wanted[own + "_ns"]), own


def test_calls_add_up(page, golden):
    made = page(golden("calls"))
    functions, calls = made.table("functions").dicts(), made.table("calls").dicts()
    assert calls and made.recording["mode"]["functions"] == "counted"
    count, own = [0] * len(functions), [0.0] * len(functions)
    for at, row in enumerate(calls):
        assert row["parent"] <= at
        assert row["track"] <= len(made.recording["tracks"])
        count[row["function"]] += row["calls"] + row["resumes"]
        own[row["function"]] += row["self"]
    for row, total, self_ns in zip(functions, count, own):
        assert total == row["calls"]
        assert same(self_ns, row["self"], 1e-6)


def check_lines(page, answer):
    functions = page.table("line_functions").dicts()
    lines = page.table("lines").dicts()
    wanted = {(row["name"], row["file"], row["line"]): row for row in answer["functions"]}
    assert len(functions) == len(answer["functions"]) > 0
    for at, function in enumerate(functions):
        other = wanted[function["name"], function["file"], function["line"]]
        assert function["calls"] == other["calls"]
        assert same(function["total"] / 1e9, other["total_time"])
        own = [line for line in lines if line["function"] == at]
        assert [(line["line"], line["hits"] if line["counted"] else None) for line in own] == [
            (line["line"], line["hits"]) for line in other["lines"]]
        for line, wanted_line in zip(own, other["lines"]):
            assert same(math.nan if line["how"] == 0 else line["time"] / 1e9, wanted_line["time"])


def test_lines(venturi, page, golden, tmp_path):
    path = golden("lines")
    answer = venturi.json("lines", "--json", path)
    check_lines(page(path), answer)
    venturi("export", path, "-o", tmp_path / "a.lprof", check=0)
    check_lines(page(tmp_path / "a.lprof"), venturi.json("lines", "--json", tmp_path / "a.lprof"))


def test_a_profile_of_another_tool(venturi, page, golden, tmp_path):
    profile = tmp_path / "a.prof"
    venturi("export", "-f", "pstats", golden("calls"), "-o", profile, check=0)
    made = page(profile)
    wanted = venturi.json("stats", "--json", profile)["functions"]
    found = made.table("functions").dicts()
    key = lambda row: row[:4]  # noqa: E731
    for row, other in zip(sorted(((row["file"], row["line"], row["calls"], row["primitive"], row["self"], row["total"])
                                  for row in found), key=key),
                          sorted(((row["file"], row["line"], row["ncalls"], row["pcalls"], row["tottime"], row["cumtime"])
                                  for row in wanted), key=key)):
        assert row[:4] == other[:4] and same(row[4] / 1e9, other[4]) and same(row[5] / 1e9, other[5])
    assert len(found) == len(wanted)
    assert made.recording["mode"]["functions"] == "imported"
    assert made.directory["title"] == "a.prof"
    pairs = made.table("pairs").dicts()
    assert pairs and all(row["caller"] < len(found) and row["callee"] < len(found) for row in pairs)
    # No path took longer than its function, and roots together took what all functions took.
    calls = made.table("calls").dicts()
    assert all(row["total"] <= found[row["function"]]["total"] * (1 + 1e-9) for row in calls)
    assert all(row["flags"] & 2 for row in calls)
    roots = sum(row["total"] for row in calls if not row["parent"])
    assert same(roots, sum(row["self"] for row in found), 1e-6)
    assert "estimates" in " ".join(made.notes)


@pytest.mark.parametrize("name,word", [("crash", "no end"), ("damage", "cannot be read"), ("empty", "Nothing was recorded")])
def test_what_is_missing_is_said(page, golden, name, word):
    assert word in " ".join(page(golden(name)).notes)
