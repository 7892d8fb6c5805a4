"""What the server says of a program: the same numbers as the program knows, while it runs and afterwards."""
import contextlib
import json
import os
import re
import resource
import shutil
import signal
import sqlite3
import subprocess
import sys
import time

import pytest
from conftest import BUILD, PROGRAMS, TOP, VENTURI, Events, Monitored, cli_conftest, environment, named, wait_for


def has_all(children):
    """Everything of that many children has come: 100 messages each."""
    def test(state):
        classify = named(state["spans"], "classify")
        step = named(state["steps"], "ClassifyStep", "source")
        tasks = named(state["tasks"]["groups"], "sum")
        return classify and step and tasks and classify["count"] == step["count"] == tasks["ended"] == 100 * children
    return test


def check(state, children):
    classify = named(state["spans"], "classify")
    request = named(state["spans"], "request")
    step = named(state["steps"], "ClassifyStep", "source")
    tasks = named(state["tasks"]["groups"], "sum")
    assert classify["errors"] == 10 * children and state["errors"] >= 10 * children
    assert request["count"] == 100 * children  # a trace point is an async span
    assert sum(classify["buckets"]) == classify["count"]
    assert 0 < classify["min_ns"] <= classify["p50_ns"] <= classify["p99_ns"] <= classify["max_ns"]
    assert classify["sum_ns"] >= 100 * children * 15000
    assert (step["messages"], step["failed"], step["prefix"]) == (200 * children, 20 * children, "test_step")
    assert step["sum_ns"] == 1500000 * 100 * children and step["processes"] == children
    assert step["pre"] == {"count": 100 * children, "sum_ns": 1000 * 100 * children, "max_ns": 1000}
    assert step["lag_ns"] == 250000000
    assert (tasks["done"], tasks["failed"], tasks["result_bytes"]) == (99 * children, children, 800 * children)
    assert state["lost_events"] == 0 and state["damage"] == 0


def test_live(serve, monitored):
    """Numbers of a program that runs, then more of them, then those of one that is over."""
    program = monitored()
    server = serve(program.path)
    program.tell("round 2")
    state = server.wait(has_all(2), "two children")
    check(state, 2)
    assert state["is_growing"] and state["kind"] == "file" and state["title"] == "monitored"
    assert [one for one in state["processes"]["list"] if one["pid"] == program.pid][0]["is_running"]
    killed = [one for one in state["processes"]["list"] if one["how"] == "signal"]
    assert len(killed) == 1 and killed[0]["status"] == 9 and not killed[0]["is_running"]
    program.tell("round 3")
    check(server.wait(has_all(5), "five children"), 5)
    program.stop()
    state = server.wait(lambda state: not state["is_growing"], "the end")
    check(state, 5)
    assert not [one for one in state["processes"]["list"] if one["is_running"]]
    assert all(one["memory_bytes"] == one["peak_bytes"] for one in state["processes"]["list"])  # what it had at last is chance
    assert not [one for one in state["threads"]["list"] if one["is_running"]]


def test_resources_and_open_spans(serve, monitored, tmp_path):
    """CPU and memory come from the drainer; a span that is open is shown as running."""
    program = monitored()
    server = serve(program.path)
    program.tell("busy 300")
    state = server.wait(lambda state: state["resources"] and (state["resources"]["cpu_ns"] or 0) >= 250e6, "a reading")
    assert state["resources"]["memory_bytes"] > 100000 and state["resources"]["processes"] >= 1
    assert state["cpu_count"] == os.cpu_count()
    assert state["cost"]["server_cpu_ns"] > 0 and state["cost"]["server_memory_bytes"] > 0
    assert state["energy"] is None and state["ship"] is None and state["cluster"] is None


def test_cpu_time_that_nobody_read(serve, monitored):
    """Of a run that was killed at once there are only the zeros that readings begin with: they are no CPU time."""
    program = monitored()
    program.process.kill()
    program.stop()
    server = serve(program.path)
    resources = server.wait(lambda state: not state["is_growing"], "the end")["resources"]
    assert resources is None or resources["cpu_ns"] > 0
    text = server.ask("/metrics")[2].decode()
    assert not re.search(r"^(process_cpu_seconds_total|venturi_read_bytes_total) 0$", text, re.M)


def test_rates_of_a_process_that_has_become_idle(serve, monitored):
    """The drainer writes nothing of a process that does nothing; that is no reason for its last rate to stay."""
    program = monitored()
    server = serve(program.path)

    def its(state):
        return next((one for one in state["processes"]["list"] if one["pid"] == program.pid), {"cpu_ns": None})
    program.tell("busy 500")
    server.wait(lambda state: (its(state)["cpu_ns"] or 0) >= 400e6, "a reading")
    server.wait(lambda state: its(state)["cpu"] == 0, "nothing done in a second", seconds=30)


def test_finished(serve, finished):
    """Everything of a recording that is over, and the same numbers as `venturi report` has."""
    server = serve(finished)
    state = server.wait(lambda state: state["caught_up"] == 1, "all of it")
    check(state, 2)
    report = json.loads(subprocess.run([VENTURI, "report", "--json", finished], capture_output=True, text=True, check=True).stdout)
    assert state["span_count"] == sum(one["count"] for one in report["spans"])
    assert all(one["per_s"] == 0 for one in state["spans"]["list"])  # what happened then does not happen now


def test_energy(serve, monitored):
    program = monitored("--energy")
    server = serve(program.path)
    program.tell("busy 500")
    energy = server.wait(lambda state: state["energy"] and state["energy"]["own_joules"], "joules")["energy"]
    assert 0 < energy["own_joules"] <= energy["joules"]
    assert {one["name"] for one in energy["parts"]} >= {"cpu"}


def used(path):
    """What `venturi energy` says of a recording: (machine, program, grams)."""
    said = json.loads(subprocess.run([VENTURI, "energy", "--json", str(path)], capture_output=True, text=True, check=True).stdout)
    return sum(one["all"]["gross_j"] for one in said["machines"]), sum(one["all"]["share_j"] for one in said["machines"]), said["co2e_g"]


def test_energy_is_that_of_venturi_energy(serve, monitored):
    """One arithmetic: memory goes by what is resident. While it grows the sums are those of the readings so far; a country is as good as a number."""
    program = monitored("--energy=50", "--country", "FRA", "--pue", "1.5")
    server = serve(program.path)
    program.tell("busy 300")
    growing = server.wait(lambda state: state["energy"] and state["energy"]["own_joules"], "joules")["energy"]
    assert growing["intensity"] > 0 and growing["grams"] > 0
    program.stop()
    over = server.wait(lambda state: not state["is_growing"] and state["caught_up"] == 1, "its end")["energy"]
    machine, own, grams = used(program.path)
    assert over["own_joules"] == pytest.approx(own) and over["joules"] == pytest.approx(machine) and over["grams"] == pytest.approx(grams)
    text = server.ask("/metrics")[2].decode()
    assert float(re.search(r"^venturi_energy_joules_total (\S+)", text, re.M)[1]) == pytest.approx(own)
    assert "venturi_co2e_grams_total" in text and "venturi_carbon_intensity_grams_per_kwh" in text
    assert sum(one["joules"] for one in over["parts"]) == pytest.approx(machine)


def test_energy_of_a_spool(serve, monitored, tmp_path):
    """Files go on with the counters of the one before; what lies between two of them is in no file, but in the whole."""
    spool = tmp_path / "spool"
    program = monitored("--energy=50", "--spool", str(spool), env={"VENTURI_SPOOL_FILE_SECONDS": "1"})
    while len(list(spool.glob("*.vt"))) < 3:
        program.tell("busy 200")
    program.stop()
    energy = serve(spool).wait(lambda state: state["caught_up"] == 1, "all files")["energy"]
    files = [used(path) for path in sorted(spool.glob("*.vt"))]
    between = energy["joules"] - sum(one[0] for one in files)
    own = sum(one[1] for one in files)
    assert 0 <= between < 0.2 * energy["joules"]
    assert own * 0.9 <= energy["own_joules"] <= own * 1.1 + between  # windows of a second begin with each file
    merged = tmp_path / "merged.vt"
    subprocess.run([VENTURI, "merge", "-o", merged, *spool.glob("*.vt")], check=True, capture_output=True)
    several = serve(merged).wait(lambda state: state["caught_up"] == 1, "all meters")["energy"]
    machine, own, _ = used(merged)
    assert several["own_joules"] == pytest.approx(own) and several["joules"] == pytest.approx(machine)
    assert sum(one["joules"] for one in several["parts"]) == pytest.approx(machine)


def test_events(serve, monitored):
    """The stream has the state first, then tasks with their names, then the end."""
    program = monitored()
    server = serve(program.path)
    events = Events(server)
    seen, names, numbers = [], {}, []
    program.tell("round 1")
    for name, data in events:
        seen.append(name)
        if name == "tasks":
            assert data["first"] == (numbers[-1] + 1 if numbers else 1) and not data["skipped"]
            names.update(data["names"])
            numbers += [task[0] for task in data["tasks"]]
            if sum(names.get(str(task[1])) == "sum" for task in data["tasks"]) and len(numbers) >= 100:
                break
    assert seen[0] == "state"
    assert numbers == list(range(1, len(numbers) + 1)) and "sum" in names.values()
    server.process.terminate()
    for name, _ in events:
        seen.append(name)
    assert seen[-1] == "end"
    assert server.stop() == 0
    events.close()


def test_four_states_a_second(serve, monitored):
    """Not more often, however much happens; that they come at all while nothing but time goes by is enough for the other side."""
    program = monitored()
    server = serve(program.path)
    events = Events(server)
    moments = []
    for name, data in events:
        if name == "state":
            moments.append(data["now_ms"])
        if len(moments) == 6:
            break
        program.tell("busy 10")
    events.close()
    apart = [after - before for before, after in zip(moments[1:], moments[2:])]  # the first was made before anybody asked
    assert min(apart) >= 230, apart


def keys_of(value):
    for one in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from keys_of(one)
    if isinstance(value, dict):
        yield from value


def test_the_state_is_documented(serve, monitored):
    """Every member of every answer in JSON stands in docs/serve.md."""
    program = monitored("--energy")
    program.tell("round 1")
    program.tell("busy 300")
    server = serve(program.path)
    state = server.wait(lambda state: has_all(1)(state) and state["energy"] and state["resources"], "all kinds of things")
    with open(os.path.join(TOP, "docs", "serve.md")) as file:
        text = file.read()
    answers = [state, *(server.json(path) for path in ("/health", "/api/window", "/api/functions", "/api/history?names=cpu"))]
    spans = server.json("/api/spans?limit=1")
    spans["list"][0]["attrs"] = {}  # names of the program's own
    tasks = server.json("/api/tasks?limit=1")
    tasks["names"] = tasks["workers"] = {}
    missing = {key for answer in (*answers, spans, tasks) for key in keys_of(answer) if f'"{key}"' not in text and f"`{key}`" not in text}
    assert not missing


def test_tasks(serve, finished):
    server = serve(finished)
    server.wait(lambda state: state["caught_up"] == 1, "all of it")
    answer = server.json("/api/tasks?limit=5000")
    sums = [task for task in answer["tasks"] if answer["names"][str(task[1])] == "sum"]
    assert len(sums) == 200 and sum(task[3] == 2 for task in sums) == 2
    assert all(task[6] >= task[5] > 1e12 for task in sums)
    few = server.json(f"/api/tasks?after={answer['tasks'][-1][0] - 3}")
    assert [task[0] for task in few["tasks"]] == [task[0] for task in answer["tasks"][-3:]]


def test_window_and_spans(serve, finished):
    """A picture of all of it; the spans of a name are found one by one."""
    server = serve(finished)
    whole = server.json("/api/window?pixels=200")
    assert whole["from_ns"] == 0 and whole["to_ns"] >= whole["duration_ns"]  # the first thing is not at 0, the last one is in it
    assert {one["track"] for one in whole["tracks"]} >= {one["track"] for one in server.json("/api/spans?limit=1000")["list"]}
    round_of = server.json("/api/spans?name=round")["list"][0]  # as long as the window, it is drawn; of short ones only some are
    window = server.json(f"/api/window?pixels=200&from={round_of['begin_ns']}&to={round_of['begin_ns'] + round_of['length_ns']}")
    drawn = sum(rect[4] for track in window["tracks"] for rect in track["rects"])
    state = server.wait(lambda state: state["caught_up"] == 1, "all of it")
    assert 0 < drawn <= sum(thread["spans"] for thread in state["threads"]["list"])  # short ones are folded; async ones are not drawn
    assert "round" in window["names"]
    assert all(len(track["busy"]) == (200 + 2) // 3 * 4 for track in window["tracks"])
    found = server.json("/api/spans?name=classify&limit=1000")
    assert len(found["list"]) == 200 and not found["more"]
    assert sum(span["error"] == "ValueError: a bad message" for span in found["list"]) == 20
    track = found["list"][0]["track"]
    half = server.json(f"/api/window?track={track}&pixels=50")
    assert [one["track"] for one in half["tracks"]] == [track]
    before = server.json(f"/api/window?track={track}&pixels=50&from=-2000&to=-1000")
    assert [one["track"] for one in before["tracks"]] == [track] and not before["tracks"][0]["rects"]
    assert server.json("/api/spans?name=classify&limit=3")["more"]


def test_picture_of_a_large_recording(serve, tmp_path):
    """It does not wait until all of it is summed up: its cost depends on its pixels."""
    maker = os.path.join(BUILD, "bench", "make_big")
    if not os.path.exists(maker):
        pytest.skip("bench/make_big is not built here")
    path = tmp_path / "big.vt"
    subprocess.run([maker, path, "20000000", "4", "8"], check=True, stdout=subprocess.DEVNULL)
    server = serve(path)
    window = server.json("/api/window?pixels=500")
    assert server.json("/health")["caught_up"] < 1
    assert len(window["tracks"]) == 4 and any(track["rects"] for track in window["tracks"])


def test_functions(serve, tmp_path):
    """Functions of Python are counted by call."""
    script = tmp_path / "calls.py"
    script.write_text("def inner(): pass\nfor _ in range(500): inner()\n")
    done = subprocess.run([VENTURI, "run", "-q", "-o", "calls.vt", str(script)], cwd=tmp_path, env=environment(), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    listed = serve(tmp_path / "calls.vt").json("/api/functions")["list"]
    if not listed:
        pytest.skip("no extension for this Python")
    assert [one["calls"] for one in listed if one["name"] == "inner"] == [500]


COUNTED = """import sys, threading
def fib(n): return n if n < 2 else fib(n - 1) + fib(n - 2)
ending = threading.Thread(target=sys.stdin.read)
ending.start()
while ending.is_alive():
    fib(12)
"""


@pytest.mark.skipif("VENTURI_SANITIZE" in os.environ, reason="the extension cannot be loaded where no sanitizer is")
def test_cost_of_counting(serve, tmp_path):
    """What hooks have measured is in the recording while the program runs: functions are shown without it, and the cost is not 0."""
    script = tmp_path / "counted.py"
    script.write_text(COUNTED)
    program = subprocess.Popen([VENTURI, "run", "-q", "-f", "-o", "counted.vt", str(script)], cwd=tmp_path, env=environment(), stdin=subprocess.PIPE)
    try:
        path = tmp_path / "counted.vt"
        wait_for(lambda: path.exists() and path.stat().st_size, "a recording")
        server = serve(path)
        if not wait_for(lambda: server.json("/api/functions")["list"] or program.poll() is not None, "functions") or program.poll() is not None:
            pytest.skip("no extension for this Python")
        assert server.wait(lambda state: state["cost"]["program_share"], "the cost")["cost"]["program_ns"] > 0
        wait_for(lambda: metrics_of(server)["venturi_overhead_ratio"] > 0.01, "a cost that fits")
        assert server.state()["is_growing"]
    finally:
        program.communicate(timeout=60)


def test_history(serve, monitored):
    program = monitored()
    server = serve(program.path)
    program.tell("round 1")

    def look():
        answer = server.json("/api/history?names=memory,spans")
        return answer if len(answer["times_ms"]) > 20 else None
    answer = wait_for(look, "history")
    assert set(answer["series"]) == {"memory", "spans"} and answer["step_ms"] % 100 == 0
    assert all(len(one) == len(answer["times_ms"]) for one in answer["series"].values())
    assert answer["times_ms"] == sorted(set(answer["times_ms"]))
    assert any(value and value > 0 for value in answer["series"]["memory"])


def test_history_file_of_before(serve, finished, tmp_path):
    """One that was begun when less was kept goes on, with what it has."""
    path = tmp_path / "history.db"
    server = serve(finished, "--history", path)
    now = server.state()["now_ms"]
    server.stop()
    with contextlib.closing(sqlite3.connect(path)) as file:
        file.executescript(f"""ALTER TABLE history DROP COLUMN items; ALTER TABLE history DROP COLUMN effective;
                               INSERT INTO history (level, time_ms, cpu) VALUES (1, {int(now) // 1000 * 1000 - 20000}, 0.5)""")
    server = serve(finished, "--history", path)
    answer = server.json(f"/api/history?names=cpu,items,effective&from={now - 3600000}&to={now}")
    assert 0.5 in answer["series"]["cpu"] and set(answer["series"]["items"]) == set(answer["series"]["effective"]) == {None}


def test_history_file(serve, monitored, tmp_path):
    """Kept in SQLite, found again by the next server; a file that is something else is left alone."""
    program = monitored()
    path = tmp_path / "history.db"
    server = serve(program.path, "--history", path)
    wait_for(lambda: len(server.json("/api/history")["times_ms"]) > 10, "history")
    assert server.stop() == 0
    assert path.stat().st_mode & 0o777 == 0o600
    again = serve(program.path, "--history", path)
    assert len(again.json("/api/history?names=cpu&points=5000")["times_ms"]) > 10
    other = tmp_path / "other.db"
    with sqlite3.connect(other) as db:
        db.execute("CREATE TABLE mine (a)")
    before = other.read_bytes()
    done = subprocess.run([VENTURI, "serve", program.path, "--history", str(other)], capture_output=True, text=True, timeout=60)
    assert done.returncode == 2 and "not a history" in done.stderr and done.stderr.count("\n") == 1
    assert other.read_bytes() == before


def test_report(serve, finished, monitored):
    """The page of `venturi report`, of a finished recording and of one that grows."""
    server = serve(finished)
    status, headers, body = server.ask("/report", timeout=120)
    assert status == 200 and headers["Content-Type"].startswith("text/html") and b"venturi-directory" in body
    assert server.ask("/report", timeout=120)[2] == body
    program = monitored("-f")
    program.tell("round 1")
    status, _, body = serve(program.path).ask("/report", timeout=120)
    assert status == 200 and b"venturi-directory" in body
    sys.path[:0] = [os.path.join(TOP, "tests", "page")]
    from page_reader import Page
    page = Page(body.decode())
    assert page.recording["is_growing"] and [note for note in page.notes if "still being made" in note] and not page.recording["is_closed"]


def test_folder(serve, monitored, finished, tmp_path):
    """Recordings of a folder are taken in as they appear; what is none is stepped over."""
    folder = tmp_path / "several"
    folder.mkdir()
    (folder / "broken.vt").write_bytes(b"not a recording")
    server = serve(folder)
    assert server.state()["recordings"] == []
    shutil.copy(finished, folder / "a.vt")
    check(server.wait(has_all(2), "the first"), 2)
    shutil.copy(finished, folder / "b.vt")
    state = server.wait(has_all(4), "the second")
    assert [one["name"] for one in state["recordings"]] == ["a.vt", "b.vt"] and state["kind"] == "folder"


def test_spool(serve, monitored, tmp_path):
    """A spool is one program: its steps and spans are counted once over all files."""
    program = monitored("--spool", str(tmp_path / "spool"))
    server = serve(tmp_path / "spool")
    program.tell("round 1")
    state = server.wait(has_all(1), "a child")
    check(state, 1)
    assert state["kind"] == "spool" and state["is_growing"]
    program.stop()
    state = server.wait(lambda state: not state["is_growing"], "the end")
    check(state, 1)


def test_folder_of_many(serve, tmp_path):
    """All of more files than may be open at once; one that is no recording yet is tried again."""
    files = tmp_path / "many"
    files.mkdir()
    made = cli_conftest().NewRecording()
    made.site(1, "work")
    events = made.events(0, 0)
    events.begin(1000, 1)
    events.end(2000)
    events.write()
    one = made.save(tmp_path / "one.vt")
    for number in range(1100):
        shutil.copy(one, files / f"{number:05}.vt")
    (files / "begun.vt").write_bytes(b"")
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (256, limits[1]))
    try:
        server = serve(files)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)
    state = server.wait(lambda state: state["caught_up"] == 1 and state["span_count"] >= 1100, "all of them")
    assert named(state["spans"], "work")["count"] == 1100 and len(state["recordings"]) == 100
    shutil.copy(one, files / "begun.vt")
    server.wait(lambda state: state["span_count"] == 1101, "the one that was begun")


def metrics_of(server, accept="text/plain"):
    lines = server.ask("/metrics", headers={"Accept": accept})[2].decode().splitlines()
    return {name: float(value) for name, value in (line.split(" # ")[0].rsplit(" ", 1) for line in lines if line[0] != "#")}


def test_spool_that_has_lost_files(serve, monitored, tmp_path):
    """Who comes late knows what is left, and says since when it counts."""
    spool = tmp_path / "spool"
    program = monitored("--spool", str(spool), env={"VENTURI_SPOOL_FILE_BYTES": "20000", "VENTURI_SPOOL_FILE_SECONDS": "1"})
    first = serve(spool)
    for count in range(1, 100):
        program.tell("round 1")
        first.wait(has_all(count), "a child")
        if len(list(spool.glob("*.vt"))) >= 3:
            break
    program.stop()
    first.wait(lambda state: not state["is_growing"] and has_all(count)(state), "the end")
    files = sorted(spool.glob("*.vt"))
    os.unlink(files[0])
    late = serve(spool)
    state = late.wait(lambda state: state["caught_up"] == 1 and state["span_count"] > 0, "what is left")
    assert state["is_partial"] and state["since_ms"] / 1000 == pytest.approx(metrics_of(late)["venturi_recording_start_timestamp_seconds"])
    assert not first.state()["is_partial"]
    head = subprocess.run([VENTURI, "top", "-b", "-n", "1", spool], capture_output=True, text=True, check=True, env=environment()).stdout
    since = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(state["since_ms"] / 1000))
    assert f"counted since {since}: earlier files are gone" in head
    series = '{step="ClassifyStep",prefix="test_step"}'
    for accept in ("text/plain", "application/openmetrics-text"):
        all_of_it, rest = metrics_of(first, accept), metrics_of(late, accept)
        begin = "venturi_recording_start_timestamp_seconds"
        assert rest[begin] > all_of_it[begin]
        messages = "venturi_step_messages_total" + series
        assert 0 < rest[messages] < all_of_it[messages] == 200 * count
        created = [{name: value for name, value in said.items() if "_created" in name} for said in (all_of_it, rest)]
        if accept == "text/plain":
            assert not created[0]
            continue
        assert set(created[0].values()) == {all_of_it[begin]} and set(created[1].values()) == {rest[begin]}
        assert "venturi_step_messages_created" + series in created[1] and 'venturi_span_duration_seconds_created{span="classify"}' in created[1]


ALONE = """import time
while time.process_time() < 0.3:
    pass
print("used", flush=True)
time.sleep(1000)
"""


def test_process(serve, monitored):
    """The number of a process leads to its recording; one that nobody records is seen from outside."""
    program = monitored()
    state = serve(str(program.pid)).state()
    assert state["kind"] == "file" and state["path"] == os.path.realpath(program.path)
    began = time.time()
    alone = subprocess.Popen([sys.executable, "-c", ALONE], stdout=subprocess.PIPE, text=True)
    try:
        alone.stdout.readline()
        used = time.time()
        server = serve(str(alone.pid))
        state = server.wait(lambda state: state["resources"], "a look")
        assert state["kind"] == "process" and state["is_growing"]
        assert [one["pid"] for one in state["processes"]["list"]] == [alone.pid]
        assert state["resources"]["memory_bytes"] > 0
        assert state["resources"]["cpu_ns"] >= 300e6  # also what it used before anybody looked
        assert began - 1 <= state["start_ms"] / 1000 <= used and state["processes"]["list"][0]["start_ms"] == state["start_ms"]
        told = metrics_of(server)
        assert told["process_cpu_seconds_total"] >= 0.3
        assert told["process_start_time_seconds"] == pytest.approx(state["start_ms"] / 1000, abs=0.01)
        assert told["process_open_fds"] >= 1 and told["process_max_fds"] >= 1 and told["process_virtual_memory_bytes"] > 0
    finally:
        alone.stdout.close()
        alone.kill()
        alone.wait()
    server.wait(lambda state: not state["is_growing"], "its end")


@pytest.mark.parametrize("options", [[], ["-q"]])
def test_run_live(tmp_path, options):
    """`run --live` says the address, also where all else is quiet, shows the program, and ends with it."""
    from conftest import Server
    process = subprocess.Popen([VENTURI, "run", *options, "--live=0", "-o", "live.vt", os.path.join(PROGRAMS, "monitored")], cwd=tmp_path,
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment())
    try:
        line = process.stderr.readline()
        assert line.startswith("venturi: live  http://127.0.0.1:"), line
        server = Server.__new__(Server)
        server.address = line.split()[-1]
        server.port = int(server.address.split("/status")[0].rsplit(":", 1)[1])
        server.token = server.address.rsplit("token=", 1)[1]
        process.stdout.readline()
        process.stdin.write("round 1\n")
        process.stdin.flush()
        check(server.wait(has_all(1), "a child"), 1)
    finally:
        said = process.communicate(timeout=60)[1]
    assert process.returncode == 0 and ("next  venturi serve live.vt" in said) == (not options)
    with pytest.raises(ConnectionRefusedError):
        server.connect()


@pytest.mark.parametrize("when", ["meanwhile", "at the end"])
def test_run_live_whose_server_is_killed(tmp_path, when):
    """It is said in one line, nothing else changes."""
    process = subprocess.Popen([VENTURI, "run", "--live=0", "-o", "live.vt", os.path.join(PROGRAMS, "monitored")], cwd=tmp_path,
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment())
    assert "live  http://" in process.stderr.readline()
    process.stdout.readline()
    (server,) = subprocess.run(["pgrep", "-P", str(process.pid), "-x", "venturi-serve"], capture_output=True, text=True, check=True).stdout.split()
    os.kill(int(server), signal.SIGKILL)
    line = process.stderr.readline() if when == "meanwhile" else ""
    process.stdin.write("round 1\n")
    said = line + process.communicate(timeout=60)[1]
    assert said.count("venturi: venturi-serve was ended by signal 9 (Killed): nothing is shown any more, all is recorded\n") == 1
    assert process.returncode == 0 and said.count("venturi-serve") == 1 and (tmp_path / "live.vt").stat().st_size > 1000


def test_the_end_of_run_live(tmp_path):
    """Who looks gets the last state, then has a moment to ask for what is not in it, then the end."""
    from conftest import Server
    process = subprocess.Popen([VENTURI, "run", "-q", "--live=0", "-o", "live.vt", os.path.join(PROGRAMS, "monitored")], cwd=tmp_path,
                               stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, env=environment())
    try:
        server = Server.__new__(Server)
        server.address = process.stderr.readline().split()[-1]
        server.port = int(server.address.split("/status")[0].rsplit(":", 1)[1])
        server.token = server.address.rsplit("token=", 1)[1]
        events = Events(server)
        seen = []
        for name, data in events:
            if not seen:
                process.stdin.close()
            seen.append(name)
            if name == "state" and not data["is_growing"] and "over" not in seen:
                assert "list" in server.json("/api/functions")
                seen.append("over")
        events.close()
    finally:
        process.stdin.close()
        process.stderr.close()
        assert process.wait(timeout=60) == 0
    assert "over" in seen and seen[-1] == "end", seen


def test_live_and_ring_exclude_each_other(tmp_path):
    done = subprocess.run([VENTURI, "run", "--live", "--ring", "5s", "true"], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 2 and "--live and --ring" in done.stderr


@pytest.mark.parametrize("words, message", [
    (("nothing.vt",), "nothing.vt: cannot open it"),
    (("999999999",), "there is no such process"),
    (("a", "b"), "one recording, folder or process at a time"),
    (("--port", "x"), "not a number"),
    (("--bind", "example"), "not an address"),
    (("--token", "short"), "the token must be"),
    (("--zebra",), "no option --zebra"),
    (("--host", "http://x"), "--host"),
])
def test_wrong_words(tmp_path, words, message):
    """One line, exit code 2."""
    done = subprocess.run([VENTURI, "serve", *words], cwd=tmp_path, capture_output=True, text=True, timeout=60, env=environment())
    assert done.returncode == 2 and message in done.stderr and done.stderr.count("\n") == 1, done.stderr


def test_port_taken(serve, finished):
    """The next one is used, and said."""
    first = serve(finished)
    second = serve(finished, "--port", str(first.port))
    assert second.port > first.port
    assert f"port {first.port} is taken, this is port {second.port}" in second.said[0]
    assert second.json("/health")["status"] == "ok"


def test_metrics(serve, finished):
    server = serve(finished)
    server.wait(lambda state: state["caught_up"] == 1, "all of it")
    status, headers, body = server.ask("/metrics", token=False)
    assert status == 200 and headers["Content-Type"].startswith("text/plain; version=0.0.4")
    assert b'venturi_span_duration_seconds_count{span="classify"} 200' in body
    status, headers, body = server.ask("/metrics", token=False, headers={"Accept": "application/openmetrics-text; version=1.0.0"})
    assert headers["Content-Type"].startswith("application/openmetrics-text") and body.endswith(b"# EOF\n")


def test_monitored_is_there():
    assert os.path.exists(os.path.join(PROGRAMS, "monitored")) and Monitored


TRACED = """import threading
from venturi import trace

def child():
    with trace.Trace("inner"):
        sum(range(20000))

trace.init("KEY")
for _ in range(20):
    with trace.Trace("outer"):
        sum(range(10000))
        child()
        thread = threading.Thread(target=trace.carry(child))
        thread.start()
        thread.join()
if __import__("sys").argv[1:]:
    print("done", flush=True)
    __import__("sys").stdin.read()
"""


@pytest.mark.skipif(not os.path.exists(os.path.join(BUILD, "python", "venturi", "trace.py")), reason="no Python package is built beside it")
@pytest.mark.parametrize("runs", [False, True])
def test_own_time_of_traces(serve, tmp_path, runs):
    """Of spans that Python code traces: what `venturi rank` says, when it is over and while the program goes on."""
    (tmp_path / "traced.py").write_text(TRACED)
    path = tmp_path / "traced.vt"
    program = subprocess.Popen([VENTURI, "run", "-q", "-o", path, "--", sys.executable, "traced.py", *["x"] * runs], cwd=tmp_path, text=True,
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment(PYTHONPATH=os.path.join(BUILD, "python")))
    try:
        if runs:
            assert program.stdout.readline() == "done\n"
        else:
            assert program.wait(timeout=60) == 0
        server = serve(path)

        def is_known(state):
            outer, inner = named(state["spans"], "outer"), named(state["spans"], "inner")
            return outer and inner and (outer["count"], inner["count"]) == (20, 40) and outer["self_ns"] > 0 and inner["self_ns"] == inner["sum_ns"]
        state = server.wait(is_known, "own times")
        assert state["is_growing"] == runs
        server.wait(lambda state: named(state["spans"], "outer")["self_ns"] >= own_of(path, "outer") * 0.999, "all own times")
        outer = named(server.state()["spans"], "outer")
        assert outer["self_ns"] <= own_of(path, "outer") * 1.001 and outer["self_ns"] < outer["sum_ns"]
        said = dict(line.rsplit(" ", 1) for line in server.ask("/metrics")[2].decode().splitlines() if line[0] != "#")
        assert float(said['venturi_span_self_seconds_total{span="outer"}']) == pytest.approx(outer["self_ns"] / 1e9)
    finally:
        program.stdin.close()
        program.wait(timeout=60)
        program.stdout.close()


def own_of(path, name):
    """Own time of the spans of a name as `venturi rank` has it, in nanoseconds, our own cost still in there."""
    rows = json.loads(subprocess.run([VENTURI, "rank", "--raw", "--wide", "--json", path], capture_output=True, text=True, check=True).stdout)["names"]
    return next(row for row in rows if row["name"] == name)["self_s"] * 1e9


def test_many_processes(serve, monitored):
    program = monitored()
    program.tell("round 70")
    server = serve(program.path)
    step = named(server.wait(has_all(70), "all children")["steps"], "ClassifyStep", "source")
    assert step["processes"] == 70


def test_failed_messages(serve, finished):
    """Messages of batches that failed, not batches: here of two each."""
    server = serve(finished)
    step = named(server.wait(has_all(2), "all of it")["steps"], "ClassifyStep", "source")
    assert (step["count"], step["messages"], step["failed"]) == (200, 400, 40)
    said = dict(line.rsplit(" ", 1) for line in server.ask("/metrics")[2].decode().splitlines() if line[0] != "#")
    assert said['venturi_step_failures_total{step="ClassifyStep",prefix="test_step"}'] == "40"
