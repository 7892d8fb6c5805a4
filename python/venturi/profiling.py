"""Profile: the functions of a part of a program, in all its threads."""
import functools
import inspect
import threading
from typing import Any, AsyncGenerator, Callable, Dict, Generator, List, Optional, Sequence, Tuple, TypeVar, Union

from . import _venturi
from .stats import Stats

F = TypeVar("F", bound=Callable[..., Any])


def _globs(given: Union[str, Sequence[str]]) -> Tuple[str, ...]:
    return (given,) if isinstance(given, str) else tuple(given)


class Profile:
    """Counts and times every call of a function between start() and stop(), whatever thread makes it.

    Use it as a context manager, as a decorator, or by hand; what several uses see is added up. It
    works within a program that `venturi run` records, too.
    """

    def __init__(self, *, builtins: bool = False, only_mine: bool = False, include: Union[str, Sequence[str]] = (),
                 exclude: Union[str, Sequence[str]] = ()) -> None:
        self._options: Dict[str, Any] = {"builtins": builtins, "only_mine": only_mine, "include": _globs(include),
                         "exclude": _globs(exclude)}
        self._lock = threading.Lock()
        self._users = 0
        self._before: Optional[_venturi.Snapshot] = None
        self._periods: List[Tuple[_venturi.Snapshot, _venturi.Snapshot]] = []

    # Built-in functions are seen while the hooks are on, those that we call too: hence the order.

    def start(self) -> None:
        """From here on. As many stop() as start() end it."""
        with self._lock:
            if self._users == 0:
                _venturi.calls_start()
                self._before = _venturi.snapshot()
            self._users += 1
        try:
            _venturi.start(**self._options)
        except BaseException:
            self._leave()
            raise

    def stop(self) -> None:
        """Up to here."""
        if self._users == 0:
            raise RuntimeError("this profile was not started")
        _venturi.stop()
        self._leave()

    def _leave(self) -> None:
        with self._lock:
            self._users -= 1
            if self._users == 0 and self._before is not None:
                self._periods.append((_venturi.snapshot(), self._before))
                self._before = None
                _venturi.calls_stop()

    def __enter__(self) -> "Profile":
        self.start()
        return self

    def __exit__(self, *reason: object) -> None:
        self.stop()

    def stats(self, *, stream: Any = None) -> Stats:
        """What was seen until now, also while it goes on."""
        return Stats(self, stream=stream)

    def periods(self) -> List[Tuple[_venturi.Snapshot, _venturi.Snapshot]]:
        """The end and the beginning of each time it was on."""
        with self._lock:
            periods = list(self._periods)
            if self._before is not None:
                periods.append((_venturi.snapshot(), self._before))
        return periods

    def __call__(self, function: F) -> F:
        """Profiles every call of a function; a generator or coroutine from its first step to its end."""
        if inspect.iscoroutinefunction(function):
            wrapper = self._wrap_coroutine(function)
        elif inspect.isasyncgenfunction(function):
            wrapper = self._wrap_async_generator(function)
        elif inspect.isgeneratorfunction(function):
            wrapper = self._wrap_generator(function)
        else:
            wrapper = self._wrap_function(function)
        setattr(wrapper, "profile", self)
        return wrapper  # type: ignore[return-value]

    def _wrap_function(self, function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            with self:
                return function(*args, **kwargs)
        return wrapper

    def _wrap_coroutine(self, function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        async def wrapper(*args: Any, **kwargs: Any) -> Any:
            with self:
                return await function(*args, **kwargs)
        return wrapper

    def _wrap_generator(self, function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def wrapper(*args: Any, **kwargs: Any) -> Generator[Any, Any, Any]:
            with self:
                return (yield from function(*args, **kwargs))
        return wrapper

    def _wrap_async_generator(self, function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        async def wrapper(*args: Any, **kwargs: Any) -> AsyncGenerator[Any, Any]:
            generator = function(*args, **kwargs)
            with self:
                step = generator.__anext__()
                while True:
                    try:
                        value = await step
                    except StopAsyncIteration:
                        return
                    try:
                        step = generator.asend((yield value))
                    except GeneratorExit:
                        await generator.aclose()
                        raise
                    except BaseException as error:
                        step = generator.athrow(error)
        return wrapper
