"""The flame graph: exact pictures of small trees."""
import json
import re

import pytest

from cli_conftest import NewRecording

TREE = ["main;load;parse 3000", "main;load 1000", "main;work;inner 5000", "main;work 500", "other 500"]


def flame(venturi, path, *options, **env):
    return venturi("flame", *options, path, env=env, check=0).stdout


def frames(venturi, path, *options):
    return json.loads(venturi("flame", "--json", *options, path, check=0).stdout)


def test_picture(venturi, calls):
    assert flame(venturi, calls(*TREE)) == """\
10.0 ms of calls = 100%
│main 95% 9.50ms                                                            │oth
│work 55% 5.50ms                            │load 40% 4.00ms                │
│inner 50% 5.00ms                       │   │parse 30% 3.00ms       │
"""


def test_narrow_and_wide(venturi, calls):
    assert flame(venturi, calls(*TREE), "--width", "40") == """\
10.0 ms of calls = 100%
│main 95% 9.50ms                      │o
│work 55% 5.50ms      │load 40% 4.00ms│
│inner 50% 5.00ms   │ │parse 30%  │
"""
    text = flame(venturi, calls(*TREE), COLUMNS=200)
    assert text.splitlines()[1].rstrip() == "│main 95% 9.50ms" + " " * 174 + "│other"
    assert max(map(len, flame(venturi, calls(*TREE), "-w", "20").splitlines()[1:])) <= 20


def test_ascii(venturi, calls):
    text = flame(venturi, calls(*TREE, "main;work;a_long_name_of_a_function 1500"), "-w", "60", LC_ALL="C")
    assert text.isascii() and text.splitlines()[1].startswith("|main 96%")
    assert re.search(r"\|a_long~\|", text), text


def test_bottom_up(venturi, calls):
    assert flame(venturi, calls(*TREE), "--bottom-up") == """\
10.0 ms of functions' own time = 100%, callers below what they call
│inner 50% 5.00ms                       │parse 30% 3.00ms       │load   │oth│wor
│work 50% 5.00ms                        │load 30% 3.00ms        │main   │   │mai
│main 50% 5.00ms                        │main 30% 3.00ms        │
"""


def test_focus(venturi, calls):
    path = calls(*TREE, "other;load;parse 500")
    assert flame(venturi, path, "--focus", "load") == """\
4.50 ms of calls = 100%, within load
│load 100% 4.50ms
│parse 78% 3.50ms                                             │
"""
    assert flame(venturi, path, "--focus", "ars", "-b").splitlines()[1:] == [
        "│parse 100% 3.50ms",
        "│load 100% 3.50ms",
        "│main 86% 3.00ms                                                     │other 14%"]
    alike = calls("main;load 1000", "main;loader 500")
    assert [frame["name"] for frame in frames(venturi, alike, "--focus", "load")["frames"]] == ["load"], "whole names first"
    assert [frame["name"] for frame in frames(venturi, alike, "--focus", "loa")["frames"]] == ["load", "loader"]
    done = venturi("flame", "--focus", "nobody", path, check=2)
    assert done.stderr == "venturi flame: nothing is called 'nobody'\n"


def test_depth_and_share(venturi, calls):
    path = calls(*TREE)
    assert flame(venturi, path, "--depth", "1").splitlines()[1:] == [
        "│main 95% 9.50ms                                                            │oth",
        "4 frames are too narrow or too deep to be drawn; --focus NAME goes into one.",
        "--depth shows more levels."]
    for share in ("20%", "0.2"):
        text = flame(venturi, path, "--min", share)
        assert text.splitlines()[1].endswith("│···")
    assert [frame["name"] for frame in frames(venturi, path, "--min", "35%")["frames"]] == ["main", "work", "inner", "load"]
    left = frames(venturi, path, "--min", "35%")
    assert (left["folded"], left["folded_ns"]) == (2, 500000) and left["frames"][3]["folded_ns"] == 3000000


def test_json_is_the_same_tree(venturi, calls):
    found = frames(venturi, calls(*TREE))
    rows = [(f["name"], f["parent"], f["depth"], f["total_ns"], f["self_ns"], f["calls"]) for f in found["frames"]]
    assert rows == [("main", None, 0, 9500000, 0, 1), ("work", 0, 1, 5500000, 500000, 1), ("inner", 1, 2, 5000000, 5000000, 1),
                    ("load", 0, 1, 4000000, 1000000, 1), ("parse", 3, 2, 3000000, 3000000, 1), ("other", None, 0, 500000, 500000, 1)]
    assert (found["of"], found["total_ns"], found["deeper"], found["folded"]) == ("calls", 10000000, 0, 0)


def test_five_roots_and_eight_threads(venturi, tmp_path):
    """What other viewers leave out: every root and every thread is there."""
    w = NewRecording()
    for root in range(5):
        w.site(root + 1, "root%d" % root)
    for track in range(1, 8):
        w.track(track, name="thread%d" % track, thread=200 + track)
    for track in range(8):
        events = w.events(track, 0)
        for root in range(5):
            events.begin(root * 1000, root + 1)
            events.end(root * 1000 + 900)
        events.write()
    path = w.save(tmp_path / "x.vt")
    added = flame(venturi, path)
    assert all("root%d 20%%" % root in added for root in range(5)) and "8 threads added up" in added
    apart = flame(venturi, path, "--threads", "-w", "400")
    assert all("│thread%d 12%% 4.50us" % track in apart for track in range(1, 8)) and "8 threads side by side" in apart
    assert apart.splitlines()[2].count("root0") == 8
    alone = flame(venturi, path, "--thread", "thread3")
    assert "4.50 us of spans = 100%, thread thread3" in alone and "root4 20%" in alone
    assert venturi("flame", "-t", "nobody", path, check=2).stderr.count("\n") == 1


def test_spans_if_there_are_no_calls(venturi, spans):
    path = spans([("main", 0, 1000), ("load", 100, 600)])
    expected = """\
1.00 us of spans = 100%
│main 100% 1.00us
│load 50% 500ns                         │
"""
    assert flame(venturi, path) == expected == flame(venturi, path, "--spans")


def test_wide_letters(venturi, spans):
    """They take two columns each; half a letter is never drawn."""
    path = spans([("日本語の名前", 0, 501), ("b", 501, 1000)])
    row = flame(venturi, path, "-w", "20").splitlines()[1]
    assert row.startswith("│日本語の…│b 50%")
    row = flame(venturi, path, "-w", "22").splitlines()[1]
    assert row.startswith("│日本語の… │b 50%")
    row = flame(venturi, path, "-w", "40").splitlines()[1]
    assert row.startswith("│日本語の名前 50%   │b 50%")


def test_hostile_names(venturi, make_recording):
    text = flame(venturi, make_recording(), "-w", "400")
    assert not any(ord(letter) < 32 and letter != "\n" or letter in "\u202e\x7f\x9b" for letter in text)
    assert json.loads(venturi("flame", "--json", make_recording(), check=0).stdout)


def test_colour(venturi, calls):
    path = calls(*TREE)
    text, code, _ = venturi.on_terminal("flame", path, TERM="xterm-256color")
    assert code == 0 and b"\x1b[38;5;16;48;5;" in text
    rows = [re.sub(rb"\x1b\[[0-9;]*m", b"", row).decode() for row in text.splitlines()]
    assert rows[1] == "▏main 95% 9.50ms" + " " * 60 + "▏oth" and max(map(len, rows)) <= 80
    assert b"\x1b[30;4" in venturi.on_terminal("flame", path)[0], "sixteen colours"
    assert b"\x1b" not in venturi.on_terminal("flame", path, NO_COLOR="1")[0]
    assert b"\x1b" not in venturi.on_terminal("flame", "--color=never", path)[0]
    assert "\x1b[" in flame(venturi, path, "--color=always") and "\x1b" not in flame(venturi, path)


def test_terminal_width(venturi, calls):
    text, _, _ = venturi.on_terminal("flame", calls(*TREE), columns=50, NO_COLOR="1")
    assert max(len(row) for row in text.decode().splitlines()[1:4]) <= 50


def test_deep_recursion(venturi, calls):
    path = calls(";".join("f%d" % level for level in range(3000)) + " 1000")
    text = flame(venturi, path)
    assert len(text.splitlines()) == 1 + 40 + 2 and "--depth shows more levels." in text
    assert len(flame(venturi, path, "--depth", "3000").splitlines()) == 3001
    assert len(frames(venturi, path, "--depth", "5000")["frames"]) == 3000
    assert len(flame(venturi, path, "-b").splitlines()) == 1 + 40 + 1


def test_many_functions(venturi, calls):
    """3,980 functions at depth 15: drawn, and nothing is missing from the sum."""
    lines = [";".join("level%d" % level for level in range(15)) + ";f%d %d" % (number, 10 + number % 7) for number in range(3980)]
    found = frames(venturi, calls(*lines), "--min", "0")
    assert len(found["frames"]) == 15 + 3980
    assert sum(frame["self_ns"] for frame in found["frames"]) == pytest.approx(found["total_ns"])
    text = flame(venturi, calls(*lines))
    assert "│level14 100%" in text and "3980 frames are too narrow" in text
    assert text.splitlines()[16].startswith("│····")


def test_nothing_to_draw(venturi, make_recording):
    done = venturi("flame", make_recording("--empty"), check=2)
    assert done.stdout == "" and done.stderr.count("\n") == 1 and "calls or spans" in done.stderr


def test_cut_off(venturi, spans):
    path = spans([("main", 0, 1000), ("load", 100, 600)], closed=False)
    assert "│main 100% 1.00us" in flame(venturi, path)


def test_very_deep(venturi, calls):
    """What is too deep is counted in one go: looking for what is shown around each of it would take minutes."""
    path = calls(";".join("f%d" % (i % 7) for i in range(500000)) + " 1000000")
    assert "\n499960 frames are too narrow or too deep" in flame(venturi, path)


def test_very_many_threads(venturi, tmp_path):
    events = [{"ph": phase, "pid": 1, "tid": thread, "ts": thread * 10 + late, "name": "a"}
              for thread in range(2, 100002) for phase, late in (("B", 0), ("E", 7))]
    (tmp_path / "x.json").write_text(json.dumps(events))
    venturi("import", tmp_path / "x.json", "-o", tmp_path / "x.vt", check=0)
    assert " 100000 threads, 100000 spans" in venturi("report", tmp_path / "x.vt", check=0).stdout
    assert "of spans = 100%, 100000 threads added up" in flame(venturi, tmp_path / "x.vt")


def test_usage_names_the_option(venturi):
    assert venturi("flame", "--width", "3", "a", check=2).stderr == "venturi flame: --width: '3' is not a number from 20 to 10000\n"
    assert "--depth: 'x' is not a number" in venturi("flame", "--depth", "x", "a", check=2).stderr


@pytest.mark.parametrize("words", [(), ("a", "b"), ("--min", "x", "a"), ("--min", "101%", "a"), ("--depth", "0", "a"), ("--width", "10", "a"),
                                   ("--width", "100000", "a"), ("--threads", "--bottom-up", "a"), ("missing.vt",)])
def test_usage(venturi, words):
    done = venturi("flame", *words, check=2)
    assert done.stdout == "" and done.stderr.count("\n") == 1
