"""Decorators, and a `with` block for a task."""
from functools import wraps
from typing import TYPE_CHECKING, Any, Callable, Optional, Type, TypeVar, cast, overload

from ._data import EmissionsData
from ._options import Options, configured
from ._tracker import EmissionsTracker, OfflineEmissionsTracker

if TYPE_CHECKING:
    from types import TracebackType

    from typing_extensions import Unpack

F = TypeVar("F", bound=Callable[..., Any])
CO_COROUTINE = 0x80
LOCATIONS = ("country_iso_code", "country_2letter_iso_code", "cloud_provider", "force_carbon_intensity_g_co2e_kwh")


class TaskEmissionsTracker:
    """A task of a tracker, or of one of its own."""

    def __init__(self, task_name: Optional[str] = None, tracker: Optional[EmissionsTracker] = None) -> None:
        self.task_name = task_name
        self.is_default_tracker = tracker is None
        self.tracker = tracker if tracker is not None else EmissionsTracker()
        self.emissions_data: Optional[EmissionsData] = None
        self._key: Optional[str] = None

    def __enter__(self) -> "TaskEmissionsTracker":
        self._key = self.tracker.start_task(self.task_name)
        return self

    def __exit__(
        self, kind: "Optional[Type[BaseException]]", error: Optional[BaseException], traceback: "Optional[TracebackType]"
    ) -> None:
        if self._key is not None:
            self.emissions_data = self.tracker.stop_task(self._key)
        if self.is_default_tracker:
            self.tracker.stop()


def _within(function: F, around: Callable[[], Any]) -> F:
    """The function in a `with around():`; a coroutine until it is over."""
    if getattr(getattr(function, "__code__", None), "co_flags", 0) & CO_COROUTINE:
        @wraps(function)
        async def asynchronous(*arguments: Any, **keywords: Any) -> Any:
            with around():
                return await function(*arguments, **keywords)
        return cast(F, asynchronous)

    @wraps(function)
    def synchronous(*arguments: Any, **keywords: Any) -> Any:
        with around():
            return function(*arguments, **keywords)
    return cast(F, synchronous)


@overload
def track_emissions(fn: F) -> F: ...
@overload
def track_emissions(fn: None = ..., *, offline: Optional[bool] = ..., **options: "Unpack[Options]") -> Callable[[F], F]: ...
def track_emissions(fn: Optional[F] = None, *, offline: Optional[bool] = None, **options: Any) -> Any:
    """Each call is a run of its own, with a row of its own."""
    def tracker() -> EmissionsTracker:
        if not offline:
            return EmissionsTracker(**options)
        if not any(options.get(name) is not None for name in LOCATIONS) and not any(name in configured() for name in LOCATIONS):
            raise ValueError("Needs ISO Code of the Country for Offline mode")
        return OfflineEmissionsTracker(**options)

    if fn is not None:
        return _within(fn, tracker)
    return lambda function: _within(function, tracker)


@overload
def track_task_emissions(fn: F) -> F: ...
@overload
def track_task_emissions(fn: None = ..., tracker: Optional[EmissionsTracker] = ..., task_name: str = ...) -> Callable[[F], F]: ...
def track_task_emissions(fn: Optional[F] = None, tracker: Optional[EmissionsTracker] = None, task_name: str = "") -> Any:
    """Each call is a task of the tracker, or of one of its own."""
    def task() -> TaskEmissionsTracker:
        return TaskEmissionsTracker(task_name, tracker)

    if fn is not None:
        return _within(fn, task)
    return lambda function: _within(function, task)
