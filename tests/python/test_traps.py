"""Programs that do what hooks trip over."""
from test_hooks import result


def test_threads_with_a_name_of_their_own(python):
    """A class of the program that has Python code where threading keeps the name of a thread."""
    assert result(python, """
        import threading
        class Thread(threading.Thread):
            @property
            def _name(self): asked.append(threading.current_thread() is self); return self.__dict__.get("kept", "x")
            @_name.setter
            def _name(self, name): self.__dict__["kept"] = name
            def run(self): leaf()
        def leaf(): pass
        asked = []
        def run():
            asked.clear()
            thread = Thread(name="a")
            thread.start(), thread.join()
            return len(asked)
        alone = run()
        with profiled() as p: seen = run()
        tell([p.calls("leaf"), seen - alone])
        """) == [1, 0]


def test_a_module_that_loads_late(python):
    """One that only has the name of the package greenlet, and Python code where it is asked for anything."""
    assert result(python, """
        import threading, types
        class Late(types.ModuleType):
            def __getattr__(self, name):
                asked.append(name)
                raise AttributeError(name)
        asked = []
        sys.modules["greenlet"] = Late("greenlet")
        def leaf(): pass
        with profiled() as p:
            thread = threading.Thread(target=leaf)
            thread.start(), thread.join()
        tell([p.calls("leaf"), asked])
        """) == [1, []]


def test_many_suspended_at_once(python):
    """Each of them was suspended for as long as the pause at least, and none is mixed up with another."""
    count, resumes, suspended = result(python, """
        import time
        def steps(): yield 1; yield 2
        with profiled() as p:
            all = [steps() for _ in range(30000)]
            for one in all: next(one)
            time.sleep(0.3)
            for one in all: next(one)
        row = p.named("steps")
        tell([row[6], row[9], row[10]])
        """)
    assert (count, resumes) == (60000, 30000)
    assert suspended >= 30000 * 0.3


def test_suspended_while_nobody_looked(python):
    """Another generator may be where one was that is gone, and has taken its first step unseen."""
    assert result(python, """
        import time
        def steps(): yield 1; yield 2; yield 3
        with profiled():
            one = steps()
            next(one)
        del one
        time.sleep(0.05)
        two = steps()
        next(two)
        with profiled() as p: next(two)
        row = p.named("steps")
        tell([row[6], row[9], row[10]])
        """) == [1, 1, 0]


def test_a_start_within_a_start(python):
    """The first one measures what a call costs, for which it runs Python code: others may start and stop meanwhile."""
    seen, calls = result(python, """
        seen = 0
        def trace(frame, event, argument):
            global seen
            if frame.f_code.co_filename == "<venturi>" and event == "call":
                seen += 1
                if seen == 20000:
                    sys.settrace(None)
                    _venturi.start(), _venturi.stop()
                    sys.settrace(trace)
        from venturi import _venturi
        def leaf(): pass
        sys.settrace(trace)
        with profiled() as p:
            sys.settrace(None)
            leaf()
        tell([seen, p.has("leaf") and p.calls("leaf")])
        """)
    assert seen > 20000 and calls == 1
