"""venturi.trace: to other threads and processes, and nothing left behind there."""
import concurrent.futures
import json
import multiprocessing
import multiprocessing.pool
import os
import queue
import subprocess
import sys
import threading

import kit
from kit import BASE, KEY, PARENT
from venturi import trace


def ids():
    here = trace.get()
    return (here.get_base_id(), here.get_id()) if here else None


def ids_after(_):
    return ids()


def call_on(kind, function):
    """What the function gives on a new thread."""
    found = []
    thread = kind(target=lambda: found.append(function()))
    thread.start()
    thread.join()
    return found[0]


def test_threads():
    class Own(threading.Thread):
        def run(self):
            with trace.Trace("own"):
                super().run()
    assert call_on(threading.Thread, ids) is None
    trace.init(KEY, base_id=BASE)
    with kit.told() as events:
        with trace.Trace("outer") as span:
            assert call_on(threading.Thread, ids) == (BASE, span.id)
            call_on(Own, ids)
            timer = threading.Timer(0, trace.start, ("timer",))
            timer.start()
            timer.join()
            trace.Trace("after")
    assert [(event["name"], event["parent_id"]) for event in events if event["name"] == "own-start"] == [("own-start", span.id)]
    assert [event["parent_id"] for event in events if event["name"] == "timer-start"] == [span.id]
    trace.clean()
    assert call_on(threading.Thread, ids) is None


def test_a_thread_that_is_used_again_keeps_nothing():
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        for base in (BASE, PARENT, None, BASE):
            trace.clean()
            if base:
                trace.init(KEY, base_id=base)
            with trace.Trace("caller") as span:
                assert pool.submit(ids).result() == ((base, span.id) if base else None)
        assert list(pool.map(ids_after, range(3))) == [(BASE, BASE)] * 3
        trace.clean()
        assert pool.submit(ids).result() is None
        pool.submit(trace.init, KEY, BASE).result()
        trace.init(KEY, base_id=PARENT)
        pool.submit(trace.init, KEY, BASE).result()
        assert pool.submit(ids).result() == (PARENT, PARENT)
        trace.clean()
        assert pool.submit(trace.init, KEY, BASE).result().get_base_id() == BASE
        assert pool.submit(ids).result() is None


def test_executors_with_threads_of_their_own():
    class Own(concurrent.futures.ThreadPoolExecutor):
        def _adjust_thread_count(self):
            if not self._threads:
                thread = threading.Thread(target=self._work)
                self._threads.add(thread)
                thread.start()

        def _work(self):
            for item in iter(self._work_queue.get, None):
                item.run()
    with Own(1) as pool:
        trace.init(KEY, base_id=BASE)
        assert pool.submit(ids).result() == (BASE, BASE)
        trace.clean()
        assert pool.submit(ids).result() is None


def test_futures_are_what_they_were():
    def fail():
        raise KeyError("x")
    trace.init(KEY)
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        assert pool.submit(pow, 2, 5).result() == 32 and pool.submit(int, "ff", base=16).result() == 255
        assert isinstance(pool.submit(fail).exception(), KeyError)


def ask_pool(pool, ids_after, ids):
    """What a function gives by each of the ways to hand one to a pool: all of it."""
    yield pool.apply(ids)
    yield pool.apply(func=ids)
    yield pool.apply_async(ids).get(20)
    yield from pool.map(ids_after, range(5), 2)
    yield from pool.map_async(ids_after, iterable=range(2)).get(20)
    yield from pool.starmap(ids_after, [(1,), (2,)])
    yield from pool.starmap_async(func=ids_after, iterable=[(1,), (2,)]).get(20)
    yield from pool.imap(ids_after, range(2))
    yield from pool.imap(ids_after, range(5), chunksize=2)
    yield from pool.imap_unordered(ids_after, range(2))
    yield from pool.imap_unordered(ids_after, range(5), 2)


def test_pools_of_threads():
    def of_each(pool):
        found = list(ask_pool(pool, ids_after, ids))
        assert len(found) == 28
        return set(found)
    trace.init(KEY, base_id=PARENT)
    seen = []
    with multiprocessing.pool.ThreadPool(2, initializer=lambda: seen.append(ids())) as pool:
        assert of_each(pool) == {(PARENT, PARENT)}
        trace.init(KEY, base_id=BASE)
        with trace.Trace("outer") as span:
            assert of_each(pool) == {(BASE, span.id)}
            trace.clean()
            assert of_each(pool) == {None}
        trace.init(KEY, base_id=BASE)
        carried = trace.carry(ids)
        assert pool.apply(trace.init, (KEY, PARENT)).get_base_id() == PARENT
        trace.clean()
        assert pool.apply(trace.init, (KEY, PARENT)).get_base_id() == PARENT
        assert pool.apply(carried) == (BASE, BASE) and of_each(pool) == {None} and set(seen) == {None}


def test_pools_are_what_they_were():
    def fail(*args, **kwargs):
        raise KeyError(args, kwargs)
    trace.init(KEY)
    with multiprocessing.pool.ThreadPool(1) as pool:
        assert pool.apply(int, ("ff",), {"base": 16}) == 255 and pool.starmap(pow, [(2, 3), (3, 2)]) == [8, 9]
        errors = []
        result = pool.apply_async(fail, (1,), {"a": 2}, error_callback=errors.append)
        result.wait(20)
        assert not result.successful() and errors[0].args == ((1,), {"a": 2})
        for call in (pool.apply, pool.map, pool.imap):
            try:
                call()
                raise AssertionError("a call without a function")
            except TypeError as error:
                assert "func" in str(error)


def test_pools_with_initializers():
    def begin():
        seen.append(ids())
        local.base = "mine"
    seen, local = [], threading.local()
    trace.init(KEY, base_id=BASE)
    with concurrent.futures.ThreadPoolExecutor(1, initializer=begin) as pool:
        assert pool.submit(lambda: (local.base, ids())).result() == ("mine", (BASE, BASE))
        trace.clean()
        assert pool.submit(lambda: (local.base, ids())).result() == ("mine", None)
    assert seen == [None]


def in_new_process(script):
    done = subprocess.run([sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert done.returncode == 0, done.stdout
    return done.stdout.split()


def test_nothing_is_imported_for_it():
    script = """if 1:
        import sys
        from venturi import trace
        before = set(sys.modules)
        trace.init("key")
        new = set(sys.modules) - before
        assert new == {"venturi._carry"}, new
        """
    in_new_process(script)


def test_modules_that_are_imported_later():
    """As they are without us, but for what they carry. One that cannot be imported is imported by another attempt, or again."""
    script = """if 1:
        import importlib, sys
        from venturi import trace
        trace.init("key", base_id="base")
        loads = []
        class Other:
            def find_spec(self, name, path=None, target=None):
                if name != "concurrent.futures.thread" or len(loads) > 1:
                    return None
                loads.append(name)
                if len(loads) == 1:
                    raise ImportError("not now")
        sys.meta_path.insert(1, Other())
        try:
            import concurrent.futures.thread
            raise AssertionError
        except ImportError as error:
            assert str(error) == "not now", error
        from concurrent.futures import ThreadPoolExecutor
        assert len(loads) == 2
        import multiprocessing.pool, subprocess, threading, inspect
        def base(*_):
            return trace.get().get_base_id()
        def check():
            with ThreadPoolExecutor(1) as pool:
                print(pool.submit(base).result())
            with multiprocessing.pool.ThreadPool(1) as pool:
                print(*pool.map(base, [1]))
            thread = threading.Thread(target=lambda: print(base()))
            thread.start()
            thread.join()
            print(subprocess.check_output([sys.executable, "-c", "import os; print('TRACEPARENT' in os.environ)"], text=True).strip())
        check()
        for module in (subprocess, threading, multiprocessing.pool):
            assert type(module.__loader__) is type(inspect.__loader__) and module.__spec__.loader is module.__loader__
            assert "class " in inspect.getsource(module)
        import concurrent.futures.thread
        importlib.reload(concurrent.futures.thread)
        ThreadPoolExecutor = concurrent.futures.thread.ThreadPoolExecutor
        check()
        """
    assert in_new_process(script) == ["base", "base", "base", "True"] * 2


def test_modules_that_are_other_ones():
    """A module that has not what is changed is left alone, and what is missing stays missing."""
    script = """if 1:
        import sys, types
        pool = sys.modules["multiprocessing.pool"] = types.ModuleType("multiprocessing.pool")
        class Pool:
            def apply(self, function):
                return function
        pool.Pool, before = Pool, Pool.apply
        sys.modules["subprocess"] = None
        from venturi import trace
        trace.init("key")
        assert Pool.apply is before
        try:
            import subprocess
        except ImportError:
            print("none")
        """
    assert in_new_process(script) == ["none"]


def test_workers_of_ones_own():
    """A thread that reads a queue, with what was carried and with what came as a dict."""
    def work():
        for function, answer in iter(tasks.get, None):
            answer.put(function())

    def ask(function):
        answer = queue.Queue()
        tasks.put((function, answer))
        return answer.get(timeout=20)

    def by_message(message):
        with trace.attach(message["trace"], KEY):
            with trace.Trace("served"):
                return ids()
    tasks = queue.Queue()
    thread = threading.Thread(target=work)
    thread.start()
    trace.init(KEY, base_id=BASE)
    with kit.told() as events:
        with trace.Trace("ask") as span:
            assert ask(trace.carry(ids)) == (BASE, span.id)
            message = json.loads(json.dumps({"trace": trace.context()}))
            assert KEY not in json.dumps(message)
            assert ask(lambda: by_message(message))[0] == BASE
        assert ask(ids) is None
    assert kit.shape(events) == [("ask", [("served", [])])]
    tasks.put(None)
    thread.join()


def in_child(function):
    """What the function gives in a forked child."""
    reader, writer = os.pipe()
    pid = os.fork()
    if not pid:
        try:
            os.write(writer, json.dumps(function()).encode())
        finally:
            os._exit(0)
    os.close(writer)
    with open(reader) as file:
        text = file.read()
    os.waitpid(pid, 0)
    return json.loads(text)


def test_fork():
    """What was open stays the parent's; what begins in the child is a child of it."""
    def child():
        events = []
        trace.set_notifier(events.append)
        with trace.Trace("in the child"):
            pass
        trace.stop()
        span.__exit__(None, None, None)
        return events
    trace.init(KEY, base_id=BASE)
    with kit.told() as events:
        span = trace.Trace("open")
        with span as handle:
            trace.start("by hand")
            told = in_child(child)
            assert [(event["name"], event["parent_id"]) for event in told] == [
                ("in the child-start", trace.get().get_id()), ("in the child-stop", trace.get().get_id())]
            trace.stop()
            assert told[0]["trace_id"] not in in_child(lambda: [trace._venturi.TraceOwner(KEY).get_base_id() for _ in range(3)])
        assert handle.id
    assert kit.shape(events) == [("open", [("by hand", [])])]


def test_ids_differ_after_a_fork():
    def make():
        return [trace.Profiler(KEY).get_base_id() for _ in range(50)]
    make()
    every = make() + in_child(make) + in_child(make) + make()
    assert len(set(every)) == len(every)


def test_environment_of_children():
    child = [sys.executable, "-c", "import os; print(os.environ.get('TRACEPARENT'), os.environ.get('TRACESTATE'))"]

    def says(**options):
        return subprocess.run(child, stdout=subprocess.PIPE, text=True, **options).stdout.split()
    assert says() == ["None", "None"]
    profiler = trace.init(KEY, base_id=BASE, parent_id=PARENT)
    expected = "00-f12e75d55d594cbcb74d357f19290dd7-af18d6c92f991f46-01"
    assert says() == [expected, "None"]
    assert says(env={"PATH": os.environ["PATH"]}) == ["None", "None"]
    profiler.tracestate = "a=b"
    assert says(env=trace.environment({"PATH": os.environ["PATH"]})) == [expected, "a=b"]
    assert subprocess.check_output(child, env=None, text=True).split() == [expected, "a=b"]
    assert "TRACEPARENT" not in os.environ
    trace.clean()
    assert says() == ["None", "None"] and trace.environment({"A": "b"}) == {"A": "b"}


def test_from_the_environment():
    script = ("from venturi import trace\nhere = trace.from_environment()\n"
              "print(here and (here.get_base_id(), here.get_id(), here.flags, here.tracestate, here.hmac_key))")
    trace.init(KEY, base_id=BASE, parent_id=PARENT).tracestate = "x=1"
    said = subprocess.run([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True).stdout.strip()
    assert said == repr((BASE, "00000000-0000-0000-af18-d6c92f991f46", 1, "x=1", None))
    trace.clean()
    for text in ("", "nonsense", "00-" + "0" * 32 + "-" + "0" * 16 + "-01"):
        done = subprocess.run([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True, env=dict(os.environ, TRACEPARENT=text))
        assert done.stdout.strip() == "None"


def test_what_is_carried_can_be_pickled():
    import pickle
    trace.init(KEY, base_id=BASE)
    with trace.Trace("x") as span:
        carried = pickle.loads(pickle.dumps(trace.carry(ids)))
    trace.clean()
    assert carried() == (BASE, span.id) and trace.get() is None
    assert pickle.loads(pickle.dumps(trace.carry(ids)))() is None
