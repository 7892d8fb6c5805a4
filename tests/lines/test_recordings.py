"""`venturi lines` of recordings: written by hand with tests/reader/vtwrite.py, and made by `venturi run -l`."""
import json
import os
import pty
import sys
import zipfile

import pytest
from conftest import PYTHONS, TOP, environment, recorded_pythons

sys.path.insert(0, os.path.join(TOP, "tests", "reader"))
from vtwrite import Writer, join, varint  # noqa: E402

SOURCES, LINES, COSTS, LINE_DURATIONS, LINE_CALLEES = 8, 14, 24, 27, 28
UNTIMED, TIMED, SAMPLED, MIXED = range(4)
TEXT = "def main(x):\n    y = helper(\n        x)\n    return y\n\n\nint work(void)\n{\n    return 1;\n}\n"


def entry(node, site, line, statement, how=TIMED, events=0, hits=0, total=0, inner=0, suspended=0, resumes=0, shortest=0, longest=0):
    return join(node, site, line, statement, how, events, hits, total, inner, suspended, resumes, shortest, longest, 0)


def write(path, tracks, sources=None, callees=(), sites=None, cost=0, language=4):
    """tracks: thread name to entries of lines. cost: ticks that a line of Python (4) or C (5) costs."""
    writer = Writer()
    writer.meta(venturi="1", command="python3\0run.py")
    writer.host()
    writer.clock(kind=2)
    writer.process(0, pid=100, name="python3")
    if cost:
        writer.block(COSTS, join(0, language, 1000 * cost, 0), 1)
    for site, (name, file, line, unit) in (sites or {1: ("main", "/src/run.py", 1, "python"),
                                                      2: ("helper", "/src/help.py", 20, "python")}).items():
        writer.site(site, name, 4, name, file, line, unit)
    for track, (name, entries) in enumerate(tracks.items()):
        writer.track(track, 0, thread=200 + track, name=name, end=10 ** 6)
        writer.block(LINES, b"".join(entries), len(entries), owner=track, last=10 ** 6)
        if callees:
            writer.block(LINE_CALLEES, b"".join(join(*callee) for callee in callees), len(callees), owner=track, last=10 ** 6)
    for file, text in (sources or {}).items():
        writer.block(SOURCES, varint(0) + join(file, text), 1)
    writer.close()
    path.write_bytes(writer.bytes())
    return path


MAIN = [entry(1, 1, 0, 4, hits=3, total=9_000_000),
        entry(2, 1, 2, 2, events=6, hits=3, total=8_000_000),
        entry(3, 1, 3, 2, events=3, total=500_000),
        entry(4, 1, 2, 0, hits=3, total=8_500_000, suspended=4_000_000, resumes=2, shortest=1001, longest=8_000_000),
        entry(5, 1, 4, 4, events=3, hits=3, total=400_000)]


def numbers(shown):
    """Line number to its cells, of the first table."""
    rows = shown.split("=\n", 1)[1].split("\n\n", 1)[0].splitlines()
    return {int(row[:6]): row[6:46].split() for row in rows if row[:6].strip()}


def test_statements_and_events(venturi, tmp_path):
    path = write(tmp_path / "a.vt", {"main": MAIN, "other": MAIN}, {"/src/run.py": TEXT})
    shown = venturi("lines", path, check=0)
    assert shown.stdout == """Timer unit: 1e-06 s

Total time: 0.0178 s
File: /src/run.py
Function: main at line 1

Line #      Hits         Time  Per Hit   % Time  Line Contents
==============================================================
     1                                           def main(x):
     2         6      17000.0   2833.3     95.5      y = helper(
     3                                                   x)
     4         6        800.0    133.3      4.5      return y

"""
    assert shown.stderr == "venturi: our own cost is not subtracted, 0 lines lost\n"
    found = numbers(venturi("lines", "--compat", path, check=0).stdout)
    assert [found[line][0] for line in (2, 3, 4)] == ["12", "6", "6"]
    assert found[1] == []


def test_threads_apart(venturi, tmp_path):
    path = write(tmp_path / "a.vt", {"main": MAIN, "other": MAIN}, {"/src/run.py": TEXT})
    shown = venturi("lines", "--threads", path, check=0).stdout
    assert "Thread: main (200) of process 100\n" in shown and "Thread: other (201) of process 100\n" in shown
    assert numbers(shown)[2][0] == "3"


def test_more_columns(venturi, tmp_path):
    path = write(tmp_path / "a.vt", {"main": MAIN}, {"/src/run.py": TEXT}, [(3, 2, 7, 300_000), (2, 2, 1, 100_000)])
    shown = venturi("lines", path, "--columns", "min,max,await,resumes,events,p50,calls", check=0).stdout.splitlines()
    assert shown[6].split()[:-2] == ["Line", "#", "Hits", "Time", "Per", "Hit", "%", "Time", "Min", "Max", "Await", "Resumes",
                                     "Events", "P50"][:14]
    row = shown[9].split()
    assert row[:5] == ["2", "3", "8500.0", "2833.3", "95.5"] and row[5:10] == ["1.0", "8000.0", "4000.0", "2", "9"]
    assert shown[10].split() == ["8", "400.0", "50.0", "4.5", "->", "helper", "(help.py:20)"]
    assert shown[11].split() == ["3", "x)"]
    assert "none of min, max" in venturi("lines", path, "--columns", "min,often", check=2).stderr


def test_estimates(venturi, tmp_path):
    sites = {1: ("work", "/src/work.c", 7, "c")}
    entries = [entry(1, 1, 0, 10, UNTIMED, hits=4), entry(2, 1, 9, 9, SAMPLED, 4, 4, 25_000_000, 25), entry(3, 1, 8, 8, UNTIMED, 4, 4)]
    path = write(tmp_path / "a.vt", {"main": entries}, {"/src/work.c": TEXT}, sites=sites)
    shown = venturi("lines", path, check=0)
    lines = shown.stdout.splitlines()
    assert lines[2] == "Total time: ~0.025 s" and lines[6].split()[-3:] == ["+/-", "Line", "Contents"]
    assert lines[9].split() == ["8", "4", "{"]
    assert lines[10].split() == ["9", "4", "~25000.0", "~6250.0", "~100.0", "5000.0", "return", "1;"]
    assert lines[11].split() == ["10", "}"]
    assert "times with ~ are estimates" in shown.stderr


def test_lines_of_c(venturi, tmp_path):
    """Rough where most was ours, mixed where a compiler has done it, counted only: no time is no 0."""
    sites = {1: ("work", "/src/work.c", 7, "c"), 2: ("idle", "/src/work.c", 7, "c"), 3: ("prog+0x12f0", "/src/prog", 0, "c")}
    entries = [entry(1, 1, 8, 8, TIMED, 10, 0, 1_000_000, 10), entry(2, 1, 9, 9, MIXED, 10, 0, 3_000_000, 10),
               entry(3, 2, 9, 9, UNTIMED, 5, 5), entry(4, 3, 0, 0, TIMED, 0, 1, 500)]
    path = write(tmp_path / "a.vt", {"main": entries}, {"/src/work.c": TEXT}, sites=sites, cost=99_999, language=5)
    found = {f["name"]: f for f in json.loads(venturi("lines", "--json", path, check=0).stdout)["functions"]}
    assert set(found) == {"work", "idle"}  # one that has no name has no lines either
    first, second = found["work"]["lines"]
    assert first["rough"] and "mixed" not in first and second["mixed"] and "rough" not in second
    assert found["idle"]["total_time"] is None and found["work"]["total_time"] == pytest.approx(2_000_020e-9)
    shown = venturi("lines", path, "-m", check=0)
    assert "Total time: -\n" in shown.stdout and "     - seconds - /src/work.c:7 - idle\n" in shown.stdout
    assert [("are rough" in line, "has mixed" in line, "without debug info" in line, "subtracted" in line)
            for line in shown.stderr.splitlines()] == [tuple(i == j for i in range(4)) for j in range(4)]
    assert "2.00 ms of our own cost subtracted" in shown.stderr


def test_cost_is_no_more_than_was_measured(venturi, tmp_path):
    entries = [entry(1, 1, 2, 2, events=100, hits=100, total=3000, inner=100), entry(2, 1, 4, 4, events=1, hits=1, total=900_000, inner=1)]
    path = write(tmp_path / "a.vt", {"main": entries}, {"/src/run.py": TEXT}, cost=1000)
    assert json.loads(venturi("lines", "--json", path, check=0).stdout)["own_cost"] == pytest.approx(4e-6)


def test_lines_far_away(venturi, tmp_path):
    """A damaged file must not make a large table."""
    entries = [*MAIN, entry(6, 1, 2 ** 31 - 1, 2 ** 31 - 1, events=1, hits=1, total=5)]
    path = write(tmp_path / "a.vt", {"main": entries}, {"/src/run.py": TEXT})
    shown = venturi("lines", path, check=0).stdout
    assert len(shown) < 5000 and "2147483647         1" in shown and "     4         3" in shown


def test_json(venturi, tmp_path):
    path = write(tmp_path / "a.vt", {"main": MAIN}, {"/src/run.py": TEXT})
    found = json.loads(venturi("lines", "--json", path, check=0).stdout)
    function = found["functions"][0]
    assert (function["name"], function["calls"], function["last_line"], function["source"]) == ("main", 3, 4, "stored")
    assert function["text"][1] == "    y = helper("
    assert [(line["line"], line["hits"], line["events"], line["time"]) for line in function["lines"]] == \
        [(2, 3, 9, 0.0085), (4, 3, 3, 0.0004)]
    assert function["lines"][0]["await"] == 0.004 and function["lines"][1]["min"] is None


def test_functions_by_name(venturi, tmp_path):
    sites = {1: ("Step.run", "/a.py", 1, "python"), 2: ("run", "/a.py", 9, "python"), 3: ("other", "/a.py", 20, "python")}
    entries = [entry(site, site, 5, 5, events=1, hits=1, total=site) for site in sites]
    path = write(tmp_path / "a.vt", {"main": entries}, sites=sites)

    def shown(*names):
        found = json.loads(venturi("lines", "--json", path, *names, check=0).stdout)
        return [function["name"] for function in found["functions"]]
    assert shown() == ["Step.run", "run", "other"]
    assert shown("run") == ["Step.run", "run"]
    assert shown("Step.*", "oth?r") == ["Step.run", "other"]
    assert shown("-t", "*") == ["Step.run", "run", "other"]
    (tmp_path / "run").write_bytes(b"\x7fELF")  # a program that is called like the function is no FILE
    assert venturi("lines", path, "run", "-m", cwd=tmp_path, check=0).stdout.count("seconds - /a.py") == 2
    done = venturi("lines", path, "nothing", check=2)
    assert done.stderr == "venturi lines: %s: no function fits nothing\n" % path and done.stdout == ""


def test_recordings_are_added(venturi, tmp_path):
    one = write(tmp_path / "a.vt", {"main": MAIN}, {"/src/run.py": TEXT})
    two = write(tmp_path / "b.vt", {"main": MAIN})
    assert numbers(venturi("lines", one, two, one, check=0).stdout)[2][:2] == ["9", "25500.0"]


def test_colours(venturi, tmp_path):
    path = write(tmp_path / "a.vt", {"main": MAIN}, {"/src/run.py": TEXT})
    assert "\033[" not in venturi("lines", "--rich", path, check=0).stdout
    forced = venturi("lines", "--rich", path, check=0, env={"FORCE_COLOR": "1"}).stdout
    assert "\033[1;31m     2         3" in forced and forced.count("\033[") == 2 * forced.count("\033[0m")
    assert "\033[" not in venturi("lines", "--rich", path, check=0, env={"FORCE_COLOR": "1", "NO_COLOR": "1"}).stdout


def on_terminal(venturi, *args, **env):
    """What the tool writes to a terminal."""
    pid, terminal = pty.fork()
    if not pid:
        os.execve(venturi.path, [venturi.path, *map(os.fspath, args)], environment(TERM="xterm", **env))
    shown = b""
    try:
        while True:
            more = os.read(terminal, 65536)
            if not more:
                break
            shown += more
    except OSError:  # the other end is closed
        pass
    os.close(terminal)
    os.waitpid(pid, 0)
    return shown.decode().replace("\r\n", "\n")


def test_terminal(venturi, tmp_path):
    """Colours if asked for; tabs as blanks; nothing that steers it."""
    text = TEXT.replace("    y", "\ty").replace("return y", "return '\033[2J'")
    path = write(tmp_path / "a.vt", {"main": MAIN}, {"/src/run.py": text})
    shown = on_terminal(venturi, "lines", path)
    assert "\033" not in shown and "\t" not in shown
    assert "  %5.1f          y = helper(" % 95.5 in shown and "return '\\x1b[2J'" in shown
    assert "\033[1;31m     2 " in on_terminal(venturi, "lines", "-r", path)
    assert "\033" not in on_terminal(venturi, "lines", "-r", path, NO_COLOR="1")


@pytest.mark.parametrize("name, why", [("<string>", "code from a string"), ("/tmp/ipykernel_7/12.py", "a cell of a notebook"),
                                       ("<ipython-input-3-abc>", "a cell of a notebook"), ("/no/such/file.py", "not found"),
                                       ("%(zip)s/inside.py", "lies in an archive")])
def test_no_text(venturi, tmp_path, name, why):
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("inside.py", "x = 1\n")
    name %= {"zip": tmp_path / "a.zip"}
    path = write(tmp_path / "a.vt", {"main": MAIN}, sites={1: ("main", name, 1, "python")})
    done = venturi("lines", path, check=0)
    assert "     2         3       8500.0" in done.stdout
    assert done.stderr.splitlines()[0].startswith("venturi lines: warning: " + name) and why in done.stderr


def test_nothing_there(venturi, tmp_path):
    path = write(tmp_path / "a.vt", {"main": []})
    done = venturi("lines", path, check=2)
    assert done.stdout == "" and done.stderr.count("\n") == 1 and "it was recorded without -l" in done.stderr
    (tmp_path / "empty.vt").write_bytes(b"")
    assert "is empty" in venturi("lines", tmp_path / "empty.vt", check=2).stderr
    assert "cannot open" in venturi("lines", tmp_path / "none.vt", check=2).stderr
    assert "which FILE?" in venturi("lines", check=2).stderr
    assert "not a number of seconds" in venturi("lines", "-u", "0", path, check=2).stderr
    assert "holds no lines" in venturi("export", "-f", "lprof", path, "-o", tmp_path / "x.lprof", check=2).stderr
    assert not os.path.exists(tmp_path / "x.lprof")


def test_large_numbers_leave_whole(venturi, new_peer, tmp_path):
    entries = [entry(1, 1, 2, 2, events=1, hits=2 ** 31, total=2 ** 40), entry(2, 1, 3, 3, events=1, hits=2 ** 63 + 5, total=2 ** 63 + 2 ** 20)]
    write(tmp_path / "a.vt", {"main": entries})
    venturi("export", "a.vt", "-o", "a.lprof", cwd=tmp_path, check=0)
    read = new_peer.run("-c", "import pickle; print(pickle.load(open('a.lprof', 'rb')).timings)", cwd=tmp_path)
    assert eval(read) == {("/src/run.py", 1, "main"): [(2, 2 ** 31, 2 ** 40), (3, 2 ** 63 + 5, 2 ** 63 + 2 ** 20)]}


# ---- with the tool ---------------------------------------------------------------------------------------------------

PROGRAM = '''
import sys

@profile
def work(n):
    total = 0
    for i in range(n):
        total += helper(i,
                        1)
    return total

def helper(i, j):
    return i + j

if "call" in sys.argv:
    work(10)
'''


@pytest.fixture(params=recorded_pythons() or [None])
def program(request, tmp_path):
    """Runs PROGRAM: program(options…, arguments) -> CompletedProcess."""
    if not request.param:
        pytest.skip("no Python with headers, or the extension has a sanitizer")
    (tmp_path / "program.py").write_text(PROGRAM)

    def run(venturi, *options, arguments=("call",), **kw):
        return venturi("run", "--python", PYTHONS[request.param], *options, "program.py", *arguments, cwd=tmp_path, **kw)
    run.folder = tmp_path
    return run


def test_run(venturi, program):
    done = program(venturi, "-l", "-o", "a.vt", check=0)
    assert done.stderr.splitlines()[-2:] == ["venturi: next  venturi lines a.vt",
                                             "venturi: page  venturi report a.vt -o page.html"]
    os.rename(program.folder / "program.py", program.folder / "moved.py")  # the text is in the recording
    shown = venturi("lines", "a.vt", cwd=program.folder, check=0)
    found = numbers(shown.stdout)
    assert [found[line][:1] for line in range(4, 11)] == [[], [], ["1"], ["11"], ["10"], [], ["1"]]
    assert "def helper" not in shown.stdout
    assert "of our own cost subtracted" in shown.stderr


def test_run_by_name(venturi, program):
    program(venturi, "-l", "-p", "program.helper", "-o", "a.vt", arguments=("call",), check=0)
    shown = json.loads(venturi("lines", "--json", "a.vt", cwd=program.folder, check=0).stdout)
    assert [function["name"] for function in shown["functions"]] in (["work"], ["work", "helper"])


def test_run_lprof(venturi, program, new_peer):
    program(venturi, "-l", "-o", "a.lprof", check=0)
    assert sorted(os.listdir(program.folder)) == ["a.lprof", "program.py"]
    assert new_peer.table("a.lprof", cwd=program.folder) == \
        venturi("lines", "a.lprof", cwd=program.folder, check=0, text=False).stdout


def test_run_nothing(venturi, program):
    for output in ("a.vt", "a.lprof"):
        said = program(venturi, "-l", "-o", output, arguments=(), check=0).stderr
        assert "nothing recorded: no function that is profiled was called" in said and "put @profile above" in said
    assert sorted(os.listdir(program.folder)) == ["a.vt", "program.py"]
    assert "holds no lines" in venturi("lines", "a.vt", cwd=program.folder, check=2).stderr


def test_run_refuses(venturi, program):
    assert "which need -l" in program(venturi, "-o", "a.lprof", check=2).stderr
    assert "is for functions" in program(venturi, "-l", "-o", "a.prof", check=2).stderr
    assert "needs -l" in program(venturi, "--callees", check=2).stderr
    assert "counted, not recorded" in program(venturi, "-l", "--timeline", check=2).stderr
    assert sorted(os.listdir(program.folder)) == ["program.py"]
