"""Trace points, and traces across threads, processes and services; the calls are those of osprofiler.

    from venturi import trace

    trace.init("SECRET_KEY")                   # a trace begins here, or one is continued: init(key, base_id, parent_id)

    @trace.trace("rpc", hide_args=True)
    def call(): ...

    with trace.Trace("charge", info={"card": 7}) as span:
        span["amount"] = 30

While nobody records and no trace is on, a trace point costs one look. `venturi run` records all of them; in a trace they have ids, which
go to other threads, executors and processes by themselves, and to other services as `context()`.
"""
import functools
import inspect
import os
import types
from typing import Any, Callable, Dict, Generator, List, Mapping, Optional, Tuple, Type, TypeVar, Union, cast

from . import _venturi
from ._venturi import Trace as Trace, TracePoint, TraceSpan as TraceSpan
from ._venturi import trace_clean as clean, trace_start as start, trace_stop as stop

__all__ = ["Profiler", "Trace", "TracedMeta", "attach", "carry", "clean", "context", "environment", "from_environment", "get",
           "id_hex", "init", "native", "notifier_failures", "set_notifier", "set_service", "start", "stop", "trace", "trace_cls"]

F = TypeVar("F", bound=Callable[..., Any])
C = TypeVar("C")
Info = Optional[Dict[str, Any]]
Context = Dict[str, Any]

if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_venturi.trace_forked)


# ---- traces ---------------------------------------------------------------------------------------

class Profiler(_venturi.TraceOwner):
    """A trace: what init() and get() give. Its methods tell of the current span, wherever they are called."""

    __slots__ = ()

    def get_shorten_id(self, uuid_id: Union[str, int]) -> str:
        """The last 64 bits of an id in hexadecimal, as osprofiler has them: without leading zeros."""
        if not isinstance(uuid_id, int):
            uuid_id = int(id_hex(uuid_id), 16)
        return format(uuid_id & 0xffffffffffffffff, "x")


def get() -> Optional[Profiler]:
    """The trace that is current here, or None."""
    return cast(Optional[Profiler], _venturi.trace_get())


def id_hex(text: str) -> str:
    """An id as 32 hexadecimal digits. A text that is no UUID has the same ones each time."""
    return _venturi.trace_id_of(str(text)).hex()


def init(hmac_key: Any, base_id: Optional[str] = None, parent_id: Optional[str] = None) -> Profiler:
    """Begins a trace here, or continues one of which the ids are given. Without ids the current one is given if there is one; with ids
    of another trace, that one becomes current: a thread that is used again never keeps those of an earlier trace."""
    base, parent = _id_text(base_id), _id_text(parent_id)
    profiler, current = Profiler(hmac_key, base, parent), get()
    if current is not None and (not base or current.get_base_id() == profiler.get_base_id() and
                                (not parent or current.get_id() == profiler.get_id())):
        return current
    clean()
    _begin(profiler._bottom())
    return profiler


def _begin(bottom: Optional[TraceSpan]) -> Optional[TraceSpan]:
    """Makes the trace current of which this is the bottom; what was current before."""
    before = _venturi.trace_swap(bottom)
    if bottom is not None and bottom.profiler is not None:
        bottom.profiler._begun()
        _carry_everywhere()
    return before


def _id_text(given: Any) -> str:
    """An id as text, whatever it is; "" is none."""
    try:
        return str(given) if given else ""
    except Exception:
        return ""


def context() -> Optional[Context]:
    """The current span as a plain dict, without the key: for a message, and there for attach(). None outside of a trace."""
    profiler = get()
    if profiler is None:
        return None
    found: Context = {"base_id": profiler.get_base_id(), "parent_id": profiler.get_id()}
    if profiler.flags != 1:
        found["flags"] = profiler.flags
    if profiler.tracestate:
        found["tracestate"] = profiler.tracestate
    return found


def bottom_of(given: Optional[Mapping[str, Any]], hmac_key: Any) -> Optional[TraceSpan]:
    """What is current when a trace goes on that context() has told of. Whatever a message holds: what is no context is none."""
    base = _id_text(given.get("base_id")) if isinstance(given, Mapping) else ""
    if not base or not isinstance(given, Mapping):
        return None
    parent = _id_text(given.get("parent_id"))
    if not _venturi.trace_is_id(base) or not _venturi.trace_is_id(parent):
        from . import propagation
        propagation._count("an id of a context is too long, or has characters that none has")
        return None
    profiler = Profiler(hmac_key, base, parent)
    flags, tracestate = given.get("flags"), given.get("tracestate")
    if isinstance(flags, int) and 0 <= flags < 256:
        profiler.flags = flags
    if isinstance(tracestate, str):
        from . import propagation
        profiler.tracestate = propagation.parse_tracestate(tracestate) or None
    return profiler._bottom()


class attach:
    """`with attach(context):` what is within belongs to that trace; afterwards everything is as it was. With None: to no trace."""

    def __init__(self, context: Optional[Mapping[str, Any]], hmac_key: Any = None) -> None:
        self._context = context
        self._key = hmac_key
        self._before: List[Tuple[Optional[TraceSpan], Optional[TraceSpan]]] = []

    def __enter__(self) -> Optional[Profiler]:
        bottom = bottom_of(self._context, self._key)
        self._before.append((bottom, _begin(bottom)))
        return get()

    def __exit__(self, *reason: object) -> None:
        bottom, before = self._before.pop()
        if bottom is not None and bottom.profiler is not None:
            bottom.profiler._over()
        _venturi.trace_swap(before)


class native:
    """`with native():` trace points of C code that is called within, on this thread, belong to the span that is current here. Not for
    blocks that wait: what another task calls meanwhile would belong to it too."""

    def __init__(self) -> None:
        self._before: List[Optional[bytes]] = []

    def __enter__(self) -> None:
        self._before.append(_venturi.trace_native_enter())

    def __exit__(self, *reason: object) -> None:
        _venturi.trace_native_leave(self._before.pop())


def set_service(project: Optional[str] = None, service: Optional[str] = None, host: Optional[str] = None) -> None:
    """Who this program is: said of the spans that enter it."""
    _venturi.trace_service(project, service, host)


# ---- notifiers ------------------------------------------------------------------------------------

_failures = 0


def set_notifier(notifier: Optional[Callable[[Dict[str, Any]], Any]]) -> None:
    """Calls this with osprofiler's payload whenever a span of a trace begins or ends; None: nobody. What it raises is counted, and
    logged the first time."""
    if notifier is not None and not callable(notifier):
        raise TypeError("a notifier is called: %r cannot be" % (notifier,))
    _venturi.trace_notifier(notifier, _on_failure)


def _on_failure(error: BaseException) -> None:
    global _failures
    _failures += 1
    if _failures == 1:
        import logging
        logging.getLogger("venturi.trace").warning("the notifier failed: %s: %s; later failures are only counted",
                                                   type(error).__name__, error)


def notifier_failures() -> int:
    """How often the notifier has raised, in this process."""
    return _failures


# ---- decorators -----------------------------------------------------------------------------------

def trace(name: str, info: Info = None, hide_args: bool = False, hide_result: bool = True,
          allow_multiple_trace: bool = True) -> Callable[[F], F]:
    """Each call of the function is a span. Of generators and coroutines, from the first step to the end; what they do is within it, and
    what their callers do meanwhile is not."""
    info = dict(info) if info else {}

    def decorate(function: F) -> F:
        if isinstance(function, (classmethod, staticmethod)):
            made = decorate(function.__func__)
            return cast(F, made if isinstance(made, (classmethod, staticmethod)) else type(function)(made))
        count = getattr(function, "__traced__", 0)
        if not allow_multiple_trace and count:
            raise ValueError("Function '%s' has already been traced %d times" % (function, count))
        try:
            setattr(function, "__traced__", count + 1)
        except AttributeError:
            pass
        point = TracePoint(function, str(name), info, _full_name(function), hide_args, hide_result)
        run = _run_of(function, point)
        if run is not None:
            point._run, point._is_late = run, inspect.iscoroutinefunction(function)
        functools.update_wrapper(point, function)
        if not hasattr(point, "__traced__"):
            setattr(point, "__traced__", count + 1)
        kind = _KINDS.get(getattr(function, "__name__", ""))
        return cast(F, kind(point) if kind and _is_in_class(function) else point)
    return decorate


# What a class makes of functions with these names by itself.
_KINDS: Dict[str, Any] = {"__new__": staticmethod, "__init_subclass__": classmethod, "__class_getitem__": classmethod}


def _is_in_class(function: Any) -> bool:
    around = getattr(function, "__qualname__", "").rpartition(".")[0]
    return inspect.isfunction(function) and bool(around) and not around.endswith("<locals>")


def _full_name(function: Any) -> str:
    """As osprofiler has it: the module and the qualified name of a function; of other callables, of their class."""
    owner = getattr(function, "__self__", None)
    if owner is not None:
        module = (owner if isinstance(owner, type) else type(owner)).__module__
        return "%s.%s" % (module, getattr(function, "__qualname__", getattr(function, "__name__", "?")))
    if not inspect.isroutine(function) and not isinstance(function, type):
        function = type(function)
    return "%s.%s" % (getattr(function, "__module__", "?"), getattr(function, "__qualname__", "?"))


def _run_of(function: Any, point: TracePoint) -> Any:
    """Makes of the generator or coroutine of a function one that is within a span; None if it is neither."""
    if inspect.iscoroutinefunction(function):
        run = _coroutine(point)
    elif inspect.isasyncgenfunction(function):
        run = _async_generator(point)
    elif inspect.isgeneratorfunction(function):
        run = _generator(point)
        if function.__code__.co_flags & inspect.CO_ITERABLE_COROUTINE:
            run = types.coroutine(run)
    else:
        return None
    run.__name__, run.__qualname__ = getattr(function, "__name__", "?"), getattr(function, "__qualname__", "?")
    return run


def _generator(point: TracePoint) -> Any:
    def iterate(inner: Any, args: Any, kwargs: Any) -> Generator[Any, Any, Any]:
        section = point._section(args, kwargs)
        if section is None:
            return (yield from inner)
        try:
            result = yield from section.steps(inner)
        except GeneratorExit:
            point._end(section, None)
            raise
        except BaseException as error:
            point._fail(section, error)
            raise
        point._end(section, result)
        return result
    return iterate


def _coroutine(point: TracePoint) -> Any:
    async def wait(function: Any, args: Any, kwargs: Any) -> Any:
        # One that nobody awaits is called by nobody: Python would complain of both.
        section = point._section(args, kwargs)
        if section is None:
            return await function(*args, **kwargs)
        try:
            result = await section.steps(function(*args, **kwargs))
        except GeneratorExit:
            point._end(section, None)
            raise
        except BaseException as error:
            point._fail(section, error)
            raise
        point._end(section, result)
        return result
    return wait


def _same(awaitable: Any) -> Any:
    return awaitable


def _async_generator(point: TracePoint) -> Any:
    async def iterate(generator: Any, args: Any, kwargs: Any) -> Any:
        section = point._section(args, kwargs)
        run = section.steps if section is not None else _same
        try:
            step = generator.__anext__()
            while True:
                try:
                    value = await run(step)
                except StopAsyncIteration:
                    break
                try:
                    step = generator.asend((yield value))
                except GeneratorExit:
                    await run(generator.aclose())
                    raise
                except BaseException as error:
                    step = generator.athrow(error)
        except GeneratorExit:
            point._end(section, None)
            raise
        except BaseException as error:
            point._fail(section, error)
            raise
        point._end(section, None)
    return iterate


def _is_traceable(value: Any) -> bool:
    """Functions, and what trace() makes of them."""
    return inspect.ismethod(value) or inspect.isfunction(value) or isinstance(value, TracePoint)


def _is_chosen(name: str, trace_private: bool) -> bool:
    return not name.startswith("__") and (trace_private or not name.startswith("_"))


def _check_untraced(members: List[Tuple[str, Any]]) -> None:
    for name, value in members:
        count = getattr(value, "__traced__", 0)
        if count:
            raise ValueError("Can not apply new trace on top of previously traced attribute '%s' since it has been traced %d times "
                             "previously" % (name, count))


def trace_cls(name: str, info: Info = None, hide_args: bool = False, hide_result: bool = True, trace_private: bool = False,
              allow_multiple_trace: bool = True, trace_class_methods: bool = False,
              trace_static_methods: bool = False) -> Callable[[C], C]:
    """Traces the methods of a class, also those that it inherits; never those whose names begin with two underscores. Class methods can be
    called then (osprofiler hands them their class twice)."""
    wanted = {staticmethod: trace_static_methods, classmethod: trace_class_methods}

    def decorate(cls: C) -> C:
        mro = inspect.getmro(cls if inspect.isclass(cls) else type(cls))
        found: List[Tuple[str, Any, Any]] = []
        for member, value in inspect.getmembers(cls):
            if not _is_traceable(value) or not _is_chosen(member, trace_private):
                continue
            raw = next((vars(base)[member] for base in mro if member in vars(base)), None)
            kind = next((kind for kind in wanted if isinstance(raw, kind)), None)
            if kind is None or wanted[kind]:
                found.append((member, raw.__func__ if isinstance(raw, classmethod) else value, kind))
        if not allow_multiple_trace:
            _check_untraced([(member, value) for member, value, _ in found])
        for member, value, kind in found:
            wrapped: Any = trace(name, info=info, hide_args=hide_args, hide_result=hide_result)(value)
            setattr(cls, member, kind(wrapped) if kind else wrapped)
        return cls
    return decorate


class TracedMeta(type):
    """The metaclass of classes whose methods are traced: `__trace_args__ = {"name": "rpc"}` and more, as trace_cls() takes it."""

    def __init__(cls, cls_name: str, bases: Tuple[Type[Any], ...], attrs: Dict[str, Any]) -> None:
        super().__init__(cls_name, bases, attrs)
        options = dict(getattr(cls, "__trace_args__", {}))
        trace_private = options.pop("trace_private", False)
        allow_multiple_trace = options.pop("allow_multiple_trace", True)
        if "name" not in options:
            raise TypeError("Please specify __trace_args__ class level dictionary attribute with mandatory 'name' key - e.g. "
                            "__trace_args__ = {'name': 'rpc'}")
        found = [(name, value) for name, value in attrs.items() if _is_traceable(value) and _is_chosen(name, trace_private)]
        if not allow_multiple_trace:
            _check_untraced(found)
        for name, _ in found:
            setattr(cls, name, trace(**options)(getattr(cls, name)))


# ---- to other threads and processes ---------------------------------------------------------------

def carry(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function, to be called on another thread or in another process (if it can be pickled): it runs in the trace that is current
    now, and leaves nothing behind there."""
    from . import _carry
    return _carry.Carried(function, _venturi.trace_current())


def _carry_everywhere() -> None:
    """When the first trace begins."""
    global _carry_everywhere
    from . import _carry
    _carry.install()
    _carry_everywhere = _nothing


def _nothing() -> None:
    pass


def environment(env: Optional[Mapping[str, str]] = None) -> Dict[str, str]:
    """A copy of the environment, or of `env`, with TRACEPARENT (and TRACESTATE) for a child; without a trace as it is."""
    made = dict(os.environ if env is None else env)
    profiler = get()
    if profiler is not None:
        from .propagation import format_traceparent
        made["TRACEPARENT"] = format_traceparent(profiler.get_base_id(), profiler.get_id(), profiler.flags)
        made.pop("TRACESTATE", None)
        if profiler.tracestate:
            made["TRACESTATE"] = profiler.tracestate
    return made


def from_environment(hmac_key: Any = None) -> Optional[Profiler]:
    """Continues the trace that the environment names (TRACEPARENT, TRACESTATE); None if it names none."""
    from .propagation import parse_traceparent, parse_tracestate
    said = parse_traceparent(os.environ.get("TRACEPARENT"))
    if said is None:
        return None
    clean()
    _begin(bottom_of({"base_id": said.base_id, "parent_id": said.parent_id, "flags": said.flags,
                      "tracestate": parse_tracestate(os.environ.get("TRACESTATE")) or None}, hmac_key))
    return get()
