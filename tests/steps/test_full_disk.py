"""A disk that is full, or a spool that somebody removes: the closing lines say what was recorded, what was lost, and why."""
import json
import os
import re
import resource
import shutil
import subprocess

import pytest
from recorded import in_small_tmpfs
from stepping import VENTURI, program, run

COUNT = 60000
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root may mount")


def number(text):
    """What "45.1 k" stands for, and by how much it may be off."""
    value, thousands = re.fullmatch(r"([\d.]+)( k)?", text).groups()
    return (float(value) * 1000, 50) if thousands else (float(value), 0)


def said(line, pattern):
    found = re.search(pattern, line)
    assert found, line
    return number(found[1])


def is_about(wanted, given):
    return abs(wanted - given[0]) <= given[1]


def infos(folder):
    return [json.loads(run([VENTURI, "info", "--json", folder / name]).stdout) for name in sorted(os.listdir(folder)) if name.endswith(".vt")]


@needs_root
@pytest.mark.parametrize("where, size", [("-o %s/s/one.vt", "100k"), ("-o %s/s/one.vt", "1600k"), ("--spool %s/s", "500k")])
def test_what_there_is_and_what_is_lost(where, size, tmp_path):
    mount, out = tmp_path / "small", tmp_path / "out"
    done = in_small_tmpfs(size, mount, f"mkdir {mount}/s; export VENTURI_SPOOL_FILE_BYTES=40000; {VENTURI} run {where % mount} -- "
                                       f"{program('tests', 'steps', 'steps_of_c')} {COUNT} 1 metrics; code=$?; cp -r {mount}/s {out}; exit $code")
    assert done.returncode == 0, done.stderr
    there = infos(out)
    steps, lost = sum(each["steps"] for each in there), sum(each["lost_events"] for each in there)
    assert steps + lost == COUNT and lost > 0 and all(each["closed"] for each in there)
    lines = done.stderr.splitlines()
    assert is_about(steps, said(lines[0], r", ([\d.]+(?: k)?) step records,") if steps else (0, 0))
    assert is_about(lost, said(lines[0], r", ([\d.]+(?: k)?) lost, "))
    assert is_about(lost, said(lines[1], r"^venturi: the disk was full, and lost are ([\d.]+(?: k)?) step records: `venturi info` says when$"))
    assert "nothing recorded" not in done.stderr


def test_a_recording_that_cannot_be_closed(tmp_path):
    """Not even its end fits: files may become no larger while it runs."""
    process = subprocess.Popen([VENTURI, "run", "-o", "it.vt", "--", program("tests", "steps", "copy"), "-", "-"], cwd=tmp_path, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True)
    process.stdin.write("one\n")
    process.stdin.flush()
    assert process.stdout.readline() == "one\n"
    resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (os.stat(tmp_path / "it.vt").st_size, resource.RLIM_INFINITY))
    err = process.communicate("two\n" * 16)[1].splitlines()[1:]  # after the program's own line
    assert err[0] == "venturi: it.vt: no room for the end of the recording: File too large"
    there = infos(tmp_path)[0]
    held = "".join(", %d step record%s" % (n, "" if n == 1 else "s") for n in [there["steps"]] if n)
    assert not there["closed"] and re.fullmatch(r"venturi: it.vt  [.\d]+ k?B, not closed: it holds 0 events%s" % held, err[1]), err
    assert re.fullmatch(r"venturi: the disk was full, and lost are \d step records?: `venturi info` says when", err[2]), err


def test_a_spool_that_is_removed(tmp_path):
    """What was written into it is nowhere, and counted as that."""
    spool = tmp_path / "sp"
    process = subprocess.Popen([VENTURI, "run", "--spool", "sp", "--", program("tests", "steps", "copy"), "-", "-"], cwd=tmp_path, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True)
    process.stdin.write("one\n")
    process.stdin.flush()
    assert process.stdout.readline() == "one\n"
    name = next(each for each in os.listdir(spool) if each.endswith(".vt"))
    shutil.rmtree(spool)
    err = process.communicate("two\n")[1].splitlines()[1:]  # after the program's own line
    assert process.returncode == 0
    assert err[0] == "venturi: %s/%s: was removed while it was being written" % (spool, name)
    assert re.fullmatch(r"venturi: sp  [.\d]+ k?B written: its other files held 0 events", err[1]), err
    assert err[2:] == ["venturi: with what was removed are lost 2 step records"]
