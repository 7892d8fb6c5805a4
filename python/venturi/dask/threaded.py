"""dask.threaded: tasks on several threads of this process."""
from typing import Any

from ._compute import compute, workers_of


def get(dsk: Any, keys: Any, cache: Any = None, num_workers: Any = None, pool: Any = None, **options: Any) -> Any:
    """As venturi.dask.get_sync(), on so many threads: as many as `pool` has (which is not used otherwise), or as there are CPUs.

    Tasks see the context variables of the caller.
    """
    return compute("threads", workers_of(num_workers, pool), dsk, keys, dict(options, cache=cache))
