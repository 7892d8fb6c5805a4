"""Steps of C: the loop, what is recorded of it, and consumers and producers of files."""
import json
import os
import signal
import subprocess
import time

import pytest
from stepping import BUILD, TOP, VENTURI, environment, program, run, steps

MESSAGES = os.path.join(TOP, "examples", "step", "messages.jsonl")


@pytest.fixture
def c_step(tmp_path):
    """c_step(messages, batch, mode) -> what it counted, and what was recorded."""
    path = program("tests", "steps", "steps_of_c")

    def start(*arguments):
        done = run([VENTURI, "run", "-f", "-o", tmp_path / "out.vt", "--", path, *arguments])
        return json.loads(done.stdout), steps(tmp_path / "out.vt")
    return start


@pytest.fixture
def example(tmp_path):
    """The example's step, from one address to another; what it wrote."""
    path = program("examples", "step", "step")

    def start(*arguments, check=True, **more):
        return run([path, *arguments], check=check, cwd=tmp_path, env=environment(), **more)
    return start


def test_every_batch_is_recorded(c_step):
    counted, rows = c_step(10, 3, "good")
    assert counted == {"code": 0, "error": "", "messages": 10, "batches": 4, "failed": 0, "produced": 10, "sent": 10, "committed": 4, "flushed": 4}
    assert [row["messages"] for row in rows] == [3, 3, 3, 1]
    for row in rows:
        assert (row["source"], row["prefix"], row["survey"], row["failed"]) == ("StepOfC", "test_step", "ztf", 0)
        assert row["pre_ns"] is None and row["post_ns"] is None and row["produce_ns"] is not None
        assert 4.99e9 <= row["lag_ns"] < 120e9, "its consumer says that messages were sent 5 s ago"
        assert row["received_ns"] <= row["sent_ns"]
        assert abs(row["sent_ns"] - row["received_ns"] - row["execute_ns"]) < 0.05 * row["execute_ns"] + 500, "also right after the start"


def test_phases_are_timed(c_step):
    rows = c_step(3, 1, "slow")[1]
    for row in rows:
        assert row["pre_ns"] >= 1.9e6 and row["post_ns"] >= 1.9e6
        assert row["execute_ns"] >= row["pre_ns"] + row["post_ns"] + 1.9e6
        assert abs(row["sent_ns"] - row["received_ns"] - row["execute_ns"]) < 0.01 * row["execute_ns"] + 2000


def test_failures_end_it_and_are_counted(c_step):
    counted, rows = c_step(20, 2, "fail")
    assert counted["code"] != 0 and counted["error"] == "batch 3 is a third one"
    assert [row["failed"] for row in rows] == [0, 0, 1]
    assert counted["committed"] == 2 and counted["sent"] == 4, "what failed is neither committed nor handed on"


def test_failures_are_stepped_over_if_asked(c_step):
    counted, rows = c_step(18, 2, "skip")
    assert counted["code"] == 0 and counted["failed"] == 3 and counted["sent"] == 12
    assert [row["failed"] for row in rows] == [0, 0, 1] * 3


def test_phases_that_it_did_not_come_to_have_no_time(c_step):
    counted, rows = c_step(15, 3, "phases")
    assert counted["batches"] == 5 and counted["failed"] == 4, "batches, not messages"
    assert [row["failed"] for row in rows] == [1, 1, 1, 1, 0]
    there = [tuple(row[key] is not None for key in ("pre_ns", "post_ns", "produce_ns")) for row in rows]
    assert there == [(True, False, False)] * 2 + [(True, True, False)] + [(True, True, True)] * 2


def test_stop_ends_after_the_batch(c_step):
    counted, rows = c_step(100, 5, "stop")
    assert counted["code"] == 0 and counted["messages"] == 10 and len(rows) == 2


def test_own_metrics_stand_beside(c_step):
    rows = c_step(2, 1, "metrics")[1]
    assert [row["extra"] for row in rows] == [{"candid": 'a "quoted" one', "batch": n, "share": 0.25} for n in (1, 2)]


def test_own_documents(c_step):
    counted, rows = c_step(2, 1, "own")
    assert counted["code"] == 0, "what is no JSON object is refused, an object of several lines is taken"
    assert [row["extra"] for row in rows if row["kind"] == "metrics"] == [{"own": {"batch": 1}}, {"x": 1, "y": ["a  b\n\"", 2]}, {}, {}] * 2
    assert len([row for row in rows if row["kind"] == "step"]) == 2


def test_without_a_recording_it_only_runs(tmp_path):
    done = run([program("tests", "steps", "steps_of_c"), 10, 3, "metrics"], env=environment(), cwd=tmp_path)
    assert json.loads(done.stdout)["messages"] == 10
    assert not os.listdir(tmp_path)


def test_stops_by_a_signal(tmp_path):
    child = subprocess.Popen([VENTURI, "run", "-f", "-o", tmp_path / "out.vt", "--", program("tests", "steps", "steps_of_c"), "1", "1", "endless"],
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    pid = None
    for _ in range(200):
        found = run(["ps", "-o", "pid=", "--ppid", child.pid], check=False).stdout.split()
        if found:
            pid = int(found[0])
            break
        time.sleep(0.05)
    time.sleep(0.3)
    os.kill(pid, signal.SIGTERM)
    said = json.loads(child.communicate(timeout=120)[0])
    assert said["code"] == 0 and said["messages"] > 0 and said["messages"] == said["committed"]


def test_killed_it_has_told_what_was_done(tmp_path):
    child = subprocess.Popen([VENTURI, "run", "-f", "-o", tmp_path / "out.vt", "--", "sh", "-c",
                              "%s 1 1 endless & echo $!; sleep 0.5; kill -9 $!; wait" % program("tests", "steps", "steps_of_c")],
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    child.communicate(timeout=120)
    rows = json.loads(run([VENTURI, "query", "--json", tmp_path / "out.vt", "select count(*) as n, sum(messages) as m from steps"]).stdout)
    assert rows[0]["n"] > 100 and rows[0]["n"] == rows[0]["m"]


# Files.

def kinds(text):
    return [json.loads(line)["kind"] for line in text.splitlines()]


def test_lines_in_lines_out(example):
    whole = example(MESSAGES, "-").stdout
    assert len(kinds(whole)) == 200 and set(kinds(whole)) == {"bright", "usual", "faint"}
    assert example("-", "-", input=open(MESSAGES).read()).stdout == whole
    assert example("jsonl:" + MESSAGES, "jsonl:-").stdout == whole


def test_last_line_needs_no_end_and_empty_ones_are_none(example, tmp_path):
    (tmp_path / "in.jsonl").write_text('\n\n{"candid":"1","magnitude":17}\r\n\n{"candid":"2","magnitude":18}')
    assert kinds(example("in.jsonl", "-").stdout) == ["bright", "usual"]


def test_rows_become_objects_and_back(example, tmp_path):
    (tmp_path / "in.csv").write_text('candid,magnitude,"a ""b"", c"\n1,17,\n2,18.5,"two\nlines"\n"3",19.5e0,x\n')
    example("in.csv", "out.csv")
    assert (tmp_path / "out.csv").read_text() == "candid,kind\n1,bright\n2,usual\n3,faint\n"
    example("in.csv", "out.csv")
    assert (tmp_path / "out.csv").read_text().count("candid,kind") == 1, "names are written once"


def test_every_kind_of_field(tmp_path):
    """What a row becomes, seen by a step that hands on what it gets."""
    rows = 'n,x,t,e,q\n1,-2.5e3,text,,"7"\n01,+1,"a,""b""",,""\n'
    (tmp_path / "in.csv").write_text(rows)
    done = run([program("tests", "steps", "copy"), "in.csv", "-"], cwd=tmp_path, env=environment())
    assert [json.loads(line) for line in done.stdout.splitlines()] == [
        {"n": 1, "x": -2500.0, "t": "text", "e": None, "q": "7"}, {"n": "01", "x": "+1", "t": 'a,"b"', "e": None, "q": ""}]
    done = run([program("tests", "steps", "copy"), "in.csv", "out.csv"], cwd=tmp_path, env=environment())
    assert (tmp_path / "out.csv").read_text() == 'n,x,t,e,q\n1,-2.5e3,text,,7\n01,+1,"a,""b""",,""\n'


def test_several_processes_share_a_file(tmp_path):
    """Each takes its part; all append to one file, and no line is torn."""
    copy = program("tests", "steps", "copy")
    children = [subprocess.Popen([copy, MESSAGES, "all.jsonl", str(part), "3"], cwd=tmp_path) for part in range(3)]
    assert [child.wait(60) for child in children] == [0, 0, 0]
    with open(MESSAGES) as given:
        assert sorted((tmp_path / "all.jsonl").read_text().splitlines()) == sorted(given.read().splitlines())


@pytest.mark.parametrize("arguments, message", [
    (("missing.jsonl", "-"), "step: missing.jsonl: cannot open: No such file or directory\n"),
    (("what", "-"), "step: what: neither .jsonl nor .csv, nor kafka://…; write jsonl:what or csv:what\n"),
    (("", "-"), "step: an empty address\n"),
    (("kafka://localhost:1/", "-"), "step: kafka://localhost:1: no topic, as in kafka://HOST:9092/TOPIC\n"),
    (("-", "nowhere/out.jsonl"), "step: nowhere/out.jsonl: cannot open: No such file or directory\n"),
])
def test_addresses_that_lead_nowhere(example, arguments, message):
    done = example(*arguments, check=False, input="")
    assert (done.returncode, done.stderr) == (2, message)


@pytest.mark.parametrize("text, message", [
    ('a,b\n1,2\n3\n', "step: in.csv: row 3: 1 fields where there are 2 columns\n"),
    ('a,b\n1,"2\n', "step: in.csv: a quote in row 2 is not closed\n"),
])
def test_damaged_rows(example, tmp_path, text, message):
    (tmp_path / "in.csv").write_text(text)
    done = example("in.csv", "-", check=False)
    assert done.returncode == 1 and done.stderr.startswith(message)


def test_a_full_disk_is_said(example):
    done = example(MESSAGES, "jsonl:/dev/full", check=False)
    assert done.returncode == 1 and done.stderr.startswith("step: /dev/full: cannot write: No space left on device\n")


def test_library_needs_no_kafka():
    needed = run(["readelf", "-d", os.path.join(BUILD, "libventuri-step.so.1")]).stdout
    assert "rdkafka" not in needed and "venturi-kafka" not in needed
