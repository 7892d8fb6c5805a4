"""Programs whose calls are counted: each function of WORK is one. Nothing in here depends on time."""
import asyncio
import contextlib
import functools
import gc
import json
import re
import sys

WORK = {}


def work(function):
    WORK[function.__name__] = function
    return function


def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)


@work
def recursion():
    fib(12)


def even(n):
    return True if n == 0 else odd(n - 1)


def odd(n):
    return False if n == 0 else even(n - 1)


@work
def mutual_recursion():
    even(20)
    odd(9)


def fail(depth):
    if depth:
        fail(depth - 1)
    raise ValueError(depth)


@work
def exceptions():
    for depth in (0, 1, 5):
        try:
            fail(depth)
        except ValueError:
            pass
    with contextlib.suppress(ZeroDivisionError):
        fib(3) / 0
    try:
        try:
            fail(2)
        finally:
            fib(2)
    except ValueError:
        pass


def count(n):
    for i in range(n):
        yield i


def outer(n):
    total = yield from count(n)
    yield total


def guarded():
    try:
        while True:
            yield 1
    finally:
        fib(1)


def stubborn():
    while True:
        try:
            yield fib(2)
        except ValueError:
            yield fib(3)


@work
def generators():
    sum(count(10))
    list(outer(5))
    list(i * i for i in range(7))
    next(count(3))  # is collected while it is suspended
    never = count(3)
    never.close()
    del never
    closed = guarded()
    next(closed)
    closed.close()
    dropped = guarded()
    next(dropped)
    del dropped
    gc.collect()
    thrown = stubborn()
    next(thrown)
    thrown.throw(ValueError())
    next(thrown)
    thrown.close()
    fresh = stubborn()
    try:
        fresh.throw(KeyError())
    except KeyError:
        pass
    sent = stubborn()
    sent.send(None)
    sent.send(1)


class Ring:
    def __init__(self, n):
        self.n = n

    def __iter__(self):
        yield from range(self.n)

    def __len__(self):
        return self.n

    @property
    def half(self):
        return self.n // 2

    @classmethod
    def make(cls, n):
        return cls(n)

    @staticmethod
    def twice(n):
        return 2 * n

    def __eq__(self, other):
        return self.n == other.n

    __hash__ = None

    def __del__(self):
        fib(1)


class Other(Ring):
    def __len__(self):
        return super().__len__() + 1

    def __getattr__(self, name):
        return name


@work
def objects():
    ring = Ring.make(4)
    assert list(ring) == [0, 1, 2, 3] and len(ring) == 4 and ring.half == 2 and Ring.twice(2) == 4
    other = Other(3)
    assert len(other) == 4 and other.missing == "missing" and ring != other
    del ring, other


@work
def lambdas():
    pair = [lambda: 1, lambda: 2]; more = lambda f: f()  # noqa
    for function in pair * 3:
        more(function)
    made = {}
    exec("def made(x):\n    return x\n", made)
    exec("def again(x):\n    return x\n", made)
    made["made"](1), made["made"](2), made["again"](3)
    sorted([3, 1, 2], key=lambda x: -x)
    list(map(lambda x: x + 1, range(4)))
    functools.reduce(lambda a, b: a + b, range(5))
    [fib(x) for x in range(3)]
    {fib(x): x for x in range(3)}


async def step(n):
    await asyncio.sleep(0)
    return n


async def produce(n):
    for i in range(n):
        yield await step(i)


@contextlib.asynccontextmanager
async def opened():
    await asyncio.sleep(0)
    yield 1
    await asyncio.sleep(0)


async def agenda():
    async with opened():
        await asyncio.gather(*(step(i) for i in range(4)))
    total = 0
    async for value in produce(3):
        total += value
    task = asyncio.ensure_future(asyncio.Event().wait())
    await asyncio.sleep(0)
    task.cancel()
    try:
        await task
    except asyncio.CancelledError:
        pass
    return [await step(i) async for i in produce(2)]


@work
def coroutines():
    loop = asyncio.new_event_loop()
    try:
        loop.run_until_complete(agenda())
        loop.run_until_complete(loop.shutdown_asyncgens())
    finally:
        loop.close()
    unused = step(1)
    unused.close()


def dive(n):
    return dive(n + 1) + 1


@work
def recursion_error():
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(300)
    try:
        dive(0)
    except RecursionError:
        pass
    finally:
        sys.setrecursionlimit(limit)


@work
def library():
    text = json.dumps([{"a": i, "b": [1, 2, {"c": None}]} for i in range(5)], indent=1)
    json.loads(text)
    re.sub(r"(\d+)", lambda match: match.group(1) * 2, text)
    " ".join(sorted(text.split(), key=str.lower))
    try:
        int("x")
    except ValueError:
        pass
    {}.setdefault("a", []).append(1)
    [].extend(fib(x) for x in (1, 2))
    with contextlib.suppress(KeyError):
        {}.pop("a")


@functools.lru_cache(None)
def cached(n):
    return n


@functools.wraps(cached)
def star(*args, **keywords):
    return fib(*args, **keywords)


class Called:
    def __call__(self, *args):
        return len(args)


@work
def calls():
    cached.cache_clear()
    cached(1), cached(1), cached(2)
    star(3)
    star(*(2,), **{})
    Called()(*range(3))
    functools.partial(fib, 3)()
    max([1, 2], key=fib)
    isinstance(1, int) and callable(fib)
    print(end="")
