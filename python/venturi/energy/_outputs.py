"""Where rows go beside emissions.csv. Nothing here opens a connection: what would is named, and not sent."""
import json
import logging
import os
from enum import Enum
from typing import Any, Dict, List

from ._data import EmissionsData, TaskEmissionsData
from ._log import warn_once


class OutputMethod(str, Enum):
    CSV = "csv"
    API = "api"
    LOGGER = "logger"
    PROMETHEUS = "prometheus"
    LOGFIRE = "logfire"
    BOAMPS = "boamps"


class BaseOutput:
    """What an entry of output_handlers may do: `out` at flush() and stop(), `live_out` every so often, `exit` at the end."""

    def out(self, total: EmissionsData, delta: EmissionsData) -> None: ...

    def live_out(self, total: EmissionsData, delta: EmissionsData) -> None: ...

    def task_out(self, data: List[TaskEmissionsData], experiment_name: str) -> None: ...

    def exit(self) -> None: ...


class LoggerOutput(BaseOutput):
    """Rows as JSON to a logger."""

    def __init__(self, logger: logging.Logger, severity: int = logging.INFO) -> None:
        self.logger = logger
        self.logging_severity = severity

    def out(self, total: EmissionsData, delta: EmissionsData) -> None:
        self.logger.log(self.logging_severity, "%s", json.dumps(json.loads(total.toJSON())))

    def live_out(self, total: EmissionsData, delta: EmissionsData) -> None:
        self.out(total, delta)


FLAGS = {"save_to_file": "csv", "save_to_api": "api", "save_to_logger": "logger", "save_to_prometheus": "prometheus",
         "save_to_logfire": "logfire"}
NOT_SENT = ("api", "prometheus", "logfire", "boamps")


def methods_of(options: Dict[str, Any]) -> List[OutputMethod]:
    """output_methods, or what the older save_to_* say."""
    if options["output_methods"] is None:
        return [OutputMethod(method) for name, method in FLAGS.items() if options[name]]
    return [method if isinstance(method, OutputMethod) else OutputMethod(str(method).lower()) for method in options["output_methods"]]


def handlers_of(options: Dict[str, Any]) -> List[Any]:
    """What rows are given to, in order."""
    from ._csv import FileOutput

    methods = methods_of(options)
    handlers: List[Any] = list(options["output_handlers"])
    for method in methods:
        if method.value in NOT_SENT:
            warn_once("output method %s: nothing is sent; rows are in the CSV file and in output_handlers" % method.value)
    for name in ("emissions_endpoint", "electricitymaps_api_token", "co2_signal_api_token"):
        if options[name]:
            warn_once("%s: nothing is sent or asked for over the network" % name)
    if OutputMethod.CSV in methods:
        if not os.path.isdir(options["output_dir"]):
            raise OSError("Folder '%s' doesn't exist !" % options["output_dir"])
        handlers.append(FileOutput(options["output_file"], options["output_dir"], options["on_csv_write"]))
    if OutputMethod.LOGGER in methods:
        sink = options["logging_logger"] or logging.getLogger("venturi.energy.rows")
        handlers.append(sink if hasattr(sink, "out") else LoggerOutput(sink))
    return handlers
