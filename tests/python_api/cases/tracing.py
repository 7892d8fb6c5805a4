"""venturi.tracing.single_thread_profiler, as its users know it."""
import asyncio
import concurrent.futures
import contextlib
import functools
import io
import os
import pathlib
import pstats

from venturi import Stats
from venturi.tracing import single_thread_profiler


def inner(n):
    return n


def said(function, *args):
    stream = io.StringIO()
    with contextlib.redirect_stdout(stream):
        result = function(*args)
    return result, stream.getvalue()


def names(stats):
    return {row.name: row.ncalls for row in stats.rows()}


def test_returns_prints_and_writes():
    @single_thread_profiler(report_name="deep/er/report.dump")
    def step(a, b=1):
        "What it does."
        return [inner(at) for at in range(a)] + [b]
    stats, text = said(step, 3)
    assert isinstance(stats, pstats.Stats) and isinstance(stats, Stats)
    assert stats.value == [0, 1, 2, 1]
    assert names(stats)["inner"] == 3 and names(stats)["step"] == 1
    assert "function calls" in text and "Ordered by: call count" in text and "(inner)" in text
    assert step.__name__ == "step" and step.__doc__ == "What it does."
    written = pstats.Stats("deep/er/report.dump")
    assert {key[2]: row[1] for key, row in written.stats.items()} == names(stats)
    stats.strip_dirs().sort_stats("tottime").print_stats()


def test_path_objects():
    @single_thread_profiler(report_name=pathlib.Path("one") / "report")
    def step():
        return inner(1)
    said(step)
    assert os.path.exists("one/report")


def test_nothing_is_written_unless_asked():
    @single_thread_profiler()
    def step():
        return inner(1)
    stats, text = said(step)
    assert stats.value == 1 and text and os.listdir(".") == []


def test_not_enabled():
    def step():
        return 5
    assert single_thread_profiler(report_name="x", enable=False)(step) is step
    assert os.listdir(".") == []


def test_limit_and_sort_by():
    @single_thread_profiler(limit=1, sort_by="tottime")
    def step():
        return inner(inner(1))
    stats, text = said(step)
    assert "Ordered by: internal time" in text and "List reduced" in text


def test_built_in_functions_are_in_it():
    """As in the statistics of cProfile."""
    @single_thread_profiler()
    def step():
        return sorted([2, 1])
    stats, text = said(step)
    assert "{built-in method builtins.sorted}" in text


def test_outside_another_decorator():
    def dask_profiler(report_name):
        def decorate(function):
            @functools.wraps(function)
            def wrapper(*args, **kwargs):
                with open(report_name, "w") as file:
                    file.write("report")
                return function(*args, **kwargs)
            return wrapper
        return decorate

    @single_thread_profiler(report_name="stats_report.dump")
    @dask_profiler(report_name="dask_report.html")
    def step():
        return inner(7)
    stats, _ = said(step)
    assert stats.value == 7 and names(stats)["inner"] == 1
    assert sorted(os.listdir(".")) == ["dask_report.html", "stats_report.dump"]


def test_all_threads():
    @single_thread_profiler()
    def step():
        with concurrent.futures.ThreadPoolExecutor(3) as pool:
            return list(pool.map(inner, range(30)))
    stats, _ = said(step)
    assert stats.value == list(range(30)) and names(stats)["inner"] == 30


def test_every_call_is_a_new_profile():
    @single_thread_profiler()
    def step(n):
        return [inner(at) for at in range(n)]
    assert names(said(step, 2)[0])["inner"] == 2
    assert names(said(step, 3)[0])["inner"] == 3


def test_exception_passes_and_the_report_is_kept():
    @single_thread_profiler(report_name="report")
    def step():
        inner(1)
        raise KeyError("mine")
    try:
        said(step)
    except KeyError as error:
        assert error.args == ("mine",)
    else:
        raise AssertionError("no error")
    assert any(key[2] == "inner" for key in pstats.Stats("report").stats)


def test_coroutines():
    @single_thread_profiler()
    async def step():
        await asyncio.sleep(0)
        return inner(3)
    stats, _ = said(lambda: asyncio.run(step()))
    assert stats.value == 3 and names(stats)["inner"] == 1
