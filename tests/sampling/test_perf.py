"""What `perf script` prints, imported."""
import os
import subprocess
import sys

import pytest

from conftest import TOP, VENTURI, Recording, need, run

HEAD = "my prog  %d/%d [001] 12.%06d: %9d cpu-clock: \n"


def import_text(text, tmp_path, check=True):
    source, out = tmp_path / "x.txt", tmp_path / "x.vt"
    source.write_text(text)
    done = run([VENTURI, "import", source, "-o", out, "--force"], check=check)
    if done.returncode == 0:
        reader = os.path.join(TOP, "tests", "reader", "vtread.py")
        assert subprocess.run([sys.executable, reader, str(out), "--check"], capture_output=True, text=True).stdout == ""
    return Recording(done, out)


def test_made_by_hand(tmp_path):
    text = "# a remark\n"
    for i in range(10):
        text += HEAD % (7, 7 + i % 2, i, 250000)
        text += "\t  55d0 leaf(int, char)+0x1f (/usr/bin/my prog)\n" if i < 8 else ""
        text += "\t  55f0 again+0x1 (/usr/bin/my prog)\n" * 3
        text += "\t  5600 py::load:/home/me/step.py (/tmp/perf-7.map)\n\t 1 [unknown] ([unknown])\n\n"
    done = import_text(text, tmp_path)
    outer = ("[unknown]", "load", "again")
    assert {row["path"]: row["samples"] for row in done.rows if row["track"] == 0} == {
        outer[:1]: 0, outer[:2]: 0, outer: 1, (*outer, "leaf(int, char)"): 4}
    assert done.sampled_seconds == pytest.approx(10 * 250e-6)
    load = next(row for row in done.rows if row["path"][-1] == "load")
    assert load["language"] == "python" and load["file"] == "/home/me/step.py"
    assert {row["tid"] for row in done.query("SELECT tid FROM tracks")} == {7, 8}


def test_without_stacks_and_with_another_event(tmp_path):
    text = "".join("  prog 9 1.%06d:  777 cycles:ppp:   55d0 f+0x1 (/bin/prog)\n"
                   "  prog 9 1.%06d:  777 instructions:   55d0 g+0x1 (/bin/prog)\n" % (i * 500, i * 500) for i in range(11))
    done = import_text(text, tmp_path)
    assert [(row["path"], row["samples"], row["total_ns"]) for row in done.rows] == [(("f",), 11, 11 * 500000)]


@pytest.mark.parametrize("text", [
    HEAD % (1, 1, 1, 1) + "\tnot an address\n", HEAD % (1, 1, 1, 1), HEAD % (1, 1, 1, 1) + "\n\n",
    (HEAD % (1, 1, 1, 999999999999999999) + "\t 1 f (p)\n\n") * 3])
def test_bad_ones(tmp_path, text):
    done = import_text(text, tmp_path, check=False).done
    assert done.returncode == 2 and len(done.stderr.splitlines()) == 1
    assert not (tmp_path / "x.vt").exists()


def test_cut_off_anywhere(tmp_path):
    text = (HEAD % (3, 4, 5, 1000) + "\t  55d0 leaf+0x1f (/usr/bin/prog)\n\t 10 main (x)\n\n") * 2
    for end in range(len(text)):
        done = import_text(text[:end], tmp_path, check=False).done
        assert done.returncode in (0, 2) and len(done.stderr.splitlines()) == 1


def test_of_perf_itself(compile, tmp_path):
    need("perf")
    program = compile("ratio.c", "-fno-omit-frame-pointer")
    done = run(["perf", "record", "-q", "-e", "cpu-clock", "-g", "-o", tmp_path / "perf.data", program, "200"], check=False)
    if done.returncode:
        pytest.skip("perf may not record here")
    text = run(["perf", "script", "-i", tmp_path / "perf.data"]).stdout
    recording = import_text(text, tmp_path)
    three, one = (sum(row["samples"] for row in recording.rows if name in "".join(row["path"])) for name in ("three", "one"))
    assert one > 20 and 2 < three / one < 4.5
