"""How a trace gets to other threads and processes: loaded when the first one begins, and at work only while one is on.

What is changed: Thread.start, submit() of the two executors of concurrent.futures, multiprocessing's Process.start, and Popen, which gives
its child TRACEPARENT if it was given no environment. Threads and processes of pools are begun outside of any trace: each task brings its
own along and takes it away again.
"""
import concurrent.futures.process
import concurrent.futures.thread
import functools
import multiprocessing.process
import subprocess
import threading
from typing import Any, Callable, Optional, Tuple

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
        before = _venturi.trace_swap(self._span)
        try:
            return self._function(*args, **kwargs)
        finally:
            _venturi.trace_swap(before)

    def __reduce__(self) -> Tuple[Any, ...]:
        return _carried, (self._function, _packed(self._span))


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
    return trace.bottom_of(*packed) if packed else None


class _Luggage:
    """Of a process that is started, not forked: when it is unpickled there, the trace is current there."""

    def __init__(self, packed: Any) -> None:
        self._packed = packed

    def __reduce__(self) -> Tuple[Any, ...]:
        return _unpack, (self._packed,)


def _unpack(packed: Any) -> _Luggage:
    install()
    _venturi.trace_swap(_arrived(packed))
    return _Luggage(packed)


def _is_worker(target: Any) -> bool:
    """Whether a thread or process is one of a pool: its work comes later, and from others."""
    return getattr(target, "__module__", None) in _POOLS


def _wrap(owner: Any, name: str, wrapper: Callable[..., Any]) -> None:
    original = getattr(owner, name)

    @functools.wraps(original)
    def method(*args: Any, **kwargs: Any) -> Any:
        return wrapper(original, *args, **kwargs)
    setattr(owner, name, method)


def _start_thread(original: Callable[..., Any], thread: Any) -> Any:
    span = _venturi.trace_current()
    if span is not None and not _is_worker(getattr(thread, "_target", None)) and not hasattr(thread, "_venturi_span"):
        thread._venturi_span = span
    return original(thread)


def _run_thread(original: Callable[..., Any], thread: Any) -> Any:
    span = thread.__dict__.pop("_venturi_span", None)
    if span is not None:
        _venturi.trace_swap(span)
    return original(thread)


def _submit(original: Callable[..., Any], executor: Any, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
    span = _venturi.trace_current()
    if span is None:
        return original(executor, function, *args, **kwargs)
    _venturi.trace_swap(None)
    try:
        return original(executor, Carried(function, span), *args, **kwargs)
    finally:
        _venturi.trace_swap(span)


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


_is_installed = False


def install() -> None:
    """Once in a process."""
    global _is_installed
    if _is_installed:
        return
    _is_installed = True
    _wrap(threading.Thread, "start", _start_thread)
    _wrap(threading.Thread, "_bootstrap_inner", _run_thread)
    _wrap(concurrent.futures.thread.ThreadPoolExecutor, "submit", _submit)
    _wrap(concurrent.futures.process.ProcessPoolExecutor, "submit", _submit)
    _wrap(multiprocessing.process.BaseProcess, "start", _start_process)
    _wrap(subprocess.Popen, "__init__", _open_process)
