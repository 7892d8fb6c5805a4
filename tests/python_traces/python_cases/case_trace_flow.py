"""venturi.trace: generators, coroutines, tasks and contexts."""
import asyncio
import concurrent.futures
import contextlib
import contextvars
import gc
import inspect
import threading

import kit
from kit import KEY
from venturi import trace


def within():
    """The name of the current span."""
    span = trace._venturi.trace_current()
    return span.name if span else None


@trace.trace("generator", hide_args=True)
def generate(count):
    got = []
    for i in range(count):
        with trace.Trace("step"):
            pass
        got.append((yield i))
    return got


def test_generators_span_all_their_steps():
    assert inspect.isgeneratorfunction(generate) and inspect.isgenerator(generate(1))
    trace.init(KEY)
    with kit.told() as events:
        generator = generate(2)
        assert events == []
        for _ in generator:
            assert within() is None
            with trace.Trace("caller's"):
                pass
    assert kit.shape(events) == [("generator", [("step", []), ("step", [])]), ("caller's", []), ("caller's", [])]
    assert events[-1]["name"] == "generator-stop" and "etype" not in events[-1]["info"]


def test_generators_interleaved():
    trace.init(KEY)
    with kit.told() as events:
        for _ in zip(generate(3), generate(3)):
            pass
    shapes = kit.shape(events)
    assert shapes[0] == shapes[1] == ("generator", [("step", [])] * 3)


def test_generators_are_sent_and_return_values():
    for _ in range(2):
        generator = generate(2)
        assert next(generator) == 0 and generator.send("a") == 1
        try:
            generator.send("b")
        except StopIteration as end:
            assert end.value == ["a", "b"]
        trace.init(KEY)


def test_generators_closed_and_thrown_into():
    @trace.trace("g")
    def stubborn():
        while True:
            try:
                yield within()
            except KeyError:
                yield "caught " + within()
    trace.init(KEY)
    with kit.told() as events:
        generator = stubborn()
        assert next(generator) == "g" and generator.throw(KeyError("x")) == "caught g"
        generator.close()
        assert "etype" not in events[-1]["info"]
        generator = stubborn()
        next(generator)
        with contextlib.suppress(ValueError):
            generator.throw(ValueError("boom"))
        assert events[-1]["info"]["etype"] == "ValueError" and events[-1]["info"]["message"] == "boom"
        generator = stubborn()
        next(generator)
        del generator
        gc.collect()
    assert [event["name"] for event in events] == ["g-start", "g-stop"] * 3


def test_generator_steps_in_other_contexts():
    """Each step runs in the context of who asks for it, and leaves nothing behind there."""
    trace.init(KEY)
    generator = generate(3)
    next(generator)

    def elsewhere():
        trace.clean()
        trace.init(KEY, base_id="another")
        trace.start("other")
        next(generator)
        return within()
    with kit.told() as events:
        assert contextvars.Context().run(elsewhere) == "other"
        list(generator)
    assert [event["base_id"] for event in events if event["name"] == "step-start"] == [trace.get().get_base_id()] * 2


@trace.trace("coroutine", hide_args=True, hide_result=False)
async def wait(n):
    with trace.Trace("first"):
        await asyncio.sleep(0)
    await asyncio.sleep(0.001 * (n % 3))
    with trace.Trace("second"):
        await asyncio.sleep(0)
    return n


def test_coroutines():
    async def main():
        assert inspect.iscoroutinefunction(wait) and asyncio.iscoroutinefunction(wait)
        trace.init(KEY)
        with trace.Trace("main"):
            found = await asyncio.gather(*[wait(n) for n in range(100)])
            assert within() == "main"
            await wait(100)
            assert within() == "main"
        return found
    with kit.told() as events:
        assert asyncio.run(main()) == list(range(100))
    one = ("coroutine", [("first", []), ("second", [])])
    assert kit.shape(events) == [("main", [one] * 101)]
    results = [event["info"]["function"]["result"] for event in events if event["name"] == "coroutine-stop"]
    assert sorted(results) == sorted(str(n) for n in range(101))


def test_coroutines_cancelled():
    async def main():
        trace.init(KEY)
        task = asyncio.create_task(forever())
        await asyncio.sleep(0)
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task

    @trace.trace("forever", hide_args=True)
    async def forever():
        await asyncio.sleep(1000)
    with kit.told() as events:
        asyncio.run(main())
    assert [event["name"] for event in events] == ["forever-start", "forever-stop"]
    assert events[1]["info"]["etype"].endswith(".CancelledError") and events[1]["info"]["message"] == ""


def test_coroutines_that_never_run():
    with kit.told() as events:
        trace.init(KEY)
        wait(1).close()
        coroutine = wait(2)
        coroutine.send(None)
        coroutine.close()
        assert within() is None
    assert kit.shape(events) == [("coroutine", [("first", [])])]
    assert not any("etype" in event["info"] for event in events)


def test_tasks_outlive_who_began_them():
    """They stay children of what was current then, whatever is current now."""
    async def later():
        await asyncio.sleep(0.005)
        with trace.Trace("later"):
            with trace.Trace("inner"):
                await asyncio.sleep(0)
        with trace.Trace("again"):
            pass

    async def main():
        trace.init(KEY)
        with trace.Trace("beginner"):
            task = asyncio.create_task(later())
        with trace.Trace("other"):
            await task
    with kit.told() as events:
        asyncio.run(main())
    assert kit.shape(events) == [("beginner", [("later", [("inner", [])]), ("again", [])]), ("other", [])]


def test_tasks_that_begin_each_other_keep_nothing():
    async def link(left):
        with trace.Trace("link"):
            chain.append(trace._venturi.trace_current())
            if left:
                tasks.append(asyncio.create_task(link(left - 1)))

    async def main():
        trace.init(KEY)
        await link(200)
        while tasks:
            await tasks.pop()
    chain, tasks = [], []
    asyncio.run(main())
    last = chain[-1]
    del chain[:]
    gc.collect()
    kept = [found for found in gc.get_objects() if type(found) is type(last) and found.name == "link"]
    assert len(kept) <= 3, len(kept)


def test_async_generators():
    @trace.trace("agen")
    async def produce(count):
        try:
            for i in range(count):
                with trace.Trace("make"):
                    await asyncio.sleep(0)
                got = yield i
                if got:
                    assert within() == "agen"
        finally:
            with trace.Trace("cleanup"):
                await asyncio.sleep(0)

    async def main():
        trace.init(KEY)
        assert inspect.isasyncgenfunction(produce)
        async for _ in produce(2):
            assert within() is None
            with trace.Trace("caller's"):
                await asyncio.sleep(0)
        stopped = produce(9)
        assert await stopped.__anext__() == 0 and await stopped.asend("x") == 1
        await stopped.aclose()
        failed = produce(9)
        await failed.__anext__()
        with contextlib.suppress(ValueError):
            await failed.athrow(ValueError("boom"))
        assert within() is None
    with kit.told() as events:
        asyncio.run(main())
    make = ("make", [])
    assert kit.shape(events) == [("agen", [make, make, ("cleanup", [])]), ("caller's", []), ("caller's", []),
                                 ("agen", [make, make, ("cleanup", [])]), ("agen", [make, ("cleanup", [])])]
    assert [event["info"].get("message") for event in events if event["name"] == "agen-stop"] == [None, None, "boom"]


def test_generators_while_nobody_is_interested():
    @trace.trace("agen")
    async def produce():
        got = yield 1
        yield got

    async def main():
        generator = produce()
        assert await generator.__anext__() == 1 and await generator.asend(5) == 5
        await generator.aclose()
        return await wait(7)
    assert list(generate(3)) == [0, 1, 2] and asyncio.run(main()) == 7


def test_context_objects():
    trace.init(KEY)
    with kit.told() as events:
        with trace.Trace("outer"):
            copied = contextvars.copy_context()
        copied.run(trace.start, "in the copy")
        assert within() is None and copied.run(within) == "in the copy"
        copied.run(trace.stop)
    assert kit.shape(events) == [("outer", [("in the copy", [])])]


def test_stop_on_another_thread_ends_nothing():
    trace.init(KEY)
    with kit.told() as events:
        trace.start("outer")
        trace.start("here")
        copied = contextvars.copy_context()
        thread = threading.Thread(target=copied.run, args=(trace.stop, {"on": "another"}))
        thread.start()
        thread.join()
        trace.stop()
        trace.stop()
    assert kit.shape(events) == [("outer", [("here", [])])]
    assert not [event for event in events if "on" in event["info"]]


def test_executors_of_the_loop():
    async def main():
        trace.init(KEY)
        loop = asyncio.get_running_loop()
        with trace.Trace("main"):
            await loop.run_in_executor(None, at_work, 1)
            with concurrent.futures.ThreadPoolExecutor(1) as pool:
                await loop.run_in_executor(pool, at_work, 2)
            if hasattr(asyncio, "to_thread"):
                await asyncio.to_thread(at_work, 3)

    def at_work(n):
        with trace.Trace("work"):
            pass
    with kit.told() as events:
        asyncio.run(main())
    assert kit.shape(events) == [("main", [("work", [])] * 3)]
