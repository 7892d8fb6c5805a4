"""osprofiler.initializer: all that a service needs, from its settings."""
import logging
from typing import Any

from venturi import _ship, trace
from venturi.configuration import follow_logging

from . import notifier, requests, web
from .drivers import base

LOG = logging.getLogger(__name__)


def init_from_conf(conf: Any, context: Any, project: str, service: str, host: str, **kwargs: Any) -> None:
    """Sets the notifier that `connection_string` names, turns on middleware with `hmac_keys`, and hooks requests if `trace_requests` says so.

    `conf` is oslo.config's, or opts.Conf, or anything with a `profiler` that has these. Project, service and host go to recordings. What
    `log_config_append` of a file of opts.Conf says is followed; with oslo.config, oslo.log does that.
    """
    trace.set_service(project=project, service=service, host=host)
    logging_file = getattr(conf.profiler, "log_config_append", None)
    if logging_file and isinstance(logging_file, str):
        follow_logging(logging_file)
    notifier.set(notifier.create(_connection_of(conf), context=context, project=project, service=service, host=host, conf=conf, **kwargs))
    web.enable(conf.profiler.hmac_keys)
    if getattr(conf.profiler, "trace_requests", False):
        requests.enable()


def _connection_of(conf: Any) -> str:
    """Whose logging has a logger for trace points wants lines, as Mistral writes them whatever its connection string is: osprofiler's default
    is a store that is not here. One that is gets the spans as well."""
    connection = str(conf.profiler.connection_string)
    name = base.log_name(conf)
    if not base.is_store(connection) or not logging.getLogger(name).handlers:
        return connection
    if _ship.is_store(connection):
        _ship.start(connection)
    elif connection.split("://", 1)[0] != "messaging":
        LOG.warning("%s is not available here, spans go to recordings and to the logger %s, as with connection_string = log://",
                    base.without_secret(connection), name)
    return "log://"
