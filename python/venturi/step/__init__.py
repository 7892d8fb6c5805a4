"""Steps of a pipeline: a step takes messages from a consumer, executes, and hands on to a producer.

    from venturi.step import GenericStep

    class MyStep(GenericStep):
        def execute(self, message):
            ...

What each message took is recorded after it; nothing of that waits for anybody or can fail. Steps written for APF run with their
imports changed: `apf.core.step` is here, `apf.consumers`, `apf.producers` and `apf.metrics` are venturi.step.consumers, .producers and
.metrics, and `apf.core.topic_management` is venturi.step.topics. Only Python's own library is needed; Kafka goes through libventuri-kafka.
"""
from ._classes import FileError, SettingsError, get_class
from .step import DefaultConsumer, DefaultProducer, GenericStep

__all__ = ["DefaultConsumer", "DefaultProducer", "FileError", "GenericStep", "SettingsError", "get_class"]
