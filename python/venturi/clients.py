"""Traces of outgoing requests: hooks for `requests`, `urllib.request`, `urllib3` and whatever else is built on `http.client`.

    venturi.clients.install()

While a trace is on, each request is a span named by its scheme (`http`, `https`) with method, host, port, path and query at its begin and the
status at its end (`requests.status_code`); it lasts until the headers of the answer are there, and an exception ends it as an error. The
headers that continue the trace go with it, in place of any that the caller has put there. Where no trace is on, nothing is added or sent. A
request that nobody waits for ends when its connection is closed, used again or gone.
"""
import contextvars
import functools
import http.client
from importlib import import_module
from typing import Any, Callable, Dict, List, Optional, Tuple, Union
from urllib.parse import urlsplit

from . import propagation, trace
from ._spans import KeptSpan, Span

_OURS = frozenset(("x-trace-info", "x-trace-hmac", "traceparent", "tracestate"))
_SPAN = "_venturi_span"
_PORTS = {"http": 80, "https": 443}

_is_on = False
_replaced: List[Tuple[Any, str, Any, Any]] = []
_is_inside: contextvars.ContextVar[bool] = contextvars.ContextVar("venturi_request", default=False)


def install() -> None:
    """Hooks in; a second time does nothing."""
    global _is_on
    _is_on = True
    connection = http.client.HTTPConnection
    _replace(connection, "putrequest", _putrequest)
    _replace(connection, "putheader", _putheader)
    _replace(connection, "endheaders", _endheaders)
    _replace(connection, "getresponse", _getresponse)
    _replace(connection, "close", _close)
    try:
        _replace(import_module("requests.adapters").HTTPAdapter, "send", _send)
    except ImportError:
        pass


def uninstall() -> None:
    """Takes the hooks out. One that somebody else has wrapped since stays, and does nothing."""
    global _is_on
    _is_on = False
    for known in list(_replaced):
        owner, name, original, hook = known
        if owner.__dict__.get(name) is hook:
            setattr(owner, name, original)
            _replaced.remove(known)


def _replace(owner: Any, name: str, make: Callable[..., Any]) -> None:
    """`make` is called with the original and its arguments."""
    original = getattr(owner, name)
    if any(known[0] is owner and known[1] == name for known in _replaced):
        return

    @functools.wraps(original)
    def hook(*args: Any, **kwargs: Any) -> Any:
        if not _is_on:
            return original(*args, **kwargs)
        return make(original, *args, **kwargs)
    setattr(owner, name, hook)
    _replaced.append((owner, name, original, hook))


def _send(original: Callable[..., Any], adapter: Any, request: Any, *args: Any, **kwargs: Any) -> Any:
    """requests.adapters.HTTPAdapter.send: what it calls below is part of this span."""
    if not trace.get():
        return original(adapter, request, *args, **kwargs)
    span = Span(*_describe(request.method, request.url))
    span.run(_is_inside.set, True)
    before = request.headers
    try:
        request.headers = before.copy()
        for name in _OURS:
            request.headers.pop(name, None)
        request.headers.update(span.run(propagation.headers))
        response = span.run(original, adapter, request, *args, **kwargs)
    except BaseException as error:
        span.stop(error=error)
        raise
    finally:
        request.headers = before  # it may be sent again, when no trace is on
    span.stop(_status(response.status_code))
    return response


def _putrequest(original: Callable[..., Any], connection: Any, method: Any, url: Any, *args: Any, **kwargs: Any) -> Any:
    _abandon(connection)
    if not trace.get() or _is_inside.get():
        return original(connection, method, url, *args, **kwargs)
    span = KeptSpan(*_describe(method, url, connection))
    return _step(connection, span, original, connection, method, url, *args, **kwargs)


def _putheader(original: Callable[..., Any], connection: Any, header: Any, *values: Any) -> Any:
    if _SPAN in connection.__dict__ and _text(header).lower() in _OURS:
        return None
    return original(connection, header, *values)


def _endheaders(original: Callable[..., Any], connection: Any, *args: Any, **kwargs: Any) -> Any:
    """Here the connection is made and the request goes out."""
    span = connection.__dict__.pop(_SPAN, None)
    if span is None:
        return original(connection, *args, **kwargs)

    def go() -> Any:
        for name, value in span.run(propagation.headers).items():
            connection.putheader(name, value)
        return original(connection, *args, **kwargs)
    return _step(connection, span, go)


def _getresponse(original: Callable[..., Any], connection: Any, *args: Any, **kwargs: Any) -> Any:
    span = connection.__dict__.pop(_SPAN, None)
    if span is None:
        return original(connection, *args, **kwargs)
    response = _step(connection, span, original, connection, *args, **kwargs)
    del connection.__dict__[_SPAN]
    span.stop(_status(response.status))
    return response


def _close(original: Callable[..., Any], connection: Any, *args: Any, **kwargs: Any) -> Any:
    _abandon(connection)
    return original(connection, *args, **kwargs)


def _step(connection: Any, span: Span, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """One step of a request. The span is not at the connection meanwhile: http.client closes it in the midst of some, and a step that
    fails ends the span with its own error."""
    try:
        result = function(*args, **kwargs)
    except BaseException as error:
        span.stop(error=error)
        raise
    connection.__dict__[_SPAN] = span
    return result


def _abandon(connection: Any) -> None:
    """Nobody waits for the answer any more."""
    span = connection.__dict__.pop(_SPAN, None)
    if span is not None:
        span.stop()


def _describe(method: Any, url: Any, connection: Any = None) -> Tuple[str, Dict[str, Any]]:
    """Name and begin of a span, in osprofiler's words. Name and password of a URL stay out."""
    parts = urlsplit(_text(url))
    scheme = parts.scheme
    host: Optional[str] = parts.hostname
    port: Union[int, str, None] = _port(parts)
    if connection is not None:
        scheme = scheme or ("https" if connection.default_port == 443 else "http")
        if not host:
            host = getattr(connection, "_tunnel_host", None) or connection.host
            port = getattr(connection, "_tunnel_port", None) or connection.port
    return scheme, {"requests": {"method": _text(method), "query": parts.query, "path": parts.path, "hostname": host,
                                 "port": port or _PORTS.get(scheme, ""), "scheme": scheme}}


def _port(parts: Any) -> Optional[int]:
    try:
        return parts.port  # type: ignore[no-any-return]
    except ValueError:
        return None


def _text(value: Any) -> str:
    return value.decode("latin-1") if isinstance(value, bytes) else str(value)


def _status(code: int) -> Dict[str, Any]:
    return {"requests": {"status_code": code}}
