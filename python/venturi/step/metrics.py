"""Others that are told of metrics, as METRICS_CONFIG names them. Nothing that happens to them reaches the step."""
import datetime
import json
import logging
import os
from typing import Any, Dict, Optional

from ._classes import get_class
from .topics import topics_of


class DateTimeEncoder(json.JSONEncoder):
    """Times as ISO 8601, what JSON has no form for as text."""

    def default(self, o: Any) -> Any:
        return o.isoformat() if isinstance(o, (datetime.date, datetime.datetime)) else str(o)


class GenericMetricsProducer:
    """Derive from it and write send_metrics(metrics)."""

    def __init__(self, config: Optional[Dict[str, Any]] = None) -> None:
        self.config = config or {}
        self.logger = logging.getLogger(self.__class__.__name__)

    def send_metrics(self, metrics: Dict[str, Any]) -> None:
        raise NotImplementedError


class KafkaMetricsProducer(GenericMetricsProducer):
    """Metrics as JSON to TOPIC, or to those of TOPIC_STRATEGY. PARAMS are librdkafka's. What finds no room in its queue is lost, and counted
    in `lost`: a step does not wait for its metrics."""

    def __init__(self, config: Dict[str, Any], producer: Any = None) -> None:
        super().__init__(config)
        self.lost = 0
        self.time_encoder = get_class(self.config.get("TIME_ENCODER_CLASS", DateTimeEncoder))
        self.topics = topics_of(self.config)
        self.producer = self._opened() if producer is None else producer

    def _opened(self) -> Any:
        from ._kafka import Producer  # loads libraries that steps without Kafka need not have

        return Producer(self.config.get("PARAMS", {}), wait_ms=0)

    def send_metrics(self, metrics: Dict[str, Any]) -> None:
        text = json.dumps(metrics, cls=self.time_encoder).encode()
        for topic in self.topics():
            try:
                self.producer.produce(topic, text)
            except Exception:
                self.lost += 1
                raise


class LogfileMetricsProducer(GenericMetricsProducer):
    """Metrics as lines of JSON, appended to PATH; without it to a new file among temporary ones."""

    def __init__(self, config: Dict[str, Any]) -> None:
        super().__init__(config)
        path: Optional[str] = self.config.get("PATH")
        if path is None:
            import tempfile

            handle, path = tempfile.mkstemp(prefix="metrics-", suffix=".jsonl")
            os.close(handle)
        elif os.path.dirname(path):
            os.makedirs(os.path.dirname(path), exist_ok=True)
        self.path = path
        self.logger.info("Writing metrics to %s", self.path)

    def send_metrics(self, metrics: Dict[str, Any]) -> None:
        line = json.dumps(metrics, cls=DateTimeEncoder) + "\n"
        handle = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        try:
            os.write(handle, line.encode())
        finally:
            os.close(handle)
