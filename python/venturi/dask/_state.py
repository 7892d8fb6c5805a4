"""The dictionary that callbacks are given: dask's, live. What is in it is asked when somebody looks.

The lengths of what is ready, waiting, running and finished are at hand at any time; everything else is looked up. It may be kept after the run: it then shows how that ended.
"""
from collections.abc import Mapping, Sequence, Set
from typing import TYPE_CHECKING, Any, Dict, Iterator, Tuple

if TYPE_CHECKING:
    from .._venturi import State as Source

WAITING, READY, RUNNING, FINISHED, RELEASED, FAILED = (1 << phase for phase in range(1, 7))
ALL = WAITING | READY | RUNNING | FINISHED | RELEASED | FAILED
UNDONE = WAITING | READY | RUNNING


class _Keys(Set):  # type: ignore[type-arg, unused-ignore]
    """Keys in some phases."""

    def __init__(self, source: "Source", phases: int, tasks_only: bool) -> None:
        self._source, self._phases, self._tasks_only = source, phases, tasks_only

    @classmethod
    def _from_iterable(cls, keys: Any) -> Any:
        return set(keys)

    def __len__(self) -> int:
        if self._tasks_only:
            return self._source.count(self._phases)
        return len(self._source.keys(self._phases, False))

    def __contains__(self, key: object) -> bool:
        phase = self._source.phase(key)
        return bool(phase and self._phases >> phase & 1) and (not self._tasks_only or self._source.is_task(key))

    def __iter__(self) -> Iterator[Any]:
        return iter(self._source.keys(self._phases, self._tasks_only))

    def copy(self) -> Any:
        return set(self)

    def __repr__(self) -> str:
        return repr(set(self))


class _Ready(Sequence):  # type: ignore[type-arg, unused-ignore]
    """What can begin; the last one is next."""

    def __init__(self, source: "Source") -> None:
        self._source = source

    def __len__(self) -> int:
        return self._source.count(READY)

    def __getitem__(self, place: Any) -> Any:
        return self._source.ready()[place]

    def __iter__(self) -> Iterator[Any]:
        return iter(self._source.ready())

    def __contains__(self, key: object) -> bool:
        return 1 << self._source.phase(key) == READY

    def __eq__(self, other: object) -> bool:
        return list(self) == (list(other) if isinstance(other, _Ready) else other)

    def __repr__(self) -> str:
        return repr(list(self))


class _Near(Mapping):  # type: ignore[type-arg, unused-ignore]
    """Of keys in some phases: what they depend on, or what depends on them, in some phases."""

    def __init__(self, source: "Source", phases: int, tasks_only: bool, near: Tuple[bool, int]) -> None:
        self._source, self._near = source, near
        self._keys = _Keys(source, phases, tasks_only)

    def __len__(self) -> int:
        return len(self._keys)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._keys)

    def __contains__(self, key: object) -> bool:
        return key in self._keys

    def __getitem__(self, key: Any) -> Any:
        if key not in self._keys:
            raise KeyError(key)
        return self._source.near(key, *self._near)

    def copy(self) -> Dict[Any, Any]:
        return dict(self)

    def __repr__(self) -> str:
        return repr(dict(self))


class _Cache(Mapping):  # type: ignore[type-arg, unused-ignore]
    """Values that are there."""

    def __init__(self, source: "Source") -> None:
        self._source = source
        self._keys = _Keys(source, FINISHED, False)

    def __len__(self) -> int:
        return len(self._keys)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._keys)

    def __contains__(self, key: object) -> bool:
        return key in self._keys

    def __getitem__(self, key: Any) -> Any:
        return self._source.value(key)

    def copy(self) -> Dict[Any, Any]:
        return dict(self)

    def __repr__(self) -> str:
        return repr(dict(self))


class State(Dict[str, Any]):
    """What dask's schedulers show of themselves."""

    def __init__(self, source: "Source") -> None:
        super().__init__(
            dependencies=_Near(source, ALL, False, (False, ALL)),
            dependents=_Near(source, ALL, False, (True, ALL)),
            waiting=_Near(source, WAITING, True, (False, UNDONE)),
            waiting_data=_Near(source, UNDONE | FINISHED, False, (True, UNDONE)),
            cache=_Cache(source),
            ready=_Ready(source),
            running=_Keys(source, RUNNING, True),
            finished=_Keys(source, FINISHED | RELEASED, True),
            released=_Keys(source, RELEASED, False),
        )
        self["ready-set"] = _Keys(source, READY, True)
