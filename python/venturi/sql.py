"""Traces of SQL: a span for every statement that an SQLAlchemy engine (1.4 or 2) executes while a trace is on.

    venturi.sql.add_tracing(sqlalchemy, engine, "db")

It has the statement, never its parameters unless they are asked for: passwords and tokens are in them. A statement that fails is an error,
with what the driver said and what that came from.
"""
import contextlib
from typing import Any, Callable, Dict, Iterator, Optional

from . import trace
from ._spans import Span

_SPAN = "_venturi_span"
_is_on = True


def enable() -> None:
    """Statements of traced engines are spans again after disable(); that is how it begins."""
    global _is_on
    _is_on = True


def disable() -> None:
    """No statement is a span any more, and add_tracing() does nothing."""
    global _is_on
    _is_on = False


def add_tracing(sqlalchemy: Any, engine: Any, name: str, hide_result: bool = True, hide_params: bool = True) -> None:
    """Traces an engine, sync or async; `name` is that of its spans. `sqlalchemy` is the module.

    `hide_result=False` says at the end what came back, as far as the driver has it; `hide_params=False` says the parameters.
    """
    if not _is_on:
        return
    engine = getattr(engine, "sync_engine", engine)
    sqlalchemy.event.listen(engine, "before_cursor_execute", _before(name, hide_params))
    sqlalchemy.event.listen(engine, "after_cursor_execute", _after(hide_result))
    sqlalchemy.event.listen(engine, "handle_error", _failed)


@contextlib.contextmanager
def wrap_session(sqlalchemy: Any, session: Any) -> Iterator[Any]:
    """A session whose engine is traced, under the name `db`; an engine is traced once."""
    with session as inner:
        bind = inner.bind if inner.bind is not None else inner.get_bind()
        if not getattr(bind, "traced", False):
            add_tracing(sqlalchemy, bind, "db")
            bind.traced = True
        yield inner


def _before(name: str, hide_params: bool) -> Callable[..., None]:
    def begin(connection: Any, cursor: Any, statement: str, params: Any, context: Any, executemany: bool) -> None:
        if not _is_on or context is None or not trace.get():
            return
        db: Dict[str, Any] = {"statement": statement}
        if not hide_params:
            db["params"] = params
        setattr(context, _SPAN, Span(name, {"db": db}))
    return begin


def _after(hide_result: bool) -> Callable[..., None]:
    def end(connection: Any, cursor: Any, statement: str, params: Any, context: Any, executemany: bool) -> None:
        span = _take(context)
        if span:
            span.stop(None if hide_result else {"db": {"result": _result(cursor)}})
    return end


def _failed(about: Any) -> None:
    """Also called for what is no statement: a connection that cannot be made, a row that cannot be fetched."""
    span = _take(about.execution_context)
    if span:
        error = about.original_exception
        cause = str(error.__cause__) if error.__cause__ else ""
        span.stop({"db": {"original_exception": str(error), "chained_exception": cause}}, error)


def _take(context: Any) -> Optional[Span]:
    """The span of an execution, which is ended once."""
    span: Optional[Span] = getattr(context, _SPAN, None)
    if span:
        delattr(context, _SPAN)
    return span


def _result(cursor: Any) -> str:
    """The rows where a driver keeps them, else how many there are."""
    rows = getattr(cursor, "_rows", None)
    return str(rows) if rows is not None else "%s rows" % cursor.rowcount
