"""Rows of emissions.csv: codecarbon's columns in codecarbon's order, and behind them where the numbers come from."""
import json
from collections import OrderedDict
from dataclasses import dataclass, fields
from typing import Any, Optional

NOT_IN_TASKS = ("experiment_id", "pue", "wue")


@dataclass
class EmissionsData:
    """Seconds, kg, kg/s, W, kWh, litres, GB. A number that is not known is nan, a text None."""

    timestamp: str
    project_name: str
    run_id: str
    experiment_id: str
    duration: float
    emissions: float
    emissions_rate: float
    cpu_power: float
    gpu_power: float
    ram_power: float
    cpu_energy: float
    gpu_energy: float
    ram_energy: float
    energy_consumed: float
    water_consumed: float
    country_name: Optional[str]
    country_iso_code: Optional[str]
    region: Optional[str]
    cloud_provider: str
    cloud_region: str
    os: str
    python_version: str
    codecarbon_version: str
    cpu_count: int
    cpu_model: str
    gpu_count: Optional[int]
    gpu_model: Optional[str]
    longitude: Optional[float]
    latitude: Optional[float]
    ram_total_size: float
    tracking_mode: str
    cpu_utilization_percent: float = 0.0
    gpu_utilization_percent: Optional[float] = 0.0
    ram_utilization_percent: float = 0.0
    ram_used_gb: float = 0.0
    on_cloud: str = "N"
    pue: float = 1.0
    wue: float = 0.0
    provenance: str = ""

    @property
    def values(self) -> "OrderedDict[str, Any]":
        return OrderedDict(self.__dict__)

    def toJSON(self) -> str:  # noqa: N802 - as codecarbon calls it
        """What is not known is null: nan is no JSON."""
        known = {name: None if value != value else value for name, value in self.__dict__.items()}
        return json.dumps(known, sort_keys=True, indent=4)


@dataclass
class TaskEmissionsData:
    """A row of a task's file; made by task_row()."""

    task_name: str
    data: EmissionsData

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name == "data" or name in NOT_IN_TASKS:
            raise AttributeError(name)
        return getattr(self.data, name)

    @property
    def values(self) -> "OrderedDict[str, Any]":
        row = OrderedDict([("task_name", self.task_name)])
        row.update((name, value) for name, value in self.data.values.items() if name not in NOT_IN_TASKS)
        return row


COLUMNS = tuple(field.name for field in fields(EmissionsData))
CODECARBON_COLUMNS = COLUMNS[:-1]
TASK_COLUMNS = ("task_name",) + tuple(name for name in COLUMNS if name not in NOT_IN_TASKS)
