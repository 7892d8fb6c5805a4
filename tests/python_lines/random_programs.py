"""Programs by chance, the same for the same seed: statements within statements, over several lines and several on
one, that leave each other in every way."""
import random

HEAD = '''class Manager:
    def __init__(self, swallows):
        self.swallows = swallows
    def __enter__(self):
        return self
    def __exit__(self, *reason):
        return self.swallows

def g(*values):
    return sum(values) % 7

'''


class Writer:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.lines = []
        self.names = 0

    def put(self, depth, *lines):
        self.lines += ["    " * depth + line for line in lines]

    def value(self):
        return self.random.choice(["n", "x", "g(x)", "g(n, x)", "x + 1", "len([k for k in range(x % 4)])", "n % 3"])

    def test(self):
        return self.random.choice(["x % 2", "n > x", "g(x) > 3", "x % 3 == 1 and n", "not g(n, x)", "x % 5 or n % 2"])

    def simple(self, depth):
        value, other = self.value(), self.value()
        self.put(depth, *self.random.choice([
            ["x = %s" % value],
            ["x += %s" % value],
            ["x = g(", "    %s," % value, "    %s)" % other],
            ["x = (%s" % value, "     if %s" % self.test(), "     else %s)" % other],
            ["x = 1; n += 0; x += %s" % value],
            ["if %s: x = %s" % (self.test(), value)],
            ["for k in range(x %% 3): x += %s" % value],
            ["x = sum([", "    g(k)", "    for k in range(x % 4)", "    if k])"],
            ["x = [%s," % value, "     %s][" % other, "    0]"],
            ["assert g(", "    x) < 7, x"],
        ]))

    def leave(self, depth, in_loop):
        choices = ["return x", "raise ValueError(x)", "return g(x,\n" + "    " * depth + "         n)"]
        self.put(depth, self.random.choice(choices + ["break", "continue"] * (2 if in_loop else 0)))

    def block(self, depth, level, in_loop):
        for _ in range(self.random.randint(1, 3)):
            self.statement(depth, level, in_loop)
        if self.random.random() < 0.15:
            self.put(depth, "if %s:" % self.test())
            self.leave(depth + 1, in_loop)

    def statement(self, depth, level, in_loop):
        kinds = [self.simple] * 3
        if level:
            kinds += [self.write_if, self.write_for, self.write_while, self.write_try, self.write_with] * 2
        kind = self.random.choice(kinds)
        if kind == self.simple:
            self.simple(depth)
        else:
            kind(depth, level - 1, in_loop)

    def write_if(self, depth, level, in_loop):
        self.put(depth, "if %s:" % self.test())
        self.block(depth + 1, level, in_loop)
        for _ in range(self.random.randint(0, 2)):
            self.put(depth, "elif (%s or" % self.test(), "      %s):" % self.test())
            self.block(depth + 1, level, in_loop)
        if self.random.random() < 0.5:
            self.put(depth, "else:")
            self.block(depth + 1, level, in_loop)

    def write_for(self, depth, level, in_loop):
        self.names += 1
        name = "i%d" % self.names
        self.put(depth, *self.random.choice([["for %s in range(3):" % name],
                                             ["for %s in range(" % name, "        x % 4):"]]))
        self.block(depth + 1, level, True)
        if self.random.random() < 0.3:
            self.put(depth, "else:")
            self.block(depth + 1, level, in_loop)

    def write_while(self, depth, level, in_loop):
        self.names += 1
        name = "w%d" % self.names
        self.put(depth, "%s = 3" % name)
        self.put(depth, *self.random.choice([["while %s:" % name], ["while (%s and" % name, "       %s < 9):" % name]]))
        self.put(depth + 1, "%s -= 1" % name)
        self.block(depth + 1, level, True)

    def write_try(self, depth, level, in_loop):
        has_finally = self.random.random() < 0.6
        self.put(depth, "try:")
        self.block(depth + 1, level, in_loop)
        if self.random.random() < 0.5:
            self.put(depth + 1, "if %s:" % self.test())
            self.leave(depth + 2, in_loop)
        if not has_finally or self.random.random() < 0.6:
            self.put(depth, *self.random.choice([["except ValueError:"], ["except ValueError as error:"], ["except:"],
                                                 ["except (KeyError,", "        ValueError):"]]))
            self.block(depth + 1, level, in_loop)
            if self.random.random() < 0.3:
                self.put(depth, "else:")
                self.block(depth + 1, level, in_loop)
        if has_finally:
            self.put(depth, "finally:")
            self.simple(depth + 1)
            if self.random.random() < 0.3:
                self.put(depth + 1, "for k in range(2):")
                self.simple(depth + 2)

    def write_with(self, depth, level, in_loop):
        self.put(depth, *self.random.choice([["with Manager(False):"], ["with Manager(True), Manager(False) as m:"],
                                             ["with Manager(", "        True):"]]))
        self.block(depth + 1, level, in_loop)


def program(seed):
    writer = Writer(seed)
    for number in range(4):
        is_generator = number == 3
        writer.put(0, "def f%d(n):" % number)
        writer.put(1, "x = n")
        for _ in range(3):
            writer.statement(1, 3, False)
            if is_generator:
                writer.put(1, "x = (yield x) or x")
        writer.put(1, "return x", "")
    writer.put(0, "def main():")
    writer.put(1, "for n in range(6):")
    for number in range(3):
        writer.put(2, "try:", "    f%d(n)" % number, "except (ValueError, AssertionError):", "    n += 0")
    writer.put(2, "try:", "    list(f3(n))", "except (ValueError, AssertionError):", "    n += 0")
    return HEAD + "\n".join(writer.lines) + "\n"
