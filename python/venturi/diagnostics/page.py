"""Runs of task graphs as a page for a browser: what visualize() writes and shows."""
import html
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
from typing import Any, Dict, List, Optional, Sequence, Union

from .. import _venturi
from ..__main__ import find_tool
from ._runs import CachedRun, ClusterRun, HookedRun
from ._watching import Watching
from .profile import ResourceProfiler

VIEW = "#tasks"  # of the page, where it opens
HEIGHT = 720  # of a page inside a notebook


def visualize(profilers: Any, filename: Union[str, "os.PathLike[str]"] = "profile.html", show: bool = True,
              save: Optional[bool] = None, mode: Optional[str] = None, **options: Any) -> Optional[str]:
    """Writes what one or several profilers saw as one page, and shows it in the browser, or in a notebook where it is.

    The page is one file that needs no network: `mode` and what else bokeh's figures took (width, height, palette, label_size, …) are accepted
    and have no effect. save=None saves it unless in a notebook. Missing folders of `filename` are made. Returns the path, None if
    it was not saved; on a terminal it says which file it is. (`file_path` is an older name of `filename`.)
    """
    shell = notebook()
    path = os.path.abspath(os.fspath(options.get("file_path", filename)))
    if save is None:
        save = shell is None
    if not isinstance(profilers, (list, tuple)):
        profilers = [profilers]
    runs, readings = gather(profilers)
    with tempfile.TemporaryDirectory(prefix="venturi-") as folder:
        made = path if save else os.path.join(folder, "profile.html")
        write_page(made, runs, readings)
        if show and shell is not None:
            show_inline(made)
        elif show:
            kept = made if save else keep_for_browser(made)
            say("%s: opening it" % kept)
            show_in_browser(kept)
        elif save:
            say("%s: open it in a browser" % made)
    return path if save else None


def say(text: str) -> None:
    """As the tool does, on standard error; who has none, or no terminal there, sees nothing."""
    if sys.stderr is not None and sys.stderr.isatty():
        print("venturi: " + text, file=sys.stderr)


# What is known.

def gather(profilers: Sequence[Any]) -> Any:
    """Runs for tasks_write(), and readings of resources."""
    runs: List[Any] = []
    readings: List[Any] = []
    for profiler in profilers:
        if not isinstance(profiler, Watching):
            raise TypeError("visualize() takes profilers of venturi.diagnostics, not %r" % (profiler,))
        runs += (run for run in profiler._runs if all(run is not other for other in runs))
        if isinstance(profiler, ResourceProfiler):
            readings += profiler.results
    return merge(runs), sorted(readings)


def merge(runs: List[Any]) -> List[Dict[str, Any]]:
    """One dict for each run: a profiler of the cache and another may have seen the same one."""
    plain = [run for run in runs if not isinstance(run, CachedRun)]
    told = [as_dict(run) for run in plain if not isinstance(run, ClusterRun)]
    for run in plain:
        if isinstance(run, ClusterRun) and not is_seen_by_another(run, plain):
            place = len(told)
            told += (dict(one, parent=one["parent"] + place) if "parent" in one else one for one in run.recording._runs(""))
    for run in runs:
        if isinstance(run, CachedRun):
            extra = as_dict(run)
            twins = [other for other in told if is_same(other, extra)]
            for twin in twins:
                twin["tasks"] = with_cache(twin["tasks"], extra["tasks"])
            if not twins:
                told.append(extra)
    return told


def is_seen_by_another(run: Any, runs: List[Any]) -> bool:
    """Whether another profiler recorded that cluster for longer."""
    place = runs.index(run)
    return any(isinstance(other, ClusterRun) and other.is_of(run) and (other.start_time, i) < (run.start_time, place)
               for i, other in enumerate(runs) if other is not run)


def is_same(run: Dict[str, Any], other: Dict[str, Any]) -> bool:
    """Whether both are the same computation: at the same time, of the same keys."""
    if not run["tasks"] or not other["tasks"] or run["start_time"] > other["end_time"] or other["start_time"] > run["end_time"]:
        return False
    return other["tasks"][0][0] in {task[0] for task in run["tasks"]}


def with_cache(tasks: List[Any], cached: List[Any]) -> List[Any]:
    """Bytes and when they were freed, where only the other profiler knows."""
    known = {task[0]: task for task in cached}
    return [task[:10] + (known[task[0]][10] if task[10] is None else task[10], known[task[0]][11] if task[11] is None else task[11])
            + task[12:] if task[0] in known else task for task in tasks]


def as_dict(run: Any) -> Dict[str, Any]:
    """As tasks_write() takes it."""
    tasks = run.tasks()
    told: Dict[str, Any] = {"scheduler": run.scheduler, "start_time": run.start_time, "tasks": tasks,
                            "end_time": run.end_time or max([run.start_time, *(task[3] for task in tasks)]),
                            "error": "a task failed" if run.failed else ""}
    if isinstance(run, HookedRun):
        told["tasks"] = [task[:4] + (0,) + task[5:] if task[4] is None else task for task in tasks]
    elif run.scheduler == "processes":
        told["workers"] = {pid: {"label": "process %s" % pid, "pid": pid} for pid in {task[4] for task in tasks}}
    return told


# The page.

def write_page(path: str, runs: List[Dict[str, Any]], readings: Sequence[Any] = ()) -> None:
    """Makes a page of runs as tasks_write() takes them, and the folders that it is in."""
    tool = find_tool()
    if not tool:
        raise RuntimeError("the tool venturi is not where this package expects it: no page can be written")
    os.makedirs(os.path.dirname(os.path.abspath(path)), exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="venturi-") as folder:
        name = os.path.basename(path)  # of the recording too: the page says where it comes from, and only the page stays
        _venturi.tasks_write(os.path.join(folder, name), runs, readings, " ".join(sys.argv), os.path.splitext(name)[0])
        done = subprocess.run([tool, "report", "-o", os.path.abspath(path), "--force", "--", name], stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, cwd=folder)
        if done.returncode:
            raise OSError("%s: no page was written: %s" % (path, done.stderr.strip() or "exit code %d" % done.returncode))


def keep_for_browser(path: str) -> str:
    """A copy that stays: nobody knows when the browser has read it."""
    folder = tempfile.mkdtemp(prefix="venturi-")
    return shutil.copy(path, folder)


def show_in_browser(path: str) -> None:
    import webbrowser

    webbrowser.open(pathlib.Path(path).resolve().as_uri() + VIEW)


def ipython() -> Any:
    """The interactive shell of IPython that this runs in, or None."""
    module = sys.modules.get("IPython")
    return module.get_ipython() if module is not None and hasattr(module, "get_ipython") else None


def notebook() -> Any:
    """The same if it is that of a kernel: what it shows appears where the code stands."""
    shell = ipython()
    return shell if shell is not None and hasattr(shell, "kernel") else None


def show_in_ipython(path: str) -> None:
    """In a notebook where the code stands, in a terminal of IPython in the browser, else not at all."""
    if notebook() is not None:
        show_inline(path)
    elif ipython() is not None:
        show_in_browser(path)


def show_inline(path: str) -> None:
    """The whole page, in a frame of its own: its styles and scripts stay there."""
    from IPython.display import HTML, display  # type: ignore[import-not-found, unused-ignore]

    with open(path, encoding="utf-8") as file:
        page = file.read()
    start = "<script>location.hash = \"%s\"</script>" % VIEW
    page = page.replace("<head>", "<head>" + start, 1)
    display(HTML('<iframe srcdoc="%s" style="width: 100%%; height: %dpx; border: 0"></iframe>' % (html.escape(page), HEIGHT)))
