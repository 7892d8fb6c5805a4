"""What a program uses, in kWh and kg of CO2e: codecarbon's names and habits over a meter in C.

    with EmissionsTracker(tracking_mode="process", pue=1.25, country_iso_code="FRA") as tracker:
        work()
    print(tracker.final_emissions, tracker.final_energy.share_j)

Numbers say where they come from, what is not known is nan or empty, and nothing is sent anywhere. docs/emissions.md has the details.
"""
from .. import __version__ as __version__
from ._data import EmissionsData as EmissionsData, TaskEmissionsData as TaskEmissionsData
from ._meter import Energy as Energy, Source as Source
from ._outputs import BaseOutput as BaseOutput, LoggerOutput as LoggerOutput, OutputMethod as OutputMethod
from ._tasks import (
    TaskEmissionsTracker as TaskEmissionsTracker,
    track_emissions as track_emissions,
    track_task_emissions as track_task_emissions,
)
from ._throughput import Throughput as Throughput
from ._tracker import EmissionsTracker as EmissionsTracker, OfflineEmissionsTracker as OfflineEmissionsTracker

__all__ = [
    "BaseOutput", "EmissionsData", "EmissionsTracker", "Energy", "LoggerOutput", "OfflineEmissionsTracker", "OutputMethod", "Source",
    "TaskEmissionsData", "TaskEmissionsTracker", "Throughput", "track_emissions", "track_task_emissions",
]
