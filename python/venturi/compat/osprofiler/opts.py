"""osprofiler.opts: options of a service.

With oslo.config installed they are registered there, as the real ones are; they are the real ones if osprofiler is there too, because
oslo.config wants one definition of an option. Without it, Conf reads a file and has the same attributes.
"""
from importlib import import_module
from typing import Any, Dict, List, NamedTuple, Optional, Tuple

from venturi.configuration import Settings, load

from . import web

__all__ = ["list_opts", "set_defaults"]

try:
    cfg: Any = import_module("oslo_config.cfg")
except ImportError:
    cfg = None

_GROUP = "profiler"


class Option(NamedTuple):
    """One that is not oslo.config's: what list_opts() has without it."""
    name: str
    default: Any
    help: str
    secret: bool = False


_OPTIONS = [
    Option("enabled", False, "Whether requests that are signed with one of the keys are traced."),
    Option("trace_sqlalchemy", False, "Whether SQL statements are spans of a trace."),
    Option("trace_requests", False, "Whether outgoing HTTP requests are spans of a trace, and continue it where they go."),
    Option("hmac_keys", "SECRET_KEY", "Keys, with commas between them. Whoever knows one can have a request traced: set your own.", True),
    Option("connection_string", "messaging://", "Where notifications go: log://, log://LOGGER or none://; recordings have spans anyway."),
    Option("es_doc_type", "notification", "Document type in Elasticsearch."),
    Option("es_scroll_time", "2m", "How long Elasticsearch keeps a search open."),
    Option("es_scroll_size", 10000, "How many hits Elasticsearch returns at a time."),
    Option("socket_timeout", 0.1, "Seconds to wait for Redis Sentinel."),
    Option("sentinel_service_name", "mymaster", "Name of the master at Redis Sentinel."),
    Option("filter_error_trace", False, "Whether traces with errors are listed apart."),
]


def _oslo_options() -> List[Any]:
    try:
        return list(dict(import_module("osprofiler.opts").list_opts())[_GROUP])
    except (ImportError, KeyError, AttributeError):  # the last: it is this very module, under that name
        return [_oslo_option(option) for option in _OPTIONS]


def _oslo_option(option: Option) -> Any:
    kind = {bool: cfg.BoolOpt, int: cfg.IntOpt, float: cfg.FloatOpt, str: cfg.StrOpt}[type(option.default)]
    more: Dict[str, Any] = {"deprecated_name": "profiler_enabled"} if option.name == "enabled" else {}
    return kind(option.name, default=option.default, help=option.help, secret=option.secret, **more)


class Conf:
    """Settings without oslo.config: `Conf("service.conf").profiler.enabled`. Without a file it has the defaults."""

    def __init__(self, path: Optional[str] = None) -> None:
        self.profiler = Settings()
        for option in _OPTIONS:
            setattr(self.profiler, option.name, option.default)
        if path is not None:
            self.profiler = load(path, self.profiler)

    def register_opts(self, opts: Any, group: Any = None) -> None:
        """They are known."""

    def set_default(self, name: str, default: Any, group: Optional[str] = None) -> None:
        setattr(self.profiler, name, default)


if cfg:
    _PROFILER_OPTS = _oslo_options()
    _group: Any = cfg.OptGroup(_GROUP, title="Profiling across services")
    CONF: Any = cfg.CONF
else:
    _PROFILER_OPTS, _group = list(_OPTIONS), _GROUP
    CONF = Conf()
CONF.register_opts(_PROFILER_OPTS, group=_group)


def set_defaults(conf: Any, enabled: Optional[bool] = None, trace_sqlalchemy: Optional[bool] = None, hmac_keys: Optional[str] = None,
                 connection_string: Optional[str] = None, es_doc_type: Optional[str] = None, es_scroll_time: Optional[str] = None,
                 es_scroll_size: Optional[int] = None, socket_timeout: Optional[float] = None,
                 sentinel_service_name: Optional[str] = None) -> None:
    """Registers the options, and gives those that are not None another default."""
    given = dict(locals())
    conf.register_opts(_PROFILER_OPTS, group=_group)
    for option in _OPTIONS:
        if given.get(option.name) is not None:
            conf.set_default(option.name, given[option.name], group=_GROUP)


def _of(conf: Any) -> Any:
    return CONF if conf is None else conf


def is_trace_enabled(conf: Any = None) -> bool:
    return bool(_of(conf).profiler.enabled)


def is_db_trace_enabled(conf: Any = None) -> bool:
    profiler = _of(conf).profiler
    return bool(profiler.enabled and profiler.trace_sqlalchemy)


def enable_web_trace(conf: Any = None) -> None:
    """Turns on middleware if the settings say `enabled`."""
    profiler = _of(conf).profiler
    if profiler.enabled:
        web.enable(profiler.hmac_keys)


def disable_web_trace(conf: Any = None) -> None:
    """Turns off middleware if the settings say `enabled`."""
    if _of(conf).profiler.enabled:
        web.disable()


def list_opts() -> List[Tuple[str, List[Any]]]:
    """For generators of sample files."""
    return [(_GROUP, list(_PROFILER_OPTS))]
