"""How functions and values get to other processes and back: as pickles, by cloudpickle where pickle alone cannot.

What lies in the main program travels by value: a worker has another main program.
"""
import pickle
import traceback
from typing import Any, Callable, Dict, List, Optional, Tuple

try:
    import cloudpickle  # type: ignore[import-not-found, import-untyped, unused-ignore]
except ImportError:
    cloudpickle = None

has_cloudpickle = cloudpickle is not None
is_main_running = False  # a worker runs the main program to find its functions
PROTOCOL = pickle.HIGHEST_PROTOCOL
MOST_FUNCTIONS = 1000  # that a worker keeps


class RemoteTraceback(Exception):
    """Where an exception of another process was raised, as text."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __str__(self) -> str:
        return self.text


def dumps(value: Any) -> bytes:
    try:
        data = pickle.dumps(value, PROTOCOL)
    except Exception as error:
        if cloudpickle is None:
            raise pickle.PicklingError(f"{error} (cloudpickle is not installed; with it, more can be pickled)") from error
        data = b"__main__"
    if b"__main__" in data and cloudpickle is not None:
        data = cloudpickle.dumps(value, PROTOCOL)
    return data


class Pickling:
    """What graph_get() and graph_worker() call. Functions of tasks are pickled once, and unpickled once."""

    def __init__(self, dumps: Optional[Callable[[Any], bytes]] = None, loads: Optional[Callable[[bytes], Any]] = None) -> None:
        self.dumps = dumps or globals()["dumps"]
        self.loads = loads or pickle.loads
        self._pickled: Dict[int, Tuple[Any, bytes]] = {}  # by id, with the function, so that the id stays its own
        self._functions: Dict[bytes, Any] = {}

    def _pickled_function(self, function: Any) -> bytes:
        known = self._pickled.get(id(function))
        if known is None:
            known = self._pickled[id(function)] = function, self.dumps(function)
        return known[1]

    def pack(self, packed: Any, functions: List[Any]) -> bytes:
        """A task. In the process that called get()."""
        try:
            return pickle.dumps(([self._pickled_function(function) for function in functions], self.dumps(packed)), PROTOCOL)
        except Exception as error:
            raise pickle.PicklingError(f"cannot be sent to another process: {error}") from error

    def unpack(self, data: Any) -> Tuple[Any, List[Any]]:
        """The same, in a worker."""
        functions, packed = pickle.loads(data)
        return self.loads(packed), [self._function(function) for function in functions]

    def _function(self, data: bytes) -> Any:
        if data not in self._functions:
            if len(self._functions) >= MOST_FUNCTIONS:
                self._functions.clear()
            self._functions[data] = self.loads(data)
        return self._functions[data]

    def dump_result(self, value: Any) -> bytes:
        try:
            return self.dumps(value)
        except Exception as error:
            raise pickle.PicklingError(f"the result cannot be pickled: {error}") from error

    def pack_error(self, error: BaseException) -> bytes:
        """An exception as it was raised, with where; if it cannot travel, its text."""
        text = "".join(traceback.format_exception(type(error), error, error.__traceback__))
        try:
            data = self.dumps(error)
            self.loads(data)
        except Exception:
            data = pickle.dumps(RuntimeError(f"{type(error).__name__}: {error}"), PROTOCOL)
        return pickle.dumps((data, text), PROTOCOL)

    def load_error(self, both: bytes) -> BaseException:
        """The same, in the process that called get()."""
        data, text = pickle.loads(both)
        error: BaseException = self.loads(data)
        if not isinstance(error, BaseException):
            error = RuntimeError(text)
        error.__cause__ = RemoteTraceback(f'\n"""\n{text}"""')
        return error
