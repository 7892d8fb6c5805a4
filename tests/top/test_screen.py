"""`venturi top` on a terminal: views, keys, and a terminal that is as before whatever ends it."""
import re
import shlex
import subprocess

import pytest

BEFORE = ["0", "1", "0"]  # no other screen, a cursor, no keypad


def start(screen, venturi, words, *options):
    screen.type(shlex.join([venturi.path, "top", "-d", "0.2", *options, "--", *words]))
    return screen.wait(lambda text: "inner" in text and "q quit" in text)


def pid_of(screen):
    """Of the venturi-top that runs in the terminal of this test, and in no other."""
    shell = screen.tmux("display-message", "-p", "#{pane_pid}").strip()
    found = subprocess.run(["pgrep", "-P", shell, "-x", "venturi-top"], capture_output=True, text=True, check=True)
    return int(found.stdout)


def test_keys(venturi, screen, busy):
    before = screen.state()
    text = start(screen, venturi, busy(60))
    assert "functions  every 200 ms" in text and re.search(r"inner +busy\.py:3", text)
    screen.keys("h")
    assert "PgUp PgDn" in screen.wait(lambda text: "Keys" in text)
    screen.keys("h")
    screen.wait(lambda text: "Own/s" in text)
    screen.keys("/")
    screen.keys("o", "u", "t", "e", "r", "Enter")
    text = screen.wait(lambda text: "filter: outer" in text and "inner" not in text)
    assert "outer" in text
    screen.keys("c")
    screen.wait(lambda text: "inner" in text)
    screen.keys("p")
    screen.wait(lambda text: "PAUSED" in text)
    screen.keys("p")
    screen.wait(lambda text: "PAUSED" not in text)
    screen.keys("7")
    screen.wait(lambda text: "Pid" in text and "busy.py" in text)
    screen.keys("t")
    screen.wait(lambda text: "Tid" in text)
    screen.keys("t")
    screen.wait(lambda text: "Pid" in text)
    screen.keys("Tab")
    screen.wait(lambda text: "Busy" in text)
    screen.keys("+")
    screen.wait(lambda text: "every 100 ms" in text)
    screen.keys("q")
    screen.wait(lambda text: "what it printed is in" in text)
    assert screen.state() == before and before[1] == BEFORE


@pytest.mark.parametrize("name", ["INT", "TERM", "HUP", "SEGV", "ABRT"])
def test_terminal_is_restored(venturi, screen, busy, name):
    before = screen.state()
    start(screen, venturi, busy(60))
    subprocess.run(["kill", "-" + name, str(pid_of(screen))], check=True)
    screen.wait(lambda text: "Own/s" not in text)
    assert screen.state() == before


def test_stop_and_go_on(venturi, screen, busy):
    before = screen.state()
    start(screen, venturi, busy(60))
    screen.keys("C-z")
    screen.wait(lambda text: "Own/s" not in text)
    assert screen.state() == before
    screen.type("fg")
    screen.wait(lambda text: "Own/s" in text)
    screen.keys("q")
    screen.wait(lambda text: "what it printed is in" in text)
    assert screen.state() == before


def test_program_that_ends_stays_on_the_screen(venturi, screen, busy):
    start(screen, venturi, busy(0.5, 4))
    screen.wait(lambda text: "ENDED" in text and "inner" in text)
    screen.keys("q")
    screen.type("echo code $?")
    screen.wait(lambda text: "code 4" in text)


def test_small_terminals(venturi, screen, busy):
    start(screen, venturi, busy(60))
    for columns, lines in ((20, 5), (1, 1), (200, 60), (100, 30)):
        screen.tmux("resize-window", "-x", str(columns), "-y", str(lines))
    screen.wait(lambda text: "inner" in text and "q quit" in text)
    screen.keys("q")
    screen.wait(lambda text: "what it printed is in" in text)


def test_lines_are_cut_between_words(venturi, screen, busy):
    """On a narrow terminal whole keys are left out below, whole columns of numbers above; names stay."""
    screen.tmux("resize-window", "-x", "60", "-y", "24")
    screen.type(shlex.join([venturi.path, "top", "-d", "0.2", "-v", "threads", "--", *busy(60)]))
    text = screen.wait(lambda text: re.search(r"Tid.*Thread, inside of$", text, re.M) and "MainThread" in text)
    assert text.rstrip().endswith("h help  q quit  Tab view  s sort")
    screen.keys("q")
    screen.wait(lambda text: "what it printed is in" in text)
    screen.tmux("resize-window", "-x", "80", "-y", "24")
    start(screen, venturi, busy(60))
    screen.keys("p")
    text = screen.wait(lambda text: "PAUSED" in text)
    assert text.rstrip().endswith("PAUSED  every 200 ms  h help  q quit  Tab view  s sort  / filter")
    screen.keys("q")
    screen.wait(lambda text: "Own/s" not in text)


def calls_of(text, name):
    found = re.search(r"^ *\S+ +\S+(?: [kM])? +(\d\S*(?: [kM])?) .* " + name + "  busy", text, re.M)
    number, _, unit = found[1].partition(" ") if found else ("0", "", "")
    return float(number) * {"": 1, "k": 1e3, "M": 1e6}[unit]


def test_sums_begin_anew(venturi, screen, busy):
    """r counts functions from then on, not only events."""
    start(screen, venturi, busy(60))
    screen.wait(lambda text: calls_of(text, "outer") > 1000)
    screen.keys("r")
    screen.wait(lambda text: calls_of(text, "outer") < 1000)
    screen.wait(lambda text: calls_of(text, "outer") > 0)
    screen.keys("q")
    screen.wait(lambda text: "what it printed is in" in text)


def test_quitting_stops_the_program(venturi, screen, busy):
    start(screen, venturi, busy(60))
    screen.keys("q")
    screen.wait(lambda text: "what it printed is in" in text)
    assert subprocess.run(["pgrep", "-f", busy(60)[1]], capture_output=True, check=False).returncode == 1
