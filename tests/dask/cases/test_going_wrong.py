"""Tasks that raise, exit, crash, never end or cannot travel: one clear error that names the key, and nothing hangs."""
import os
import pickle
import signal
import subprocess
import sys
import threading
import time

import pytest

import venturi.dask
import venturi.dask.multiprocessing
import venturi.dask.threaded
from venturi.dask import _pickling

GETS = [venturi.dask.get, venturi.dask.threaded.get, venturi.dask.multiprocessing.get]
each_get = pytest.mark.parametrize("get", GETS, ids=["sync", "threads", "processes"])
in_processes = venturi.dask.multiprocessing.get


class Mine(Exception):
    def __init__(self, a, b):
        super().__init__(a, b)
        self.a = a


def fail(*needs):
    raise Mine("why", 2)


def text_of(error):
    return str(error) + " ".join(getattr(error, "__notes__", ()))


@each_get
def test_what_a_task_raises(get):
    ran = []
    with pytest.raises(Mine) as caught:
        get({"x": 1, "bad": (fail, "x"), "y": (ran.append, "bad")}, "y", num_workers=2)
    assert caught.value.a == "why" and caught.value.__venturi_key__ == "bad" and not ran
    if sys.version_info >= (3, 11):
        assert "'bad'" in text_of(caught.value) and "worker" in text_of(caught.value)
    if get is in_processes:
        assert "in fail" in str(caught.value.__cause__)
    else:
        names = []
        trace = caught.value.__traceback__
        while trace:
            names.append(trace.tb_frame.f_code.co_name)
            trace = trace.tb_next
        assert names[-1] == "fail"


def test_the_same_object_is_raised():
    error = ValueError("mine")

    def throw():
        raise error

    for get in GETS[:2]:
        with pytest.raises(ValueError) as caught:
            get({"x": (throw,)}, "x")
        assert caught.value is error


@each_get
@pytest.mark.parametrize("kind", [SystemExit, KeyboardInterrupt])
def test_what_ends_programs(get, kind):
    def end():
        raise kind(3)

    with pytest.raises(kind) as caught:
        get({"x": (end,), "y": (abs, "x")}, "y", retries=5, num_workers=2)
    assert caught.value.__venturi_key__ == "x"


@each_get
def test_retries(get, tmp_path):
    path = str(tmp_path / "tries")

    def now_and_then():
        with open(path, "a") as file:
            file.write("x")
        if os.path.getsize(path) < 3:
            raise ValueError("not yet")
        return os.path.getsize(path)

    assert get({"x": (now_and_then,)}, "x", retries=2, num_workers=1) == 3
    os.remove(path)
    with pytest.raises(ValueError, match="not yet"):
        get({"x": (now_and_then,)}, "x", retries=1, num_workers=1)


@each_get
def test_going_on(get, tmp_path):
    def mark(i):
        (tmp_path / str(i)).touch()

    graph = {("mark", i): (mark, i) for i in range(5)}
    graph["bad"] = (fail,)
    graph["after"] = (mark, 9, "bad")
    graph["all"] = (len, list(graph))
    with pytest.raises(Mine):
        get(graph, "all", keep_going=True, num_workers=2)
    assert sorted(os.listdir(tmp_path)) == list("01234")


def test_a_task_that_never_ends():
    stop = threading.Event()
    try:
        for get in (venturi.dask.threaded.get, in_processes):
            wait = stop.wait if get is not in_processes else time.sleep
            with pytest.raises(TimeoutError, match="^task 'forever' took longer than 0.3 s on worker [01] after 1 try(\n|$)"):
                get({"forever": (wait, 1000)}, "forever", timeout=0.3, num_workers=2)
    finally:
        stop.set()
    with pytest.raises(TimeoutError, match="'slow'"):
        venturi.dask.get({"slow": (time.sleep, 0.1)}, "slow", timeout=0.01)


@pytest.mark.parametrize("how", ["exit", "crash"])
def test_a_worker_that_dies(how):
    def die():
        if how == "exit":
            os._exit(5)
        os.kill(os.getpid(), signal.SIGSEGV)

    with pytest.raises(RuntimeError, match="'dies'") as caught:
        in_processes({"dies": (die,), "y": (abs, "dies")}, "y", num_workers=2)
    assert caught.value.__venturi_key__ == "dies"


def test_what_cannot_be_pickled():
    lock = threading.Lock()
    with pytest.raises(Exception, match="cannot be sent") as caught:
        in_processes({"x": (lambda l: 1, (lock,))}, "x", num_workers=1)
    assert caught.value.__venturi_key__ == "x"
    with pytest.raises(Exception, match="pickle") as caught:
        in_processes({"data": lock, "x": (bool, "data")}, "x", num_workers=1)
    assert caught.value.__venturi_key__ == "data"
    with pytest.raises(Exception, match="result cannot be pickled") as caught:
        in_processes({"x": (threading.Lock,)}, "x", num_workers=1)
    assert caught.value.__venturi_key__ == "x"


def test_an_exception_that_cannot_travel():
    def throw():
        class Odd(Exception):
            def __reduce__(self):
                raise TypeError("no")

        raise Odd("text of it")

    with pytest.raises(RuntimeError, match="Odd: text of it") as caught:
        in_processes({"x": (throw,)}, "x", num_workers=1)
    assert caught.value.__venturi_key__ == "x"


def test_an_initializer_that_fails():
    with pytest.raises(Mine, match="why") as caught:
        in_processes({"x": (len, [1])}, "x", num_workers=1, initializer=fail)
    assert caught.value.__venturi_key__ == "x"


@pytest.mark.parametrize("scheduler", ["sync", "threads", "processes"])
def test_interrupt(scheduler):
    code = (
        "import sys, time, operator, venturi.dask\n"
        "graph = {i: (time.sleep, 0.05) for i in range(10000)}\n"
        "if __name__ == '__main__':\n"
        "    def begun(*a): print('begun', flush=True)\n"
        "    try:\n"
        f"        venturi.dask.get(graph, list(graph), scheduler={scheduler!r}, num_workers=2, callbacks=[(None, begun, None, None, None)])\n"
        "    except KeyboardInterrupt:\n"
        "        print('interrupted', flush=True)\n")
    program = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        assert program.stdout.readline() == "begun\n"
        program.send_signal(signal.SIGINT)
        out, err = program.communicate(timeout=60)
    finally:
        program.kill()
        program.wait()
    assert (program.returncode, out) == (0, "interrupted\n"), err


class Keeping:
    """Keeps the last run."""

    def _run_begins(self, run):
        self.run = run

    def _run_ends(self, run):
        pass


@pytest.fixture
def keeping():
    keeping = Keeping()
    venturi.dask._observe(keeping)
    yield keeping
    venturi.dask._unobserve(keeping)


# Tasks of some milliseconds that run no Python code: the interpreter itself looks at nothing between them.
NO_PYTHON = {("sum", i): (sum, (range, 200_000)) for i in range(60)}


def test_interrupt_of_tasks_that_run_no_python(keeping):
    def interrupt(number, frame):
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        with pytest.raises(KeyboardInterrupt):
            signal.setitimer(signal.ITIMER_REAL, 0.03)
            venturi.dask.get(NO_PYTHON, list(NO_PYTHON))
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert not hasattr(keeping, "run") or keeping.run.done < 60  # it may come before anything has begun


def test_others_get_a_turn(keeping):
    turns, done = [], threading.Event()

    def other():
        while not done.is_set():
            turns.append(time.time())
            time.sleep(0.001)

    thread = threading.Thread(target=other)
    thread.start()
    try:
        venturi.dask.get(NO_PYTHON, list(NO_PYTHON))
    finally:
        done.set()
        thread.join()
    tasks = keeping.run.tasks()
    assert [turn for turn in turns if tasks[0][3] < turn < tasks[-1][2]]


@each_get
def test_rerun_locally(get):
    here = []

    def bad():
        here.append(os.getpid())
        raise Mine("again", 1)

    with pytest.raises(Mine):
        get({"x": (bad,)}, "x", rerun_exceptions_locally=True, num_workers=1)
    assert here[-1] == os.getpid()


def test_raise_exception():
    class Other(Exception):
        pass

    def instead(error, traceback):
        raise Other(error)

    with pytest.raises(Other):
        venturi.dask.get({"x": (fail,)}, "x", raise_exception=instead)


def test_many_failures_at_once():
    """Values and exceptions that run code when they go, while other threads fail too."""

    class Slow:
        def __del__(self):
            time.sleep(0)

    def bad(slow):
        kept = Slow()
        time.sleep(0)
        raise ValueError(kept)

    graph = {}
    for i in range(300):
        graph["make", i] = (Slow,)
        graph["bad", i] = (bad, ("make", i))
        graph["after", i] = (lambda *needs: Slow(), ("bad", i), ("make", i))
    for options in ({}, {"callbacks": [(None, None, lambda *a: None, None, None)]}):
        with pytest.raises(ValueError):
            venturi.dask.threaded.get(graph, list(graph), keep_going=True, num_workers=4, **options)


def test_what_the_engine_is_told_is_checked():
    from venturi import _venturi

    def get(scheduler, **more):
        return _venturi.graph_get({"x": (len, "ab")}, "x", scheduler, 1, [], [], **more)

    assert get("sync") == 2
    with pytest.raises(TypeError, match="known is a dict"):
        get("sync", known=[])
    with pytest.raises(TypeError, match="pickle"):
        get("processes", worker_command=["/bin/false"])
    with pytest.raises(ValueError, match="4097 threads"):
        _venturi.graph_block_run(b"", {}, [], 4097, False)


def test_a_result_that_cannot_be_loaded():
    class Odd:
        def __reduce__(self):
            return int, ("no number",)

    with pytest.raises(ValueError, match="no number") as caught:
        in_processes({"x": (Odd,)}, "x", num_workers=1)
    assert caught.value.__venturi_key__ == "x"


@pytest.mark.parametrize("number", [-1, 4097, "many"])
def test_numbers_of_workers_that_cannot_be(number):
    for get in (venturi.dask.threaded.get, venturi.dask.multiprocessing.get):
        with pytest.raises(ValueError, match="num_workers is " + repr(number)):
            get({"x": 1}, "x", num_workers=number)
    assert venturi.dask.threaded.get({"x": (abs, -1)}, "x", num_workers=0) == 1  # as many as CPUs, as with dask


def test_what_cloudpickle_could_do(monkeypatch):
    monkeypatch.setattr(_pickling, "cloudpickle", None)
    with pytest.raises(pickle.PicklingError, match="cloudpickle"):
        venturi.dask.multiprocessing.get({"x": (lambda: 1,)}, "x", num_workers=1)
