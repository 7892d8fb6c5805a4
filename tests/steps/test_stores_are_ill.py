"""What becomes of the store is nothing to the step: it neither waits nor fails."""
import base64
import http.server
import json
import os
import signal
import socket
import subprocess
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


def command_lines(word):
    """Those of all processes, and of these the ones that have a word in them."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open("/proc/%s/cmdline" % pid, "rb") as file:
                words = file.read().decode(errors="replace").split("\0")
        except OSError:
            continue
        if any(word in each for each in words):
            found.append(words)
    return found


@pytest.mark.parametrize("form", [("--ship", "%s"), ("--ship=%s",)])
def test_a_password_is_on_no_command_line(form, silent, tmp_path):
    """Neither on that of `venturi run`, nor on that of the shipper, nor in what the program sees and the recordings hold."""
    need_ship()
    url = silent[0].replace("//", "//somebody:Ge%2Fheim-4711@")
    script = "echo begun; read word; env; tr '\\0' ' ' < /proc/$PPID/cmdline; true"
    process = subprocess.Popen([VENTURI, "run", "-q", "--spool", tmp_path / "spool", *[word.replace("%s", url) for word in form], "--", "sh", "-c", script], env=environment(),
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "begun\n"
    seen = command_lines(str(tmp_path / "spool"))
    assert {os.path.basename(words[0]) for words in seen} == {"venturi", "venturi-ship"}
    leaked = command_lines("heim-4711")
    process.stdin.close()
    out = process.stdout.read()
    os.kill(process.pid, signal.SIGINT)
    err = process.stderr.read()
    process.wait(60)
    process.stdout.close(), process.stderr.close()
    assert not leaked and "heim-4711" not in out + err and "somebody" not in out + err
    for name in os.listdir(tmp_path / "spool"):
        assert b"heim-4711" not in (tmp_path / "spool" / name).read_bytes(), name


def test_the_login_arrives(tmp_path):
    """All of it, though it is on no command line."""
    need_ship()
    asked = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            asked.append(self.headers.get("Authorization"))
            self.send_response(401)
            self.end_headers()
        do_POST = do_PUT = do_HEAD = do_GET

        def log_message(self, *args):
            pass
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        process = subprocess.Popen([VENTURI, "run", "--spool", tmp_path / "spool", "--ship", "http://me:se%%40cret@127.0.0.1:%d" % server.server_address[1], "--",
                                    program("tests", "steps", "steps_of_c"), "50", "5", "metrics"], env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for line in process.stderr:
            if "(401);" in line or "Ctrl-C leaves it" in line:
                process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
    assert asked and set(asked) == {"Basic " + base64.b64encode(b"me:se@cret").decode()}
