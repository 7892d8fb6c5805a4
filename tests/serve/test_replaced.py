"""A name that becomes that of another recording: the new one is shown, and said to be another; what cannot be read is said, too."""
import os
import shutil
import subprocess
import time

import pytest
from conftest import PROGRAMS, VENTURI, Events, cli_conftest, environment, named


def made(path, name, count, ident):
    """A finished recording of so many spans."""
    one = cli_conftest().NewRecording(ident=ident)
    one.site(1, name)
    events = one.events(0, 0)
    for at in range(count):
        events.begin(2000 * at, 1)
        events.end(2000 * at + 1000)
    events.write()
    return one.save(path)


@pytest.fixture
def first(tmp_path):
    return made(tmp_path / "run.vt", "first", 50, b"first-----------")


def by_rename(path, new):
    os.rename(new, path)


def by_copy(path, new):
    shutil.copyfile(new, path)


@pytest.mark.parametrize("replace", [by_rename, by_copy])
@pytest.mark.parametrize("count", [5, 500])
def test_another_recording(serve, tmp_path, first, replace, count):
    server = serve(first)
    before = server.wait(lambda state: state["span_count"] == 50, "the first")
    assert before["replaced"] == 0 and before["notice"] == ""
    assert server.json("/api/window")["names"] == ["first"]
    replace(first, made(tmp_path / "new", "second", count, b"second----------"))
    after = server.wait(lambda state: state["replaced"] == 1 and state["caught_up"] == 1, "the second")
    assert after["span_count"] == count and after["seq"] > before["seq"] and after["notice"] == ""
    assert [span["name"] for span in after["spans"]["list"]] == ["second"]
    assert server.json("/api/window")["names"] == ["second"]
    metrics = server.ask("/metrics")[2].decode()
    assert 'span="second"' in metrics and 'span="first"' not in metrics
    assert b"second" in server.ask("/report", timeout=120)[2]


def test_the_same_recording_in_another_file(serve, tmp_path, first):
    """rsync makes a new file each time."""
    server = serve(first)
    server.wait(lambda state: state["span_count"] == 50, "the first")
    by_rename(first, shutil.copyfile(first, tmp_path / "new"))
    time.sleep(1.5)
    state = server.state()
    assert state["replaced"] == 0 and state["span_count"] == 50


def run_again(path, what):
    with subprocess.Popen([VENTURI, "run", "-q", "--force", "-o", path, os.path.join(PROGRAMS, "monitored")], stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE, text=True, env=environment()) as process:
        process.stdout.readline()
        for line in what:
            process.stdin.write(line + "\n")
            process.stdin.flush()
            process.stdout.readline()
        yield
        process.stdin.close()
        process.wait(timeout=60)


def test_the_same_program_once_more(serve, monitored):
    """`venturi run --force -o` of the same name, while the dashboard of the one before is open: tasks are told from the first on."""
    program = monitored()
    program.tell("round 2")
    server = serve(program.path)
    stream = Events(server)
    events = iter(stream)
    seen = 0
    while seen < 201:  # 200 tasks of the children, one of the program
        name, data = next(events)
        seen = data["tasks"][-1][0] if name == "tasks" and data["tasks"] else seen
    program.stop()
    server.wait(lambda state: not state["is_growing"], "the end of the first")
    again = run_again(program.path, ["round 1"])
    next(again)
    state = server.wait(lambda state: state["replaced"] == 1 and (named(state["spans"], "classify") or {}).get("count") == 100, "the second run")
    assert state["is_growing"] and state["tasks"]["last"] == 101
    numbers, is_new = [], False
    while len(numbers) < 101:
        name, data = next(events)
        is_new |= name == "state" and data["replaced"] == 1
        if name == "tasks" and is_new:
            numbers += [task[0] for task in data["tasks"]]
            assert set(data["names"].values()) <= {"sum", "command"} and data["skipped"] == 0
    assert numbers == list(range(1, 102))
    stream.close()
    assert not list(again)


def test_a_link_that_leads_elsewhere(serve, tmp_path, first):
    made(tmp_path / "second.vt", "second", 5, b"second----------")
    (tmp_path / "latest.vt").symlink_to("run.vt")
    server = serve("latest.vt", cwd=tmp_path)
    server.wait(lambda state: state["span_count"] == 50, "the first")
    (tmp_path / "new").symlink_to("second.vt")
    os.rename(tmp_path / "new", tmp_path / "latest.vt")
    state = server.wait(lambda state: state["replaced"] == 1 and state["span_count"] == 5, "the second")
    assert state["target"] == "latest.vt" and state["path"].endswith("/second.vt")


def test_in_a_folder(serve, tmp_path, first):
    """Sums are of what is there."""
    made(tmp_path / "other.vt", "other", 7, b"other-----------")
    server = serve(tmp_path)
    server.wait(lambda state: state["span_count"] == 57, "both")
    by_rename(first, made(tmp_path / "new", "second", 5, b"second----------"))
    state = server.wait(lambda state: state["replaced"] == 1 and state["span_count"] == 12, "the second, and the other")
    assert [one["name"] for one in state["recordings"]] == ["other.vt", "run.vt"]


@pytest.mark.parametrize("text, said", [(b"no recording\n" * 50, "replaced by what cannot be read"), (b"", "replaced by what cannot be read"),
                                        (None, "become shorter")])
def test_what_cannot_be_read(serve, tmp_path, first, text, said):
    """It is said, once it is old enough not to be one that begins, and what was there before stays; so does `top`."""
    server = serve(first)
    server.wait(lambda state: state["span_count"] == 50, "the first")
    new = tmp_path / "new"
    new.write_bytes(first.read_bytes()[:300] if text is None else text)
    os.utime(new, (time.time() - 100,) * 2)
    by_rename(first, new)
    state = server.wait(lambda state: state["notice"], "the notice")
    assert said in state["notice"] and "\n" not in state["notice"] and state["span_count"] == 50 and state["replaced"] == 0
    by_rename(first, made(tmp_path / "new", "second", 5, b"second----------"))
    state = server.wait(lambda state: state["replaced"] == 1, "one that can")
    assert state["notice"] == "" and state["span_count"] == 5
