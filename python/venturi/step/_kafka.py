"""Kafka through libventuri-step and libventuri-kafka, which are loaded when it is first used."""
import ctypes
import os
import time
import urllib.parse
from typing import Any, Dict, List, Optional, Tuple

_SLICE = 0.2  # seconds for which an interrupt may go unheard
_END = -1000
_lib: Any = None


class _Message(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("bytes", ctypes.c_size_t), ("key", ctypes.c_void_p), ("key_bytes", ctypes.c_size_t),
                ("sent_ns", ctypes.c_int64)]


class _Setting(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("value", ctypes.c_char_p)]


def _library() -> Any:
    """Beside the package (a wheel), in the folder of libraries that it is installed under, or in that of the build."""
    global _lib
    if _lib is not None:
        return _lib
    package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    name, reason = "libventuri-step.so.1", None
    for folder in (package, os.path.join(package, "../../.."), os.path.join(package, "../.."), None):
        path = name if folder is None else os.path.join(folder, name)
        if folder is not None and not os.path.exists(path):
            continue
        try:
            lib = ctypes.CDLL(path)
            break
        except OSError as error:
            reason = error
    else:
        raise OSError("%s cannot be loaded: %s" % (name, reason))
    lib.vt_step_error.restype = ctypes.c_char_p
    pointer, settings = ctypes.c_void_p, ctypes.POINTER(_Setting)
    for function, arguments in {
            "vt_consumer_open": [ctypes.POINTER(pointer), ctypes.c_char_p, settings],
            "vt_producer_open": [ctypes.POINTER(pointer), ctypes.c_char_p, settings],
            "vt_consumer_receive": [pointer, ctypes.POINTER(_Message), ctypes.c_size_t, ctypes.c_int],
            "vt_consumer_commit": [pointer], "vt_consumer_close": [pointer],
            "vt_producer_send": [pointer, ctypes.POINTER(_Message)],
            "vt_producer_flush": [pointer, ctypes.c_int], "vt_producer_close": [pointer]}.items():
        getattr(lib, function).argtypes = arguments
    lib.vt_consumer_close.restype = lib.vt_producer_close.restype = None
    _lib = lib
    return lib


def _failed() -> OSError:
    return OSError(_lib.vt_step_error().decode(errors="replace"))


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _opened(function: Any, topics: List[str], params: Dict[str, Any]) -> Any:
    address = "kafka:///" + ",".join(urllib.parse.quote(str(topic), safe="") for topic in topics)
    settings = [_Setting(str(name).encode(), _text(value).encode()) for name, value in params.items()]
    array = (_Setting * (len(settings) + 1))(*settings)
    handle = ctypes.c_void_p()
    if function(ctypes.byref(handle), address.encode(), array):
        raise _failed()
    return handle


class Consumer:
    """Messages of topics, as pairs: bytes, and when they were sent, in milliseconds."""

    def __init__(self, topics: List[str], params: Dict[str, Any]) -> None:
        self._handle: Any = None
        self._room: Any = None
        self._most = 0
        self._handle = _opened(_library().vt_consumer_open, topics, params)

    def receive(self, most: int, timeout: float) -> Optional[List[Tuple[bytes, int]]]:
        """Up to so many, [] if there are none in that time, None at the end."""
        if most > self._most:
            self._room, self._most = (_Message * most)(), most
        until = time.monotonic() + timeout
        while True:
            wait = min(_SLICE, max(0.0, until - time.monotonic()))
            got = _lib.vt_consumer_receive(self._handle, self._room, most, int(wait * 1000))
            if got == _END:
                return None
            if got < 0:
                raise _failed()
            if got or time.monotonic() >= until:
                return [(ctypes.string_at(each.data, each.bytes), each.sent_ns // 1000000) for each in self._room[:got]]

    def commit(self) -> None:
        if _lib.vt_consumer_commit(self._handle):
            raise _failed()

    def close(self) -> None:
        handle, self._handle = self._handle, None
        if handle:
            _lib.vt_consumer_close(handle)

    __del__ = close


class Producer:
    """Bytes to topics, each with a queue of its own."""

    def __init__(self, params: Dict[str, Any], wait_ms: Optional[int] = None) -> None:
        self._params = dict(params)
        if wait_ms is not None:
            self._params["venturi.wait.ms"] = wait_ms
        self._handles: Dict[str, Any] = {}
        _library()

    def produce(self, topic: str, data: bytes, key: Any = None) -> None:
        if topic not in self._handles:
            self._handles[topic] = _opened(_lib.vt_producer_open, [topic], self._params)
        value: Any = data  # and not a copy of it
        message: Any = _Message(ctypes.cast(value, ctypes.c_void_p), len(data), None, 0, 0)
        if key is not None:
            key = key if isinstance(key, bytes) else str(key).encode()
            message.key, message.key_bytes = ctypes.cast(key, ctypes.c_void_p), len(key)
        if _lib.vt_producer_send(self._handles[topic], ctypes.byref(message)):
            raise _failed()

    def flush(self, timeout: float = 60.0) -> None:
        for handle in self._handles.values():
            if _lib.vt_producer_flush(handle, int(timeout * 1000)):
                raise _failed()

    def close(self) -> None:
        handles, self._handles = self._handles, {}
        for handle in handles.values():
            _lib.vt_producer_close(handle)

    def __del__(self) -> None:
        if getattr(self, "_handles", None):
            self.close()
