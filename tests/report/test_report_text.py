"""The summary in the terminal: exact text of small recordings, at any width, with and without colour and UTF-8."""
import pytest
from cli_conftest import NewRecording
from vtwrite import join

RESOURCES = 29
MS = 1000000
SMALL = [("main", 0, 100 * MS), ("load", 10 * MS, 40 * MS), ("work", 40 * MS, 95 * MS)]


def shown(venturi, path, columns, *options, **env):
    done = venturi("report", *options, path, env={"COLUMNS": columns, "TZ": "UTC", **env}, check=0)
    return done.stdout


def test_all_of_it(venturi, spans):
    assert shown(venturi, spans(SMALL), 80) == """\
program, 2027-01-15 08:00:00, 100 ms, 1 process, 1 thread, 3 spans

Findings
  * work itself takes 55 % of the time of all spans: 55.0 ms in 1 span.

Count   Total    Self  Share         p50     p99  Span
    1   100ms  15.0ms   15% ▉      100ms   100ms  main
    1  55.0ms  55.0ms   55% ███▎  55.0ms  55.0ms  work
    1  30.0ms  30.0ms   30% █▊    30.0ms  30.0ms  load

trust: nothing lost, own cost not known, made of spans, monotonic clock
"""


def test_narrow(venturi, spans):
    text = shown(venturi, spans(SMALL), 40)
    assert text == """\
program, 2027-01-15 08:00:00, 100 ms,
1 process, 1 thread, 3 spans

Findings
  * work itself takes 55 % of the time
    of all spans: 55.0 ms in 1 span.

  Self  Share      Span
15.0ms   15% ▉     main
55.0ms   55% ███▎  work
30.0ms   30% █▊    load

trust: nothing lost, own cost not known,
       made of spans, monotonic clock
"""


def test_wide(venturi, spans):
    text = shown(venturi, spans(SMALL), 200)
    assert """
Count   Total    Self  Share            Min     Avg     Max     p50     p99  Span
    1   100ms  15.0ms   15% █▊        100ms   100ms   100ms   100ms   100ms  main
    1  55.0ms  55.0ms   55% ██████▋  55.0ms  55.0ms  55.0ms  55.0ms  55.0ms  work
""" in text


@pytest.mark.parametrize("env", [{"LC_ALL": "C"}, {"LC_ALL": "", "LANG": "C"}, {"LC_ALL": "POSIX"}])
def test_bars_of_ascii(venturi, spans, env):
    text = shown(venturi, spans(SMALL), 80, **env)
    assert "   55% ###  " in text and "   15% #    " in text
    assert text.isascii()


@pytest.mark.parametrize("columns", [40, 80, 200])
def test_nothing_is_wider(venturi, make_recording, columns):
    lines = shown(venturi, make_recording(), columns).splitlines()
    table = lines[next(i for i, line in enumerate(lines) if "Share" in line):]
    for line in lines[:lines.index("Findings")] + table[:table.index("")]:
        assert len(line) + sum("一" <= letter <= "鿿" for letter in line) <= columns, line


def test_colour(venturi, spans):
    path = spans(SMALL)
    text, code, _ = venturi.on_terminal("report", path)
    assert code == 0 and b"\x1b[1mFindings\x1b[0m" in text
    for env in ({"NO_COLOR": "1"}, {"TERM": "dumb"}):
        assert b"\x1b" not in venturi.on_terminal("report", path, **env)[0]
    assert b"\x1b" not in venturi.on_terminal("report", "--color", "never", path)[0]
    assert b"\x1b[1m" in venturi.on_terminal("report", "--color", "always", path, NO_COLOR="1")[0]
    assert "\x1b[1m" in shown(venturi, path, 80, "--color", "always")
    assert "\x1b" not in shown(venturi, path, 80)
    assert venturi("report", "--color", "green", path).returncode == 2


def test_command_and_how_it_ended(venturi, make_recording, tmp_path, spans):
    assert "\n$ ./pipeline --input " in shown(venturi, make_recording(), 80)
    text = shown(venturi, spans(SMALL, ended_by=1, code=3), 80)
    assert "\nIt ended with exit code 3.\n" in text
    assert "ended" not in shown(venturi, spans(SMALL, ended_by=1, code=0), 80)
    assert "\nIt was ended by signal 9.\n" in shown(venturi, spans(SMALL, ended_by=2, code=9), 80)


def test_functions(venturi, calls):
    text = shown(venturi, calls("main;work 3000", "main 1000"), 80)
    assert """
Calls   Total    Self  Share       p50  p99  Function
    1  3.00ms  3.00ms   75% ████▌    -    -  work
    1  4.00ms  1.00ms   25% █▌       -    -  main

""" in text
    assert "made of calls" in text


def test_empty(venturi, make_recording):
    text = shown(venturi, make_recording("--empty"), 80)
    assert "Findings\n  Nothing stands out.\n" in text
    assert "No spans were recorded" in text
    assert "made of" not in text


def test_async_spans_have_no_share(venturi, make_recording):
    row, = [line for line in shown(venturi, make_recording("--plain"), 80).splitlines() if line.endswith(" request")]
    assert row.split()[3] == "-"


def test_hostile_names(venturi, make_recording):
    text = shown(venturi, make_recording(), 80)
    assert not any(ord(letter) < 32 and letter != "\n" or letter in "\u202e\x7f\x9b" for letter in text)


def test_help_fits_a_screen(venturi):
    for command in ("report", "flame"):
        lines = venturi(command, "--help", check=0).stdout.splitlines()
        assert len(lines) <= 32 and max(map(len, lines)) <= 80


@pytest.mark.parametrize("times", [[0, 2, 100, 200, 300, 400], [0, 100, 200, 300, 400, 402],
                                   [0, 100, 200, 300, 310, 400, 500, 600, 700, 800]])
def test_readings_that_are_near_have_no_rate(venturi, tmp_path, times):
    """CPU time comes in steps: 40 ms for each tenth of a second, and the second of two that are near has 4 ms more."""
    w = NewRecording(end=times[-1] * MS)
    readings, before = [], 0
    for at in times:
        used = at * 4 // 10 + (4 if 0 < at - before < 50 else 0)
        entry = join(1, 0, (at - before) * MS, 1, used * MS)
        readings.append(join(2, len(entry)) + entry)
        before = at
    w.block(RESOURCES, b"".join(readings), len(readings), last=times[-1] * MS)
    text = shown(venturi, w.save(tmp_path / "x.vt"), 80)
    curve, rate = [line.split("at most ") for line in text.splitlines() if line.startswith("  CPU ")][0]
    assert 0.39 <= float(rate.split()[0]) <= 0.45 and "▁" not in curve, text


@pytest.mark.parametrize("recorded_ms, peak, said", [(10, 18_000_000, True), (300, 6_000_000, False)], ids=["short", "long"])
def test_what_seems_to_differ_is_named(venturi, tmp_path, recorded_ms, peak, said):
    """A program is watched from its start to its end, which can be longer than what it recorded; the kernel knows a peak that no reading has seen."""
    w = NewRecording()
    w.site(1, "all")
    events = w.events(0, 0)
    events.begin(0, 1)
    events.end(recorded_ms * MS)
    events.write()
    readings = []
    for at in range(4):
        entry = join(1, 0, (100 if at else 0) * MS, 1 | 4, at * 20 * MS, 6_000_000)
        readings.append(join(2, len(entry)) + entry)
    entry = join(1, 0, 0, 1 | 8, 60 * MS, peak)
    readings.append(join(2, len(entry)) + entry)
    w.block(RESOURCES, b"".join(readings), len(readings), last=300 * MS)
    text = " ".join(shown(venturi, w.save(tmp_path / "x.vt"), 80).split())
    assert ("in 300 ms from start to end of the program" in text) == said, text
    assert ("at most 6.00 MB when it was read" in text) == said and "at most 6.00 MB" in text, text


@pytest.mark.parametrize("process, shown", [
    ({"name": "python3", "command": "/usr/bin/python3 -u dir/live.py 3"}, "live.py, "),
    ({"name": "/usr/bin/pipeline", "command": "/usr/bin/pipeline dir/live.py"}, "pipeline, "),
], ids=["script", "program"])
def test_the_program_is_called_as_on_the_page(venturi, tmp_path, process, shown):
    w = NewRecording(**process)
    w.site(1, "a")
    events = w.events(0, 0)
    events.begin(0, 1)
    events.end(10)
    events.write()
    assert venturi("report", w.save(tmp_path / "x.vt"), check=0).stdout.startswith(shown)
