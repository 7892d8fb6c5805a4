"""`bench` and `check`: the helpers of tests/cli, benches with known figures, a repository with two revisions."""
import importlib.util
import json
import os
import subprocess
import sys
import time

import pytest

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
spec = importlib.util.spec_from_file_location("cli_conftest", os.path.join(TOP, "tests", "cli", "conftest.py"))
cli = importlib.util.module_from_spec(spec)
sys.modules["cli_conftest"] = cli
spec.loader.exec_module(cli)

venturi = cli.venturi
NewRecording = cli.NewRecording

# Works without any module, so that starting takes little; argument: how much it does.
WORK = "n = int(__import__('sys').argv[1])\nwhile n:\n    n -= 1\nprint('did', %s, 'items')\n"


@pytest.fixture
def bench_file(tmp_path):
    """bench_file("a.json", cpu=[...], counts={"calls:f": 3}, …) -> path of a bench of one command."""
    def make(name, cpu=(), counts=None, items=None, machine="Test CPU", command="work", mode="plain", interpreter="",
             budgets=(), bench="", **more):
        quantities = [{"name": "cpu", "kind": "cpu", "values": list(cpu)},
                      {"name": "wall", "kind": "wall", "values": [2 * value for value in cpu]}] if cpu else []
        quantities += [{"name": key, "kind": "count", "values": [value, value]} for key, value in (counts or {}).items()]
        if items:
            quantities.append({"name": "items", "kind": "items", "values": [items]})
        path = tmp_path / name
        path.write_text(json.dumps({
            "format": "venturi bench", "version": 1, "machine": {"cpu": machine, "cores": 2}, "interleaved": False,
            "budgets": list(budgets), **more,
            "benches": [{"name": bench, "command": command, "mode": mode, "interpreter": interpreter, "quantities": quantities}]}))
        return path
    return make


@pytest.fixture
def work(tmp_path):
    """work(amount) -> a command that does so much."""
    script = tmp_path / "work.py"
    script.write_text(WORK % 5)
    return lambda amount: "%s -S -E %s %d" % (sys.executable, script, amount)


def has_ended(pid):
    """Whether a process is gone, or waits to be collected by whoever adopted it."""
    for _ in range(1000):
        try:
            with open("/proc/%d/stat" % pid, encoding="utf-8") as text:
                if text.read().rsplit(")", 1)[1].split()[0] in "ZX":
                    return True
        except OSError:
            return True
        time.sleep(0.01)
    return False


def git(folder, *words):
    return subprocess.run(["git", "-c", "user.name=x", "-c", "user.email=x@example.org", "-c", "init.defaultBranch=main", *words],
                          cwd=folder, check=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True).stdout


@pytest.fixture
def repository(tmp_path):
    """A repository whose last commit made work.py four times as slow; the folder `deep` is in both."""
    folder = tmp_path / "repository"
    (folder / "deep").mkdir(parents=True)
    git(folder, "init", "-q")
    (folder / "deep" / "here").write_text("x")
    (folder / "work.py").write_text("n = 400000\nwhile n:\n    n -= 1\n")
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", "one")
    (folder / "work.py").write_text("n = 1600000\nwhile n:\n    n -= 1\n")
    git(folder, "commit", "-qam", "two")
    return folder
