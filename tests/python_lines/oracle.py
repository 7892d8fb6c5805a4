"""How often each statement of a program runs, found out without any hook: the program is rewritten so that it counts
itself. Knows nothing of bytecode and shares no code with what it checks.

A statement counts on its first line; of several on one line the first counts for all. A header of a loop counts each
time it is evaluated: once more than there are rounds.
"""
import ast
import collections
import sys

SILENT = (ast.Global, ast.Nonlocal)
LOOPS = (ast.For, ast.AsyncFor, ast.While)
SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def first_line(node):
    return min([node.lineno] + [decorator.lineno for decorator in getattr(node, "decorator_list", [])])


def uncertain(text):
    """Lines on which compilers differ: what does nothing, and what a constant decides. 3.9 drops most of it."""
    lines = set()
    for node in ast.walk(ast.parse(text)):
        is_dull = isinstance(node, (ast.Pass, ast.Break, ast.Continue)) and sys.version_info < (3, 10)
        is_constant = isinstance(getattr(node, "test", None), (ast.Constant, ast.Name)) and (
            getattr(node.test, "id", "__debug__") == "__debug__")
        is_idle = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        if is_dull or is_idle or (is_constant and not (isinstance(node, ast.While) and sys.version_info >= (3, 10)
                                                       and node.test.value)):
            lines.add(node.lineno)
    return lines


def has_code(node, is_class):
    """Whether the compiler makes anything of it: what it drops cannot be seen to run."""
    return not isinstance(node, SILENT) and (is_class or not (isinstance(node, ast.AnnAssign) and node.value is None))


class Counted(ast.NodeTransformer):
    def __init__(self):
        self.scope = "<module>", 1
        self.last_line = 0  # of the piece before

    def call(self, name, line, *values):
        arguments = [ast.Constant(self.scope[0]), ast.Constant(self.scope[1]), ast.Constant(line), *values]
        return ast.Call(ast.Name(name, ast.Load()), arguments, [])

    def is_new(self, first, last):
        """Whether a piece begins on a line of its own."""
        new = first > self.last_line
        self.last_line = max(self.last_line, last)
        return new

    def block(self, body, is_class=False):
        made = []
        for node in body:
            before, after = self.statement(node, is_class)
            if before:
                made.append(ast.Expr(before))
            made.append(after)
        return made

    def end_of(self, *nodes):
        return max([node.end_lineno for node in nodes if node is not None], default=0)

    def statement(self, node, is_class=False):
        """The call that counts it, if it counts, and the statement with what is in it counted."""
        first = first_line(node)
        if isinstance(node, SCOPES):
            return self.definition(node, first)
        parts = [node] if not hasattr(node, "body") and not hasattr(node, "cases") else []
        if hasattr(node, "cases"):
            parts = [node.subject]
        for name in ("test", "iter", "target"):
            parts.append(getattr(node, name, None) if not parts or parts[0] is not node else None)
        for item in getattr(node, "items", []):
            parts += [item.context_expr, item.optional_vars]
        last = max(first, self.end_of(*parts))
        is_new = self.is_new(first, last) and has_code(node, is_class)
        before = self.call("count_", first) if is_new else None
        if isinstance(node, LOOPS):
            return self.loop(node, first, is_new, before), node
        for name in ("body", "orelse", "finalbody"):
            if name == "orelse":
                self.handlers(node)
            if isinstance(getattr(node, name, None), list):
                setattr(node, name, self.block(getattr(node, name)))
        if hasattr(node, "cases"):
            self.cases(node)
        return before, node

    def loop(self, node, first, is_new, before):
        if isinstance(node, ast.While):
            if isinstance(node.test, ast.Constant):
                body = self.block(node.body)
                if is_new and (sys.version_info >= (3, 10) or node.body[0].lineno == first):
                    body.insert(0, ast.Expr(self.call("count_", first)))
                node.body = body
            else:
                node.test = ast.BoolOp(ast.And(), [self.call("count_", first), node.test]) if is_new else node.test
                node.body = self.block(node.body)
            node.orelse = self.block(node.orelse)
            return None
        if is_new:
            name = "arounds_" if isinstance(node, ast.AsyncFor) else "rounds_"
            node.iter = self.call(name, first, node.iter)
        node.body = self.block(node.body)
        node.orelse = self.block(node.orelse)
        return before

    def handlers(self, node):
        for handler in getattr(node, "handlers", []):
            new = self.is_new(handler.lineno, max(handler.lineno, self.end_of(handler.type)))
            body = self.block(handler.body)
            if new and handler.type is not None:
                handler.type = ast.Subscript(ast.Tuple([self.call("count_", handler.lineno), handler.type], ast.Load()),
                                             ast.Constant(1), ast.Load())
            elif new:
                body.insert(0, ast.Expr(self.call("count_", handler.lineno)))
            handler.body = body

    def cases(self, node):
        made = []
        for case in node.cases:
            line = case.pattern.lineno
            if self.is_new(line, self.end_of(case.pattern, case.guard)):
                guard = ast.UnaryOp(ast.Not(), self.call("count_", line))
                made.append(ast.match_case(ast.MatchAs(), guard, [ast.Pass()]))
            case.body = self.block(case.body)
            made.append(case)
        node.cases = made

    def definition(self, node, first):
        arguments = getattr(node, "args", None)
        parts = list(node.decorator_list) + ([arguments] if arguments else node.bases)
        nested = [part for part in ast.walk(arguments)] if arguments else node.bases
        last = max([node.lineno] + [part.end_lineno for part in parts + list(nested) if hasattr(part, "end_lineno")])
        is_new = self.is_new(first, last)
        before = self.call("count_", first) if is_new else None
        kept = self.scope, self.last_line
        self.scope = (node.name, first)
        self.last_line = 0
        node.body = self.block(node.body, isinstance(node, ast.ClassDef))
        self.scope, self.last_line = kept
        self.last_line = max(self.last_line, node.end_lineno)
        return before, node


def counts(text, name="<program>"):
    """{(function, its first line): {line: how often}} after the program's main() has run."""
    found = collections.defaultdict(collections.Counter)

    def count_(scope, first, line):
        found[scope, first][line] += 1
        return True

    def rounds_(scope, first, line, iterable):
        iterator = iter(iterable)
        for value in iterator:
            yield value
            found[scope, first][line] += 1

    async def arounds_(scope, first, line, iterable):
        async for value in iterable:
            yield value
            found[scope, first][line] += 1

    tree = ast.parse(text)
    tree.body = Counted().block(tree.body)
    ast.fix_missing_locations(tree)
    names = {"__name__": "program", "count_": count_, "rounds_": rounds_, "arounds_": arounds_}
    exec(compile(tree, name, "exec", dont_inherit=True), names)
    names["main"]()
    return {key: dict(value) for key, value in found.items()}
