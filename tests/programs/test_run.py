"""`venturi run` is not there, as far as the program can tell."""
import os
import pty
import select
import signal
import subprocess
import sys
import time

import pytest

from conftest import SANITIZE, VENTURI, Recording, child_of, program


def test_streams_and_arguments_pass_through(tmp_path):
    done = subprocess.run([VENTURI, "run", "-q", "-o", tmp_path / "x.vt", "sh", "-c",
                           "cat; echo \"$0 $1 $2\"; echo error >&2; exit 3", "-o", "--", "a b"],
                          input="hello\n", capture_output=True, text=True)
    assert done.returncode == 3
    assert done.stdout == "hello\n-o -- a b\n"
    assert done.stderr.startswith("error\n")


def test_not_found_and_not_executable(tmp_path):
    for name, code in (("no-such-program", 127), (str(tmp_path), 126)):
        done = subprocess.run([VENTURI, "run", "-o", tmp_path / "x.vt", name], capture_output=True, text=True)
        assert done.returncode == code
        assert done.stderr.count("\n") == 1 and name in done.stderr
        assert not (tmp_path / "x.vt").exists()


@pytest.mark.parametrize("option, expected", [
    ("-q", ()),
    ("-f", ("not compiled by `venturi cc`, and hit no trace point", "run --native true")),
    pytest.param("--functions", ("(-finstrument-functions), nor was what it loaded", "run --native true"),
                 marks=pytest.mark.skipif(bool(SANITIZE), reason="a library with a sanitizer cannot be preloaded"))])
def test_a_program_without_trace_points(tmp_path, option, expected):
    done = subprocess.run([VENTURI, "run", option, "-o", tmp_path / "x.vt", "true"], capture_output=True, text=True)
    assert done.returncode == 0
    assert done.stderr.count("\n") == len(expected) and all(words in done.stderr for words in expected), done.stderr
    assert Recording(tmp_path / "x.vt").events == 0


def test_a_static_program(tmp_path):
    (tmp_path / "x.c").write_text("int main(void) { return 0; }\n")
    if subprocess.run(["cc", "-static", tmp_path / "x.c", "-o", tmp_path / "x"], capture_output=True).returncode:
        pytest.skip("nothing can be linked statically here")
    done = subprocess.run([VENTURI, "run", "-o", tmp_path / "x.vt", tmp_path / "x"], capture_output=True, text=True)
    assert "x is linked statically" in done.stderr and "venturi: next  link it dynamically" in done.stderr
    assert "VT_SPAN" not in done.stderr


def test_a_folder_is_no_program(tmp_path):
    done = subprocess.run([VENTURI, "run", "."], capture_output=True, text=True, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (126, "venturi run: .: a folder without a __main__.py\n")


def test_signals_are_passed_on(tmp_path):
    script = "trap 'echo got; exit 5' USR1; echo ready; while :; do sleep 0.05; done"
    child = subprocess.Popen([VENTURI, "run", "-q", "-o", tmp_path / "x.vt", "sh", "-c", script],
                             stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    assert child.stdout.readline() == "ready\n"
    child.send_signal(signal.SIGUSR1)
    assert child.stdout.readline() == "got\n"
    assert child.wait(20) == 5


@pytest.mark.parametrize("whom", ["group", "tool", "program", "twice"])
def test_a_signal_reaches_the_program_once(tmp_path, whom):
    """Sent to all, to us alone, to the program alone; to all and then, when that is over, to us."""
    script = ("import os, signal, sys, time\n"
              "signal.signal(signal.SIGINT, lambda *_: os.write(1, b'got\\n'))\n"  # not print(): it may be in the middle of one
              "signal.signal(signal.SIGTERM, lambda *_: sys.exit(7))\n"
              "print('ready', flush=True)\n"
              "while True: time.sleep(0.01)\n")
    child = subprocess.Popen([VENTURI, "run", "-q", "--no-functions", "-o", tmp_path / "x.vt", sys.executable, "-c", script],
                             stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, bufsize=0, start_new_session=True)

    def says(line):
        return select.select([child.stdout], [], [], 60)[0] and child.stdout.readline() == line

    assert says(b"ready\n")
    if whom in ("group", "twice"):
        os.killpg(child.pid, signal.SIGINT)
        assert says(b"got\n")
    if whom == "twice":
        time.sleep(0.2)  # we tell a second signal from the first by its time
    if whom in ("tool", "twice"):
        os.kill(child.pid, signal.SIGINT)
        assert says(b"got\n")
    if whom == "program":
        os.kill(child_of(child.pid), signal.SIGINT)
        assert says(b"got\n")
    time.sleep(0.2)  # it could come once more
    os.kill(child.pid, signal.SIGTERM)
    assert child.communicate(timeout=60)[0] == b""
    assert child.returncode == 7


def read_until(fd, word):
    """What a terminal shows up to a word, or (None) up to its end."""
    seen = b""
    end = time.monotonic() + 20
    while word is None or word not in seen:
        assert time.monotonic() < end
        try:
            more = os.read(fd, 1000)
        except OSError:
            break
        if not more:
            break
        seen += more
    return seen


def test_process_group_and_terminal(tmp_path):
    """In a terminal: same process group, Ctrl-C goes to the program, once."""
    script = "trap 'echo caught; exit 4' INT; echo \"pgid $(ps -o pgid= -p $$)\"; tty; while :; do sleep 0.05; done"
    pid, fd = pty.fork()
    if pid == 0:
        os.execv(VENTURI, [VENTURI, "run", "-q", "-o", str(tmp_path / "x.vt"), "sh", "-c", script])
    try:
        seen = read_until(fd, b"/dev/pts")
        assert seen.split()[:2] == [b"pgid", str(pid).encode()]
        os.write(fd, b"\x03")
        seen += read_until(fd, None)
    finally:
        subprocess.run(["kill", "-9", "--", f"-{pid}"], stderr=subprocess.DEVNULL)
        code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    assert code == 4
    assert seen.count(b"caught") == 1


def test_no_descriptor_and_no_thread_in_the_program(tmp_path):
    """What a measured program has open, and how many threads, is the same as without us."""
    count = tmp_path / "count"
    child = subprocess.Popen([VENTURI, "run", "-q", "-o", tmp_path / "x.vt", "--", program("counted"), count, "0",
                              "1000"])
    time.sleep(0.5)
    victim = child_of(child.pid)
    targets = [os.readlink(f"/proc/{victim}/fd/{fd}") for fd in os.listdir(f"/proc/{victim}/fd")]
    threads = os.listdir(f"/proc/{victim}/task")
    os.kill(victim, signal.SIGKILL)
    child.wait(20)
    assert not [name for name in targets if "socket" in name or "memfd" in name or "pipe" in name]
    assert len(threads) == 1
