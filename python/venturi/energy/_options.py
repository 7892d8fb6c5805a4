"""The options of a tracker: codecarbon's, their defaults, and where else they may be set.

The weakest first: ~/.codecarbon.config, ./.codecarbon.config (section [codecarbon]), CODECARBON_* in the environment, the constructor.
"""
import os
from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple, TypedDict, Union

from ._log import logger

FILE_NAME = ".codecarbon.config"
SECTION = "codecarbon"
PREFIX = "codecarbon_"
MOST = 1e15


class Options(TypedDict, total=False):
    """In codecarbon's order, so that they may also be given by place; the last ones are ours."""

    project_name: Optional[str]
    measure_power_secs: Optional[float]
    api_call_interval: Optional[int]
    api_endpoint: Optional[str]
    api_key: Optional[str]
    output_dir: Optional[str]
    output_file: Optional[str]
    output_methods: Union[None, str, Sequence[str]]
    save_to_file: Optional[bool]
    save_to_api: Optional[bool]
    save_to_logger: Optional[bool]
    logging_logger: Any
    save_to_prometheus: Optional[bool]
    save_to_logfire: Optional[bool]
    prometheus_url: Optional[str]
    output_handlers: Optional[Sequence[Any]]
    gpu_ids: Union[None, str, Sequence[Union[int, str]]]
    emissions_endpoint: Optional[str]
    experiment_id: Optional[str]
    experiment_name: Optional[str]
    electricitymaps_api_token: Optional[str]
    co2_signal_api_token: Optional[str]
    tracking_mode: Optional[str]
    log_level: Union[None, int, str]
    on_csv_write: Optional[str]
    logger_preamble: Optional[str]
    force_cpu_power: Optional[float]
    force_ram_power: Optional[float]
    pue: Optional[float]
    wue: Optional[float]
    force_carbon_intensity_g_co2e_kwh: Optional[float]
    force_mode_cpu_load: Optional[bool]
    allow_multiple_runs: Optional[bool]
    rapl_include_dram: Optional[bool]
    rapl_prefer_psys: Optional[bool]
    metadata: Any
    country_iso_code: Optional[str]
    region: Optional[str]
    cloud_provider: Optional[str]
    cloud_region: Optional[str]
    country_2letter_iso_code: Optional[str]
    baseline_secs: Optional[float]
    force_idle_power: Optional[float]


ORDER = tuple(Options.__annotations__)


def _number(least: float, is_open: bool = False, most: float = MOST) -> Callable[[Any], float]:
    def convert(value: Any) -> float:
        number = float(value)
        if not least <= number <= most or (is_open and number == least):
            raise ValueError("it is a number %s %g%s" % ("above" if is_open else "of at least", least,
                                                        " and at most %g" % most if most != MOST or number > most else ""))
        return number
    return convert


def _flag(value: Any) -> bool:
    if isinstance(value, str):
        if value.strip().lower() not in ("true", "false", "1", "0", "yes", "no"):
            raise ValueError("it is true or false")
        return value.strip().lower() in ("true", "1", "yes")
    return bool(value)


def _one_of(*texts: str) -> Callable[[Any], str]:
    def convert(value: Any) -> str:
        if value not in texts:
            raise ValueError("it is one of %s" % ", ".join(texts))
        return str(value)
    return convert


def _list(value: Any) -> List[Any]:
    if isinstance(value, str):
        return [part.strip() for part in value.split(",") if part.strip()]
    return list(value)


def _as_it_is(value: Any) -> Any:
    return value


def _folder(value: str) -> str:
    if not os.path.isdir(value):
        raise ValueError("there is no such folder")
    return value


# Default, and what checks a value; options that are not here are texts or objects, taken as they are.
KINDS: Dict[str, Tuple[Any, Callable[[Any], Any]]] = {
    "project_name": ("codecarbon", str),
    "measure_power_secs": (None, _number(0.001)),
    "api_call_interval": (8, int),
    "output_dir": (".", os.fspath),  # looked for when something is to be written there
    "output_file": ("emissions.csv", os.fspath),
    "output_methods": (None, _list),
    "output_handlers": ((), _list),
    "save_to_file": (True, _flag),
    "save_to_api": (False, _flag),
    "save_to_logger": (False, _flag),
    "save_to_prometheus": (False, _flag),
    "save_to_logfire": (False, _flag),
    "gpu_ids": (None, _list),
    "experiment_id": ("5b0fa12a-3dd7-45bb-9766-cc326314d9f1", str),
    "experiment_name": ("base", str),
    "tracking_mode": ("machine", _one_of("machine", "process")),
    "on_csv_write": ("append", _one_of("append", "update")),
    "logger_preamble": ("", str),
    "force_cpu_power": (None, _number(0, is_open=True)),
    "force_ram_power": (None, _number(0, is_open=True)),
    "force_idle_power": (None, _number(0, is_open=True)),
    "pue": (1.0, _number(1)),
    "wue": (0.0, _number(0)),
    "force_carbon_intensity_g_co2e_kwh": (None, _number(0)),
    "force_mode_cpu_load": (False, _flag),
    "allow_multiple_runs": (True, _flag),
    "rapl_include_dram": (False, _flag),
    "rapl_prefer_psys": (False, _flag),
    "baseline_secs": (0.0, _number(0, most=3600)),
}

# What checks a value of a file or of the environment beyond that: there the program cannot do anything about it.
OUTSIDE: Dict[str, Callable[[Any], Any]] = {"output_dir": _folder}

Setting = Tuple[str, str]  # value, and where that is from


def _read_file(folder: str) -> Dict[str, Setting]:
    path = os.path.join(folder, FILE_NAME)
    if not os.path.isfile(path):
        return {}
    from configparser import Error, ConfigParser  # only where there is such a file

    parser = ConfigParser(interpolation=None)
    try:
        parser.read(path, encoding="utf-8")
    except (Error, OSError, UnicodeDecodeError) as error:
        logger.warning("%s is ignored: %s", path, str(error).replace("\n", " "))
        return {}
    return {name: (value, path) for name, value in parser[SECTION].items()} if parser.has_section(SECTION) else {}


def configured() -> Dict[str, Setting]:
    """What files and the environment say."""
    found = _read_file(os.path.expanduser("~"))
    found.update(_read_file("."))
    for name, value in os.environ.items():
        if name.lower().startswith(PREFIX):
            found[name.lower()[len(PREFIX):]] = (value, "the environment")
    return found


def _given(arguments: Tuple[Any, ...], keywords: Dict[str, Any]) -> Dict[str, Any]:
    if len(arguments) > len(ORDER):
        raise TypeError("%d arguments were given, there are %d options" % (len(arguments), len(ORDER)))
    for name in keywords:
        if name not in ORDER:
            raise TypeError("there is no option %r" % name)
        if name in ORDER[:len(arguments)]:
            raise TypeError("%r is given twice" % name)
    return {**dict(zip(ORDER, arguments)), **keywords}


def settle(arguments: Tuple[Any, ...], keywords: Dict[str, Any]) -> Dict[str, Any]:
    """All options with their values. None stands for "not given". A wrong value raises if the program gave it; that of a file is said and ignored."""
    given = _given(arguments, keywords)
    outside = configured()
    settled: Dict[str, Any] = {}
    for name in ORDER:
        default, convert = KINDS.get(name, (None, _as_it_is))
        settled[name] = default
        if given.get(name) is not None:
            try:
                settled[name] = convert(given[name])
            except ValueError as error:
                raise ValueError("%s=%r: %s" % (name, given[name], error)) from None
        elif name in outside:
            value, where = outside[name]
            try:
                settled[name] = (OUTSIDE[name] if name in OUTSIDE else convert)(value)
            except ValueError as error:
                logger.error("%s = %r in %s is ignored: %s", name, value, where, error)
    return settled
