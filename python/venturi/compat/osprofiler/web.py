"""osprofiler.web: middleware and headers."""
from typing import Any, Dict, Optional, Tuple

from venturi import web as _web
from venturi.propagation import X_TRACE_HMAC, X_TRACE_INFO, Keys, signed_headers, split_keys

from . import profiler

__all__ = ["WsgiMiddleware", "X_TRACE_HMAC", "X_TRACE_INFO", "disable", "enable", "get_trace_id_headers"]

_ENABLED: Optional[bool] = None
_HMAC_KEYS: Keys = None


def get_trace_id_headers() -> Dict[str, str]:
    """The two headers that continue the current trace; {} if there is none or it has no key."""
    return signed_headers()


def disable() -> None:
    """Turns off every middleware of this module."""
    global _ENABLED
    _ENABLED = False


def enable(hmac_keys: Optional[str] = None) -> None:
    """Turns on every middleware of this module; keys, if given, replace theirs."""
    global _ENABLED, _HMAC_KEYS
    _ENABLED = True
    _HMAC_KEYS = split_keys(hmac_keys or "")


class WsgiMiddleware(_web.WsgiMiddleware):
    """WSGI middleware that traces requests that are signed with one of the keys."""

    def settings(self) -> Tuple[bool, Keys]:
        if _ENABLED is None:
            return super().settings()
        return _ENABLED, _HMAC_KEYS or self.hmac_keys

    def __call__(self, environ: Any, start_response: Any = None) -> Any:
        """As any WSGI application; or with a webob request alone, then it returns the response."""
        if start_response is not None:
            return super().__call__(environ, start_response)
        request = environ
        headers = {name.lower(): value for name, value in request.headers.items()}
        context = self.accept(headers.get)
        if context is None:
            return request.get_response(self.application)
        profiler.init(hmac_key=context["hmac_key"], base_id=context["base_id"], parent_id=context.get("parent_id"))
        info = {"request": {"path": request.path, "query": request.query_string, "method": request.method, "scheme": request.scheme}}
        try:
            with profiler.Trace(self.name, info=info):
                return request.get_response(self.application)
        finally:
            profiler.clean()
