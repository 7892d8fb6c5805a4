"""Traces in Elasticsearch and in files: a real OpenSearch, the real osprofiler with its own driver, and sums that the store makes."""
import json
import os
import random
import sys
import threading
import urllib.error
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "lib"))

import trace_stores  # noqa: E402
from opensearch import OpenSearch  # noqa: E402
from trace_stores import essence, imported, nodes, notifications, peer, recorded_program, ship, shown, venturi  # noqa: E402

pytestmark = trace_stores.pytestmark
INDEX = "osprofiler-notifications"


class Face:
    """What osprofiler's driver (elasticsearch-py 7) wants of a server and OpenSearch 2 has no more: types in paths, and a header."""

    def __init__(self, node):
        self.seen = []
        face = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do(self):
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                path = self.path.replace("/notification/_search", "/_search").replace("/notification", "/_doc")
                face.seen.append((self.command, self.path, body))
                request = urllib.request.Request(node.http + path, data=body or None, method=self.command,
                                                 headers={"Content-Type": "application/json"})
                try:
                    with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request, timeout=60) as answer:
                        status, said = answer.status, answer.read()
                except urllib.error.HTTPError as error:
                    status, said = error.code, error.read()
                if path == "/":
                    about = json.loads(said)
                    about["version"].update(number="7.17.0", build_flavor="default")
                    about["version"].pop("distribution", None)
                    said = json.dumps(dict(about, tagline="You Know, for Search")).encode()
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("X-Elastic-Product", "Elasticsearch")
                self.send_header("Content-Length", str(len(said)))
                self.end_headers()
                self.wfile.write(said)

            do_GET = do_POST = do_PUT = do_DELETE = do_HEAD = do

            def log_message(self, *_):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.thread = threading.Thread(target=self.server.serve_forever, daemon=True)

    @property
    def url(self):
        return f"elasticsearch://127.0.0.1:{self.server.server_address[1]}"

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()


@pytest.fixture(scope="module")
def running(tmp_path_factory):
    with OpenSearch(tmp_path_factory.mktemp("opensearch")) as one:
        yield one


@pytest.fixture
def node(running):
    running.ask("DELETE", f"/{INDEX}*")
    return running


def refresh(node):
    node.ask("POST", "/_refresh")


def elastic(node):
    return f"elasticsearch://127.0.0.1:{node.port}"


def listed(url, *options):
    return json.loads(venturi("trace", "list", "--from", url, "--json", *options).stdout)["traces"]


def ranked(url, *options):
    return {row["name"]: row for row in json.loads(venturi("rank", "--json", "--from", url, *options).stdout)["names"]}


# ---- with the real osprofiler --------------------------------------------------------------------------------------------------------


def test_what_osprofiler_wrote_is_read(node):
    with Face(node) as face:
        wrote = peer("write", face.url, "4")
        assert ("POST", f"/{INDEX}/notification") in [seen[:2] for seen in face.seen]
    refresh(node)
    trace = shown(wrote["base"], "--from", elastic(node))
    assert {span["id"] for span in trace["spans"]} == {event["trace_id"] for event in wrote["sent"]}
    assert trace["span_count"] == 6 and trace["errors"] == 1 and trace["spans"][0]["attrs"]["request.path"] == "/v2/é"
    one, = listed(elastic(node))
    assert (one["trace"], one["spans"], one["errors"], one["service_names"]) == (wrote["base"], 6, 1, ["engine"])
    rows = ranked(elastic(node), "--wide")
    assert {name: (row["count"], row["errors"], row["unfinished"]) for name, row in rows.items()} == \
        {"wsgi": (1, 0, 0), "db": (4, 0, 0), "rpc-call": (1, 1, 0)}
    whole = trace["spans"][0]["duration_ns"] / 1e9
    assert abs(rows["wsgi"]["total_s"] - whole) <= 0.001 and rows["wsgi"]["max_s"] == rows["wsgi"]["total_s"]


def test_osprofiler_reads_what_we_ship(node, tmp_path):
    base, path = recorded_program(tmp_path)
    ship(path, elastic(node))
    refresh(node)
    with Face(node) as face:
        report = nodes(peer("report", face.url, base))
    own = shown(base, path)
    assert set(report) == {span["id"] for span in own["spans"]} and len(report) == 5
    by_name = {payload["name"]: payload for one in report.values() for payload in one[2].values()}
    assert by_name["order-start"]["info"]["request"] == {"path": "/x", "method": "POST"} and by_name["order-stop"]["info"]["n"] == 3
    assert by_name["refuse-it-stop"]["info"]["etype"] == "KeyError"
    assert essence(shown(base, "--from", elastic(node))) == essence(own)
    assert node.count(INDEX + "-error") == 1


# ---- sums -------------------------------------------------------------------------------------------------------------------------------


@pytest.fixture
def fleet(node, tmp_path):
    """Twelve traces of two services: ours and, of two of them, as osprofiler writes them."""
    random.seed(7)
    made = {}
    ours, theirs = [], []
    for i in range(12):
        base, events = notifications(4 + i, begin=1_794_800_000_000_000 + i * 10_000_000, service=("engine", "api")[i % 2], fails=(2,) if i % 5 == 0 else ())
        made[base] = events
        (theirs if i in (3, 5) else ours).extend(events)
    path = imported(tmp_path, ours)
    ship(path, elastic(node))
    for event in theirs:
        node.ask("POST", f"/{INDEX}/_doc", event)
    refresh(node)
    return elastic(node), made, imported(tmp_path, ours + theirs, "all.vt")


def test_the_list_is_that_of_a_recording(fleet):
    url, made, path = fleet
    wanted = json.loads(venturi("trace", "list", path, "--json").stdout)["traces"]
    found = listed(url)
    keys = ("trace", "begin_ns", "spans", "errors", "unfinished", "root", "service_names", "hosts")
    assert [{key: one[key] for key in keys} for one in found] == [{key: one[key] for key in keys} for one in wanted]
    assert all(abs(one["duration_ns"] - other["duration_ns"]) <= 1_000_000 for one, other in zip(found, wanted))


@pytest.mark.parametrize("options", [("--sort", "spans", "-n", "3"), ("--errors",), ("-n", "2"), ("--sort", "errors", "-n", "1")])
def test_limits_and_orders(fleet, options):
    url, _, path = fleet
    wanted = [one["trace"] for one in json.loads(venturi("trace", "list", path, "--json", *options).stdout)["traces"]]
    found = [one["trace"] for one in listed(url, *options)]
    assert len(found) == len(wanted)
    if options[:2] != ("--sort", "errors"):
        assert found == wanted


def test_the_rank_is_that_of_a_recording(fleet):
    url, _, path = fleet
    found = ranked(url, "--wide")
    wanted = {row["name"]: row for row in json.loads(venturi("rank", "--wide", "--json", path).stdout)["names"]}
    assert set(found) == set(wanted) == {"wsgi", "db-call"}
    for name, row in wanted.items():
        for key in ("count", "errors", "unfinished"):
            assert found[name][key] == row[key], (name, key)
        for key in ("total_s", "max_s", "min_s"):  # osprofiler's are known to the millisecond of the store's dates
            assert abs(found[name][key] - row[key]) <= 0.001 * row["count"], (name, key)
    table = venturi("rank", "--from", url).stdout.splitlines()
    assert table[0].startswith("Total time | Max time") and table[2].endswith("wsgi")


def test_what_never_ended_is_said(node, tmp_path):
    """Ours and osprofiler's."""
    _, ours = notifications(3)
    _, theirs = notifications(3)
    ship(imported(tmp_path, ours[:-1]), elastic(node))
    for event in theirs[:-1]:
        node.ask("POST", f"/{INDEX}/_doc", event)
    refresh(node)
    done = venturi("rank", "--from", elastic(node))
    assert done.stderr.endswith(": spans that never ended, not timed: 2 (--wide: Open)\n"), done.stderr


def test_never_downloads_all_spans(fleet, node):
    """One look at the fields, one sum: no document but the few that name a root."""
    with Face(node) as face:
        listed(face.url)
        ranked(face.url)
    asked = [(command, path.split("?")[0]) for command, path, _ in face.seen]
    assert asked == [("GET", f"/{INDEX}/_field_caps"), ("POST", f"/{INDEX}/_search")] * 2
    assert all(json.loads(body)["size"] == 0 for _, _, body in face.seen if body)


def test_words_for_traces(fleet):
    url, made, path = fleet
    last = list(made)[-1]
    assert shown("last", "--from", url)["trace"] == last
    assert shown(last[:8], "--from", url)["trace"] == last
    slowest = shown("slowest", "--from", url)
    assert slowest["trace"] == shown("slowest", path)["trace"]


def test_ids_that_are_alike_are_not_mixed(node):
    """osprofiler's own query would: the parts of an id between dashes are words."""
    one, events = notifications(3)
    other, more = notifications(2, base=one[:24] + "000000000000")
    for event in events + more:
        node.ask("POST", f"/{INDEX}/_doc", event)
    refresh(node)
    assert shown(one, "--from", elastic(node))["span_count"] == 3
    assert shown(other, "--from", elastic(node))["span_count"] == 2


def test_rubbish_in_the_index(node):
    base, events = notifications(3)
    for event in events:
        node.ask("POST", f"/{INDEX}/_doc", event)
    for rubbish in ({"base_id": base}, {"base_id": base, "name": "x-start", "trace_id": base}, {"what": "is this"}):
        node.ask("POST", f"/{INDEX}/_doc", rubbish)
    refresh(node)
    trace = shown(base, "--from", elastic(node))
    assert trace["span_count"] == 3
    assert [one["spans"] for one in listed(elastic(node)) if one["trace"] == base] in ([3], [4])
    assert ranked(elastic(node))["wsgi"]["count"] == 1


def test_more_than_a_page(node, tmp_path):
    base, events = notifications(6000)
    ship(imported(tmp_path, events), elastic(node))
    refresh(node)
    assert shown(base, "--from", elastic(node))["span_count"] == 6000
    scrolls = node.ask("GET", "/_nodes/stats/indices/search")["nodes"]
    assert all(one["indices"]["search"]["scroll_current"] == 0 for one in scrolls.values())


def test_another_index(node, tmp_path):
    base, events = notifications(3)
    for event in events:
        node.ask("POST", f"/{INDEX}-other/_doc", event)
    refresh(node)
    assert shown(base, "--from", elastic(node) + f"?index={INDEX}-other")["span_count"] == 3
    done = venturi("trace", "list", "--from", elastic(node), check=False)
    assert done.returncode == 2 and "no traces" in done.stderr and done.stderr.count("\n") == 1


# ---- without a server -------------------------------------------------------------------------------------------------------------------


@pytest.fixture
def liar():
    """A server that answers whatever it is told to."""
    class Handler(BaseHTTPRequestHandler):
        said = (200, b"")

        def do(self):
            self.rfile.read(int(self.headers.get("Content-Length") or 0))
            status, body = self.said
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        do_GET = do_POST = do_DELETE = do

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    server.say = lambda status, body: setattr(Handler, "said", (status, body))
    server.url = f"elasticsearch://127.0.0.1:{server.server_address[1]}"
    yield server
    server.shutdown()
    server.server_close()


@pytest.mark.parametrize("words", [("trace", "list"), ("trace", "show", "last"), ("rank",)], ids=" ".join)
@pytest.mark.parametrize("status, body", [(200, b""), (200, b"<html>"), (200, b'{"fields":{"base_id":{}}'), (200, b'{"fields":{"base_id":1,"duration_ns":2}}'),
                                          (200, b'{"fields":{"base_id":1},"aggregations":{"traces":{"buckets":[{},7,{"key":[]}]}},"hits":{"hits":[{}]}}'),
                                          (500, b"no"), (401, b"{}"), (404, b"{}"), (200, b"[" * 100000)],
                         ids=["empty", "html", "cut", "no sums", "odd", "500", "401", "404", "deep"])
def test_a_server_that_answers_anything(liar, words, status, body):
    liar.say(status, body)
    done = venturi(*words, "--from", liar.url, check=False)
    assert done.returncode == 2 and done.stdout == "" and done.stderr.count("\n") == 1, done.stderr


# ---- files ------------------------------------------------------------------------------------------------------------------------------


def test_a_file_and_back(tmp_path):
    base, events = notifications(20, fails=(4,))
    path, store = imported(tmp_path, events), tmp_path / "traces.jsonl"
    ship(path, f"file://{store}")
    assert len(store.read_text().splitlines()) == 40
    assert essence(shown(base, "--from", f"file://{store}")) == essence(shown(base, path)) == essence(shown("last", store))
    assert json.loads(venturi("rank", "--json", "--from", f"file://{store}").stdout)["names"][0]["name"] == "wsgi"
    assert oct(store.stat().st_mode & 0o777) == "0o600"


def test_a_file_gets_nothing_twice_and_no_half_line(tmp_path):
    base, events = notifications(10)
    path, store = imported(tmp_path, events), tmp_path / "traces.jsonl"
    ship(path, f"file://{store}")
    whole = store.read_bytes()
    store.write_bytes(whole + b'{"name":"half')
    for name in "ab":
        (tmp_path / name).mkdir()
        ship(path, f"file://{store}", "--state", tmp_path / name)
    assert store.read_bytes() == whole


@pytest.mark.parametrize("url", ["file://", "file:///nowhere/at/all.jsonl", "file:///dev/null"])
def test_files_that_cannot_be(tmp_path, url):
    _, events = notifications(2)
    done = ship(imported(tmp_path, events), url, check=False)
    assert done.returncode == 2 and done.stderr.count("\n") == 1, done.stderr


def test_what_never_ended_is_told(tmp_path):
    base, events = notifications(4)
    store = tmp_path / "traces.jsonl"
    ship(imported(tmp_path, events[:-1]), f"file://{store}")
    assert sorted(json.loads(line)["name"] for line in store.read_text().splitlines()) == ["db-call-start"] * 3 + ["db-call-stop"] * 3 + ["wsgi-start"]
    assert shown(base, "--from", f"file://{store}")["unfinished"] == 1
