"""Traces of web services: middleware for WSGI and ASGI.

    application = venturi.web.WsgiMiddleware(application, hmac_keys="secret_word", enabled=True)
    application = venturi.web.AsgiMiddleware(application, hmac_keys="secret_word", enabled=True)

A request whose headers are signed with one of the keys continues its caller's trace with a span `wsgi` (`asgi`, `websocket`) that lasts until
the answer is closed. It has path, query, method and scheme at its begin and the status at its end; an exception or a status of 500 and
more is an error. All other requests are served as if the middleware were not there.

enable() and disable() overrule what every middleware of the process was given, as a service's settings do.
"""
from typing import Any, Awaitable, Callable, Dict, Iterable, Iterator, List, MutableMapping, Optional, Tuple
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
    """Stands for an answer with a status of 500 and more in the span; never raised."""


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

        def start(status: str, headers: List[Any], *exc_info: Any) -> Any:
            answer.status = str(status)
            return start_response(status, headers, *exc_info)
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
        self.span.stop(_facts(self.status), error or _server_error(self.status))


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
        status, failure = "", None
        within = trace.Trace(self.name if scope["type"] == "http" else "websocket", {"request": _asgi_request(scope)})

        async def watch(message: Message) -> None:
            nonlocal status
            status = _asgi_status(message) or status
            await send(message)

        with trace.attach(context, context.get("hmac_key")):
            span = within.__enter__()
            try:
                await self.application(scope, receive, watch)
            except BaseException as error:
                failure = error
                raise
            finally:
                for key, value in _facts(status).items():
                    span[key] = value
                within.__exit__(None, failure or _server_error(status), None)


def _wsgi_request(environ: Environ) -> Dict[str, str]:
    """In osprofiler's words. Texts of an environ are bytes that were read as Latin-1."""
    path = (environ.get("SCRIPT_NAME") or "") + (environ.get("PATH_INFO") or "")
    return {"path": quote(path.encode("latin-1", "replace"), _PATH_SAFE), "query": environ.get("QUERY_STRING") or "",
            "method": environ.get("REQUEST_METHOD") or "", "scheme": environ.get("wsgi.url_scheme") or ""}


def _asgi_request(scope: Message) -> Dict[str, str]:
    path, query = scope.get("path") or "", scope.get("query_string") or b""
    return {"path": quote(path.encode("utf-8", "surrogatepass"), _PATH_SAFE), "query": query.decode("latin-1"),
            "method": scope.get("method") or "GET", "scheme": scope.get("scheme") or "http"}


def _asgi_header(scope: Message, name: str) -> Optional[bytes]:
    wanted = name.encode("ascii")
    return next((value for key, value in scope.get("headers") or () if key.lower() == wanted), None)


def _asgi_status(message: Message) -> str:
    """The status that a message says, as text; "" for those that say none."""
    kind = message.get("type")
    if kind in ("http.response.start", "websocket.http.response.start"):
        return str(message.get("status", ""))
    return "101" if kind == "websocket.accept" else ""


def _facts(status: str) -> Dict[str, Any]:
    """What the end of a request says of its status."""
    code = status[:3]
    return {"request": {"status": int(code)}} if code.isdecimal() else {}


def _server_error(status: str) -> Optional[ServerError]:
    return ServerError(status) if status[:1] == "5" else None


def _is_true(value: Any) -> bool:
    """Settings of a paste file are texts."""
    return value.strip().lower() in ("1", "on", "true", "yes") if isinstance(value, str) else bool(value)
