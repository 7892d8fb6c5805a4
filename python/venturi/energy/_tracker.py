"""EmissionsTracker: codecarbon's options and habits over a meter that is read by a thread in C.

A tracker never breaks what it measures: wrong options raise when it is made, what goes wrong later is logged. It belongs to the process that
made it; in a child its methods do nothing.
"""
import atexit
import os
import threading
import time
import uuid
from typing import TYPE_CHECKING, Any, Dict, List, Optional, Set, Type, TypeVar

from .. import __version__
from . import _machine
from ._data import EmissionsData, TaskEmissionsData
from ._location import locate, say_unknown
from ._lock import SingleRun
from ._log import logger, set_level, set_preamble, warn_once
from ._meter import NO_COUNTERS, NO_GPU, NOTHING, Amount, Energy, Meter
from ._options import Options, settle
from ._outputs import handlers_of
from ._throughput import Throughput

if TYPE_CHECKING:
    from types import TracebackType

    from typing_extensions import Unpack

PERIOD_S = 0.25  # between readings, if nobody says otherwise: more would be seen of a process that does nothing else
LIVE_PERIOD_S = 15.0  # codecarbon's, from which that of live outputs follows
JOULES_PER_KWH = 3.6e6
NAN = float("nan")
Self = TypeVar("Self", bound="EmissionsTracker")

_running: "Set[EmissionsTracker]" = set()


def _stop_all() -> None:
    for tracker in list(_running):
        tracker.stop()


atexit.register(_stop_all)


class _Task:
    def __init__(self, name: str, key: str, begin: Amount) -> None:
        self.name = name
        self.key = key
        self.begin = begin
        self.thread = threading.get_ident()
        self.data: Optional[EmissionsData] = None


class EmissionsTracker:
    """Measures from start() to stop(), or in a `with` block. Options: docs/emissions.md."""

    final_emissions: Optional[float] = None
    final_emissions_data: EmissionsData
    final_energy: Energy
    final_throughput: Throughput

    def __init__(self, *arguments: Any, **options: "Unpack[Options]") -> None:
        self._options: Dict[str, Any] = settle(arguments, dict(options))
        if self._options["log_level"] is not None:
            set_level(self._options["log_level"])
        if self._options["logger_preamble"]:
            set_preamble(self._options["logger_preamble"])
        self._location = locate(self._options)
        self._handlers: List[Any] = handlers_of(self._options)
        if self._options["gpu_ids"]:
            warn_once("gpu_ids: all GPUs of the machine are counted")
        self._single = None if self._options["allow_multiple_runs"] else SingleRun()
        self._lock = threading.RLock()
        self._pid = os.getpid()
        self.run_id = uuid.uuid4()
        self._clear()

    def _clear(self) -> None:
        self._meter: Optional[Meter] = None
        self._done: Amount = NOTHING  # of times that are over
        self._since: Optional[Amount] = None  # since when it is measured now
        self._told: Amount = NOTHING  # what outputs have been given
        self._tasks: List[_Task] = []
        self._is_started = self._is_stopping = False
        self._live_over: Optional[threading.Event] = None

    # ---- from start to stop

    def start(self) -> None:
        if not self._is_mine():
            return
        with self._lock:
            if self._is_started:
                logger.warning("Already started tracking")
            elif self._open():
                self._is_started = True
                self._resume()

    def stop(self) -> Optional[float]:
        """kg of CO2e; nan if the location is not known, None if it was never started."""
        if not self._is_mine():
            return None
        with self._lock:
            if self._meter is None:
                logger.warning("Tracker already stopped or never started.")
            elif not self._is_stopping:  # a signal's handler may stop what is being stopped
                self._is_stopping = True
                try:
                    self._finish(self._meter)
                finally:
                    self._close()
            return self.final_emissions

    def _finish(self, meter: Meter) -> None:
        for task in reversed(self._active()):
            self._end_task(task)
        total = self._total()
        self._end_live()
        meter.stop()
        self.final_emissions_data = self._row(total)
        self.final_emissions = self.final_emissions_data.emissions
        self.final_energy = meter.energy(total)
        self.final_throughput = self._throughput(total)
        self._out(total, self.final_emissions_data)
        self._call("exit")

    def flush(self) -> Optional[float]:
        """Writes what there is, and goes on."""
        if not self._is_mine():
            return None
        with self._lock:
            if self._meter is None:
                logger.error("You first need to start the tracker.")
                return None
            total = self._total()
            row = self._row(total)
            self._out(total, row)
            return row.emissions

    def __enter__(self: Self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: "Optional[Type[BaseException]]", error: Optional[BaseException], traceback: "Optional[TracebackType]"
    ) -> None:
        self.stop()

    def service_shutdown(self, signum: int, frame: Any) -> None:
        """For signal.signal()."""
        self.stop()

    # ---- tasks

    def start_task(self, task_name: Optional[str] = None) -> Optional[str]:
        """Its key: the name, with something behind it if there was one of this name. Tasks may lie in each other and overlap."""
        if not self._is_mine():
            return None
        with self._lock:
            if not self._open():
                return None
            begin = self._resume()
            name = task_name or str(uuid.uuid4())
            is_new = all(task.key != name for task in self._tasks)
            task = _Task(name, name if is_new else "%s_%s" % (name, uuid.uuid4()), begin)
            self._tasks.append(task)
            return task.key

    def stop_task(self, task_name: Optional[str] = None) -> Optional[EmissionsData]:
        """Of a key or name, else of the task that this thread began last; else of the one that was begun last."""
        if not self._is_mine():
            return None
        with self._lock:
            task = self._find_task(task_name)
            if task is None:
                logger.warning("stop_task : No active task to stop.")
                return None
            return self._end_task(task)

    def _active(self) -> List[_Task]:
        return [task for task in self._tasks if task.data is None]

    def _find_task(self, name: Optional[str]) -> Optional[_Task]:
        active = self._active()
        if name:
            active = [task for task in active if task.key == name] or [task for task in active if task.name == name]
        else:
            active = [task for task in active if task.thread == threading.get_ident()] or active
        return active[-1] if active else None

    def _end_task(self, task: _Task) -> EmissionsData:
        total = self._total()
        task.data = self._row(total - task.begin)
        if not self._is_started and not self._active():
            self._pause(total)
        return task.data

    # ---- measuring

    def _is_mine(self) -> bool:
        return self._pid == os.getpid()

    def _open(self) -> bool:
        """Whether there is a meter."""
        options = self._options
        if self._meter is not None:
            return True
        if self._single and not self._single.take():
            logger.error("another tracker is running, and allow_multiple_runs is False: nothing is measured")
            return False
        flags = (NO_COUNTERS if options["force_mode_cpu_load"] else 0) | (NO_GPU if options["gpu_ids"] == [] else 0)
        try:
            self._meter = Meter(
                options["force_cpu_power"] or 0, options["force_ram_power"] or 0, options["force_idle_power"] or 0, flags,
                options["baseline_secs"], options["measure_power_secs"] or PERIOD_S)
        except BaseException as error:
            if self._single:
                self._single.give()
            if not isinstance(error, (OSError, RuntimeError)):
                raise
            logger.error("energy cannot be measured: %s", error)
            return False
        if self.final_emissions is not None:
            self.run_id = uuid.uuid4()  # it ran before: this is another run
        if self._location.grams is None:
            say_unknown()
        _running.add(self)
        self._begin_live()
        return True

    def _close(self) -> None:
        if self._single:
            self._single.give()
        _running.discard(self)
        self._clear()

    def _resume(self) -> Amount:
        """Counts from now on; what there was until now, which a task begins with: no reading lies between the two."""
        if self._since is not None or self._meter is None:
            return self._total()
        self._since = self._meter.begin()
        return self._done

    def _pause(self, total: Amount) -> None:
        """Between tasks of a tracker that was not started itself nothing is counted."""
        self._done = total
        self._since = None

    def _total(self) -> Amount:
        if self._since is None or self._meter is None:
            return self._done
        return self._done + (self._meter.take() - self._since)

    # ---- what is said

    def _joules(self, amount: Amount) -> Dict[str, Optional[float]]:
        """Of each part, as tracking_mode has it. What a GPU used for which process nobody can say: it is the program's."""
        if self._options["tracking_mode"] == "machine":
            return {part: amount.joules(part, "gross") for part in ("cpu", "ram", "gpu", "all")}
        joules = {part: amount.joules(part, "share") for part in ("cpu", "ram", "all")}
        joules["gpu"] = amount.joules("gpu", "gross")
        if joules["gpu"] is not None and joules["all"] is not None and any(
                source.part == "gpu" and source.inside is None for source in self._sources()):
            joules["all"] += joules["gpu"]
        return joules

    def _sources(self) -> List[Any]:
        return self._meter.sources() if self._meter is not None else []

    def _kwh(self, joules: Optional[float]) -> float:
        return NAN if joules is None else joules / JOULES_PER_KWH * float(self._options["pue"])

    def _kg(self, kwh: float) -> float:
        return NAN if self._location.grams is None else kwh * self._location.grams / 1000

    def _provenance(self, amount: Amount) -> str:
        found = self._meter.provenance() if self._meter is not None else []
        found.append("charged=%s" % ("cpu-time" if self._options["tracking_mode"] == "process" else "machine"))
        if self._options["tracking_mode"] == "process" and amount.meter_j is not None:
            found.append("meter=%.2gJ" % amount.meter_j)
        if amount.unknown_s > 0:
            found.append("unknown=%.3gs" % amount.unknown_s)
        found.append("intensity=" + self._location.source)
        return ";".join(found)

    def _row(self, amount: Amount) -> EmissionsData:
        options = self._options
        joules = self._joules(amount)
        gpus = [source for source in self._sources() if source.part == "gpu"]
        if not gpus:
            joules["gpu"] = 0.0
        energy = {part: self._kwh(joules[part]) for part in joules}
        power = {part: energy[part] * JOULES_PER_KWH / amount.wall_s if amount.wall_s else 0.0 for part in joules}
        kg = self._kg(energy["all"])
        ram_total, ram_used = _machine.memory_gb()
        system, python = _machine.platform_facts()
        return EmissionsData(
            timestamp=time.strftime("%Y-%m-%dT%H:%M:%S"), project_name=options["project_name"], run_id=str(self.run_id),
            experiment_id=options["experiment_id"], duration=amount.wall_s, emissions=kg,
            emissions_rate=kg / amount.wall_s if amount.wall_s else 0.0 * kg,
            cpu_power=power["cpu"], gpu_power=power["gpu"], ram_power=power["ram"],
            cpu_energy=energy["cpu"], gpu_energy=energy["gpu"], ram_energy=energy["ram"], energy_consumed=energy["all"],
            water_consumed=energy["all"] * options["wue"],
            country_name=self._location.country_name, country_iso_code=self._location.country_iso_code, region=options["region"],
            cloud_provider=options["cloud_provider"] or "", cloud_region=options["cloud_region"] or "",
            os=system, python_version=python, codecarbon_version="venturi " + __version__,
            cpu_count=_machine.cpu_count(), cpu_model=_machine.cpu_model(),
            gpu_count=len(gpus) or None, gpu_model=", ".join(source.note or source.name for source in gpus) or None,
            longitude=None, latitude=None, ram_total_size=ram_total, tracking_mode=options["tracking_mode"],
            cpu_utilization_percent=_machine.cpu_percent(amount.busy_cpu_s, amount.wall_s),
            gpu_utilization_percent=None if gpus else 0.0,
            ram_utilization_percent=100 * ram_used / ram_total if ram_total else NAN, ram_used_gb=ram_used,
            on_cloud="Y" if options["cloud_provider"] else "N", pue=options["pue"], wue=options["wue"],
            provenance=self._provenance(amount))

    def _throughput(self, amount: Amount) -> Throughput:
        joules = self._joules(amount)["all"]
        grams = self._kg(self._kwh(joules)) * 1000
        return Throughput(amount.items, amount.effective, amount.wall_s, amount.own_cpu_s,
                          _machine.cpus_granted(), joules, None if grams != grams else grams)

    def energy(self) -> Optional[Energy]:
        """Joules so far, and where they come from; None if it is not running."""
        if not self._is_mine():
            return None
        with self._lock:
            return None if self._meter is None else self._meter.energy(self._total())

    def throughput(self) -> Optional[Throughput]:
        """Items so far, by time, core and joule; None if it is not running."""
        if not self._is_mine():
            return None
        with self._lock:
            return None if self._meter is None else self._throughput(self._total())

    def get_detected_hardware(self) -> Dict[str, Any]:
        row = self._row(NOTHING)
        return {"ram_total_size": row.ram_total_size, "cpu_count": row.cpu_count, "cpu_physical_count": None, "cpu_model": row.cpu_model,
                "gpu_count": row.gpu_count, "gpu_model": row.gpu_model, "gpu_ids": self._options["gpu_ids"]}

    # ---- outputs

    def _out(self, total: Amount, row: EmissionsData) -> None:
        delta = self._row(total - self._told)
        self._told = total
        tasks = [TaskEmissionsData(task.key, task.data) for task in self._tasks if task.data is not None]
        self._call("out", row, delta)
        if tasks:
            self._call("task_out", tasks, self._options["experiment_name"])

    def _call(self, name: str, *arguments: Any) -> None:
        """Whatever an output does wrong, the program goes on."""
        for handler in self._handlers:
            try:
                if hasattr(handler, name):
                    getattr(handler, name)(*arguments)
            except Exception as error:
                logger.error("%s.%s: %s", type(handler).__name__, name, error)

    def _begin_live(self) -> None:
        """A thread in Python only for those who want to be told in between."""
        from ._csv import FileOutput

        every = self._options["api_call_interval"]
        if every <= 0 or all(isinstance(handler, FileOutput) for handler in self._handlers):
            return
        self._live_over = over = threading.Event()
        period = every * (self._options["measure_power_secs"] or LIVE_PERIOD_S)
        threading.Thread(target=self._live, args=(over, period), name="venturi-energy-live", daemon=True).start()

    def _live(self, over: threading.Event, period: float) -> None:
        while not over.wait(period):
            with self._lock:
                if not over.is_set():
                    total = self._total()
                    delta = self._row(total - self._told)
                    self._told = total
                    self._call("live_out", self._row(total), delta)

    def _end_live(self) -> None:
        if self._live_over is not None:
            self._live_over.set()


class OfflineEmissionsTracker(EmissionsTracker):
    """The same: no tracker uses the network. Here country_iso_code is expected."""
