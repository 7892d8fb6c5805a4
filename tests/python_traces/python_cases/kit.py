"""What the cases share: a clean start, what a notifier was told, servers on loopback."""
import contextlib
import logging
import os
import signal
import threading
import wsgiref.simple_server

from venturi import clients, propagation, sql, trace, web

KEY = "secret_word"
BASE = "f12e75d5-5d59-4cbc-b74d-357f19290dd7"
PARENT = "b9b29981-0916-4635-af18-d6c92f991f46"
INFO = ("eyJiYXNlX2lkIjogImYxMmU3NWQ1LTVkNTktNGNiYy1iNzRkLTM1N2YxOTI5MGRkNyIsICJwYXJlbnRfaWQiOiAiYjliMjk5ODEtMDkxNi00NjM1LWFmMTgt"
        "ZDZjOTJmOTkxZjQ2In0=")
HMAC = "a29e0a95b9c8836871121bcb24db901761ece411"


def reset():
    """As when the process began."""
    trace.clean()
    trace.set_notifier(None)
    clients.uninstall()
    sql.enable()
    web._enabled, web._keys = None, []
    propagation._rejected = 0


@contextlib.contextmanager
def told():
    """The payloads that our notifier is told."""
    events = []
    trace.set_notifier(events.append)
    try:
        yield events
    finally:
        trace.set_notifier(None)


@contextlib.contextmanager
def logged(name):
    """The messages of a logger."""
    messages = []
    handler = logging.Handler()
    handler.emit = lambda record: messages.append(record.getMessage())
    logger = logging.getLogger(name)
    logger.addHandler(handler)
    before, logger.propagate = logger.propagate, False
    try:
        yield messages
    finally:
        logger.removeHandler(handler)
        logger.propagate = before


def in_a_child(function):
    """Whether the function returns true in a forked child, which has ten seconds for it."""
    child = os.fork()
    if not child:
        signal.alarm(10)  # where it waits for a thread that is not there
        code = 1
        try:
            code = 0 if function() else 2
        finally:
            os._exit(code)
    return os.waitpid(child, 0)[1] == 0


@contextlib.contextmanager
def another_thread(function):
    """Runs a function with two events: it sets the first, then waits for the second, which is set afterwards."""
    entered, go = threading.Event(), threading.Event()
    thread = threading.Thread(target=function, args=(entered, go))
    thread.start()
    try:
        assert entered.wait(20)
        yield
    finally:
        go.set()
        thread.join()


class Quiet(wsgiref.simple_server.WSGIRequestHandler):
    def log_message(self, *args):
        pass


@contextlib.contextmanager
def serve(application):
    """An application on loopback; its address."""
    server = wsgiref.simple_server.make_server("127.0.0.1", 0, application, handler_class=Quiet)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield "http://127.0.0.1:%d" % server.server_port
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


class Node:
    """A span of a list of payloads."""

    def __init__(self, start):
        self.name = start["name"][:-len("-start")]
        self.id, self.parent, self.base = start["trace_id"], start["parent_id"], start["base_id"]
        self.begin = {key: value for key, value in start["info"].items() if key != "host"}
        self.end = None
        self.children = []

    def shape(self):
        return (self.name, [child.shape() for child in self.children])


def nodes(events):
    """Every span, in order of their begin; each has stopped, once."""
    found = {}
    for event in events:
        if event["name"].endswith("-start"):
            node = found[event["trace_id"]] = Node(event)
            if node.parent in found:
                found[node.parent].children.append(node)
        else:
            node = found[event["trace_id"]]
            assert node.end is None, event
            assert event["name"] == node.name + "-stop" and event["parent_id"] == node.parent, event
            node.end = {key: value for key, value in event.get("info", {}).items() if key != "host"}
    assert all(node.end is not None for node in found.values()), events
    return list(found.values())


def shape(events):
    """The trees of names."""
    every = nodes(events)
    ids = {node.id for node in every}
    return [node.shape() for node in every if node.parent not in ids]
