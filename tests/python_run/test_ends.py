"""However a script ends, its exit code is its own and its profile is complete."""
import fcntl
import os
import signal
import subprocess
import termios
import time

import pytest
from conftest import environment, stop_group

WORK = """
import os, signal, sys, time
def leaf(): pass
def work():
    for _ in range(1000):
        leaf()
"""


@pytest.mark.parametrize("end, code", [
    ("", 0), ("sys.exit(3)", 3), ("sys.exit()", 0), ("sys.exit('bye')", 1), ("raise ValueError('x')", 1),
    ("os._exit(7)", 7), ("raise KeyboardInterrupt", -2), ("os.kill(os.getpid(), 15)", -15),
    ("os.kill(os.getpid(), 9)", -9), ("os.abort()", -6), ("sys.stdout.close(); sys.exit(4)", 4),
])
def test_exit_codes(run, end, code):
    run.script(WORK + "work()\n" + end + "\n")
    with_us, alone = run("script.py"), run.alone("script.py")
    assert with_us.returncode == alone.returncode == code
    assert (with_us.stdout, with_us.stderr) == (alone.stdout, alone.stderr)
    calls = run.calls()
    assert (calls["work"], calls["leaf"]) == (1, 1000)


def test_traceback_has_nothing_of_ours(run):
    run.script("def f():\n    raise ValueError('deep')\nf()\n")
    with_us, alone = run("script.py"), run.alone("script.py")
    assert with_us.stderr == alone.stderr
    assert run.calls()["f"] == 1


def test_not_python(run):
    run.script("def (this is not Python\n")
    with_us, alone = run("script.py"), run.alone("script.py")
    assert (with_us.returncode, with_us.stderr) == (alone.returncode, alone.stderr)
    assert "SyntaxError" in alone.stderr


LOOP = WORK + """
def outer():
    print("ready", flush=True)
    while True:
        time.sleep(0.01)
work()
outer()
"""


def take_terminal():
    """The terminal that is standard input becomes that of the session, so that it sends signals."""
    os.setsid()
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


def press_ctrl_c(run):
    master, slave = os.openpty()
    child = subprocess.Popen(run.command("script.py"), stdin=slave, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                             text=True, cwd=run.folder, env=environment(), preexec_fn=take_terminal)
    try:
        assert child.stdout.readline() == "ready\n"
        time.sleep(0.2)
        os.write(master, b"\x03")
        said = child.communicate(timeout=60)
    finally:
        stop_group(child)
        os.close(master)
        os.close(slave)
    return child.returncode, said


def interrupted(run, send):
    child = run.start("script.py", stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        assert child.stdout.readline() == "ready\n"
        time.sleep(0.2)
        send(child)
        said = child.communicate(timeout=60)
    finally:
        stop_group(child)
    return child.returncode, said


def program_of(child):
    with open(f"/proc/{child.pid}/task/{child.pid}/children") as file:
        return int(file.read().split()[0])


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL, signal.SIGHUP])
def test_signals_leave_a_complete_profile(run, number):
    """Ctrl-C in a terminal; others to the whole group; SIGKILL to the program alone."""
    run.script(LOOP)
    if number == signal.SIGINT:
        code, said = press_ctrl_c(run)
    elif number == signal.SIGKILL:
        code, said = interrupted(run, lambda child: os.kill(program_of(child), number))
    else:
        code, said = interrupted(run, lambda child: os.killpg(child.pid, number))
    assert code == -number
    assert ("KeyboardInterrupt" in said[1]) == (number == signal.SIGINT)
    profile = run.profile()
    assert profile.calls("script.py") == {"<module>": 1, "work": 1, "leaf": 1000, "outer": 1}
    assert 0.15 < profile.row("outer")["cumtime"] < 30


def test_interrupt_that_is_caught(run):
    run.script(WORK + """
print("ready", flush=True)
try:
    while True:
        time.sleep(0.01)
except KeyboardInterrupt:
    work()
    sys.exit(5)
""")
    assert press_ctrl_c(run) == (5, ("", ""))
    assert run.calls()["leaf"] == 1000


def test_interrupt_with_a_profile_as_output(run):
    """The way of `python -m cProfile -o`: stop it with Ctrl-C, open the file with pstats."""
    run.script(LOOP)
    run.output = run.folder / "out.prof"
    press_ctrl_c(run)
    done = run.alone("-c", "import pstats; pstats.Stats('out.prof').print_stats('leaf')")
    assert "     1000 " in done.stdout and "(leaf)" in done.stdout
    assert sorted(os.listdir(run.folder)) == ["out.prof", "script.py"]


def test_changed_folder(run):
    run.script(WORK + "os.makedirs('other'); os.chdir('other'); work()\n")
    assert run("script.py", output="here.vt").returncode == 0
    run.output = run.folder / "here.vt"
    assert run.calls()["leaf"] == 1000


@pytest.mark.parametrize("again", ["", "os.makedirs('results')"])
@pytest.mark.parametrize("name", ["out.vt", "out.prof"])
def test_deleted_output_folder(run_one, name, again):
    """A script that clears the folder of its results clears the recording; it is written again."""
    run = run_one
    run.script(WORK + f"import shutil\nwork()\nshutil.rmtree('results')\n{again}\nsys.exit(3)\n")
    (run.folder / "results").mkdir()
    run.output = run.folder / "results" / name
    done = run("script.py")
    assert done.returncode == 3
    assert done.stderr == f"venturi: {run.output} was deleted while the program ran: written again\n"
    assert os.listdir(run.folder / "results") == [name]
    assert run.calls()["leaf"] == 1000


def test_closed_streams(run):
    run.script(WORK + "work()\nsys.exit(3)\n")
    for how in ("2>&-", ">&- 2>&-", "<&- >&- 2>&-"):
        run.output.unlink(missing_ok=True)
        done = subprocess.run(["sh", "-c", f'exec "$@" {how}', "sh", *run.command("script.py")], cwd=run.folder, timeout=60)
        assert done.returncode == 3
        assert run.calls()["leaf"] == 1000


def test_script_that_closes_them(run):
    run.script(WORK + "os.close(2)\nos.close(1)\nwork()\nos._exit(3)\n")
    assert run("script.py").returncode == 3
    assert run.calls()["leaf"] == 1000


def test_script_that_starts_itself_again(run):
    run.script(WORK + """
work()
if len(sys.argv) < 3:
    os.execv(sys.executable, [sys.executable, *sys.argv, "more"])
print(sys.argv[1:])
""")
    assert run("script.py").stdout == "['more', 'more']\n"
    assert run.calls()["leaf"] == 3000


def test_threads_that_outlive_the_main_one(run):
    run.script(WORK + """
import threading
def late():
    time.sleep(0.1)
    work()
threading.Thread(target=late).start()
work()
""")
    assert run("script.py").returncode == 0
    assert run.calls()["leaf"] == 2000


def test_daemon_thread_at_the_end(run):
    run.script(WORK + """
import threading
started = threading.Event()
def forever():
    work()
    started.set()
    while True:
        time.sleep(0.001)
threading.Thread(target=forever, daemon=True).start()
started.wait()
work()
""")
    assert run("script.py").returncode == 0
    assert run.calls()["leaf"] == 2000
