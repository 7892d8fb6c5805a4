"""osprofiler.sqlalchemy: spans of SQL statements. Ours leaves their parameters out unless add_tracing() is told otherwise.

Programs replace its listeners in their tests: they are looked up here.
"""
import contextlib
from typing import Any, Iterator

from venturi import sql
from venturi.sql import after as _after_cursor_execute
from venturi.sql import before as _before_cursor_execute
from venturi.sql import disable, enable
from venturi.sql import failed as handle_error

__all__ = ["add_tracing", "disable", "enable", "handle_error", "wrap_session"]


def add_tracing(sqlalchemy: Any, engine: Any, name: str, hide_result: bool = True, hide_params: bool = True) -> None:
    """Traces an engine; `name` is that of its spans."""
    if sql.is_on():
        begin = _before_cursor_execute(name) if hide_params else _before_cursor_execute(name, hide_params=False)
        sql.listen(sqlalchemy, engine, begin, _after_cursor_execute(hide_result=hide_result), handle_error)


@contextlib.contextmanager
def wrap_session(sqlalchemy: Any, sess: Any) -> Iterator[Any]:
    """A session whose engine is traced, under the name `db`."""
    with sql.wrap_session(sqlalchemy, sess, add_tracing) as inner:
        yield inner
