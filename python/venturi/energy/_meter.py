"""What a meter says, as amounts that can be subtracted and added: of a run, of a task, of both machine and process."""
from typing import Any, List, NamedTuple, Optional, Tuple

from .. import _venturi
from ._log import warn_once

HOW = ("unknown", "measured", "modelled", "estimated", "given")
PARTS = ("cpu", "ram", "gpu", "platform", "all")
KINDS = ("gross", "share", "dynamic")
NO_COUNTERS, NO_GPU = 0x1, 0x4


class Source(NamedTuple):
    """One counter, or what stands in for one (struct vt_energy_source)."""

    name: str
    origin: str  # "powercap", "perf", "hwmon", "nvml", "tdp", "modules", "given"
    part: str
    how: str
    inside: Optional[int]  # the source that this one is in, or mirrors; None: it is added up
    note: str
    watts: float
    idle_watts: float
    joules: float
    unknown_s: float
    wraps: int
    gaps: int
    is_known: bool
    is_over: bool


class Energy(NamedTuple):
    """Joules at the machine, without PUE. None: not known."""

    gross_j: Optional[float]  # the machine
    share_j: Optional[float]  # this process and all below it, by CPU time
    dynamic_j: Optional[float]  # of that, what goes beyond rest
    how: str
    seconds: float
    unknown_s: float
    own_cpu_s: Optional[float]
    busy_cpu_s: Optional[float]
    idle_watts: Optional[float]
    idle_how: str
    sources: Tuple[Source, ...]
    advice: Tuple[str, ...]
    meter_cpu_s: float  # what reading took itself: not in own_cpu_s, nor in share_j and dynamic_j
    meter_j: Optional[float]


def _minus(after: Optional[float], before: Optional[float]) -> Optional[float]:
    """Sums begin at nothing: what was not known before was 0. A share is settled by the second, and may go back a little until then."""
    return None if after is None else max(after - (before or 0), 0)


def _plus(one: Optional[float], other: Optional[float]) -> Optional[float]:
    return other if one is None else one if other is None else one + other


class Amount:
    """Joules of each part, of the machine and of the process, with times and items: since the beginning, or of a while."""

    __slots__ = ("numbers",)

    def __init__(self, numbers: Tuple[Optional[float], ...]) -> None:
        self.numbers = numbers

    def __sub__(self, before: "Amount") -> "Amount":
        return Amount(tuple(map(_minus, self.numbers, before.numbers)))

    def __add__(self, other: "Amount") -> "Amount":
        return Amount(tuple(map(_plus, self.numbers, other.numbers)))

    def joules(self, part: str, kind: str) -> Optional[float]:
        return self.numbers[PARTS.index(part) * len(KINDS) + KINDS.index(kind)]

    def _number(self, place: int) -> Optional[float]:
        return self.numbers[len(PARTS) * len(KINDS) + place]

    @property
    def wall_s(self) -> float:
        return self._number(0) or 0.0

    @property
    def unknown_s(self) -> float:
        return self._number(1) or 0.0

    @property
    def own_cpu_s(self) -> Optional[float]:
        return self._number(2)

    @property
    def busy_cpu_s(self) -> Optional[float]:
        return self._number(3)

    @property
    def items(self) -> int:
        return int(self._number(4) or 0)

    @property
    def effective(self) -> Optional[int]:
        """None: nobody said so in this time."""
        return int(self._number(5) or 0) if self._number(6) else None

    @property
    def meter_cpu_s(self) -> float:
        return self._number(7) or 0.0

    @property
    def meter_j(self) -> Optional[float]:
        return self._number(8)


NOTHING = Amount((None,) * (len(PARTS) * len(KINDS) + 9))


class Meter:
    """A meter that is running: opened and read once."""

    def __init__(self, cpu_watts: float, memory_watts: float, idle_watts: float, flags: int, baseline_s: float, period_s: float) -> None:
        self._meter = _venturi.Meter(cpu_watts, memory_watts, idle_watts, flags)
        if baseline_s:
            known = len(self._meter.advice())
            self._meter.baseline(baseline_s)
            for text in self._meter.advice()[known:]:
                warn_once(text)
        self.last: Any = None
        self._first: Optional[Amount] = self.take()
        self._meter.start(period_s)

    def begin(self) -> Amount:
        """What to count from: the reading with which it was opened, the first time."""
        first, self._first = self._first, None
        return first if first is not None else self.take()

    def take(self) -> Amount:
        """Reads now."""
        self.last = said = self._meter.take()
        joules = [number for use in said[:5] for number in use[:3]]
        return Amount((*joules, *said[5:9], *_venturi.items_total(), *said[13:15]))

    def stop(self) -> None:
        self._meter.stop()

    def how(self, part: str) -> str:
        return HOW[self.last[PARTS.index(part)][3]]

    def sources(self) -> List[Source]:
        return [Source(row[0], row[1], PARTS[row[2]], HOW[row[3]], None if row[4] < 0 else row[4], *row[5:])
                for row in self._meter.sources()]

    def energy(self, amount: Amount) -> Energy:
        return Energy(
            amount.joules("all", "gross"), amount.joules("all", "share"), amount.joules("all", "dynamic"), self.how("all"),
            amount.wall_s, amount.unknown_s, amount.own_cpu_s, amount.busy_cpu_s, self.last[9], HOW[self.last[10]],
            tuple(self.sources()), tuple(self._meter.advice()), amount.meter_cpu_s, amount.meter_j)

    def provenance(self) -> List[str]:
        """part=how:from of each part."""
        found = []
        sources = self.sources()
        for part in PARTS[:4]:
            froms = sorted({source.origin for source in sources if source.part == part and
                            (source.inside is None or sources[source.inside].part != part)})
            if froms:
                found.append("%s=%s:%s" % (part, self.how(part), "+".join(froms)))
        return found
