"""Spools: recordings that follow each other. Whatever happens to drainer, program, disk and limit, what is there adds up, and what is not is counted."""
import fcntl
import glob
import json
import os
import re
import resource
import shutil
import signal
import subprocess
import sys

import pytest

from conftest import BUILD, SANITIZE, VENTURI, Recording, child_of, program, tool, wait_for
from recorded import in_small_tmpfs, needs_root

NAME = re.compile(r"^(\d{8}T\d{6}\.\d{6}Z)-([0-9a-f]{12})-(\d{6})\.vt$")
SMALL = {"VENTURI_SPOOL_FILE_BYTES": "40000"}


def small(**more):
    """An environment in which files of a spool are small."""
    return {**os.environ, **SMALL, **{key: str(value) for key, value in more.items()}}


def files(folder):
    return sorted(name for name in os.listdir(folder) if NAME.match(name))


def losses(folder):
    try:
        with open(os.path.join(folder, "losses")) as lines:
            return [json.loads(line) for line in lines]
    except FileNotFoundError:
        return []


def is_locked(path):
    with open(path, "rb") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False


def is_closed(path):
    with open(path, "rb") as file:
        file.seek(-24, os.SEEK_END)
        return file.read(8) == b"VTEND\0\0\0"


def spool(folder, *args, options=(), env=None, check=0, **kw):
    """Runs the program with its recordings in the folder; what it did, and the run itself."""
    command = [VENTURI, "run", "--spool", str(folder), *options, "--", program("spooled"), str(folder), *map(str, args)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, env=env or small(), **kw)
    assert done.returncode == check, done.stderr
    lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
    return json.loads(lines[-1]) if lines else {}, done


def start(folder, *args, options=(), env=None):
    """The same in the background; it goes on until its standard input says something."""
    command = [VENTURI, "run", "--spool", str(folder), *options, "--", program("spooled"), str(folder), *map(str, args)]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                            env=env or small())


def end(process):
    out, err = process.communicate("end\n", timeout=120)
    return json.loads([line for line in out.splitlines() if line.startswith("{")][-1]), err


class Sum:
    """What all recordings of a folder hold together: of spans, those that have ended."""

    def __init__(self, folder, names=None):
        self.spans = self.asyncs = self.traces = self.steps = self.lost = 0
        self.recordings = [Recording(os.path.join(folder, name)) for name in names or files(folder)]
        self.ended = {}
        for recording in self.recordings:
            for row in recording.query("SELECT name, async, base_id IS NOT NULL AS traced, count(*) AS n FROM spans "
                                       "WHERE finished GROUP BY 1, 2, 3"):
                self.spans += 0 if row["async"] else row["n"]
                self.asyncs += row["n"] if row["async"] and not row["traced"] else 0
                self.traces += row["n"] if row["traced"] else 0
                self.ended[row["name"]] = self.ended.get(row["name"], 0) + row["n"]
            self.steps += recording.query("SELECT count(*) AS n FROM steps")[0]["n"]
            self.lost += recording.lost

    def facts(self):
        return {"spans": self.spans, "asyncs": self.asyncs, "traces": self.traces, "steps": self.steps}


def merged(folder, names=None, out="merged.vt"):
    """The files of a folder as one recording."""
    path = os.path.join(os.path.dirname(folder), out)
    tool("merge", *(os.path.join(folder, name) for name in names or files(folder)), "-f", "-o", path)
    return Recording(path)


@pytest.fixture(scope="module")
def spooled(tmp_path_factory):
    folder = tmp_path_factory.mktemp("spool") / "s"
    facts, done = spool(folder, 5)
    return folder, facts, done


# ---- files ------------------------------------------------------------------------------------------


def test_names_are_in_order_and_each_file_is_whole(spooled):
    folder, _, done = spooled
    names = files(folder)
    assert len(names) >= 5
    parts = [NAME.match(name).groups() for name in names]
    assert len({run for _, run, _ in parts}) == 1
    assert [int(number) for _, _, number in parts] == list(range(1, len(names) + 1))
    for name in names:
        path = os.path.join(folder, name)
        assert is_closed(path) and not is_locked(path)
        assert Recording(path).info["damage"] == []
    assert not [name for name in os.listdir(folder) if name.endswith(".new")]
    assert str(folder) in done.stderr and "0 lost" in done.stderr
    assert os.stat(folder).st_mode & 0o77 == 0 and os.stat(os.path.join(folder, names[0])).st_mode & 0o77 == 0


def test_sums_of_the_files_are_those_of_the_program(spooled):
    folder, facts, _ = spooled
    total = Sum(folder)
    assert total.facts() == facts
    assert total.lost == 0
    assert total.ended["outer"] == total.ended["all the time"] == total.ended["long request"] == 1


def spans_of(recording):
    return recording.query("SELECT name, finished, count(*) AS n FROM spans GROUP BY 1, 2 ORDER BY 1, 2")


def test_merged_they_are_one_recording_of_the_program(spooled):
    """One process, each thread once, and what was told again in each file is there once, with all that was said about it."""
    folder, facts, _ = spooled
    whole = merged(folder)
    total = Sum(os.path.dirname(folder), ["merged.vt"])
    assert (total.facts(), total.lost) == (facts, 0)
    assert [row["finished"] for row in spans_of(whole)] == [1] * len(spans_of(whole))
    assert whole.query("SELECT name FROM processes") == [{"name": "spooled"}]
    assert ("\nTimes are of batches: Spooled had %d messages in %d of them.\n" % (2 * facts["steps"], facts["steps"])
            in tool("report", whole.path).stdout)
    step, = json.loads(tool("report", "--json", whole.path).stdout)["steps"]
    assert (step["count"], step["messages"]) == (facts["steps"], 2 * facts["steps"])
    assert whole.query("SELECT count(*) AS n FROM threads WHERE name = '(carried over)'") == [{"n": 0}]
    for span, said in (("all the time", {"who": "somebody"}), ("long request", {"path": "/long", "late": 7})):
        row, = whole.query("SELECT begin_ns, attributes FROM spans WHERE name = '%s'" % span)
        assert said.items() <= json.loads(row["attributes"]).items()


def test_merged_without_a_file_between(spooled):
    """What began before the gap and ended behind it is one span."""
    folder, _, _ = spooled
    names = files(folder)
    some = Sum(folder, [names[0], *names[3:]])
    whole = merged(folder, [names[0], *names[3:]], "some.vt")
    assert {row["name"]: row["n"] for row in spans_of(whole) if row["finished"]} == some.ended
    for span in ("outer", "all the time", "long request"):
        assert whole.query("SELECT finished FROM spans WHERE name = '%s'" % span) == [{"finished": 1}], span
    again = merged(folder, names[3:], "late.vt")
    assert again.query("SELECT finished FROM spans WHERE name = 'all the time'") == [{"finished": 1}]


def test_a_run_is_merged_at_once_or_not(spooled, tmp_path):
    """What was merged has other numbers than the run: its sums could not be told from those of other files."""
    folder, _, _ = spooled
    paths = [os.path.join(folder, name) for name in files(folder)]
    tool("merge", *paths[:2], "-o", tmp_path / "a.vt")
    done = tool("merge", tmp_path / "a.vt", paths[2], "-o", tmp_path / "b.vt", check=False)
    assert (done.returncode, done.stderr) == (2, "venturi merge: %s and %s have files of one run of a spool: what it counted would count "
                                                 "twice; merge all files of the run at once (see --help)\n" % (tmp_path / "a.vt", paths[2]))
    done = tool("merge", *paths[:3], "--offset", "2=1s", "-o", tmp_path / "b.vt", check=False)
    assert (done.returncode, done.stderr) == (2, "venturi merge: --offset: %s and %s are files of one run, which has one clock: "
                                                 "give them the same (see --help)\n" % (paths[0], paths[1]))
    assert not (tmp_path / "b.vt").exists()
    tool("merge", tmp_path / "a.vt", "-o", tmp_path / "b.vt")


def is_after_the_end(recording):
    """A last file may begin when all spans have ended."""
    return recording.query("SELECT count(*) AS n FROM spans")[0]["n"] == 0


def test_what_is_open_is_carried_over(spooled):
    """Each file alone knows what was open when it began: since when, with which facts."""
    folder, _, _ = spooled
    begins = {}
    for name in files(folder):
        recording = Recording(os.path.join(folder, name))
        if name == files(folder)[-1] and is_after_the_end(recording):
            continue
        for span in ("outer", "all the time", "long request"):
            row, = recording.query("SELECT begin_ns, end_ns, finished, error, base_id, trace_id, attributes FROM spans "
                                   "WHERE name = '%s'" % span)
            begins.setdefault(span, []).append(row)
        last = recording.query("SELECT max(end_ns) AS t FROM spans WHERE name = 'work'")[0]["t"]
        for span in begins:
            assert last is None or begins[span][-1]["end_ns"] >= last, "open until the file ended"
    for span, rows in begins.items():
        times = [row["begin_ns"] for row in rows]
        assert max(times) - min(times) <= 1000, "one axis for all files, but for rounding"
        assert [row["finished"] for row in rows] == [0] * (len(rows) - 1) + [1], span
    for row in begins["all the time"]:
        assert json.loads(row["attributes"])["who"] == "somebody"
    assert len({(row["base_id"], row["trace_id"]) for row in begins["long request"]}) == 1
    for row in begins["long request"]:
        assert json.loads(row["attributes"])["path"] == "/long"
    assert json.loads(begins["long request"][-1]["attributes"])["late"] == 7


def test_each_file_says_who_it_is_of(spooled):
    folder, _, _ = spooled
    ids = set()
    for number, name in enumerate(files(folder), 1):
        recording = Recording(os.path.join(folder, name))
        ids.add(recording.info["id"])
        assert recording.query("SELECT name FROM processes")[0]["name"] == "spooled"
        is_carried = recording.query("SELECT count(*) AS n FROM threads WHERE name = '(carried over)'")[0]["n"]
        assert is_carried == (number > 1) or is_after_the_end(recording)
        assert recording.query("SELECT count(*) AS n FROM resources")[0]["n"] > 0
    assert len(ids) == len(files(folder)), "each is a recording of its own"


def test_by_time(tmp_path):
    """A program that does little still hands over what it did."""
    facts, _ = spool(tmp_path / "s", 3, env={**os.environ, "VENTURI_SPOOL_FILE_SECONDS": "1"})
    assert len(files(tmp_path / "s")) >= 3
    assert Sum(tmp_path / "s").facts() == facts


def test_functions_are_totals_and_the_last_file_has_all(tmp_path):
    script = tmp_path / "calls.py"
    script.write_text("import sys, os, time\n"
                      "def called():\n    return 1\n"
                      "n = 0\n"
                      "end = time.monotonic() + 60\n"
                      "while len([x for x in os.listdir(sys.argv[1]) if x.endswith('.vt') and x[0] != '.']) < 4:\n"
                      "    for i in range(1000):\n        called()\n"
                      "    n += 1000\n    time.sleep(0.01)\n    assert time.monotonic() < end\n"
                      "print('{\"calls\": %d}' % n)\n")
    env = {**os.environ, "VENTURI_SPOOL_FILE_SECONDS": "1"}
    folder = tmp_path / "s"
    done = subprocess.run([VENTURI, "run", "--spool", str(folder), str(script), str(folder)], capture_output=True, text=True,
                          env=env, timeout=300)
    assert done.returncode == 0, done.stderr
    calls = json.loads(done.stdout)["calls"]
    found = [Recording(os.path.join(folder, name)).query("SELECT sum(calls) AS n FROM calls WHERE function = 'called'")[0]["n"]
             for name in files(folder)]
    if found[-1] is None:
        pytest.skip("the Python package is not built")
    assert found == sorted(found) and found[-1] == calls, found
    # totals since the thread began: the newest count, in whatever order the files are given
    for names in (files(folder), files(folder)[::-1]):
        assert merged(folder, names).query("SELECT sum(calls) AS n FROM calls WHERE function = 'called'") == [{"n": calls}]


@pytest.mark.skipif(bool(SANITIZE), reason="no Python package is built beside it")
def test_merged_lines_count_once(tmp_path):
    script = tmp_path / "lines.py"
    script.write_text("import os, sys, time\n"
                      "@profile\ndef called(x):\n    return x + 1\n"
                      "n = 0\nend = time.monotonic() + 60\n"
                      "while len([x for x in os.listdir(sys.argv[1]) if x.endswith('.vt') and x[0] != '.']) < 3:\n"
                      "    for i in range(1000):\n        called(i)\n"
                      "    n += 1000\n    time.sleep(0.01)\n    assert time.monotonic() < end\n"
                      "print(n)\n")
    folder = tmp_path / "s"
    done = subprocess.run([VENTURI, "run", "-l", "--spool", str(folder), str(script), str(folder)], capture_output=True, text=True,
                          env={**os.environ, "VENTURI_SPOOL_FILE_SECONDS": "1"}, timeout=300)
    assert done.returncode == 0, done.stderr
    assert len(files(folder)) >= 3
    rows = merged(folder).query("SELECT hits FROM lines WHERE line = 4")
    if not rows:
        pytest.skip("the Python package is not built")
    assert rows == [{"hits": int(done.stdout)}]


def test_tasks_are_in_one_file_each_and_every_file_knows_their_run(tmp_path):
    folder = tmp_path / "s"
    env = {**os.environ, "VENTURI_SPOOL_FILE_SECONDS": "1"}
    done = subprocess.run([VENTURI, "run", "--spool", str(folder), "--", program("tasks"), "patient", "3000", "2", "1500"],
                          capture_output=True, text=True, timeout=300, env=env)
    assert done.returncode == 0, done.stderr
    keys = []
    recordings = [Recording(folder / name) for name in files(folder)]
    assert len(recordings) > 1
    for recording in recordings:
        row, = recording.query("SELECT scheduler, planned, workers, begin_ns, tasks FROM task_runs")
        assert (row["scheduler"], row["planned"], row["workers"]) == ("threads", 3000, 2)
        keys += [row["number"] for row in recording.query("SELECT number FROM tasks")]
    assert sorted(keys) == list(range(3000))
    assert [row["end_ns"] is None for recording in recordings for row in recording.query("SELECT end_ns FROM task_runs")] == \
        [True] * (len(recordings) - 1) + [False]
    whole = merged(folder)
    row, = whole.query("SELECT tasks, end_ns FROM task_runs")
    assert row["tasks"] == 3000 and row["end_ns"] is not None
    assert whole.query("SELECT count(*) AS n, count(DISTINCT number) AS numbers FROM tasks") == [{"n": 3000, "numbers": 3000}]


def test_readings_of_resources_and_energy_go_on(tmp_path):
    folder = tmp_path / "s"
    env = {**os.environ, "VENTURI_SPOOL_FILE_SECONDS": "1"}
    done = subprocess.run([VENTURI, "run", "--no-functions", "--energy", "--spool", str(folder), "--", "sh", "-c", "sleep 3"],
                          capture_output=True, text=True, timeout=300, env=env)
    assert done.returncode == 0, done.stderr
    recordings = [Recording(folder / name) for name in files(folder)]
    assert len(recordings) > 2
    last = 0
    for recording in recordings:
        row, = recording.query("SELECT count(*) AS n, min(time_ns) AS first, max(time_ns) AS last FROM resources")
        assert row["n"] and last < row["first"] <= row["last"]
        last = row["last"]
        # sources are told again, or why there are none
        assert tool("energy", recording.path, check=False).stderr.count("was not recorded") == 0
    count = sum(recording.query("SELECT count(*) AS n FROM resources")[0]["n"] for recording in recordings)
    whole = merged(folder)
    assert whole.query("SELECT count(*) AS n, max(time_ns) AS last FROM resources") == [{"n": count, "last": last}]
    assert whole.query("SELECT count(*) AS n FROM energy_sources") == recordings[-1].query("SELECT count(*) AS n FROM energy_sources")
    lines = tool("energy", whole.path).stdout.splitlines()
    assert len([line for line in lines if line.startswith("note: ")]) == len({line for line in lines if line.startswith("note: ")})


def test_growing_file_is_locked_and_readable(tmp_path):
    process = start(tmp_path / "s", 2, "hold")
    try:
        assert process.stdout.readline() == "seen\n"
        names = files(tmp_path / "s")
        newest = tmp_path / "s" / names[-1]
        if newest.name == files(tmp_path / "s")[-1]:
            assert is_locked(newest) or is_closed(newest)
        assert not is_locked(tmp_path / "s" / names[0]) and is_closed(tmp_path / "s" / names[0])
        assert Recording(newest).info["damage"] == []
    finally:
        facts, _ = end(process)
    assert process.returncode == 0
    assert Sum(tmp_path / "s").facts() == facts


# ---- deaths -------------------------------------------------------------------------------------------


def test_drainer_is_killed(tmp_path):
    """What was written stays readable and is nobody's; the next run goes on beside it."""
    folder = tmp_path / "s"
    process = start(folder, 3, "hold")
    assert process.stdout.readline() == "seen\n"
    worker = child_of(process.pid)
    process.kill()
    process.wait()
    names = files(folder)
    assert len(names) >= 3
    assert not is_locked(folder / names[-1]), "a dead drainer holds nothing"
    total = Sum(folder)
    for recording in total.recordings:
        assert recording.info["damage"] == []
    assert total.spans > 0 and total.steps > 0
    assert "outer" not in total.ended
    process.stdin.write("end\n")
    process.stdin.close()
    wait_for(lambda: not os.path.exists("/proc/%d" % worker), 60)
    facts = json.loads([line for line in process.stdout if line.startswith("{")][-1])
    process.stdout.close()
    process.stderr.close()
    assert total.spans < facts["spans"] and total.steps < facts["steps"]
    again, _ = spool(folder, 1)
    assert Sum(folder, [name for name in files(folder) if name not in names]).facts() == again


def test_program_is_killed(tmp_path):
    """Its memory is the drainer's too: nothing is lost, and what was open is open in the last file."""
    facts, _ = spool(tmp_path / "s", 3, "kill", check=-signal.SIGKILL)
    total = Sum(tmp_path / "s")
    assert total.lost == 0
    assert total.facts() == facts
    last = total.recordings[-1]
    rows = last.query("SELECT name, finished FROM spans WHERE name IN ('outer', 'all the time', 'long request')")
    assert len(rows) == 3 and not any(row["finished"] for row in rows)
    assert is_closed(last.path)


def test_what_a_killed_drainer_had_not_named_goes(tmp_path):
    folder = tmp_path / "s"
    folder.mkdir()
    left = folder / ".20200101T000000.000000Z-0123456789ab-000007.vt.new"
    left.write_bytes(b"")
    os.utime(left, (1, 1))
    other = folder / ".mine.new"
    other.write_text("mine")
    os.utime(other, (1, 1))
    spool(folder, 1)
    assert not left.exists() and other.exists()


# ---- the limit --------------------------------------------------------------------------------------


def test_limit_deletes_the_oldest_and_counts_them(tmp_path):
    folder = tmp_path / "s"
    facts, done = spool(folder, 40, options=["--spool-limit", "1M"])
    kept = files(folder)
    gone = losses(folder)
    assert gone and sum(os.path.getsize(folder / name) for name in kept) <= 1 << 20
    assert [line["file"] for line in gone] == sorted(line["file"] for line in gone)
    assert not set(kept) & {line["file"] for line in gone} and gone[-1]["file"] < kept[0]
    assert {line["run"] for line in gone} == {NAME.match(kept[0])[2]}
    assert all(len(line["recording"]) == 32 and line["bytes"] > 0 for line in gone)
    assert "gave way" in done.stderr and "%d recording" % len(gone) in done.stderr
    total = Sum(folder)
    assert total.lost == 0, "losses of the limit are no losses of a recording"
    assert total.steps + sum(line["steps"] for line in gone) == facts["steps"]
    carried = sum(recording.query("SELECT sum(events) AS n FROM threads WHERE name = '(carried over)'")[0]["n"] or 0
                  for recording in total.recordings)
    events = sum(recording.events for recording in total.recordings) - carried
    began_and_ended = 2 * (facts["spans"] + facts["asyncs"] + facts["traces"])
    attributes = facts["traces"] - 1 + 3  # round; who, path, late
    assert events + sum(line["events"] for line in gone) == began_and_ended + attributes


def test_limit_passes_over_what_is_read_and_what_is_not_ours(tmp_path):
    folder = tmp_path / "s"
    spool(folder, 3)
    first = folder / files(folder)[0]
    other = folder / "00000000-mine.vt"
    shutil.copy(first, other)
    with open(first, "rb") as held:
        fcntl.flock(held, fcntl.LOCK_SH)
        spool(folder, 40, options=["--spool-limit", "1M"])
        assert first.exists() and other.exists()
    assert losses(folder) and first.name not in [line["file"] for line in losses(folder)]


def test_long_list_of_losses_is_folded(tmp_path):
    folder = tmp_path / "s"
    folder.mkdir()
    def line(recording, steps=7):
        return json.dumps({"time": "2026-01-01T00:00:00Z", "file": "x" * 46, "recording": f"{recording:032x}", "run": "1" * 12, "bytes": 3,
                           "events": 5, "steps": steps, "tasks": 1}, separators=(",", ":")) + "\n"
    count = (1 << 20) // len(line(1)) + 10
    earlier = line(1, 1000) + line(count - 1, 1000)  # of two that are told again: in the older half, and in the newer one
    (folder / "losses").write_text(earlier + "".join(map(line, range(count))) + line(1)[:40])
    spool(folder, 40, options=["--spool-limit", "1M"])
    text = (folder / "losses").read_text().splitlines()
    lines = [json.loads(line) for line in text if line.endswith("}")]
    assert len(text) - len(lines) <= 1, "the line that was cut off"
    old = [line for line in lines if "files" in line or line["file"][0] == "x"]
    assert "files" in lines[0] and len(text) < count
    assert sum(line.get("files", 1) for line in old) == count
    assert sum(line["steps"] for line in old) == 7 * count


def test_losses_that_may_be_told_again_are_not_folded(tmp_path):
    """A file that is there all the same will get its line again, and a shipper takes off what it had sent: by the recording's id, both."""
    folder = tmp_path / "s"
    folder.mkdir()
    def line(recording, file):
        return json.dumps({"time": "2026-01-01T00:00:00Z", "file": file, "recording": f"{recording:032x}", "run": "1" * 12, "bytes": 3,
                           "events": 5, "steps": 7, "tasks": 1}, separators=(",", ":")) + "\n"
    there = "20260101T000000.000000Z-111111111111-000001.vt"
    kept = [line(1, there), line(2, "x" * 46), line(3, "x" * 46)]
    others = [line(at, "x" * 46) for at in range(10, 10 + (1 << 20) // len(kept[0]) + 10)]
    (folder / "losses").write_text("".join([kept[0], *others[:5], kept[1], *others[5:10], kept[2], *others[10:]]))
    (folder / there).write_text("of somebody who reads it")
    (folder / "ship-redis-01234567.state").write_text(f"file {2:032x} …\n")
    (folder / "ship-otlp-01234567.state").write_text(f"file {3:032x} …\n")
    with open(folder / there) as held:
        fcntl.flock(held, fcntl.LOCK_SH)
        spool(folder, 40, options=["--spool-limit", "1M"])
    text = (folder / "losses").read_text()
    lines = [json.loads(line) for line in text.splitlines()]
    assert "files" in lines[0] and all(text.count(line) == 1 for line in kept)
    old = [line for line in lines if "files" in line or line["run"] == "1" * 12]
    assert sum(line.get("files", 1) for line in old) == len(others) + 3
    assert sum(line["steps"] for line in old) == 7 * (len(others) + 3)


def test_clock_that_is_set_back(tmp_path):
    """Names are in order all the same."""
    faketime = next(iter(glob.glob("/usr/lib/*/faketime/libfaketime.so.1")), None)
    if not faketime:
        pytest.skip("no libfaketime on this machine")
    if SANITIZE:
        pytest.skip("a preloaded library and a sanitizer do not go together")
    stamp = tmp_path / "stamp"
    stamp.write_text("+0")
    env = small(LD_PRELOAD=faketime, FAKETIME_TIMESTAMP_FILE=stamp, FAKETIME_NO_CACHE=1, DONT_FAKE_MONOTONIC=1)
    process = start(tmp_path / "s", 2, "hold", env=env)
    assert process.stdout.readline() == "seen\n"
    stamp.write_text("-3600")
    before = len(files(tmp_path / "s"))
    wait_for(lambda: len(files(tmp_path / "s")) > before + 2, 60)
    end(process)
    numbers = [int(NAME.match(name)[3]) for name in files(tmp_path / "s")]
    assert numbers == sorted(numbers)


# ---- a full disk ----------------------------------------------------------------------------------------


@needs_root
def test_full_disk_is_counted_and_recording_goes_on(tmp_path):
    """What does not fit is counted in the recording; old files stay; with room again, files follow again."""
    mount = tmp_path / "small"
    out = tmp_path / "out"
    script = (f"dd if=/dev/zero of={mount}/fill bs=1k count=700 2>/dev/null; "
              f"( sleep 2; rm {mount}/fill ) & "
              f"{VENTURI} run --spool {mount}/s -- {program('spooled')} {mount}/s 25; code=$?; wait; "
              f"cp -r {mount}/s {out}; exit $code")
    done = in_small_tmpfs("1m", mount, f"export VENTURI_SPOOL_FILE_BYTES=40000; {script}")
    assert done.returncode == 0, done.stderr
    facts = json.loads([line for line in done.stdout.splitlines() if line.startswith("{")][-1])
    total = Sum(out)
    names = files(out)
    assert int(NAME.match(names[-1])[3]) == len(names), "no old file went"
    for recording in total.recordings:
        assert recording.info["damage"] == []
    assert total.lost > 0 and total.steps <= facts["steps"]
    lost_steps = sum(row["events"] for recording in total.recordings for row in recording.info["losses"]
                     if "step" in row["reason"])
    assert total.steps + lost_steps == facts["steps"]


def test_file_size_limit_is_a_full_disk(tmp_path):
    """A limit on the size of files, met while it runs: counted, and without it recording goes on."""
    folder = tmp_path / "s"
    process = start(folder, 3, "hold", env=small(VENTURI_SPOOL_FILE_BYTES=200000, VENTURI_SPOOL_FILE_SECONDS=1))
    assert process.stdout.readline() == "seen\n"
    unlimited = resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (20000, resource.RLIM_INFINITY))
    before = len(files(folder))
    wait_for(lambda: len(files(folder)) > before + 1, 60)
    resource.prlimit(process.pid, resource.RLIMIT_FSIZE, unlimited)
    before = len(files(folder))
    wait_for(lambda: len(files(folder)) > before + 1, 60)
    facts, err = end(process)
    assert process.returncode == 0 and "the disk was full" in err
    total = Sum(folder)
    lost_steps = sum(row["events"] for recording in total.recordings for row in recording.info["losses"]
                     if "step" in row["reason"])
    assert total.lost > 0 and 0 < total.spans < facts["spans"]
    assert total.steps + lost_steps == facts["steps"]
    assert all(recording.info["damage"] == [] and is_closed(recording.path) for recording in total.recordings)


# ---- a folder that goes away ---------------------------------------------------------------------------


def lost_with_it(err, kind):
    """How many of a kind the last line but those of others counts, up to rounding."""
    line, = (line for line in err.splitlines() if line.startswith("venturi: with what was removed are lost "))
    number, unit = re.search(r"([\d.]+)( k)? %s" % kind, line).groups()
    return float(number) * (1000 if unit else 1)


def remove(folder):
    """With all that is in it, also what comes meanwhile."""
    aside = folder.with_name("aside")
    folder.rename(aside)
    while aside.exists():
        shutil.rmtree(aside, ignore_errors=True)


def test_folder_that_is_removed_is_made_again(tmp_path):
    """What was in it is lost, and counted; recording goes on."""
    folder = tmp_path / "s"
    process = start(folder, 1, "hold")
    assert process.stdout.readline() == "seen\n"
    remove(folder)
    wait_for(lambda: folder.exists() and len(files(folder)) > 2, 60)
    facts, err = end(process)
    total = Sum(folder)
    assert process.returncode == 0 and total.lost == 0 and os.stat(folder).st_mode & 0o77 == 0
    assert all(recording.info["damage"] == [] and is_closed(recording.path) for recording in total.recordings)
    assert "was removed while it was being written" in err and "its other files held" in err
    assert 0 < total.steps < facts["steps"]
    assert abs(total.steps + lost_with_it(err, "step records?") - facts["steps"]) <= facts["steps"] / 100


def deleted(pid):
    """Sizes of files that have no name any more and are open in a process."""
    found = []
    for name in os.listdir(f"/proc/{pid}/fd"):
        try:
            if re.search(r"\.vt(\.new)? \(deleted\)$", os.readlink(f"/proc/{pid}/fd/{name}")):
                found.append(os.stat(f"/proc/{pid}/fd/{name}").st_size)
        except FileNotFoundError:
            pass
    return found


def test_folder_that_cannot_be_made_again(tmp_path):
    """The file that nobody can read any more does not fill the disk."""
    above = tmp_path / "above"
    above.mkdir()
    process = start(above / "s", 1, "hold")
    assert process.stdout.readline() == "seen\n"
    remove(above)
    assert deleted(process.pid)
    wait_for(lambda: set(deleted(process.pid)) == {0}, 60)
    facts, err = end(process)
    assert process.returncode == 0 and not above.exists()
    assert "was removed while it was being written" in err and "its other files held 0 events" in err
    assert abs(lost_with_it(err, "step records?") - facts["steps"]) <= facts["steps"] / 100


def test_a_drainer_without_a_tool_says_it_too(tmp_path):
    above = tmp_path / "above"
    above.mkdir()
    process = subprocess.Popen([program("spooled"), above / "s", "1", "hold"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                               env=small(VENTURI_SPOOL=above / "s"))
    assert process.stdout.readline() == "seen\n"
    remove(above)
    facts, err = end(process)
    assert err.count("\n") == 1
    lost, = re.findall(r"was removed while it was being written, and with it are lost (\d+) events, tasks and step records$", err.strip())
    assert int(lost) > 2 * facts["spans"] + facts["steps"]


# ---- several, and other ways to begin ---------------------------------------------------------------------


def test_two_programs_into_one_spool(tmp_path):
    folder = tmp_path / "s"
    folder.mkdir()
    both = [start(folder, 4, "hold"), start(folder, 4, "hold")]
    for process in both:
        assert process.stdout.readline() == "seen\n"
    facts = [end(process)[0] for process in both]
    runs = {}
    for name in files(folder):
        runs.setdefault(NAME.match(name)[2], []).append(name)
    assert len(runs) == 2
    for names in runs.values():
        assert [int(NAME.match(name)[3]) for name in names] == list(range(1, len(names) + 1))
    got = [Sum(folder, names).facts() for names in runs.values()]
    assert sorted(got, key=str) == sorted(facts, key=str)


def test_session_that_the_program_starts(tmp_path):
    folder = tmp_path / "s"
    done = subprocess.run([program("spooled"), str(folder), "3", "session"], capture_output=True, text=True, env=small(),
                          timeout=300)
    assert done.returncode == 0, done.stderr
    assert Sum(folder).facts() == json.loads(done.stdout.splitlines()[-1])
    assert all(is_closed(folder / name) for name in files(folder))


def test_environment_is_enough(tmp_path):
    folder = tmp_path / "s"
    done = subprocess.run([program("spooled"), str(folder), "3"], capture_output=True, text=True, timeout=300,
                          env=small(VENTURI_SPOOL=folder, VENTURI_SPOOL_LIMIT="50M"))
    assert done.returncode == 0, done.stderr
    wait_for(lambda: files(folder) and not is_locked(folder / files(folder)[-1]))
    facts = json.loads(done.stdout.splitlines()[-1])
    assert Sum(folder).facts() == facts


@pytest.mark.parametrize("options, message", [
    (["--spool", "x", "-o", "y.vt"], "-o and --spool: a spool is a folder of recordings, not a file"),
    (["--spool", "x", "--ring", "10s"], "--ring and --spool: a spool keeps all, up to --spool-limit"),
    (["--spool-limit", "1G"], "--spool-limit: needs --spool or --ship"),
    (["--spool", "x", "--spool-limit", "1k"], "--spool-limit 1k: not a size like 500M, at least 1M"),
    (["--keep"], "--keep: is for --ship; without it nothing is deleted"),
    (["--ship", "somewhere"], "--ship: not a URL like elasticsearch://HOST:9200"),
])
def test_wrong_options_are_one_line(tmp_path, options, message):
    done = tool("run", *options, "true", check=False, cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr == "venturi run: %s\n" % message
    assert os.listdir(tmp_path) == []


def test_folder_that_cannot_be(tmp_path):
    (tmp_path / "file").write_text("x")
    for folder, message in (("file", "is not a folder"), ("no/such/place", "cannot make the folder")):
        done = tool("run", "--spool", folder, "true", check=False, cwd=tmp_path)
        assert done.returncode == 125
        assert done.stderr.startswith("venturi run: " + folder) and message in done.stderr
        assert done.stderr.count("\n") == 1
    assert sorted(os.listdir(tmp_path)) == ["file"]


def test_nothing_is_left_if_nothing_was_started(tmp_path):
    done = tool("run", "--spool", tmp_path / "s", "no-such-program", check=False)
    assert done.returncode == 127
    assert files(tmp_path / "s") == []


# Three children that use the CPU alike, for as long as four files need.
ALIKE = """
import os, sys, time
for _ in range(3):
    if not os.fork():
        end = time.monotonic() + 4.5
        while time.monotonic() < end:
            busy = time.process_time() + 0.01
            while time.process_time() < busy:
                pass
            time.sleep(0.04)
        os._exit(0)
for _ in range(3):
    os.wait()
"""


def test_a_report_of_one_file_is_of_that_file_and_says_so(tmp_path):
    """What a process used in the files before is none of this one's share."""
    subprocess.run([VENTURI, "run", "-q", "--no-functions", "--spool", "s", sys.executable, "-c", ALIKE], check=True, timeout=300, cwd=tmp_path,
                   env=dict(os.environ, VENTURI_SPOOL_FILE_SECONDS="1"))
    files = sorted((tmp_path / "s").glob("*.vt"))
    assert len(files) >= 4
    found = {each["kind"]: each["text"] for each in json.loads(tool("report", "--json", files[2]).stdout)["findings"]}
    assert found["one-of-a-run"].startswith("This is file 3 of a run: ")
    assert "child-cpu" not in found
    tool("report", files[2], "-o", tmp_path / "page.html")
    assert re.search('"title": ?"[^"]*, file 3"', (tmp_path / "page.html").read_text())
    tool("merge", *files, "-o", tmp_path / "all.vt")
    assert "one-of-a-run" not in {each["kind"] for each in json.loads(tool("report", "--json", tmp_path / "all.vt").stdout)["findings"]}


def test_a_run_in_one_file_is_no_part(tmp_path):
    subprocess.run([VENTURI, "run", "-q", "--spool", "s", program("spooled"), str(tmp_path / "seen"), "0"], check=True, timeout=300, cwd=tmp_path)
    [path] = (tmp_path / "s").glob("*.vt")
    assert "file 1 of a run" not in tool("report", path).stdout


# ---- shipping -------------------------------------------------------------------------------------------

SHIPPER = """#!%s
# Stands in for the real one: follows the folder as docs/spool.md has it, "ships" by moving files to the path of the URL.
import fcntl, os, shutil, signal, sys, time
folder, to = sys.argv[1], os.pread(int(sys.argv[3].split(":")[1]), 8192, 0).decode()  # FOLDER --to fd:N:…
if to == "test://wrong":
    sys.stderr.write("venturi-ship: wrong\\n")
    sys.exit(2)
ending = []
signal.signal(signal.SIGTERM, lambda *_: ending.append(1))
kept = to.split("://", 1)[1]
if kept.startswith("stuck"):
    while len(ending) < 2:
        time.sleep(0.05)
    sys.exit(1)
if kept.endswith("refused"):
    while not ending:
        time.sleep(0.05)
    sys.stderr.write("venturi-ship: wrong\\n")
    sys.exit(2)
while True:
    is_last = bool(ending)
    for name in sorted(os.listdir(folder)):
        if name.startswith(".") or not name.endswith(".vt"):
            continue
        with open(os.path.join(folder, name), "rb") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                continue
            shutil.copy(os.path.join(folder, name), kept)
            os.unlink(os.path.join(folder, name))
    if is_last:
        break
    time.sleep(0.02)
open(os.path.join(folder, "ship.state"), "w").write("done")
"""


@pytest.fixture
def beside(tmp_path):
    """A tool whose neighbour venturi-ship is the one above."""
    folder = tmp_path / "tool"
    folder.mkdir()
    shutil.copy(VENTURI, folder / "venturi")
    (folder / "venturi-ship").write_text(SHIPPER % sys.executable)
    (folder / "venturi-ship").chmod(0o755)
    (tmp_path / "sent").mkdir()
    return folder / "venturi"


def ship(beside, tmp_path, url, *options, files_to_see=4, spool_name=None):
    work = tmp_path / "work"
    work.mkdir()
    seen = spool_name or "."
    command = [str(beside), "run", "--ship", url, *options, "--", program("spooled"), seen, str(files_to_see)]
    return subprocess.run(command, capture_output=True, text=True, timeout=300, env=small(), cwd=work), work


def test_ship_sends_all_while_it_runs_and_leaves_nothing(beside, tmp_path):
    done, work = ship(beside, tmp_path, "test://%s" % (tmp_path / "sent"), "--spool", "s", spool_name="s")
    assert done.returncode == 0, done.stderr
    facts = json.loads([line for line in done.stdout.splitlines() if line.startswith("{")][-1])
    assert files(work / "s") == []
    assert len(files(tmp_path / "sent")) >= 4
    assert Sum(tmp_path / "sent").facts() == facts
    assert "not sent" not in done.stderr


def test_ship_names_a_folder_of_its_own_and_takes_it_away(beside, tmp_path):
    done, work = ship(beside, tmp_path, "test://%s" % (tmp_path / "sent"), files_to_see=0)
    assert done.returncode == 0, done.stderr
    assert os.listdir(work) == []
    assert Sum(tmp_path / "sent").ended["outer"] == 1


def test_ship_that_cannot_send_leaves_all_and_says_so(beside, tmp_path):
    done, work = ship(beside, tmp_path, "test://me:secret@refused", files_to_see=0)
    assert "secret" not in done.stderr
    assert done.returncode == 0, "the program's end is its own"
    folder, = os.listdir(work)
    assert folder.endswith(".spool") and len(files(work / folder)) == 1
    assert "venturi-ship: wrong\n" in done.stderr
    assert "%s  1 recording" % folder in done.stderr and "venturi ship %s --to test://refused --once\n" % folder in done.stderr


def test_ship_that_cannot_begin_is_told_before_the_program_starts(beside, tmp_path):
    done, work = ship(beside, tmp_path, "test://wrong", files_to_see=0)
    assert (done.returncode, done.stdout, done.stderr) == (125, "", "venturi-ship: wrong\n")
    assert os.listdir(work) == []


def test_ship_that_hangs_is_ended_by_a_signal_for_us(beside, tmp_path):
    """The program has ended, the store takes nothing: who waits may leave."""
    work = tmp_path / "work"
    work.mkdir()
    process = subprocess.Popen([str(beside), "run", "--ship", "test://stuck", "--spool", "s", "--", "true"], cwd=work,
                               stderr=subprocess.PIPE, text=True)
    lines = []
    for line in process.stderr:
        lines.append(line)
        if "sending the rest" in line:
            process.send_signal(signal.SIGINT)
    assert process.wait(60) == 0
    assert any("sending the rest" in line for line in lines)
    assert any("not sent yet" in line for line in lines), lines


def test_no_shipper_is_one_line(beside, tmp_path):
    os.unlink(beside.parent / "venturi-ship")
    done, work = ship(beside, tmp_path, "test://x", files_to_see=0)
    assert done.returncode == 125
    assert done.stderr == "venturi run: --ship: venturi-ship is not there (it is built with libcurl)\n"
    assert os.listdir(work) == []


@pytest.mark.parametrize("url, message", [
    ("bogus://x", "bogus://: no store of that kind"), ("file://", "which file?"), ("elasticsearch://h:99999", "the port is no number")])
def test_url_that_means_nothing_is_refused_before_the_program_starts(tmp_path, url, message):
    needs_ship()
    done = subprocess.run([VENTURI, "run", "--ship", url, "--", "touch", "ran"], capture_output=True, text=True, timeout=300, cwd=tmp_path)
    assert done.returncode == 125 and message in done.stderr and done.stderr.count("\n") == 1, done.stderr
    assert os.listdir(tmp_path) == []


def documents(path):
    with open(path) as lines:
        return [json.loads(line) for line in lines]


def needs_ship():
    if not os.path.exists(os.path.join(BUILD, "venturi-ship")):
        pytest.skip("venturi-ship is not built")


@pytest.mark.parametrize("options", [["--spool", "s"], []], ids=["named", "of its own"])
def test_real_shipper_sends_each_thing_once(tmp_path, options):
    """Spans that are open over several files begin once and end once."""
    needs_ship()
    (tmp_path / "w").mkdir()
    done = subprocess.run([VENTURI, "run", "--ship", "file://%s" % (tmp_path / "out.jsonl"), *options, "--",
                           program("spooled"), options[-1] if options else ".", "4" if options else "0"],
                          cwd=tmp_path / "w", capture_output=True, text=True, timeout=300, env=small())
    assert done.returncode == 0, done.stderr
    facts = json.loads([line for line in done.stdout.splitlines() if line.startswith("{")][-1])
    sent = documents(tmp_path / "out.jsonl")
    steps = [one for one in sent if one.get("source") == "Spooled"]
    names = [one["name"] for one in sent if one.get("name")]
    assert len(steps) == facts["steps"]
    assert names.count("long request-start") == names.count("long request-stop") == 1
    assert names.count("request-start") == names.count("request-stop") == facts["traces"] - 1
    assert len(names) == 2 * facts["traces"]
    left = os.listdir(tmp_path / "w")
    assert left == ["s"] and files(tmp_path / "w" / "s") == [] if options else left == []


def ship_for_real(tmp_path, *words, env=None):
    needs_ship()
    done = subprocess.run([VENTURI, "run", "--ship", "file://%s" % (tmp_path / "out.jsonl"), *words], capture_output=True, text=True, timeout=300,
                          cwd=tmp_path, env=env)
    assert done.returncode == 0, done.stderr
    return done.stderr, sorted(tmp_path.glob("*.spool/*.vt")) + sorted(tmp_path.glob("s/*.vt"))


@pytest.mark.parametrize("options", [[], ["--spool", "s"]], ids=["its own folder", "named"])
def test_a_recording_of_which_nothing_could_be_sent_is_kept(tmp_path, options):
    """There is nothing else of it."""
    told, files = ship_for_real(tmp_path, *options, "--", "true")
    assert len(files) == 1, told
    assert "0 documents to file://" in told and "1 recording is kept: nothing of it is for a store" in told
    assert "kept for what that store does not take" in told and "not sent yet" not in told
    # Whoever looks again finds the same.
    again = subprocess.run([VENTURI, "ship", files[0].parent, "--to", "file://%s" % (tmp_path / "out.jsonl"), "--once"], capture_output=True, text=True, timeout=300)
    assert again.returncode == 0 and "1 recording is kept" in again.stderr and files[0].exists(), again.stderr


@pytest.mark.parametrize("keeps", [False, True], ids=["deleted", "kept"])
def test_what_goes_with_files_that_are_sent_is_said(tmp_path, keeps):
    told, files = ship_for_real(tmp_path, *(["--keep"] if keeps else []), "--", program("spooled"), str(tmp_path / "seen"), "0")
    assert "0 documents" not in told
    if keeps:
        assert files and "deleted" not in told and ", kept\n" in told and "not sent yet" not in told, told
    else:
        assert not files and re.search(r"; deleted with 1 sent file: \d+ spans outside of any trace, .*resources.* \(--keep keeps them\)\n", told), told


def test_real_shipper_killed_and_a_limit_add_up(tmp_path):
    """Killed in between and never started again while the limit is passed: what was sent, what is left and what gave way is all."""
    needs_ship()
    folder = tmp_path / "s"
    out = tmp_path / "out.jsonl"
    facts, _ = spool(folder, 40, options=["--spool-limit", "1M"])
    gone = sum(line["steps"] for line in losses(folder))
    assert gone > 0
    for _ in range(3):
        process = subprocess.Popen([os.path.join(BUILD, "venturi-ship"), str(folder), "--to", "file://%s" % out],
                                   stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        before = out.stat().st_size if out.exists() else 0
        wait_for(lambda: not files(folder) or (out.exists() and out.stat().st_size > before), 60)
        process.kill()
        process.wait()
    done = subprocess.run([os.path.join(BUILD, "venturi-ship"), str(folder), "--to", "file://%s" % out, "--once"],
                          capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    steps = [json.dumps(one, sort_keys=True) for one in documents(out) if one.get("source") == "Spooled"]
    assert len(set(steps)) + gone == facts["steps"]
    assert files(folder) == []
