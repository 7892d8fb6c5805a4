"""C graphs on a dask cluster: cut into blocks that are worth sending, each one task of dask's that our engine computes.

    ran = venturi.dask.run_graph(client, venturi.dask.Graph("graph.saved"), ["total"])
    ran.values["total"], ran.record.tasks

Where blocks run, what is moved and what is tried again is dask's business; how a block is computed is ours.
"""
import contextlib
import functools
import os
import pickle
import threading
import uuid
from typing import Any, Callable, Dict, Iterable, Iterator, List, Optional, Union

from .. import _venturi
from . import _blocks
from .recording import record

MAGIC = b"VTGRAPH1"  # what a saved graph begins with
_lock = threading.Lock()
_busy = 0  # blocks that run in this process


def this_host() -> str:
    """Says which clock this is: that of the machine since it was started; "" if that is not known."""
    with contextlib.suppress(OSError), open("/proc/sys/kernel/random/boot_id") as file:
        return file.read().strip()
    return ""


def this_recording() -> str:
    """Says which recording this process writes into, so that another one knows whether it is its own; "": none."""
    if _venturi.tasks_put(()) is None:
        return ""
    return f"{this_host()} {os.environ.get('VENTURI_SESSION') or os.getpid()}"


@contextlib.contextmanager
def share(threads: int) -> Iterator[int]:
    """In a worker: how many threads a block gets. The first has all, a second at the same time half of them, …: blocks may have little to
    do at once, and dask runs as many as there are threads."""
    global _busy

    with _lock:
        _busy += 1
        mine = max(1, threads // _busy)
    try:
        yield mine
    finally:
        with _lock:
            _busy -= 1


class Graph:
    """A graph that a C program saved (vt_graph_save()): its bytes, or the path of a file."""

    def __init__(self, saved: Union[bytes, bytearray, str, "os.PathLike[str]"]) -> None:
        self._name = "these bytes"
        if isinstance(saved, (bytes, bytearray)):
            self.saved = bytes(saved)
        else:
            self._name = os.fspath(saved)
            with open(saved, "rb") as file:
                self.saved = file.read()
        if not self.saved.startswith(MAGIC):
            raise ValueError(f"{self._name}: no graph that vt_graph_save() made")

    def blocks(self, wanted: Iterable[str] = (), seconds: float = 0.05, cost: float = 0.001) -> List[_blocks.Block]:
        """Blocks of `seconds` and more, each after those that it needs; `cost` is what a task takes of which nothing is known."""
        try:
            return _venturi.graph_blocks(self.saved, list(wanted), seconds, cost)
        except ValueError as error:
            raise ValueError(f"{self._name}: {error}") from None


class Ran:
    """What came of a graph: `values` by key, and the recording of the cluster."""

    def __init__(self, values: Dict[str, Any], record: record, blocks: int) -> None:
        self.values = values
        self.record = record
        self.blocks = blocks


class _ByValue:
    """A function that arrives where its module is not."""

    def __init__(self, function: Callable[..., Any]) -> None:
        import cloudpickle  # type: ignore[import-not-found, import-untyped, unused-ignore]

        cloudpickle.register_pickle_by_value(_blocks)
        self.function = function
        self.bytes = cloudpickle.dumps(function)

    def __call__(self, *args: Any) -> Any:
        return self.function(*args)

    def __reduce__(self) -> Any:
        return pickle.loads, (self.bytes,)


def run_graph(client: Any, graph: Graph, wanted: Iterable[str] = (), seconds: float = 0.05, *, cost: float = 0.001,
              threads: int = 0, retries: int = 0, filename: Union[None, str, "os.PathLike[str]"] = None) -> Any:
    """Computes what is wanted of a graph (nothing: all that nothing depends on) on a cluster and returns a Ran; with an asynchronous
    client, an awaitable of it.

    Blocks take at least `seconds`: dask needs about 1 ms for each, and 5 ms from one to the next that needs it. `threads`: of each
    worker, 0: as many as dask gives it. The workers need this package and the libraries that tasks are in. With `filename` ("x.vt",
    "x.html") the recording is written: the cluster, and in it a run for each block.
    """
    return client.sync(_run, client, graph, list(wanted), seconds, cost, threads, retries, filename)


async def _run(client: Any, graph: Graph, wanted: List[str], seconds: float, cost: float, threads: int, retries: int,
               filename: Any) -> Ran:
    blocks = graph.blocks(wanted, seconds, cost)
    recorder = record(client, filename)
    async with recorder:
        plan = _Plan(blocks, wanted, threads, this_recording() if recorder._is_put() else "")
        futures = client.get(plan.tasks, plan.runs + plan.parts, sync=False, retries=retries or None)
        errors = [await future.exception() for future in futures]
        told = await client.gather([future for future, error in zip(futures[:len(blocks)], errors) if error is None])
        failed = [error.made.run for error in errors if getattr(error, "made", None) is not None]
        told += {run["block"]: run for run in failed}.values()  # whatever needs a block fails with a copy of its error
        recorder._inner = functools.partial(_inner, told, plan.names)
        for error in errors:
            if error is not None:
                raise error
        values: Dict[str, Any] = {}
        for found in await client.gather(futures[len(blocks):]):
            values.update(found)
    return Ran({key: _venturi.graph_value(values[key]) for key in plan.wanted}, recorder, len(blocks))


class _Plan:
    """A graph of dask's: a task for each block, one for what is known of its run, and one for each part of its values that
    somebody needs. A block with one user alone is handed on as a whole."""

    def __init__(self, blocks: List[_blocks.Block], wanted: List[str], threads: int, recording: str) -> None:
        token = uuid.uuid4().hex
        needed = {key for _, inputs, _ in blocks for key in inputs}
        home = {key: i for i, (_, _, outputs) in enumerate(blocks) for key in outputs}
        self.wanted = wanted or [key for key in home if key not in needed]
        users: Dict[int, Dict[Optional[int], List[str]]] = {}  # block: user (None: the client): keys
        for user, keys in [*((i, inputs) for i, (_, inputs, _) in enumerate(blocks)), (None, self.wanted)]:
            for key in keys:
                users.setdefault(home[key], {}).setdefault(user, []).append(key)
        sources: Dict[Optional[int], List[Any]] = {}
        self.tasks: Dict[Any, Any] = {}
        for i, parts in sorted(users.items()):
            for user, keys in parts.items():
                name: Any = ("venturi-block-" + token, i)
                if user is None or len(parts) > 1:
                    name = ("venturi-part-" + token, i, -1 if user is None else user)
                    self.tasks[name] = (_ByValue(_blocks.part), ("venturi-block-" + token, i), keys)
                sources.setdefault(user, []).append(name)
        run_block, run_of = _ByValue(_blocks.run_block), _ByValue(_blocks.run_of)
        self.names = [str(("venturi-block-" + token, i)) for i in range(len(blocks))]
        self.runs = [("venturi-run-" + token, i) for i in range(len(blocks))]
        for i, (saved, _, outputs) in enumerate(blocks):
            self.tasks["venturi-block-" + token, i] = (run_block, saved, sources.get(i, []), list(outputs), threads, i, recording)
            self.tasks[self.runs[i]] = (run_of, ("venturi-block-" + token, i))
        self.parts = sources.get(None, [])


def _inner(told: List[Dict[str, Any]], names: List[str], rows: Any) -> List[Dict[str, Any]]:
    """Runs of blocks, below the run of the cluster: on the rows of their workers, and on the clock that its tasks are on."""
    outer = {str(task[0]): task for task in rows.tasks if task[6] in ("done", "failed")}
    found = []
    for run in told:
        task = outer.get(names[run["block"]])
        found.append(_moved(run, 0 if task is None else _shift(run, task), "" if task is None else task[4]))
    return found


def _shift(run: Dict[str, Any], task: Any) -> int:
    """By how many nanoseconds a run is moved: to the clock that dask has set for its block; on this machine, whose clock it has, only as
    far as it lies outside of its block."""
    begin, end = int(task[2] * 1e9), int(task[3] * 1e9)
    if run["host"] != this_host() or not run["host"]:
        return begin - int(run["entered"])
    earliest, latest = begin - int(run["start_time"]), end - int(run["end_time"])
    return max(0, earliest) or min(0, max(earliest, latest))


def _moved(run: Dict[str, Any], shift: int, label: str) -> Dict[str, Any]:
    def at(time: Optional[int]) -> Optional[int]:
        return None if time is None else time + shift

    tasks = [(*task[:2], at(task[2]), at(task[3]), task[4], at(task[5]), *task[6:11], at(task[11]), *task[12:]) for task in run["tasks"]]
    workers = {worker: {**facts, "label": f"{label} {worker}"} for worker, facts in run["workers"].items()}
    return {**run, "parent": 0, "start_time": at(run["start_time"]), "end_time": at(run["end_time"]), "tasks": tasks, "workers": workers}
