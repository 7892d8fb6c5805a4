"""A span in a context of its own: opened and closed wherever its work is, in any order with others, it never touches the caller's stack."""
import contextvars
from typing import Any, Callable, Dict, Optional, TypeVar

from . import trace

Result = TypeVar("Result")
Info = Dict[str, Any]


class Span:
    """One that is open. It belongs to the trace that is current where it is made, or to the one of `context` (see trace.attach())."""

    _is_open = False  # until it has begun

    def __init__(self, name: str, info: Info, context: Optional[Dict[str, Any]] = None) -> None:
        self._context = contextvars.copy_context()
        if context is not None:  # what it changes is thrown away with the copy
            self._context.run(trace.attach(context, context.get("hmac_key")).__enter__)
        self._with = trace.Trace(name, info)
        self._span = self._context.run(self._with.__enter__)
        self._is_open = True

    def run(self, function: Callable[..., Result], *args: Any, **kwargs: Any) -> Result:
        """Calls the function inside of the span: its spans are children of this one."""
        return self._context.run(function, *args, **kwargs)

    def stop(self, info: Optional[Info] = None, error: Optional[BaseException] = None) -> None:
        """Ends it, once, with what is to be said of it; a second time does nothing."""
        if self._is_open:
            self._is_open = False
            for key, value in (info or {}).items():
                self._span[key] = value
            self._context.run(self._with.__exit__, type(error) if error else None, error, None)


class KeptSpan(Span):
    """One that is kept at what has to end it, and ends when that is gone: a connection that is dropped, a statement that is interrupted
    before the driver has it."""

    def __del__(self) -> None:
        self.stop()
