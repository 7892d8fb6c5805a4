"""Items by time, by core and by joule: what venturi.items() counted while a tracker ran."""
from typing import NamedTuple, Optional


def _ratio(count: Optional[float], by: Optional[float]) -> Optional[float]:
    return count / by if count is not None and by else None


class Throughput(NamedTuple):
    """Counts and what they are divided by. None: not known, or nothing to divide by."""

    items: int
    effective: Optional[int]  # that ran to the end; None: nobody said so
    seconds: float
    cpu_seconds: Optional[float]
    cores: int  # that the process may run on
    joules: Optional[float]  # of the process, or of the machine, as the tracker was told
    grams: Optional[float]  # of CO2e, with PUE

    @property
    def per_second(self) -> Optional[float]:
        return _ratio(self.items, self.seconds)

    @property
    def per_core(self) -> Optional[float]:
        return _ratio(self.items, self.seconds * self.cores)

    @property
    def per_cpu_second(self) -> Optional[float]:
        return _ratio(self.items, self.cpu_seconds)

    @property
    def effective_per_second(self) -> Optional[float]:
        return _ratio(self.effective, self.seconds)

    @property
    def effective_share(self) -> Optional[float]:
        return _ratio(self.effective, self.items)

    @property
    def joules_per_1000(self) -> Optional[float]:
        return _ratio(None if self.joules is None else 1000 * self.joules, self.items)

    @property
    def grams_per_1000(self) -> Optional[float]:
        return _ratio(None if self.grams is None else 1000 * self.grams, self.items)
