"""Traces on a page: what the tables hold is what the recording says, span by span; findings lead there; too many are cut, and it is said."""
import uuid

import pytest
from page_reader import read

NASTY = ["</script><script>alert(1)</script>", "<!--<script>", "\u202eabc", "a\x1b[31m\x07b", "日本" * 900]
SITES = {"GET /": 1, "query": 2, "charge": 3, "key": 10, "etype": 11, "message": 12}
UNFINISHED, FAILED, CRITICAL, ORPHAN = 1, 2, 4, 8
WHOLE_IDS = 0


def ids(number):
    return uuid.UUID(int=(0xA << 124) + number)


@pytest.fixture
def traced(recording, tmp_path):
    """traced(spans, sites=…) -> a recording of them: (name, id, base, parent, begin, end or None, attributes at begin, error).
    An attribute is a value, or a key and a value."""
    def make(spans, sites=SITES, file="traced.vt"):
        made = recording(name="shop", pid=42)
        for name, site in sites.items():
            made.site(site, name, 3 if site >= 10 else 0)
        events = []
        for number, (name, own, base, parent, begin, end, attributes, error) in enumerate(spans, 1):
            events.append((begin, 0, number, lambda e, t, n, s=sites[name], i=(base, own, parent): e.trace_begin(
                t, s, n, WHOLE_IDS, *(one.bytes for one in i))))
            for value in attributes:
                key, value = value if isinstance(value, tuple) else ("key", value)
                events.append((begin, 1, number, lambda e, t, n, k=key, v=value: e.async_attribute(t, n, sites[k], v)))
            if end is None:
                continue
            for key, value in zip(("etype", "message"), error or ()):
                events.append((end, 2, number, lambda e, t, n, k=key, v=value: e.async_attribute(t, n, sites[k], v)))
            events.append((end, 3, number, lambda e, t, n, f=4 if error else 0: e.async_end(t, n, f)))
        block = made.events(0, first=0)
        for tick, _, number, write in sorted(events, key=lambda one: one[:3]):
            write(block, tick, number)
        block.write(last=max(event[0] for event in events) + 100)
        return made.save(tmp_path / file)
    return make


REQUEST, OTHER = ids(1), ids(2)
ROOT, QUERY, CHARGE, LATE = ids(10), ids(11), ids(12), ids(13)
SPANS = [
    ("GET /", ROOT, REQUEST, REQUEST, 1000, 9000, ["/cart", 7, -3, 2.5], None),
    ("query", QUERY, REQUEST, ROOT, 2000, 3000, [], None),
    ("charge", CHARGE, REQUEST, ROOT, 4000, 8000, [], ("ValueError", "no money")),
    ("query", LATE, OTHER, ids(99), 20000, None, [], None),
]


def test_every_span_with_its_ids_and_times(venturi, page, traced):
    made = page(traced(SPANS))
    traces = made.table("traces").dicts()
    assert [(row["base"], row["offset"], row["duration"], row["spans"], row["errors"], row["unfinished"], row["orphans"])
            for row in traces] == [(str(REQUEST), 1000, 8000, 3, 1, 0, 0), (str(OTHER), 20000, 100, 1, 0, 1, 1)]
    assert traces[0]["begin"] == 1800000000 * 10 ** 6 + 1
    spans = made.table("trace_spans").dicts()
    assert [(row["trace"], row["name"], row["parent"], row["start"], row["duration"], row["self"]) for row in spans] == [
        (0, "GET /", 0, 0, 8000, 3000), (0, "query", 1, 1000, 1000, 1000), (0, "charge", 1, 3000, 4000, 4000),
        (1, "query", 0, 0, 100, 100)]
    assert [uuid.UUID(int=sum(row["id_%d" % i] << 32 * (3 - i) for i in range(4))) for row in spans] == [
        ROOT, QUERY, CHARGE, LATE]
    assert [row["flags"] & ~CRITICAL for row in spans] == [0, 0, FAILED, UNFINISHED | ORPHAN]
    assert spans[0]["flags"] & CRITICAL
    assert [row["parent_id"] for row in spans] == ["", "", "", str(ids(99))]
    assert (spans[2]["error_type"], spans[2]["error_message"]) == ("ValueError", "no money")
    process = made.table("trace_processes").dicts()[spans[0]["process"]]
    assert (process["service"], process["pid"], process["file"].rsplit("/", 1)[-1]) == ("shop", 42, "traced.vt")


def test_what_was_said_about_a_span(page, traced):
    attrs = page(traced(SPANS)).table("trace_attrs").dicts()
    assert [(row["span"], row["key"], row["value"], row["flags"]) for row in attrs if row["key"] == "key"] == [
        (0, "key", "/cart", 1), (0, "key", "7", 3), (0, "key", "-3", 3), (0, "key", "2.5", 3)]


def test_findings_lead_to_the_span(venturi, page, traced):
    path = traced(SPANS)
    found = {one["kind"]: one for one in page(path).directory["findings"]}
    assert found["trace-errors"]["refs"] == [{"trace": 0, "span": 2}]
    assert "charge" in found["trace-errors"]["text"] and "ValueError" in found["trace-errors"]["text"]
    assert found["slow-trace"]["refs"] == [{"trace": 0, "span": 2}]
    told = {one["kind"]: one for one in venturi.json("report", "--json", path)["findings"]}
    assert told["slow-trace"]["evidence"] == {"what": "trace", "name": str(REQUEST), "id": 2}


def test_nothing_is_said_where_nothing_failed(page, traced):
    spans = [("GET /", ROOT, REQUEST, REQUEST, 0, 900, [], None)] + [
        ("query", ids(100 + i), REQUEST, ROOT, 100 * i, 100 * i + 90, [], None) for i in range(9)]
    made = page(traced(spans))
    assert not [one for one in made.directory["findings"] if "trace" in one["kind"]]


def test_without_traces_there_is_no_table(page, golden):
    made = page(golden("everything"))
    assert not [name for name in made.tables if name.startswith("trace")]


def test_too_many_are_cut_where_the_tree_stays_one(page, traced):
    made = page(traced(SPANS), "--events", "2")
    assert [row["name"] for row in made.table("trace_spans").dicts()] == ["GET /", "query"]
    assert [row["spans"] for row in made.table("traces").dicts()] == [3, 1]
    assert any("2 of 4 spans of traces are left out" in note for note in made.notes)
    assert {row["span"] for row in made.table("trace_attrs").dicts()} == {0}


def test_nothing_ends_its_element(page, traced):
    sites = {name: i for i, name in enumerate(NASTY, 1)}
    sites.update({"key": 10, "etype": 11, "message": 12})
    spans = [(name, ids(50 + i), REQUEST, REQUEST, 100 * i, 100 * i + 50, [name], (name, name))
             for i, name in enumerate(NASTY)]
    made = page(traced(spans, sites))
    assert "<script>alert" not in made.text
    assert made.table("trace_spans")["name"] == NASTY
    assert made.table("trace_spans")["error_message"] == NASTY
    assert [row["value"] for row in made.table("trace_attrs").dicts() if row["key"] == "key"] == NASTY


@pytest.mark.parametrize("said, title", [
    ([("request.method", "GET"), ("request.path", "/bad</script>")], "GET /bad</script> (wsgi)"),
    ([("request.path", "/alone")], "wsgi"),
    ([], "wsgi")])
def test_a_page_of_one_trace_is_called_like_its_request_and_names_all_files(venturi, traced, tmp_path, said, title):
    sites = {"wsgi": 1, "query": 2, "request.method": 10, "request.path": 11}
    front = traced([("wsgi", ROOT, REQUEST, REQUEST, 1000, 9000, said, None)], sites, "front.vt")
    back = traced([("query", QUERY, REQUEST, ROOT, 2000, 3000, [], None)], sites, "back.vt")
    out = tmp_path / "trace.html"
    venturi("trace", "show", str(REQUEST), front, back, "--html", "--out", out, check=0)
    made = read(out)
    assert made.directory["title"] == title
    assert made.directory["files"] == [str(front), str(back)]
    assert [row["name"] for row in made.table("trace_spans").dicts()] == ["wsgi", "query"]
