"""osprofiler.drivers: where notifications go."""
from . import base as base
