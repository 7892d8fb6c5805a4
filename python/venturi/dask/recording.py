"""venturi.dask.record: everything that a dask cluster does while a block runs, on all its workers.

    with venturi.dask.record(client, "run.html") as run:
        collection.compute()
    run.tasks, run.actions, run.workers

Talks to the cluster through public functions of the client and through plugins alone, and takes the plugins out again.
"""
import asyncio
import os
import sys
import time
import uuid
import warnings
from contextlib import suppress
from types import TracebackType
from typing import TYPE_CHECKING, Any, Awaitable, Callable, Dict, List, Optional, Type, Union

if TYPE_CHECKING:
    from ._stream import Action, Rows, Task

EVERY = 1.0  # seconds between two fetches
WORKERS_EVERY = 5  # fetches from the scheduler between two from the workers
PATIENCE = 10.0  # seconds for workers to answer

_open: Dict[str, List["record"]] = {}  # by the scheduler's id: the first of them puts tasks into the recording of this process


class record:
    """Records every task of a cluster while a `with` or `async with` block runs; afterwards the rows are here.

    tasks       (key, None, start, end, worker, ready, state, retries, cpu, False, bytes, freed, dependencies), in order of start
    measures    for each of them what `metric`, a function of a result, said of its result, on the worker that has it; None if nothing
    actions     (key, action, start, stop, worker, bytes): transfers, disk-read, disk-write, deserialize, in order of start
    workers     {worker: {"address", "name", "pid", "thread", "tid", "joined", "left"}}
    errors      {place in tasks: why it failed}
    lost        how many tasks and notes there was no room for
    unfinished  how many tasks the cluster had not done with when the block ended

    Times are seconds since 1970 on this machine's clock; a worker is "address#thread", dependencies are places in tasks. With cpu_time=True
    `cpu` is the CPU time of the thread that ran it, in seconds, else None.
    If this process records (venturi run, a session), all of it is in that recording too.
    """

    def __init__(self, client: Any = None, filename: Union[None, str, "os.PathLike[str]"] = None, *, every: float = EVERY,
                 cpu_time: bool = False, metric: Optional[Callable[[Any], Any]] = None) -> None:
        self._client = client
        self._cpu_time = cpu_time
        self._metric = metric
        self.filename = None if filename is None else os.fspath(filename)
        if self.filename is not None and not self.filename.endswith((".vt", ".html")):
            raise ValueError(f"venturi.dask.record: {self.filename}: the name of a recording ends in .vt, that of a page in .html")
        self._every = every
        self._name = ""
        self._rows: "Optional[Rows]" = None
        self._inner: "Optional[Callable[[Rows], List[Dict[str, Any]]]]" = None  # runs that were tasks of this one
        self.lost = self.unfinished = 0
        self.start_time: Optional[float] = None
        self.end_time: Optional[float] = None

    # -- the block ------------------------------------------------------------------------------

    def __enter__(self) -> "record":
        self._choose()
        if self._client.asynchronous:
            raise TypeError("venturi.dask.record: this client is asynchronous: write `async with`")
        self._client.sync(self._begin)
        return self

    def __exit__(self, kind: Optional[Type[BaseException]], error: Optional[BaseException],
                 trace: Optional[TracebackType]) -> None:
        try:
            self._client.sync(self._end)
        except Exception:  # the loop is gone with the client: what was fetched is kept
            self._end_without_client()
        try:
            self._keep(error)
        except Exception as problem:
            self._cannot(problem, error)

    async def __aenter__(self) -> "record":
        self._choose()
        await self._in_loop(self._begin)
        return self

    async def __aexit__(self, kind: Optional[Type[BaseException]], error: Optional[BaseException],
                        trace: Optional[TracebackType]) -> None:
        try:
            await self._in_loop(self._end)
            await asyncio.get_running_loop().run_in_executor(None, self._keep, error)
        except Exception as problem:
            self._cannot(problem, error)

    def _cannot(self, problem: Exception, error: Optional[BaseException]) -> None:
        """What goes wrong here must not hide what went wrong in the block."""
        if error is None:
            raise problem
        warnings.warn(f"venturi.dask.record: {problem}", RuntimeWarning, stacklevel=3)

    async def _in_loop(self, function: Callable[[], Awaitable[None]]) -> Any:
        if self._client.asynchronous:
            return await function()
        return await asyncio.get_running_loop().run_in_executor(None, self._client.sync, function)

    def _choose(self) -> None:
        if self._name:
            raise RuntimeError("venturi.dask.record: a record is used once; make another one")
        if self._client is None:
            try:
                from distributed import default_client  # type: ignore[import-not-found, import-untyped, unused-ignore]

                self._client = default_client()
            except ModuleNotFoundError as error:
                raise ImportError(f"venturi.dask.record needs dask's clusters ({error}): pip install distributed") from None
            except ValueError:
                raise ValueError("venturi.dask.record: there is no dask client; make one, or pass it") from None
        if not hasattr(self._client, "run_on_scheduler"):
            raise TypeError(f"venturi.dask.record: {self._client!r} is no dask client")
        if self._client.status == "closed":
            raise ValueError("venturi.dask.record: this client is closed")
        self._name = "venturi-record-" + uuid.uuid4().hex

    # -- in the loop of the client --------------------------------------------------------------

    async def _begin(self) -> None:
        import cloudpickle  # type: ignore[import-not-found, import-untyped, unused-ignore]

        from . import plugins
        from ._stream import Stream

        cloudpickle.register_pickle_by_value(plugins)  # the cluster need not have this package
        client = self._client
        before = time.time()
        there, self._where, workers = await client.run_on_scheduler(plugins.look)
        after = time.time()
        offset = there - (before + after) / 2
        self._stream = Stream(offset if abs(offset) > after - before else 0.0)
        for address, (name, nthreads) in workers.items():
            self._stream.place(address, name, nthreads)
        self._since = 0
        self._problem: Union[None, str, Exception] = None
        try:
            await self._register(plugins.WorkerRecorder(self._name, self._pickled_metric(), self._cpu_time), "register_worker_plugin")
            await self._register(plugins.SchedulerRecorder(self._name, client.id), "register_scheduler_plugin")
        except BaseException:
            await self._leave()
            raise
        self._is_inside = bool(_open.setdefault(self._where, []))
        _open[self._where].append(self)
        self.start_time = time.time()
        self._fetcher = asyncio.ensure_future(self._keep_fetching())

    def _pickled_metric(self) -> Optional[bytes]:
        """What cannot be sent is no reason not to record."""
        import cloudpickle

        if self._metric is None:
            return None
        try:
            pickled: bytes = cloudpickle.dumps(self._metric, 4)
            return pickled
        except BaseException as error:  # of the program's own code, which must not end the loop
            self._stream.problem = f"{type(error).__name__}: {error}"
            return None

    def _register(self, plugin: Any, old: str) -> Any:
        register = getattr(self._client, "register_plugin", None) or getattr(self._client, old)
        return register(plugin, name=self._name)

    async def _keep_fetching(self) -> None:
        rounds = 0
        while True:
            await asyncio.sleep(self._every)
            try:
                while await self._fetch():
                    pass
                rounds += 1
                if rounds % WORKERS_EVERY == 0:
                    await self._fetch_workers()
            except Exception as problem:  # of a client that was closed too; the next round may do better, and the last one says so
                self._problem = problem

    async def _fetch(self) -> bool:
        """Whether there is more."""
        from . import plugins

        got = await self._client.run_on_scheduler(plugins.fetch, self._name, self._since)
        if got is None:
            return False
        self._since, pieces, is_more, self.lost = got
        self._stream.pieces += pieces
        return bool(is_more)

    async def _fetch_workers(self) -> None:
        from . import plugins

        got = {address: place.got for address, place in self._stream.places.items()}
        asked = self._client.run(plugins.fetch_worker, self._name, got, on_error="ignore")
        for address, said in (await asyncio.wait_for(asked, PATIENCE)).items():
            if said is not None:
                self._stream.worker_said(address, said)

    async def _end(self) -> None:
        from . import plugins

        _open[self._where].remove(self)
        self._fetcher.cancel()
        with suppress(asyncio.CancelledError):
            await self._fetcher
        self.end_time = time.time()
        try:
            while await self._fetch():
                pass
            try:
                await self._fetch_workers()
            except asyncio.TimeoutError:
                warnings.warn(f"venturi.dask.record: workers did not answer in {PATIENCE:.0f} s: what only they know is missing",
                              RuntimeWarning, stacklevel=2)
            got = await self._client.run_on_scheduler(plugins.fetch_last, self._name, self._since)
            if got is None:
                self._problem = "the cluster gave up recording in the middle"
            else:
                pieces, self.lost, self.unfinished = got
                self._stream.pieces += pieces
                self._problem = None
        except Exception as problem:  # whatever a client says that is closed, or whose scheduler is gone
            self._problem = "the client is closed" if self._client.status == "closed" else problem
        await self._leave()
        if self._problem is not None:
            warnings.warn(f"venturi.dask.record: the end is missing: {self._problem or type(self._problem).__name__}",
                          RuntimeWarning, stacklevel=2)
        if self._stream.problem:
            warnings.warn(f"venturi.dask.record: metric failed, None is kept: {self._stream.problem}", RuntimeWarning, stacklevel=2)
        self.lost += sum(place.lost for place in self._stream.places.values())

    def _end_without_client(self) -> None:
        if self.end_time is None:
            self.end_time = time.time()
        with suppress(KeyError, ValueError):
            _open[self._where].remove(self)
        self.lost += sum(place.lost for place in self._stream.places.values())
        warnings.warn("venturi.dask.record: the end is missing: the client is closed", RuntimeWarning, stacklevel=3)

    async def _leave(self) -> None:
        """Takes the plugins out, as far as they are there."""
        from . import plugins

        with suppress(Exception):
            await self._client.run_on_scheduler(plugins.fetch_last, self._name, 0)
        with suppress(Exception):
            await asyncio.wait_for(self._client.unregister_worker_plugin(self._name), PATIENCE)

    # -- what came of it ------------------------------------------------------------------------

    def _made(self) -> "Rows":
        from ._stream import Rows

        if self._rows is None:
            if self.end_time is None:
                raise RuntimeError("venturi.dask.record: the block has not ended")
            self._rows = Rows(self._stream)
        return self._rows

    @property
    def tasks(self) -> "List[Task]":
        return self._made().tasks

    @property
    def measures(self) -> List[Any]:
        return self._made().measures

    @property
    def actions(self) -> "List[Action]":
        return self._made().actions

    @property
    def workers(self) -> Dict[str, Dict[str, Any]]:
        return self._made().workers

    @property
    def errors(self) -> Dict[int, str]:
        return self._made().errors

    def _runs(self, error: str) -> List[Dict[str, Any]]:
        """As tasks_write() and tasks_put() take them; the cluster first, with the block's error or that of a task."""
        rows = self._made()
        error = error or rows.first_error
        mine = {"scheduler": "dask.distributed", "start_time": self.start_time, "end_time": self.end_time, "error": error,
                "lost": self.lost, "tasks": rows.tasks + rows.skipped, "actions": rows.actions, "workers": rows.workers}
        return [mine, *(self._inner(rows) if self._inner is not None else ())]

    def _is_put(self) -> bool:
        """Whether all of it is put into the recording of this process."""
        from .. import _venturi

        return not self._is_inside and _venturi.tasks_put(()) is not None

    def _keep(self, error: Optional[BaseException]) -> None:
        """Into the recording of this process, and into a file of its own."""
        try:
            from .. import _venturi
        except ImportError:  # the rows are there all the same
            if self.filename is None:
                return
            raise
        is_recorded = self._is_put()
        if not is_recorded and self.filename is None:
            return
        runs = self._runs("" if error is None else f"{type(error).__name__}: {error}".split("\n")[0][:500])
        if is_recorded:
            _venturi.tasks_put(runs)
        if self.filename is None:
            return
        if self.filename.endswith(".html"):
            from ..diagnostics.page import write_page

            write_page(self.filename, runs)
        else:
            os.makedirs(os.path.dirname(os.path.abspath(self.filename)), exist_ok=True)
            name = os.path.splitext(os.path.basename(self.filename))[0]
            _venturi.tasks_write(self.filename, runs, (), " ".join(sys.argv), name)
