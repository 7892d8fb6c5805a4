"""profile: how often the lines of a function run, and how long they take.

    from venturi import profile

    @profile
    def step(message):
        ...

`venturi run -l script.py` records them; so does LINE_PROFILE=1 or VENTURI_LINES=FILE in the environment. Without
any of these the decorator does nothing. It returns what it is given in every case.

Loaded into programs that did not ask for it: it imports nothing beyond what an interpreter has loaded
anyway, until a function is profiled.
"""
import os
import sys
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import CodeType, FunctionType, ModuleType
    from typing import Any, Callable, Dict, IO, Iterator, List, Optional, Set, TypeVar

    from . import _statements

    T = TypeVar("T")

_HERE = os.path.dirname(os.path.abspath(__file__))
_BEGAN = time.time()
_OFF = ("", "0", "off", "false", "no")


def _sibling(name: str) -> "Any":
    """A module of this package, without the package: `import venturi` may find something else in the program."""
    full = "venturi." + name
    if full in sys.modules:
        return sys.modules[full]
    if "venturi" in sys.modules and getattr(sys.modules["venturi"], "__path__", None):
        from importlib import import_module
        return import_module(full)
    import _frozen_importlib as bootstrap
    import _frozen_importlib_external as external

    path = os.path.join(_HERE, name + ".py")
    loader = external.SourceFileLoader(full, path)
    return getattr(bootstrap, "_load")(external.spec_from_file_location(full, path, loader=loader))


_FUNCTION = type(_sibling)
_CODE = type(_sibling.__code__)
_MODULE = type(sys)
_NOTHING = object()
_WRAPPERS = ("staticmethod", "classmethod", "property", "partial", "partialmethod", "cached_property",
             "_lru_cache_wrapper")


def _text_of_option_c() -> "List[str]":
    """The lines of `python -c CODE`, whose file is called <string>."""
    with open("/proc/self/cmdline", "rb") as file:
        words = os.fsdecode(file.read()).split("\0")
    if getattr(sys, "argv", [""])[:1] != ["-c"] or "-c" not in words[:-1]:
        return []
    return words[words.index("-c") + 1].splitlines(True)


class _Source:
    """The text of a file: asked for once, handed over to the recording once."""

    def __init__(self, file: str, names: "Dict[str, Any]") -> None:
        import linecache

        self.file = file
        self.text: "Optional[_statements.Text]" = None
        self.is_given = False
        self.is_newer = False  # than the program that runs
        self._lines: "List[str]" = []
        try:
            linecache.checkcache(file)
            self._lines = linecache.getlines(file, names) or (_text_of_option_c() if file == "<string>" else [])
            if self._lines:
                self.text = _sibling("_statements").Text("".join(self._lines))
            self.is_newer = os.path.exists(file) and os.stat(file).st_mtime > _BEGAN
        except Exception:  # a loader, an encoding, a codec: there is no text then
            self.text = None

    def written(self) -> str:
        return "".join(self._lines)

    def give(self, extension: "Any") -> None:
        """Only what the code was found in: nothing is shown beside lines of something else."""
        if not self.is_given and self.text is not None:
            text = self.written().encode("utf-8", "backslashreplace")
            self.is_given = extension.session_give(self.file.encode("utf-8", "backslashreplace"), text)


class Profile:
    """What @profile is. One for the whole program: `venturi.profile`."""

    def __init__(self) -> None:
        self._is_on = False
        self._extension: "Any" = None  # loaded when it is first needed
        self._waiting: "List[Any]" = []  # weak references to what was decorated while it was off
        self._sources: "Dict[str, _Source]" = {}
        self._report: "Any" = None
        self._has_greenlets = False
        self._tells_unseen = False
        self._seen: "List[Any]" = []  # weak references to the first function of each code, and to that

    # -- decorating ------------------------------------------------------------------------------------

    def __call__(self, given: "T" = _NOTHING) -> "T":  # type: ignore[assignment]
        """Profiles a function, method, property, class or module, and returns it as it is. `@profile()` is `@profile`."""
        if given is _NOTHING:
            return self  # type: ignore[return-value]
        for function in _functions_in(given, set()):
            self.add_function(function)
        return given

    def add_function(self, function: "Any") -> None:
        """A function, or a code object if no function is known that has it."""
        if not isinstance(function, (_FUNCTION, _CODE)):
            self(function)
        elif not self._is_on:
            self._wait(function)
        elif not self._extension.lines_know(function):
            self.add_new(function)

    add_callable = add_function

    def add_class(self, given: type) -> None:
        """Every function that stands in a class."""
        self(given)

    def add_module(self, given: "ModuleType") -> None:
        """Every function and class that a module defines."""
        self(given)

    def add_within(self, given: "Any", has_codes: bool) -> None:
        """What a class, module or function defines, and the functions within those functions, unless they are given to us
        when they are made."""
        self(given)
        if not has_codes:
            return
        codes_in = _sibling("_lines_imports").codes_in
        for function in list(_functions_in(given, set())):
            for code, qualname in codes_in(function.__code__, function.__qualname__ + ".<locals>."):
                if not self._extension.lines_know(code):
                    self.add_new(code, qualname)

    def _wait(self, function: "Any") -> None:
        from _weakref import ref

        self._waiting.append(ref(function))

    def add_new(self, function: "Any", qualname: str = "", is_told: bool = False) -> None:
        """Adds a function or code object, whose functions we will be told of or not. Whatever may be wrong with it, the
        program goes on."""
        try:
            self._add(function, qualname, is_told)
        except Exception as error:
            name = qualname or getattr(function, "__qualname__", function)
            sys.stderr.write("venturi: lines of %s are not profiled: %s\n" % (name, " ".join(str(error).split())))

    def _add(self, function: "Any", qualname: str, is_told: bool) -> None:
        if not self._has_greenlets and "greenlet" in sys.modules:
            self._has_greenlets = True
            self._extension.lines_greenlets()
        is_code = isinstance(function, _CODE)
        code: "CodeType" = function if is_code else function.__code__
        source = self._source_of(code, {} if is_code else function.__globals__)
        statements = _sibling("_statements")
        found = None
        if source.text is not None and (not source.is_newer or source.text.holds(code)):
            found = statements.by_statements(code, source.text)
        if found is not None:
            source.give(self._extension)
        else:
            found = statements.by_lines(code)
        name = qualname or getattr(function, "__qualname__", getattr(function, "co_qualname", code.co_name))
        self._extension.lines_add(function, name, found.rows, found.marks, found.has_extra, found.last_line,
                                  is_told)
        if not is_code:
            from _weakref import ref
            self._seen.append((ref(function), ref(code)))

    def _source_of(self, code: "CodeType", names: "Dict[str, Any]") -> _Source:
        source = self._sources.get(code.co_filename)
        if source is None or source.text is None:
            source = self._sources[code.co_filename] = _Source(code.co_filename, names)
        elif source.text.block_of(code) is None and not code.co_name.startswith("<"):
            source = self._sources[code.co_filename] = _Source(code.co_filename, names)  # it may have changed
        return source

    def text_of(self, code: "CodeType", names: "Dict[str, Any]") -> str:
        """Of the file that a code object is of; "" if there is none."""
        return self._source_of(code, names).written()

    # -- on and off ------------------------------------------------------------------------------------

    def start(self, has_callees: bool = False) -> None:
        """Lines are profiled from now on, those of functions that were decorated before too."""
        if self._is_on:
            return
        self.load().lines_start(has_callees)
        self._is_on = True
        if not self._tells_unseen:
            import atexit
            atexit.register(self._tell_unseen, os.getpid())
            self._tells_unseen = True
        waiting, self._waiting = self._waiting, []
        for source in self._sources.values():
            source.give(self._extension)
        for reference in waiting:
            function = reference()
            if function is not None:
                self.add_function(function)

    def _tell_unseen(self, owner: int) -> None:
        """Before 3.12 a function is seen, not its code: others that were made of the same code are not. And line_profiler
        gives some functions another code."""
        if os.getpid() != owner or not self._is_on:
            return
        if sys.version_info < (3, 12):
            import gc
            for name, count in self._extension.lines_unseen(gc.get_objects()).items():
                sys.stderr.write("venturi: lines of %s: %d more of that name %s not decorated and not profiled\n" %
                                 (name, count, "was" if count == 1 else "were"))
        for reference, code in self._seen:
            function = reference()
            if function is not None and code() is not function.__code__:
                sys.stderr.write("venturi: lines of %s: it was given another code (by another profiler?) and not profiled "
                                 "from then on\n" % function.__qualname__)

    def load(self) -> "Any":
        """The extension. ImportError: there is none for this interpreter."""
        if self._extension is None:
            self._extension = _sibling("_venturi")
        return self._extension

    def enable(self, output_prefix: "Optional[str]" = None) -> None:
        """Starts a recording, unless one is going on, and reports when the program ends."""
        if self._report is None and not self.load().info()["recording"]:
            self._report = _sibling("_lines_report").Report(self._extension, output_prefix or "profile_output")
        self.start()

    def disable(self) -> None:
        """No lines are profiled from here on."""
        if self._is_on:
            self._extension.lines_stop()
        self._is_on = False

    def enable_by_count(self) -> None:
        self.enable()

    def disable_by_count(self) -> None:
        pass

    def __enter__(self) -> "Profile":
        self.enable()
        return self

    def __exit__(self, *reason: object) -> None:
        pass

    # -- what it shows ---------------------------------------------------------------------------------

    def print_stats(self, stream: "Optional[IO[str]]" = None, **options: "Any") -> None:
        """The table of what was recorded until now."""
        if self._report is not None:
            self._report.print_stats(stream or sys.stdout)

    def dump_stats(self, filename: str) -> None:
        """A file for `python -m line_profiler`."""
        if self._report is not None:
            self._report.dump_stats(filename)

    def show(self) -> None:
        """What is also done when the program ends: the table, and files of it."""
        if self._report is not None:
            self._report.show()

    def runcall(self, function: "Callable[..., Any]", *args: "Any", **keywords: "Any") -> "Any":
        """Profiles a function and calls it."""
        self.enable()
        self(function)
        return function(*args, **keywords)


# ---- what there is in an object --------------------------------------------------------------------------


def _parts_of(given: "Any") -> "List[Any]":
    """Objects that a descriptor or wrapper calls."""
    kind = type(given).__name__
    if kind == "property":
        return [given.fget, given.fset, given.fdel]
    for name in ("__func__", "func", "__wrapped__"):  # methods, partials and cached properties, caches
        inner = getattr(type(given), name, None) is not None or name in getattr(given, "__dict__", {})
        if inner:
            return [getattr(given, name)]
    return []


def _functions_in(given: "Any", seen: "Set[int]") -> "Iterator[Any]":
    """Functions of an object; of classes and modules those that they define themselves."""
    if given is None or id(given) in seen:
        return
    seen.add(id(given))
    if isinstance(given, _FUNCTION):
        yield given
    elif isinstance(given, (type, _MODULE)):
        home = given.__name__ if isinstance(given, _MODULE) else given.__module__
        for part in list(vars(given).values()):
            if isinstance(part, _FUNCTION) or type(part).__name__ in _WRAPPERS or (
                    isinstance(part, type) and part.__module__ == home):
                yield from (function for function in _functions_in(part, seen) if function.__module__ == home)
    else:
        for part in _parts_of(given):
            yield from _functions_in(part, seen)


profile = Profile()


# ---- how a program comes to it ---------------------------------------------------------------------------


def begin_under_tool(targets: str) -> None:
    """`venturi run -l`: `profile` is a builtin, line_profiler's is ours, and what -p names is profiled."""
    import builtins
    import linecache  # noqa: F401  (now, while no folder of the program can stand in front of the library's)

    _sibling("_statements")
    setattr(builtins, "profile", profile)
    names = [target for target in targets.split(":") if target]
    rewrite = _sibling("_lines_rewrite") if names else None
    if rewrite is not None:
        setattr(builtins, rewrite.NAME, profile)
    _sibling("_lines_imports").begin(profile, names, rewrite if rewrite is not None and rewrite.IS_NEEDED else None)


def _begin_by_environment() -> None:
    is_asked = os.environ.get("LINE_PROFILE", "").lower() not in _OFF or "--line-profile" in getattr(sys, "argv", ())
    file = os.environ.get("VENTURI_LINES", "")
    wanted = os.environ.get("VENTURI_PYTHON", "").split(",")
    try:
        if "lines" in wanted and os.environ.get("VENTURI_SESSION"):
            profile.start("calls" in wanted)
        elif file.lower() not in _OFF:
            extension = profile.load()
            if not extension.info()["recording"]:
                _sibling("_lines_report").record(extension, file)
            profile.start()
        elif is_asked:
            profile.enable()
    except (ImportError, OSError, RuntimeError) as error:
        sys.stderr.write("venturi: lines are not profiled: %s\n" % " ".join(str(error).split()))


_begin_by_environment()
