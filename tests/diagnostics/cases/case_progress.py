"""The progress bar, with dask's own as the judge of its lines."""
import io
import re
import time

import dask.local
from dask.diagnostics import ProgressBar as DaskProgressBar
from dask.utils import format_time as dask_format_time
from graphs import fails

import venturi.dask
from venturi.diagnostics import ProgressBar
from venturi.diagnostics.progress import format_time

GRAPH = {"a": (time.sleep, 0.05), "b": (time.sleep, 0.05), "c": (max, [3, 4])}


def shape(text):
    """Lines without their times."""
    return [re.sub(r"[0-9.]+ (s|ms|us)", "T", line) for line in text.replace("\n", "\\n\r").split("\r") if line]


def lines(bar_class, **options):
    out = io.StringIO()
    with bar_class(out=out, **options) as bar:
        dask.local.get_sync(GRAPH, ["a", "b", "c"])
    return shape(out.getvalue()), bar


def test_same_lines():
    for options in ({}, {"width": 7}, {"width": 1}):
        ours, bar = lines(ProgressBar, dt=10, **options)
        theirs, _ = lines(DaskProgressBar, dt=0.01, **options)
        assert ours[-1] == theirs[-1] and ours[-1].endswith("| 100% Completed | T\\n"), (ours, theirs)
        assert ours[0] == theirs[0], (ours, theirs)
        assert 0.1 <= bar.last_duration < 10


def test_goes_on():
    ours, _ = lines(ProgressBar, dt=0.005)
    shares = [int(re.search(r"(\d+)%", line).group(1)) for line in ours]
    assert shares == sorted(shares) and {0, 100} < set(shares)


def test_minimum():
    out = io.StringIO()
    with ProgressBar(minimum=60, out=out) as bar:
        dask.local.get_sync(GRAPH, ["a"])
    assert out.getvalue() == "" and bar.last_duration > 0.04


def test_failure():
    out = io.StringIO()
    bar = ProgressBar(out=out, dt=10)
    bar.register()
    try:
        dask.local.get_sync({"a": (fails,), "b": (sum, [1]), "c": (max, "a", "b")}, "c")
    except KeyError:
        pass
    bar.unregister()
    assert "100%" not in out.getvalue() and out.getvalue().endswith("\n")


def test_closed_file():
    out = io.StringIO()
    with ProgressBar(out=out):
        out.close()
        dask.local.get_sync(GRAPH, ["c"])


def test_times():
    for seconds in (0.0, 1e-6, 0.00012345, 0.001, 0.001234, 0.5, 0.99999, 1, 59.999, 123.456, 600, 600.1, 1234.567, 7200, 7200.5, 12345.67,
                    123456.78, 172800, 172801, 1234567.89):
        assert format_time(seconds) == dask_format_time(seconds), seconds


def test_a_file_that_cannot_be_written_costs_nothing():
    class Broken:
        def write(self, text):
            raise BrokenPipeError

        def flush(self):
            raise BrokenPipeError

    with ProgressBar(out=Broken(), dt=0) as bar:
        assert dask.local.get_sync(GRAPH, "c") == 4
        assert venturi.dask.get(GRAPH, "c") == 4
    assert not bar._sources
