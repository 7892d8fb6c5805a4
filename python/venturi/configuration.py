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
import logging.config
import os
import re
import threading
import time
from dataclasses import dataclass, fields, replace
from typing import Any, Dict, Mapping, Optional, Union

from . import clients, sql, trace, web

LOG_NAME = "profiler_trace"

_log = logging.getLogger(__name__)
_SLOW = 0.5  # seconds: lines of longer ones are marked
_MAX_OPEN = 100000
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


def load(path: "Union[str, os.PathLike[str]]", defaults: Optional[Settings] = None) -> Settings:
    """Reads an ini file as oslo.config does: values may have quotes around them, $name stands for another option, the last of equal ones
    counts. ConfigurationError if it cannot be read or an option of [profiler] is not what it should be."""
    file = os.fspath(path)
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
    log = sections.get("DEFAULT", {}).get("log_config_append")
    if log:
        settings.log_config_append = _locate(_resolve(log, "DEFAULT", sections), file)
    return settings


def setup(path: "Union[str, os.PathLike[str], Settings]", project: Optional[str] = None, service: Optional[str] = None,
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
    if scheme not in ("log", "none"):
        _log.warning("connection_string: %s:// is not available here; spans go to recordings and to the log", scheme)
    trace.set_notifier(None if scheme == "none" else LogNotifier(settings.profiler_log_name))
    web.enable(settings.hmac_keys)
    if settings.trace_requests:
        clients.install()
    if settings.trace_sqlalchemy:
        sql.enable()
    else:
        sql.disable()
    return settings


def follow_logging(path: str) -> None:
    """logging.config.fileConfig() with oslo.log's habit: loggers that exist already go on."""
    try:
        logging.config.fileConfig(path, disable_existing_loggers=False)
    except Exception as error:  # it evaluates what the file holds: anything may come out
        raise ConfigurationError("%s: logging cannot be set up: %s" % (path, _one_line(error))) from error


def read_ini(path: str) -> Dict[str, Dict[str, str]]:
    """The sections of a file, and their options as they stand there, without quotes. None inherits from [DEFAULT]."""
    parser = configparser.RawConfigParser(strict=False, default_section="\0", interpolation=None, empty_lines_in_values=False)
    parser.optionxform = str  # type: ignore[method-assign,assignment]
    try:
        with open(path, encoding="utf-8") as file:
            parser.read_file(file, path)
    except OSError as error:
        raise ConfigurationError("%s: %s" % (path, error.strerror or error)) from None
    except (configparser.Error, UnicodeDecodeError) as error:
        raise ConfigurationError("%s: %s" % (path, _one_line(error))) from None
    return {name: {key: _unquote(value) for key, value in parser.items(name)} for name in parser.sections()}


class LogNotifier:
    """A notifier that writes Mistral's lines: for trace.set_notifier(), or osprofiler's own notifier.set().

    Durations are of a clock that nobody sets. A span may stop on another thread than it started on. Where a span stops whose start was not
    seen, there is no line, as there is none of its start.
    """

    def __init__(self, name: str = LOG_NAME) -> None:
        self._logger = logging.getLogger(name)
        self._lock = threading.Lock()
        self._started: Dict[str, int] = {}

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
            with self._lock:
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
        """Spans that never stop do not fill the memory: the oldest make room."""
        with self._lock:
            if len(self._started) >= _MAX_OPEN:
                del self._started[next(iter(self._started))]
            self._started[span] = time.monotonic_ns()


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
