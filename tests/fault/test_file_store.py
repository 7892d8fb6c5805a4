"""The store that is a file: what `ship --to file://` has written is read by every command that takes traces, whatever stands before it."""
import json

import conftest
from conftest import make_steps, many, ship, status_of, wait_for
from es_stub import Answer
from trace_stores import imported, notifications, recorded_program, shown, venturi
import trace_stores


def store_of(tmp_path, steps):
    """Steps first, a trace behind them; the trace's id and the file."""
    store = tmp_path / "all.jsonl"
    base, events = notifications(4)
    assert ship(make_steps(tmp_path / "steps.vt", many(steps)), "--to", f"file://{store}", "--once").returncode == 0
    assert ship(imported(tmp_path, events), "--to", f"file://{store}", "--once").returncode == 0
    return base, store


def test_many_steps_come_first(tmp_path):
    base, store = store_of(tmp_path, 2000)
    assert store.stat().st_size > 256 << 10
    for where in (("--from", f"file://{store}"), (store,)):
        assert shown(base, *where)["span_count"] == 4
        assert base in venturi("trace", "list", *where).stdout
        names = json.loads(venturi("rank", "--json", *where).stdout)["names"]
        assert {row["name"]: row["count"] for row in names} == {"wsgi": 1, "db-call": 3}


def test_a_file_like_it_is_ranked(tmp_path):
    _, events = notifications(4)
    path = tmp_path / "notes.jsonl"
    path.write_text("".join(json.dumps(event) + "\n" for event in events))
    assert json.loads(venturi("rank", "--json", path).stdout)["names"][0]["name"] == "wsgi"


def test_files_that_hold_no_traces(tmp_path):
    store = tmp_path / "all.jsonl"
    ship(make_steps(tmp_path / "steps.vt", many(2000)), "--to", f"file://{store}", "--once")
    (tmp_path / "other.jsonl").write_text('{"a": 1}\n' * 20000)
    (tmp_path / "long.jsonl").write_text('{"a": "' + "x" * (5 << 20) + '"}\n')
    for path in (store, tmp_path / "other.jsonl", tmp_path / "long.jsonl"):
        for words in (("rank", path), ("rank", "--from", f"file://{path}"), ("trace", "list", "--from", f"file://{path}")):
            done = venturi(*words, check=False)
            assert done.returncode == 2 and done.stderr.count("\n") == 1 and path.name in done.stderr, done.stderr


def test_what_can_be_read_is_named(tmp_path):
    done = venturi("trace", "list", "--from", "mongodb://x", check=False)
    assert done.returncode == 2 and "there are " in done.stderr and done.stderr.endswith(", elasticsearch, opensearch, http, https, file\n"), done.stderr


OUTSIDE = trace_stores.PROGRAM.replace('trace.init("K")\n', "").replace("print(trace.get().get_base_id())\n", """
trace.init("K")
with trace.Trace("inside"):
    pass
print(trace.get().get_base_id())
""")


def test_spans_outside_of_any_trace_stay_where_they_are(tmp_path, monkeypatch):
    """They are no part of any trace of osprofiler's: all such spans of all programs would be one."""
    monkeypatch.setattr(trace_stores, "PROGRAM", OUTSIDE)
    base, path = recorded_program(tmp_path)
    store = tmp_path / "all.jsonl"
    done = ship(path, "--to", f"file://{store}", "--once")
    assert done.returncode == 0 and "2 documents" in done.stderr and "; 5 spans outside of any trace are in the recording only" in done.stderr, done.stderr
    assert {json.loads(line)["base_id"] for line in store.read_text().splitlines()} == {base}
    done = ship(path, "--to", f"file://{store}", "--once")
    assert "0 documents" in done.stderr


def test_what_waits_is_counted(tmp_path, stub, shipper):
    """Not only what is in hand: all steps of the spool that the store does not have yet, while it is away and while it comes back."""
    spool = tmp_path / "spool"
    spool.mkdir()
    for number in range(3):
        make_steps(spool / conftest.spool_name(number + 1), many(200, number * 200))
    stub.faults = [Answer(503)] * 100000
    one = shipper(spool, "--to", stub.url, "--batch", "50", "--every", "0.05", "--retry-max", "0.2")
    wait_for(lambda: list(spool.glob("*.status.json")) and status_of(spool)["waiting"] == 600)
    make_steps(tmp_path / "more.vt", many(100, 600))
    (tmp_path / "more.vt").rename(spool / conftest.spool_name(9))
    wait_for(lambda: status_of(spool)["waiting"] == 700)
    assert status_of(spool)["waiting_files"] == 4
    stub.faults = []
    wait_for(lambda: status_of(spool)["waiting"] == 0)
    code, _ = one.end()
    assert code == 0 and len(stub.documents) == 700 and status_of(spool)["waiting"] == 0
