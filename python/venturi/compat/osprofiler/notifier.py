"""osprofiler.notifier: one callable of the process that is told of every start and stop, beside what is recorded.

What it raises does not reach the traced code.
"""
import logging
from typing import Any, Callable, Dict

from venturi import _ship
from venturi import trace as _trace

from .drivers import base

LOG = logging.getLogger(__name__)
Notifier = Callable[..., Any]


def _noop_notifier(info: Dict[str, Any], context: Any = None) -> None:
    """Do nothing on notify()."""


_notifier: Notifier = _noop_notifier
_cache: Dict[str, Notifier] = {}


def notify(info: Dict[str, Any]) -> None:
    """Passes the info to the notifier."""
    _notifier(info)


def get() -> Notifier:
    """The notifier of the process."""
    return _notifier


def set(notifier: Notifier) -> None:
    """Takes a callable with one argument, the payload, to tell of every start and stop."""
    global _notifier
    _notifier = notifier
    _trace.set_notifier(None if notifier is _noop_notifier else lambda payload: notify(payload))


def create(connection_string: str, *args: Any, **kwargs: Any) -> Notifier:
    """A notifier for a connection string: `log://` writes Mistral's lines to the logger profiler_trace (`log://NAME`: to another), `none://` does
    nothing. Stores that venturi-ship knows (redis, elasticsearch, otlp) get the spans by it; others are named in a warning. Further ones are subclasses of drivers.base.Driver."""
    if connection_string not in _cache:
        if base.is_store(connection_string) and _ship.is_store(connection_string):
            _ship.start(connection_string)
            _cache[connection_string] = _noop_notifier
            return _noop_notifier
        if base.is_store(connection_string):
            LOG.warning("%s is not available here, only recordings have spans; connection_string = log:// writes them to the logger %s",
                        base.without_secret(connection_string), base.log_name(kwargs.get("conf")))
            _cache[connection_string] = _noop_notifier
            return _noop_notifier
        try:
            _cache[connection_string] = base.get_driver(connection_string, *args, **kwargs).notify
            LOG.info("osprofiler is enabled with connection string: %s", base.without_secret(connection_string))
        except Exception as error:
            LOG.warning("no notifier for %s, only recordings have spans: %s", base.without_secret(connection_string), error)
            _cache[connection_string] = _noop_notifier
    return _cache[connection_string]


def clear_notifier_cache() -> None:
    """The next create() makes a new one."""
    _cache.clear()
