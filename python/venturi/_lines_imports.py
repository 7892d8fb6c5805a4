"""What `venturi run -l` does when modules are imported: those that -p names are profiled, and `profile` of line_profiler
becomes ours, whether that package is installed or not. Never raises into the program."""
import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import CodeType, ModuleType
    from typing import Any, Dict, Iterator, List, Optional, Set, Tuple

_DECORATORS = ("line_profiler", "line_profiler.explicit_profiler")  # where line_profiler has its own
_WATCHED = _DECORATORS + ("greenlet",)


class _Target:
    """One thing that -p names: a module or package, something in it, or a file or folder."""

    def __init__(self, text: str) -> None:
        self.name = text
        self.path = os.path.realpath(text) if os.sep in text or text.endswith(".py") else ""
        self.is_met = False  # something has that name

    def may_be_in(self, module: str, file: str) -> bool:
        """Whether something of a module is meant."""
        if self.path:
            real = os.path.realpath(file) if file else ""
            return real == self.path or real.startswith(self.path + os.sep)
        return (self.name == module or module.startswith(self.name + ".") or self.name.startswith(module + "."))

    def part_in(self, module: str) -> str:
        """What of a module is meant: "" for all of it."""
        return self.name[len(module) + 1:] if not self.path and self.name.startswith(module + ".") else ""


def _is_within(qualname: str, part: str) -> bool:
    return not part or qualname == part or qualname.startswith(part + ".")


class _Finder:
    """In front of all others: lets them find a module, and looks at it once it has been loaded."""

    def __init__(self, profile: "Any", targets: "List[_Target]", rewrite: "Any") -> None:
        self._profile = profile
        self._targets = targets
        self._rewrite = rewrite  # a module; None: not needed
        self._is_asking = False
        self._rewritten: "Set[str]" = set()  # modules whose functions are given to profile when they are made

    def find_spec(self, name: str, path: "Any" = None, target: "Any" = None) -> "Any":
        if self._is_asking:
            return None
        self._is_asking = True
        try:
            spec = self._ask_others(name, path, target)
            if spec is not None and self._is_wanted(name, spec) and not isinstance(spec.loader, type):
                self._wrap(spec.loader)
            return spec
        finally:
            self._is_asking = False

    def _ask_others(self, name: str, path: "Any", target: "Any") -> "Any":
        for finder in list(sys.meta_path):
            find = getattr(finder, "find_spec", None)
            if finder is not self and find is not None:
                spec = find(name, path, target)
                if spec is not None:
                    return spec
        return None

    def _is_wanted(self, name: str, spec: "Any") -> bool:
        file = spec.origin if getattr(spec, "has_location", False) else ""
        return name in _WATCHED or any(target.may_be_in(name, file or "") for target in self._targets)

    def _wrap(self, loader: "Any") -> None:
        execute = getattr(loader, "exec_module", None)
        if execute is None:
            return

        def exec_module(module: "ModuleType") -> None:
            code = self._rewritten_code(loader, module.__name__)
            if code is not None:
                exec(code, module.__dict__)
            else:
                execute(module)
            self.look_at(module)
        try:
            loader.exec_module = exec_module
        except AttributeError:
            pass  # a loader that takes no attributes: the module is not profiled

    def _rewritten_code(self, loader: "Any", name: str) -> "Optional[CodeType]":
        """The code of a module with our decorator in it; None if it is loaded as ever."""
        file = getattr(loader, "path", None) or ""
        parts = [target.part_in(name) for target in self._targets if target.may_be_in(name, file)]
        if self._rewrite is None or not parts or type(loader).__name__ != "SourceFileLoader":
            return None
        try:
            loader.get_code(name)  # for what the program sees of it: warnings, a cached file
            code = self._rewrite.decorated(loader.get_data(file), file, lambda qualname: _is_one_of(qualname, parts))
        except Exception:
            code = None  # it says so by itself when it is loaded as ever
        if code is not None:
            self._rewritten.add(name)
            self._add_told(code, parts)
        return code  # type: ignore[no-any-return]

    def look_at(self, module: "ModuleType") -> None:
        """A module has been loaded."""
        try:
            name = module.__name__
            if name in _DECORATORS:
                setattr(module, "profile", self._profile)
            elif name == "greenlet":
                self._profile.load().lines_greenlets()
            for target in self._targets:
                if target.may_be_in(name, getattr(module, "__file__", None) or ""):
                    self._add(module, target)
        except Exception as error:
            sys.stderr.write("venturi: -p %s: %s\n" % (module, " ".join(str(error).split())))

    def _add(self, module: "ModuleType", target: _Target) -> None:
        part = target.part_in(module.__name__)
        given: "Any" = module
        for name in part.split(".") if part else ():
            if name == "<locals>":
                self._add_inner(_unwrapped(given), part, target)
                return
            if not hasattr(given, name):
                return  # a submodule, perhaps, that comes later
            given = vars(given)[name] if name in getattr(given, "__dict__", {}) else getattr(given, name)
        target.is_met = True
        if given is module or not isinstance(given, type(sys)):
            self._profile.add_within(_unwrapped(given) if part else given, module.__name__ not in self._rewritten)

    def _add_inner(self, function: "Any", part: str, target: _Target) -> None:
        for code, qualname in codes_in(function.__code__, function.__qualname__ + ".<locals>."):
            if _is_within(qualname, part):
                target.is_met = True
                if function.__module__ not in self._rewritten:
                    self._profile.add_new(code, qualname)

    # The main program has no loader that we see; its code is met when it begins.

    def main(self, code: "CodeType", names: "Dict[str, Any]") -> "Any":
        """False if this was not it: a process that multiprocessing has spawned begins with a line of its own. The code
        that runs in its place, if there is one; else True."""
        if names.get("__name__") == "__main__" and "--multiprocessing-fork" in sys.argv:
            return False
        spec = names.get("__spec__")
        file = names.get("__file__") or code.co_filename
        stem = os.path.splitext(os.path.basename(file))[0]
        parts = []
        met: "List[Tuple[CodeType, str]]" = []
        for target in self._targets:
            homes = [home for home in (getattr(spec, "name", None), "__main__", stem)
                     if home and target.may_be_in(home, file)]
            part = target.part_in(homes[0]) if homes else target.name
            target.is_met |= bool(homes) and not part
            found = [(inner, qualname) for inner, qualname in codes_in(code, "")
                     if (homes or not target.path) and _is_within(qualname, part)]
            if found:
                target.is_met = True
                parts.append(part)
                met += found
        made = None
        if met and self._rewrite is not None:
            text = self._profile.text_of(code, names)
            made = self._rewrite.decorated(text, code.co_filename, lambda name: _is_one_of(name, parts), code)
        if made is not None:
            self._add_told(made, parts)
            return made
        for inner, qualname in met:
            self._profile.add_new(inner, qualname)
        return True

    def _add_told(self, code: "CodeType", parts: "List[str]") -> None:
        """Before it runs: looking at a function when it is made would take the time of the line that makes it."""
        for inner, qualname in codes_in(code, ""):
            if _is_one_of(qualname, parts):
                self._profile.add_new(inner, qualname, is_told=True)


def _is_one_of(qualname: str, parts: "List[str]") -> bool:
    return any(_is_within(qualname, part) for part in parts)


def _unwrapped(given: "Any") -> "Any":
    """The function below other people's wrappers: the name stands for what the module defines."""
    for _ in range(100):
        inner = getattr(given, "__wrapped__", None)
        if inner is None:
            break
        given = inner
    return given


def codes_in(code: "CodeType", prefix: str) -> "Iterator[Tuple[CodeType, str]]":
    """Functions in a code object and in those, by their qualified names. Classes are looked through."""
    for constant in code.co_consts:
        if not isinstance(constant, type(code)):
            continue
        qualname = prefix + constant.co_name
        is_function = bool(constant.co_flags & 2)  # CO_NEWLOCALS: not the body of a class
        if is_function and not constant.co_name.startswith("<"):
            yield constant, qualname
        if not constant.co_name.startswith("<"):
            yield from codes_in(constant, qualname + (".<locals>." if is_function else "."))


class _Substitute:
    """Behind all others: a small line_profiler, where none is installed."""

    def __init__(self, profile: "Any") -> None:
        self._profile = profile

    def find_spec(self, name: str, path: "Any" = None, target: "Any" = None) -> "Any":
        if name != "line_profiler":
            return None
        from importlib.machinery import ModuleSpec

        return ModuleSpec(name, self, origin="venturi")  # type: ignore[arg-type]

    def create_module(self, spec: "Any") -> None:
        return None

    def exec_module(self, module: "ModuleType") -> None:
        module.__doc__ = "Stands in for line_profiler, which is not installed: profile records for Venturi."
        setattr(module, "profile", self._profile)
        setattr(module, "LineProfiler", lambda *functions: _several(self._profile, functions))
        setattr(module, "__version__", "0")


def _several(profile: "Any", functions: "Tuple[Any, ...]") -> "Any":
    for function in functions:
        profile(function)
    return profile


def _tell_unmet(targets: "List[_Target]") -> None:
    """In the program that the tool has started, not in those that it starts itself."""
    if os.environ.get("VENTURI_LINES_TOOL", "") != str(os.getppid()):
        return
    import atexit

    owner = os.getpid()

    def tell() -> None:
        for target in targets:
            if not target.is_met and os.getpid() == owner:
                sys.stderr.write("venturi: -p %s: the program has no module, class or function of that name, or did not "
                                 "import it\n" % target.name)
    atexit.register(tell)


def begin(profile: "Any", names: "List[str]", rewrite: "Any") -> None:
    targets = [_Target(name) for name in names]
    finder = _Finder(profile, targets, rewrite)
    sys.meta_path.insert(0, finder)
    sys.meta_path.append(_Substitute(profile))
    if targets:
        _tell_unmet(targets)
        for module in list(sys.modules.values()):
            if isinstance(module, type(sys)) and module.__name__ != "__main__":
                finder.look_at(module)
        profile.load().lines_watch(finder.main)
