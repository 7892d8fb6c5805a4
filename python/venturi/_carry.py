"""How a trace gets to other threads and processes: loaded when the first one begins, and at work only while one is on.

What is changed: Thread.start, submit() of the two executors of concurrent.futures, what multiprocessing's pools are given, its
Process.start, and Popen, which gives its child TRACEPARENT if it was given no environment. Threads and processes of pools are begun outside
of any trace: each task brings its own along and takes it away again. Nothing is imported for it: modules that the program imports later are
changed then. Only what is public is relied on; what a module does not have is left out.
"""
import functools
import importlib
import sys
from typing import Any, Callable, Dict, Optional, Tuple

from . import _venturi, trace

_POOLS = ("concurrent.futures.thread", "concurrent.futures.process", "multiprocessing.pool", "multiprocessing.managers",
          "multiprocessing.resource_sharer", "multiprocessing.queues")
_ENV = 10  # which of Popen's parameters it is


class Carried:
    """A function that runs in a trace, wherever it is called: on a thread in the very span, in another process as its child."""

    __slots__ = ("_function", "_span", "__weakref__")

    def __init__(self, function: Callable[..., Any], span: Optional[_venturi.TraceSpan]) -> None:
        self._function = function
        self._span = span

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        inherited = _venturi.trace_inherit(None)  # it may be the very same span, and is ours to the end of this call
        before = _venturi.trace_swap(self._span)
        try:
            return self._function(*args, **kwargs)
        finally:
            _venturi.trace_swap(before)
            _venturi.trace_inherit(inherited)

    def __reduce__(self) -> Tuple[Any, ...]:
        return _carried, (self._function, _packed(self._span))


class _Alone:
    """A function that is given to a thread of a pool outside of any trace: a trace that it begins there does not stay there."""

    __slots__ = ("_function",)

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        before = _venturi.trace_current()
        try:
            return self._function(*args, **kwargs)
        finally:
            _venturi.trace_swap(before)


def _packed(span: Optional[_venturi.TraceSpan]) -> Any:
    """What a process needs to go on with: a dict, and the key."""
    if span is None or span.profiler is None:
        return None
    before = _venturi.trace_swap(span)
    try:
        return trace.context(), span.profiler.hmac_key
    finally:
        _venturi.trace_swap(before)


def _carried(function: Callable[..., Any], packed: Any) -> Carried:
    return Carried(function, _arrived(packed))


def _arrived(packed: Any) -> Optional[_venturi.TraceSpan]:
    """From here it goes on to other threads and processes as well."""
    if not packed:
        return None
    install()
    return trace.bottom_of(*packed)


class _Luggage:
    """Of a process that is started, not forked: when it is unpickled there, the trace is current there."""

    def __init__(self, packed: Any) -> None:
        self._packed = packed

    def __reduce__(self) -> Tuple[Any, ...]:
        return _unpack, (self._packed,)


def _unpack(packed: Any) -> _Luggage:
    _venturi.trace_swap(_arrived(packed))
    return _Luggage(packed)


def _is_worker(target: Any) -> bool:
    """Whether a thread or process is one of a pool: its work comes later, and from others."""
    return getattr(target, "__module__", None) in _POOLS


def _start_thread(original: Callable[..., Any], thread: Any) -> Any:
    span = _venturi.trace_current()
    if span is not None and not _is_worker(getattr(thread, "_target", None)) and not hasattr(thread, "_venturi_span"):
        thread._venturi_span = span
    return original(thread)


def _run_thread(original: Callable[..., Any], thread: Any) -> Any:
    span = thread.__dict__.pop("_venturi_span", None)
    if span is None:
        return original(thread)
    _venturi.trace_swap(span)
    _venturi.trace_inherit(span)
    try:
        return original(thread)
    finally:
        _venturi.trace_inherit(None)


def _submit_to_thread(original: Callable[..., Any], executor: Any, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
    if _venturi.trace_current() is None:
        return original(executor, _Alone(function), *args, **kwargs)
    return _submit(original, executor, function, *args, **kwargs)


def _submit(original: Callable[..., Any], executor: Any, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
    span = _venturi.trace_current()
    if span is None:
        return original(executor, function, *args, **kwargs)
    _venturi.trace_swap(None)
    try:
        return original(executor, Carried(function, span), *args, **kwargs)
    finally:
        _venturi.trace_swap(span)


def _to_pool(original: Callable[..., Any], pool: Any, *args: Any, **kwargs: Any) -> Any:
    """Any method of a pool that takes a function first. Some of them call others."""
    if args:
        args = (_for_pool(pool, args[0]),) + args[1:]
    elif "func" in kwargs:
        kwargs["func"] = _for_pool(pool, kwargs["func"])
    return original(pool, *args, **kwargs)


def _for_pool(pool: Any, function: Any) -> Any:
    span = _venturi.trace_current()
    if isinstance(function, (Carried, _Alone)):
        return function
    if span is not None:
        return Carried(function, span)
    return _Alone(function) if any(base.__name__ == "ThreadPool" for base in type(pool).__mro__) else function


def _start_process(original: Callable[..., Any], process: Any) -> Any:
    span = _venturi.trace_current()
    if span is None:
        return original(process)
    if _is_worker(getattr(process, "_target", None)):
        _venturi.trace_swap(None)
    else:
        process._venturi_luggage = _Luggage(_packed(span))
    try:
        return original(process)
    finally:
        process.__dict__.pop("_venturi_luggage", None)
        _venturi.trace_swap(span)


def _open_process(original: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    if len(args) - 1 <= _ENV and kwargs.get("env") is None and trace.get() is not None:
        kwargs["env"] = trace.environment()
    return original(*args, **kwargs)


# ---- what is changed ------------------------------------------------------------------------------

Wrapper = Callable[..., Any]
_CHANGES: Dict[str, Tuple[str, Dict[str, Wrapper]]] = {
    "threading": ("Thread", {"start": _start_thread, "_bootstrap_inner": _run_thread}),
    "concurrent.futures.thread": ("ThreadPoolExecutor", {"submit": _submit_to_thread}),
    "concurrent.futures.process": ("ProcessPoolExecutor", {"submit": _submit}),
    "multiprocessing.process": ("BaseProcess", {"start": _start_process}),
    "multiprocessing.pool": ("Pool", dict.fromkeys(("apply", "apply_async", "map", "map_async", "starmap", "starmap_async", "imap",
                                                    "imap_unordered"), _to_pool)),
    "subprocess": ("Popen", {"__init__": _open_process}),
}


def _change(module: Any) -> None:
    name, wrappers = _CHANGES[module.__name__]
    owner = getattr(module, name, None)
    if all(callable(getattr(owner, method, None)) for method in wrappers):
        for method, wrapper in wrappers.items():
            _wrap(owner, method, wrapper)


def _wrap(owner: Any, name: str, wrapper: Wrapper) -> None:
    original = getattr(owner, name)
    if hasattr(original, "_venturi_wrapper"):
        return

    @functools.wraps(original)
    def method(*args: Any, **kwargs: Any) -> Any:
        return wrapper(original, *args, **kwargs)
    setattr(method, "_venturi_wrapper", wrapper)
    setattr(owner, name, method)


class _Finder:
    """Before all others. It stays: who takes one away while another thread imports makes that thread skip the next."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        if name not in _CHANGES:
            return None
        for finder in sys.meta_path:
            find = getattr(finder, "find_spec", None) if finder is not self else None
            spec = find(name, path, target) if find else None
            if spec is not None:
                if hasattr(spec.loader, "exec_module"):
                    spec.loader = _Loader(spec.loader)
                return spec
        return None


class _Loader:
    """Loads a module as its own loader does, and changes it. To the module, it was its own one."""

    def __init__(self, inner: Any) -> None:
        self._inner = inner

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    def create_module(self, spec: Any) -> Any:
        return self._inner.create_module(spec)

    def exec_module(self, module: Any) -> None:
        module.__spec__.loader = module.__loader__ = self._inner
        self._inner.exec_module(module)
        _change(module)


_is_installed = False


def install() -> None:
    """Once in a process. A module that another thread imports right now is waited for."""
    global _is_installed
    if _is_installed:
        return
    _is_installed = True
    sys.meta_path.insert(0, _Finder())
    for name in _CHANGES:
        if sys.modules.get(name) is not None:
            _change(importlib.import_module(name))
