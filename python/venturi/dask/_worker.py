"""A worker process of venturi.dask.multiprocessing: takes tasks from the process that started it until there are no more."""
import base64
import pickle
import signal
import sys

from .. import _venturi
from . import _pickling
from ._pickling import Pickling


def main(told: str) -> int:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # who asked for the tasks decides what becomes of them
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
    return _venturi.graph_worker(Pickling(dumps, loads))
