"""Functions that -p names, on interpreters that do not tell when a function is made of a code object (up to Python 3.11).

The text of their module is compiled with one decorator more, ours, below those that it has. Nothing else then needs to be
watched, so that all other code runs at full speed. Lines stay what they are. Never runs the program's code."""
import ast
import sys
import warnings
from types import CodeType
from typing import Callable, List, Optional, Union

IS_NEEDED = sys.version_info < (3, 12)
NAME = "__venturi_profile__"  # in builtins; code that is sent to a process without us goes on without it
_DECORATOR = "__import__('builtins').__dict__.get(%r, lambda function: function)" % NAME

_Function = Union[ast.FunctionDef, ast.AsyncFunctionDef]


class _Decorating(ast.NodeTransformer):
    def __init__(self, is_wanted: Callable[[str], bool]) -> None:
        self._is_wanted = is_wanted
        self._prefix = ""

    def _within(self, node: ast.AST, prefix: str) -> None:
        before, self._prefix = self._prefix, prefix
        self.generic_visit(node)
        self._prefix = before

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        self._within(node, self._prefix + node.name + ".")
        return node

    def visit_FunctionDef(self, node: _Function) -> ast.AST:
        qualname = self._prefix + node.name
        self._within(node, qualname + ".<locals>.")
        if self._is_wanted(qualname):
            place: ast.AST = node.decorator_list[-1] if node.decorator_list else node
            made = ast.parse(_DECORATOR, mode="eval").body
            for part in ast.walk(made):  # all on one line, which is one that an event comes with anyway
                if hasattr(part, "lineno"):
                    ast.copy_location(part, place)
                    part.end_lineno, part.end_col_offset = place.lineno, place.col_offset  # type: ignore[attr-defined]
            node.decorator_list.append(made)
        return node

    visit_AsyncFunctionDef = visit_FunctionDef


def decorated(text: Union[str, bytes], file: str, is_wanted: Callable[[str], bool],
              known: Optional[CodeType] = None) -> Optional[CodeType]:
    """A module compiled so that functions of these qualified names are given to `profile` when they are made. None if the
    text is not that of the code that is known. Warnings of the compiler the program has had already."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(text, file)
            if known is not None and not _is_equal(compile(tree, file, "exec", dont_inherit=True), known):
                return None
            return compile(_Decorating(is_wanted).visit(tree), file, "exec", dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _is_equal(code: CodeType, other: CodeType) -> bool:
    """The same instructions, in all functions."""
    waiting = [(code, other)]
    for one, two in waiting:
        inner = [_codes(one), _codes(two)]
        if (one.co_name, one.co_firstlineno, one.co_code) != (two.co_name, two.co_firstlineno, two.co_code) or (
                len(inner[0]) != len(inner[1])):
            return False
        waiting += zip(*inner)
    return True


def _codes(code: CodeType) -> List[CodeType]:
    return [constant for constant in code.co_consts if isinstance(constant, CodeType)]
