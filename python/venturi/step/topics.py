"""Topics of Kafka that change with the day."""
import datetime
from typing import Any, Callable, Dict, List, Union

from ._classes import SettingsError, get_class


class GenericTopicStrategy:
    """Derive from it and write get_topics()."""

    def get_topics(self) -> List[str]:
        raise NotImplementedError


class DailyTopicStrategy(GenericTopicStrategy):
    """A new topic a day: `topic_format` (or several) with %s for the date, which is in UTC and changes at `change_hour`, when tomorrow's
    topic is added. Those of the last `retention_days` are kept."""

    def __init__(
        self, topic_format: Union[str, List[str]] = "ztf_%s_programid1", date_format: str = "%Y%m%d", change_hour: int = 22, retention_days: int = 8
    ) -> None:
        self.topic_formats = topic_format if isinstance(topic_format, list) else [topic_format]
        self.date_format = date_format
        self.change_hour = change_hour
        self.retention_days = retention_days
        self._days = [self._now().date()]

    @staticmethod
    def _now() -> datetime.datetime:
        return datetime.datetime.now(datetime.timezone.utc)

    def get_topics(self) -> List[str]:
        now = self._now()
        today = now.date() + datetime.timedelta(days=now.hour >= self.change_hour)
        if today not in self._days:
            self._days.append(today)
        self._days = [day for day in self._days if (today - day).days < self.retention_days]
        return [form % day.strftime(self.date_format) for day in self._days for form in self.topic_formats]


def topics_of(config: Dict[str, Any], name: str = "TOPIC") -> Callable[[], List[str]]:
    """What gives the topics that settings name: always the same, or those of a strategy."""
    fixed = config.get(name)
    if fixed:
        topics = list(fixed) if isinstance(fixed, (list, tuple)) else [fixed]
        return lambda: topics
    strategy = config.get("TOPIC_STRATEGY")
    if not strategy:
        raise SettingsError("neither %s nor TOPIC_STRATEGY is set" % name)
    made: GenericTopicStrategy = get_class(strategy["CLASS"])(**strategy.get("PARAMS", {}))
    return made.get_topics
