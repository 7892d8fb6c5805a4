"""Which statement each instruction of a function belongs to, and where executions of it begin.

An interpreter tells which line it has reached. That is not how often a statement ran: one over several lines
is reached several times, the end of a `with` reaches its beginning, versions differ in what they tell about
loops. Here the text says which lines make up a statement, and the flow of the bytecode which of its
instructions are entered from outside of it; of those that can only be reached through another one, only
headers of loops begin anew. Loaded only where lines are profiled; never runs the program's code.
"""
import ast
import dis
import sys
from array import array
from types import CodeType
from typing import Any, Dict, Iterable, Iterator, List, NamedTuple, Optional, Set, Tuple

# A mark, one for each code unit: (row + 1) << 2 and these; 0: the unit has no line.
START = 1  # a statement begins, if a line event comes here
EXTRA = 2  # a statement begins whenever this runs: no line event tells it

_VERSION = sys.version_info[:2]
_ENDS = {"RETURN_VALUE", "RETURN_CONST", "RAISE_VARARGS", "RERAISE", "JUMP_FORWARD", "JUMP_ABSOLUTE",
         "JUMP_BACKWARD", "JUMP_BACKWARD_NO_INTERRUPT", "JUMP_NO_INTERRUPT", "INTERPRETER_EXIT"}
_SILENT = {"RESUME", "END_FOR", "END_SEND", "RETURN_GENERATOR", "MAKE_CELL", "COPY_FREE_VARS", "GEN_START"}
_ROUNDS = {"FOR_ITER", "GET_ANEXT"}
_NEVER = {"WITH_EXCEPT_START", "END_ASYNC_FOR"}  # ends of statements, on lines of others before 3.10
_UNITS_MOST = 50000
_JUMPS = frozenset(dis.hasjrel) | frozenset(dis.hasjabs)
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_SCOPES = _FUNCTIONS + (ast.ClassDef, ast.Lambda)


class Map(NamedTuple):
    """What the hook needs of a code object."""
    rows: "array[int]"   # line, row of its statement; line, row; …
    marks: "array[int]"  # of each code unit
    has_extra: bool
    last_line: int


class Group:
    """Lines that count together: a statement, or several that share a line. `for` and `while` on one line with
    their body are `tight`."""

    def __init__(self, first: int, last: int) -> None:
        self.first = first
        self.last = last
        self.loop: Optional[ast.AST] = None
        self.is_tight = False


# ---- the text ------------------------------------------------------------------------------------------


def _end(*nodes: Optional[ast.AST]) -> int:
    return max((getattr(node, "end_lineno", 0) or 0 for node in nodes if node is not None), default=0)


def _first_line(node: ast.AST) -> int:
    """As co_firstlineno: decorators belong to what they decorate."""
    decorators: List[ast.expr] = getattr(node, "decorator_list", [])
    line: int = getattr(node, "lineno")
    return min([line] + [decorator.lineno for decorator in decorators])


def _header_end(node: ast.stmt) -> int:
    """The last line of what a statement has beside the statements in it."""
    if isinstance(node, _FUNCTIONS):
        arguments = node.args
        every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg]
        return max(node.lineno, _end(node.returns, *node.decorator_list, *every, *arguments.defaults,
                                     *arguments.kw_defaults))
    if isinstance(node, ast.ClassDef):
        return max(node.lineno, _end(*node.decorator_list, *node.bases, *node.keywords))
    if hasattr(node, "cases"):
        return max(node.lineno, _end(getattr(node, "subject")))
    if not _blocks(node):
        return max(node.lineno, _end(node))
    inside = {id(part) for block in _blocks(node) for part in block}
    parts = [part for part in ast.iter_child_nodes(node)
             if id(part) not in inside and not isinstance(part, ast.ExceptHandler) and hasattr(part, "lineno")]
    if isinstance(node, (ast.With, ast.AsyncWith)):
        parts = [part for item in node.items for part in (item.context_expr, item.optional_vars) if part is not None]
    return max(node.lineno, _end(*parts))


def _blocks(node: ast.AST) -> List[List[ast.stmt]]:
    """The statements within a statement, one list after the other."""
    blocks = [getattr(node, name, None) for name in ("body", "orelse", "finalbody")]
    return [block for block in blocks if isinstance(block, list) and block]


def _pieces(block: Iterable[ast.stmt]) -> Iterator[Tuple[int, int, Optional[ast.AST]]]:
    """First and last line of every header and simple statement; what `for` or `while` it belongs to."""
    for node in block:
        is_loop = isinstance(node, (ast.For, ast.AsyncFor, ast.While))
        yield _first_line(node), _header_end(node), node if is_loop else None
        if isinstance(node, _SCOPES):
            continue
        for handler in getattr(node, "handlers", []):
            yield handler.lineno, max(handler.lineno, _end(handler.type)), None
            yield from _pieces(handler.body)
        for case in getattr(node, "cases", []):
            yield case.pattern.lineno, max(_end(case.pattern), _end(case.guard)), None
            yield from _pieces(case.body)
        for inner in _blocks(node):
            yield from _pieces(inner)


def _groups(block: List[ast.stmt]) -> Dict[int, Group]:
    """Line -> its group. Pieces that share a line become one."""
    groups: Dict[int, Group] = {}
    last: Optional[Group] = None
    for first, end, loop in sorted(_pieces(block), key=lambda piece: (piece[0], piece[1])):
        if last is None or first > last.last:
            last = Group(first, end)
        elif last.loop is not None:
            last.is_tight = True
        last.loop = last.loop or loop
        last.last = max(last.last, end)
        for line in range(first, end + 1):
            groups[line] = last
    return groups


class Text:
    """The text of a file, parsed once. ValueError or SyntaxError if it cannot be."""

    def __init__(self, text: str) -> None:
        self._places: Dict[Tuple[int, str], List[ast.AST]] = {}
        self._codes: Optional[Set[Tuple[str, int, bytes]]] = None
        self._text = text
        self._tree = ast.parse(text)
        for node in ast.walk(self._tree):
            if isinstance(node, _FUNCTIONS + (ast.ClassDef,)):
                self._places.setdefault((_first_line(node), node.name), []).append(node)

    def holds(self, code: CodeType) -> bool:
        """Whether the text still makes the very same code: for files that were written since."""
        if self._codes is None:
            waiting = [compile(self._text, "<text>", "exec", dont_inherit=True)]
            self._codes = set()
            for made in waiting:
                self._codes.add((made.co_name, made.co_firstlineno, made.co_code))
                waiting += [constant for constant in made.co_consts if isinstance(constant, CodeType)]
        return (code.co_name, code.co_firstlineno, code.co_code) in self._codes

    def block_of(self, code: CodeType) -> Optional[Tuple[ast.AST, List[ast.stmt]]]:
        """The statements of a function, class or module; None if there is nothing like it in the text."""
        if code.co_name == "<module>":
            return self._tree, self._tree.body
        found = self._places.get((code.co_firstlineno, code.co_name), [])
        if len(found) != 1:
            return None
        return found[0], getattr(found[0], "body")


# ---- the bytecode --------------------------------------------------------------------------------------


def _lines(code: CodeType) -> Dict[int, int]:
    """Offset -> line, of every code unit that has one."""
    found: Dict[int, int] = {}
    if _VERSION >= (3, 10):
        for start, end, line in code.co_lines():
            if line:
                found.update((offset, line) for offset in range(start, end, 2))
        return found
    starts = list(dis.findlinestarts(code)) + [(len(code.co_code), 0)]
    for (start, line), (end, _) in zip(starts, starts[1:]):
        found.update((offset, line) for offset in range(start, end, 2))
    return found


class _Old(NamedTuple):
    """As much of an instruction as is needed here."""
    opname: str
    opcode: int
    argval: Optional[int]
    offset: int


def _old_instructions(code: CodeType) -> Iterator[_Old]:
    """What dis does in a time that grows with the square of the length, before 3.11."""
    unit = 1 if _VERSION < (3, 10) else 2
    for offset, opcode, argument in dis._unpack_opargs(code.co_code):  # type: ignore[attr-defined]
        value = argument
        if opcode in dis.hasjrel:
            value = offset + 2 + unit * argument
        elif opcode in dis.hasjabs:
            value = unit * argument
        yield _Old(dis.opname[opcode], opcode, value, offset)


class Flow:
    """Instructions of a code object and how they follow each other."""

    def __init__(self, code: CodeType) -> None:
        self.list: List[Any] = list(dis.get_instructions(code) if _VERSION >= (3, 11) else _old_instructions(code))
        self.at = {instruction.offset: index for index, instruction in enumerate(self.list)}
        self.after: List[List[int]] = [[] for _ in self.list]
        self.before: List[List[int]] = [[] for _ in self.list]
        self._leads: Dict[int, Set[int]] = {}  # to a handler: where what it watches over is entered
        for index, instruction in enumerate(self.list):
            if instruction.opname not in _ENDS and index + 1 < len(self.list):
                self._link(index, index + 1)
            if instruction.opcode in _JUMPS and instruction.argval in self.at:
                self._link(index, self.at[instruction.argval])
        if _VERSION >= (3, 11):
            self._link_handlers(code)

    def _link(self, source: int, target: int) -> None:
        self.after[source].append(target)
        self.before[target].append(source)

    def _link_handlers(self, code: CodeType) -> None:
        for entry in dis._parse_exception_table(code):  # type: ignore[attr-defined]
            watched = [self.at[offset] for offset in range(entry.start, entry.end, 2) if offset in self.at]
            if not watched or entry.target not in self.at:
                continue
            target = self.at[entry.target]
            inside = range(watched[0], watched[-1] + 1)
            self._leads.setdefault(target, set()).update(
                index for index in watched if not self.before[index] or
                any(source not in inside for source in self.before[index]))
            for index in watched:
                self._link(index, target)

    def _order(self) -> List[int]:
        """Instructions that can be reached, every one after some that lead to it (reverse postorder)."""
        order: List[int] = []
        seen = {0}
        stack = [(0, iter(self.after[0]))]
        while stack:
            index, following = stack[-1]
            target = next((target for target in following if target not in seen), None)
            if target is None:
                order.append(index)
                stack.pop()
            else:
                seen.add(target)
                stack.append((target, iter(self.after[target])))
        return order[::-1]

    def _sources(self, index: int) -> List[int]:
        """What leads there. Of the many instructions that a handler watches over those will do through which they are entered:
        what must have run before these must have run before all."""
        leads = self._leads.get(index)
        if leads is None:
            return self.before[index]
        return sorted(leads) + [source for source in self.before[index] if self.list[source].opcode in _JUMPS]

    def spans(self) -> Tuple[Dict[int, int], Dict[int, int]]:
        """Numbers such that one instruction must have run before another if its two enclose the other's first."""
        children: Dict[int, List[int]] = {}
        for index, above in self.dominators().items():
            if index:
                children.setdefault(above, []).append(index)
        begin: Dict[int, int] = {}
        end: Dict[int, int] = {}
        stack = [0]
        while stack:
            index = stack.pop()
            if index < 0:
                end[~index] = len(begin)
            else:
                begin[index] = len(begin)
                stack.append(~index)
                stack.extend(children.get(index, []))
        return begin, end

    def dominators(self) -> Dict[int, int]:
        """Of every instruction the last one that must have run before it; of the first one itself."""
        order = self._order()
        rank = {index: at for at, index in enumerate(order)}
        found = {0: 0}
        is_changed = True
        while is_changed:
            is_changed = False
            for index in order[1:]:
                known = [source for source in self._sources(index) if source in found]
                best = known[0]
                for source in known[1:]:
                    while source != best:
                        if rank[source] > rank[best]:
                            source = found[source]
                        else:
                            best = found[best]
                if found.get(index) != best:
                    found[index] = best
                    is_changed = True
        return found

    def is_conditional(self, index: int) -> bool:
        instruction = self.list[index]
        return instruction.opcode in _JUMPS and instruction.opname not in _ENDS and "SETUP" not in instruction.opname

    def is_backward(self, index: int) -> bool:
        """Jumps back, and not to wait for an awaitable."""
        instruction = self.list[index]
        return (instruction.opcode in _JUMPS and self.at.get(instruction.argval, index + 1) <= index
                and instruction.opname != "JUMP_BACKWARD_NO_INTERRUPT")


def _has_empty_body(loop: ast.AST) -> bool:
    return all(isinstance(part, (ast.Pass, ast.Continue)) or
               (isinstance(part, ast.Expr) and isinstance(part.value, ast.Constant)) for part in getattr(loop, "body"))


def _has_comprehension(loop: ast.AST) -> bool:
    return any(isinstance(node, (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)) for node in ast.walk(loop))


def _is_endless(loop: ast.AST) -> bool:
    return isinstance(loop, ast.While) and isinstance(loop.test, ast.Constant)


class _Marker:
    """Finds the instructions of one code object at which statements begin."""

    def __init__(self, code: CodeType, groups: Dict[int, Group]) -> None:
        self.flow = Flow(code)
        lines = _lines(code)
        self.lines = [lines.get(instruction.offset) for instruction in self.flow.list]
        self.group = [groups.get(line) if line else None for line in self.lines]
        self.spans: Optional[Tuple[Dict[int, int], Dict[int, int]]] = None
        self.starts: Set[int] = set()
        self.extras: Set[int] = set()
        members: Dict[Group, List[int]] = {}
        for index, group in enumerate(self.group):
            if group is not None and group.is_tight:
                members.setdefault(group, []).append(index)
        entries: Dict[Group, Set[int]] = {}
        for index, group in enumerate(self.group):
            if group is not None and self._is_entered(index, group):
                entries.setdefault(group, set()).add(index)
        for group, indexes in entries.items():
            for index in indexes:
                if self._begins(index, group, indexes):
                    self._start_at(index)
        for group, inside in members.items():
            self._mark_tight(group, inside)
        if _VERSION < (3, 10):
            self._mark_untold_handlers()

    def _is_entered(self, index: int, group: Group) -> bool:
        """From another statement, or as the first of all. What has no line of its own is looked through."""
        if index == 0:
            return True
        waiting = list(seen := set(self.flow.before[index]))
        while waiting:
            source = waiting.pop()
            if self.lines[source] is None:
                if source == 0:
                    return True
                more = set(self.flow.before[source]) - seen
                seen |= more
                waiting.extend(more)
            elif self.group[source] is not group:
                return True
        return False

    def _within(self, index: int, group: Group) -> Iterator[int]:
        """What follows an instruction without leaving its statement."""
        seen = {index}
        waiting = [index]
        while waiting:
            at = waiting.pop()
            yield at
            for after in self.flow.after[at]:
                if after not in seen and (self.group[after] is group or self.lines[after] is None):
                    seen.add(after)
                    waiting.append(after)

    def _begins(self, index: int, group: Group, entries: Set[int]) -> bool:
        if self.flow.list[index].opname in _NEVER or self._forgets_name(index):
            return False
        if len(entries) == 1 or not self._is_dominated(index, entries):
            return True
        return group.loop is not None and any(
            self.flow.list[at].opname in _ROUNDS or self.flow.is_conditional(at) or
            (_is_endless(group.loop) and self.flow.is_backward(at)) for at in self._within(index, group))

    def _is_dominated(self, index: int, by: Set[int]) -> bool:
        """Whether another one of these must have run before."""
        if self.spans is None:
            self.spans = self.flow.spans()
        begin, end = self.spans
        if index not in begin:
            return True  # it cannot run at all
        return any(other != index and other in begin and begin[other] < begin[index] < end[other] for other in by)

    def _forgets_name(self, index: int) -> bool:
        """What 3.9 does with the name of an exception when another one leaves the handler, on its last line."""
        names = [instruction.opname[:6] for instruction in self.flow.list[index:index + 4]]
        return _VERSION < (3, 10) and names == ["LOAD_C", "STORE_", "DELETE", "RERAIS"]

    def _start_at(self, index: int) -> None:
        """No event comes with some instructions; then it comes with the next."""
        self.starts.add(index)
        while self.flow.list[index].opname in _SILENT and index + 1 < len(self.group):
            index += 1
            if self.group[index] is not self.group[index - 1]:
                return
            self.starts.add(index)

    def _mark_untold_handlers(self) -> None:
        """3.9 tells no line when the first instruction of one, as a bare `raise` is, leads into the middle of another: the
        second copy of a `finally`."""
        every = self.flow.list
        firsts = {index for index, line in enumerate(self.lines) if not index or self.lines[index - 1] != line}
        if any(every[index].opname == "RAISE_VARARGS" and not every[index].argval for index in firsts):
            handlers = {self.flow.at.get(each.argval) for each in every if each.opname == "SETUP_FINALLY"}
            untold = (self.starts & handlers) - firsts
            self.starts, self.extras = self.starts - untold, self.extras | untold

    # A loop on one line: no line is reached anew when it comes round, or too often.

    def _mark_tight(self, group: Group, inside: List[int]) -> None:
        """There are several copies of it in a `finally`."""
        jumps = [index for index in inside if self.flow.is_backward(index)]
        rounds = [(self.flow.at[self.flow.list[index].argval], index) for index in jumps]
        rounds = [(first, last) for first, last in rounds if self.group[first] is group]
        for target in {first for first, last in rounds if self._is_own(group, first, last, rounds)}:
            if _VERSION >= (3, 10) and isinstance(group.loop, ast.While) and not _is_endless(group.loop):
                self._mark_copied_test(group, max(last for first, last in rounds if first == target), target)
            elif _VERSION >= (3, 12):
                self.extras.update(last for first, last in rounds if first == target)
            else:
                self.starts.add(target)

    def _is_own(self, group: Group, first: int, last: int, rounds: List[Tuple[int, int]]) -> bool:
        """Not a comprehension, which have no code of their own since 3.12: those in the body are within our own,
        those in the header reach nothing of the body."""
        if any(begin < first and end >= last for begin, end in rounds):
            return False
        assert group.loop is not None
        if _has_empty_body(group.loop):  # nothing of it to reach: comprehensions in the header come first
            return not _has_comprehension(group.loop) or last == max(end for _, end in rounds)
        body = getattr(group.loop, "body")[0]
        places = [getattr(self.flow.list[at], "positions", None) for at in range(first, last)]
        known = [(place.lineno, place.col_offset) for place in places if place and place.col_offset is not None]
        return not known or max(known) >= (body.lineno, body.col_offset)

    def _mark_copied_test(self, group: Group, source: int, target: int) -> None:
        """The test of a `while` stands before the body and, once more, at its end: as many instructions."""
        first = max((index for index in self.starts if self.group[index] is group and index <= target), default=target)
        last = source if self.flow.is_conditional(source) else source - 1
        self.extras.add(max(last - (target - first) + 1, target))


# ---- both together -------------------------------------------------------------------------------------


def _make(code: CodeType, groups: Dict[int, Group], flags: Dict[int, int], last_line: int) -> Map:
    lines = _lines(code)
    firsts = {line: groups[line].first if line in groups else line for line in set(lines.values())}
    every = sorted(set(firsts) | set(firsts.values()))
    row_of = {line: row for row, line in enumerate(every)}
    rows = array("I")
    for line in every:
        rows.extend((line, row_of[firsts.get(line, line)]))
    marks = array("I", bytes(4 * (len(code.co_code) // 2)))
    for offset, line in lines.items():
        marks[offset // 2] = (row_of[line] + 1) << 2 | flags.get(offset, 0)
    return Map(rows, marks, any(flag & EXTRA for flag in flags.values()), last_line)


def by_lines(code: CodeType) -> Map:
    """Without the text: every line is a statement, every event begins it."""
    lines = _lines(code)
    last = max(lines.values(), default=code.co_firstlineno)
    return _make(code, {}, {offset: START for offset in lines}, last)


def _as_one(code: CodeType) -> Tuple[Dict[int, Group], int]:
    """A lambda or comprehension is one statement."""
    lines = set(_lines(code).values()) or {code.co_firstlineno}
    group = Group(min(lines), max(lines))
    return dict.fromkeys(range(group.first, group.last + 1), group), group.last


def by_statements(code: CodeType, text: Text) -> Optional[Map]:
    """None if the text is not that of the code, or so long that looking at it would hold up the program."""
    if len(code.co_code) > 2 * _UNITS_MOST:
        return None
    if code.co_name != "<module>" and code.co_name.startswith("<"):
        groups, last_line = _as_one(code)
    else:
        found = text.block_of(code)
        if found is None:
            return None
        scope, block = found
        groups = _groups(block)
        last_line = max([_end(scope)] + list(groups))
        if any(line not in groups and line > _first_line(block[0]) for line in _lines(code).values()):
            return None
    marker = _Marker(code, groups)
    flags = {instruction.offset: START * (index in marker.starts) | EXTRA * (index in marker.extras)
             for index, instruction in enumerate(marker.flow.list)}
    return _make(code, groups, flags, last_line)
