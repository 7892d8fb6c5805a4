"""visualize(): what is in the page, where it goes, and what it costs."""
import io
import os
import sys
import tempfile
import time
import webbrowser

import dask.local
import dask.threaded
from graphs import fails, page, tasks_of, tree

from venturi import _venturi
from venturi.diagnostics import CacheProfiler, Profiler, ResourceProfiler, visualize
from venturi.tracing import dask_profiler

opened = []
webbrowser.open = lambda url, *args, **options: opened.append(url) or True


def test_all_profilers_on_one_page():
    dsk, key, count = tree()
    with Profiler() as prof, ResourceProfiler(dt=0.01) as resources, CacheProfiler() as cache:
        dask.threaded.get({"x": (list, [1])}, "x")
        dask.local.get_sync(dsk, key)
    path = visualize([prof, resources, cache], filename="deep/er/p.html", show=False)
    assert path == os.path.abspath("deep/er/p.html") and os.path.getsize(path) < 1_500_000
    read = page(path)
    assert read.directory["title"] == "p"
    assert [run["scheduler"] for run in read.table("task_runs").dicts()] == ["dask", "dask"]
    rows = tasks_of(path)
    assert len(rows) == count + 1 == len(prof.results)
    assert [row["name"] for row in rows].count("leaf") == 16 and read.table("task_edges").rows == count - 1
    assert sum(row["kept"] not in (None, 0) for row in rows) >= count - 1
    assert read.table("resource_readings").rows or any("resource" in name for name in read.tables), list(read.tables)


def test_a_page_names_no_file_that_is_not_there():
    with Profiler() as prof:
        dask.local.get_sync({"a": (sum, [1])}, "a")
    for name in ("named.html", "-odd.html"):
        assert page(prof.visualize(filename=name, show=False)).recording["file"] == name


def test_one_profiler_of_each_kind():
    dsk, key, count = tree()
    with Profiler() as prof, ResourceProfiler() as resources, CacheProfiler(lambda value: 8) as cache:
        dask.local.get_sync(dsk, key)
    for profiler, rows in ((prof, count), (cache, count), (resources, 0)):
        path = profiler.visualize(filename="one.html", show=False)
        assert page(path).table("tasks").rows == rows
    assert {row["bytes"] for row in tasks_of(cache.visualize(filename="one.html", show=False))} == {9}  # 0 is for those that are not known


def test_opens_a_browser():
    with Profiler() as prof:
        dask.local.get_sync({"a": (sum, [1])}, "a")
    del opened[:]
    path = prof.visualize()
    assert path == os.path.abspath("profile.html") and opened == ["file://" + os.path.realpath(path) + "#tasks"]
    os.remove(path)
    assert prof.visualize(save=False) is None and not os.path.exists(path)
    assert len(opened) == 2 and os.path.exists(opened[1][7:].split("#")[0])
    prof.visualize(show=False)
    assert len(opened) == 2 and os.path.exists(path)


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_says_where_the_page_is():
    with Profiler() as prof:
        dask.local.get_sync({"a": (sum, [1])}, "a")
    before = sys.stderr
    try:
        for out, expected in ((Terminal(), "venturi: %s: opening it\n"), (io.StringIO(), ""), (None, "")):
            sys.stderr = out
            path = prof.visualize()
            assert out is None or out.getvalue() == (expected and expected % path)
        sys.stderr = out = Terminal()
        path = prof.visualize(show=False)
        assert out.getvalue() == "venturi: %s: open it in a browser\n" % path
        sys.stderr = out = Terminal()
        prof.visualize(save=False)
        assert out.getvalue() == "venturi: %s: opening it\n" % opened[-1][7:].split("#")[0]
    finally:
        sys.stderr = before


def test_title():
    with Profiler() as prof:
        dask.local.get_sync({"a": (sum, [1])}, "a")
    before = sys.argv
    sys.argv = ["program.py", "--some", "argument"]
    try:
        for name in ("python-run", "python", "other"):
            assert page(prof.visualize(filename=name + ".html", show=False)).directory["title"] == name
    finally:
        sys.argv = before


def test_what_bokeh_took():
    with Profiler() as prof:
        dask.local.get_sync({"a": (sum, [1])}, "a")
    path = visualize(prof, file_path="old.html", show=False, mode="cdn", palette="Viridis", label_size=60, width=800, height=300, plot_width=1)
    assert os.path.basename(path) == "old.html" and page(path).table("tasks").rows == 1


def test_odd_arguments_of_the_program():
    before = sys.argv
    sys.argv = ["a\udcff\0b", "'"]
    try:
        path = Profiler().visualize(show=False)
    finally:
        sys.argv = before
    assert os.path.exists(path)


def test_a_report_without_a_cluster():
    before = sys.modules.pop("distributed", None)
    sys.modules["distributed"] = None
    try:
        dask_profiler(display_report=False)(int)()
    except ImportError as error:
        assert "pip install distributed" in str(error)
    else:
        raise AssertionError("nothing was raised")
    finally:
        del sys.modules["distributed"]
        if before is not None:
            sys.modules["distributed"] = before


def test_replaces_whatever_is_there():
    with open("profile.html", "w") as file:
        file.write("an old report")
    with Profiler() as prof:
        dask.local.get_sync({"a": (sum, [1])}, "a")
    prof.visualize(show=False)
    assert page("profile.html").table("tasks").rows == 1


def test_nothing_to_show():
    assert page(Profiler().visualize(show=False)).table("tasks").rows == 0
    assert page(visualize([], show=False)).table("tasks").rows == 0
    for wrong in (5, [5], None):
        try:
            visualize(wrong, show=False)
        except TypeError as error:
            assert "profilers" in str(error)
        else:
            raise AssertionError(wrong)


def test_failure_is_on_the_page():
    with Profiler() as prof:
        try:
            dask.local.get_sync({"b": (fails,)}, "b")
        except KeyError:
            pass
    read = page(prof.visualize(show=False))
    assert [run["failed"] for run in read.table("task_runs").dicts()] == [1]
    assert read.table("task_runs")["error"][0] == "a task failed"


def test_many_tasks():
    now = time.time()
    many = 100_000
    tasks = [(("part-0123456789abcdef0123456789abcdef", i // 300, i % 300), None, now + i * 5e-6, now + i * 5e-6 + 4e-6 + i % 7 * 1e-7, i % 4, None,
              "done", 0, None, False, None, None, (i - 1,) if i % 300 else ()) for i in range(many)]
    prof = Profiler()
    prof._add_run(type("Run", (), {"scheduler": "threads", "start_time": now, "end_time": now + 1, "failed": False,
                                   "tasks": lambda self: tasks})())
    path = prof.visualize(show=False)
    assert page(path).table("tasks").rows == many == len(prof.results)
    assert os.path.getsize(path) <= 1_500_000, os.path.getsize(path)


ROW = ("a", None, 1.0, 2.0, 0, None, "done", 0, None, False, None, None, ())


def changed(**fields):
    row = list(ROW)
    for place, value in fields.items():
        row[int(place[1:])] = value
    return [{"tasks": [tuple(row)]}]


def test_wrong_rows():
    for runs in (5, [5], [{"tasks": 5}], [{"tasks": [5]}], [{"tasks": [ROW[:5]]}], changed(_2=float("nan")), changed(_2=-1.0), changed(_3="x"),
                 changed(_4=[]), changed(_6="well"), changed(_6=None), changed(_12=(1,)), changed(_12=(-1,)), changed(_12=5),
                 [{"tasks": [ROW], "actions": [("a", "transfer")]}], [{"tasks": [ROW], "actions": [("a", "dance", 1.0, 2.0, 0, None)]}],
                 [{"tasks": [], "start_time": "x"}]):
        try:
            _venturi.tasks_write("x.vt", runs)
        except (TypeError, ValueError):
            assert not os.path.exists("x.vt")
            continue
        raise AssertionError(runs)
    for readings in ([5], [(1, 2)], [("x", 1, 2)], [(1, "x", 2)]):
        try:
            _venturi.tasks_write("x.vt", [], readings)
        except (TypeError, ValueError):
            continue
        raise AssertionError(readings)


def test_odd_rows():
    for runs in (changed(_0="\ud800"), changed(_0=""), changed(_0=()), changed(_0=b"x-1"), changed(_0=None), changed(_10=-1), changed(_10=1 << 70),
                 changed(_7=1 << 40), changed(_4=None), changed(_4="w"), changed(_3=0.5), changed(_1=(len, 1)),
                 [{"tasks": [ROW], "workers": {0: 5}, "lost": -1}], [{"tasks": [ROW], "workers": {0: {"label": "", "pid": "x"}}, "parent": 9}]):
        _venturi.tasks_write("x.vt", runs)
    try:
        _venturi.tasks_write("none/x.vt", [])
    except (OSError, RuntimeError) as error:
        assert "none/x.vt" in str(error)
    else:
        raise AssertionError("written")


def test_what_is_written_may_vanish_meanwhile():
    """Reading one value of a run may run code that takes the others away."""
    class Vanishing:
        def __float__(self):
            run.clear()
            return 1.0

        def __str__(self):
            run.clear()
            return "text"

    path = os.path.join(tempfile.gettempdir(), "vanishing-%d.vt" % os.getpid())
    for name in ("scheduler", "error", "start_time", "end_time"):
        run = {"scheduler": "".join(["sy", "nc"]), "error": "".join(["er", "ror"]), "start_time": float("1.5"), "end_time": float("2.5"),
               "tasks": [], "workers": {}}
        run[name] = Vanishing()
        _venturi.tasks_write(path, [run])
        assert not run
    os.unlink(path)
