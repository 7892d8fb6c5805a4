"""osprofiler.initializer: all that a service needs, from its settings."""
from typing import Any

from venturi import trace

from . import notifier, requests, web


def init_from_conf(conf: Any, context: Any, project: str, service: str, host: str, **kwargs: Any) -> None:
    """Sets the notifier that `connection_string` names, turns on middleware with `hmac_keys`, and hooks requests if `trace_requests` says so.

    `conf` is oslo.config's, or opts.Conf, or anything with a `profiler` that has these. Project, service and host go to recordings.
    """
    trace.set_service(project=project, service=service, host=host)
    notifier.set(notifier.create(conf.profiler.connection_string, context=context, project=project, service=service, host=host,
                                 conf=conf, **kwargs))
    web.enable(conf.profiler.hmac_keys)
    if getattr(conf.profiler, "trace_requests", False):
        requests.enable()
