"""Where a page goes: whole or not at all, and over nothing that is not ours."""
import os
import stat
import subprocess
import time

import pytest

from page_reader import read


def test_it_says_where_it_is(venturi, golden, tmp_path):
    out = tmp_path / "page.html"
    done = venturi("report", golden("everything"), "-o", out, check=0)
    assert done.stdout == ""
    line, = done.stderr.splitlines()[-1:]
    assert str(out) in line and "kB" in line and "open it" in line
    assert os.listdir(tmp_path) == ["page.html"]
    assert not os.stat(out).st_mode & stat.S_IXUSR


def test_equal_recordings_make_equal_pages(venturi, golden, tmp_path):
    for name in ("everything", "calls", "lines"):
        pages = []
        for out in (tmp_path / "a.html", tmp_path / "b.html"):
            venturi("report", golden(name), "-o", out, check=0)
            pages.append(out.read_bytes())
        assert pages[0] == pages[1]
        assert venturi("report", golden(name), "-o", "-", text=False, check=0).stdout == pages[0]


def test_over_pages_of_ours_only(venturi, golden, tmp_path):
    out = tmp_path / "page.html"
    venturi("report", golden("calls"), "-o", out, check=0)
    venturi("report", golden("everything"), "-o", out, check=0)
    assert read(out).directory["title"] != ""
    out.write_text("<html>mine</html>")
    done = venturi("report", golden("everything"), "-o", out, check=2)
    assert len(done.stderr.splitlines()) == 1 and "--force" in done.stderr
    assert out.read_text() == "<html>mine</html>"
    venturi("report", golden("everything"), "-o", out, "-f", check=0)
    assert read(out).recording["spans"]


@pytest.mark.parametrize("place", ["missing/page.html", ".", "file/page.html"])
def test_an_output_that_cannot_be_written(venturi, golden, tmp_path, place):
    (tmp_path / "file").write_text("x")
    done = venturi("report", golden("everything"), "-o", tmp_path / place, check=2)
    assert len(done.stderr.splitlines()) == 1, done.stderr
    assert sorted(os.listdir(tmp_path)) == ["file"]


def test_a_full_disk(venturi, golden):
    if not os.path.exists("/dev/full"):
        pytest.skip("no /dev/full")
    done = venturi("report", golden("everything"), "-o", "/dev/full", check=2)
    assert "/dev/full" in done.stderr and len(done.stderr.splitlines()) == 1


def test_the_input_is_never_the_output(venturi, golden, tmp_path):
    path = tmp_path / "a.vt"
    with open(golden("everything"), "rb") as file:
        path.write_bytes(file.read())
    before = path.read_bytes()
    assert "is the input" in venturi("report", path, "-o", path, "--force", check=2).stderr
    assert path.read_bytes() == before


@pytest.mark.parametrize("words,said", [
    (("--open",), "-o page.html"), (("-o", "-", "--open"), "standard output"), (("-o", "x.html", "--json"), "terminal"),
    (("-o", "x.html", "--events", "0"), "--events 0"), (("-o", "x.html", "--events", "-3"), "--events -3"),
    (("-o", "x.html", "--events", "many"), "all")])
def test_what_makes_no_sense(venturi, golden, tmp_path, words, said):
    done = venturi("report", golden("everything"), *words, check=2, cwd=tmp_path)
    assert said in done.stderr and len(done.stderr.splitlines()) == 1
    assert not os.listdir(tmp_path)


def test_files_that_are_nothing(venturi, tmp_path):
    for name, text in (("a.vt", ""), ("b.vt", "not a recording"), ("c.prof", "x" * 100)):
        (tmp_path / name).write_text(text)
        done = venturi("report", tmp_path / name, "-o", tmp_path / "page.html", check=2)
        assert len(done.stderr.splitlines()) == 1 and name in done.stderr
    assert venturi("report", tmp_path / "missing.vt", "-o", tmp_path / "page.html").returncode == 2
    assert not (tmp_path / "page.html").exists()


def wait_for(path):
    for _ in range(200):
        if path.exists() and path.read_text().endswith("\n"):
            return path.read_text().splitlines()
        time.sleep(0.05)
    raise AssertionError("%s did not appear" % path)


def test_open_names_the_file_to_a_program(venturi, golden, tmp_path):
    browser, out, note = tmp_path / "browser", tmp_path / "a b'$(touch x).html", tmp_path / "note"
    browser.write_text('#!/bin/sh\nprintf "%%s\\n" "$#" "$@" > "%s"\n' % note)
    browser.chmod(0o755)
    done = venturi("report", golden("everything"), "-o", out, "--open", check=0,
                   env={"BROWSER": "%s --new %%s:other" % browser})
    assert "opening it" in done.stderr
    assert wait_for(note) == ["2", "--new", str(out)]
    assert not (tmp_path / "x").exists()


def test_open_without_a_browser(venturi, golden, tmp_path):
    (tmp_path / "empty").mkdir()
    out = tmp_path / "page.html"
    done = subprocess.run([venturi.path, "report", golden("everything"), "-o", out, "--open"], stderr=subprocess.PIPE,
                          text=True, env={**os.environ, "PATH": str(tmp_path / "empty"), "BROWSER": "nothing-like-it"})
    assert done.returncode == 0 and "no browser" in done.stderr
    assert read(out).recording["spans"]


def test_source_only_if_wanted(page, golden):
    whole, bare = page(golden("lines")), page(golden("lines"), "--no-source")
    assert bare.table("sources").rows == 0 and "--no-source" in " ".join(bare.notes)
    assert whole.table("sources").rows + sum("No source" in note for note in whole.notes) > 0
    for name in ("line", "hits", "time"):
        assert bare.table("lines")[name] == whole.table("lines")[name]
