"""osprofiler.sqlalchemy: spans of SQL statements. Ours leaves their parameters out unless add_tracing() is told otherwise."""
from venturi.sql import add_tracing, disable, enable, wrap_session

__all__ = ["add_tracing", "disable", "enable", "wrap_session"]
