"""Recordings of each version of the format: still read, and read alike by the tool and by the second reader."""
import glob
import json
import os
import subprocess
import sys

import pytest

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.join(TOP, "tests", "reader"))
import vtread  # noqa: E402

VENTURI = os.environ.get("VENTURI", os.path.join(TOP, "build", "venturi"))
FILES = sorted(glob.glob(os.path.join(HERE, "*.vt")))
NAMES = [os.path.basename(path) for path in FILES]

# What the tool calls an event, where the second reader has another word.
WORDS = {"gap": "lost"}
KINDS = {"begin", "end", "mark", "counter", "attribute", "error", "async_begin", "async_end", "async_attribute", "gap"}


def exported(path):
    done = subprocess.run([VENTURI, "export", "-f", "jsonl", path], capture_output=True, text=True, encoding="utf-8")
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_there_are_some():
    assert len(FILES) >= 8


@pytest.mark.parametrize("path", FILES, ids=NAMES)
def test_tool_reads_what_it_always_read(path):
    """The dump beside each file was made when the file was; `--update` is deleting it and running this once."""
    expected = path[:-3] + ".jsonl"
    lines = exported(path)
    if not os.path.exists(expected):
        with open(expected, "w", encoding="utf-8") as file:
            file.writelines(json.dumps(line, ensure_ascii=False, sort_keys=True) + "\n" for line in lines)
        pytest.fail("there was no dump; it has been made, look at it")
    with open(expected, encoding="utf-8") as file:
        assert lines == [json.loads(line) for line in file]


def close(a, b):
    return a == b or abs(a - b) <= 1  # one rounds down, the other to the nearest


@pytest.mark.parametrize("path", FILES, ids=NAMES)
def test_both_readers_see_the_same_events(path):
    ours = [line for line in exported(path) if line["type"] in KINDS]
    theirs = list(vtread.read(path).events())
    assert len(ours) == len(theirs)
    for track in {event.track for event in theirs}:
        pairs = list(zip([e for e in ours if e["track"] == track], [e for e in theirs if e.track == track]))
        for mine, other in pairs:
            assert WORDS.get(mine["type"], mine["type"]) == other.kind
            assert mine["depth"] == other.depth
            assert mine.get("site") in (other.site, None)
            if "id" in mine:
                assert mine["id"] == other.async_id
            if mine["type"] == "async_begin":
                ids = (mine.get("base_id"), mine.get("trace_id"), mine.get("parent_id"))
                assert ids == (tuple(map(str, other.trace)) if other.trace else (None, None, None))


@pytest.mark.parametrize("path", FILES, ids=NAMES)
def test_both_readers_see_the_same_times(path):
    recording = vtread.read(path)
    ours = [line for line in exported(path) if line["type"] in KINDS]
    for track in {event.track for event in recording.events()}:
        domain = recording.domain(track)
        mine = [e["time_ns"] for e in ours if e["track"] == track]
        other = [recording.time_ns(domain, e.ticks) for e in recording.events(track)]
        if None not in other:
            assert all(close(a, b) for a, b in zip(mine, other))


@pytest.mark.parametrize("path", FILES, ids=NAMES)
def test_both_readers_see_the_same_facts(path):
    recording = vtread.read(path)
    ours = exported(path)
    assert ours[0]["closed"] == recording.is_closed
    assert len([x for x in ours if x["type"] == "site"]) == len(recording.sites)
    assert len([x for x in ours if x["type"] == "host"]) == len(recording.hosts)
    assert sum(x["events"] for x in ours if x["type"] == "loss") == sum(x.events for x in recording.losses)
    done = subprocess.run([VENTURI, "info", "--json", path], capture_output=True, text=True)
    damage = json.loads(done.stdout)["damage"]
    assert [(d["begin_offset"], d["end_offset"]) for d in damage] == [(d.begin, d.end) for d in recording.damage]


@pytest.mark.parametrize("path", FILES, ids=NAMES)
def test_both_readers_see_the_same_calls(path):
    """A call for each node, under the call of its parent, with the same counts and times."""
    ours = [line for line in exported(path) if line["type"] == "call"]
    recording = vtread.read(path)
    theirs = {}
    for track, nodes in recording.calls.items():
        domain = recording.clocks[recording.processes[recording.tracks[track].process].domain]
        first, last = domain.anchors[0], domain.anchors[-1]
        rate = (last.monotonic - first.monotonic) / (last.ticks - first.ticks) if last.ticks > first.ticks else 1
        for node in nodes.values():
            names = []
            walk = node
            while walk:
                names.append((recording.sites[walk.site].name, walk.site))
                walk = nodes.get(walk.parent)
            total = (node.total + (node.open or 0)) * rate
            theirs[track, tuple(names)] = (node.calls, node.resumes, node.open is not None, round(total))
    assert len(ours) == len(theirs)
    assert (sorted((line["calls"], line["resumes"], line["open"], round(line["total_ns"])) for line in ours)
            == sorted(theirs.values()))


@pytest.mark.parametrize("path", FILES, ids=NAMES)
def test_both_readers_see_the_same_lines(path):
    """The last snapshot of every line, and the texts that they are of."""
    recording = vtread.read(path)
    ours = exported(path)
    theirs = [(track, line.site, line.line, line.statement, line.time, line.events, line.hits, line.inner, line.resumes,
               line.open is not None) for track, lines in recording.lines.items() for line in lines.values()]
    assert theirs == [(x["track"], x["site"], x["line"], x["statement"], x["time"], x["events"], x["hits"], x["inner"],
                       x["resumes"], x["open"]) for x in ours if x["type"] == "line"]
    done = subprocess.run([VENTURI, "query", "--json", path, "SELECT process, file, text FROM sources"],
                          capture_output=True, text=True)
    assert {(x["process"], x["file"]): x["text"] for x in json.loads(done.stdout)} == recording.sources


def test_sums_of_lines():
    """By hand, from what make_recording writes: 2.5 ticks a nanosecond, an event of a line of Python costs 60 ticks."""
    path = os.path.join(HERE, "v1-lines.vt")
    done = subprocess.run([VENTURI, "query", "--json", path, "SELECT name, kind, line, statement, events, hits, total_ns, self_ns, "
                           "min_ns, max_ns, suspended_ns, resumes, open, samples FROM lines WHERE track = 0"],
                          capture_output=True, text=True)
    assert [tuple(row.values()) for row in json.loads(done.stdout)] == [
        ("Step.check", "function", 60, 63, 0, 1, 200000, None, None, None, 0, 0, 1, None),
        ("Step.check", "line", 61, 61, 50, 50, 97840, 57840, 1000, 3000, 0, 0, 0, None),
        ("Step.check", "statement", 62, 62, 0, 20, 299080, None, 5000, 25000, 500000, 4, 1, None),
        ("Step.check", "line", 62, 62, 40, 20, 198800, 197800, None, None, 500000, 4, 0, None),
        ("Step.check", "line", 63, 62, 20, 0, 100280, None, None, None, 0, 0, 1, None),
        ("convolve", "line", 71, 71, 1000, 1000, 123456789, None, None, None, 0, 0, 0, 30),
        ("convolve", "line", 72, 72, 1000, 1000, None, None, None, None, 0, 0, 0, None)]


@pytest.mark.parametrize("path", FILES, ids=NAMES)
def test_both_readers_see_the_same_tasks(path):
    lines = exported(path)
    recording = vtread.read(path)
    runs = {line["run"]: (line["process"], line["number"]) for line in lines if line["type"] == "task_run"}
    workers = {line["worker"]: line["number"] for line in lines if line["type"] == "task_worker"}
    rows = {line["task"]: line for line in lines if line["type"] == "task"}
    states = ["", "done", "failed", "skipped", "cancelled", "timed-out", "lost"]
    theirs = recording.tasks
    assert {(p, n) for p, n in runs.values()} >= set(theirs.runs)
    assert len(rows) == len(theirs.tasks) + len(theirs.actions)
    for row in rows.values():
        if row["action"] != "compute":
            continue
        process, run = runs[row["run"]]
        task = theirs.tasks[process, run, row["number"]]
        domain = recording.processes[process].domain
        assert row["key"] == (task.key or str(task.number)) and row["site"] == task.site
        assert row["name"] == recording.site_name(task.site) and row["state"] == states[task.state]
        assert workers.get(row["worker"]) == task.worker and row["retries"] == task.retries
        assert (row["cpu_ns"], row["cpu_is_estimated"], row["bytes"]) == (task.cpu, task.estimated, task.bytes)
        for name, ticks in ("ready", task.ready), ("begin", task.start), ("end", task.end), ("freed", task.freed):
            told = row[name + "_ns"]
            assert (told is None) == (ticks == 0) and (not ticks or close(told, recording.time_ns(domain, ticks)))
        needs = [n for n in theirs.needs(process, run, task.number)
                 if (process, run, n) in theirs.tasks and n != task.number]
        assert [rows[at]["number"] for at in row["dependencies"]] == needs


@pytest.mark.parametrize("path", FILES, ids=NAMES)
def test_both_readers_see_the_same_steps(path):
    recording = vtread.read(path)
    ours = [line for line in exported(path) if line["type"] == "step"]
    assert len(ours) == len(recording.steps)
    for mine, other in zip(ours, recording.steps):
        site = recording.sites.get(other.site)
        assert mine["source"] == recording.site_name(other.site)
        assert (mine["prefix"], mine["survey"]) == ((site.function, site.unit or None) if site else ("", None))
        for key in "process", "site", "number", "failed", "metrics", "cut", "messages", "received_ns", "sent_ns":
            assert mine[key] == getattr(other, key), key
        for key in "execute", "pre", "post", "produce", "lag":
            assert mine[key + "_ns"] == getattr(other, key), key
        domain = recording.processes[other.process].domain if other.process in recording.processes else 0
        assert close(mine["time_ns"], recording.time_ns(domain, other.sent))
        assert close(mine["begin_ns"], recording.time_ns(domain, other.received))
        if isinstance(mine["extra"], dict):
            assert mine["extra"] == json.loads("{%s}" % other.extra)
        else:
            assert mine["extra"] == other.extra


@pytest.mark.parametrize("path", FILES, ids=NAMES)
def test_both_readers_see_the_same_energy(path):
    lines = exported(path)
    recording = vtread.read(path)
    domains = {entry.tree: entry.fields[1] for _, entry in recording.energy if entry.type == "machine"}
    readings, ticks, block = [], 0, None
    for offset, entry in recording.energy:
        if entry.type == "reading":
            ticks = entry.fields[0] + (ticks if offset == block else 0)
            block = offset
            readings.append((entry.tree, recording.time_ns(domains.get(entry.tree, 0), ticks), entry.fields[1], entry.fields[2]))
    ours = [line for line in lines if line["type"] == "energy"]
    assert len(ours) == len(readings)
    for mine, (tree, time_ns, values, lost) in zip(ours, readings):
        known = {at: value for at, value in enumerate(mine["microjoules"]) if value is not None}
        assert (mine["tree"], known, mine["lost"]) == (tree, values, lost) and close(mine["time_ns"], time_ns)
    sources = {(e.tree, e.fields[0]): e.fields for _, e in recording.energy if e.type == "source"}
    assert ({(x["tree"], x["source"]): (x["name"], x["from"], x["note"], x["inside"], x["watts"]) for x in lines if x["type"] == "energy_source"}
            == {key: (f[6], f[7], f[8], f[3], f[4] / 1000) for key, f in sources.items()})
    cpu = [(track, x.cpu, bool(x.flags & 1), bool(x.flags & 2), x.node, x.line) for track, all in recording.thread_cpu.items() for x in all]
    assert cpu == [(x["track"], x["cpu_ns"], x["running"], x["coarse"], x["node"], x["line_node"])
                   for x in lines if x["type"] == "thread_cpu"]
