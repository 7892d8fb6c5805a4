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


def test_threads_of_pools_are_in_no_trace():
    trace.init(KEY, base_id=BASE)
    with multiprocessing.pool.ThreadPool(2) as pool:
        assert pool.apply(ids) is None
        assert pool.apply(trace.carry(ids)) == (BASE, BASE)
        assert pool.apply(ids) is None


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
