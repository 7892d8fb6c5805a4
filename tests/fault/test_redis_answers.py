"""A Redis that answers what no Redis does: without end, in circles, with what terminals obey. Bounded memory and time, one line, nothing lost."""
import json
import os

import pytest

import conftest  # noqa: F401: the path of tests/lib
import trace_stores
from redis_stub import RedisStub, array, bulk
from trace_stores import Redis, imported, notifications, ship, shown, venturi

pytestmark = trace_stores.pytestmark
EVENTS = b"osprofiler_opt:"


def endless(first, piece):
    yield first
    while True:
        yield piece


ENDLESS = {"text": lambda: endless(b"$1000000000000\r\n", b"x" * 65536), "line": lambda: endless(b"+", b"x" * 65536),
           "array": lambda: endless(b"*1000000\r\n", b"$8\r\nxxxxxxxx\r\n" * 4096), "nothing": lambda: b"*2000000000\r\n"}


@pytest.mark.parametrize("form", ENDLESS)
def test_an_answer_without_end_to_ship(tmp_path, form):
    path = imported(tmp_path, notifications(3)[1])
    with RedisStub(lambda words: ENDLESS[form]()) as stub:
        done = ship(path, stub.url, "--give-up", "0", check=False)
        assert done.returncode == 1 and "an answer that is too large" in done.stderr and "it is kept" in done.stderr, done.stderr
        assert stub.sent < 32 << 20  # what sockets hold


@pytest.mark.parametrize("form", ENDLESS)
def test_an_answer_without_end_to_trace(form):
    with RedisStub(lambda words: ENDLESS[form]() if words[0] == b"SCAN" else b":1\r\n") as stub:
        done = venturi("trace", "list", "--from", stub.url, check=False)
        assert done.returncode == 2 and done.stderr.count("\n") == 1 and ("too large" in done.stderr or "of another kind" in done.stderr), done.stderr
        assert stub.sent < 64 << 20


def circles(cursors):
    """A SCAN that never comes to its end."""
    def says(words):
        return array(bulk(next(cursors)), array()) if words[0] == b"SCAN" else b":5\r\n"
    return says


def forever(*words):
    while True:
        yield from words


@pytest.mark.parametrize("cursors", [forever(b"7"), forever(b"1", b"2", b"3", b"4", b"5"), (b"%d" % n for n in range(1, 10**9))],
                         ids=["the same", "a circle", "ever new"])
def test_a_scan_without_end(cursors):
    with RedisStub(circles(cursors)) as stub:
        done = venturi("trace", "list", "--from", stub.url, check=False)
        assert done.returncode == 2 and done.stderr.count("\n") == 1 and "(SCAN) does not come to an end" in done.stderr, done.stderr
        assert len(stub.commands) < 20000


def test_a_server_that_does_not_answer(tmp_path):
    with RedisStub(lambda words: None) as stub:
        done = venturi("trace", "list", "--from", stub.url, check=False, VENTURI_STORE_TIMEOUT="0.3")
        assert done.returncode == 2 and done.stderr.count("\n") == 1 and "it does not answer" in done.stderr, done.stderr


def test_errors_that_terminals_obey(tmp_path):
    path = imported(tmp_path, notifications(3)[1])
    with RedisStub(lambda words: b"-ERR \x1b[2J\x1b]0;owned\x07\xff\r\n") as stub:
        for done in (venturi("trace", "list", "--from", stub.url, check=False), venturi("rank", "--from", stub.url, check=False),
                     ship(path, stub.url, "--give-up", "0", check=False)):
            assert done.returncode == 2 and "owned" in done.stderr and "\x1b" not in done.stderr and "\x07" not in done.stderr, done.stderr
    with RedisStub(lambda words: b":1\r\n") as stub:
        stub.says = lambda words: None
        done = venturi("trace", "show", "\x1b[2J", "--from", "gopher://\x1b[2J", check=False)
        assert done.returncode == 2 and "\x1b" not in done.stderr


# ---- dead letters ------------------------------------------------------------------------------------------------------------


def dead(tmp_path):
    """What a Redis refused, and where it is kept: keys of somebody else's in the way."""
    base, events = notifications(3, fails=(1,))
    path = imported(tmp_path, events)
    with Redis(tmp_path) as redis:
        redis.ask("SET", EVENTS + base.encode(), "mine")
        assert ship(path, redis.url, check=False).returncode == 1
    letters = [name for name in os.listdir(tmp_path) if name.endswith(".dead.ndjson")]
    assert len(letters) == 1
    return base, path, tmp_path / letters[0]


def test_dead_letters_are_sent_again(tmp_path):
    base, path, letters = dead(tmp_path)
    with Redis(tmp_path) as redis:
        done = venturi("ship", "--replay", letters, "--to", redis.url)
        assert "6 documents" in done.stderr, done.stderr
        ours, theirs = shown(base, "--from", redis.url), shown(base, path)
        assert trace_stores.essence(ours) == trace_stores.essence(theirs)
        venturi("ship", "--replay", letters, "--to", redis.url)  # they are there
        assert redis.ask("LLEN", EVENTS + base.encode()) == 6


def test_dead_letters_of_one_store_to_another(tmp_path):
    base, path, letters = dead(tmp_path)
    venturi("ship", "--replay", letters, "--to", f"file://{tmp_path}/all.jsonl")
    assert shown(base, "--from", f"file://{tmp_path}/all.jsonl")["span_count"] == 3


@pytest.mark.parametrize("change", [{"document": {}}, {"document": {"base_id": "x"}}, {"document": {"name": "a-start", "base_id": 7}}, {"kind": "step"},
                                    {"kind": "sample"}])
def test_letters_that_somebody_has_edited(tmp_path, change):
    _, _, letters = dead(tmp_path)
    letter = json.loads(letters.read_text().splitlines()[0])
    letters.write_text(json.dumps({**letter, **change}) + "\n")
    with Redis(tmp_path) as redis:
        done = venturi("ship", "--replay", letters, "--to", redis.url, check=False)
        assert done.returncode == 1 and redis.ask("DBSIZE") == 0, done.stderr
        assert "1 dead" in done.stderr or "not sent" in done.stderr


# ---- sentinels ---------------------------------------------------------------------------------------------------------------


def test_a_sentinel_names_the_master(tmp_path):
    base, events = notifications(3)
    path = imported(tmp_path, events)
    with Redis(tmp_path) as redis, RedisStub(lambda words: array(bulk(b"127.0.0.1"), bulk(str(redis.port).encode()))) as sentinel:
        url = sentinel.url.replace("redis:", "redissentinel:") + "?master=traces"
        ship(path, url)
        assert redis.ask("LLEN", EVENTS + base.encode()) == 6
        assert shown(base, "--from", url)["span_count"] == 3
        assert sentinel.commands[0] == [b"SENTINEL", b"get-master-addr-by-name", b"traces"]


@pytest.mark.parametrize("said", [b"*-1\r\n", b"*0\r\n", b"-ERR \x1b[2J\r\n", b"*2\r\n$9\r\n127.0.0.1\r\n:1\r\n", b"*2\r\n*0\r\n*0\r\n"])
def test_a_sentinel_that_knows_none(said):
    with RedisStub(lambda words: said) as sentinel:
        done = venturi("trace", "list", "--from", sentinel.url.replace("redis:", "redissentinel:"), check=False)
        assert done.returncode == 2 and done.stderr.count("\n") == 1 and "knows no master mymaster" in done.stderr, done.stderr
