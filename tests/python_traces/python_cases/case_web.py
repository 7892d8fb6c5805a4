"""WSGI and ASGI middleware."""
import asyncio
import gc
import http
import io
import urllib.error
import urllib.request
import wsgiref.util
from wsgiref.validate import validator

import kit
from kit import BASE, HMAC, INFO, KEY, PARENT
from venturi import propagation, trace, web

SIGNED = {"X-Trace-Info": INFO, "X-Trace-HMAC": HMAC}


def plain(environ, start_response):
    with trace.Trace("inner"):
        start_response("200 OK", [("Content-Type", "text/plain"), ("Content-Length", "4")])
        return [b"yes\n"]


def wrap(application, **more):
    return web.WsgiMiddleware(application, **dict(dict(hmac_keys=KEY, enabled=True), **more))


def environ(headers=(), path="/a b/\xc3\xa9", query="q=1&r"):
    made = {"REQUEST_METHOD": "PUT", "SCRIPT_NAME": "/app", "PATH_INFO": path, "QUERY_STRING": query}
    wsgiref.util.setup_testing_defaults(made)
    for name, value in dict(headers).items():
        made["HTTP_" + name.upper().replace("-", "_")] = value
    return made


def call(application, made):
    """As a server does: status and body."""
    said = []

    def start_response(status, headers, exc_info=None):
        said.append(status)
        return lambda data: None
    parts = application(made, start_response)
    try:
        body = b"".join(parts)
    finally:
        if hasattr(parts, "close"):
            parts.close()
    return said[-1], body


def test_a_signed_request_is_traced():
    with kit.told() as events:
        assert call(wrap(plain), environ(SIGNED)) == ("200 OK", b"yes\n")
    outer, inner = kit.nodes(events)
    assert (outer.name, outer.base, outer.parent) == ("wsgi", BASE, PARENT)
    assert outer.begin == {"request": {"path": "/app/a%20b/%C3%A9", "query": "q=1&r", "method": "PUT", "scheme": "http"}}
    assert outer.end == {"request": {"status": 200}}
    assert (inner.name, inner.parent) == ("inner", outer.id)
    assert trace.get() is None


def test_all_others_are_not():
    bad = [{}, {"X-Trace-Info": INFO}, {"X-Trace-HMAC": HMAC}, dict(SIGNED, **{"X-Trace-HMAC": "0" * 40}),
           {"X-Trace-Info": "\xff" * 100, "X-Trace-HMAC": "\xe9"}, {"X-Trace-Info": "x" * (1 << 20), "X-Trace-HMAC": HMAC},
           {"traceparent": "00-f12e75d55d594cbcb74d357f19290dd7-af18d6c92f991f46-01"}]
    with kit.told() as events, kit.logged("venturi.propagation") as messages:
        for headers in bad:
            assert call(wrap(plain), environ(headers)) == ("200 OK", b"yes\n")
        for switched_off in (wrap(plain, enabled=False), wrap(plain, enabled="False"), wrap(plain, hmac_keys="other")):
            assert call(switched_off, environ(SIGNED)) == ("200 OK", b"yes\n")
    assert events == [] and len(messages) == 1 and propagation.rejected() == 6


def test_untraced_answers_are_the_application_s_own():
    answer = []
    assert wrap(lambda environ, start_response: answer)(environ(), None) is answer


def test_enable_and_disable_overrule():
    off, on = wrap(plain, enabled=False, hmac_keys="other"), wrap(plain)
    with kit.told() as events:
        web.enable(KEY)
        call(off, environ(SIGNED))
        web.enable()
        call(off, environ(SIGNED))
        call(on, environ(SIGNED))
        web.disable()
        call(on, environ(SIGNED))
    assert kit.shape(events) == [("wsgi", [("inner", [])])] * 2


def test_key_lists_sign_with_the_key_that_fitted():
    seen = []

    def application(environ, start_response):
        seen.append(propagation.headers())
        return plain(environ, start_response)
    call(wrap(application, hmac_keys="other, " + KEY), environ(SIGNED))
    assert propagation.unpack(seen[0]["X-Trace-Info"], seen[0]["X-Trace-HMAC"], KEY)["base_id"] == BASE


def test_factory():
    made = web.WsgiMiddleware.factory({"global": 1}, hmac_keys="a, b", enabled="true", unknown="x")(plain)
    assert made.application is plain and made.enabled and made.hmac_keys == ["a", "b"] and made.name == "wsgi"


def test_streamed_answers_last_until_they_are_closed():
    closed = []

    class Parts:
        def __iter__(self):
            for number in range(3):
                with trace.Trace("part"):
                    yield b"%d" % number

        def close(self):
            closed.append(trace.get().get_base_id())

    def application(environ, start_response):
        start_response("202 Accepted", [])
        return Parts()
    with kit.told() as events:
        body = wrap(application)(environ(SIGNED), lambda *args: None)
        assert next(body) == b"0" and trace.get() is None
        assert [event["name"] for event in events] == ["wsgi-start", "part-start"]
        assert list(body) == [b"1", b"2"]
        assert events[-1]["name"] == "part-stop"
        body.close()
        body.close()
    assert kit.shape(events) == [("wsgi", [("part", [])] * 3)]
    assert kit.nodes(events)[0].end == {"request": {"status": 202}} and closed == [BASE, BASE]


def test_answers_nobody_closes():
    with kit.told() as events:
        body = wrap(plain)(environ(SIGNED), lambda *args: None)
        assert events[-1]["name"] == "inner-stop"
        del body
        gc.collect()
    assert kit.nodes(events)[0].end == {"request": {"status": 200}}


def test_length_of_an_answer():
    body = wrap(plain)(environ(SIGNED), lambda *args: None)
    assert len(body) == 1
    body.close()
    body = wrap(lambda environ, start_response: iter([b"x"]))(environ(SIGNED), lambda *args: None)
    assert not hasattr(body, "__len__"), "some servers look for it"
    assert list(body) == [b"x"]
    body.close()


class Odd(Exception):
    pass


def raises(application, made, kind):
    try:
        call(application, made)
    except kind as error:
        return error
    raise AssertionError("nothing was raised")


def test_an_application_that_raises():
    def application(environ, start_response):
        trace.start("left open")
        raise Odd("boom", 5)
    with kit.told() as events:
        raises(wrap(application), environ(SIGNED), Odd)
    outer = kit.nodes(events)[0]
    assert outer.end["etype"] == "case_web.Odd" and outer.name == "wsgi", outer.end
    assert trace.get() is None


def test_an_answer_that_raises():
    def application(environ, start_response):
        start_response("200 OK", [])
        yield b"x"
        raise KeyboardInterrupt
    with kit.told() as events:
        raises(wrap(application), environ(SIGNED), KeyboardInterrupt)
    assert kit.nodes(events)[0].end == {"etype": "KeyboardInterrupt", "message": "", "request": {"status": 200}}


def test_a_server_error_is_an_error():
    def application(environ, start_response):
        start_response("200 OK", [])
        try:
            raise Odd
        except Odd:
            import sys
            start_response("503 Not Now", [("Content-Type", "text/plain")], sys.exc_info())
        return [b""]
    seen = []

    def start_response(*args):
        seen.append(len(args))
    with kit.told() as events:
        wrap(application)(environ(SIGNED), start_response).close()
    assert seen == [2, 3]
    assert kit.nodes(events)[0].end == {"request": {"status": 503}, "etype": "venturi.web.ServerError", "message": "503 Not Now"}


def test_start_response_with_keywords():
    for kind in (1, 2):
        def application(environ, start_response):
            if kind == 1:
                start_response(status="500 No", response_headers=[("Content-Type", "text/plain")], exc_info=None)
            else:
                start_response("500 No", [("Content-Type", "text/plain")], exc_info=None)
            return [b"yes"]
        seen = []

        def start_response(status, response_headers, exc_info=()):
            seen.append((status, response_headers, exc_info))
        with kit.told() as events:
            for headers in (SIGNED, {}):
                body = wrap(application)(environ(headers), start_response)
                assert list(body) == [b"yes"]
                getattr(body, "close", list)()
        assert seen[0] == seen[1] == ("500 No", [("Content-Type", "text/plain")], None)
        assert kit.nodes(events)[0].end["request"] == {"status": 500}


def test_odd_statuses():
    """They are passed on as they are, and are no numbers."""
    for status, code in (("\u0665\u0660\u0660 x", None), ("", None), ("5", None), ("5xx", None), ("\u00b2\u00b2\u00b2", None), (None, None),
                         (b"503 x", 503), (204, 204), (http.HTTPStatus.CREATED, 201), ("599", 599), ("600 x", 600), (object(), None)):
        seen = []

        def application(environ, start_response):
            start_response(status, [])
            return []
        with kit.told() as events:
            wrap(application)(environ(SIGNED), lambda *args: seen.append(args[0])).close()
        end = kit.nodes(events)[0].end
        assert seen == [status] and end.get("request") == (None if code is None else {"status": code}), (status, end)
        assert ("etype" in end) == (code is not None and code >= 500), (status, end)


def test_environs_of_odd_types():
    for odd in (None, 5, b"/x", "\ud800", [], object()):
        made = environ(SIGNED)
        made.update(dict.fromkeys(("SCRIPT_NAME", "PATH_INFO", "QUERY_STRING", "REQUEST_METHOD", "wsgi.url_scheme"), odd))
        with kit.told() as events:
            assert call(wrap(plain), made) == ("200 OK", b"yes\n")
        assert kit.shape(events) == [("wsgi", [("inner", [])])], odd


def test_as_wsgi_wants_it():
    def application(environ, start_response):
        write = start_response("200 OK", [("Content-Type", "text/plain")])
        write(b"written ")
        return [b"returned"]
    made = environ(SIGNED, path="/x")
    made["wsgi.input"] = io.BytesIO()
    output = []

    def start_response(status, headers, exc_info=None):
        return output.append
    with kit.told() as events:
        body = validator(wrap(validator(application)))(made, start_response)
        output += list(body)
        body.close()
    assert b"".join(output) == b"written returned" and kit.nodes(events)[0].end == {"request": {"status": 200}}


def get(url, headers=()):
    try:
        with urllib.request.urlopen(urllib.request.Request(url, headers=dict(headers)), timeout=20) as answer:
            return answer.status, answer.read()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read()


def test_over_a_socket():
    with kit.told() as events, kit.serve(wrap(plain)) as url:
        assert get(url + "/p?q", SIGNED) == (200, b"yes\n")
        assert get(url + "/p?q") == (200, b"yes\n")
        assert get(url, {"X-Trace-Info": "\xe9", "X-Trace-HMAC": "x" * 60000}) == (200, b"yes\n")
        assert get(url + "/p?q", SIGNED) == (200, b"yes\n")
    assert kit.shape(events) == [("wsgi", [("inner", [])])] * 2


def test_trusted_traceparent():
    sent = {"traceparent": "00-f12e75d55d594cbcb74d357f19290dd7-af18d6c92f991f46-01", "tracestate": "a=b"}
    seen = []

    def application(environ, start_response):
        seen.append(propagation.headers())
        return plain(environ, start_response)
    with kit.told() as events:
        call(wrap(application, trust_traceparent=True), environ(sent))
    node = kit.nodes(events)[0]
    assert (node.base, node.parent) == (BASE, "00000000-0000-0000-af18-d6c92f991f46")
    assert set(seen[0]) == {"traceparent", "tracestate"} and seen[0]["tracestate"] == "a=b"


# ---- ASGI: the least that a server is

def scope(kind="http", headers=SIGNED):
    pairs = [(name.lower().encode(), value.encode("latin-1")) for name, value in dict(headers).items()]
    return {"type": kind, "asgi": {"version": "3.0"}, "method": "GET", "path": "/p/\u00e9", "query_string": b"q=1", "headers": pairs,
            "scheme": "https" if kind == "http" else "ws"}


async def drive(application, scope, *incoming):
    """Calls it as a server does; returns what it sent."""
    waiting, sent = list(incoming), []

    async def receive():
        await asyncio.sleep(0)
        return waiting.pop(0) if waiting else {"type": "http.disconnect"}

    async def send(message):
        await asyncio.sleep(0)
        sent.append(message)
    try:
        await application(scope, receive, send)
    except Exception as error:
        sent.append(error)
    return sent


async def streaming(scope, receive, send):
    await send({"type": "http.response.start", "status": 201, "headers": []})
    for number in range(3):
        with trace.Trace("part"):
            await asyncio.sleep(0)
            await send({"type": "http.response.body", "body": b"%d" % number, "more_body": number < 2})


def asgi(application, **more):
    return web.AsgiMiddleware(application, **dict(dict(hmac_keys=KEY, enabled=True), **more))


def test_asgi_requests():
    with kit.told() as events:
        sent = asyncio.run(drive(asgi(streaming), scope()))
    assert [message.get("body") for message in sent] == [None, b"0", b"1", b"2"]
    assert kit.shape(events) == [("asgi", [("part", [])] * 3)]
    node = kit.nodes(events)[0]
    assert node.begin == {"request": {"path": "/p/%C3%A9", "query": "q=1", "method": "GET", "scheme": "https"}}
    assert node.end == {"request": {"status": 201}} and (node.base, node.parent) == (BASE, PARENT)


def test_asgi_untraced():
    with kit.told() as events:
        for headers in ({}, dict(SIGNED, **{"X-Trace-HMAC": "\xff\x00"}), {"X-Trace-Info": INFO}):
            assert len(asyncio.run(drive(asgi(streaming), scope(headers=headers)))) == 4
        assert len(asyncio.run(drive(asgi(streaming, enabled=False), scope()))) == 4
    assert events == []


def test_asgi_at_once():
    """Requests of one loop do not see each other's trace."""
    other = propagation.pack({"base_id": PARENT, "parent_id": BASE}, KEY)

    async def all_of_them():
        application = asgi(streaming)
        scopes = [scope(), scope(headers={"X-Trace-Info": other[0], "X-Trace-HMAC": other[1]}), scope(headers={})] * 10
        await asyncio.gather(*(drive(application, one) for one in scopes))
    with kit.told() as events:
        asyncio.run(all_of_them())
    assert sorted(kit.shape(events)) == [("asgi", [("part", [])] * 3)] * 20
    assert {(node.base, node.parent) for node in kit.nodes(events) if node.name == "asgi"} == {(BASE, PARENT), (PARENT, BASE)}
    assert all(child.base == node.base for node in kit.nodes(events) for child in node.children)


def test_asgi_one_task_after_another_request():
    """A server may use one task for many requests: nothing stays."""
    seen = []

    async def application(scope, receive, send):
        seen.append(trace.get() and trace.get().get_base_id())

    async def both():
        await drive(asgi(application), scope())
        await drive(asgi(application), scope(headers={}))
        assert trace.get() is None
    asyncio.run(both())
    assert seen == [BASE, None]


def test_asgi_that_raises():
    async def application(scope, receive, send):
        await asyncio.sleep(0)
        raise Odd("boom")
    with kit.told() as events:
        sent = asyncio.run(drive(asgi(application), scope()))
    assert isinstance(sent[0], Odd)
    assert kit.nodes(events)[0].end == {"etype": "case_web.Odd", "message": "boom"}


def test_asgi_cancelled():
    async def application(scope, receive, send):
        await send({"type": "http.response.start", "status": 500, "headers": []})
        await asyncio.sleep(60)

    async def cancel():
        task = asyncio.ensure_future(drive(asgi(application), scope()))
        for _ in range(5):
            await asyncio.sleep(0)
        task.cancel()
        try:
            await task
        except asyncio.CancelledError:
            pass
    with kit.told() as events:
        asyncio.run(cancel())
    end = kit.nodes(events)[0].end
    assert end["etype"].endswith("CancelledError") and end["request"] == {"status": 500}, end


def test_asgi_server_error():
    async def application(scope, receive, send):
        await send({"type": "http.response.start", "status": 502, "headers": []})
    with kit.told() as events:
        asyncio.run(drive(asgi(application), scope()))
    assert kit.nodes(events)[0].end == {"request": {"status": 502}, "etype": "venturi.web.ServerError", "message": "502"}


def test_websockets():
    async def application(scope, receive, send):
        assert (await receive())["type"] == "websocket.connect"
        await send({"type": "websocket.accept"})
        with trace.Trace("message"):
            await send({"type": "websocket.send", "text": (await receive())["text"]})
        await send({"type": "websocket.close", "code": 1000})
    with kit.told() as events:
        sent = asyncio.run(drive(asgi(application), scope("websocket"), {"type": "websocket.connect"}, {"type": "websocket.receive", "text": "x"}))
    assert [message["type"] for message in sent] == ["websocket.accept", "websocket.send", "websocket.close"]
    assert kit.shape(events) == [("websocket", [("message", [])])]
    assert kit.nodes(events)[0].end == {"request": {"status": 101}, "websocket": {"code": 1000}}


def test_how_websockets_end():
    accept, close = {"type": "websocket.accept"}, {"type": "websocket.close"}
    gone = {"type": "websocket.disconnect", "code": 1006}
    bad = {"etype": "venturi.web.ServerError"}
    cases = [
        ([accept, dict(close, code=1011, reason="boom")], [], dict(bad, message="1011 boom", request={"status": 101}, websocket={"code": 1011})),
        ([accept, dict(close, code=1013)], [gone], dict(bad, message="1013", request={"status": 101}, websocket={"code": 1013})),
        ([accept, dict(close, code=1010)], [gone], dict(request={"status": 101}, websocket={"code": 1010})),
        ([accept, close], [], dict(request={"status": 101}, websocket={"code": 1000})),
        ([accept, dict(close, code="odd", reason=5)], [], dict(request={"status": 101}, websocket={"code": 1000})),
        ([accept], [gone], dict(request={"status": 101}, websocket={"code": 1006})),
        ([accept], [dict(gone, code=1012)], dict(request={"status": 101}, websocket={"code": 1012})),
        ([accept], [], dict(request={"status": 101})),
        ([dict(close, code=1008)], [], dict(request={"status": 403}, websocket={"code": 1008})),
        ([dict(close, code=1011)], [], dict(bad, message="1011", request={"status": 403}, websocket={"code": 1011})),
        ([{"type": "websocket.http.response.start", "status": 503}], [], dict(bad, message="503", request={"status": 503})),
        ([None, 5, {}, {"type": []}, accept], [None, {"type": None}], dict(request={"status": 101})),
    ]
    for outgoing, incoming, end in cases:
        async def application(scope, receive, send):
            for message in outgoing:
                await send(message)
            for message in incoming:
                assert await receive() is message
        with kit.told() as events:
            sent = asyncio.run(drive(asgi(application), scope("websocket"), *incoming))
        assert sent == outgoing and kit.nodes(events)[0].end == end, (outgoing, kit.nodes(events)[0].end)


def test_scopes_of_odd_types():
    """Served as without us, whatever a server makes of a request."""
    async def application(scope, receive, send):
        await send({"type": "http.response.start", "status": http.HTTPStatus.OK})
    signed = scope()["headers"]
    for change in ({"path": None, "query_string": None}, {"path": b"/x"}, {"query_string": "a=1"}, {"path": 5, "query_string": 5, "method": 5},
                   {"method": None, "scheme": b"https"}, {"path": "\ud800"}, {"headers": [(name.decode(), value.decode()) for name, value in signed]},
                   {"headers": tuple(signed + [(b"x-trace-info",), 5, None, (None, None), b"ab"])}):
        with kit.told() as events:
            sent = asyncio.run(drive(asgi(application), dict(scope(), **change)))
        assert len(sent) == 1 and kit.nodes(events)[0].end == {"request": {"status": 200}}, (change, sent)
    for headers in (None, 5, iter(signed), {b"x-trace-info": b"x"}, [None], [()], "ab", [(b"x-trace-info", 5), (b"x-trace-hmac", None)]):
        with kit.told() as events:
            sent = asyncio.run(drive(asgi(application), dict(scope(), headers=headers)))
        assert len(sent) == 1 and not isinstance(sent[0], Exception) and events == [], (headers, sent)
    untouched = iter(signed)
    asyncio.run(drive(asgi(application), dict(scope(), headers=untouched)))
    assert list(untouched) == signed, "the application reads them"


def test_lifespan_is_left_alone():
    seen = []

    async def application(*args):
        seen.extend(args)

    async def receive():
        pass

    async def send(message):
        pass
    lifespan = scope("lifespan")
    asyncio.run(asgi(application)(lifespan, receive, send))
    assert seen == [lifespan, receive, send] and seen[0] is lifespan
