"""Trace points in C: ids, parents, facts and failures are in the recording as the program saw them."""
import json
import os
import re
import subprocess

import pytest

from conftest import VENTURI, Recording, Run, program, tool

ZERO = "00000000-0000-0000-0000-000000000000"
NESTED = 512  # trace points of a thread that have ids; those inside are plain


def said(run):
    """What the program printed of its ids: key -> base and span."""
    lines = [line.split() for line in run.done.stdout.splitlines()]
    return {parts[0]: (parts[1], parts[2]) for parts in lines if len(parts) == 3 and len(parts[1]) == 36}


def rows(recording, where="1"):
    return recording.query("SELECT * FROM spans WHERE %s ORDER BY begin_ns" % where)


def by_name(recording):
    return {row["name"]: row for row in rows(recording)}


def events(path):
    return [json.loads(line) for line in tool("export", "-f", "jsonl", path).stdout.splitlines()]


@pytest.fixture(scope="module")
def ran(tmp_path_factory):
    path = tmp_path_factory.mktemp("traces") / "out.vt"
    done = subprocess.run([VENTURI, "run", "-o", str(path), "--", program("traces")], capture_output=True, text=True,
                          timeout=300)
    return Run(done, path)


def test_ids_are_those_that_the_program_saw(ran):
    assert ran.code == 0, ran.done.stderr
    assert "left its span" not in ran.done.stdout
    assert ran.recording.lost == 0
    spans = by_name(ran.recording)
    ids = said(ran)
    for key, name in (("all", "all"), ("fails", "fails"), ("thread", "on a thread"), ("hand", "hand 1"),
                      ("fork", "around the fork"), ("child", "in the child")):
        assert (spans[name]["base_id"], spans[name]["trace_id"]) == ids[key], name
    assert re.match(r"^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$", ids["all"][1])


def test_parents(ran):
    spans = by_name(ran.recording)
    top = spans["all"]
    assert top["parent_trace_id"] == top["base_id"], "a root"
    for name in ("fails", "hand 1", "left by a jump", "after the jump", "on a thread", "around the fork"):
        assert spans[name]["parent_trace_id"] == top["trace_id"], name
    assert spans["in the child"]["parent_trace_id"] == spans["around the fork"]["trace_id"]
    assert spans["in the child"]["process"] != top["process"]


def test_ids_are_unique(ran):
    ids = [row["trace_id"] for row in rows(ran.recording, "trace_id IS NOT NULL")]
    assert len(ids) == len(set(ids)) > NESTED


def test_all_of_them_end_once(ran):
    unfinished = rows(ran.recording, "NOT finished")
    assert unfinished == []
    ends = [event for event in events(ran.path) if event["type"] == "async_end"]
    begins = [event for event in events(ran.path) if event["type"] == "async_begin"]
    assert len(ends) == len(begins)
    assert [event["name"] for event in ends if event.get("abandoned")] == ["left by a jump"]
    assert not [event for event in ends if event["begin_ns"] is None]


def test_facts(ran):
    spans = by_name(ran.recording)
    failed = json.loads(spans["fails"]["attributes"])
    assert (failed["amount"], failed["card"]) == (12.5, "4242")
    assert int(failed["large"]) == 2**64 - 1
    assert (failed["etype"], failed["message"]) == ("ValueError", 'no "money"')
    assert spans["fails"]["error"] is not None
    assert spans["all"]["error"] is None
    assert json.loads(spans["all"]["attributes"])["while it runs"] == -3
    assert json.loads(spans["after the jump"]["attributes"]) == {"landed": 1}


def test_what_the_service_is_stands_where_the_trace_enters(ran):
    spans = by_name(ran.recording)
    entering = {"project": "shop", "service": "till", "host": "host-1"}
    assert {**json.loads(spans["all"]["attributes"]), **entering} == json.loads(spans["all"]["attributes"])
    assert "service" not in json.loads(spans["fails"]["attributes"])
    assert spans["on a thread"]["attributes"] is None, "its parent is a span of the same process"
    assert json.loads(spans["in the child"]["attributes"]) == entering
    assert json.loads(spans["in a child of the thread"]["attributes"]) == entering
    told = [event for event in events(ran.path) if event["type"].startswith("async")][:4]
    assert told[0]["base_id"] == spans["all"]["base_id"]
    assert {event["key"]: event["value"] for event in told[1:]} == entering
    assert {event["time_ns"] for event in told} == {told[0]["time_ns"]}, "the very time of the begin"


def test_outside_of_a_trace_they_are_plain_spans(ran):
    after = by_name(ran.recording)["after the trace"]
    assert (after["async"], after["base_id"], after["trace_id"], after["parent_trace_id"]) == (0, None, None, None)
    assert json.loads(after["attributes"]) == {"plain": 1}


def test_deep_ones_are_plain(ran):
    nested = rows(ran.recording, "name = 'nest'")
    assert len(nested) == 601
    assert sum(row["trace_id"] is not None for row in nested) == NESTED - 1
    assert sum(row["trace_id"] is None and row["async"] == 0 for row in nested) == 601 - (NESTED - 1)
    assert [json.loads(row["attributes"]) for row in nested] == [{"depth": depth} for depth in range(600, -1, -1)]


def test_contexts_that_change_inside_a_point(record):
    run = record("traces", "mixed")
    spans = by_name(run.recording)
    ids = said(run)
    assert (spans["of the first"]["base_id"], spans["of the first"]["trace_id"]) == ids["first"]
    assert (spans["of the second"]["base_id"], spans["of the second"]["trace_id"]) == ids["second"]
    assert ids["first"][0] != ids["second"][0]
    assert spans["of the second"]["parent_trace_id"] == ids["second"][0]
    assert spans["of none"]["async"] == 0 and json.loads(spans["of none"]["attributes"]) == {"plain": 2}
    assert json.loads(spans["of the first"]["attributes"])["of the first"] == 1
    assert spans["plain by hand"]["async"] == 0 and spans["plain by hand"]["finished"] == 1
    assert rows(run.recording, "NOT finished") == []


def test_what_a_binding_records(record):
    """Facts have the very time of the begin and of the end; texts are cut where a character ends."""
    run = record("traces", "record")
    told = [event for event in events(run.path) if event["type"].startswith("async")]
    kinds = [event["type"][6:] for event in told]
    assert kinds == ["begin", *["attribute"] * 4, *["attribute"] * 4, "end", "begin", "end"]
    assert len({event["time_ns"] for event in told[:5]}) == 1
    assert len({event["time_ns"] for event in told[5:10]}) == 1
    assert told[5]["time_ns"] > told[0]["time_ns"]
    values = [event["value"] for event in told[1:5]]
    assert values == [event["value"] for event in told[5:9]]
    assert values == [-1, 2**64 - 1, 0.5, "\u20ac" * 682]
    assert told[9]["failed"] and "failed" not in told[11]
    assert [told[0][key][:4] for key in ("base_id", "trace_id", "parent_id")] == ["0100", "0200", "0300"]
    assert "base_id" not in told[10]


def test_a_point_belongs_to_one_recording(tmp_path):
    paths = [tmp_path / "first.vt", tmp_path / "second.vt"]
    done = subprocess.run([program("traces"), "sessions", *paths], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    first, second = ([event for event in events(path) if event["type"].startswith("async")] for path in paths)
    assert [(event["type"], event.get("name")) for event in first if "key" not in event] == [("async_begin", "over two sessions")]
    begins = {event["id"]: event["name"] for event in second if event["type"] == "async_begin"}
    ends = [(event["name"], event.get("abandoned", False)) for event in second if event["type"] == "async_end"]
    assert list(begins.values()) == ["of the second", "inside", "at the end"]
    assert ends == [("inside", False), ("of the second", False), ("at the end", True)]
    assert not [event for event in second if event.get("key") == "too late"]


def test_recording_switched_off_and_on(tmp_path):
    """What has begun ends, wherever that is; what is said about a point that nobody saw is not said about another."""
    path = tmp_path / "switched.vt"
    done = subprocess.run([program("traces"), "switched", path], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    spans = [(row["name"], row["trace_id"] is not None, row["finished"], json.loads(row["attributes"] or "{}"), row["error"])
             for row in rows(Recording(path))]
    assert spans == [
        ("closes while off", True, 1, {"project": "\u20ac" * 42}, None), ("async", False, 1, {}, None),
        ("closes while off", False, 1, {}, None), ("plain", False, 1, {"before": 1}, None), ("seen", False, 1, {"of the seen": 1}, None)]


def test_ids_without_a_recording():
    done = subprocess.run([program("traces"), "listen"], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0
    assert done.stdout.count("\n") >= 6 and ZERO not in done.stdout
    facts = json.loads(done.stdout.splitlines()[-1])
    # all, fails, hand 1, left by a jump, after the jump, on a thread, 511 of nest, around the fork; two each.
    assert facts == {"news": 2 * (7 + NESTED - 1), "bad": 0}


def test_the_child_tells_only_of_its_own():
    done = subprocess.run([program("traces"), "listen"], capture_output=True, text=True, timeout=60)
    assert '{"news of the child": 2}' in done.stdout, "what was open at the fork is the parent's"


def test_environment(record):
    parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
    run = record("traces", "environment", env={"TRACEPARENT": parent, "TRACESTATE": "a=b"})
    assert run.code == 0, run.done.stderr
    top = by_name(run.recording)["all"]
    assert top["base_id"] == "0af76519-16cd-43dd-8448-eb211c80319c"
    assert top["parent_trace_id"] == "00000000-0000-0000-b7ad-6b7169203331"
    for broken in ("", "00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01"):
        done = subprocess.run([program("traces"), "environment"], env={**os.environ, "TRACEPARENT": broken}, timeout=60)
        assert done.returncode == 3


def ids_of(path):
    return sorted((event["name"], event["base_id"], event["trace_id"], event["parent_id"])
                  for event in events(path) if event["type"] == "async_begin")


def test_ids_survive_merge(ran, record, tmp_path):
    other = record("traces", "mixed")
    merged = tmp_path / "merged.vt"
    tool("merge", "-o", merged, ran.path, other.path)
    assert ids_of(merged) == sorted(ids_of(ran.path) + ids_of(other.path))


def test_ids_survive_slice(ran, tmp_path):
    """Of a span that is open where the slice begins too, with what was said when it began."""
    spans = by_name(ran.recording)
    middle = spans["after the jump"]["begin_ns"]
    sliced = tmp_path / "sliced.vt"
    tool("slice", "--from", "%dns" % middle, "-o", sliced, ran.path)
    kept = {name: (base, span, parent) for name, base, span, parent in ids_of(sliced)}
    top = spans["all"]
    assert kept["all"] == (top["base_id"], top["trace_id"], top["parent_trace_id"])
    assert "fails" not in kept and "on a thread" in kept
    attributes = json.loads(by_name(Recording(sliced))["all"]["attributes"])
    assert attributes == {"project": "shop", "service": "till", "host": "host-1"}


def test_ids_in_exports(ran, tmp_path):
    spans = by_name(ran.recording)
    trace = json.loads(tool("export", "-f", "chrome", ran.path).stdout)
    events_of = trace["traceEvents"] if isinstance(trace, dict) else trace
    begin = [event for event in events_of if event.get("ph") == "b" and event["name"] == "fails"][0]
    wanted = spans["fails"]
    assert [begin["args"][key] for key in ("base_id", "trace_id", "parent_id")] == [
        wanted["base_id"], wanted["trace_id"], wanted["parent_trace_id"]]
    out = tmp_path / "trace.pftrace"
    tool("export", "-f", "perfetto", "-o", out, ran.path)
    packed = out.read_bytes()
    assert all(text.encode() in packed for text in ("parent_id", wanted["trace_id"], wanted["parent_trace_id"]))


def test_what_is_next_are_the_traces(ran):
    assert "venturi: next  venturi trace list %s\n" % ran.path in ran.done.stderr
    assert "venturi: next  venturi report" not in ran.done.stderr
