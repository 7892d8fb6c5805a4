"""Help, versions, unknown words, and output that cannot be written."""
import os
import subprocess

import pytest


def page_of(venturi, name):
    with open(os.path.join(venturi.top, "docs", "commands", name + ".md")) as page:
        return page.read()


def test_help_lists_every_command(venturi):
    text = venturi("--help", check=0).stdout
    assert venturi("-h", check=0).stdout == text
    assert venturi("help", check=0).stdout == text
    listed = [line.split()[0] for line in text.split("Commands:\n")[1].split("\n\n")[0].splitlines()]
    assert listed == venturi.commands()
    assert text.count("\n") <= 34


def test_every_command_has_its_page(venturi):
    for name in venturi.commands():
        text = venturi(name, "--help", check=0).stdout
        assert "\n" + text + "```\n" in page_of(venturi, name), "docs/commands/%s.md is not up to date" % name
        assert venturi("help", name, check=0).stdout == text
        assert venturi(name, "-h", check=0).stdout == text


def test_index_links_every_page(venturi):
    index = page_of(venturi, "README")
    for name in venturi.commands():
        assert "[%s](%s.md)" % (name, name) in index


def test_help_fits_80_columns(venturi):
    for words in [()] + [(name,) for name in venturi.commands()]:
        for line in venturi(*words, "--help", check=0).stdout.splitlines():
            assert len(line) <= 80, line


def test_nothing_asked_shows_help_on_stderr(venturi):
    done = venturi(check=2)
    assert done.stdout == ""
    assert done.stderr == venturi("--help").stdout


def test_version(venturi):
    assert venturi("--version", check=0).stdout.startswith("venturi ")


@pytest.mark.parametrize("words, message", [
    (("rnak",), "venturi: no command 'rnak', did you mean rank?\n"),
    (("zebra",), "venturi: no command 'zebra', see venturi --help\n"),
    (("help", "doctr"), "venturi: no command 'doctr', did you mean doctor?\n"),
    (("--bogus",), "venturi: no option --bogus, see venturi --help\n"),
    (("-V",), "venturi: no option -V, did you mean --version?\n"),
    (("-v",), "venturi: no option -v, did you mean --version?\n"),
    (("-x",), "venturi: no option -x, see venturi --help\n"),
    (("--verison",), "venturi: no option --verison, did you mean --version?\n"),
    (("rank", "--wied", "x"), "venturi rank: no option --wied, did you mean --wide?\n"),
    (("rank", "--zebra", "x"), "venturi rank: no option --zebra, see venturi rank --help\n"),
    (("rank", "-Z", "x"), "venturi rank: no option -Z, see venturi rank --help\n"),
    (("rank", "--sort", "size", "x"),
     "venturi rank: --sort: 'size' is none of total|max|avg|count|name|min|p50|p99|self\n"),
    (("rank", "--limit"), "venturi rank: --limit needs a value: N\n"),
    (("rank", "--wide=yes", "x"), "venturi rank: --wide takes no value\n"),
    (("\033[2J\n",), "venturi: no command '\\x1b[2J\\n', see venturi --help\n"),
])
def test_wrong_words_are_one_line(venturi, words, message):
    done = venturi(*words, check=2)
    assert done.stdout == ""
    assert done.stderr == message


@pytest.mark.parametrize("words", [("report", "-"), ("info", "-"), ("query", "-", "SELECT 1"), ("export", "-f", "csv", "-"),
                                   ("slice", "-", "--from", "1s", "-o", "x.vt"), ("merge", "-", "y.vt", "-o", "x.vt")])
def test_dash_is_not_a_file(venturi, words):
    done = venturi(*words, check=2)
    assert done.stderr == "venturi %s: -: a recording is read from a file, not from standard input\n" % words[0]


@pytest.mark.parametrize("words", [("--help",), ("help", "rank"), ("--version",), ("doctor",), ("completions", "zsh")])
def test_full_output_is_an_error(venturi, words):
    with open("/dev/full", "w") as full:
        done = venturi(*words, stdout=full)
    assert done.returncode == 2
    assert done.stderr == "venturi: standard output: cannot write: No space left on device\n"


def test_closed_output_is_an_error(venturi):
    done = subprocess.run(["sh", "-c", '"$0" --help >&-', venturi.path], stderr=subprocess.PIPE, text=True)
    assert done.returncode == 2
    assert done.stderr == "venturi: standard output: cannot write: Bad file descriptor\n"


def test_reader_that_leaves_is_no_error(venturi):
    for ignore in ("", "trap '' PIPE; "):
        script = ignore + '"$0" completions bash | true'
        done = subprocess.run(["sh", "-c", script, venturi.path], stderr=subprocess.PIPE, text=True)
        assert done.stderr == ""


def test_file_does_not_become_closed_output(venturi, tmp_path):
    """With stdout closed, the first file that is opened would get its number."""
    log = tmp_path / "log"
    log.write_text("2020-02-27T08:04:25.789433 0.5 a b c name-stop\n")
    done = subprocess.run(["sh", "-c", '"$0" rank "$1" "$2" >&-', venturi.path, log, tmp_path / "out"],
                          stderr=subprocess.PIPE, text=True)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "out").read_text().endswith(" name\n")


def test_colour_only_on_a_terminal(venturi):
    assert "\033" not in venturi("doctor").stdout
    assert b"\033[1m" in venturi.on_terminal("doctor")[0]
    assert b"\033" not in venturi.on_terminal("doctor", NO_COLOR="1")[0]


def test_options_of_run_in_front(venturi, tmp_path):
    """As `venturi SCRIPT.py` is short for `venturi run SCRIPT.py`."""
    for at, words in enumerate((("-o",), ("--quiet", "-o"), ("--no-functions", "-q", "-o"))):
        venturi(*words, tmp_path / ("%d.vt" % at), "true", check=0)
        assert (tmp_path / ("%d.vt" % at)).exists()
    assert venturi("-m", check=2).stderr == "venturi run: -m needs a value: MODULE\n"


def test_list_of_formats_fits_80_columns(venturi):
    assert all(len(line) <= 80 for line in venturi("export", "--list", check=0).stdout.splitlines())
