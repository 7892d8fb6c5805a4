"""What a worker of a dask cluster does with a block of a C graph. Travels by value, like plugins.py: a scheduler need not have this package."""
import time
from typing import Any, Dict, List, Optional, Sequence, Tuple


class BlockError(RuntimeError):
    """A block could not be computed; `made` is what there is of it."""

    def __init__(self, message: str, made: Optional["Made"] = None) -> None:
        super().__init__(message)
        self.made = made

    def __reduce__(self) -> Any:
        return BlockError, (self.args[0], self.made)


class Made:
    """What a block gave: values that others need, as bytes, and what is known of its run."""

    def __init__(self, values: Dict[str, bytes], run: Dict[str, Any]) -> None:
        self.values = values
        self.run = run


def run_block(saved: bytes, sources: Sequence[Any], outputs: Sequence[str], threads: int, number: int,
              recording: str) -> Made:
    """Computes a block with the threads of this worker (or so many), of which others that run may have their share. Into `recording` the
    client will put it: then this process does not, if that is its own."""
    begun = time.time_ns()
    from distributed import get_worker  # type: ignore[import-not-found, import-untyped, unused-ignore]

    worker = get_worker()
    try:
        from venturi import _venturi
        from venturi.dask import cluster
    except ImportError as error:
        raise BlockError(f"worker {worker.address} has no package venturi to compute with: {error}") from None
    inputs: Dict[str, bytes] = {}
    for source in sources:
        inputs.update(source.values if isinstance(source, Made) else source)
    with cluster.share(threads or worker.state.nthreads) as mine:
        is_told_there = recording != "" and recording == cluster.this_recording()
        values, run = _venturi.graph_block_run(saved, inputs, list(outputs), mine, is_told_there)
    run.update(entered=begun, block=number, host=cluster.this_host())
    made = Made(values, run)
    if run["error"]:
        made.values = {}
        raise BlockError(f"block {number} on {worker.address} (its workers are threads): {run['error']}", made)
    return made


def part(made: Made, keys: List[str]) -> Dict[str, bytes]:
    """What one other block needs."""
    return {key: made.values[key] for key in keys}


def run_of(made: Made) -> Dict[str, Any]:
    """What is known of how it was computed."""
    return made.run


Block = Tuple[bytes, Tuple[str, ...], Tuple[str, ...]]  # saved, keys that it needs from others, keys that others need
