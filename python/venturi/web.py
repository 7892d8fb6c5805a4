"""Traces of web services: middleware for WSGI and ASGI.

    application = venturi.web.WsgiMiddleware(application, hmac_keys="secret_word", enabled=True)
    application = venturi.web.AsgiMiddleware(application, hmac_keys="secret_word", enabled=True)

A request whose headers are signed with one of the keys continues its caller's trace with a span `wsgi` (`asgi`, `websocket`) that lasts until
the answer is closed. It has path, query, method and scheme at its begin and the status at its end, a websocket also the code that it was
closed with (`websocket.code`); an exception, a status of 500 and more, a code of 1011 and more that the application gave, are errors. All
other requests are served as if the middleware were not there.

enable() and disable() overrule what every middleware of the process was given, as a service's settings do.
"""
from typing import Any, Awaitable, Callable, Dict, Iterable, Iterator, List, Mapping, MutableMapping, Optional, Tuple
from urllib.parse import quote

from . import propagation, trace
from ._spans import Span
from .propagation import Keys, headers as get_trace_id_headers

__all__ = ["AsgiMiddleware", "WsgiMiddleware", "disable", "enable", "get_trace_id_headers"]

Environ = Dict[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]

_PATH_SAFE = "/~!$&'()*+,;=:@"
_FORBIDDEN = 403  # what servers answer where an application closes a websocket that it has not accepted
_NORMAL, _FAILED = 1000, 1011  # codes of websockets: how they are closed if nothing is said, and from where on it is a failure
_enabled: Optional[bool] = None
_keys: List[str] = []


def enable(hmac_keys: Keys = None) -> None:
    """Turns on every middleware of this process; keys, if given, replace theirs."""
    global _enabled, _keys
    _enabled = True
    _keys = propagation.split_keys(hmac_keys)


def disable() -> None:
    """Turns off every middleware of this process."""
    global _enabled
    _enabled = False


class ServerError(Exception):
    """Stands for an answer with a status of 500 and more in the span, or a websocket that is closed so; never raised."""


class Middleware:
    """What both kinds share: settings, and which trace a request belongs to."""

    def __init__(self, application: Any, hmac_keys: Keys = None, enabled: bool = False, trust_traceparent: bool = False,
                 **others: Any) -> None:
        """`hmac_keys`: "one, two" or a list. `trust_traceparent`: also trace requests that only have a W3C `traceparent` that says
        "recorded"; for services that strangers cannot reach. Other settings, as a paste file may have them, are ignored."""
        self.application = application
        self.enabled = _is_true(enabled)
        self.hmac_keys = propagation.split_keys(hmac_keys)
        self.trust_traceparent = _is_true(trust_traceparent)

    @classmethod
    def factory(cls, global_conf: Optional[Dict[str, Any]] = None, **local_conf: Any) -> Callable[[Any], Any]:
        """For `paste.filter_factory` in a paste file."""
        return lambda application: cls(application, **local_conf)

    def settings(self) -> Tuple[bool, Keys]:
        """Whether requests are looked at, and the keys, by what counts now."""
        return self.enabled if _enabled is None else _enabled, _keys or self.hmac_keys

    def accept(self, get: Callable[[str], Any]) -> Optional[Dict[str, Any]]:
        """The trace that a request belongs to, from its headers; None to serve it untraced."""
        is_on, keys = self.settings()
        return propagation.accept(get, keys, self.trust_traceparent) if is_on else None


class WsgiMiddleware(Middleware):
    """Middleware for a WSGI application; see the module."""

    name = "wsgi"

    def __call__(self, environ: Environ, start_response: Callable[..., Any]) -> Iterable[bytes]:
        context = self.accept(lambda name: environ.get("HTTP_" + name.upper().replace("-", "_")))
        if context is None:
            return self.application(environ, start_response)  # type: ignore[no-any-return]
        answer = _Answer(Span(self.name, {"request": _wsgi_request(environ)}, context))

        def start(*args: Any, **kwargs: Any) -> Any:
            answer.status = _text(args[0] if args else kwargs.get("status"))
            return start_response(*args, **kwargs)
        try:
            parts = answer.span.run(self.application, environ, start)
        except BaseException as error:
            answer.finish(error)
            raise
        return _SizedBody(answer, parts) if hasattr(parts, "__len__") else _Body(answer, parts)


class _Answer:
    """What is known of an answer while its span is open."""

    def __init__(self, span: Span) -> None:
        self.span = span
        self.status = ""

    def finish(self, error: Optional[BaseException]) -> None:
        code = _code(self.status)
        self.span.stop({} if code is None else {"request": {"status": code}}, error or _server_error(code, self.status))


class _Body:
    """An answer on its way: the span is open until the server has closed it."""

    def __init__(self, answer: _Answer, parts: Any) -> None:
        self._answer = answer
        self._parts = parts
        self._iterator: Optional[Iterator[bytes]] = None
        self._error: Optional[BaseException] = None

    def __iter__(self) -> "_Body":
        return self

    def __next__(self) -> bytes:
        try:
            if self._iterator is None:
                self._iterator = self._answer.span.run(iter, self._parts)
            part: bytes = self._answer.span.run(next, self._iterator)
            return part
        except StopIteration:
            raise
        except BaseException as error:
            self._error = error
            raise

    def close(self) -> None:
        try:
            if hasattr(self._parts, "close"):
                self._answer.span.run(self._parts.close)
        except BaseException as error:
            self._error = error
            raise
        finally:
            self._answer.finish(self._error)

    def __del__(self) -> None:
        """For servers that forget to close."""
        self._answer.finish(self._error)


class _SizedBody(_Body):
    """Servers ask how many parts there are, to tell the length of an answer that has one; some ask whoever can be asked."""

    def __len__(self) -> int:
        return len(self._parts)


class AsgiMiddleware(Middleware):
    """Middleware for an ASGI application: requests and websockets. All else, as `lifespan`, is left alone."""

    name = "asgi"

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        context = None
        if scope.get("type") in ("http", "websocket"):
            context = self.accept(lambda name: _asgi_header(scope, name))
        if context is None:
            await self.application(scope, receive, send)
            return
        failure = None
        seen = _Messages()
        within = trace.Trace(self.name if scope["type"] == "http" else "websocket", {"request": _asgi_request(scope)})

        async def watch(message: Message) -> None:
            seen.sent(message)
            await send(message)

        async def hear() -> Message:
            message = await receive()
            seen.received(message)
            return message

        with trace.attach(context, context.get("hmac_key")):
            span = within.__enter__()
            try:
                await self.application(scope, hear, watch)
            except BaseException as error:
                failure = error
                raise
            finally:
                for key, value in seen.facts().items():
                    span[key] = value
                within.__exit__(None, failure or seen.error(), None)


class _Messages:
    """What the messages between a server and an application say of how it went. Messages of any kind are passed on; odd ones say nothing."""

    def __init__(self) -> None:
        self._status: Optional[int] = None
        self._code: Optional[int] = None  # of a websocket: the first one counts
        self._failed = ""

    def sent(self, message: Any) -> None:
        kind = _get(message, "type")
        if kind in ("http.response.start", "websocket.http.response.start"):
            self._status = _code(_text(_get(message, "status")))
        elif kind == "websocket.accept":
            self._status = 101
        elif kind == "websocket.close" and self._code is None:
            self._code = code = _close_code(message)
            if self._status is None:
                self._status = _FORBIDDEN
            if code >= _FAILED:
                self._failed = ("%d %s" % (code, _text(_get(message, "reason")))).strip()

    def received(self, message: Any) -> None:
        if self._code is None and _get(message, "type") == "websocket.disconnect":
            self._code = _close_code(message)

    def facts(self) -> Dict[str, Any]:
        found: Dict[str, Any] = {}
        if self._status is not None:
            found["request"] = {"status": self._status}
        if self._code is not None:
            found["websocket"] = {"code": self._code}
        return found

    def error(self) -> Optional[ServerError]:
        return ServerError(self._failed) if self._failed else _server_error(self._status, str(self._status))


def _wsgi_request(environ: Environ) -> Dict[str, str]:
    """In osprofiler's words. Texts of an environ are bytes that were read as Latin-1."""
    path = _text(environ.get("SCRIPT_NAME")) + _text(environ.get("PATH_INFO"))
    return {"path": quote(path.encode("latin-1", "replace"), _PATH_SAFE), "query": _text(environ.get("QUERY_STRING")),
            "method": _text(environ.get("REQUEST_METHOD")), "scheme": _text(environ.get("wsgi.url_scheme"))}


def _asgi_request(scope: Message) -> Dict[str, str]:
    path = scope.get("path")
    path = path if isinstance(path, bytes) else _text(path).encode("utf-8", "surrogatepass")
    return {"path": quote(path, _PATH_SAFE), "query": _text(scope.get("query_string")),
            "method": _text(scope.get("method")) or "GET", "scheme": _text(scope.get("scheme")) or "http"}


def _asgi_header(scope: Message, name: str) -> Any:
    headers = scope.get("headers")
    for pair in headers if isinstance(headers, (list, tuple)) else ():  # what can be read once is the application's
        if isinstance(pair, (list, tuple)) and len(pair) == 2 and _text(pair[0]).lower() == name:
            return pair[1]
    return None


def _close_code(message: Any) -> int:
    code = _get(message, "code")
    return code if isinstance(code, int) else _NORMAL


def _get(message: Any, key: str) -> Any:
    return message.get(key) if isinstance(message, Mapping) else None


def _text(value: Any) -> str:
    """What servers and applications say, of whatever type it is: "" if it is no text and no number."""
    if isinstance(value, bytes):
        return value.decode("latin-1")
    return value if isinstance(value, str) else "%d" % value if isinstance(value, int) else ""


def _code(status: str) -> Optional[int]:
    """The number that a status begins with."""
    code = status[:3]
    return int(code) if len(code) == 3 and code.isascii() and code.isdigit() else None


def _server_error(code: Optional[int], status: str) -> Optional[ServerError]:
    return ServerError(status) if code is not None and code >= 500 else None


def _is_true(value: Any) -> bool:
    """Settings of a paste file are texts."""
    return value.strip().lower() in ("1", "on", "true", "yes") if isinstance(value, str) else bool(value)
