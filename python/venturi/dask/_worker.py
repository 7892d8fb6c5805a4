"""A worker process of venturi.dask.multiprocessing: takes tasks from the process that started it until there are no more."""
import base64
import pickle
import signal
import sys
from typing import Any, NoReturn

from .. import _venturi
from . import _pickling
from ._pickling import Pickling


class Unable(Pickling):
    """Of a worker that could not be made ready: whatever it is to compute fails with the reason, and is not given to the next one, and
    the next, which would fail as well."""

    def __init__(self, reason: BaseException) -> None:
        super().__init__()
        self._reason = reason

    def unpack(self, data: Any) -> NoReturn:
        raise self._reason


def make_ready(told: str) -> Pickling:
    main_program, rest = pickle.loads(base64.b64decode(told))
    if main_program:
        from multiprocessing.spawn import prepare

        _pickling.is_main_running = True
        prepare(main_program)
        _pickling.is_main_running = False
    initializer, loads, dumps = pickle.loads(rest)
    random = sys.modules.get("numpy.random")
    if random is not None:
        random.seed()
    if initializer is not None:
        initializer()
    return Pickling(dumps, loads)


def main(told: str) -> int:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # who asked for the tasks decides what becomes of them
    try:
        pickling = make_ready(told)
    except Exception as error:
        pickling = Unable(error)
    return _venturi.graph_worker(pickling)
