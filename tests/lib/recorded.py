"""What the tests of recorded programs share: the tool, commands, and what a run leaves behind."""
import json
import os
import shutil
import subprocess

import pytest

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.path.abspath(os.environ.get("VENTURI_BUILD", os.path.join(TOP, "build")))
VENTURI = os.environ.get("VENTURI", os.path.join(BUILD, "venturi"))


def run(command, check=True, **kw):
    """Runs a command with its output as text."""
    kw.setdefault("capture_output", True)
    kw.setdefault("timeout", 300)
    done = subprocess.run(list(map(str, command)), text=True, **kw)
    if check:
        assert done.returncode == 0, done.stderr
    return done


def need(*commands):
    for command in commands:
        if not shutil.which(command):
            pytest.skip("no %s on this machine" % command)


needs_root = pytest.mark.skipif(os.geteuid() != 0 or not shutil.which("unshare"),
                                reason="needs root and unshare for a small file system")


def in_small_tmpfs(size, folder, script):
    """Runs a shell script where `folder` is a tmpfs of that size; keeps what is copied out of it."""
    os.makedirs(folder, exist_ok=True)
    mount = f"mount -t tmpfs -o size={size} tmpfs {folder} && {script}"
    return run(["unshare", "-m", "sh", "-c", mount], check=False)


class Run:
    """A finished run: the process, the facts it printed, its recording."""

    def __init__(self, done, path):
        self.done = done
        self.path = str(path)
        self.code = done.returncode
        lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
        self.facts = json.loads(lines[-1]) if lines else {}


def recorder(folder, kind, *always):
    """A function start(program, arguments…, options=[…]) that runs it under `venturi run`; what it returns is of that kind."""
    def start(program, *arguments, options=(), env=None, check=True, **kw):
        path = folder / "out.vt"
        done = run([VENTURI, "run", *always, "-f", "-o", path, *options, "--", program, *arguments], check=check,
                   env={**os.environ, **(env or {})}, **kw)
        return kind(done, path)
    return start
