"""A service's settings as osprofiler's users write them, and the log lines of its trace points.

    settings = venturi.configuration.setup("/etc/mistral/mistral.conf", project="mistral", service="engine")

does all that the file asks for: `[DEFAULT] log_config_append` names a file for logging.config.fileConfig(), whose loggers, handlers and
formatters are set up as oslo.log does (loggers that exist go on); `[profiler]` says whether requests that carry the secret are traced
(`enabled`, `hmac_keys`) and what is hooked (`trace_requests`, `trace_sqlalchemy`). Each trace point of a trace is two lines of the logger
`profiler_trace`, as Mistral writes them, which `venturi rank` and `venturi trace` read.
"""
import configparser
import json
import logging
import os
import re
import time
import weakref
from dataclasses import dataclass, fields, replace
from typing import Any, Dict, Mapping, Optional, Union

from . import _ship, _venturi, sql, trace, web

LOG_NAME = "profiler_trace"
Path = Union[str, bytes, "os.PathLike[str]", "os.PathLike[bytes]"]

_log = logging.getLogger(__name__)
_SLOW = 0.5  # seconds: lines of longer ones are marked
_MAX_OPEN = 100000
_is_said = False  # that nobody receives spans
_TRUE, _FALSE = ("true", "1", "on", "yes"), ("false", "0", "off", "no")
_REFERENCE = re.compile(r"\$\$|\\\$|\$\{([_a-z][._a-z0-9]*)\}|\$([_a-z][._a-z0-9]*)", re.I)


class ConfigurationError(ValueError):
    """What is wrong, and in which file, in one line."""


@dataclass
class Settings:
    """`[profiler]`, with osprofiler's defaults but for two: there is no secret unless one is given, and spans go to the log."""
    enabled: bool = False
    trace_sqlalchemy: bool = False
    trace_requests: bool = False
    hmac_keys: str = ""
    connection_string: str = "log://"
    es_doc_type: str = "notification"
    es_scroll_time: str = "2m"
    es_scroll_size: int = 10000
    socket_timeout: float = 0.1
    sentinel_service_name: str = "mymaster"
    filter_error_trace: bool = False
    profiler_log_name: str = LOG_NAME
    log_config_append: Optional[str] = None  # the path, as it can be opened

    def __repr__(self) -> str:
        """Without the secret."""
        said = ("%s=%r" % (field.name, getattr(self, field.name)) for field in fields(self) if field.name != "hmac_keys")
        return "Settings(%s)" % ", ".join(said)


def load(path: "Path", defaults: Optional[Settings] = None) -> Settings:
    """Reads an ini file as oslo.config does: values may have quotes around them, $name stands for another option, the last of equal ones
    counts. ConfigurationError if it cannot be read or an option of [profiler] is not what it should be; those that are not known are named
    in a warning."""
    file = os.fsdecode(path)
    sections = read_ini(file)
    settings = replace(defaults or Settings())
    said = sections.get("profiler", {})
    for field in fields(Settings):
        text = said.get(field.name)
        if text is None and field.name == "enabled":
            text = said.get("profiler_enabled")  # its name of old
        if text is not None and field.name != "log_config_append":
            value = _convert(_resolve(text, "profiler", sections), type(field.default), "%s: [profiler] %s" % (file, field.name))
            setattr(settings, field.name, value)
    known = {field.name for field in fields(Settings)} - {"log_config_append"} | {"profiler_enabled"}
    for name in said:
        if name not in known:
            _log.warning("%s: [profiler] %s is not known here", file, name)
    log = sections.get("DEFAULT", {}).get("log_config_append")
    if log:
        settings.log_config_append = _locate(_resolve(log, "DEFAULT", sections), file)
    return settings


def setup(path: "Union[Path, Settings]", project: Optional[str] = None, service: Optional[str] = None,
          host: Optional[str] = None) -> Settings:
    """Reads the file (or takes settings that are read already) and does what it says; see the module. Returns the settings.

    The names of project, service and host go to the recording with every span that enters the process.
    """
    settings = path if isinstance(path, Settings) else load(path)
    if settings.log_config_append:
        follow_logging(settings.log_config_append)
    if not settings.enabled:
        web.disable()
        return settings
    trace.set_service(project=project, service=service, host=host)
    scheme = settings.connection_string.split(":", 1)[0]
    is_shipped = _ship.is_store(settings.connection_string)
    if is_shipped:
        _ship.start(settings.connection_string)
    elif scheme not in ("log", "none"):
        _log.warning("connection_string: %s:// is not available here; spans go to recordings and to the log %s, as with connection_string = log://",
                     scheme, settings.profiler_log_name)
    elif scheme == "log":
        _check_somebody_receives(settings.profiler_log_name)
    # Whose logging has a logger for trace points gets its lines, too, as from Mistral.
    is_silent = scheme == "none" or is_shipped and not logging.getLogger(settings.profiler_log_name).handlers
    trace.set_notifier(None if is_silent else LogNotifier(settings.profiler_log_name))
    web.enable(settings.hmac_keys)
    if settings.trace_requests:
        from . import clients  # only then: http.client takes its time to load
        clients.install()
    if settings.trace_sqlalchemy:
        sql.enable()
    else:
        sql.disable()
    return settings


def _check_somebody_receives(log_name: str) -> None:
    """A service that is set up but for its log looks as if tracing did not work."""
    global _is_said
    logger = logging.getLogger(log_name)
    if _is_said or _venturi.info()["recording"] or logger.hasHandlers() and logger.isEnabledFor(logging.INFO):
        return
    _is_said = True
    _log.warning("nobody receives the spans of traces: record the program with `venturi run`, or name a file in [DEFAULT] log_config_append that "
                 "gives the logger %s a handler and the level INFO", log_name)


def follow_logging(path: str) -> None:
    """logging.config.fileConfig() with oslo.log's habit: loggers that exist already go on."""
    from logging.config import fileConfig  # only then: it takes its time to load
    try:
        with open(path, encoding="utf-8-sig") as file:
            parser = configparser.ConfigParser()
            parser.read_file(file, path)
        fileConfig(parser, disable_existing_loggers=False)
    except (Exception, SystemExit) as error:  # it evaluates what the file holds: anything may come out
        raise ConfigurationError("%s: logging cannot be set up: %s" % (path, _one_line("%s: %s" % (type(error).__name__, error)))) from error


def read_ini(path: str) -> Dict[str, Dict[str, str]]:
    """The sections of a file, and their options as they stand there, without quotes. None inherits from [DEFAULT]."""
    parser = configparser.RawConfigParser(strict=False, default_section="\0", interpolation=None, empty_lines_in_values=False)
    parser.optionxform = str  # type: ignore[method-assign,assignment]
    try:
        with open(path, encoding="utf-8-sig") as file:
            parser.read_file(file, path)
    except OSError as error:
        raise ConfigurationError("%s: %s" % (path, error.strerror or error)) from None
    except (configparser.Error, ValueError) as error:  # not UTF-8, or no path
        raise ConfigurationError("%s: %s" % (path, _one_line(error))) from None
    return {name: {key: _unquote(value) for key, value in parser.items(name)} for name in parser.sections()}


class LogNotifier:
    """A notifier that writes Mistral's lines: for trace.set_notifier(), or osprofiler's own notifier.set().

    Durations are of a clock that nobody sets. A span may stop on another thread than it started on. Where a span stops whose start was not
    seen, there is no line, as there is none of its start.
    """

    def __init__(self, name: str = LOG_NAME) -> None:
        self._logger = logging.getLogger(name)
        self._started: Dict[str, int] = {}
        _notifiers.add(self)

    def __call__(self, payload: Mapping[str, Any], context: Any = None) -> None:
        if not self._logger.isEnabledFor(logging.INFO):
            return
        line = self._line(payload)
        if line:
            self._logger.info("%s", line)

    def _line(self, payload: Mapping[str, Any]) -> Optional[str]:
        span = str(payload["trace_id"])
        name = _one_line(payload["name"])
        ids = " ".join(_one_line(payload[key]) for key in ("base_id", "parent_id", "trace_id"))
        is_stop, suffix = name.endswith("-stop"), ""
        if is_stop:
            begun = self._started.pop(span, None)
            if begun is None:
                return None
            seconds = (time.monotonic_ns() - begun) // 1000 / 1e6
            duration, suffix = str(seconds), "  <- !!!" if seconds > _SLOW else ""
        else:
            duration = " " * 8
            self._begin(span)
        return "%s %s %s %s%s%s" % (payload["timestamp"], duration, ids, name, suffix, _database(payload.get("info"), is_stop))

    def _begin(self, span: str) -> None:
        """Spans that never stop do not fill the memory: the oldest make room. Other threads, the handlers of signals and finalizers come
        in between: there is no lock that they could wait for."""
        while len(self._started) >= _MAX_OPEN:
            try:
                self._started.pop(next(iter(self._started)), None)
            except (RuntimeError, StopIteration):  # another one was faster
                pass
        self._started[span] = time.monotonic_ns()


_notifiers: "weakref.WeakSet[LogNotifier]" = weakref.WeakSet()


def _forked() -> None:
    """What was open stays the parent's."""
    for notifier in _notifiers:
        notifier._started = {}


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forked)


def _database(info: Any, is_stop: bool) -> str:
    """What a line says of SQL: the statement, or what came of it; never parameters."""
    db = info.get("db") if isinstance(info, dict) else None
    if not isinstance(db, dict):
        return ""
    said = {key: value for key, value in db.items() if key != "params"}
    return " " + json.dumps(said, default=str) if said or not is_stop else ""


def _convert(text: str, kind: type, where: str) -> Any:
    try:
        if kind is bool:
            if text.lower() not in _TRUE + _FALSE:
                raise ValueError
            return text.lower() in _TRUE
        return kind(text)
    except ValueError:
        raise ConfigurationError("%s: '%s' is no %s" % (where, text, {bool: "boolean", int: "number", float: "number"}[kind])) from None


def _resolve(text: str, section: str, sections: Mapping[str, Mapping[str, str]]) -> str:
    """$name, ${name} and $section.name are other options of the file; $$ and \\$ are a dollar. What is not there stays as it is."""
    def value(found: "re.Match[str]") -> str:
        name = found[1] or found[2]
        if not name:
            return "$"
        place, _, key = name.rpartition(".")
        for candidate in (place,) if place else (section, "DEFAULT"):
            if key in sections.get(candidate, {}):
                return sections[candidate][key]
        return found[0]
    return _REFERENCE.sub(value, text)


def _locate(name: str, file: str) -> str:
    """Beside the file that names it, else from the working directory."""
    beside = os.path.join(os.path.dirname(os.path.abspath(file)), name)
    return beside if os.path.exists(beside) else name


def _unquote(value: str) -> str:
    return value[1:-1] if len(value) > 1 and value[0] == value[-1] and value[0] in "\"'" else value


def _one_line(value: Any) -> str:
    return " ".join(str(value).splitlines())
