"""Where messages go."""
import csv
import importlib
import io
import json
import logging
import os
import sys
from typing import Any, Dict, Iterator, List, Optional, Tuple

from ._classes import SettingsError, unopened
from .metrics import DateTimeEncoder
from .topics import topics_of


class GenericProducer:
    """Derive from it and write produce(message); flush(), if there is one, is called before messages are committed."""

    def __init__(self, config: Optional[Dict[str, Any]] = None) -> None:
        self.logger = logging.getLogger(self.__class__.__name__)
        self.logger.info("Creating %s", self.__class__.__name__)
        self.config: Dict[str, Any] = config if config is not None else {}
        self._key_field: Any = None

    @property
    def key_field(self) -> Any:
        return self._key_field

    def set_key_field(self, key: Any) -> None:
        """Messages are produced with what they have in this field as key."""
        self._key_field = key

    def produce(self, message: Any = None, **kwargs: Any) -> None:
        raise NotImplementedError


def _text(message: Any) -> str:
    return json.dumps(message, cls=DateTimeEncoder, separators=(",", ":"))


class _Appended(GenericProducer):
    """Whole lines, appended with one write, so that several processes may share a file."""

    def __init__(self, config: Optional[Dict[str, Any]] = None) -> None:
        super().__init__(config)
        if not self.config.get("FILE_PATH"):
            raise SettingsError("%s: FILE_PATH is not set" % self.__class__.__name__)
        self.path: str = self.config["FILE_PATH"]
        self._kept: List[str] = []

    def flush(self) -> None:
        kept = "".join(self._kept)
        self._kept = []
        if kept:
            with self._opened() as file:
                data = kept.encode()
                while data:
                    data = data[file.write(data):]

    def _opened(self) -> io.FileIO:
        try:
            return io.FileIO(self.path, "ab")
        except OSError as error:
            raise unopened(error, "%s: FILE_PATH" % self.__class__.__name__) from None

    def __del__(self) -> None:
        if getattr(self, "_kept", None):
            self.flush()


class JSONProducer(_Appended):
    """FILE_PATH: a file, which gets one message a line; or a folder, which gets files producer_output0.json, … with `buffer_size` messages
    each, as APF writes them."""

    def __init__(self, config: Optional[Dict[str, Any]] = None) -> None:
        super().__init__(config)
        self.buffer: List[Any] = []
        self.buffer_size = int(self.config.get("buffer_size", 1))
        self.file_counter = 0
        self._is_folder = os.path.isdir(self.path) or str(self.path).endswith("/")

    def produce(self, message: Any = None, **kwargs: Any) -> None:
        if not self._is_folder:
            self._kept.append(_text(message) + "\n")
            return
        self.buffer.append(message)
        if len(self.buffer) >= self.buffer_size:
            self._write_buffer()

    def _write_buffer(self) -> None:
        os.makedirs(self.path, exist_ok=True)
        with open(os.path.join(self.path, "producer_output%d.json" % self.file_counter), "w", encoding="utf-8") as file:
            file.write(_text(self.buffer))
        self.file_counter += 1
        self.buffer = []

    def __del__(self) -> None:
        if getattr(self, "buffer", None):
            self._write_buffer()
        super().__del__()


def _flat(message: Dict[Any, Any], before: str = "") -> Iterator[Tuple[str, Any]]:
    """Members of members as one name with dots."""
    for name, value in message.items():
        if isinstance(value, dict) and value:
            yield from _flat(value, before + str(name) + ".")
        else:
            yield before + str(name), value


class CSVProducer(_Appended):
    """FILE_PATH: a row for each message, its members in their order; members of members too. HEADER: True writes the names first where the
    file is empty."""

    def produce(self, message: Any = None, **kwargs: Any) -> None:
        out = io.StringIO()
        row = dict(_flat(message))
        writer = csv.writer(out, lineterminator="\n")
        if self.config.get("HEADER") and not self._kept and not (os.path.exists(self.path) and os.path.getsize(self.path)):
            writer.writerow(row)
        writer.writerow([_text(value) if isinstance(value, (list, dict, tuple)) else value for value in row.values()])
        self._kept.append(out.getvalue())


class StdoutProducer(GenericProducer):
    """Standard output: JSON, one message a line."""

    def produce(self, message: Any = None, **kwargs: Any) -> None:
        sys.stdout.write(_text(message) + "\n")

    def flush(self) -> None:
        sys.stdout.flush()


class KafkaProducer(GenericProducer):
    """TOPIC, or several, or TOPIC_STRATEGY; PARAMS are librdkafka's. Messages are JSON; with SCHEMA Avro containers, for which the package
    fastavro is needed."""

    def __init__(self, config: Dict[str, Any]) -> None:
        super().__init__(config)
        self.schema = self._parsed(self.config.get("SCHEMA"))
        self.topics = topics_of(self.config)
        self.producer = self._opened()

    def _opened(self) -> Any:
        from ._kafka import Producer  # loads libraries that steps without Kafka need not have

        return Producer(self.config.get("PARAMS", {}))

    def _parsed(self, schema: Any) -> Any:
        return schema and self._avro().parse_schema(schema)

    @staticmethod
    def _avro() -> Any:
        try:
            return importlib.import_module("fastavro")
        except ImportError:
            raise RuntimeError("messages in Avro need the package fastavro") from None

    def _serialize_message(self, message: Any) -> bytes:
        if not self.schema:
            return _text(message).encode()
        out = io.BytesIO()
        self._avro().writer(out, self.schema, [message])
        return out.getvalue()

    def produce(self, message: Any = None, key: Any = None, **kwargs: Any) -> None:
        if key is None and message and self.key_field:
            key = message[self.key_field]
        data = self._serialize_message(message)
        for topic in self.topics():
            self.producer.produce(topic, data, key)

    def flush(self) -> None:
        self.producer.flush()


class KafkaSchemalessProducer(KafkaProducer):
    """KafkaProducer for Avro without the schema in each message."""

    def _serialize_message(self, message: Any) -> bytes:
        out = io.BytesIO()
        self._avro().schemaless_writer(out, self.schema, message)
        return out.getvalue()
