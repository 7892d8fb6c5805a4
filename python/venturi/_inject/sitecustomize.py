"""Switches recording on in a Python that `venturi run` started, or that such a program started.

Its folder stands in front of PYTHONPATH, so the interpreter runs this file in place of the program's
own sitecustomize. It takes its folder out of sys.path, runs the sitecustomize that the program would
have had, then loads the extension. A program that has no `venturi` of its own finds ours, behind all else.
It must run on any Python, never raise, and leave no module behind but `venturi._venturi`, and with lines
`venturi.lines` and what that needs.
"""
import os
import sys

_NAME = "venturi._venturi"


def _leave_path(folder):
    """sys.path as it would be without us."""
    sys.path[:] = [entry for entry in sys.path if entry != folder]
    getattr(sys, "path_importer_cache", {}).pop(folder, None)


def _find(package):
    """The file of the extension for this interpreter, or None."""
    import _imp

    for suffix in _imp.extension_suffixes():
        path = os.path.join(package, "_venturi" + suffix)
        if os.path.exists(path):
            return path
    return None


def _load(path):
    """The extension, without the package around it: `import venturi` must find what it would find anyway,
    and nothing else may be imported on its account."""
    import _frozen_importlib as bootstrap
    import _frozen_importlib_external as external

    loader = external.ExtensionFileLoader(_NAME, path)
    return bootstrap._load(external.spec_from_file_location(_NAME, path, loader=loader))


class _Package(object):
    """Stands behind all other finders: `import venturi` where it is not installed."""

    def __init__(self, folder):
        self._folder = folder

    def find_spec(self, name, path=None, target=None):
        if name != "venturi":
            return None
        import _frozen_importlib_external as external

        return external.spec_from_file_location(name, os.path.join(self._folder, "__init__.py"),
                                                submodule_search_locations=[self._folder])


def _load_source(package, name):
    """A module of the package, in the same way."""
    import _frozen_importlib as bootstrap
    import _frozen_importlib_external as external

    path = os.path.join(package, name + ".py")
    loader = external.SourceFileLoader("venturi." + name, path)
    return bootstrap._load(external.spec_from_file_location("venturi." + name, path, loader=loader))


def _globs(name):
    return tuple(glob for glob in os.environ.get(name, "").split(":") if glob)


def _record(package):
    wanted = os.environ.get("VENTURI_PYTHON", "").split(",")
    is_wanted = {"calls", "lines"} & set(wanted)
    if not os.environ.get("VENTURI_SESSION") or _NAME in sys.modules:
        return None
    if sys.version_info < (3, 9):
        return "it is older than 3.9" if is_wanted else None
    path = _find(package)
    if path is None:
        return "Venturi was not built for it" if is_wanted else None
    sys.meta_path.append(_Package(package))
    if not is_wanted:
        return None
    extension = _load(path)
    if "calls" in wanted:
        extension.start(builtins="builtins" in wanted, only_mine="only-mine" in wanted,
                        include=_globs("VENTURI_INCLUDE"), exclude=_globs("VENTURI_EXCLUDE"))
    if "lines" in wanted:
        _load_source(package, "lines").begin_under_tool(os.environ.get("VENTURI_LINES_OF", ""))
    return None


def _say(why):
    what = "lines" if _wants_lines() else "functions"
    try:
        sys.stderr.write("venturi: %s of this Python %d.%d are not recorded: %s\n"
                         % (what, sys.version_info[0], sys.version_info[1], " ".join(str(why).split())))
        sys.stderr.flush()
    except Exception:
        pass  # closed or not there: the program comes first


def _wants_lines():
    return "lines" in os.environ.get("VENTURI_PYTHON", "").split(",")


def _stand_in():
    """A program that takes `profile` from builtins runs where nothing is recorded, too."""
    try:
        import builtins
    except ImportError:  # Python 2
        import __builtin__ as builtins
    if not hasattr(builtins, "profile"):
        builtins.profile = lambda given: given


def _begin(folder):
    try:
        why = _record(os.path.dirname(folder))
    except Exception as error:
        why = "%s: %s" % (type(error).__name__, error)
        if isinstance(error, ImportError) and "interpreter" in why:
            why = None  # a second interpreter in a process that is recorded already
    if why:
        _say(why)
    if _wants_lines():
        _stand_in()


_folder = os.path.dirname(os.path.abspath(__file__))
_leave_path(_folder)
_self = sys.modules.pop("sitecustomize")  # kept: Python 2 clears a module that nobody refers to
try:
    import sitecustomize  # noqa: F401  (the program's own; if it has none, site expects the ImportError)
finally:
    _begin(_folder)
