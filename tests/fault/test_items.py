"""Bulk requests: each document is acknowledged by itself, whatever else its request holds."""
import json
import os
import time
from email.utils import formatdate

import pytest
from conftest import QUICK, dead_of, make_steps, many, numbers, ship, status_of
from es_stub import Answer, Items, Silence


def send(stub, tmp_path, count=100, *words, path="a.vt"):
    make_steps(tmp_path / path, many(count))
    return ship(tmp_path / path, "--to", stub.url, "--once", *QUICK, *words)


def test_all_are_sent_once(stub, tmp_path):
    done = send(stub, tmp_path, 5000)
    assert done.returncode == 0 and done.stderr == f"venturi: 5000 documents to {stub.url}\n"
    assert numbers(stub) == list(range(5000)) and stub.bulks == [2000, 2000, 1000]
    again = ship(tmp_path / "a.vt", "--to", stub.url, "--once")
    assert again.returncode == 0 and again.stderr == f"venturi: 0 documents to {stub.url}\n"
    assert len(stub.bulks) == 3


def test_ids_are_the_same_without_the_state(stub, tmp_path):
    send(stub, tmp_path, 3000)
    for name in os.listdir(tmp_path):
        if "ship-" in name:
            os.remove(tmp_path / name)
    done = ship(tmp_path / "a.vt", "--to", stub.url, "--once")
    assert done.returncode == 0 and "3000 documents" in done.stderr and "(3000 were there)" in done.stderr
    assert numbers(stub) == list(range(3000))


def test_a_busy_item_alone_is_sent_again(stub, tmp_path):
    stub.faults = [Items(429, {3, 50}), Items(503, {1}), Items(429, {0})]
    done = send(stub, tmp_path)
    assert done.returncode == 0, done.stderr
    assert stub.bulks == [100, 2, 1, 1] and numbers(stub) == list(range(100))
    assert "es_rejected_execution_exception" in done.stderr
    assert status_of(tmp_path)["retried"] == 4


def test_a_blocked_index_is_waited_for(stub, tmp_path):
    block = {"type": "cluster_block_exception", "reason": "index [x] blocked by: [TOO_MANY_REQUESTS/12/disk usage exceeded flood-stage]"}
    stub.faults = [Items(403, {0}, block), Items(429, {0}, block)]
    assert send(stub, tmp_path).returncode == 0
    assert numbers(stub) == list(range(100)) and dead_of(tmp_path) == ([], None)


def test_all_busy(stub, tmp_path):
    stub.faults = [Answer(429, {"error": {"type": "circuit_breaking_exception", "reason": "Data too large"}}, Retry_After=1),
                   Answer(503, ""), Answer(502, "<html>Bad Gateway</html>"), Answer(504), Answer(408), Answer(500, "{")]
    done = send(stub, tmp_path)
    assert done.returncode == 0 and numbers(stub) == list(range(100)) and stub.bulks == [100] * 7
    assert "circuit_breaking_exception: Data too large" in done.stderr and "takes documents again" in done.stderr


@pytest.mark.parametrize("status", [429, 503])
@pytest.mark.parametrize("form", ["seconds", "date"])
def test_the_store_says_when(stub, tmp_path, status, form):
    """Not before that, however soon the next try would have been."""
    stub.faults = [Answer(status, Retry_After=2 if form == "seconds" else formatdate(time.time() + 3.5, usegmt=True))]
    begin = time.monotonic()
    assert send(stub, tmp_path).returncode == 0
    assert numbers(stub) == list(range(100)) and stub.bulks == [100] * 2 and time.monotonic() - begin >= 2


@pytest.mark.parametrize("text", ["soon", "-5", "99999999999999999999999", "Mon, 01 Jan 2001 00:00:00 GMT", ""])
def test_a_when_that_is_none(stub, tmp_path, text):
    """Nonsense is no reason to wait, nor is the past; what is too long is cut off, here by --give-up."""
    stub.faults = [Answer(503, Retry_After=text)]
    done = send(stub, tmp_path, 100, "--give-up", "2")
    assert done.returncode == (1 if text.startswith("9") else 0), done.stderr


def test_an_answer_that_does_not_come(stub, tmp_path):
    stub.faults = [Silence(), Silence(takes=True), Answer(503, takes=True)]
    done = send(stub, tmp_path)
    assert done.returncode == 0 and "(100 were there)" in done.stderr
    assert numbers(stub) == list(range(100))


def test_too_much_is_halved(stub, tmp_path):
    stub.most_bytes = 20000
    done = send(stub, tmp_path, 1000)
    assert done.returncode == 0 and numbers(stub) == list(range(1000))
    assert max(stub.bulks) < 100
    asked = [len(body) for _, _, _, body in stub.requests]
    assert sum(size > 20000 for size in asked) < 15  # it remembers


def test_one_that_is_too_large_is_dead(stub, tmp_path):
    stub.most_bytes = 3000
    lines = many(10)
    lines[4] = lines[4].replace('"n":4', '"n":4,"t":"%s"' % ("x" * 5000))
    make_steps(tmp_path / "a.vt", lines)
    done = ship(tmp_path / "a.vt", "--to", stub.url, "--once", *QUICK)
    assert done.returncode == 1 and numbers(stub) == [0, 1, 2, 3, 5, 6, 7, 8, 9]
    letters, path = dead_of(tmp_path)
    assert [(letter["status"], letter["document"]["n"]) for letter in letters] == [(413, 4)]
    assert "bytes is more than the store takes" in letters[0]["reason"]
    assert done.stderr == f"venturi: 9 documents to {stub.url}, 1 dead\nventuri: dead letters, with reasons: {path}\n"


def test_a_request_that_is_refused_whole_is_taken_apart(stub, tmp_path):
    def refuse(server):
        body = server.requests[-1][3]
        return Answer(400, {"error": {"type": "illegal_argument_exception", "reason": "no"}}) if b'"n":17}' in body else None
    stub.faults = [refuse] * 100
    assert send(stub, tmp_path).returncode == 1
    letters, _ = dead_of(tmp_path)
    assert [letter["document"]["n"] for letter in letters] == [17]
    assert letters[0]["reason"] == "illegal_argument_exception: no" and len(stub.documents) == 99


def test_what_is_refused_is_kept_with_its_reason_and_can_be_replayed(stub, tmp_path):
    stub.refused = lambda document: document["n"] % 10 == 0
    assert send(stub, tmp_path).returncode == 1
    letters, path = dead_of(tmp_path)
    assert [letter["document"]["n"] for letter in letters] == list(range(0, 100, 10)) and len(stub.documents) == 90
    for letter in letters:
        assert letter["status"] == 400 and letter["index"] == "pipeline-mystep-20260921" and letter["kind"] == "step"
        assert letter["reason"] == "mapper_parsing_exception: failed to parse field [n] of type [long]"
    assert os.stat(path).st_mode & 0o077 == 0
    stub.refused = lambda document: document["n"] == 50
    done = ship("--replay", path, "--to", stub.url, *QUICK)
    assert done.returncode == 1 and "9 documents" in done.stderr and "1 dead" in done.stderr
    with open(path + ".dead") as text:
        assert [json.loads(one)["document"]["n"] for one in text] == [50]
    stub.refused = None
    assert ship("--replay", path + ".dead", "--to", stub.url, *QUICK).returncode == 0
    assert ship("--replay", path, "--to", stub.url, *QUICK).returncode == 0
    assert numbers(stub) == list(range(100))


def test_lines_that_are_no_dead_letters(stub, tmp_path):
    good = {"index": "a", "id": "0" * 31 + "1", "document": {"n": 1}}
    lines = ["", "{", "[]", "{}", json.dumps({**good, "id": "x"}), json.dumps({**good, "document": 3}), json.dumps(good), "\x00\xff", '{"a":' * 5000]
    (tmp_path / "dead").write_text("\n".join(lines))
    done = ship("--replay", tmp_path / "dead", "--to", stub.url, *QUICK)
    assert done.returncode == 1 and numbers(stub) == [1]
    assert "7 lines are no dead letters and not sent" in done.stderr


def test_compressed(stub, tmp_path):
    assert send(stub, tmp_path, 3000, "--gzip", "on").returncode == 0
    assert numbers(stub) == list(range(3000))
    _, path, headers, body = stub.requests[0]
    assert headers["Content-Encoding"] == "gzip" and int(headers["Content-Length"]) < len(body) / 5
    assert path == "/_bulk?filter_path=errors,items.*.status,items.*.error"
    assert "compatible-with" not in str(headers)


def test_answers_that_make_no_sense_lose_nothing(stub, tmp_path):
    """Each is tried alone: it is held, said in one line, and sent when it is well again."""
    for i, body in enumerate(["", "ok", "[]", "{}", '{"errors":true,"items":[]}', '{"errors":false}', '{"errors":false,"items":[]}',
                              '{"errors":false,"items":[{"create":{"status":201}}]}', '{"errors":false,"items":', '{"errors":true,"items":[{"create":{"status":201}}]}',
                              '{"errors":true,"items":[{"create":{"status":"x"}}]}', '{"errors":true,"items":{"a":1}}', '{"errors":true,"items":[' * 2000,
                              b"\xff\xfe\x00", '{"errors":true,"items":[{"create":{"status":99999999999999999999}}]}', "<html>login</html>"]):
        stub.faults = [Answer(200, body, takes=i % 2 == 1)]
        done = send(stub, tmp_path, 10, path=f"{i}.vt")
        assert done.returncode == 2 and done.stderr.splitlines()[-1].startswith(f"venturi ship: {stub.url}: "), (body, done.stderr)
        assert ship(tmp_path / f"{i}.vt", "--to", stub.url, "--once", *QUICK).returncode == 0
        assert len(stub.documents) == 10 * (i + 1)
    assert dead_of(tmp_path) == ([], None)
