"""Small programs with a main(), one for each thing that makes counting statements hard."""
import textwrap

NEWER = {"match": (3, 10), "match_guard": (3, 10), "except_star": (3, 11), "with_parenthesised": (3, 10)}

_TEXT = '''
== plain
def f(a, b):
    c = a + b
    d = c * 2
    return d

def main():
    for i in range(5):
        f(i, 1)

== multi_line_call
def g(*a, **k):
    return a

def f(n):
    x = g(
        n,
        g(n,
          2),
        key=n)
    return g(
        x,
    )

def main():
    for i in range(4):
        f(i)

== seed_shape
def check(a):
    return a

def f(n):
    (left,
     right) = (
        check(n), check(n + 1))
    flag = check(
        left % 3 == 0)
    if flag:
        result = check(
            left,
        )
        return result
    return -99

def main():
    for i in range(10):
        f(i)

== with_block
class Manager:
    def __enter__(self):
        return self
    def __exit__(self, *reason):
        return False

def f(n):
    with Manager() as a, \\
            Manager() as b:
        n += 1
    return n

def main():
    f(1)
    f(2)

== with_return
class Manager:
    def __enter__(self):
        return self
    def __exit__(self, *reason):
        return False

def f(n):
    with Manager():
        with Manager():
            if n:
                return n
            n = 3
    return n

def main():
    for i in range(3):
        f(i)

== with_loop
class Manager:
    def __enter__(self):
        return self
    def __exit__(self, *reason):
        return True

def f(n):
    total = 0
    for i in range(n):
        with Manager():
            if i == 2:
                continue
            if i == 5:
                break
            if i == 3:
                raise ValueError(i)
            total += i
    return total

def main():
    f(3)
    f(10)

== with_parenthesised
class Manager:
    def __enter__(self):
        return self
    def __exit__(self, *reason):
        return False

def f(n):
    with (
        Manager() as a,
        Manager() as b,
    ):
        n += 1
    return n

def main():
    f(1)
    f(2)

== try_except
def f(n):
    try:
        x = 1 // n
    except ZeroDivisionError as error:
        x = 0
    except (TypeError,
            ValueError):
        x = -1
    else:
        x += 1
    return x

def main():
    for n in (0, 1, None, 2, 0):
        f(n)

== try_finally
def f(n):
    try:
        if n == 1:
            return n
        if n == 2:
            raise ValueError
        n = n + 1
    finally:
        n = 5
        n = n + 1
    return n

def main():
    for n in (0, 1, 2, 3):
        try:
            f(n)
        except ValueError:
            n = 0

== finally_after_raise
def fails(n):
    if n % 2:
        raise KeyError

def f(n):
    try:
        fails(n)
    except KeyError:
        n = 2
        raise
    finally:
        n = 5
    return n

def never(n):
    try:
        raise KeyError
    except KeyError:
        n = 1
        raise
    finally:
        n = 2

def within(n):
    for i in range(3):
        try:
            fails(n + i)
        except KeyError as error:
            raise
        except ValueError:
            raise
        finally: n += 0

def main():
    for n in range(5):
        for g in f, never, within:
            try:
                g(n)
            except KeyError:
                n = 0

== finally_loop
def f(n):
    seen = []
    for i in range(n):
        try:
            if i == 1:
                continue
            if i == 4:
                break
            seen.append(i)
        finally:
            seen.append(
                -i)
    else:
        seen.append("end")
    return seen

def main():
    f(3)
    f(8)

== finally_return_value
def g(x):
    return x

def f(n):
    try:
        return g(
            n)
    finally:
        g(1)
        g(2)

def main():
    f(1)
    f(2)

== nested_try
def f(n):
    try:
        try:
            if n == 0:
                raise KeyError(n)
            if n == 1:
                raise ValueError(n)
            n += 10
        except KeyError:
            n = 20
        finally:
            n += 1
    except ValueError as error:
        n = 30
        return n
    finally:
        n += 2
    return n

def main():
    for n in range(4):
        f(n)

== bare_except
def f(n):
    try:
        [][n]
    except:
        n = 0
    return n

def main():
    f(1)
    f(2)

== except_name_return
def f(n):
    for i in range(n):
        try:
            if i % 2:
                raise ValueError(i)
        except ValueError as error:
            if i > 4:
                return error
            continue
        n += 1
    return n

def main():
    f(3)
    f(9)

== except_star
def f(n):
    try:
        if n:
            raise ExceptionGroup("x", [ValueError(n), KeyError(n)])
    except* ValueError as error:
        n = 1
    except* KeyError:
        n = 2
    return n

def main():
    f(0)
    f(1)

== for_loops
def f(n):
    total = 0
    for i in range(n):
        for j in range(
                i):
            total += j
        else:
            total += 1
    return total

def main():
    f(0)
    f(1)
    f(4)

== for_multi_line_header
def g(*a):
    return a

def f(n):
    for x in g(
            n,
            n + 1,
    ):
        n += x
    for (a,
         b) in [(1, 2),
                (3, 4)]:
        n += a
    return n

def main():
    f(1)
    f(2)

== for_one_line
def g(x):
    return x

def f(n):
    for i in range(n): g(i)
    for i in range(n): g(i); g(i + 1)
    for i in [g(k) for k in range(n)]: g(i)
    return n

def main():
    f(0)
    f(1)
    f(3)

== for_one_line_and_nothing_else
def f(n):
    for i in range(n): pass
    for i in range(n): continue
    for i in [k for k in range(n)]: pass
    try:
        return n
    finally:
        for i in range(n): pass

def main():
    f(0)
    f(1)
    f(20)

== while_loops
def f(n):
    while n > 0:
        n -= 1
    while n < 3 and \\
            n != 7:
        n += 1
    else:
        n = 0
    return n

def main():
    f(0)
    f(3)

== while_one_line
def f(n):
    while n: n -= 1
    return n

def main():
    f(0)
    f(1)
    f(4)

== while_one_line_and
def f(n):
    m = n
    while n > 0 and m > 1: n -= 1; m -= 1
    while n < 3 or m < 2: n += 1; m += 1
    return n

def main():
    f(0)
    f(1)
    f(4)

== while_forever
def f(n):
    while True:
        n -= 1
        if n < 0:
            break
    return n

def main():
    f(0)
    f(4)

== while_forever_one_line
def g(n):
    if not n:
        raise StopIteration

def f(n):
    try:
        while 1: n -= 1; g(n)
    except StopIteration:
        n = 7
    return n

def main():
    f(1)
    f(4)

== while_continue
def f(n):
    total = 0
    while n:
        n -= 1
        if n % 2:
            total += 1
            continue
        if n == 8:
            break
        total += 2
    return total

def main():
    f(5)
    f(20)

== several_on_a_line
def f(n):
    a = 1; b = 2; c = a + b
    if n: a = 2
    if n: a = [1,
               2]
    x = [
        1]; y = 3
    return a

def main():
    f(0)
    f(1)

== conditional_expression
def g(x):
    return x

def f(n):
    a = (g(1)
         if n
         else g(2))
    b = (n and
         g(3) or
         g(4))
    assert g(
        a), "no"
    return a

def main():
    f(0)
    f(1)

== comprehensions
def g(x):
    return x

def f(n):
    a = [g(x) for x in range(n) if x]
    b = {
        x: g(x)
        for x in range(n)
        if x}
    c = sum(
        g(x)
        for x in range(n))
    d = [[g(y)
          for y in range(x)]
         for x in range(n)]
    return a

def main():
    f(0)
    f(3)

== lambdas
def f(n):
    key = lambda x: x + 1
    more = lambda x: (
        x +
        1)
    return sorted(
        range(n), key=lambda x:
        more(x) + key(x))

def main():
    f(3)

== def_on_one_line
def f(x): return x + 1

def g(x): x += 1; return f(x)

class A:
    def m(self): return g(1)

def main():
    for i in range(3):
        A().m()

== nested_decorated
import functools

def mark(*given):
    def decorate(function):
        @functools.wraps(function)
        def wrapper(*a):
            return function(*a)
        return wrapper
    return decorate

def f(n):
    @mark(1)
    @mark(
        2,
        3)
    def inner(a,
              b=n):
        """Text."""
        return a + b
    return inner(n)

def main():
    f(1)
    f(2)

== class_body
def make(n):
    class A(
            object):
        """Text
        over lines."""
        x = n
        y: int = 2
        z: int
        for i in range(n):
            x += i
        def m(self):
            return self.x
    return A().m()

def main():
    make(1)
    make(3)

== docstrings
def f(n):
    """One
    two."""
    n += 1
    "not one"
    x: int
    y: int = n
    return n

def g():
    """Only this."""

def main():
    f(1)
    g()

== generators
def f(n):
    for i in range(n):
        x = yield i
        yield (
            i,
            x)
    return 1

def g(n):
    y = yield from f(n)
    return y

def main():
    list(f(3))
    list(g(2))
    it = f(5)
    next(it)
    it.send(3)
    it.close()

== generator_cleanup
def f(n):
    try:
        while True:
            try:
                yield n
            except KeyError:
                n += 1
    finally:
        n = 0

def main():
    it = f(1)
    next(it)
    it.throw(KeyError)
    next(it)
    it.close()
    del it

== coroutines
import asyncio

class Manager:
    async def __aenter__(self):
        await asyncio.sleep(0)
        return self
    async def __aexit__(self, *reason):
        await asyncio.sleep(0)
        return False

async def numbers(n):
    for i in range(n):
        await asyncio.sleep(0)
        yield i

async def f(n):
    total = 0
    async for i in numbers(n):
        total += i
    async with Manager() as m:
        total += await g(
            total)
    more = [i async for i in numbers(n)]
    async with Manager():
        return total

async def g(n):
    await asyncio.sleep(0)
    return n

async def all_of_them():
    await asyncio.gather(f(2), f(0), f(3))

def main():
    asyncio.run(all_of_them())

== recursion
def f(n):
    if n < 2:
        return n
    return (f(n - 1) +
            f(n - 2))

def main():
    f(8)

== exceptions_through
def h(n):
    if n == 0:
        raise ValueError("deep")
    h(n - 1)
    return n

def f(n):
    for i in range(n):
        try:
            h(i)
        except ValueError:
            n = 1
        h(
            i + 100
        ) if i > 90 else None
    return n

def main():
    f(3)

== match
def f(x):
    match x:
        case 0:
            return "zero"
        case [a,
              b]:
            return a
        case {"k": v}:
            x = v
        case str() | bytes():
            x = 1
        case _:
            x = 2
    return x

def main():
    for x in (0, [1, 2], {"k": 3}, "a", b"b", 4.5, 0):
        f(x)

== match_guard
def f(x,
      y):
    for i in range(2):
        match (x,
               y):
            case (0, _) if y > 1:
                continue
            case (a, b) if (a >
                            b):
                break
            case (1, 1): return 4
        x += 1
    return x

def main():
    for x in range(3):
        for y in range(3):
            f(x, y)

== if_chains
def f(n):
    if n == 0:
        a = 1
    elif n == 1 or \\
            n == 2:
        a = 2
    elif not n % 2:
        if n > 5:
            a = 3
    else:
        a = 4
    return None

def g(n):
    if n:
        n = 1

def main():
    for n in range(8):
        f(n)
        g(n % 3)

== constants
DEBUG = 0

def f(n):
    if 0:
        n = 1
    if __debug__:
        n = 2
    if 1:
        n = 3
    while 0:
        n = 4
    return n

def main():
    f(1)

== early_returns
def f(n):
    if n > 3: return 1
    if n > 2:
        return
    for i in range(n):
        if i:
            return i
    return

def main():
    for n in range(6):
        f(n)

== return_in_loops
class Manager:
    def __enter__(self):
        return self
    def __exit__(self, *reason):
        return False

def f(n):
    for i in range(n):
        for j in range(n):
            with Manager():
                try:
                    if i * j == 2:
                        return (i,
                                j)
                finally:
                    n += 0
    return None

def main():
    f(1)
    f(3)

== deletes_and_globals
value = 0

def f(n):
    global value
    x = {1: n,
         2: n}
    del x[1], \\
        x[2]
    value += n
    import os, sys
    from os.path import (join,
                         split)
    raise_it = False
    if raise_it:
        raise ValueError(
            "x") from None
    return lambda: n

def main():
    f(1)
    f(2)

== strings
def g(x):
    return x

def f(n):
    a = f"{n} {g(n)}"
    b = f"""{g(n)}
    {g(n)}
    """
    c = ("x" +
         str(g(n)) +
         "y")
    d = """
    long
    """ % ()
    return a

def main():
    f(1)
    f(2)

== chained
def g(x):
    return x

class Builder:
    def add(self, x):
        return self

def f(n):
    b = (Builder()
         .add(n)
         .add(g(
             n))
         .add(3))
    if (n == 1
            and g(n)
            or g(2)):
        n = 2
    x = 0 < g(1) \\
        < n < g(3)
    a = b = c = [
        n]
    n += g(
        1)
    return [
        *a,
        *b]

def main():
    f(1)
    f(2)
'''


def _split():
    found = {}
    for part in _TEXT.split("\n== ")[1:]:
        name, text = part.split("\n", 1)
        found[name] = textwrap.dedent(text)
    return found


PROGRAMS = _split()
