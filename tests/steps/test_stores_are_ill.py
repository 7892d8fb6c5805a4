"""What becomes of the store is nothing to the step: it neither waits nor fails."""
import json
import os
import socket
import threading

import pytest
from stepping import BUILD, TOP, VENTURI, environment, newest_python, program, run


@pytest.fixture
def silent():
    """The address of a server that accepts and never answers, and the number of those who came."""
    server = socket.socket()
    server.bind(("127.0.0.1", 0))
    server.listen(16)
    came = []

    def accept():
        while True:
            try:
                came.append(server.accept()[0])
            except OSError:
                return
    thread = threading.Thread(target=accept, daemon=True)
    thread.start()
    yield "http://127.0.0.1:%d" % server.getsockname()[1], came
    server.shutdown(socket.SHUT_RDWR)
    server.close()
    thread.join(10)
    for each in came:
        each.close()


def refused():
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        return "http://127.0.0.1:%d" % closed.getsockname()[1]


def need_ship():
    if not os.access(os.path.join(BUILD, "venturi-ship"), os.X_OK):
        pytest.skip("venturi-ship is not built")
    if "--ship" not in run([VENTURI, "run", "--help"]).stdout:
        pytest.skip("venturi run knows no --ship")


def counted(spool):
    """Messages in all recordings of a spool."""
    total = 0
    for name in os.listdir(spool):
        if name.endswith(".vt"):
            rows = json.loads(run([VENTURI, "query", "--json", os.path.join(spool, name), "select coalesce(sum(messages), 0) as n from steps"]).stdout)
            total += rows[0]["n"]
    return total


@pytest.mark.parametrize("kind", ["silent", "refused"])
def test_steps_go_on(kind, silent, tmp_path):
    """One of Python and one of C, in one run."""
    need_ship()
    python = newest_python(tmp_path)
    address, came = silent
    address = address if kind == "silent" else refused()
    both = "%s %s && exec %s 5000 5 metrics" % (python.path, os.path.join(TOP, "examples", "step", "run_step.py"), program("tests", "steps", "steps_of_c"))
    done = run([VENTURI, "run", "--spool", tmp_path / "spool", "--ship", address, "--", "sh", "-c", both], cwd=tmp_path,
               env=environment(RESULTS=str(tmp_path / "results.jsonl")), timeout=280)
    said = json.loads(done.stdout)
    assert said["code"] == 0 and said["messages"] == 5000
    assert len((tmp_path / "results.jsonl").read_text().splitlines()) == 200
    assert counted(tmp_path / "spool") == 5200, "nothing was acknowledged, so all of it is kept"
    assert came or kind == "refused"
