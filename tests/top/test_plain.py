"""`venturi top -b`: the same as text, and what is refused."""
import json
import os
import re
import subprocess
import time

import pytest


def rows(done):
    """Cells of each row, the name last."""
    lines = done.stdout.split("\n\n")[1].splitlines()
    titles = lines[0].split()
    return [line.split(None, len(titles) - 1) for line in lines[1:]]


def test_spans_of_a_finished_recording(venturi, recording):
    path = recording("spans.vt", names={"b": 3, "a": 5})
    done = venturi("top", "-b", path, check=0)
    counts = {line.split()[-1]: line for line in done.stdout.splitlines()[3:] if line.split()}
    ranked = json.loads(venturi("rank", "--json", path, check=0).stdout)
    assert {row["name"] for row in ranked["names"]} == {"a", "b"} <= set(counts)
    assert " 5 " in counts["a"] and " 3 " in counts["b"]
    assert "ended after" in done.stdout and "lost 0" in done.stdout


def test_a_cluster_that_cannot_be_reached(venturi):
    done = venturi("top", "-b", "tcp://127.0.0.1:1", env={**os.environ, "VENTURI_DASK_PYTHON": "true"}, check=2)
    assert done.stderr == "venturi top: tcp://127.0.0.1:1: its Python ended without a word (VENTURI_DASK_PYTHON names another one)\n"
    assert not done.stdout


def test_functions_of_a_program(venturi, busy):
    done = venturi("top", "-b", "-d", "0.2", "-v", "functions", "--", *busy(1.5, 3), check=3)
    last = done.stdout.rsplit("Own/s", 1)[1]
    assert re.search(r" inner  busy\.py:3$", last, re.M) and re.search(r" outer  busy\.py:5$", last, re.M)
    assert "output of the program" in done.stderr and "output of the program" not in done.stdout


def test_the_first_look_has_rates(venturi, busy):
    """One look is enough: it waits for two readings and two counts of calls."""
    done = venturi("top", "-b", "-n", "1", "-d", "0.1", "--", *busy(30), check=None)
    assert re.search(r"^CPU \[.*processes [1-9]", done.stdout, re.M), done.stdout
    assert re.search(r"^ *[\d.]+% +(?!0\.00)\S+ .* inner  busy\.py:3$", done.stdout, re.M), done.stdout
    assert re.search(r"  cost \d", done.stdout), done.stdout


def test_rates_are_those_of_the_recording(venturi, busy):
    """One thread has one second of own time in a second, however the looks fall between the trees; and nothing of ours is a function of the program."""
    done = venturi("top", "-b", "-d", "0.3", "-l", "0", "-v", "functions", "--", *busy(3), check=0)
    sums = [sum(float(share) for share in re.findall(r"^ *([\d.]+)% .*:\d+$", table, re.M)) for table in done.stdout.split("Own/s")[1:]]
    assert max(sums) > 0 and max(sums) <= 102, sums
    assert "<venturi>" not in done.stdout


def test_what_a_program_has_used(venturi, busy, tmp_path):
    """Of one that is over: CPU time and the most memory, not how much it takes now."""
    out = tmp_path / "over.vt"
    subprocess.run([venturi.path, "run", "-q", "-o", out, *busy(0.3)], stdout=subprocess.DEVNULL, check=True)
    head = venturi("top", "-b", out, check=0).stdout.splitlines()[1]
    assert re.match(r"CPU time \S+ \w+  most memory \S+ MB", head), head


def test_counts_are_those_of_the_recording(venturi, busy, tmp_path):
    out = tmp_path / "kept.vt"
    done = venturi("top", "-b", "-d", "0.2", "-v", "functions", "-l", "0", "-o", out, "--", *busy(0.5), check=0)
    last = done.stdout.rsplit("Own/s", 1)[1]
    calls = {row["name"]: row["ncalls"] for row in json.loads(venturi("stats", "--json", out, check=0).stdout)["functions"]}
    number, thousands = re.search(r"^ *\S+ +\S+(?: k)? +([\d.]+)( k)? .* outer  busy\.py:5$", last, re.M).groups()
    outer = next(count for name, count in calls.items() if name.startswith("outer"))
    assert outer == (pytest.approx(1000 * float(number), rel=0.01) if thousands else int(number))


def test_rounds(venturi, busy, tmp_path):
    out = tmp_path / "grows.vt"
    writer = subprocess.Popen([venturi.path, "run", "-q", "-o", out, *busy(30)], stdout=subprocess.DEVNULL)
    try:
        while not (out.exists() and out.stat().st_size):
            time.sleep(0.05)
        done = venturi("top", "-b", "-n", "3", "-d", "0.1", out, check=0)
        assert done.stdout.count("running ") == 3
        assert venturi("top", "-b", "-n", "1", "-d", "0.1", str(writer.pid), check=0).stdout.count("running ") == 1
    finally:
        writer.terminate()
        writer.wait()


def test_fits_into_80_columns(venturi, busy, tmp_path):
    """All lines above the rows, with energy, and the name of a program whatever its folder."""
    out = tmp_path / "grows.vt"
    writer = subprocess.Popen([venturi.path, "run", "-q", "--energy", "-o", out, *busy(30)], stdout=subprocess.DEVNULL)
    try:
        for _ in range(200):
            text = venturi("top", "-b", "-n", "1", "-v", "processes", out).stdout if out.exists() else ""
            if "energy" in text and "CPU [" in text:
                break
            time.sleep(0.1)
        head, table = text.split("\n\n")
        assert "energy" in head and "CPU [" in head and all(len(line) <= 80 for line in head.splitlines()), head
        assert "busy.py" in table and "/python" not in table
    finally:
        writer.terminate()
        writer.wait()


def test_filter_sort_limit(venturi, recording):
    path = recording("spans.vt", names={"alpha": 3, "beta": 5, "alphabet": 7})
    done = venturi("top", "-b", "-f", "ALPHA", "-s", "count", "-l", "1", path, check=0)
    assert "alphabet" in done.stdout and "beta\n" not in done.stdout and "2 more" in done.stdout
    assert "nothing has such a name" in venturi("top", "-b", "-f", "zebra", path, check=0).stdout


def test_names_cannot_steer_a_terminal(venturi, recording):
    done = venturi("top", "-b", recording("bad.vt", names={"\x1b[2Jx\n\u202e": 1}), check=0)
    assert "\\x1b[2Jx\\n\\u202e" in done.stdout and "\x1b" not in done.stdout


@pytest.mark.parametrize("words, message", [
    ((), "what? a recording, a process id, or -- PROG"),
    (("--",), "what? a recording, a process id, or -- PROG"),
    (("-b", "a.vt", "b.vt"), "one FILE, DIR or PID, or -- before a program"),
    (("-b", "-v", "zebra", "a.vt"), "--view: 'zebra' is none of spans|functions|threads|tasks|workers|steps|processes"),
    (("-b", "-d", "0", "a.vt"), "--delay: '0' is not between 0.1 and 3600 seconds"),
    (("-b", "-n", "x", "a.vt"), "--rounds: 'x' is no number of at least 1"),
    (("-b", "--bogus", "a.vt"), "no option --bogus, see venturi top --help"),
    (("x.vt",), "not on a terminal; -b writes plain text"),
])
def test_wrong_words_are_one_line(venturi, words, message):
    assert venturi("top", *words, check=2).stderr == "venturi top: %s\n" % message


def test_wrong_targets_are_one_line(venturi, tmp_path):
    (tmp_path / "text.vt").write_text("no recording")
    for target in (tmp_path / "text.vt", tmp_path / "none.vt", "999999999"):
        done = venturi("top", "-b", target, check=2)
        assert done.stderr.startswith("venturi top: ") and done.stderr.count("\n") == 1, done.stderr


def test_unknown_column(venturi, recording):
    done = venturi("top", "-b", "-v", "spans", "-s", "zebra", recording("a.vt", names={"a": 1}), check=2)
    assert done.stderr == "venturi top: --sort: the view spans has no column 'zebra'\n"


def test_a_program_that_is_not_there(venturi):
    done = venturi("top", "-b", "-d", "0.1", "--", "./nosuch")
    assert done.returncode in (2, 127) and "nosuch" in done.stderr  # 127 where top was quick enough to see the recording begin


def test_a_temporary_recording_goes(venturi, busy, tmp_path):
    venturi("top", "-b", "-d", "0.1", "--", *busy(0.2), check=0, env={"TMPDIR": tmp_path})
    assert not [name for name in os.listdir(tmp_path) if name.endswith(".vt")]


def test_full_output(venturi, recording):
    with open("/dev/full", "w", encoding="utf-8") as full:
        done = venturi("top", "-b", recording("a.vt", names={"a": 1}), stdout=full)
    assert done.returncode == 2 and done.stderr.startswith("venturi top: standard output: cannot")
