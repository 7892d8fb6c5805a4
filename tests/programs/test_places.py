"""Where recordings go: full disks, folders that cannot be written, little shared memory, two runs at once."""
import os
import subprocess

import pytest
from recorded import in_small_tmpfs, needs_root

from conftest import SANITIZE, VENTURI, Recording, Run, program, wait_for


@needs_root
def test_full_disk(tmp_path):
    small, kept = tmp_path / "small", tmp_path / "kept.vt"
    done = in_small_tmpfs("512k", small, f"{VENTURI} run -o {small}/out.vt -- {program('counted')} "
                          f"{tmp_path}/count 200000 0 6; code=$?; cp {small}/out.vt {kept}; exit $code")
    assert done.returncode == 0, done.stderr
    run = Run(done, kept)
    recording = Recording(kept)
    assert recording.lost > 0
    assert recording.events > 0
    assert recording.events + recording.lost == run.facts["begins"] + run.facts["ends"]
    rows = recording.query("SELECT DISTINCT reason FROM losses")
    assert "disk full" in {row["reason"] for row in rows}
    assert recording.info["closed"]


@needs_root
def test_little_shared_memory(tmp_path):
    """64 MB of /dev/shm, as in containers, and full: the buffers are not there."""
    script = (f"head -c 64M /dev/zero > /dev/shm/fill; {VENTURI} run -o {tmp_path}/out.vt -- "
              f"{program('threads')} 200 8 100")
    done = in_small_tmpfs("64m", "/dev/shm", script)
    assert done.returncode == 0, done.stderr
    run = Run(done, tmp_path / "out.vt")
    assert run.recording.lost == 0
    assert run.recording.spans() == {"thread work": run.facts["spans"]}


def test_file_size_limit(tmp_path):
    """ulimit -f of the shell: neither the program nor the drainer dies of it."""
    done = subprocess.run(["sh", "-c", f"ulimit -f 200; exec {VENTURI} run -o {tmp_path}/out.vt -- "
                           f"{program('counted')} {tmp_path}/count 100000 0 4"],
                          capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("limit", ["-v 100000", "-f 100"])
def test_limits_that_leave_no_room(tmp_path, limit):
    """The program runs as ever, and it is said that it was not recorded."""
    if SANITIZE:
        pytest.skip("a sanitizer needs more memory than that")
    done = subprocess.run(["sh", "-c", f"ulimit {limit}; exec {VENTURI} run -o {tmp_path}/out.vt -- "
                           f"{program('ends')} exit 100"], capture_output=True, text=True, timeout=60)
    assert done.returncode == 7
    assert "1 process was not recorded" in done.stderr
    assert Recording(f"{tmp_path}/out.vt").info["missing_processes"] == 1


@pytest.mark.parametrize("change, words, is_kept", [
    (os.unlink, "was deleted while the program ran: written again", True),
    (lambda path: os.truncate(path, 0), "while it was being written", False),
], ids=["removed", "emptied"])
def test_output_removed_or_emptied_meanwhile(tmp_path, change, words, is_kept):
    path, count = tmp_path / "out.vt", tmp_path / "count"
    child = subprocess.Popen([VENTURI, "run", "-q", "-f", "-o", path, "--", program("counted"), count, "3000", "100"],
                             stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    wait_for(lambda: path.exists() and path.stat().st_size > 1000)
    change(path)
    _, said = child.communicate(timeout=60)
    assert words in said
    if is_kept:
        assert Recording(path).lost == 0


def test_output_replaced_meanwhile(tmp_path):
    """What has taken the name stays, and the recording is kept beside it."""
    path, count = tmp_path / "out.vt", tmp_path / "count"
    child = subprocess.Popen([VENTURI, "run", "-f", "-o", path, "--", program("counted"), count, "3000", "100"],
                             stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    wait_for(lambda: path.exists() and path.stat().st_size > 1000)
    path.unlink()
    path.write_text("another's")
    _, said = child.communicate(timeout=60)
    beside = tmp_path / f"out.{child.pid}.vt"
    assert path.read_text() == "another's"
    assert Recording(beside).lost == 0
    assert f"{path} was replaced while the program ran" in said and f"{beside}  " in said
    assert "written again" not in said


def test_forced_runs_at_once_with_one_name(tmp_path):
    """None is refused, and nothing that was recorded is lost."""
    path = tmp_path / "out.vt"
    runs = [subprocess.Popen([VENTURI, "run", "-q", "-f", "-o", path, "--", program("ends"), "exit"],
                             stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) for i in range(8)]
    said = [run.communicate(timeout=60)[1] for run in runs]
    assert [run.returncode for run in runs] == [7] * 8, said
    assert all(Recording(made).spans()["pair"] == 1000 for made in tmp_path.iterdir())


def test_names_do_not_steer_the_terminal(tmp_path):
    done = subprocess.run([VENTURI, "run", "-o", tmp_path / "a\033[31m.vt", "--", program("ends"), "exit"],
                          capture_output=True, text=True)
    assert done.returncode == 7
    assert "\033" not in done.stderr and "a\\x1b[31m.vt" in done.stderr


@pytest.mark.parametrize("folder", ["missing", "file/inside", "locked"])
def test_output_that_cannot_be_written(tmp_path, folder):
    (tmp_path / "file").write_text("")
    (tmp_path / "locked").mkdir(mode=0o500)
    if folder == "locked" and os.geteuid() == 0:
        pytest.skip("root may write anywhere")
    done = subprocess.run([VENTURI, "run", "-o", tmp_path / folder / "out.vt", "--", program("ends"), "exit"],
                          capture_output=True, text=True)
    assert done.returncode == 125
    assert done.stderr.count("\n") == 1 and "out.vt" in done.stderr
    assert done.stdout == "", "the program must not have run"


def test_never_overwrites_without_force(record, tmp_path):
    path = tmp_path / "out.vt"
    path.write_text("precious")
    run = record("ends", "exit")
    assert run.code == 125 and "--force" in run.done.stderr
    assert path.read_text() == "precious"
    assert record("ends", "exit", options=["--force"]).code == 7
    assert Recording(path).spans()["pair"] == 1000


@pytest.mark.parametrize("is_relative", [True, False])
def test_output_of_the_environment_that_exists(tmp_path, is_relative):
    path = tmp_path / "out.vt"
    path.write_text("precious")
    env = {**os.environ, "VENTURI_OUTPUT": "out.vt" if is_relative else str(path)}
    done = subprocess.run([program("ends"), "exit"], cwd=tmp_path, env=env, capture_output=True, text=True)
    assert done.returncode == 7 and path.read_text() == "precious"
    assert done.stderr == f"venturi: {path}: not recording: already exists (VENTURI_FORCE=1 replaces it)\n"


def test_two_runs_at_once(tmp_path):
    runs = [subprocess.Popen([VENTURI, "run", "-q", "-o", tmp_path / f"{i}.vt", "--", program("ends"), "exit",
                              str(1000 * (i + 1))], stdout=subprocess.DEVNULL) for i in range(4)]
    assert [run.wait(60) for run in runs] == [7] * 4
    for i in range(4):
        assert Recording(tmp_path / f"{i}.vt").spans() == {"pair": 1000 * (i + 1), "open": 1}


def test_default_name(tmp_path):
    done = subprocess.run([VENTURI, "run", program("ends"), "exit"], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 7
    import re
    names = os.listdir(tmp_path)
    assert len(names) == 1 and re.fullmatch(r"ends-\d{8}-\d{6}-\d+\.vt", names[0])
    assert names[0] in done.stderr
    assert done.stderr.count("\n") <= 3
    assert os.stat(tmp_path / names[0]).st_mode & 0o777 == 0o600
