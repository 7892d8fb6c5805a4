"""The hand-over of the shared memory: drainers that are not what they should be cost a program its recording only."""
import os
import subprocess
import sys

import pytest

from conftest import Run, VENTURI, program

GENEROUS = 60  # seconds; what is tested is that it ends at all


def session_name(path):
    """The abstract socket of the helper that would record into `path`."""
    value = 0xcbf29ce484222325
    for byte in os.fsencode(path):
        value = (value ^ byte) * 0x100000001b3 % 2**64
    return f"venturi-{os.geteuid()}-{value:016x}"


def run_alone(path):
    return subprocess.run([program("ends"), "exit", "100"], capture_output=True, text=True, timeout=GENEROUS,
                          env={**os.environ, "VENTURI_OUTPUT": str(path)})


def check_not_recorded(done, path, why):
    assert done.returncode == 7
    assert done.stdout == '{"spans": 101}\n'
    assert done.stderr == f"venturi: {path}: not recording: {why}\n"
    assert not path.exists()


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root to be another user too")
def test_a_drainer_of_another_user(tmp_path):
    """Somebody else listens under the session's name: root does not talk to it."""
    path = tmp_path / "out.vt"
    script = ("import os, socket, sys\nos.setgid(65534)\nos.setuid(65534)\n"
              "server = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)\n"
              "server.bind('\\0' + sys.argv[1])\nserver.listen()\nprint('ready', flush=True)\n"
              "while True: print('said', server.accept()[0].recv(100), flush=True)\n")
    fake = subprocess.Popen([sys.executable, "-c", script, session_name(path)], stdout=subprocess.PIPE,
                            stderr=subprocess.DEVNULL, text=True)
    try:
        assert fake.stdout.readline() == "ready\n"
        check_not_recorded(run_alone(path), path, "the session belongs to another user")
    finally:
        fake.kill()
        said = fake.stdout.read()
        fake.wait()
    assert said.replace("said b''\n", "") == "", "not even the request was sent"


@pytest.fixture
def fake(tmp_path):
    """fake(how) starts a drainer that hands over memory with that fault; the output it stands for."""
    started = []

    def start(how):
        path = tmp_path / "out.vt"
        started.append(subprocess.Popen([program("fake"), session_name(path), how], stdout=subprocess.PIPE, text=True))
        assert started[0].stdout.readline() == "ready\n"
        return path
    yield start
    for child in started:
        child.kill()
        child.communicate()


@pytest.mark.parametrize("how, why", [
    ("open", "the drainer's memory is not what it should be"),
    ("short", "the drainer's memory is not what it should be"),
    ("long", "the drainer's memory is not what it should be"),
    ("tiny", "the drainer's memory is not what it should be"),
    ("file", "the drainer's memory is not what it should be"),
    ("blocks", "the drainer is of another version"),
    ("version", "the drainer is of another version"),
    ("nothing", "the drainer sent no memory")])
def test_memory_that_is_refused(fake, how, why):
    path = fake(how)
    check_not_recorded(run_alone(path), path, why)


def test_memory_that_is_not_refused(fake):
    """The same drainer without a fault: it is the fault that the others are refused for."""
    done = run_alone(fake("good"))
    assert done.returncode == 7 and done.stderr == ""


# Run by the program's parent, `venturi run`, which it stops before the program starts.
STOPPED = """
kill -STOP $PPID
{fill}
"$@"
code=$?
kill -CONT $PPID
exit $code
"""

FILL = """
import os, socket
clients = []
while True:
    client = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    client.setblocking(False)
    try:
        client.connect(chr(0) + os.environ["VENTURI_SESSION"])
    except BlockingIOError:
        break
    clients.append(client)
print("ready", flush=True)
os.read(0, 1)
"""


def run_stopped(tmp_path, fill):
    path = tmp_path / "out.vt"
    done = subprocess.run([VENTURI, "run", "-o", path, "sh", "-c", STOPPED.format(fill=fill), "sh", program("ends"),
                           "exit", "100"], capture_output=True, text=True, timeout=GENEROUS)
    assert done.returncode == 7, done.stderr
    return Run(done, path), done.stderr


def test_a_drainer_that_does_not_answer(tmp_path):
    """The program goes on without being recorded, and it is said why."""
    run, said = run_stopped(tmp_path, "")
    assert run.facts == {"spans": 101}
    assert "1 process was not recorded: the drainer did not answer in time" in said
    assert "ulimit" not in said
    assert run.recording.events == 0


def test_a_drainer_that_accepts_nobody(tmp_path):
    """Stopped, and its queue is full: connecting itself would wait for ever."""
    (tmp_path / "fill.py").write_text(FILL)
    fill = (f"mkfifo {tmp_path}/in {tmp_path}/out; exec 8<>{tmp_path}/in 9<>{tmp_path}/out\n"
            f"{sys.executable} {tmp_path}/fill.py <&8 >&9 &\nread ready <&9")
    fill += "\ntrap 'echo >&8' EXIT"
    run, _ = run_stopped(tmp_path, fill)
    assert run.facts == {"spans": 101}
    assert run.recording.events == 0
