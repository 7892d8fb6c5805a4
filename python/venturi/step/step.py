"""The loop of a step, in both forms that APF has had.

Early: the step is given a consumer, `execute(message)` gets what it yields, and the step produces what it likes by itself.
Later: CONSUMER_CONFIG and PRODUCER_CONFIG say of which classes both are, `execute(messages)` gets a list, and what it returns is produced.
A step has the early form if it is given a consumer that is no class, or none at all.
"""
import logging
import os
from typing import Any, Dict, List, Optional, Tuple

from .. import _venturi
from ._classes import SettingsError, get_class, shown
from ._metrics import Metrics, document, extras_of
from .consumers import GenericConsumer
from .producers import GenericProducer


class DefaultConsumer(GenericConsumer):
    """One empty message."""


class DefaultProducer(GenericProducer):
    """What is produced goes nowhere."""

    def produce(self, message: Any = None, **kwargs: Any) -> None:
        pass


def _made(what: Any, config: Dict[str, Any]) -> Any:
    return what(config) if isinstance(what, type) else what


class GenericStep:
    """A step; derive from it and write execute().

    consumer, producer, metrics_sender: a class, or an object of it. config: STEP_CONFIG, of which these are looked at:
    CONSUMER_CONFIG, PRODUCER_CONFIG (with CLASS), METRICS_CONFIG (CLASS, PARAMS, EXTRA_METRICS), ES_CONFIG (INDEX_PREFIX),
    COMMIT, SKIP_FAILED (go on after messages that failed), SUCCESS_FILE (is made when all is done).
    """

    def __init__(
        self, consumer: Any = None, producer: Any = None, metrics_sender: Any = None, config: Optional[Dict[str, Any]] = None,
        prometheus_metrics: Any = None, *, level: Any = None, **step_args: Any
    ) -> None:
        if isinstance(producer, int):  # level, which was second in early versions
            producer = None
        name = self.__class__.__name__
        self.logger = logging.getLogger(name)
        self.logger.info("Creating %s", name)
        self.config: Dict[str, Any] = config if config else {}
        self.commit = self.config.get("COMMIT", True)
        self.message: Any = None
        self.metrics_sender = self._made_sender(metrics_sender)
        self.extra_metrics = list(self.metrics_config.get("EXTRA_METRICS", ["candid"])) if self.metrics_config else []
        self.prometheus_metrics = prometheus_metrics
        self._is_early = not isinstance(consumer, type) and (consumer is not None or "CONSUMER_CONFIG" not in self.config)
        self._has_producer = producer is not None or "CLASS" in self.producer_config
        self.consumer = self._made_consumer(consumer)
        self.producer = self._made_producer(producer)
        self._meter = self._made_meter()
        self.metrics = Metrics(self._meter)
        self._automatic: Optional[Dict[str, Any]] = None  # what send_metrics() is called with by ourselves

    # What the settings say.

    @property
    def consumer_config(self) -> Dict[str, Any]:
        found: Dict[str, Any] = self.config.get("CONSUMER_CONFIG", {})
        return found

    @property
    def producer_config(self) -> Dict[str, Any]:
        found: Dict[str, Any] = self.config.get("PRODUCER_CONFIG", {})
        return found

    @property
    def metrics_config(self) -> Optional[Dict[str, Any]]:
        return self.config.get("METRICS_CONFIG")

    @property
    def metrics_producer_params(self) -> Dict[str, Any]:
        found: Dict[str, Any] = self.metrics_config.get("PARAMS", {}) if self.metrics_config else {}
        return found

    def _made_consumer(self, consumer: Any) -> Any:
        if consumer is not None and not isinstance(consumer, type):
            return consumer
        named = self.consumer_config.get("CLASS")
        return _made(get_class(named) if named else consumer or DefaultConsumer, self.consumer_config)

    def _made_producer(self, producer: Any) -> Any:
        if producer is not None and not isinstance(producer, type):
            return producer
        if self._is_early and producer is None:
            return None  # the step makes its own, from settings that only it knows
        named = self.producer_config.get("CLASS")
        return _made(get_class(named) if named else producer or DefaultProducer, self.producer_config)

    def _made_sender(self, sender: Any) -> Any:
        """Another one to be told of metrics, or None: they are recorded anyway."""
        if sender is not None and not isinstance(sender, type):
            return sender
        named = self.metrics_config.get("CLASS") if self.metrics_config else None
        if named is None and sender is None:
            return None
        try:
            return _made(get_class(named) if named else sender, self.metrics_producer_params)
        except Exception as error:  # a step runs whether its metrics arrive or not
            self.logger.warning("metrics are recorded only: %s", error)
            return None

    def _is_own(self, name: str) -> bool:
        """Whether the author has written this method."""
        return getattr(getattr(self, name), "__func__", None) is not getattr(GenericStep, name)

    def _made_meter(self) -> _venturi.StepMeter:
        survey = os.environ.get("METRICS_SURVEY") or None
        source = os.environ.get("METRICS_SOURCE") or self.__class__.__name__
        prefix = (self.config.get("ES_CONFIG") or {}).get("INDEX_PREFIX")
        extras = () if self._is_own("get_extra_metrics") or self._is_own("get_value") else extras_of(self.extra_metrics)
        return _venturi.StepMeter(
            source, str(prefix) if prefix else None, survey, extras,
            sent_key=getattr(self.consumer, "sent_key", "timestamp_sent"), sent_unit=getattr(self.consumer, "sent_unit", 1.0),
            pre=self._is_own("pre_execute"), post=self._is_own("post_execute"),
            produce=self._has_producer or self._is_own("produce"))

    # What authors write.

    def pre_consume(self) -> None:
        """Before the first message."""

    def pre_execute(self, messages: Any) -> Any:
        """Before execute(), which gets what this returns."""
        return messages

    def execute(self, messages: Any) -> Any:
        """What the step is for."""
        raise NotImplementedError("%s has no execute()" % self.__class__.__name__)

    def post_execute(self, result: Any) -> Any:
        """After execute(), with what it returned."""
        return result

    def pre_produce(self, result: Any) -> Any:
        """Makes of the result what is produced."""
        return result

    def post_produce(self) -> None:
        """After all of it is produced."""

    def tear_down(self) -> None:
        """After the last message."""

    # What authors call.

    def produce(self, result: Any) -> None:
        """Hands a message, or several, to the producer."""
        for message in [result] if isinstance(result, dict) else result or ():
            self.producer.produce(message)

    def set_producer_key_field(self, key_field: Any) -> None:
        """Messages are produced with what they have in this field as key."""
        self.producer.set_key_field(key_field)

    def send_metrics(self, **metrics: Any) -> None:
        """A document of one's own, at once. By itself it is called after each message."""
        if self._automatic is not None:
            self._automatic = metrics
        else:
            self._meter.send(metrics)
        if self.metrics_sender is not None:
            metrics["source"] = self.__class__.__name__
            try:
                self.metrics_sender.send_metrics(metrics)
            except Exception as error:
                self.logger.debug("metrics were not sent: %s", error)

    def get_value(self, message: Any, params: Any) -> Tuple[str, Any]:
        """Name and value of an extra metric: a key of the message, or a dict with key, format and alias."""
        key, form, alias = extras_of([params])[0]
        value = message.get(key)
        return alias, value if form is None else form(value)

    def get_extra_metrics(self, message: Any) -> Dict[str, Any]:
        """The extra metrics of a message, or of a list of them: then each is a list."""
        if not isinstance(message, list):
            found = dict(self.get_value(message, params) for params in self.extra_metrics)
            found["n_messages"] = 1
            return found
        lists: Dict[str, List[Any]] = {}
        for each in message:
            for params in self.extra_metrics:
                name, value = self.get_value(each, params)
                lists.setdefault(name, []).append(value)
        return dict(lists, n_messages=len(message))

    # The loop.

    def start(self) -> None:
        """Runs until the consumer has no more messages."""
        self.logger.info("Starting step. Begin processing")
        self.pre_consume()
        if type(self.consumer) is DefaultConsumer:
            self._check_consumer()
        skips = self.config.get("SKIP_FAILED", False)
        work = self._work_early if self._is_early else self._work
        tells = self.metrics_sender is not None or any(map(self._is_own, ("send_metrics", "get_extra_metrics", "get_value")))
        meter = self._meter
        for message in self.consumer.consume():
            meter.receive(message)
            self.message = message
            try:
                work(message)
            except Exception as error:
                meter.fail(self.message, self.metrics, error)
                if not skips:
                    self.logger.debug("failed with %r: %r", error, message)
                    raise
                self.logger.error("left out after %s: %s", type(error).__name__, error)
                if self.commit:
                    self.consumer.commit()
                continue
            if tells:
                self._tell()
            else:
                meter.done(self.message, self.metrics)
            if self.prometheus_metrics is not None:
                self._observe()
        self._finish()

    def _check_consumer(self) -> None:
        """Nobody has named one: as with APF there is one empty message, which is what a step wants that runs once; settings for a consumer that is not there
        are a mistake. Looked at late, because authors may set self.consumer by themselves."""
        name = shown(self.__class__.__name__)
        if self.consumer_config:
            raise SettingsError("%s: CONSUMER_CONFIG has %s but no CLASS, so nobody reads messages: name one, such as "
                                "\"CLASS\": \"venturi.step.consumers.JSONConsumer\"" % (name, ", ".join(shown(str(key)) for key in self.consumer_config)))
        self.logger.warning("%s has no consumer: it gets one empty message. CONSUMER_CONFIG, or the argument consumer, names one", name)

    def _work_early(self, message: Any) -> None:
        """As execution time counts here: with the commit."""
        mark = self._meter.mark
        prepared = self.pre_execute(message)
        mark()
        result = self.execute(prepared)
        if self.commit:
            self.consumer.commit()
        mark()
        result = self.post_execute(result)
        mark()
        if self._has_producer:
            self.produce(self.pre_produce(result))
            self.post_produce()

    def _work(self, message: Any) -> None:
        """What was produced has arrived before what it was made of is committed."""
        mark = self._meter.mark
        if isinstance(message, dict):
            self.message = message = [message]
        prepared = self.pre_execute(message)
        mark()
        result = self.execute(prepared)
        mark()
        result = self.post_execute(result)
        mark()
        self.produce(self.pre_produce(result))
        flush = getattr(self.producer, "flush", None)
        if flush is not None:
            flush()
        if self.commit:
            self.consumer.commit()
        self.post_produce()

    def _tell(self) -> None:
        """The long way: somebody else is told, too, or has a say in it."""
        try:
            extra = self.get_extra_metrics(self.message) if self.extra_metrics else {}
        except Exception as error:
            self.logger.debug("no extra metrics: %s", error)
            extra = {}
        self._automatic = {}
        try:
            self.send_metrics(**document(self.metrics, extra))
        except Exception as error:  # an author's send_metrics()
            self.logger.debug("metrics were not sent: %s", error)
        told, self._automatic = self._automatic, None
        self._meter.done(self.message, told or self.metrics)

    def _observe(self) -> None:
        count = len(self.message) if isinstance(self.message, list) else 1
        try:
            self.prometheus_metrics.consumed_messages.observe(count)
            self.prometheus_metrics.processed_messages.observe(count)
            self.prometheus_metrics.execution_time.observe(self.metrics["execution_time"])
        except Exception as error:
            self.logger.debug("not observed: %s", error)

    def _finish(self) -> None:
        self.logger.info("No more messages. Begin tear down")
        close = getattr(self.producer, "flush", None)
        if close is not None:
            close()
        self.tear_down()
        if self.config.get("SUCCESS_FILE"):
            with open(self.config["SUCCESS_FILE"], "w", encoding="utf-8"):
                pass
