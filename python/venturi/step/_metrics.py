"""What the loop of a step needs to say of its messages beside what the meter measures."""
import datetime
from typing import Any, Callable, Dict, Iterable, Optional, Tuple

from .. import _venturi

Extra = Tuple[Any, Optional[Callable[[Any], Any]], str]


def _time(seconds: float) -> datetime.datetime:
    return datetime.datetime.fromtimestamp(seconds, datetime.timezone.utc)


class Metrics(Dict[str, Any]):
    """`step.metrics`: what an author puts here is in each document. The step's own metrics can be asked for, and are worked out then."""

    def __init__(self, meter: _venturi.StepMeter) -> None:
        super().__init__()
        self._meter = meter

    def __missing__(self, key: str) -> Any:
        received, sent = self._meter.times()
        if key == "timestamp_received" and received:
            return _time(received)
        if key == "timestamp_sent" and sent:
            return _time(sent)
        if key == "execution_time" and sent:
            return sent - received
        raise KeyError(key)


def document(metrics: Metrics, extra: Dict[str, Any]) -> Dict[str, Any]:
    """The metrics of the message that was finished last, as APF sends them."""
    found = {name: metrics[name] for name in ("timestamp_received", "timestamp_sent", "execution_time")}
    found.update(metrics)
    found.update(extra)
    return found


def _extra(params: Any) -> Extra:
    if isinstance(params, str):
        return params, None, params
    if not isinstance(params, dict):
        raise TypeError("an extra metric is a str or a dict, not %s" % type(params).__name__)
    if "key" not in params:
        raise KeyError("an extra metric without 'key'")
    form, alias = params.get("format"), params.get("alias", params["key"])
    if form is not None and not callable(form):
        raise ValueError("'format' of an extra metric must be callable")
    if not isinstance(alias, str):
        raise ValueError("'alias' of an extra metric must be a string")
    return params["key"], form, alias


def extras_of(extra_metrics: Iterable[Any]) -> Tuple[Extra, ...]:
    """EXTRA_METRICS as (key, format, alias); of equal aliases the last one counts."""
    return tuple({extra[2]: extra for extra in map(_extra, extra_metrics)}.values())
