"""`venturi bench`: what is kept of runs, and what is refused."""
import json
import os
import signal
import subprocess
import sys
import time

import pytest
from conftest import has_ended


def load(path):
    with open(path, encoding="utf-8") as text:
        return json.load(text)


def values(bench, name, at=0):
    return next(one["values"] for one in bench["benches"][at]["quantities"] if one["name"] == name)


def test_keeps_every_run(venturi, tmp_path, work):
    out = tmp_path / "b.json"
    done = venturi("bench", "-n", "3", "-o", out, "--no-counts", "--", *work(100000).split(), check=0)
    bench = load(out)
    assert len(values(bench, "cpu")) == len(values(bench, "wall")) == len(values(bench, "rss")) == 3
    assert all(0 < cpu < wall + 0.01 for cpu, wall in zip(values(bench, "cpu"), values(bench, "wall")))
    assert all(value > 1 << 20 for value in values(bench, "rss"))
    assert bench["benches"][0]["command"] == work(100000)
    assert bench["benches"][0]["interpreter"].startswith("Python 3.")
    assert work(100000)[-20:] in done.stdout


def test_machine_is_this_one(venturi, tmp_path):
    out = tmp_path / "b.json"
    venturi("bench", "-n", "1", "-o", out, "--no-counts", "--", "true", check=0)
    machine = load(out)["machine"]
    with open("/proc/cpuinfo", encoding="utf-8") as lines:
        models = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    assert machine["cpu"] == (models[0] if models else "")
    assert machine["cores"] == len(os.sched_getaffinity(0))
    assert machine["kernel"] == os.uname().release


def test_cpu_time_is_that_of_children_too(venturi, tmp_path, work):
    out = tmp_path / "b.json"
    venturi("bench", "-n", "2", "-o", out, "--no-counts", "--cmd", work(2000000), "--cmd", "%s; true" % work(2000000), check=0)
    bench = load(out)
    assert bench["benches"][1]["command"].endswith("; true")  # by a shell, which only waits
    assert min(values(bench, "cpu", 1)) > 0.5 * min(values(bench, "cpu", 0))


BURN = "e = time.process_time() + 0.3\nwhile time.process_time() < e: pass\n"
LEFT_BEHIND = """import os, time
r, w = os.pipe()
if not os.fork():
    if not os.fork():
        os.setsid()
        exec(%r)
        os._exit(0)
    os._exit(0)
os.wait()
os.close(w)
os.read(r, 1)
while len(open("/proc/%%d/task/%%d/children" %% (2 * (os.getppid(), ))).read().split()) > 1:
    time.sleep(0.01)
""" % BURN


def test_cpu_time_is_that_of_orphans_too(venturi, tmp_path):
    """The command lasts until nothing that it left behind runs any more."""
    (tmp_path / "left.py").write_text(LEFT_BEHIND)
    out = tmp_path / "b.json"
    done = venturi("bench", "-n", "1", "-o", out, "--no-counts", "--", sys.executable, tmp_path / "left.py", check=0)
    assert values(load(out), "cpu")[0] > 0.3 and "SIGCHLD" not in done.stderr


def test_children_that_nobody_can_count_are_said(venturi, tmp_path):
    (tmp_path / "lost.py").write_text("import signal\nsignal.signal(signal.SIGCHLD, signal.SIG_IGN)\n")
    done = venturi("bench", "-n", "2", "--no-counts", "--", sys.executable, tmp_path / "lost.py", check=0)
    assert done.stderr.count("it ignores SIGCHLD: children that it did not wait for are not in the CPU time") == 1


def test_who_started_us_may_ignore_children(venturi, tmp_path):
    code = "import os, signal, sys\nsignal.signal(signal.SIGCHLD, signal.SIG_IGN)\nos.execv(sys.argv[1], sys.argv[1:])\n"
    done = subprocess.run([sys.executable, "-c", code, venturi.path, "bench", "-n", "1", "--no-counts", "--json", "--", "true"],
                          capture_output=True, text=True, timeout=60)
    assert done.returncode == 0 and len(values(json.loads(done.stdout), "cpu")) == 1 and "SIGCHLD" not in done.stderr


@pytest.mark.parametrize("interleaved", [False, True])
def test_order_of_runs(venturi, tmp_path, interleaved):
    log = tmp_path / "log"
    options = ["--interleave"] if interleaved else []
    venturi("bench", "-n", "20", "--warmup", "0", "--no-counts", *options, "--cmd", "echo a >> %s" % log, "--cmd", "echo b >> %s" % log,
            check=0)
    runs = log.read_text().split()
    assert len(runs) == 40
    if not interleaved:
        assert runs == 20 * ["a"] + 20 * ["b"]
        return
    pairs = [tuple(runs[i:i + 2]) for i in range(0, 40, 2)]
    assert set(pairs) == {("a", "b"), ("b", "a")}  # both orders in 20 rounds: the other way in 2 of a million runs


def test_warm_up_is_not_kept(venturi, tmp_path):
    log, out = tmp_path / "log", tmp_path / "b.json"
    venturi("bench", "-n", "2", "--warmup", "3", "--no-counts", "-o", out, "--cmd", "echo a >> %s" % log, check=0)
    assert len(log.read_text().split()) == 5
    assert len(values(load(out), "cpu")) == 2


@pytest.mark.parametrize("words, message", [
    ((), "which command? venturi bench -- CMD, or --suite DIR"),
    (("-n", "0", "--", "true"), "--runs: without a run nothing is measured"),
    (("-n", "x", "--", "true"), "--runs: 'x' is no number of runs (at most 2000)"),
    (("-n", "-1", "--", "true"), "--runs: '-1' is no number of runs (at most 2000)"),
    (("--", "/no/such/program"), "/no/such/program: not found"),
    (("--", "false"), "false: failed with exit code 1"),
    (("--no-counts", "--", "false"), "false: failed with exit code 1"),
    (("--cmd", "echo dear me >&2; exit 7"), "echo dear me >&2; exit 7: failed with exit code 7: dear me"),
    (("--cmd", "kill -9 $$"), "kill -9 $$: ended by signal 9"),
    (("--cmd", " "), "an empty command"),
    (("--interleave", "--", "true"), "--interleave needs two commands or more: use --cmd"),
    (("--items", "0", "--", "true"), "--items: '0' is no amount of work"),
    (("--items", "did", "--", "true"), "--items: 'did': put the number in ( ), as in 'done ([0-9]+)'"),
    (("--items", "did ([0-9]+)", "--", "true"), "true: it printed nothing at all, so nothing that --items could be found in"),
    (("--items", "did ([0-9]+)", "--", "echo", "x"), "echo x: it printed nothing that --items could be found in"),
    (("--items", "did ([0-9]+)", "--", "echo", "did 0"), "echo 'did 0': it says that it did no items"),
    (("--items", "did (.*)", "--", "echo", "did inf"), "echo 'did inf': it says that it did inf items: too many to be true"),
    (("--items", "did (.*)", "--", "echo", "did 1e40"), "echo 'did 1e40': it says that it did 1e+40 items: too many to be true"),
    (("--items", "1e19", "--", "true"), "--items: '1e19' is no amount of work"),
])
def test_bad_input_is_loud(venturi, tmp_path, words, message):
    out = tmp_path / "b.json"
    done = venturi("bench", "-o", out, *words, check=2)
    assert message in done.stderr
    assert done.stdout == ""
    assert not out.exists()


def test_existing_file_stays(venturi, tmp_path):
    out = tmp_path / "b.json"
    out.write_text("mine")
    assert "already exists" in venturi("bench", "-n", "1", "-o", out, "--no-counts", "--", "true", check=2).stderr
    assert out.read_text() == "mine"
    venturi("bench", "-n", "1", "-f", "-o", out, "--no-counts", "--", "true", check=0)
    assert load(out)["format"] == "venturi bench"


@pytest.mark.parametrize("items", ["5", "did ([0-9]+) items"])
def test_items(venturi, tmp_path, work, items):
    out = tmp_path / "b.json"
    done = venturi("bench", "-n", "2", "--items", items, "-o", out, "--no-counts", "--cmd", work(1000), check=0)
    bench = load(out)
    assert values(bench, "items") == [5, 5]
    wall = sorted(values(bench, "wall"))
    assert "%.4g" % (5 / (sum(wall) / 2)) in done.stdout


def test_json_on_standard_output(venturi):
    bench = json.loads(venturi("bench", "-n", "2", "--json", "--no-counts", "--", "true", check=0).stdout)
    assert len(values(bench, "cpu")) == 2


def test_short_commands_are_named(venturi):
    assert "mostly the start of a process" in venturi("bench", "-n", "1", "--no-counts", "--", "true", check=0).stderr


def test_signal_ends_the_command_too(venturi, tmp_path):
    pid = tmp_path / "pid"
    child = subprocess.Popen([venturi.path, "bench", "--no-counts", "--cmd", "sleep 600 & echo $! > %s; wait" % pid],
                             stderr=subprocess.PIPE)
    while not (pid.exists() and pid.read_text().strip()):
        time.sleep(0.01)
    child.send_signal(signal.SIGTERM)
    child.communicate(timeout=60)
    assert child.returncode == -signal.SIGTERM
    assert has_ended(int(pid.read_text()))


# ---- suites ----------------------------------------------------------------------------------------


@pytest.fixture
def suite(tmp_path):
    folder = tmp_path / "suite"
    folder.mkdir()
    (folder / "quick.py").write_text("print('done')\n")
    (folder / "slow.py").write_text("for i in range(300000):\n    pass\nprint('done')\n")
    (folder / "_helper.py").write_text("raise SystemExit(3)\n")
    (folder / "notes.txt").write_text("no script\n")
    return folder


def rows(done):
    return [line.split()[0] for line in done.stdout.splitlines()[1:] if not line.startswith(("Items", "Joules"))]


def test_suite_has_a_row_for_each_script(venturi, tmp_path, suite):
    out = tmp_path / "s.json"
    done = venturi("bench", "--suite", suite, "-n", "2", "-o", out, check=0)
    assert rows(done) == ["quick", "slow"]
    bench = load(out)
    assert [one["name"] for one in bench["benches"]] == ["quick", "slow"]
    assert len(values(bench, "cpu", 1)) == 2


def test_scripts_of_one_name_are_told_apart(venturi, tmp_path, suite):
    (suite / "quick").write_text("#!/bin/sh\necho done\n")
    (suite / "quick").chmod(0o755)
    out = tmp_path / "s.json"
    venturi("bench", "--suite", suite, "-n", "1", "--no-counts", "-o", out, check=0)
    assert [one["name"] for one in load(out)["benches"]] in (["quick", "quick.py", "slow"], ["quick.py", "quick", "slow"])


@pytest.mark.skipif(bool(os.environ.get("VENTURI_SANITIZE")), reason="no Python that could be recorded")
@pytest.mark.parametrize("text, line", [
    ("x = 0\nfor i in range(200000):\n    x += i * i\nprint(x)\n", "work.py:3 x += i * i"),
    ("def f():\n    return [i * i for i in range(100)]\nfor i in range(9):\n    f()\ntotal = sum(list(range(4000000)))\nprint(total)\n",
     "work.py:5 total = sum(list(range(4000000)))"),
    ("import sys\n\ndef f(n):\n    return sorted(range(n))\n\nif __name__ == '__main__' and __file__ == sys.argv[0]:\n"
     "    print(len(f(4000000)))\n", "work.py:4 return sorted(range(n))")])
def test_hottest_line_is_anywhere_in_a_script(venturi, tmp_path, text, line):
    """In the module itself, beside functions or without any, and in a function."""
    (tmp_path / "work.py").write_text(text)
    assert line in venturi("bench", "--suite", tmp_path, "-n", "1", check=0).stdout


@pytest.mark.parametrize("name", ["slow", "slow.py"])
def test_suite_by_name(venturi, suite, name):
    assert rows(venturi("bench", "-n", "1", "--suite", suite, name, check=0)) == ["slow"]


def test_suite_that_measures_nothing_fails(venturi, suite):
    (suite / "silent.py").write_text("")
    (suite / "broken.py").write_text("raise SystemExit('give -survey')\n")
    done = venturi("bench", "-n", "1", "--suite", suite, check=2)
    assert rows(done) == ["broken", "quick", "silent", "slow"]  # the others are measured all the same
    assert "broken.py: failed with exit code 1: give -survey" in done.stderr
    assert "silent.py: printed nothing and counted no items: nothing was measured" in done.stderr


@pytest.mark.parametrize("words, message", [
    (("nosuch",), "no script of the name nosuch"),
    (("quick", "nosuch"), "no script of the name nosuch"),
    (("--cmd", "true"), "either --suite or --cmd"),
])
def test_wrong_names_of_a_suite(venturi, suite, words, message):
    options = [word for word in words if word.startswith("-") or word == "true"]
    names = [word for word in words if word not in options]
    assert message in venturi("bench", *options, "--suite", suite, *names, check=2).stderr


def test_empty_or_missing_suite(venturi, tmp_path):
    (tmp_path / "empty").mkdir()
    assert "no script (*.py, or a program) to measure" in venturi("bench", "--suite", tmp_path / "empty", check=2).stderr
    assert "no such folder" in venturi("bench", "--suite", tmp_path / "none", check=2).stderr


def test_program_that_python_runs_is_named(venturi, tmp_path):
    out = tmp_path / "b.json"
    venturi("bench", "-n", "1", "-o", out, "--no-counts", "--", sys.executable, "-c", "pass", check=0)
    assert load(out)["benches"][0]["interpreter"] == "Python %d.%d.%d" % sys.version_info[:3]


@pytest.mark.skipif(bool(os.environ.get("VENTURI_SANITIZE")), reason="no Python package is built beside it")
def test_scripts_find_our_package_as_under_run(venturi, tmp_path, suite):
    """Behind all that PYTHONPATH says, and with nothing that is loaded by itself."""
    env = {"PYTHONPATH": str(tmp_path / "mine")}
    (tmp_path / "mine").mkdir()
    text = ("import os, sys\nimport venturi\nassert 'venturi' not in sys.modules.get('sitecustomize', os).__file__\n"
            "first, *_, last = os.environ['PYTHONPATH'].split(':')\n"
            "assert first == %r and os.path.isfile(last + '/venturi/__init__.py')\nprint('done')\n" % str(tmp_path / "mine"))
    script = tmp_path / "imports.py"
    script.write_text(text)
    venturi("bench", "-n", "1", "--no-counts", "-o", tmp_path / "b.json", "--", sys.executable, script, env=env, check=0)
    venturi("check", "-n", "1", "--no-counts", "--budget", "rss<10G", "--", sys.executable, script, env=env, check=0)
    script.write_text("import venturi\nprint('done')\n")
    script.rename(suite / "imports.py")
    assert "imports" in rows(venturi("bench", "-n", "1", "--suite", suite, "imports.py", check=0))


def test_outputs_are_looked_at_first(venturi, tmp_path):
    (tmp_path / "there.json").write_text("mine")
    for path in ("there.json", "/no/such/x.json"):
        venturi("bench", "-o", path, "--", "touch", "ran", cwd=tmp_path, check=2)
        assert not (tmp_path / "ran").exists()


def test_words_of_a_bench(venturi, tmp_path, suite):
    assert "an empty command" in venturi("bench", "--", "", check=2).stderr
    assert "options go before the names" in venturi("bench", "--suite", suite, "quick", "-o", tmp_path / "s.json", check=2).stderr
    assert "failed with exit code 130" in venturi("bench", "--cmd", "(exit 130)", check=2).stderr
    assert "it mostly waits" in venturi("bench", "-n", "1", "--no-counts", "--", "sleep", "0.1", check=0).stderr
    done = venturi("bench", "-n", "2", "--no-counts", "--items", "100000000", "-o", tmp_path / "b.json", "--", "true", check=0)
    assert "judges times from 6 on" in done.stderr and "e+" not in done.stdout
