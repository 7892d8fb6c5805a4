"""Grams of CO2e for a kWh: given, or of a country that was named. Nothing is guessed, and nobody is asked over the network."""
from typing import Any, Dict, NamedTuple, Optional

from .. import _venturi
from ._log import warn_once


class Location(NamedTuple):
    grams: Optional[float]  # None: not known
    source: str  # for the row's provenance
    country_name: Optional[str]
    country_iso_code: Optional[str]


def locate(options: Dict[str, Any]) -> Location:
    country = options["country_iso_code"] or options["country_2letter_iso_code"]
    found = _venturi.grid_intensity(str(country)) if country else None
    forced = options["force_carbon_intensity_g_co2e_kwh"]
    iso, name = (found[1], found[2]) if found else (country, None)
    if country and not found:
        warn_once("country %r is not in the table of %s" % (country, _venturi.grid_source()))
    if options["region"] and found and forced is None:
        warn_once("region %r: the table has countries only, %s is used" % (options["region"], found[2]))
    if forced is not None:
        return Location(forced, "given", name, iso)
    if found:
        return Location(found[0], "table:%s:%d" % (found[1], found[3]), name, iso)
    return Location(None, "unknown", name, iso)


def say_unknown() -> None:
    warn_once("the location is not known, so emissions are nan: give country_iso_code (or CODECARBON_COUNTRY_ISO_CODE), "
              "or force_carbon_intensity_g_co2e_kwh")
