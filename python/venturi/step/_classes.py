"""Classes by their names, as settings name them: those of APF are ours."""
import importlib
from types import ModuleType
from typing import Any, Optional

_OURS = {
    "apf.consumers": "venturi.step.consumers",
    "apf.producers": "venturi.step.producers",
    "apf.metrics": "venturi.step.metrics",
    "apf.core.topic_management": "venturi.step.topics",
    "apf.core.step": "venturi.step",
}


def shown(name: str) -> str:
    """For a line that somebody reads: what would do something to his terminal is written as its number."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in name)


class SettingsError(ValueError):
    """What STEP_CONFIG says cannot be done; the message says what to change."""


class FileError(OSError, SettingsError):
    """A file or folder that the settings name cannot be opened."""

    setting = "FILE_PATH"

    def __str__(self) -> str:
        return "%s: %s: cannot open: %s" % (self.setting, shown(str(self.filename)), self.strerror)


class MissingFileError(FileError, FileNotFoundError):
    """It is not there."""


def unopened(error: OSError, setting: str) -> FileError:
    """What is raised instead, so that whoever runs the step can tell a wrong setting from a fault of the step's own code."""
    made = (MissingFileError if isinstance(error, FileNotFoundError) else FileError)(error.errno, error.strerror, error.filename)
    made.setting = setting
    return made


def _ours(module: str) -> Optional[ModuleType]:
    """The module of ours that stands for one of APF, or None. APF's have submodules, ours have none."""
    for theirs, ours in _OURS.items():
        if module == theirs or module.startswith(theirs + "."):
            return importlib.import_module(ours)
    return None


def get_class(name: Any) -> Any:
    """The class with this name, "package.module.Class". A class is its own."""
    if not isinstance(name, str):
        return name
    module, dot, last = name.rpartition(".")
    if not dot:
        raise SettingsError("%r names no class: package.module.Class is wanted" % name)
    found = _ours(module)
    if found is None or not hasattr(found, last):
        found = importlib.import_module(module)
    try:
        return getattr(found, last)
    except AttributeError:
        raise SettingsError("%s has no %s" % (shown(module), shown(last))) from None
