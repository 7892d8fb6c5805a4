"""dask.multiprocessing: tasks in other processes of this machine.

Values go from worker to worker through shared memory, as pickles; this process unpickles only what was asked for. No task is fused into
another, so that a chain may be as long as one likes.
"""
import base64
import json
import os
import subprocess
import sys
from typing import Any, Dict, List, Optional

from . import _pickling
from ._compute import compute, graph_of, setting, workers_of
from ._pickling import Pickling, dumps

_START = "import json,sys;sys.path[:]=json.loads(sys.argv[1]);from venturi.dask._worker import main;sys.exit(main(sys.argv[2]))"
_SEED = "6640"  # dask's: hashes of strings are the same in all workers


def main_program() -> Dict[str, str]:
    """How a worker finds what lies in the main program, where there is no cloudpickle: it runs it, under the name that multiprocessing uses."""
    if _pickling.has_cloudpickle:
        return {}
    from multiprocessing.spawn import get_preparation_data

    found = get_preparation_data("worker")
    return {name: value for name, value in found.items() if name.startswith("init_main_from_")}


def worker_command(initializer: Any, loads: Any, dump: Any) -> List[str]:
    """What starts a worker: this interpreter, with the same modules at hand."""
    told = base64.b64encode(dumps((main_program(), dumps((initializer, loads, dump))))).decode("ascii")
    seed = os.environ.get("PYTHONHASHSEED")
    command = ["/usr/bin/env", "PYTHONHASHSEED=" + _SEED] if seed in (None, "", "0", "random") else []
    flags = subprocess._args_from_interpreter_flags()  # type: ignore[attr-defined]
    path = [os.getcwd() if folder == "" else folder for folder in sys.path]
    return command + [sys.executable, *flags, "-c", _START, json.dumps(path), told]


def get(
    dsk: Any, keys: Any, num_workers: Optional[int] = None, func_loads: Any = None, func_dumps: Any = None,
    optimize_graph: bool = True, pool: Any = None, initializer: Any = None, chunksize: Any = None, **options: Any
) -> Any:
    """As venturi.dask.get_sync(), in so many processes: as many as `pool` has (which is not used otherwise), or as there are CPUs.

    `initializer` is called once in each. func_dumps and func_loads pickle in the place of cloudpickle. Nothing is fused, and tasks are
    sent as workers have room: optimize_graph and chunksize change nothing.
    """
    if _pickling.is_main_running:
        raise RuntimeError('a worker runs the main program to find its functions: what computes belongs under if __name__ == "__main__"')
    initializer = initializer or setting("multiprocessing.initializer")
    dump = func_dumps or setting("func_dumps")
    loads = func_loads or setting("func_loads")
    graph = graph_of(dsk)
    options.update(worker_command=worker_command(initializer, loads, dump), pickling=Pickling(dump, loads))
    return compute("processes", workers_of(num_workers, pool), graph, keys, options)
