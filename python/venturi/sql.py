"""Traces of SQL: a span for every statement that an SQLAlchemy engine (1.4 or 2) executes while a trace is on.

    venturi.sql.add_tracing(sqlalchemy, engine, "db")

It has the statement, never its parameters unless they are asked for: passwords and tokens are in them. A statement that fails is an error,
with what the driver said and what that came from. However often an engine and its sessions are traced, a statement is one span.
"""
import contextlib
from typing import Any, Callable, Dict, Iterator, Optional

from . import trace
from ._spans import KeptSpan

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


def is_on() -> bool:
    """Whether enable() or disable() was called last."""
    return _is_on


def add_tracing(sqlalchemy: Any, engine: Any, name: str, hide_result: bool = True, hide_params: bool = True) -> None:
    """Traces an engine, sync or async; `name` is that of its spans. `sqlalchemy` is the module.

    `hide_result=False` says at the end what came back, as far as the driver has it; `hide_params=False` says the parameters.
    """
    if _is_on:
        listen(sqlalchemy, engine, before(name, hide_params), after(hide_result), failed)


def listen(sqlalchemy: Any, engine: Any, begin: Any, end: Any, fail: Any) -> None:
    """Hooks in what before(), after() and failed() are."""
    for event, function in (("before_cursor_execute", begin), ("after_cursor_execute", end), ("handle_error", fail)):
        sqlalchemy.event.listen(_engine_of(engine), event, function)


def _engine_of(bind: Any) -> Any:
    """Where SQLAlchemy takes listeners: at a sync engine, not at an async one nor at a connection."""
    return bind.sync_engine if hasattr(type(bind), "sync_engine") else getattr(bind, "__dict__", {}).get("engine", bind)


@contextlib.contextmanager
def wrap_session(sqlalchemy: Any, session: Any, add: Callable[..., None] = add_tracing) -> Iterator[Any]:
    """A session whose engine is traced, under the name `db`; an engine is traced once. `add` does what add_tracing() does."""
    with session as inner:
        engine = _engine_of(inner.bind if inner.bind is not None else inner.get_bind())
        if _is_on and not getattr(engine, "traced", False):
            add(sqlalchemy, engine, "db")
            engine.traced = True
        yield inner


def before(name: str, hide_params: bool = True) -> Callable[..., None]:
    """A listener that begins the span of a statement."""
    def begin(connection: Any, cursor: Any, statement: str, params: Any, context: Any, executemany: bool) -> None:
        if not _is_on or context is None or hasattr(context, _SPAN) or not trace.get():
            return  # it has one if the engine is traced twice
        db: Dict[str, Any] = {"statement": statement}
        if not hide_params:
            db["params"] = params
        setattr(context, _SPAN, KeptSpan(name, {"db": db}))
    return begin


def after(hide_result: bool = True) -> Callable[..., None]:
    """A listener that ends it."""
    def end(connection: Any, cursor: Any, statement: str, params: Any, context: Any, executemany: bool) -> None:
        span = _take(context)
        if span:
            span.stop(None if hide_result else {"db": {"result": _result(cursor)}})
    return end


def failed(about: Any) -> None:
    """A listener that ends it with an error. Also called for what is no statement: a connection that cannot be made, a row that cannot be fetched."""
    span = _take(about.execution_context)
    if span:
        error = about.original_exception
        cause = str(error.__cause__) if error.__cause__ else ""
        span.stop({"db": {"original_exception": str(error), "chained_exception": cause}}, error)


def _take(context: Any) -> Optional[KeptSpan]:
    """The span of an execution, which is ended once."""
    span: Optional[KeptSpan] = getattr(context, _SPAN, None)
    if span:
        delattr(context, _SPAN)
    return span


def _result(cursor: Any) -> str:
    """The rows where a driver keeps them, else how many there are."""
    rows = getattr(cursor, "_rows", None)
    return str(rows) if rows is not None else "%s rows" % cursor.rowcount
