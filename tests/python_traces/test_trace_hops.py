"""One trace over three hops: a thread, a process, and a message to another program; with each way of starting a process."""
import json
import subprocess

import pytest
from in_pythons import VERSIONS, environment, python_or_skip

PROGRAM = '''
import concurrent.futures, json, multiprocessing, os, subprocess, sys, threading
from venturi import trace

KEY = "secret"

def tell(payload):
    with open(os.environ["EVENTS"], "a") as file:
        file.write(json.dumps(dict(payload, pid=os.getpid())) + "\\n")

def call_service():
    """The third hop: a plain dict in a message."""
    message = json.dumps({"method": "charge", "trace": trace.context()})
    assert KEY not in message
    subprocess.run([sys.executable, __file__, "service"], input=message, text=True, check=True, env=dict(os.environ))

def in_process():
    trace.set_notifier(tell)
    with trace.Trace("process"):
        call_service()

def start_process(how):
    """The second hop."""
    context = multiprocessing.get_context(how)
    process = context.Process(target=in_process)
    process.start()
    process.join()
    assert process.exitcode == 0
    with concurrent.futures.ProcessPoolExecutor(1, mp_context=context) as pool:
        pool.submit(in_process).result()
        assert pool.submit(is_traced).result()

def is_traced():
    return trace.get() is not None

def in_thread(how):
    with trace.Trace("thread"):
        start_process(how)

def main(how):
    trace.set_notifier(tell)
    trace.init(KEY, base_id="f12e75d5-5d59-4cbc-b74d-357f19290dd7")
    with trace.Trace("main"):
        thread = threading.Thread(target=in_thread, args=(how,))
        thread.start()
        thread.join()
    trace.clean()
    with concurrent.futures.ProcessPoolExecutor(1, mp_context=multiprocessing.get_context(how)) as pool:
        assert not pool.submit(is_traced).result()
        trace.init(KEY)
        assert pool.submit(is_traced).result()
        trace.clean()
        assert not pool.submit(is_traced).result()
    trace.init(KEY)
    with concurrent.futures.ProcessPoolExecutor(1, mp_context=multiprocessing.get_context(how)) as pool:
        assert pool.submit(is_traced).result()      # its process is started here, in a trace
        trace.clean()
        assert not pool.submit(is_traced).result()

def service():
    message = json.load(sys.stdin)
    trace.set_notifier(tell)
    with trace.attach(message["trace"], KEY):
        with trace.Trace("service"):
            pass
    assert trace.get() is None

if __name__ == "__main__":
    service() if sys.argv[1] == "service" else main(sys.argv[1])
'''


@pytest.mark.parametrize("how", ["fork", "spawn", "forkserver"])
@pytest.mark.parametrize("version", VERSIONS)
def test_three_hops(version, how, tmp_path):
    (tmp_path / "program.py").write_text(PROGRAM)
    done = subprocess.run([python_or_skip(version), tmp_path / "program.py", how], cwd=tmp_path, capture_output=True, text=True,
                          timeout=120, env=environment(EVENTS=str(tmp_path / "events")))
    assert done.returncode == 0, done.stderr
    events = [json.loads(line) for line in (tmp_path / "events").read_text().splitlines()]
    assert {event["base_id"] for event in events} == {"f12e75d5-5d59-4cbc-b74d-357f19290dd7"}
    starts = [event for event in events if event["name"].endswith("-start")]
    names = {event["trace_id"]: event["name"][:-6] for event in starts}
    assert sorted((event["name"][:-6], names.get(event["parent_id"])) for event in starts) == [
        ("main", None), ("process", "thread"), ("process", "thread"), ("service", "process"), ("service", "process"), ("thread", "main")]
    assert len(events) == 2 * len(starts) and len({event["pid"] for event in events}) == 5
