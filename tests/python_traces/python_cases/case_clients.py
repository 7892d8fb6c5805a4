"""Hooks of outgoing requests, and traces through several services, some of them the real osprofiler's."""
import gc
import http.client
import socket
import threading
import urllib.error
import urllib.request
import xmlrpc.client

import kit
import requests
import urllib3
from kit import KEY
from osprofiler import notifier as their_notifier
from osprofiler import profiler as their_profiler
from osprofiler import web as their_web
from venturi import clients, propagation, trace, web

OURS = {"x-trace-info", "x-trace-hmac", "traceparent", "tracestate"}


def echo(seen, status="200 OK"):
    """An application that keeps the headers of ours that it gets, by lower-case name; twice: a list."""
    def application(environ, start_response):
        seen.append({key[5:].lower().replace("_", "-"): value for key, value in environ.items()
                     if key.startswith("HTTP_") and key[5:].lower().replace("_", "-") in OURS})
        length = int(environ.get("CONTENT_LENGTH") or 0)
        body = environ["wsgi.input"].read(length) or b"empty"
        start_response(status, [("Content-Length", str(len(body)))])
        return [body]
    return application


def with_requests(url):
    with requests.Session() as session:
        return session.get(url, timeout=20).status_code


def with_urllib(url):
    try:
        with urllib.request.urlopen(url, timeout=20) as answer:
            return answer.status
    except urllib.error.HTTPError as error:
        error.close()
        return error.code


def with_http_client(url):
    host, _, path = url[len("http://"):].partition("/")
    connection = http.client.HTTPConnection(host, timeout=20)
    try:
        connection.request("GET", "/" + path)
        answer = connection.getresponse()
        answer.read()
        return answer.status
    finally:
        connection.close()


def with_putrequest(url):
    host, _, path = url[len("http://"):].partition("/")
    connection = http.client.HTTPConnection(host, timeout=20)
    try:
        connection.putrequest("GET", "/" + path)
        connection.putheader("X-Other", "1")
        connection.putheader("x-trace-info", "of the caller")
        connection.endheaders()
        answer = connection.getresponse()
        answer.read()
        return answer.status
    finally:
        connection.close()


def with_urllib3(url):
    with urllib3.PoolManager() as pool:
        return pool.request("GET", url, retries=False, timeout=20).status


WAYS = (with_requests, with_urllib, with_http_client, with_putrequest, with_urllib3)


def test_every_way_is_one_span():
    for way in WAYS:
        seen = []
        with kit.serve(echo(seen, "404 Not Here")) as url, kit.told() as events:
            clients.install()
            clients.install()
            profiler = trace.init(KEY)
            with trace.Trace("around"):
                around = profiler.get_id()
                assert way(url + "/p/q?a=b") == 404
                assert profiler.get_id() == around
            trace.clean()
        outer, node = kit.nodes(events)
        assert (node.name, node.parent) == ("http", around), way
        assert node.begin == {"requests": {"method": "GET", "query": "a=b", "path": "/p/q", "hostname": "127.0.0.1",
                                           "port": int(url.rsplit(":", 1)[1]), "scheme": "http"}}, way
        assert node.end == {"requests": {"status_code": 404}}, way
        assert len(seen) == 1 and "," not in seen[0]["x-trace-hmac"], way
        got = propagation.unpack(seen[0]["x-trace-info"], seen[0]["x-trace-hmac"], KEY)
        assert got == {"base_id": outer.base, "parent_id": node.id, "hmac_key": KEY}, way
        assert seen[0]["traceparent"] == propagation.format_traceparent(outer.base, node.id)


def test_without_a_trace_nothing_is_sent():
    seen = []
    with kit.serve(echo(seen)) as url, kit.told() as events:
        clients.install()
        for way in WAYS[:3] + WAYS[4:]:
            assert way(url) == 200
        prepared = requests.Request("GET", url).prepare()
        with requests.Session() as session:
            trace.init(KEY)
            session.send(prepared, timeout=20)
            trace.clean()
            session.send(prepared, timeout=20)
    assert seen[:4] == [{}] * 4 and seen[4] and seen[5] == {}
    assert len(events) == 2


def test_uninstalled():
    seen = []
    before = (http.client.HTTPConnection.__dict__["putrequest"], requests.adapters.HTTPAdapter.__dict__["send"])
    with kit.serve(echo(seen)) as url, kit.told() as events:
        clients.install()
        assert http.client.HTTPConnection.putrequest is not before[0]
        clients.uninstall()
        assert (http.client.HTTPConnection.__dict__["putrequest"], requests.adapters.HTTPAdapter.__dict__["send"]) == before
        trace.init(KEY)
        for way in WAYS[:3]:
            way(url)
    assert seen == [{}] * 3 and events == []


def test_uninstalled_below_somebody_else_s_hook():
    clients.install()
    ours = http.client.HTTPConnection.putrequest
    http.client.HTTPConnection.putrequest = lambda *args, **kwargs: ours(*args, **kwargs)
    try:
        clients.uninstall()
        seen = []
        with kit.serve(echo(seen)) as url, kit.told() as events:
            trace.init(KEY)
            assert with_http_client(url) == 200
            assert events == [] and seen == [{}]
            clients.install()
            assert with_http_client(url) == 200
            assert kit.shape(events) == [("http", [])]
    finally:
        http.client.HTTPConnection.putrequest = ours


def nobody_listens():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return "http://127.0.0.1:%d/" % taken.getsockname()[1]


def test_refused_connections_leave_the_stack_right():
    for way in WAYS:
        with kit.told() as events:
            clients.install()
            profiler = trace.init(KEY)
            with trace.Trace("around"):
                around = profiler.get_id()
                try:
                    way(nobody_listens())
                except Exception:
                    pass
                else:
                    raise AssertionError(way)
                assert profiler.get_id() == around
                with trace.Trace("next"):
                    pass
            trace.clean()
        assert kit.shape(events) == [("around", [("http", []), ("next", [])])], way
        assert kit.nodes(events)[1].end["etype"], way


def test_answers_that_break_off():
    """The other side closes before it has said anything."""
    listener = socket.create_server(("127.0.0.1", 0))

    def answer():
        connection, _ = listener.accept()
        connection.recv(65536)
        connection.close()
    for way in WAYS:
        thread = threading.Thread(target=answer)
        thread.start()
        with kit.told() as events:
            clients.install()
            profiler = trace.init(KEY)
            with trace.Trace("around"):
                around = profiler.get_id()
                try:
                    way("http://127.0.0.1:%d/" % listener.getsockname()[1])
                except Exception:
                    pass
                assert profiler.get_id() == around
            trace.clean()
        thread.join()
        assert "etype" in kit.nodes(events)[1].end, (way, events)
    listener.close()


def test_requests_nobody_waits_for():
    with kit.serve(echo([])) as url, kit.told() as events:
        clients.install()
        profiler = trace.init(KEY)
        connection = http.client.HTTPConnection(url[len("http://"):], timeout=20)
        connection.request("GET", "/")
        assert profiler.get_id() == profiler.get_base_id()
        connection.close()
    assert kit.nodes(events)[0].end == {}


def test_connections_that_are_dropped():
    with kit.serve(echo([])) as url, kit.told() as events:
        clients.install()
        profiler = trace.init(KEY)
        with trace.Trace("around"):
            around = profiler.get_id()
            connection = http.client.HTTPConnection(url[len("http://"):], timeout=20)
            connection.request("GET", "/")
            assert len(events) == 2
            connection.sock, taken = None, connection.sock
            del connection
            gc.collect()
            assert [event["name"] for event in events] == ["around-start", "http-start", "http-stop"]
            assert profiler.get_id() == around
        trace.clean()
        taken.close()
    assert kit.shape(events) == [("around", [("http", [])])] and kit.nodes(events)[1].end == {}


def test_requests_in_any_order():
    with kit.serve(echo([])) as url, kit.serve(echo([])) as other, kit.told() as events:
        clients.install()
        trace.init(KEY)
        with trace.Trace("around"):
            both = [http.client.HTTPConnection(address[len("http://"):], timeout=20) for address in (url, other)]
            for connection in both:
                connection.request("GET", "/")
            for connection in both:
                connection.getresponse().read()
                connection.close()
        trace.clean()
    assert kit.shape(events) == [("around", [("http", []), ("http", [])])]


def test_redirects():
    seen = []
    with kit.serve(echo(seen)) as target:
        def application(environ, start_response):
            start_response("302 Elsewhere", [("Location", target + "/there"), ("Content-Length", "0")])
            return []
        for way in WAYS[:2]:
            with kit.serve(application) as url, kit.told() as events:
                clients.install()
                trace.init(KEY)
                assert way(url) == 200
                trace.clean()
            first, second = kit.nodes(events)
            assert (first.end, second.end) == ({"requests": {"status_code": 302}}, {"requests": {"status_code": 200}})
            assert propagation.unpack(seen[-1]["x-trace-info"], seen[-1]["x-trace-hmac"], KEY)["parent_id"] == second.id


def test_headers_of_the_caller_are_replaced():
    """Programs for osprofiler put its headers there themselves."""
    seen = []
    with kit.serve(echo(seen)) as url, kit.told() as events:
        clients.install()
        trace.init(KEY)
        headers = dict(propagation.headers(), tracestate="of=the-caller")
        with requests.Session() as session:
            session.get(url, headers=headers, timeout=20)
        with urllib.request.urlopen(urllib.request.Request(url, headers=headers), timeout=20) as answer:
            answer.read()
        trace.clean()
    ids = [propagation.unpack(got["x-trace-info"], got["x-trace-hmac"], KEY)["parent_id"] for got in seen]
    assert ids == [node.id for node in kit.nodes(events)] and not any("tracestate" in got for got in seen)


def test_bodies_and_methods():
    with kit.serve(echo([])) as url, kit.told() as events:
        clients.install()
        trace.init(KEY)
        with requests.Session() as session:
            assert session.post(url, data=b"abc", timeout=20).content == b"abc"
        with urllib.request.urlopen(url, data=b"def", timeout=20) as answer:
            assert answer.read() == b"def"
        trace.clean()
    assert [node.begin["requests"]["method"] for node in kit.nodes(events)] == ["POST", "POST"]


def test_secrets_of_a_url_stay_out():
    with kit.serve(echo([])) as url, kit.told() as events:
        clients.install()
        trace.init(KEY)
        with_requests(url.replace("http://", "http://name:password@"))
        trace.clean()
    assert "password" not in str(events)


def test_xmlrpc():
    with kit.serve(echo([], "500 No")) as url, kit.told() as events:
        clients.install()
        trace.init(KEY)
        try:
            with xmlrpc.client.ServerProxy(url) as proxy:
                proxy.anything()
        except xmlrpc.client.ProtocolError:
            pass
        trace.clean()
    assert kit.nodes(events)[0].end == {"requests": {"status_code": 500}}


# ---- with the real osprofiler, in one trace

def their_service(then=None):
    """A service with the real middleware; it hands on to `then` with the real headers."""
    def application(environ, start_response):
        with their_profiler.Trace("theirs"):
            if then:
                request = urllib.request.Request(then, headers=their_web.get_trace_id_headers())
                with urllib.request.urlopen(request, timeout=20) as answer:
                    answer.read()
        start_response("200 OK", [("Content-Length", "2")])
        return [b"ok"]
    return their_web.WsgiMiddleware(application, hmac_keys="first," + KEY, enabled=True)


def our_service(then=None, way=with_requests):
    def application(environ, start_response):
        with trace.Trace("ours"):
            if then:
                assert way(then) == 200
        start_response("200 OK", [("Content-Length", "2")])
        return [b"ok"]
    return web.WsgiMiddleware(application, hmac_keys=KEY + ",last", enabled=True)


def both(run):
    """All that both notifiers are told."""
    with kit.told() as events:
        their_notifier.set(events.append)
        try:
            run()
        finally:
            their_notifier.set(their_notifier._noop_notifier)
    assert len({event["base_id"] for event in events}) == 1, events
    return kit.shape(events)


def test_our_client_calls_their_service():
    def run():
        clients.install()
        with kit.serve(their_service()) as url:
            for way in (with_requests, with_urllib, with_http_client):
                trace.init(KEY, base_id=kit.BASE)
                assert way(url) == 200
                trace.clean()
    assert both(run) == [("http", [("wsgi", [("theirs", [])])])] * 3


def test_their_client_calls_our_service():
    def run():
        with kit.serve(our_service()) as url:
            their_profiler.init(KEY)
            try:
                with their_profiler.Trace("client"):
                    request = urllib.request.Request(url, headers=their_web.get_trace_id_headers())
                    with urllib.request.urlopen(request, timeout=20) as answer:
                        answer.read()
            finally:
                their_profiler.clean()
    assert both(run) == [("client", [("wsgi", [("ours", [])])])]


def test_three_hops_of_both():
    def run():
        clients.install()
        with kit.serve(their_service()) as last, kit.serve(our_service(last, with_urllib)) as third, \
                kit.serve(their_service(third)) as second, kit.serve(our_service(second)) as first:
            trace.init(KEY)
            assert with_http_client(first) == 200
            trace.clean()
            assert trace.get() is None
    expected = ("wsgi", [("theirs", [])])
    for name in ("ours", "theirs", "ours"):
        expected = ("wsgi", [(name, [("http", [expected])] if name == "ours" else [expected])])
    assert both(run) == [("http", [expected])]


def test_their_hook_of_requests_and_ours_do_not_meet():
    """A program that has both installed still works."""
    from osprofiler import requests as theirs
    seen = []
    original = requests.adapters.HTTPAdapter.send
    try:
        clients.install()
        theirs.enable()
        with kit.serve(echo(seen)) as url, kit.told() as events:
            trace.init(KEY)
            assert with_requests(url) == 200
            trace.clean()
        assert len(seen) == 1 and len(kit.nodes(events)) == 1
    finally:
        requests.adapters.HTTPAdapter.send = original
