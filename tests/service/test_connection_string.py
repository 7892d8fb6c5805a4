"""`connection_string` of a service's file: its spans reach the store, whoever wrote the service, and the service never waits for it."""
import json
import os
import subprocess
import sys
import time

import pytest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "lib"))

import trace_stores  # noqa: E402
from opensearch import OpenSearch  # noqa: E402
from otlp_collector import Collector  # noqa: E402
from recorded import BUILD, run  # noqa: E402
from redis_stub import RedisStub  # noqa: E402
from trace_stores import PACKAGE, VENTURI, Redis, free_port, python_or_skip, shown, venturi  # noqa: E402

pytestmark = trace_stores.pytestmark
SERVICE = os.path.join(BUILD, "tests", "programs", "service")
SHIP = os.path.join(os.path.dirname(VENTURI), "venturi-ship")

PROGRAM = """
import sys
from venturi import configuration, trace
configuration.setup(sys.argv[1], project="shop", service="till")
trace.init("K")
with trace.Trace("order"):
    with trace.Trace("charge", info={"card": 7}):
        pass
print(trace.get().get_base_id())
"""
COMPAT = """
import sys
from venturi.compat.osprofiler import initializer, opts, profiler
initializer.init_from_conf(opts.Conf(sys.argv[1]), None, "shop", "till", "h")
own = profiler.init("K")
with profiler.Trace("order"):
    with profiler.Trace("charge", info={"card": 7}):
        pass
print(own.get_base_id())
"""


@pytest.fixture
def redis(tmp_path):
    with Redis(tmp_path) as one:
        yield one


def conf_of(folder, connection):
    path = folder / "service.conf"
    path.write_text(f"[profiler]\nenabled = True\nhmac_keys = secret\nconnection_string = {connection}\n")
    return path


def environment(folder):
    env = {key: value for key, value in os.environ.items() if not key.startswith(("VENTURI", "PYTHON")) and not key.lower().endswith("_proxy")}
    return dict(env, VENTURI_SHIP_SPOOL=str(folder / "spool"), PYTHONPATH=PACKAGE)


def python(folder, text, connection, **more):
    if not os.path.isdir(PACKAGE):
        pytest.skip("the extension is not built")
    return run([python_or_skip("3.11"), "-c", text, conf_of(folder, connection)], env={**environment(folder), **more})


def until(what, seconds=120):
    """The store has it some time after the service has ended."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        found = what()
        if found:
            return found
        time.sleep(0.1)
    raise AssertionError("it never arrived")


def fetched(base, url):
    done = venturi("trace", "show", base, "--from", url, "--json", check=False)
    return json.loads(done.stdout) if not done.returncode else None


def whole(base, url, count=2):
    def look():
        trace = fetched(base, url)
        return trace if trace and trace["span_count"] == count and not trace["unfinished"] else None
    return until(look)


@pytest.mark.parametrize("text", [PROGRAM, COMPAT], ids=["configuration", "compat"])
def test_python_to_redis(redis, tmp_path, text):
    done = python(tmp_path, text, redis.url + "/0")
    assert done.stderr == ""
    trace = whole(done.stdout.strip(), redis.url)
    assert [span["name"] for span in trace["spans"]] == ["order", "charge"] and trace["spans"][1]["attrs"]["card"] == 7
    assert trace["processes"][0]["service"] == "till" and trace["processes"][0]["project"] == "shop"


def test_python_to_a_file(tmp_path):
    store = f"file://{tmp_path}/traces.jsonl"
    base = python(tmp_path, PROGRAM, store).stdout.strip()
    until(lambda: os.path.exists(store[7:]) and open(store[7:]).read().count("\n") == 4)
    assert shown(base, "--from", store)["span_count"] == 2


def test_python_to_elasticsearch(tmp_path):
    with OpenSearch(tmp_path) as node:
        store = f"elasticsearch://127.0.0.1:{node.port}"
        base = python(tmp_path, PROGRAM, store).stdout.strip()
        trace = whole(base, store)
        assert [span["name"] for span in trace["spans"]] == ["order", "charge"] and trace["processes"][0]["service"] == "till"


def test_python_to_otlp(tmp_path):
    with Collector(tmp_path) as collector:
        base = python(tmp_path, PROGRAM, collector.url).stdout.strip()
        until(lambda: collector.said().count("traces ") >= 1)
    spans = [span for kind, message in collector.took() if kind == "traces" for resource in message["resourceSpans"]
             for scope in resource["scopeSpans"] for span in scope["spans"]]
    assert {span["name"] for span in spans} == {"order", "charge"} and {span["traceId"] for span in spans} == {base.replace("-", "")}


def test_a_store_that_is_away_costs_the_service_nothing(tmp_path):
    """It ends as ever; what was recorded waits in the spool, and is sent when somebody sends it."""
    connection = f"redis://127.0.0.1:{free_port()}"
    spool = tmp_path / "spool"
    done = python(tmp_path, PROGRAM, connection)
    assert done.stderr == "" and len(done.stdout.strip()) == 36
    until(lambda: list(spool.glob("*.vt")))
    with Redis(tmp_path) as redis:
        def sent():
            venturi("ship", spool, "--to", redis.url, "--once", "-q", check=False)
            return fetched(done.stdout.strip(), redis.url)
        assert until(sent)["span_count"] == 2


def test_c_to_redis(redis, tmp_path):
    if not os.path.exists(SERVICE):
        pytest.skip("libventuri-net is not built: no libcrypto")
    headers = venturi("trace", "request", "--help", check=False)  # only that the tool is whole
    assert headers.returncode == 0
    import base64
    import hashlib
    import hmac
    import uuid
    base = str(uuid.uuid4())
    info = base64.urlsafe_b64encode(json.dumps({"base_id": base, "parent_id": base}).encode()).decode()
    signed = hmac.new(b"secret", info.encode(), hashlib.sha1).hexdigest()
    done = run([SERVICE, "conf", conf_of(tmp_path, redis.url + "/0")], input=f"X-Trace-Info: {info}\nX-Trace-HMAC: {signed}\n\n", env=environment(tmp_path))
    assert base in done.stdout, done.stdout
    trace = until(lambda: fetched(base, redis.url))
    assert trace["trace"] == base and trace["span_count"] >= 1


def test_a_program_that_is_recorded_already(redis, tmp_path):
    """Its spans are in the recording, and it is said that they go nowhere else."""
    if not os.path.isdir(PACKAGE):
        pytest.skip("the extension is not built")
    script = tmp_path / "till.py"
    script.write_text(PROGRAM)
    done = run([VENTURI, "run", "-q", "-o", tmp_path / "till.vt", "--", python_or_skip("3.11"), script, conf_of(tmp_path, redis.url)], env=environment(tmp_path))
    assert "recorded already" in done.stderr and done.stderr.count("\n") == 1
    assert shown(done.stdout.strip(), tmp_path / "till.vt")["span_count"] == 2
    assert redis.ask("DBSIZE") == 0


def seen_of(folder):
    """Command lines and environments of all processes that are started for its spool."""
    found = {}
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as words, open(f"/proc/{pid}/environ", "rb") as names:
                line, names = words.read(), names.read()
        except OSError:
            continue
        program = os.path.basename(line.split(b"\0")[0]).decode(errors="replace")
        if str(folder / "spool").encode() in line and program.startswith("venturi-"):
            found[program] = line + names
    return found


@pytest.mark.parametrize("language", ["C", "Python"])
def test_the_password_is_in_no_message_on_no_command_line_in_no_environment(tmp_path, language):
    """Nowhere but in the memory of those who need it: neither drainer nor shipper shows it, and the shipper has it all the same."""
    with RedisStub(lambda words: b"-NOAUTH no\r\n") as stub:
        conf = conf_of(tmp_path, stub.url.replace("://", "://:hunter2@"))
        if language == "C" and not os.path.exists(SERVICE):
            pytest.skip("libventuri-net is not built: no libcrypto")
        if language == "Python" and not os.path.isdir(PACKAGE):
            pytest.skip("the extension is not built")
        command = [SERVICE, "conf", conf] if language == "C" else [python_or_skip("3.11"), "-c", PROGRAM + "input()", conf]
        child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment(tmp_path))
        try:
            until(lambda: {"venturi-drain", "venturi-ship"} <= set(seen_of(tmp_path)))
            seen = seen_of(tmp_path)
        finally:
            _, err = child.communicate("\n", timeout=60)
        assert not any(b"hunter2" in text for text in seen.values())
        assert "hunter2" not in err
        if language == "Python":  # what it has recorded is to be sent
            until(lambda: [b"AUTH", b"hunter2"] in stub.commands)
