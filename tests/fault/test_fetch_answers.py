"""What `trace --from` and `rank --from` say when something else than a healthy Elasticsearch answers: one line, exit code 2, and not for ever."""
import json
import threading

import pytest

from conftest import environment
from es_stub import FORMS, Stub
from recorded import VENTURI, run
from test_doors import certificates  # noqa: F401: a fixture

CAPS = {"indices": ["osprofiler-notifications"], "fields": {"base_id": {"keyword": {}}, "duration_ns": {"long": {}}}}
ASKING = {"list": ("trace", "list"), "show": ("trace", "show", "last"), "id": ("trace", "show", "0" * 31 + "1"), "rank": ("rank",)}


class Odd(Stub):
    """Answers what it is told; _field_caps first well, if asked so."""

    def __init__(self, body, status=200, caps=CAPS, headers=None, **more):
        self.body, self.status, self.caps, self.more_headers = body, status, caps, headers
        super().__init__(**more)

    def serve(self, handler):
        handler.rfile.read(int(handler.headers.get("Content-Length") or 0))
        self.requests.append((handler.command, handler.path, dict(handler.headers), b""))
        if self.caps and "_field_caps" in handler.path:
            return self.answer(handler, 200, self.caps)
        return self.answer(handler, self.status, self.body, self.more_headers)


def ask(words, url, **env):
    done = run([VENTURI, *words, "--from", url], check=False, env=environment(**env))
    assert done.returncode == 2 and done.stdout == "" and done.stderr.count("\n") == 1, (done.returncode, done.stderr)
    assert "\x1b" not in done.stderr
    return done.stderr


BODIES = {"page": "<html><title>Proxy</title>\x1b[2J</html>", "empty": "", "array": "[]", "text": '"no"', "truncated": '{"took":1,"aggregations":{"tra',
          "two": "{}{}", "another": {"status": "green"}, "null": {"aggregations": None, "fields": None, "hits": None}, "binary": b"\x00\xff" * 100,
          "deep": '{"fields":' + "[" * 100000}


@pytest.mark.parametrize("has_caps", [False, True], ids=["at once", "later"])
@pytest.mark.parametrize("body", BODIES)
def test_answers_that_are_none(body, has_caps):
    with Odd(BODIES[body], caps=CAPS if has_caps else None) as stub:
        for words in ASKING.values():
            assert "answers, but not as Elasticsearch or OpenSearch do" in ask(words, stub.url)


@pytest.mark.parametrize("status, body, word", [
    (401, {"error": {"type": "security_exception"}}, "does not let us in (status 401)"), (403, "<html>", "does not let us in (status 403)"),
    (404, {"error": {"type": "index_not_found_exception", "reason": "no such index"}, "status": 404}, "has no index"),
    (404, "<html>nothing here</html>", "status 404: is that the address of Elasticsearch?"),
    (301, "", "sends us elsewhere (status 301)"), (302, "<html>", "sends us elsewhere"), (500, "oops", "status 500: is that"),
    (400, {"error": {"type": "x", "reason": "\x1b[2J"}}, "status 400: x"), (503, {"error": "busy"}, "status 503: busy")])
def test_answers_that_are_no(status, body, word):
    with Odd(body, status, caps=None, headers={"Location": "http://127.0.0.1:1/"}) as stub:
        for words in ASKING.values():
            assert word in ask(words, stub.url)


def hit(number, name="a-start"):
    base = "00000000-0000-0000-0000-000000000001"
    return {"_index": "osprofiler-notifications", "_id": str(number),
            "_source": {"name": name, "trace_id": f"00000000-0000-0000-0000-{number:012d}", "base_id": base, "parent_id": base,
                        "timestamp": "2026-01-01T00:00:00.000000", "info": {}}}


class Circle(Odd):
    """Pages of two documents: so many pages, and then those again."""

    def __init__(self, period, total):
        self.period, self.total, self.at = period, total, 0
        super().__init__({})

    @property
    def body(self):
        self.at += 1
        return {"_scroll_id": "x", "hits": {"total": self.total, "hits": [hit(self.at % self.period * 2 + i) for i in (1, 2)]}}

    @body.setter
    def body(self, _):
        pass


@pytest.mark.parametrize("period, total", [(1, {"value": 10 ** 12, "relation": "eq"}), (7, {"value": 10000, "relation": "gte"}), (3, None), (10 ** 9, 40),
                                           (10 ** 9, {"value": 40, "relation": "eq"})])
def test_a_store_that_answers_in_circles(period, total):
    """The same pages again and again, or ever new ones beyond the number that it gives itself."""
    with Circle(period, total) as stub:
        assert "its pages of documents (scroll) do not come to an end" in ask(ASKING["id"], stub.url)
        assert len(stub.requests) < 50


def rank_sums(big):
    return {"aggregations": {"stops": {"names": {"buckets": [{"key": "a-stop", "doc_count": big, "total": {"value": big}, "max": {"value": big}, "min": {"value": 0}}]}},
                             "starts": {"names": {"buckets": []}}, "plain": {"pairs": {"value": [["b", big, big, big, 0, 0, 0]]}}}}


@pytest.mark.parametrize("big", [1e308, -1e308, 10 ** 30, -1])
def test_sums_that_cannot_be(big):
    with Odd(rank_sums(big)) as stub:
        assert "its sums cannot be right" in ask(ASKING["rank"], stub.url)
    body = rank_sums(big)
    body["aggregations"]["plain"]["pairs"]["value"].append(["c", 2, 3000, 2000, 1000, 0, 0])
    with Odd(body) as stub:
        done = run([VENTURI, "rank", "--from", stub.url], env=environment())
        assert done.stdout.splitlines()[2:] == ["3.000000     2.000000   1.500000   2             c"]
        assert "names with counts or times that cannot be right, left out: 2" in done.stderr


def test_no_answer():
    waits = threading.Event()

    class Silent(Stub):
        def serve(self, handler):
            waits.wait(60)
            handler.close_connection = True

    with Silent() as stub:
        for words in ASKING.values():
            assert "timed out after" in ask(words, stub.url, VENTURI_STORE_TIMEOUT="0.3")
        waits.set()
    assert "VENTURI_STORE_TIMEOUT" in ask(("rank",), stub.url, VENTURI_STORE_TIMEOUT="soon")
    assert "onnect" in ask(("rank",), stub.url)


def test_tls(certificates):  # noqa: F811
    with Stub(tls=(certificates / "server-chain.pem", certificates / "server.key")) as stub:
        url = stub.url.replace("elasticsearch", "elasticsearch+https")
        assert "certificate" in ask(("rank",), url)
        assert "has no index" in ask(("rank",), url, VENTURI_STORE_CA=str(certificates / "ca.pem"))
        ask(("rank",), stub.url)  # in the clear
    with Stub() as stub:
        assert "does it speak TLS at all?" in ask(("rank",), stub.url.replace("elasticsearch", "elasticsearch+https"))


def test_an_answer_without_end():
    class Endless(Stub):
        def serve(self, handler):
            handler.send_response(200)
            handler.send_header("Content-Type", "application/json")
            handler.end_headers()
            handler.wfile.write(b'{"fields":{"x":"')
            while True:
                handler.wfile.write(b"x" * 65536)

    with Endless() as stub:
        assert "an answer of more than 64 MB" in ask(("rank",), stub.url)


def answers(**more):
    """An answer to both questions: sums of one trace, and of its name."""
    bucket = {"key": "0" * 31 + "1", "doc_count": 2, "begin": {"value": 1.7948e12}, "end": {"value": 1.7948000001e12}, "starts": {"doc_count": 1},
              "errors": {"doc_count": 0}, "services": {"buckets": []}, "hosts": {"value": 1}}
    return {"took": 1, "timed_out": False, "_shards": {"total": 5, "successful": 5, "skipped": 0, "failed": 0}, "hits": {"hits": []},
            "aggregations": {"traces": {"buckets": [bucket]}, "all": {"value": 1}, "plain": {"doc_count": 2, "pairs": {"value": [["a", 1, 5, 5, 5, 0, 0]]}},
                             "stops": {"doc_count": 0, "names": {"buckets": []}}, "starts": {"doc_count": 0, "names": {"buckets": []}}}, **more}


@pytest.mark.parametrize("distribution, version", FORMS)
def test_what_is_well(distribution, version):
    with Odd(answers(), distribution=distribution, version=version) as stub:
        done = run([VENTURI, "trace", "list", "--from", stub.url, "--json"], env=environment())
        assert len(json.loads(done.stdout)["traces"]) == 1 and not done.stderr
        done = run([VENTURI, "rank", "--from", stub.url, "--json"], env=environment())
        assert json.loads(done.stdout)["names"][0]["name"] == "a" and not done.stderr
        assert "vnd.elasticsearch" not in str(stub.requests)


@pytest.mark.parametrize("more, word", [({"_shards": {"total": 5, "failed": 2}}, "2 of 5 shards failed"), ({"timed_out": True}, "ran out of time")])
def test_what_is_missing_is_said(more, word):
    with Odd(answers(**more)) as stub:
        for words in (("trace", "list"), ("rank",)):
            done = run([VENTURI, *words, "--from", stub.url], env=environment())
            assert done.stderr.count("\n") == 1 and word in done.stderr and done.stdout
