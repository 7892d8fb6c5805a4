"""venturi rank on trace logs: the script's table, its mistakes, and what is done better."""
import csv
import io
import json
import os
import random
import subprocess

import pytest

BASE = "0c2f8a4e-97b1-4f5d-8d36-52e1b7c6a901"
ROOT = "5be1d0f3-6a7c-4e88-b2d4-1f09c3a7e5d2"
FLOW = "a94c7f10-3d2e-4b6f-9c81-7e5a0d1b2c34"
TASK = "e7305b9d-c1f8-46a2-a5e7-90b4d8f6c213"
HEADER = "Total time | Max time | Avg time | Occurrences | Trace name\n" + "-" * 91 + "\n"


def start(name, parent=BASE, span=ROOT, time="2026-11-15T08:04:25.789433"):
    return "%s          %s %s %s %s-start\n" % (time, BASE, parent, span, name)


def stop(seconds, name, parent=BASE, span=ROOT, tail="", time="2026-11-15T08:04:25.961298"):
    return "%s %s %s %s %s %s-stop%s\n" % (time, seconds, BASE, parent, span, name, tail)


# A workflow that starts: one call inside the other, a database query, one slow step.
LOG = (start("engine-start-workflow")
       + start("workflow-handler-start-workflow", ROOT, FLOW)
       + start("db", FLOW, TASK).rstrip("\n") + ' {"statement": "SELECT * FROM tasks -- not the end: x-stop"}\n'
       + stop("0.006782", "db", FLOW, TASK, ' {"result": "3 rows"}')
       + start("workflow-set-state", FLOW, TASK)
       + stop("0.1", "workflow-set-state", FLOW, TASK)
       + stop("1.7e-05", "wf-controller-get-controller", FLOW, "11111111-aaaa-4b9b-b15a-35848b5cdd61")
       + stop("0.75", "workflow-handler-start-workflow", ROOT, FLOW, "  <- !!!")
       + stop("1.0", "engine-start-workflow", tail="  <- !!!"))
TABLE = HEADER + (
    "1.000        1.000      1.000      1             engine-start-workflow\n"
    "0.750        0.750      0.750      1             workflow-handler-start-workflow\n"
    "0.100        0.100      0.100      1             workflow-set-state\n"
    "0.007        0.007      0.007      1             db\n"
    "0.000        0.000      0.000      1             wf-controller-get-controller\n")


@pytest.fixture
def log(tmp_path):
    """log(text) -> path of a log that holds it."""
    def write(text):
        path = tmp_path / "trace.log"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path
    return write


def rows(output):
    assert output.startswith(HEADER)
    return [line.split(None, 4) for line in output[len(HEADER):].splitlines()]


# ---- the table --------------------------------------------------------------------------------------


def test_table(venturi, log):
    done = venturi("rank", log(LOG), check=0)
    assert done.stdout == TABLE
    assert done.stderr == ""


def test_standard_input(venturi):
    assert venturi("rank", "-", input=LOG, check=0).stdout == TABLE


def test_pipe_in_small_pieces(venturi):
    child = subprocess.Popen([venturi.path, "rank", "-"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    for at in range(0, len(LOG), 61):
        child.stdin.write(LOG[at:at + 61].encode())
        child.stdin.flush()
    assert child.communicate()[0].decode() == TABLE


def reference(bench_script, path, out):
    done = bench_script("rank_reference.py", path, out)
    return done, out.read_bytes() if out.exists() else None


@pytest.mark.parametrize("seed", range(12))
def test_clean_logs_rank_as_the_script_does(venturi, bench_script, tmp_path, seed):
    path = tmp_path / "trace.log"
    names = 1 + random.Random(seed).randrange(120)
    assert bench_script("gen_log.py", "--lines", 3000, "--names", names, "--seed", seed, "-o", path).returncode == 0
    _, expected = reference(bench_script, path, tmp_path / "expected")
    done = venturi("rank", path, text=False, check=0)
    assert done.stdout == expected
    assert done.stderr == b""
    assert venturi("rank", "--compat", path, text=False, check=0).stdout == expected


def test_output_file(venturi, log, tmp_path):
    out = tmp_path / "report.txt"
    done = venturi("rank", log(LOG), out, check=0)
    assert (done.stdout, done.stderr) == ("", "")
    assert out.read_text() == TABLE
    done = venturi("rank", log(LOG), out, check=2)
    assert done.stderr == "venturi rank: %s: already exists (use --force to replace it)\n" % out
    out.write_text("old")
    venturi("rank", "--force", log(LOG), out, check=0)
    assert out.read_text() == TABLE
    assert sorted(path.name for path in tmp_path.iterdir()) == ["report.txt", "trace.log"]


def test_output_may_be_a_device(venturi, log):
    venturi("rank", log(LOG), "/dev/null", check=0)
    assert venturi("rank", log(LOG), "-", check=0).stdout == TABLE
    assert not os.path.isfile("/dev/null")
    done = venturi("rank", log(LOG), "/dev/full", check=2)
    assert done.stderr.startswith("venturi rank: /dev/full: cannot write: No space left on device")


def test_output_that_cannot_be(venturi, log, tmp_path):
    done = venturi("rank", log(LOG), tmp_path, check=2)
    assert done.stderr == "venturi rank: %s: is a directory\n" % tmp_path
    done = venturi("rank", log(LOG), tmp_path / "none" / "out", check=2)
    assert done.stderr == "venturi rank: %s/none/out: cannot create: No such file or directory\n" % tmp_path
    with open("/dev/full", "w") as full:
        done = venturi("rank", log(LOG), stdout=full)
    assert (done.returncode, done.stderr) == (
        2, "venturi: standard output: cannot write: No space left on device\n")


# ---- where the script is wrong ----------------------------------------------------------------------


def warned(done):
    prefix = "venturi rank: warning: "
    assert all(line.startswith(prefix) for line in done.stderr.splitlines())
    return [line[len(prefix):] for line in done.stderr.splitlines()]


def test_long_durations_count(venturi, log):
    done = venturi("rank", log(LOG + stop("1000.123456", "slow-one") + stop("123456.5", "slow-one")), check=0)
    assert rows(done.stdout)[0] == ["124456.623", "123456.500", "62228.312", "2", "slow-one"]
    assert done.stderr == ""


@pytest.mark.parametrize("line, reason", [
    ("\n", "is blank"),
    ("   \t\n", "is blank"),
    ("Traceback (most recent call last):\n", "does not begin with a timestamp"),
    ("2026-11-15T08:04:25.961298\n", "ends after the timestamp"),
    ("2026-11-15T08:04:25.961298 0.5 %s\n" % BASE, "ends before its name"),
    (stop("0.5", "x").replace("-stop", ""), "has a name that ends neither in -start nor in -stop"),
    (stop("soon", "x"), "has no duration that can be read"),
    (stop("nan", "x"), "has no duration that can be read"),
    (stop("1e999", "x"), "has no duration that can be read"),
    (stop("0.5", "x").replace("-stop", "-start"), "has a duration but ends in -start"),
    ("x" * (1 << 20) + "x\n", "is longer than 1 MiB"),
])
def test_unusable_lines_are_counted(venturi, log, line, reason):
    path = log(LOG + line + LOG + line)
    done = venturi("rank", path, check=0)
    lines = LOG.count("\n")
    assert [row[3] for row in rows(done.stdout)] == ["2"] * 5
    assert warned(done) == ["%s: lines not used: 2 of %d; the first: line %d %s" % (
        path, 2 * lines + 2, lines + 1, reason)]


def test_names_with_blanks(venturi, log):
    done = venturi("rank", log(stop("0.5", "my own name") + stop("0.75", "my other name", tail="  <- !!!")), check=0)
    assert [row[4] for row in rows(done.stdout)] == ["my other name", "my own name"]


def test_negative_durations(venturi, log):
    path = log(LOG + stop("-0.5", "db") + stop("-1e-06", "db"))
    done = venturi("rank", path, check=0)
    assert done.stdout == TABLE
    assert warned(done) == ["%s: negative durations left out: 2; the first: line %d" % (path, LOG.count("\n") + 1)]


def test_carriage_returns_and_no_last_newline(venturi, log):
    assert venturi("rank", log(LOG.replace("\n", "\r\n")), check=0).stdout == TABLE
    assert venturi("rank", log(LOG.rstrip("\n")), check=0).stdout == TABLE


def test_lines_just_below_the_limit(venturi, log):
    frame = len(stop("0.5", "db", tail=' {""}')) - 1
    path = log(stop("0.5", "db", tail=' {"%s"}' % ("x" * ((1 << 20) - frame))))
    done = venturi("rank", path, check=0)
    assert rows(done.stdout) == [["0.500", "0.500", "0.500", "1", "db"]]


def test_names_cannot_steer_the_terminal(venturi, log):
    text = stop("0.5", "a\033[2Jb\xa0c").encode() + stop("0.25", "raw").encode().replace(b"raw", b"\xff\x9b\xe2\x80\xae")
    for options in ((), ("--wide",)):
        done = venturi("rank", *options, log(text), text=False, check=0)
        assert b"\033" not in done.stdout and b"\xff" not in done.stdout and b"\xe2\x80\xae" not in done.stdout
        assert "a\\x1b[2Jb\xa0c".encode() in done.stdout and b"\\xff\\x9b\\u202e" in done.stdout
    assert json.loads(venturi("rank", "--json", log(text), check=0).stdout)["names"][0]["name"] == "a\033[2Jb\xa0c"


def test_random_bytes_do_no_harm(venturi, log):
    rng = random.Random(5)
    for _ in range(20):
        text = bytearray(LOG.encode() * 3)
        for _ in range(rng.randrange(1, 200)):
            text[rng.randrange(len(text))] = rng.randrange(256)
        for options in ((), ("--wide",), ("--compat",)):
            done = venturi("rank", *options, log(bytes(text)), text=False)
            assert done.returncode in (0, 1, 2)
            assert b"Sanitizer" not in done.stderr


# ---- inputs that are none ---------------------------------------------------------------------------


def test_inputs_that_hold_nothing(venturi, log, tmp_path):
    assert venturi("rank", log(""), check=2).stderr == \
        "venturi rank: %s: holds no trace lines: it is empty\n" % log("")
    assert venturi("rank", log("one\ntwo\n"), check=2).stderr == \
        "venturi rank: %s: holds no trace lines: line 1 does not begin with a timestamp\n" % log("one\ntwo\n")
    assert venturi("rank", "-", check=2).stderr == \
        "venturi rank: standard input: holds no trace lines: it is empty\n"
    done = venturi("rank", log("one\n"), tmp_path / "out", check=2)
    assert not (tmp_path / "out").exists() and done.stdout == ""


def test_only_starts_is_an_empty_table(venturi, log):
    path = log(start("a"))
    done = venturi("rank", path, check=0)
    assert done.stdout == HEADER
    assert warned(done) == ["%s: nothing in it has ended" % path]


def test_inputs_that_cannot_be_read(venturi, tmp_path):
    assert venturi("rank", tmp_path / "none", check=2).stderr == \
        "venturi rank: %s/none: cannot open: No such file or directory\n" % tmp_path
    assert venturi("rank", tmp_path, check=2).stderr == "venturi rank: %s: is a directory\n" % tmp_path
    if os.geteuid() != 0:
        path = tmp_path / "closed"
        path.write_text(LOG)
        path.chmod(0)
        assert venturi("rank", path, check=2).stderr.endswith("closed: cannot open: Permission denied\n")


def test_file_names_are_harmless(venturi):
    assert venturi("rank", "no\033[31m\nfile", check=2).stderr == \
        "venturi rank: no\\x1b[31m\\nfile: cannot open: No such file or directory\n"


def test_recording_on_a_pipe(venturi):
    done = venturi("rank", "-", input=b"\x89VT\r\n\x1a\n\0" + bytes(100), check=2)
    assert done.stderr == b"venturi rank: standard input: is a recording; it cannot be read from a pipe, give its name\n"


def test_damaged_recording(venturi, tmp_path):
    path = tmp_path / "bad.vt"
    path.write_bytes(b"\x89VT\r\n\x1a\n\0" + bytes(100))
    done = venturi("rank", path, check=2)
    assert done.stderr.startswith("venturi rank: %s: " % path) and done.stderr.count("\n") == 1


def test_usage(venturi, log):
    assert venturi("rank", check=2).stderr == \
        "venturi rank: which FILE? A recording, a trace log, or - for standard input\n"
    assert venturi("rank", "a", "b", "c", check=2).stderr == "venturi rank: one FILE and one OUT, what is 'c'?\n"
    for limit in ("0", "-1", "x", "1x", "99999999999999999999999"):
        assert venturi("rank", "--limit=" + limit, log(LOG), check=2).stderr == \
            "venturi rank: --limit: '%s' is not a number of rows\n" % limit
    assert venturi("rank", "--json", "--csv", log(LOG), check=2).stderr == "venturi rank: either --json or --csv\n"
    assert "--compat writes the script's table only" in venturi("rank", "--compat", "--wide", "x", check=2).stderr


# ---- the script's way -------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(24))
def test_compat_repeats_every_mistake(venturi, bench_script, tmp_path, seed):
    kinds = ["long", "spaces", "negative", "crlf", "cut", "long,spaces,negative,crlf,cut", "blank", "short",
             "foreign", "bytes", "all", "spaces,long"]
    path, out = tmp_path / "trace.log", tmp_path / "out"
    bench_script("gen_log.py", "--lines", 400, "--names", 10 + seed, "--seed", seed, "--defects",
                 kinds[seed % len(kinds)], "-o", path)
    peer, expected = reference(bench_script, path, tmp_path / "expected")
    done = venturi("rank", "--compat", path, out, text=False)
    assert done.returncode == peer.returncode
    assert out.read_bytes() == expected
    if peer.returncode:
        assert expected == b"" and done.stderr.count(b"\n") == 1
        assert done.stdout == b"Ranking profiled methods...\n"


@pytest.mark.parametrize("text", [
    b"", b"\n", b"one\n", b"one two\n", b"a b c d e\n", b"a b c d e f\n", b"a 1 c d e f\n", b"a 1 c d e\n",
    b"a 1 c d e fo\na 1 c d e foo\na 1 c d e fooo\na 1 c d e foooo\na 1 c d e fooooo\n",
    b"a 1_0 c d e x-stop\n", b"a 1__0 c d e x-stop\n", b"a _1 c d e x-stop\n", b"a 1_ c d e x-stop\n",
    b"a 1_.5 c d e x-stop\n", b"a inf c d e x-stop\n", b"a -Infinity c d e x-stop\n", b"a nan c d e x-stop\n",
    b"a 0x10 c d e x-stop\n", b"a 1e5 c d e x-stop\n", b"a 1e c d e x-stop\n", b"a .5 c d e x-stop\n",
    b"a 5. c d e x-stop\n", b"a . c d e x-stop\n", b"a +-5 c d e x-stop\n", b"a 1e999 c d e x-stop\n",
    b"a 1234567890 c d e x-stop\n", b"a 12345678901 c\n", b"a\xc2\xa01\xe2\x80\x83c d e x-stop\n",
    b"a\x1c1\x1dc\x1ed\x1fe x-stop\n", b"a 1 c d e \xc3\xa4\xc3\xb6\xc3\xbc-stop\n",
    b"a 1 c d e \xf0\x9f\x98\x80ab\n", b"a 1 c d e x-stop\ra 2 c d e y-stop\r\na 3 c d e z-stop\r",
    b"a 1 c d e x-stop\r\r\na 2 c d e y-stop", b"a 1 c d e x-stop\xff\n", b"\xed\xa0\x80 1 c d e x-stop\n",
    b"a 1 c d e x-stop\x0ba 2 c d e y-stop\n", b"a 1 c d e x-stop\x85\n", b"a 1 c d e x\x00y-stop\n",
    b"\xef\xbb\xbfa 1 c d e x-stop\n", b"a -0.0 c d e x-stop\n", b"a 0.0005 c d e x-stop\n",
    b"a 0.0015 c d e x-stop\n", b"a 1e300 c d e x-stop\na 1e300 c d e x-stop\n",
])
def test_compat_line_by_line(venturi, bench_script, log, tmp_path, text):
    path = log(text)
    peer, expected = reference(bench_script, path, tmp_path / "expected")
    done = venturi("rank", "--compat", path, tmp_path / "out", text=False)
    assert done.returncode == peer.returncode, (peer.stderr, done.stderr)
    assert (tmp_path / "out").read_bytes() == expected


def test_compat_says_what_the_script_says(venturi, log, tmp_path):
    out = tmp_path / "out"
    out.write_text("old")  # it replaces what is there, as the script does
    done = venturi("rank", "--compat", log(LOG), out, check=0)
    assert done.stdout == "Ranking profiled methods...\nRanking file was successfully created: %s\n" % out
    assert done.stderr == "" and out.read_text() == TABLE
    done = venturi("rank", "--compat", log(LOG + "\n"), out, check=1)
    assert done.stdout == "Ranking profiled methods...\n"
    assert done.stderr == "venturi rank: %s: line %d is blank, where the script fails\n" % (
        log(LOG + "\n"), LOG.count("\n") + 1)
    assert out.read_text() == ""


def test_compat_does_not_replace_a_device(venturi, log):
    venturi("rank", "--compat", log(LOG), "/dev/null", check=0)
    venturi("rank", "--compat", log("\n"), "/dev/null", check=1)
    assert not os.path.isfile("/dev/null")


# ---- more than the script ---------------------------------------------------------------------------


def test_wide(venturi, log):
    hung = start("task-run", ROOT, "22222222-aaaa-4b9b-b15a-35848b5cdd61")
    done = venturi("rank", "--wide", log(LOG + hung), check=0)
    assert done.stdout == (
        " Total    Self     Avg     Min     p50     p99     Max  Count  Open  Name\n"
        " 1.00s   250ms   1.00s   1.00s   1.00s   1.00s   1.00s      1     0  engine-start-workflow\n"
        " 750ms   643ms   750ms   750ms   750ms   750ms   750ms      1     0  workflow-handler-start-workflow\n"
        " 100ms   100ms   100ms   100ms   100ms   100ms   100ms      1     0  workflow-set-state\n"
        "6.78ms  6.78ms  6.78ms  6.78ms  6.78ms  6.78ms  6.78ms      1     0  db\n"
        "17.0us  17.0us  17.0us  17.0us  17.0us  17.0us  17.0us      1     0  wf-controller-get-controller\n"
        "     -       -       -       -       -       -       -      0     1  task-run\n")
    assert warned(done) == ["%s: stops without a start: 1; their self time includes what ran inside" % log(LOG + hung)]


def test_wide_fits_80_columns(venturi, log):
    done = venturi("rank", "--wide", log(LOG), env={"COLUMNS": 80}, check=0)
    lines = done.stdout.splitlines()
    assert max(map(len, lines)) <= 80
    assert lines[2] == "engine-start-workflow" and lines[3].startswith(" 1.00s   250ms")


def test_json(venturi, log):
    done = venturi("rank", "--json", "--wide", log(LOG + "\n" + stop("-1", "db")), check=0)
    found = json.loads(done.stdout)
    assert found["source"] == "log"
    assert found["lines"] == {"read": 11, "starts": 4, "stops": 5, "negative": 1, "unusable": 1}
    first = found["names"][0]
    assert first["name"] == "engine-start-workflow" and first["self_s"] == 0.25 and first["total_s"] == 1.0
    assert "self_s" not in json.loads(venturi("rank", "--json", log(LOG)).stdout)["names"][0]


def test_csv(venturi, log):
    done = venturi("rank", "--csv", "--wide", log(LOG + stop("0.25", 'odd "name", it is')), check=0)
    table = list(csv.DictReader(io.StringIO(done.stdout)))
    assert table[0]["name"] == "engine-start-workflow" and float(table[0]["self_s"]) == 0.25
    assert table[2]["name"] == 'odd "name", it is' and table[2]["count"] == "1"


def test_sort_and_limit(venturi, log):
    text = stop("0.5", "b") + stop("0.75", "a") + stop("0.125", "b") + stop("0.125", "b")
    assert [row[4] for row in rows(venturi("rank", log(text)).stdout)] == ["b", "a"]
    for key, expected in [("max", "ab"), ("avg", "ab"), ("count", "ba"), ("name", "ab"), ("total", "ba")]:
        assert [row[4] for row in rows(venturi("rank", "--sort", key, log(text)).stdout)] == list(expected), key
    for key, expected in [("min", "ab"), ("p50", "ab"), ("p99", "ab"), ("self", "ba")]:
        table = venturi("rank", "--sort=" + key, log(text), check=0).stdout.splitlines()
        assert [line.split()[-1] for line in table[1:]] == list(expected), key
        assert "p99" in table[0]
    assert [row[4] for row in rows(venturi("rank", "-n1", log(text)).stdout)] == ["b"]


def test_memory_does_not_grow_with_lines(venturi, bench_script, tmp_path):
    """A log of 40 MB in a process that may not have as much."""
    path = tmp_path / "trace.log"
    bench_script("gen_log.py", "--lines", 20000, "-o", path)
    text = path.read_text()
    path.write_text(text * 11)
    done = subprocess.run(["sh", "-c", 'ulimit -v 30000; exec "$0" rank "$1"', venturi.path, path],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if os.environ.get("VENTURI_SANITIZE"):
        pytest.skip("a sanitizer needs more memory than that")
    assert done.returncode == 0, done.stderr
    assert len(rows(done.stdout)) > 20


def test_wide_shows_no_infinity(venturi, log):
    """A number so large that its nanoseconds are none."""
    text = venturi("rank", "--wide", log(LOG.replace("0.75", "1e300")), check=0).stdout
    assert "inf" not in text and "1e+300s" in text
