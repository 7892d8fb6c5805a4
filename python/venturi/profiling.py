"""Profile: the functions of a part of a program, in all its threads."""
import functools
import inspect
import threading
from typing import Any, AsyncGenerator, Callable, ContextManager, Dict, Generator, List, Optional, Sequence, Tuple, TypeVar, Union

from . import _venturi
from .stats import Seen, Source, Stats

F = TypeVar("F", bound=Callable[..., Any])


def _globs(given: Union[str, Sequence[str]]) -> Tuple[str, ...]:
    return (given,) if isinstance(given, str) else tuple(given)


class _Table(Dict[Any, Any]):
    """What pstats.Stats() takes from a profile, under a name that is a method of ours."""

    def __init__(self, profile: "Profile") -> None:
        super().__init__(Stats(profile).stats)
        self._profile = profile

    def __call__(self, *, stream: Any = None) -> Stats:
        return Stats(self._profile, stream=stream)


class Profile(Source):
    """Counts and times every call of a function between start() and stop(), whatever thread makes it.

    Use it as a context manager, as a decorator, or by hand; what several uses see is added up. It
    works within a program that `venturi run` records, too. All that cProfile.Profile has is there as
    well, so that it can take its place.
    """

    def __new__(cls, function: Optional[Callable[..., Any]] = None, /, **options: Any) -> Any:
        """Profile(function) is Profile()(function), so that it decorates without parentheses."""
        return super().__new__(cls) if function is None else cls(**options)(function)

    def __init__(self, *, builtins: bool = False, only_mine: bool = False, include: Union[str, Sequence[str]] = (),
                 exclude: Union[str, Sequence[str]] = ()) -> None:
        self._options: Dict[str, Any] = {"builtins": builtins, "only_mine": only_mine, "include": _globs(include),
                         "exclude": _globs(exclude)}
        self._lock = threading.Lock()
        self._users = 0
        self._before: Optional[_venturi.Snapshot] = None
        self._periods: List[Tuple[_venturi.Snapshot, _venturi.Snapshot]] = []
        self._is_enabled = False
        self._lent: Optional[_Table] = None

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

    @property
    def stats(self) -> Callable[..., Stats]:
        """stats(stream=None): what was seen until now, also while it goes on."""
        return self._stats if self._lent is None else self._lent

    @stats.setter
    def stats(self, table: Any) -> None:
        self._lent = None  # pstats.Stats has taken it

    def _stats(self, *, stream: Any = None) -> Stats:
        return Stats(self, stream=stream)

    def seen(self) -> Seen:
        with self._lock:
            periods = list(self._periods)
            if self._before is not None:
                periods.append((_venturi.snapshot(), self._before))
        return Seen(periods, self._options["builtins"])

    def periods(self) -> List[Tuple[_venturi.Snapshot, _venturi.Snapshot]]:
        """The end and the beginning of each time it was on."""
        return list(self.seen().periods)

    # What cProfile.Profile has, for programs that were written for it.

    def enable(self, subcalls: bool = True, builtins: bool = True) -> None:
        """start(), once."""
        if not self._is_enabled:
            self.start()
            self._is_enabled = True

    def disable(self) -> None:
        """stop(), if it was enabled."""
        if self._is_enabled:
            self._is_enabled = False
            self.stop()

    def snapshot_stats(self) -> None:
        """For pstats.Stats(profile), which takes them."""
        self._lent = None
        self._lent = _Table(self)

    def create_stats(self) -> None:
        """disable() and snapshot_stats()."""
        self.disable()
        self.snapshot_stats()

    def print_stats(self, sort: Any = -1) -> None:
        self.disable()
        Stats(self).strip_dirs().sort_stats(*(sort if isinstance(sort, tuple) else (sort,))).print_stats()

    def dump_stats(self, file: Any) -> None:
        self.disable()
        Stats(self).dump_stats(file)

    def run(self, cmd: Any) -> "Profile":
        import __main__

        return self.runctx(cmd, __main__.__dict__, __main__.__dict__)

    def runctx(self, cmd: Any, globals: Dict[str, Any], locals: Any) -> "Profile":
        with self:
            exec(cmd, globals, locals)
        return self

    def runcall(self, func: Callable[..., Any], /, *args: Any, **kw: Any) -> Any:
        with self:
            return func(*args, **kw)

    def __call__(self, function: F) -> F:
        """Profiles every call of a function; a generator or coroutine from its first step to its end."""
        if not callable(function):
            raise TypeError("a profile decorates functions, and its options go by name: %r is not callable" % (function,))
        if inspect.iscoroutinefunction(function):
            wrapper = self._wrap_coroutine(function)
        elif inspect.isasyncgenfunction(function):
            wrapper = wrap_async_generator(function, lambda: self)
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


def wrap_async_generator(function: Callable[..., Any], begin: Callable[[], ContextManager[Any]]) -> Callable[..., Any]:
    """The same asynchronous generator function, with each iteration within what begin() gives."""
    @functools.wraps(function)
    async def wrapper(*args: Any, **kwargs: Any) -> AsyncGenerator[Any, Any]:
        generator = function(*args, **kwargs)
        with begin():
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
