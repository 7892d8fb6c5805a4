"""What the tests of traces in stores share: the real osprofiler in a process of its own, Redis, notifications that are known, the tool."""
import json
import os
import shutil
import socket
import subprocess
import sys
import time
import uuid

import pytest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(os.path.dirname(HERE), "python_run")]

from interpreters import PACKAGE, python_or_skip  # noqa: E402
from recorded import BUILD, TOP, VENTURI, run  # noqa: E402

FETCH = os.path.join(os.path.dirname(VENTURI), "venturi-fetch")
STORES = os.path.join(TOP, "build", "neighbours", "3.11-stores")

pytestmark = pytest.mark.skipif(not os.path.exists(FETCH), reason="venturi-fetch is not built: no libcurl or no OpenSSL")

# A service with the real osprofiler; URL and a mark come as arguments, what it read or wrote goes out as JSON.
PEER = r"""
import json, sys
from oslo_config import cfg
from osprofiler import notifier, opts, profiler
from osprofiler.drivers import base

action, url = sys.argv[1:3]
conf = cfg.ConfigOpts()
opts.set_defaults(conf, enabled=True, connection_string=url)
conf.set_default("filter_error_trace", True, group="profiler")
conf.set_default("es_doc_type", "notification", group="profiler")
conf([])
if action == "write":
    driver = base.get_driver(url, project="mistral", service="engine", host="h", conf=conf)
    sent = []
    def notify(info, context=None):
        driver.notify(dict(info))
        sent.append(dict(info, project="mistral", service="engine"))
    notifier.set(notify)
    own = profiler.init("K")
    with profiler.Trace("wsgi", info={"request": {"path": "/v2/\u00e9", "query": "", "method": "GET", "scheme": "http"}}):
        for i in range(int(sys.argv[3])):
            with profiler.Trace("db", info={"db": {"statement": "SELECT %d" % i, "params": {"n": i}}}):
                pass
        try:
            with profiler.Trace("rpc-call"):
                raise ValueError("bad thing")
        except ValueError:
            pass
    print(json.dumps({"base": own.get_base_id(), "sent": sent}))
elif action == "report":
    print(json.dumps(base.get_driver(url, conf=conf).get_report(sys.argv[3])))
else:
    driver = base.get_driver(url, conf=conf)
    print(json.dumps({"all": driver.list_traces(), "errors": driver.list_error_traces()}))
"""


def stores_or_skip():
    if not os.path.exists(os.path.join(STORES, "done")):
        pytest.skip("no 3.11-stores among the neighbours: run tools/neighbours")
    return STORES


def peer(*words):
    """Asks the real osprofiler."""
    env = {key: value for key, value in os.environ.items() if not key.startswith(("VENTURI", "PYTHON", "OS_")) and not key.lower().endswith("_proxy")}
    env.update(PYTHONPATH=stores_or_skip(), PYTHONDONTWRITEBYTECODE="1", PYTHONWARNINGS="ignore")
    return json.loads(run([python_or_skip("3.11"), "-c", PEER, *words], env=env).stdout)


def venturi(*words, check=True, **more):
    env = {key: value for key, value in os.environ.items() if not key.startswith("VENTURI_STORE") and not key.lower().endswith("_proxy")}
    env.update(LC_ALL="C.UTF-8", **more)
    return run([VENTURI, *words], check=check, env=env, stdin=subprocess.DEVNULL)


def ship(path, url, *options, check=True):
    return venturi("ship", path, "--to", url, "--once", "-q", *options, check=check)


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Redis:
    """Debian's redis-server on a free port, without a file."""

    def __init__(self, folder, *options):
        if not shutil.which("redis-server"):
            pytest.skip("no redis-server on this machine")
        self.folder, self.options, self.process, self.port = str(folder), options, None, None

    @property
    def url(self):
        return f"redis://127.0.0.1:{self.port}"

    def __enter__(self):
        for _ in range(5):  # somebody else may take the port
            self.port = free_port()
            self.start()
            if self.process.poll() is None:
                return self
        raise AssertionError("redis-server did not start")

    def start(self):
        self.process = subprocess.Popen(["redis-server", "--port", str(self.port), "--bind", "127.0.0.1", "--save", "", "--dir", self.folder,
                                         *self.options], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        for _ in range(1200):
            if self.process.poll() is not None:
                return
            try:
                socket.create_connection(("127.0.0.1", self.port), 1).close()
                return
            except OSError:
                time.sleep(0.05)

    def ask(self, *words):
        """One command; bytes or text in, what the protocol says out."""
        with socket.create_connection(("127.0.0.1", self.port), 60) as link, link.makefile("rb") as answer:
            words = [word if isinstance(word, bytes) else str(word).encode() for word in words]
            link.sendall(b"*%d\r\n" % len(words) + b"".join(b"$%d\r\n%s\r\n" % (len(word), word) for word in words))
            return self._read(answer)

    def _read(self, answer):
        sign, rest = (line := answer.readline())[:1], line[1:-2]
        if sign == b"*":
            return [self._read(answer) for _ in range(int(rest))]
        if sign == b"$":
            return None if rest == b"-1" else answer.read(int(rest) + 2)[:-2]
        if sign == b"-":
            raise AssertionError(rest.decode())
        return int(rest) if sign == b":" else rest

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()


def notifications(spans=5, base=None, begin=1_794_800_000_000_000, service="engine", project="mistral", fails=()):
    """A root and what is in it, in osprofiler's words; times in microseconds."""
    base = base or str(uuid.uuid4())
    ids = [str(uuid.uuid4()) for _ in range(spans)]
    found = []

    def add(name, at, us, info):
        seconds, rest = divmod(begin + us, 1_000_000)
        found.append({"name": name, "base_id": base, "trace_id": ids[at], "parent_id": ids[0] if at else base,
                      "timestamp": time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(seconds)) + ".%06d" % rest,
                      "info": dict(info, host="vm"), "project": project, "service": service})

    add("wsgi-start", 0, 0, {"request": {"path": "/x", "method": "GET"}})
    for i in range(1, spans):
        add("db-call-start", i, 1000 * i, {"db": {"statement": "SELECT %d" % i}})
        add("db-call-stop", i, 1000 * i + 400, {"etype": "ValueError", "message": "bad é"} if i in fails else {})
    add("wsgi-stop", 0, 1000 * spans, {})
    return base, found


def imported(folder, events, name="made.vt"):
    """A recording of these notifications."""
    lines, path = folder / (name + ".jsonl"), folder / name
    lines.write_text("".join(json.dumps(event) + "\n" for event in events))
    venturi("import", lines, "-o", path, "-f", "osnotes")
    return path


PROGRAM = """
from venturi import trace
trace.set_service(project="shop", service="till")
trace.init("K")

@trace.trace("charge", hide_result=False)
def charge(card, amount):
    return amount * 2

with trace.Trace("order", info={"request": {"path": "/x", "method": "POST"}}) as span:
    for i in range(3):
        charge(i, 2.5)
    try:
        with trace.Trace("refuse-it"):
            raise KeyError("\\u00e9 <b>")
    except KeyError:
        pass
    span["n"] = 3
print(trace.get().get_base_id())
"""


def recorded_program(folder):
    """(its trace, the recording) of a program in Python."""
    if not os.path.isdir(PACKAGE):
        pytest.skip("the extension is not built")
    script, path = folder / "till.py", folder / "till.vt"
    script.write_text(PROGRAM)
    env = {key: value for key, value in os.environ.items() if not key.startswith(("VENTURI", "PYTHON"))}
    done = run([VENTURI, "run", "-q", "-o", path, "--", python_or_skip("3.11"), script], env=dict(env, PYTHONPATH=PACKAGE))
    return done.stdout.strip(), path


def shown(base, *where):
    return json.loads(venturi("trace", "show", base, *where, "--json").stdout)


class Essence(list):
    """What must be the same wherever a trace is kept: all but the order of facts, and begins to the microsecond."""

    def __init__(self, trace):
        super().__init__(sorted((span["id"], span["parent"], span["name"], span["duration_ns"] // 1000, str(span["error"]), json.dumps(
            {key: value for key, value in span["attrs"].items() if key not in ("host", "project", "service")}, sort_keys=True))
            for span in trace["spans"]))
        self.begins = [span["begin_ns"] + trace["begin_ns"] for span in sorted(trace["spans"], key=lambda span: span["id"])]

    def __eq__(self, other):
        return super().__eq__(other) and all(abs(one - two) <= 1000 for one, two in zip(self.begins, other.begins))


essence = Essence


def nodes(report):
    """Of osprofiler's report: id -> (name, parent, begin and end payloads)."""
    found, left = {}, list(report["children"])
    while left:
        node = left.pop()
        left += node["children"]
        payloads = {key[17:]: value for key, value in node["info"].items() if key.startswith("meta.raw_payload.")}
        found[node["trace_id"]] = (node["info"]["name"], node["parent_id"], payloads, node["info"].get("exception"))
    return found
