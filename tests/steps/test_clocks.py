"""Clocks that are wrong, or set while a step runs: nothing is lost for that, and one line says so."""
import glob
import json
import os
import subprocess
import time

import pytest
from stepping import BUILD, VENTURI, environment, newest_python, program, run

FAKETIME = next(iter(glob.glob("/usr/lib/*/faketime/libfaketime.so.1")), None)

pytestmark = [
    pytest.mark.skipif(not FAKETIME, reason="no libfaketime on this machine"),
    pytest.mark.skipif(bool(os.environ.get("VENTURI_SANITIZE")), reason="a preloaded library and a sanitizer do not go together"),
    pytest.mark.skipif(not os.access(os.path.join(BUILD, "venturi-ship"), os.X_OK), reason="venturi-ship is not built"),
]


def wrong(**more):
    return environment(LD_PRELOAD=FAKETIME, FAKETIME_NO_CACHE="1", DONT_FAKE_MONOTONIC="1", **more)


def documents(path):
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def about_clock(text):
    return [line for line in text.splitlines() if line.startswith("venturi: this machine's clock")]


@pytest.mark.parametrize("date, dated, told", [
    ("@1960-03-01 00:00:00", "1970-01-01", "venturi: this machine's clock (1960-03-01) is outside of 1970 to 2261: all is recorded, dated 1970-01-01; set the clock"),
    ("@2300-01-01 00:00:00", ("2261-12-31", "2262-01-01"), "venturi: this machine's clock (2300-01-01) is outside of 1970 to 2261: all is recorded, dated 2262-01-01; set the clock"),
    ("@1970-01-01 00:00:01", "1970-01-01", ""),
    ("@2261-11-01 00:00:00", "2261-11-01", "")])
@pytest.mark.parametrize("language", ["c", "python"])
def test_what_is_outside_of_what_fits_is_sent_all_the_same(language, date, dated, told, tmp_path):
    command = [program("tests", "steps", "steps_of_c"), "20", "5", "metrics"]
    if language == "python":
        if "2300" in date:
            pytest.skip("Python's own modules do not start after 2261")
        (tmp_path / "it.py").write_text("from venturi.step import GenericStep\n"
                                        "class StepOfC(GenericStep):\n    def execute(self, messages): return []\n"
                                        "step = StepOfC(config={'CONSUMER_CONFIG': {'CLASS': 'venturi.step.consumers.JSONConsumer', 'FILE_PATH': 'in.jsonl', 'NUM_MESSAGES': 5}})\n"
                                        "step.start()\n")
        (tmp_path / "in.jsonl").write_text('{"candid": 1}\n' * 20)
        command = [newest_python(tmp_path).path, "it.py"]
    done = run([VENTURI, "run", "--spool", "s", "--ship", "file://%s" % (tmp_path / "out.jsonl"), "--", *command], cwd=tmp_path, env=wrong(FAKETIME=date))
    sent = [each for each in documents(tmp_path / "out.jsonl") if each["source"] == "StepOfC"]
    assert sum(each["n_messages"] for each in sent) == 20
    assert all(each["@timestamp"].startswith(dated) and 0 <= each["execution_time"] < 10 for each in sent)
    assert "4 step records, 0 lost" in done.stderr
    assert about_clock(done.stderr) == ([told] if told else [])
    assert not glob.glob(str(tmp_path / "s" / "*.damaged*"))


def wait_for(what, seconds=60):
    until = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < until, "in vain"
        time.sleep(0.02)


@pytest.mark.parametrize("by, told", [(86400, "forward by 86"), (-86400, "back by 86")])
def test_a_clock_that_is_set_while_it_runs(by, told, tmp_path):
    stamp, out = tmp_path / "stamp", tmp_path / "out.jsonl"
    stamp.write_text("+0")
    process = subprocess.Popen([VENTURI, "run", "--spool", "s", "--ship", "file://%s" % out, "--", program("tests", "steps", "copy"), "-", "-"], cwd=tmp_path,
                               env=wrong(FAKETIME_TIMESTAMP_FILE=str(stamp)), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def pass_on(text):
        process.stdin.write(text + "\n")
        process.stdin.flush()
        assert process.stdout.readline() == text + "\n"
    pass_on("one")
    wait_for(lambda: len(documents(out)) == 1)
    stamp.write_text("%+d" % by)
    pass_on("two")
    wait_for(lambda: len(documents(out)) == 2)
    err = process.communicate(timeout=60)[1]
    assert process.returncode == 0
    sent = documents(out)
    assert [each["n_messages"] for each in sent] == [1, 1] and all(0 <= each["execution_time"] < 10 for each in sent)
    dates = [each["@timestamp"][:10] for each in sent]
    assert dates[0] != dates[1] and (dates[1] > dates[0]) == (by > 0)
    assert "2 step records, 0 lost" in err
    assert len(about_clock(err)) == 1 and told in about_clock(err)[0] and "while the program ran" in about_clock(err)[0]
