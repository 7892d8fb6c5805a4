"""venturi.tracing.single_thread_profiler, as its users know it."""
import asyncio
import concurrent.futures
import contextlib
import functools
import io
import os
import pathlib
import pstats
import threading

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


def test_says_that_times_are_sums_of_threads():
    @single_thread_profiler()
    def step(workers):
        with concurrent.futures.ThreadPoolExecutor(workers) as pool:
            barrier = threading.Barrier(workers)
            return [pool.submit(lambda: inner(barrier.wait(10))) for _ in range(workers)]
    assert "in 3 threads: times are their sums" in said(step, 2)[1]
    alone = single_thread_profiler()(functools.partial(inner, 1))
    assert "threads" not in said(alone)[1].split("Ordered by")[0]


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


def test_without_parentheses():
    @single_thread_profiler
    def step(n):
        return inner(n)
    stats, text = said(step, 4)
    assert stats.value == 4 and "(inner)" in text


def test_mistakes_are_told_when_decorating():
    for arguments, error, part in ((dict(sort_by="cumulativ_typo"), ValueError, "cumulative"),
                                   (dict(sort_by=None), ValueError, "cumulative"),
                                   (dict(report_name=5), TypeError, "int")):
        try:
            single_thread_profiler(**arguments)
        except error as said_so:
            assert part in str(said_so), said_so
        else:
            raise AssertionError(arguments)
    for key in ("ncalls", "cumulative", "cumtime", "tottime", "time", "name", "nfl", "calls", pstats.SortKey.TIME, -1):
        single_thread_profiler(sort_by=key)
    single_thread_profiler(sort_by="typo", enable=False)


def test_a_report_that_cannot_be_written():
    """A warning; the result of the work is there."""
    import warnings

    open("file", "w").close()

    @single_thread_profiler(report_name="file/report")
    def step():
        return inner(42)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        stats, text = said(step)
    assert stats.value == 42 and "(inner)" in text
    assert len(caught) == 1 and "file/report: no report was written" in str(caught[0].message), caught
    assert caught[0].filename == __file__


def test_generators():
    """They go on giving their values; the table is that of their whole iteration, and what they return at last."""
    @single_thread_profiler(report_name="report")
    def steps(count):
        for at in range(count):
            inner((yield at))
        return "end"
    iteration = steps(2)
    assert next(iteration) == 0 and iteration.send("x") == 1 and not os.path.exists("report")
    try:
        said(iteration.send, "y")
    except StopIteration as end:
        assert end.value.value == "end" and names(end.value)["inner"] == 2 and names(end.value)["steps"] == 3
    assert os.path.exists("report")

    @single_thread_profiler(report_name="other")
    async def more(count):
        for at in range(count):
            yield inner(at)

    async def collect():
        return [value async for value in more(3)]
    assert said(asyncio.run, collect())[0] == [0, 1, 2]
    assert {key[2]: row[1] for key, row in pstats.Stats("other").stats.items()}["inner"] == 3
