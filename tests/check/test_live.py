"""Commands that are run in turn, and two revisions of a repository. Differences are large: no machine is so busy that they vanish."""
import contextlib
import glob
import json
import os
import signal
import subprocess
import sys
import time

import pytest
from conftest import git, has_ended

PYTHON = [sys.executable, "-S", "-E"]


def leftovers(folder):
    return glob.glob(os.path.join(folder, "venturi-*"))


@pytest.fixture
def temporary(tmp_path):
    folder = tmp_path / "temporary"
    folder.mkdir()
    return folder


def test_a_regression_is_confirmed(venturi, work, temporary):
    done = venturi("check", "--json", "--no-counts", "--base-cmd", work(200000), "--new-cmd", work(1200000),
                   env={"TMPDIR": temporary}, check=1, timeout=600)
    found = json.loads(done.stdout)
    assert found["outcome"] == "regression" and found["confirmed"]
    assert found["runs"] >= 8 and found["confirming_runs"] >= 8
    cpu = next(row for row in found["rows"] if row["name"] == "cpu")
    assert cpu["verdict"] == "worse" and cpu["test"] == "signed rank" and cpu["low"] > 1.05
    assert leftovers(temporary) == []


def test_the_same_is_no_regression(venturi, work):
    """Inconclusive is right where a machine is very busy."""
    done = venturi("check", "--no-counts", "--pairs", "8..12", "--base-cmd", work(300000), "--new-cmd", work(300000), timeout=600)
    assert done.returncode in (0, 3), done.stdout


def test_pairs_are_runs_of_both(venturi, tmp_path):
    log = tmp_path / "log"
    venturi("check", "--no-counts", "--pairs", "20", "--base-cmd", "echo a >> %s" % log, "--new-cmd", "echo b >> %s" % log)
    runs = log.read_text().split()[2:42]  # one of each goes ahead
    pairs = {tuple(runs[i:i + 2]) for i in range(0, 40, 2)}
    assert pairs == {("a", "b"), ("b", "a")}  # in random order: always the same one in 2 of a million runs


def test_a_command_that_fails_later(venturi, tmp_path):
    count = tmp_path / "count"
    command = "echo x >> %s; test $(wc -l < %s) -lt 5" % (count, count)
    done = venturi("check", "--no-counts", "--base-cmd", "true", "--new-cmd", command, check=2)
    assert "failed with exit code 1" in done.stderr and done.stdout == ""


def test_selftest(venturi, work):
    done = venturi("check", "--selftest", "2", "--pairs", "8", "--", *work(200000).split(), timeout=600)
    assert done.returncode in (0, 1)
    assert "2 comparisons of the command with itself: " in done.stdout


def test_counts_of_python_programs(venturi, tmp_path, temporary):
    script = tmp_path / "calls.py"
    script.write_text("import sys\ndef f(n):\n    return sum(range(n))\nfor i in range(int(sys.argv[1])):\n    f(20000)\n")
    done = venturi("check", "--json", "--pairs", "8", "--base-cmd", "%s %s 30" % (sys.executable, script),
                   "--new-cmd", "%s %s 31" % (sys.executable, script), env={"TMPDIR": temporary}, timeout=600)
    found = json.loads(done.stdout)
    row = next((row for row in found["rows"] if row["name"] == "calls:f calls.py"), None)
    if row is None:
        pytest.skip("the package for this Python is not built")
    assert done.returncode == 1 and (row["base"], row["new"], row["verdict"]) == (30, 31, "worse")
    assert any(reason["kind"] == "function" and reason["what"].startswith("f ") for reason in found["reasons"])
    assert leftovers(temporary) == []


def test_lines_have_the_time_of_what_they_call(venturi, tmp_path, temporary):
    """More than the function's own: whose time it is stands below."""
    script = tmp_path / "calls.py"
    script.write_text("import sys\ndef g(n):\n    return sum(range(n))\ndef f(n):\n    return g(n)\n"
                      "for i in range(int(sys.argv[1])):\n    f(200000)\n")
    words = ("--pairs", "8", "--base-cmd", "%s %s 5" % (sys.executable, script), "--new-cmd", "%s %s 6" % (sys.executable, script))
    done = venturi("check", *words, env={"TMPDIR": temporary}, timeout=600)
    if "calls:g calls.py" not in done.stdout:
        pytest.skip("the package for this Python is not built")
    assert done.returncode == 1
    assert "of lines: with what they call, and longer, as this run timed every line)" in " ".join(done.stdout.split())
    assert "Own time" not in done.stdout


# ---- revisions -------------------------------------------------------------------------------------


def check_rev(venturi, repository, temporary, *words, folder=".", **kw):
    return venturi("check", *words, cwd=repository / folder, env={"TMPDIR": temporary}, timeout=600, **kw)


def is_clean(repository, temporary):
    return leftovers(temporary) == [] and git(repository, "worktree", "list").count("\n") == 1 and \
        git(repository, "status", "--short") == ""


def test_revisions(venturi, repository, temporary):
    done = check_rev(venturi, repository, temporary, "--rev", "HEAD~1..HEAD", "--no-counts", "--", *PYTHON, "work.py", check=1)
    assert "base  HEAD~1 (" in done.stdout and "confirmed in 2 rounds" in " ".join(done.stdout.split())
    assert is_clean(repository, temporary)


def test_the_other_way_is_no_regression(venturi, repository, temporary):
    done = check_rev(venturi, repository, temporary, "--rev", "HEAD..HEAD~1", "--no-counts", "--", *PYTHON, "work.py", check=0)
    assert "better" in done.stdout


def test_setup_runs_in_each_tree(venturi, repository, temporary, tmp_path):
    log = tmp_path / "log"
    check_rev(venturi, repository, temporary, "--rev", "HEAD~1..", "--no-counts", "--pairs", "8", "--setup",
              "pwd >> %s; head -1 work.py >> %s; cp work.py built.py" % (log, log), "--", *PYTHON, "built.py", check=1)
    lines = log.read_text().split("\n")
    assert lines[1] == "n = 400000" and lines[3] == "n = 1600000"
    assert lines[0].startswith(str(temporary)) and lines[0] != lines[2]
    assert is_clean(repository, temporary)


def test_same_folder_in_each_tree(venturi, repository, temporary):
    check_rev(venturi, repository, temporary, "--rev", "HEAD~1..HEAD", "--no-counts", "--", *PYTHON, "../work.py", folder="deep", check=1)
    assert is_clean(repository, temporary)


@pytest.mark.parametrize("words, message", [
    (("--rev", "nosuch..HEAD"), "--rev: there is no revision 'nosuch' here"),
    (("--rev", "HEAD..nosuch"), "--rev: there is no revision 'nosuch' here"),
    (("--rev", "--help..HEAD"), "there is no revision '--help' here"),
    (("--rev", "HEAD"), "--rev: 'HEAD' is not BASE..HEAD"),
    (("--rev", "HEAD~1..HEAD", "--setup", "echo no compiler >&2; exit 4"),
     "--setup failed for HEAD~1 with exit code 4: no compiler"),
])
def test_wrong_revisions(venturi, repository, temporary, words, message):
    done = check_rev(venturi, repository, temporary, *words, "--", "true", check=2)
    assert message in done.stderr and done.stdout == ""
    assert is_clean(repository, temporary)


def test_command_that_fails_in_a_tree(venturi, repository, temporary):
    done = check_rev(venturi, repository, temporary, "--rev", "HEAD~1..HEAD", "--", "cat", "nosuch", check=2)
    assert "cat nosuch: failed with exit code 1" in done.stderr
    assert is_clean(repository, temporary)


def test_no_repository(venturi, tmp_path):
    done = venturi("check", "--rev", "a..b", "--", "true", cwd=tmp_path, env={"LC_ALL": "C", "GIT_CEILING_DIRECTORIES": tmp_path.parent}, check=2)
    assert "--rev: fatal: not a git repository" in done.stderr


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_leaves_nothing_behind(venturi, repository, temporary, tmp_path, number):
    started = tmp_path / "started"
    child = subprocess.Popen([venturi.path, "check", "--rev", "HEAD~1..HEAD", "--no-counts", "--", "sh", "-c",
                              "sleep 600 & echo $! > %s; wait" % started],
                             cwd=repository, env={**os.environ, "TMPDIR": str(temporary)}, stderr=subprocess.PIPE)
    while not (started.exists() and started.read_text().strip()):
        time.sleep(0.01)
    assert leftovers(temporary) != []
    child.send_signal(number)
    child.communicate(timeout=60)
    assert child.returncode == -number
    assert is_clean(repository, temporary)
    assert has_ended(int(started.read_text()))


def test_what_a_killed_one_left_goes_with_the_next(venturi, repository, temporary, tmp_path):
    """But not what one that is still at work has."""
    started = tmp_path / "started"
    child = subprocess.Popen([venturi.path, "check", "--rev", "HEAD~1..HEAD", "--no-counts", "--", "sh", "-c",
                              "echo $$ > %s; exec sleep 600" % started], cwd=repository, env={**os.environ, "TMPDIR": str(temporary)})
    while not (started.exists() and started.read_text().strip()):
        time.sleep(0.01)
    again = ("--rev", "HEAD..HEAD", "--no-counts", "--pairs", "8", "--", "true")
    done = check_rev(venturi, repository, temporary, *again)  # what it finds is the machine's noise
    assert "both revisions are one commit" in done.stdout, done.stderr
    assert git(repository, "worktree", "list").count("\n") == 3 and len(leftovers(temporary)) == 1
    child.kill()
    child.wait()
    with contextlib.suppress(ProcessLookupError):
        os.kill(int(started.read_text()), signal.SIGKILL)
    assert git(repository, "worktree", "list").count("\n") == 3
    check_rev(venturi, repository, temporary, *again)
    assert is_clean(repository, temporary)


def test_further_signals_do_not_stop_the_tidying(venturi, repository, temporary, tmp_path):
    """The command does not listen to the first signal, so that others come while it is waited for."""
    started = tmp_path / "started"
    child = subprocess.Popen([venturi.path, "check", "--rev", "HEAD~1..HEAD", "--no-counts", "--", "sh", "-c",
                              "trap '' TERM INT; echo x > %s; while :; do sleep 0.1; done" % started],
                             cwd=repository, env={**os.environ, "TMPDIR": str(temporary)}, stderr=subprocess.PIPE, start_new_session=True)
    while not (started.exists() and started.read_text().strip()):
        time.sleep(0.01)
    while child.poll() is None:
        os.killpg(child.pid, signal.SIGINT)
        time.sleep(0.02)
    child.communicate(timeout=60)
    assert child.returncode == -signal.SIGINT
    assert is_clean(repository, temporary)


def test_variables_of_a_hook_are_left_alone(venturi, repository, temporary):
    """In a hook GIT_INDEX_FILE names the user's index: a checkout must not write into it."""
    index = repository / ".git" / "index"
    (repository / "staged").write_text("x")
    git(repository, "add", "staged")
    before = git(repository, "ls-files", "--stage")
    venturi("check", "--rev", "HEAD~1..HEAD", "--no-counts", "--pairs", "8", "--", "true", cwd=repository,
            env={"TMPDIR": temporary, "GIT_INDEX_FILE": index, "GIT_DIR": repository / ".git"}, timeout=600)
    assert git(repository, "ls-files", "--stage") == before
    assert leftovers(temporary) == [] and git(repository, "worktree", "list").count("\n") == 1


def test_wall_time_decides_if_it_is_asked_to(venturi):
    words = "--no-counts", "--base-cmd", "sleep 0.02", "--new-cmd", "sleep 0.2"
    done = venturi("check", *words, timeout=600)
    assert done.returncode in (0, 3)
    assert "does not decide: --gate wall makes it" in " ".join(done.stdout.split())
    assert "REGRESSION: wall" in venturi("check", "--gate", "wall", *words, check=1, timeout=600).stdout


def test_counts_end_it_early(venturi, tmp_path):
    script = tmp_path / "calls.py"
    script.write_text("import sys\ndef f(n):\n    return sum(range(n))\nfor i in range(int(sys.argv[1])):\n    f(20000)\n")
    done = venturi("check", "--json", "--base-cmd", "%s %s 30" % (sys.executable, script), "--new-cmd", "%s %s 60" % (sys.executable, script),
                   timeout=600)
    found = json.loads(done.stdout)
    if not any(row["kind"] == "count" for row in found["rows"]):
        pytest.skip("the package for this Python is not built")
    assert done.returncode == 1 and found["runs"] == 8 and found["confirming_runs"] == 0
    assert found["reasons"][0]["what"].startswith("f ")  # what has decided comes first
    assert any("counts have decided" in note for note in found["notes"])
