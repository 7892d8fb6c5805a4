"""Where messages come from."""
import csv
import importlib
import io
import itertools
import json
import logging
import os
import sys
import time
from types import ModuleType
from typing import Any, Dict, Iterable, Iterator, List, Optional, Sequence, TextIO

from ._classes import SettingsError, unopened
from .topics import topics_of


class GenericConsumer:
    """Derive from it and write consume(), which yields messages: dicts, or lists of them.

    `sent_key` is the field of a message that says when it was sent to this step, in units of `sent_unit` seconds since 1970 if it is a
    number; by it the time is known that messages wait.
    """

    sent_key: Any = "timestamp_sent"
    sent_unit = 1.0

    def __init__(self, config: Optional[Dict[str, Any]] = None) -> None:
        self.logger = logging.getLogger(self.__class__.__name__)
        self.logger.info("Creating %s", self.__class__.__name__)
        self.config: Dict[str, Any] = config if config is not None else {}

    def consume(self) -> Iterator[Any]:
        yield {}

    def commit(self) -> None:
        """What was yielded last is done with."""


class _Rows(GenericConsumer):
    """Messages of a file. NUM_MESSAGES: so many at a time, as a list. With ID and N_PROCESS only every n-th of them: the part of one of
    several processes."""

    def rows(self) -> Iterator[Any]:
        raise NotImplementedError

    def consume(self) -> Iterator[Any]:
        parts = int(self.config.get("N_PROCESS", 1))
        rows = itertools.islice(self.rows(), int(self.config.get("ID", 0)) % parts, None, parts)
        size = int(self.config.get("NUM_MESSAGES", self.config.get("consume.messages", 1)))
        if size <= 1:
            yield from rows
            return
        batch = list(itertools.islice(rows, size))
        while batch:
            yield batch
            batch = list(itertools.islice(rows, size))


class _File(_Rows):
    def __init__(self, config: Optional[Dict[str, Any]] = None) -> None:
        super().__init__(config)
        if self.config.get("FILE_PATH") is None:
            raise SettingsError("%s: FILE_PATH is not set" % self.__class__.__name__)
        self.path: str = self.config["FILE_PATH"]

    def open(self, newline: Optional[str] = None) -> TextIO:
        try:
            return open(self.path, encoding="utf-8", newline=newline)
        except OSError as error:
            raise unopened(error, "%s: FILE_PATH" % self.__class__.__name__) from None


def _lines(file: Iterable[str], name: str) -> Iterator[Any]:
    for number, line in enumerate(file, 1):
        if not line.strip():
            continue
        try:
            message = json.loads(line)
        except ValueError as error:
            raise ValueError("%s: line %d is no JSON: %s" % (name, number, error)) from None
        yield message


class JSONConsumer(_File):
    """FILE_PATH: a file of JSON, one message a line, or all of them in one array."""

    def rows(self) -> Iterator[Any]:
        with self.open() as file:
            first = next((line for line in file if line.strip()), "")
            file.seek(0)
            if first.lstrip().startswith("["):
                try:
                    yield from json.load(file)
                except ValueError as error:
                    raise ValueError("%s is no JSON: %s" % (self.path, error)) from None
            else:
                yield from _lines(file, self.path)


class StdinConsumer(_Rows):
    """Standard input: JSON, one message a line."""

    def rows(self) -> Iterator[Any]:
        return _lines(sys.stdin, "standard input")


def _value(text: Optional[str]) -> Any:
    """A field of CSV: a number if it looks like one, None if there is nothing."""
    if text is None or text == "":
        return None
    try:
        return int(text)
    except ValueError:
        pass
    try:
        return float(text)
    except ValueError:
        return text


class CSVConsumer(_File):
    """FILE_PATH: rows with the names of columns in the first one. OTHER_ARGS has these of pandas.read_csv(): sep or delimiter, quotechar,
    header (0 or None), names, usecols, skiprows, nrows, index_col, which is no column of a message then."""

    _KNOWN = {"sep", "delimiter", "quotechar", "header", "names", "usecols", "skiprows", "nrows", "index_col"}

    def __init__(self, config: Optional[Dict[str, Any]] = None) -> None:
        super().__init__(config)
        self.args = dict(self.config.get("OTHER_ARGS", {}))
        unknown = sorted(set(self.args) - self._KNOWN)
        if unknown:
            raise SettingsError("CSVConsumer: OTHER_ARGS knows no %s" % ", ".join(unknown))

    def rows(self) -> Iterator[Any]:
        args = self.args
        with self.open(newline="") as file:
            delimiter = str(args.get("sep", args.get("delimiter", ",")))
            read = csv.reader(file, delimiter=delimiter, quotechar=args.get("quotechar", '"'))
            rows = itertools.islice((row for row in read if row), int(args.get("skiprows", 0)), None)
            names = args.get("names")
            if args.get("header", 0 if names is None else None) is not None:
                found = next(rows, [])
                names = found if names is None else names
            for number, row in enumerate(itertools.islice(rows, args.get("nrows")), 1):
                if names is None:
                    names = list(range(len(row)))
                if len(row) != len(names):
                    raise ValueError("%s: row %d has %d fields where there are %d columns" % (self.path, number, len(row), len(names)))
                yield self._message(names, row)

    def _message(self, names: Sequence[Any], row: List[str]) -> Dict[Any, Any]:
        used, index = self.args.get("usecols"), self.args.get("index_col")
        return {name: _value(text) for at, (name, text) in enumerate(zip(names, row))
                if (used is None or name in used) and name != index and at != index}


def _avro(path: str) -> ModuleType:
    try:
        return importlib.import_module(path)
    except ImportError:
        raise RuntimeError("messages in Avro need the package fastavro") from None


class KafkaConsumer(GenericConsumer):
    """TOPICS, or TOPIC_STRATEGY (CLASS, PARAMS); PARAMS are librdkafka's (bootstrap.servers, group.id, …); NUM_MESSAGES and TIMEOUT: a list
    of up to so many, after waiting so many seconds. Messages are JSON, or Avro containers if the package fastavro is there. What is
    committed is what the step is through with. With enable.partition.eof it ends when all partitions are read."""

    sent_key = "timestamp"
    sent_unit = 1e-3

    def __init__(self, config: Dict[str, Any]) -> None:
        super().__init__(config)
        self.topics = topics_of(self.config, "TOPICS")
        self.subscribed = self.topics()
        self.retries = int(self.config.get("COMMIT_RETRY", 5))
        self.consumer = self._opened(self.subscribed)

    def _opened(self, topics: List[str]) -> Any:
        from ._kafka import Consumer  # loads libraries that steps without Kafka need not have

        return Consumer(topics, self.config.get("PARAMS", {}))

    def _deserialize_message(self, data: bytes) -> Any:
        if data[:4] == b"Obj\x01":
            return next(_avro("fastavro").reader(io.BytesIO(data)))
        return json.loads(data)

    def _subscribe_again(self) -> None:
        wanted = self.topics()
        if wanted != self.subscribed:
            self.consumer.close()
            self.consumer, self.subscribed = self._opened(wanted), wanted

    def consume(self, num_messages: int = 1, timeout: float = 60) -> Iterator[Any]:
        num_messages = int(self.config.get("consume.messages", self.config.get("NUM_MESSAGES", num_messages)))
        timeout = float(self.config.get("consume.timeout", self.config.get("TIMEOUT", timeout)))
        while True:
            self._subscribe_again()
            found = self._gather(num_messages, timeout)
            if found is None:
                return
            if found:
                yield found if num_messages > 1 else found[0]

    def _gather(self, most: int, timeout: float) -> Optional[List[Any]]:
        """Up to so many messages; None at the end."""
        found: List[Any] = []
        until = time.monotonic() + timeout
        while len(found) < most:
            got = self.consumer.receive(most - len(found), max(0.0, until - time.monotonic()))
            if got is None:
                return found or None
            for data, sent_ms in got:
                message = self._deserialize_message(data)
                if isinstance(message, dict):
                    message["timestamp"] = sent_ms
                found.append(message)
            if not got or time.monotonic() >= until:
                break
        return found

    def commit(self) -> None:
        for left in range(self.retries, -1, -1):
            try:
                self.consumer.commit()
                return
            except OSError:
                if not left:
                    raise

    def __del__(self) -> None:
        if hasattr(self, "consumer"):
            self.consumer.close()


class KafkaJsonConsumer(KafkaConsumer):
    """KafkaConsumer for JSON alone."""

    def _deserialize_message(self, data: bytes) -> Any:
        return json.loads(data)


class KafkaSchemalessConsumer(KafkaConsumer):
    """KafkaConsumer for Avro without a schema in each message: it is in SCHEMA_PATH. Needs the package fastavro."""

    def __init__(self, config: Dict[str, Any]) -> None:
        if not config.get("SCHEMA_PATH"):
            raise SettingsError("KafkaSchemalessConsumer: SCHEMA_PATH is not set")
        self.schema = _avro("fastavro.schema").load_schema(config["SCHEMA_PATH"])
        super().__init__(config)

    def _deserialize_message(self, data: bytes) -> Any:
        return _avro("fastavro").schemaless_reader(io.BytesIO(data), self.schema)


class AVROFileConsumer(_Rows):
    """DIRECTORY_PATH: the messages of the files *.avro in a folder. Needs the package fastavro."""

    def rows(self) -> Iterator[Any]:
        folder = self.config.get("DIRECTORY_PATH")
        if folder is None:
            raise SettingsError("%s: DIRECTORY_PATH is not set" % self.__class__.__name__)
        try:
            names = sorted(name for name in os.listdir(folder) if name.endswith(".avro"))
        except OSError as error:
            raise unopened(error, "%s: DIRECTORY_PATH" % self.__class__.__name__) from None
        for name in names:
            with open(os.path.join(folder, name), "rb") as file:
                yield from _avro("fastavro").reader(file)


class AVROInfiniteConsumer(AVROFileConsumer):
    """AVROFileConsumer again and again, for tests of load."""

    def rows(self) -> Iterator[Any]:
        is_any = True
        while is_any:
            is_any = False
            for message in super().rows():
                is_any = True
                yield message
