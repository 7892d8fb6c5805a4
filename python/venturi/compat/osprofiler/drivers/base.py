"""osprofiler.drivers.base: what a connection string stands for."""
from typing import Any, Dict, List, Optional, Set
from urllib.parse import urlsplit

from venturi.configuration import LOG_NAME, LogNotifier

from .. import _utils

_STORES = ("elasticsearch", "jaeger", "loginsight", "messaging", "mongodb", "mysql", "mysql+mysqldb", "mysql+pymysql", "otlp",
           "postgresql", "postgresql+psycopg2", "redis", "redissentinel")


def get_driver(connection_string: str, *args: Any, **kwargs: Any) -> "Driver":
    """The driver that the scheme names; ValueError if there is none."""
    if "://" not in connection_string:
        connection_string += "://"
    scheme = connection_string.split("://", 1)[0]
    for driver in _utils.itersubclasses(Driver):
        if driver.get_name() == scheme:
            return driver(connection_string, *args, **kwargs)
    raise ValueError("Driver not found for connection string: %s" % without_secret(connection_string))


def is_store(connection_string: str) -> bool:
    """Whether it names a store on the network that osprofiler has; a driver of the program's own comes first."""
    scheme = connection_string.split("://", 1)[0]
    return scheme in _STORES and not any(driver.get_name() == scheme for driver in _utils.itersubclasses(Driver))


def log_name(conf: Any) -> str:
    """Of the logger that lines go to, as Mistral's option has it."""
    return str(getattr(getattr(conf, "profiler", None), "profiler_log_name", None) or LOG_NAME)


def without_secret(connection_string: str) -> str:
    """For messages: no name and password."""
    return connection_string.split("://", 1)[0] + "://" + connection_string.split("://", 1)[-1].rpartition("@")[2] \
        if "://" in connection_string else connection_string


class Driver:
    """Base of drivers; a subclass has a name and notify()."""

    default_trace_fields: Set[str] = {"base_id", "timestamp"}

    def __init__(self, connection_str: str, project: Optional[str] = None, service: Optional[str] = None, host: Optional[str] = None,
                 **kwargs: Any) -> None:
        self.connection_str = connection_str
        self.project = project
        self.service = service
        self.host = host
        conf = kwargs.get("conf")
        self.filter_error_trace = bool(getattr(getattr(conf, "profiler", None), "filter_error_trace", False))

    @classmethod
    def get_name(cls) -> str:
        """The scheme of its connection strings."""
        return cls.__name__

    def notify(self, info: Dict[str, Any], **kwargs: Any) -> None:
        """Told of every start and stop."""
        raise self._missing()

    def get_report(self, base_id: str) -> Dict[str, Any]:
        raise self._missing()

    def list_traces(self, fields: Optional[Set[str]] = None) -> List[Dict[str, Any]]:
        raise self._missing()

    def list_error_traces(self) -> List[Dict[str, Any]]:
        raise self._missing()

    def _missing(self) -> NotImplementedError:
        return NotImplementedError("%s: This method is either not supported or has to be overridden" % self.get_name())


class Log(Driver):
    """`log://` or `log://NAME`: Mistral's lines, to the logger of that name, or to the one that the settings name."""

    def __init__(self, connection_str: str, *args: Any, **kwargs: Any) -> None:
        super().__init__(connection_str, *args, **kwargs)
        self._write = LogNotifier(urlsplit(connection_str).netloc or log_name(kwargs.get("conf")))

    @classmethod
    def get_name(cls) -> str:
        return "log"

    def notify(self, info: Dict[str, Any], **kwargs: Any) -> None:
        self._write(info)


class Nothing(Driver):
    """`none://`: only recordings have the spans."""

    @classmethod
    def get_name(cls) -> str:
        return "none"

    def notify(self, info: Dict[str, Any], **kwargs: Any) -> None:
        pass
