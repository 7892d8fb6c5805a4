"""Traces in Redis: what osprofiler wrote is read by us, what we ship is read by osprofiler; outages, repeats, and stores that hold anything."""
import json
import os
import signal
import subprocess
import sys
import time
import uuid

import pytest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "lib"))

import trace_stores  # noqa: E402
from trace_stores import VENTURI, Redis, essence, imported, nodes, notifications, peer, recorded_program, ship, shown, venturi  # noqa: E402

pytestmark = trace_stores.pytestmark
EVENTS = "osprofiler_opt:"


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with Redis(tmp_path_factory.mktemp("redis")) as redis:
        yield redis


@pytest.fixture
def redis(server):
    server.ask("FLUSHALL")
    return server


def push(redis, events, base=None):
    for event in events:
        redis.ask("LPUSH", EVENTS + (base or event["base_id"]), json.dumps(event))


# ---- with the real osprofiler ----------------------------------------------------------------------------------------------------


def test_what_osprofiler_wrote_is_read(redis):
    wrote = peer("write", redis.url + "/0", "4")
    trace = shown(wrote["base"], "--from", redis.url)
    assert trace["trace"] == wrote["base"] and trace["span_count"] == 6 and trace["errors"] == 1
    assert {span["id"] for span in trace["spans"]} == {event["trace_id"] for event in wrote["sent"]}
    assert trace["processes"][0]["service"] == "engine" and trace["processes"][0]["project"] == "mistral"
    root = trace["spans"][0]
    assert root["name"] == "wsgi" and root["attrs"]["request.path"] == "/v2/é"
    assert [span["attrs"].get("db.statement") for span in trace["spans"]].count("SELECT 3") == 1
    failed = [span for span in trace["spans"] if span["error"]]
    assert failed[0]["error"] == {"type": "ValueError", "message": "bad thing"}
    assert wrote["base"] in venturi("trace", "list", "--from", redis.url).stdout
    ranked = json.loads(venturi("rank", "--json", "--from", redis.url).stdout)
    assert {row["name"]: row["count"] for row in ranked["names"]} == {"wsgi": 1, "db": 4, "rpc-call": 1}


def test_our_report_of_it_is_osprofilers(redis):
    """The same nodes with the same payloads; Redis gives ends first, so keys stand in another order."""
    wrote = peer("write", redis.url + "/0", "3")
    theirs = peer("report", redis.url + "/0", wrote["base"])
    ours = json.loads(venturi("trace", "show", wrote["base"], "--from", redis.url, "--compat").stdout)
    for report in (ours, theirs):  # an empty object of parameters is no fact
        for _, _, payloads, _ in nodes(report).values():
            for payload in payloads.values():
                payload["info"].get("db", {}).pop("params", None)
    assert nodes(ours) == nodes(theirs)
    assert ours["stats"] == theirs["stats"]


def test_osprofiler_reads_what_we_ship(redis, tmp_path):
    base, path = recorded_program(tmp_path)
    ship(path, redis.url + "/0")
    own = shown(base, path)
    report = nodes(peer("report", redis.url + "/0", base))
    assert set(report) == {span["id"] for span in own["spans"]} and len(report) == 5
    by_name = {payload["name"]: payload for node in report.values() for payload in node[2].values()}
    assert by_name["order-start"]["info"]["request"] == {"path": "/x", "method": "POST"}
    assert by_name["order-stop"]["info"]["n"] == 3
    assert by_name["charge-start"]["info"]["function"]["name"] == "__main__.charge"
    assert by_name["charge-stop"]["info"]["function"]["result"] == "5.0"
    assert by_name["refuse-it-stop"]["info"]["etype"] == "KeyError"
    assert by_name["order-start"]["project"] == "shop" and by_name["order-start"]["service"] == "till"
    assert [node for node in report.values() if node[3] == "KeyError"]
    listed = peer("list", redis.url + "/0")
    assert [trace["base_id"] for trace in listed["all"]] == [base] == [trace["base_id"] for trace in listed["errors"]]
    assert essence(shown(base, "--from", redis.url)) == essence(own)


# ---- shipping ---------------------------------------------------------------------------------------------------------------------


def test_everything_comes_back(redis, tmp_path):
    base, events = notifications(40, fails=(3, 7))
    path = imported(tmp_path, events)
    ship(path, redis.url + "/3?ttl=1000")
    assert redis.ask("SELECT", 3) == b"OK"
    again = shown("last", "--from", redis.url + "/3")
    assert again["trace"] == base and again["errors"] == 2 and again["span_count"] == 40
    assert essence(again) == essence(shown(base, path))
    assert shown(base[:7], "--from", redis.url + "/3") == again == shown("slowest", "--from", redis.url + "/3")


def test_keys_go_away_if_asked(redis, tmp_path):
    base, events = notifications(3)
    path = imported(tmp_path, events)
    ship(path, redis.url + "?ttl=1000")
    assert 0 < redis.ask("TTL", EVENTS + base) <= 1000


def test_sent_twice_is_there_once(redis, tmp_path):
    """Whoever lost what he knew of what was sent looks before he sends."""
    base, events = notifications(30, fails=(2,))
    path = imported(tmp_path, events)
    for name in "ab":
        (tmp_path / name).mkdir()
        ship(path, redis.url, "--state", tmp_path / name)
    assert redis.ask("LLEN", EVENTS + base) == 60


def test_a_store_that_is_away_for_a_while(tmp_path):
    base, events = notifications(20)
    path = imported(tmp_path, events)
    with Redis(tmp_path) as redis:
        redis.process.kill()
        redis.process.wait()
        shipper = subprocess.Popen([VENTURI, "ship", str(path), "--to", redis.url, "--once", "--retry-max", "0.2", "--give-up", "200"],
                                   stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        time.sleep(0.5)
        assert shipper.poll() is None
        redis.start()
        assert shipper.wait(200) == 0, shipper.stderr.read()
        assert redis.ask("LLEN", EVENTS + base) == 40
        shipper.stderr.close()


def test_a_shipper_that_is_killed_goes_on_where_it_was(redis, tmp_path):
    events = [event for i in range(40) for event in notifications(50, begin=1_794_800_000_000_000 + i * 1_000_000)[1]]
    path = imported(tmp_path, events)
    shipper = subprocess.Popen([VENTURI, "ship", str(path), "--to", redis.url, "--once", "-q", "--batch", "20"], stdin=subprocess.DEVNULL)
    while shipper.poll() is None and redis.ask("DBSIZE") < 5:
        time.sleep(0.001)
    shipper.send_signal(signal.SIGKILL)
    shipper.wait()
    ship(path, redis.url, "--batch", "20")
    keys = redis.ask("KEYS", EVENTS + "*")
    assert len(keys) == 40 and sum(redis.ask("LLEN", key) for key in keys) == len(events)


def test_a_password(tmp_path):
    base, events = notifications(3)
    path = imported(tmp_path, events)
    with Redis(tmp_path, "--requirepass", "se cret") as redis:
        url = f"redis://:se%20cret@127.0.0.1:{redis.port}"
        ship(path, url)
        assert shown(base, "--from", url)["span_count"] == 3
        assert venturi("trace", "list", "--from", redis.url, VENTURI_STORE_PASSWORD="se cret").stdout.count(base) == 1
        for wrong in (redis.url, f"redis://:wrong@127.0.0.1:{redis.port}"):
            done = venturi("trace", "list", "--from", wrong, check=False)
            assert done.returncode == 2 and done.stderr.count("\n") == 1 and "wrong@" not in done.stderr, done.stderr


# ---- what a store may hold ----------------------------------------------------------------------------------------------------------


def test_rubbish_is_counted_and_left_out(redis):
    base, events = notifications(4)
    push(redis, events)
    for rubbish in ("", "{", "[]", "nonsense", '{"name": 7}', '{"name": "x-start", "base_id": "y"}', "[" * 50000, b"\xff\xfe", "x" * 5_000_000,
                    json.dumps(dict(events[0], timestamp="yesterday")), json.dumps(dict(events[0], name="x"))):
        redis.ask("LPUSH", EVENTS + base, rubbish)
    done = venturi("trace", "show", base, "--from", redis.url, "--json")
    assert json.loads(done.stdout)["span_count"] == 4
    assert done.stderr.count("\n") == 1 and "not used: 10" in done.stderr, done.stderr


def test_spans_inside_of_themselves(redis):
    base, events = notifications(3)
    ring = [dict(event, parent_id=events[3 if event["trace_id"] == events[1]["trace_id"] else 1]["trace_id"]) for event in events[1:5]]
    push(redis, ring)
    trace = shown(base, "--from", redis.url)
    assert trace["span_count"] == 2 and trace["orphans"] >= 1


def test_keys_of_others(redis):
    base, events = notifications(2)
    push(redis, events)
    redis.ask("SET", EVENTS + str(uuid.uuid4()), "a text")
    redis.ask("SADD", EVENTS + "x" * 2000, "a set")
    redis.ask("LPUSH", EVENTS + "no uuid", json.dumps(dict(events[0], base_id="no uuid")))
    listed = json.loads(venturi("trace", "list", "--from", redis.url, "--json").stdout)["traces"]
    assert len(listed) == 2 and base in {trace["trace"] for trace in listed}
    assert shown("no uuid", "--from", redis.url)["span_count"] == 1


def test_a_trace_that_is_too_large_hides_no_other(redis):
    """Newer than they are, and larger than they are."""
    base, events = notifications(3)
    push(redis, events)
    large, newer = notifications(1, begin=1_794_900_000_000_000)
    push(redis, newer[:1])
    redis.ask("EVAL", "for i=1,2000 do local t={} for j=1,1001 do t[j]='{}' end redis.call('LPUSH',KEYS[1],unpack(t)) end", "1", EVENTS + large)
    push(redis, newer[1:])
    for words in (["trace", "list"], ["trace", "list", "--sort", "spans"], ["rank"]):
        done = venturi(*words, "--from", redis.url)
        assert done.stderr.endswith("more than 2000000 notifications each (trace show ID reads it): 1 trace is left out\n"), done.stderr
        assert (base if words[0] == "trace" else "db-call") in done.stdout and large not in done.stdout
    redis.ask("DEL", EVENTS + base)
    done = venturi("trace", "list", "--from", redis.url, check=False)
    assert done.returncode == 2 and "holds only traces of more than 2000000 notifications" in done.stderr


def test_a_key_that_is_too_long(redis):
    base, events = notifications(3)
    push(redis, events)
    redis.ask("LPUSH", EVENTS + "k" * 600, "x")
    done = venturi("trace", "list", "--from", redis.url)
    assert base in done.stdout and done.stderr == f"venturi trace: warning: {redis.url}: longer than 512 bytes: 1 key is left out\n"


def test_what_never_ended_is_not_timed(redis, tmp_path):
    """Not even up to the end of a trace of a week later; nor from a file, nor from a recording."""
    _, crashed = notifications(4)
    _, later = notifications(4, begin=1_794_800_000_000_000 + 7 * 86_400_000_000)
    events = crashed[:-1] + later  # its root has no end
    push(redis, events)
    path = imported(tmp_path, events)
    ship(path, f"file://{tmp_path / 'store.jsonl'}")
    found = []
    for words in (["--from", redis.url], ["--from", f"file://{tmp_path / 'store.jsonl'}"], [path]):
        done = venturi("rank", "--json", "--wide", *words)
        assert done.stderr.endswith(": spans that never ended, not timed: 1 (--wide: Open)\n"), done.stderr
        rows = {row["name"]: row for row in json.loads(done.stdout)["names"]}
        assert (rows["wsgi"]["count"], rows["wsgi"]["unfinished"], rows["wsgi"]["total_s"], rows["wsgi"]["max_s"]) == (1, 1, 0.004, 0.004)
        assert rows["wsgi"]["self_s"] == 0.0028 and (rows["db-call"]["count"], rows["db-call"]["unfinished"]) == (6, 0)
        found.append(rows)
    assert found[0] == found[1] == found[2]


def test_a_name_that_never_ended(redis):
    _, events = notifications(1)
    push(redis, events[:1])
    done = venturi("rank", "--json", "--wide", "--from", redis.url)
    row, = json.loads(done.stdout)["names"]
    assert (row["name"], row["count"], row["unfinished"], row["total_s"]) == ("wsgi", 0, 1, 0)


def test_keys_of_old(redis):
    base, events = notifications(2)
    for event in events:
        redis.ask("SET", f"osprofiler:{base}_{event['trace_id']}_{event['timestamp']}", json.dumps(event))
    assert shown(base, "--from", redis.url)["span_count"] == 2


@pytest.mark.parametrize("url, word", [("redis://127.0.0.1:1", "no connection"), ("redis://127.0.0.1:{port}/x", "number of a database"),
                                       ("rediss://127.0.0.1:{port}", "TLS"), ("gopher://127.0.0.1", "no store of that kind"),
                                       ("otlp://127.0.0.1", "cannot be read back"), ("redis://127.0.0.1:{port}/999", "DB index"),
                                       ("redis://", "host"), ("nothing", "wants a URL")])
def test_one_line_says_what_is_wrong(redis, url, word):
    done = venturi("trace", "show", "last", "--from", url.format(port=redis.port), check=False)
    assert done.returncode == 2 and done.stdout == "" and done.stderr.count("\n") == 1 and word in done.stderr, done.stderr


def test_nothing_there(redis):
    for words in (("list",), ("show", "last"), ("show", str(uuid.uuid4()))):
        done = venturi("trace", *words, "--from", redis.url, check=False)
        assert done.returncode == 2 and done.stderr.count("\n") == 1 and "holds no" in done.stderr, done.stderr


def test_a_server_that_talks_nonsense(tmp_path):
    """Bytes that are no answer, one that is cut off, one that promises a terabyte."""
    import socket
    import threading
    for said in (b"HTTP/1.1 400 Bad Request\r\n\r\n", b"*2\r\n$1\r\n0\r\n*1\r\n$10\r\nabc", b"$1099511627776\r\n", b"*1000000000\r\n", b""):
        with socket.create_server(("127.0.0.1", 0)) as door:
            def answer():
                link, _ = door.accept()
                with link:
                    link.recv(1000)
                    link.sendall(b"+OK\r\n" + said)
                    link.shutdown(socket.SHUT_WR)
                    while link.recv(1000):
                        pass
            thread = threading.Thread(target=answer, daemon=True)
            thread.start()
            done = venturi("trace", "list", "--from", f"redis://127.0.0.1:{door.getsockname()[1]}", check=False)
            assert done.returncode == 2 and done.stderr.count("\n") == 1, (said, done.stderr)
            thread.join(60)


def test_together_with_files(redis, tmp_path):
    """A service that ships and one that records, in one tree."""
    base, events = notifications(3)
    push(redis, events[:1] + events[-1:])
    path = imported(tmp_path, events[1:-1])
    trace = shown(base, path, "--from", redis.url)
    assert trace["span_count"] == 3 and trace["orphans"] == 0
