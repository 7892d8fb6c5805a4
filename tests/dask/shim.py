"""A plugin for pytest that puts our engine in the place of dask's own schedulers, for dask's own tests.

Whatever still gets to dask's own scheduler fails: it is our engine that runs, or nothing.
"""
import dask
import dask.base
import dask.local
import dask.multiprocessing
import dask.threaded

import venturi.dask
import venturi.dask.multiprocessing
import venturi.dask.threaded

OURS = {
    "get_sync": venturi.dask.get_sync,
    "threaded": venturi.dask.threaded.get,
    "multiprocessing": venturi.dask.multiprocessing.get,
}
_theirs = {dask.local.get_sync: OURS["get_sync"], dask.threaded.get: OURS["threaded"], dask.multiprocessing.get: OURS["multiprocessing"]}


def _refuse(*args, **kwargs):
    raise AssertionError("dask's own scheduler was asked")


for name, get in list(dask.base.named_schedulers.items()):
    if get in _theirs:
        dask.base.named_schedulers[name] = _theirs[get]
dask.get = dask.local.get_sync = OURS["get_sync"]
dask.threaded.get = OURS["threaded"]
dask.multiprocessing.get = OURS["multiprocessing"]
dask.local.get_async = dask.threaded.get_async = dask.multiprocessing.get_async = _refuse
