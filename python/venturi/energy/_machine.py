"""Facts of this machine for a row: read when the first row is made."""
import os
from functools import lru_cache
from typing import Dict, Optional, Tuple

GIB = 1024.0 ** 3


def _proc(name: str) -> str:
    try:
        with open(os.path.join(os.environ.get("VENTURI_PROCFS") or "/proc", name), encoding="utf-8", errors="replace") as file:
            return file.read()
    except OSError:
        return ""


def _values(text: str) -> Dict[str, str]:
    """The first value of each name of "name : value" lines."""
    found: Dict[str, str] = {}
    for line in text.splitlines():
        name, colon, value = line.partition(":")
        if colon:
            found.setdefault(name.strip(), value.strip())
    return found


@lru_cache(maxsize=None)
def cpu_model() -> str:
    return _values(_proc("cpuinfo")).get("model name", "")


def memory_gb() -> Tuple[float, float]:
    """All there is, and what is in use; nan if it is not known."""
    values = _values(_proc("meminfo"))

    def gb(name: str) -> float:
        words = values.get(name, "").split()
        return int(words[0]) * 1024 / GIB if words and words[0].isdigit() else float("nan")
    return gb("MemTotal"), gb("MemTotal") - gb("MemAvailable")


@lru_cache(maxsize=None)
def platform_facts() -> Tuple[str, str]:
    """Operating system and version of Python."""
    import platform

    return platform.platform(), platform.python_version()


def cpus_granted() -> int:
    """That this process may run on."""
    return len(os.sched_getaffinity(0))


def cpu_count() -> int:
    return os.cpu_count() or 1


def cpu_percent(busy_s: Optional[float], wall_s: float) -> float:
    """Of all CPUs of the machine."""
    if busy_s is None or wall_s <= 0:
        return float("nan")
    return min(100.0, 100 * busy_s / wall_s / cpu_count())
