"""`venturi energy`: joules of a machine, of a program and of what it did, in recordings whose every number is known."""
import json
import random

import pytest
from conftest import NewRecording, second_reader_finds
from vtwrite import join, signed

CALL_TREE, LINES, TASKS, ENERGY, RESOURCES, THREAD_CPU = 13, 14, 15, 18, 29, 30
TICK = 10 ** 8  # between two readings
LOOK = 10 ** 7  # between two looks at a thread
SECONDS = 2
CPU, MEMORY, GPU, PLATFORM = range(4)
MEASURED, MODELLED, ESTIMATED = 1, 2, 3
JOULE, GIB = 10 ** 6, 2 ** 30


def entry(kind, *parts):
    body = join(*parts)
    return join(kind, len(body)) + body


def source(number, part, name, how=MEASURED, inside=None, watts=0, idle=0, origin="powercap", note=""):
    return entry(1, 0, number, part, how, 0 if inside is None else inside + 1, watts * 1000, idle * 1000, name, origin, note)


class Metered(NewRecording):
    """Two seconds at 50 W, in which the machine was busy with two CPUs and the program with one: 50 J are its own."""

    def __init__(self, sources=None, joules=((5, ), ), **process):
        super().__init__(**process)
        self.energy_block(entry(5, 0, 0, 0, 4, 16 * GIB), *(sources or [source(0, CPU, "package-0")]))
        self.readings(joules)

    def energy_block(self, *entries, last=0):
        self.block(ENERGY, b"".join(entries), len(entries), last=last)

    def rest(self, watts, how=MEASURED, seconds=10):
        self.energy_block(entry(3, 0, watts * 10 ** 6, how, seconds * 10 ** 9))

    def note(self, text, about=2):
        self.energy_block(entry(4, 0, about, text))

    def readings(self, joules):
        """joules[i % len]: what each source uses in interval i; the machine is busy with 2 CPUs, the program with one."""
        total = [0] * len(joules[0])
        meter, tree = [], [entry(1, 0, 0, 0, 0, 0, 0, 0, 0, 0, "", "")]
        for i in range(SECONDS * 10 + 1):
            ticks = TICK if i else 0
            meter.append(entry(2, 0, ticks, (1 << len(total)) - 1, *[round(each * JOULE) for each in total], 0))
            tree.append(entry(2, 0, 0, ticks, 1 | 1 << 2 | 1 << 10, TICK * i, 4 * GIB, 2 * TICK * i))
            total = [had + more for had, more in zip(total, joules[i % len(joules)])]
        self.energy_block(*meter, last=SECONDS * 10 * TICK)
        self.block(RESOURCES, b"".join(tree), len(tree), last=SECONDS * 10 * TICK)

    def process_cpu(self, number, pid, name, cpu_each, parent=0):
        """A process that uses so many nanoseconds of CPU between two readings."""
        entries = [entry(1, 0, number, 0, 0, 0, parent, pid, 0, 0, name, "")]
        entries += [entry(2, 0, number, TICK if i else 0, 1, cpu_each * i) for i in range(SECONDS * 10 + 1)]
        self.block(RESOURCES, b"".join(entries), len(entries), last=SECONDS * 10 * TICK)

    def looks(self, where, cpu=LOOK, track=0):
        """where(i) -> node, line of look i, or None: not seen running."""
        body = b""
        for i in range(SECONDS * 100):
            place = where(i)
            body += join(LOOK, LOOK, cpu, 0 if place is None else 1, *(place or (1, 1)))
        self.block(THREAD_CPU, body, SECONDS * 100, owner=track, last=SECONDS * 100 * LOOK)

    def calls(self, *nodes):
        """(node, parent, site)…"""
        self.block(CALL_TREE, b"".join(join(node, parent, site, 1, 0, 10 ** 9, 0, 1, 1, 0) for node, parent, site in nodes),
                   len(nodes), last=2 * 10 ** 9)

    def function(self, site, name, line):
        self.site(site, name, kind=4, function=name, file="work.py", line=line, unit="python")

    def main(self):
        """One span that is open from the first to the last reading."""
        self.site(1, "main")
        events = self.events(0, 0)
        events.begin(0, 1)
        events.end(SECONDS * 10 ** 9 + 1)  # the last look is in it
        events.write()


@pytest.fixture
def energy(venturi):
    def ask(path, *options, check=0):
        return json.loads(venturi("energy", "--json", *options, path, check=check).stdout)
    return ask


def saved(recording, tmp_path, name="out.vt"):
    path = recording.save(tmp_path / name)
    assert second_reader_finds(path) == ""
    return path


def rows(found):
    """name -> joules by itself, joules in all."""
    return {row["name"]: (row["self"]["share_j"], row["total"]["share_j"]) for row in found["rows"]}


def simple(tmp_path, *notes, **options):
    recording = Metered(**options)
    recording.main()
    recording.looks(lambda i: (0, 0))
    for text in notes:
        recording.note(text)
    return saved(recording, tmp_path)


# ---- sums ---------------------------------------------------------------------------------------


def test_the_machine_and_the_program(energy, tmp_path):
    found = energy(simple(tmp_path))
    machine = found["machines"][0]
    assert machine["all"]["gross_j"] == pytest.approx(100) and machine["all"]["share_j"] == pytest.approx(50)
    assert machine["all"]["how"] == "measured" and machine["cpu"] == machine["all"]
    assert machine["all"]["dynamic_j"] is None and machine["rest_w"] is None and machine["rest_how"] == "unknown"
    assert (machine["wall_s"], machine["unknown_s"]) == (pytest.approx(2), 0)
    assert (machine["cpu_s"], machine["machine_cpu_s"]) == (pytest.approx(2), pytest.approx(4))
    assert machine["sources"] == [{"name": "package-0", "from": "powercap", "note": None, "part": "cpu", "how": "measured",
                                   "inside": None}]
    assert found["kwh"] == pytest.approx(50 / 3.6e6) and found["co2e_g"] is None and found["water_l"] is None


def test_beyond_rest(energy, tmp_path):
    recording = Metered()
    recording.main()
    recording.rest(30)
    recording.looks(lambda i: (0, 0))
    found = energy(saved(recording, tmp_path), "--by", "span")
    machine = found["machines"][0]
    assert (machine["rest_w"], machine["rest_how"]) == (30, "measured")
    assert machine["all"]["dynamic_j"] == pytest.approx(20)  # its half of 20 W for 2 s
    assert found["rows"][0]["self"]["dynamic_j"] == pytest.approx(20)


def test_nothing_is_counted_twice(energy, tmp_path):
    """The platform has the processors in it, these their cores, and memory beside them; a card is beside all."""
    sources = [source(0, PLATFORM, "psys"), source(1, CPU, "package-0", inside=0), source(2, CPU, "core", inside=1),
               source(3, MEMORY, "dram", inside=0), source(4, GPU, "card", origin="nvml")]
    found = energy(simple(tmp_path, sources=sources, joules=[(10, 5, 3, 1, 20)]))
    machine = found["machines"][0]
    assert machine["all"]["gross_j"] == pytest.approx(200 + 400) and machine["all"]["share_j"] == pytest.approx(100)
    assert machine["cpu"]["gross_j"] == pytest.approx(100) and machine["cpu"]["share_j"] == pytest.approx(50)
    assert machine["memory"]["gross_j"] == pytest.approx(20)
    assert machine["memory"]["share_j"] == pytest.approx(5)  # a quarter is resident
    assert machine["gpu"]["gross_j"] == pytest.approx(400) and machine["gpu"]["share_j"] is None
    assert [each["inside"] for each in machine["sources"]] == [None, "psys", "package-0", "psys", None]


def test_the_worst_provenance_counts(energy, tmp_path):
    sources = [source(0, CPU, "package-0"), source(1, MEMORY, "memory", MODELLED, watts=10, idle=10, origin="modules")]
    machine = energy(simple(tmp_path, sources=sources, joules=[(5, 1)]))["machines"][0]
    assert (machine["cpu"]["how"], machine["memory"]["how"], machine["all"]["how"]) == ("measured", "modelled", "modelled")


def test_without_cpu_time_of_the_program(venturi, energy, make_recording):
    path = make_recording("--energy")
    machine = energy(path)["machines"][0]
    assert machine["all"]["gross_j"] > 0 and machine["all"]["share_j"] is None and machine["cpu_s"] is None
    assert "CPU time not known" in venturi("energy", path, check=0).stdout


# ---- CO2e and water -------------------------------------------------------------------------------


def test_grams(energy, tmp_path):
    path = simple(tmp_path)
    found = energy(path, "--intensity", "360", "--pue", "1.5", "--wue", "2")
    assert found["kwh"] == pytest.approx(50 / 3.6e6, rel=1e-12)
    assert found["co2e_g"] == pytest.approx(50 / 3.6e6 * 1.5 * 360, rel=1e-12) == pytest.approx(0.0075)
    assert found["water_l"] == pytest.approx(50 / 3.6e6 * 1.5 * 2, rel=1e-12)
    assert (found["intensity_source"], found["pue"]) == ("as stated", 1.5)
    found = energy(path, "--country", "FRA")
    assert found["co2e_g"] == pytest.approx(50 / 3.6e6 * found["intensity_g_kwh"], rel=1e-12)
    assert found["intensity_source"].startswith("France 20") and "CC BY" in found["intensity_source"]
    assert energy(path, "--intensity", "0")["co2e_g"] == 0


def test_an_unknown_place_is_said(venturi, tmp_path):
    text = venturi("energy", simple(tmp_path), check=0).stdout
    assert "CO2e not known" in text and "--country or --intensity" in text
    assert "of CO2e" not in text


def test_what_was_stated_when_it_was_recorded(energy, tmp_path):
    recording = Metered()
    recording.meta(**{"energy.country": "FRA", "energy.pue": "1.25", "energy.wue": "0.5"})
    recording.main()
    path = saved(recording, tmp_path)
    found = energy(path)
    assert found["intensity_source"].startswith("France") and found["pue"] == 1.25
    assert found["co2e_g"] == pytest.approx(50 / 3.6e6 * 1.25 * found["intensity_g_kwh"], rel=1e-12)
    found = energy(path, "--intensity", "100", "--pue", "2")  # what is said now counts
    assert found["co2e_g"] == pytest.approx(50 / 3.6e6 * 2 * 100, rel=1e-12) and found["water_l"] > 0


def test_a_report_may_be_told_where(venturi, energy, make_recording, tmp_path):
    """In the terminal, as JSON and as a page what `energy` says; what nothing can be said of is refused, and no page is left."""
    path = simple(tmp_path)
    stated = ["--country", "FRA", "--pue", "1.5", "--wue", "2"]
    told = energy(path, *stated)
    found = json.loads(venturi("report", "--json", *stated, path, check=0).stdout)["energy"]
    assert {key: found[key] for key in ("co2e_g", "water_l", "pue", "intensity_source")} == {
        key: told[key] for key in ("co2e_g", "water_l", "pue", "intensity_source")}
    text = venturi("report", *stated, path, check=0).stdout
    assert "PUE 1.5" in text and "g of CO2e a kWh: France" in text and "CO2e not known" not in text
    page = tmp_path / "page.html"
    venturi("report", *stated, path, "-o", page, check=0)
    directory = page.read_text().split('id="venturi-directory">')[1].split("</script>")[0]
    assert json.loads(directory)["recordings"][0]["energy"]["co2e_g"] == told["co2e_g"]
    for options in ([], ["-o", tmp_path / "none.html"]):
        done = venturi("report", "--country", "FRA", make_recording(), *options, check=2)
        assert done.stdout == "" and "holds no energy" in done.stderr and len(done.stderr.splitlines()) == 1
    assert not (tmp_path / "none.html").exists()
    assert "--pue 0.5" in venturi("report", "--pue", "0.5", path, check=2).stderr


def test_what_was_stated_and_makes_no_sense(energy, tmp_path):
    recording = Metered()
    recording.meta(**{"energy.country": "\x1b[31m", "energy.pue": "nan"})
    recording.main()
    found = energy(saved(recording, tmp_path))
    assert found["co2e_g"] is None and found["pue"] == 1


@pytest.mark.parametrize("options, word", [
    (["--by", "colour"], "--by colour"), (["--country", "Atlantis"], "Atlantis"), (["--intensity", "-1"], "--intensity"),
    (["--pue", "0.5"], "--pue"), (["--wue", "x"], "--wue"), (["--country", "FRA", "--intensity", "1"], "one of them"),
    (["-n", "-1"], "-1"), (["--json=x"], "--json"), ([], "which FILE"),
])
def test_wrong_options(venturi, tmp_path, options, word):
    files = [simple(tmp_path)] if options else []
    done = venturi("energy", *options, *files, check=2)
    assert done.stdout == "" and word in done.stderr and len(done.stderr.splitlines()) == 1


# ---- what it went to ----------------------------------------------------------------------------


def whole(found):
    return sum(row["self"]["share_j"] for row in found["rows"]) + found["elsewhere"]["share_j"]


def test_functions(energy, tmp_path):
    """outer calls hot and itself; asleep is open and never seen to run."""
    recording = Metered()
    recording.main()
    for site, name in ((10, "outer"), (11, "hot"), (12, "asleep")):
        recording.function(site, name, site)
    recording.calls((1, 0, 10), (2, 1, 11), (3, 1, 12), (4, 1, 10), (5, 4, 11))
    # 100 looks in hot, 50 of them below outer in outer; 40 in outer itself; 10 in nothing, 50 not seen
    recording.looks(lambda i: (2 if i < 50 else 5, 0) if i < 100 else (1, 0) if i < 140 else (0, 0) if i < 150 else None)
    found = energy(saved(recording, tmp_path))
    assert found["by"] == "function"
    assert rows(found) == {"hot": (pytest.approx(25), pytest.approx(25)), "outer": (pytest.approx(10), pytest.approx(35))}
    assert found["elsewhere"]["share_j"] == pytest.approx(15) and whole(found) == pytest.approx(50)
    assert [row["seen"] for row in found["rows"]] == [100, 40]
    assert (found["rows"][0]["file"], found["rows"][0]["line"]) == ("work.py", 11)


def test_lines(energy, tmp_path):
    recording = Metered()
    recording.main()
    recording.function(10, "work", 3)
    lines = [(1, 4, 4), (2, 5, 5), (3, 6, 5)]  # node, line, statement
    recording.block(LINES, b"".join(join(node, 10, line, statement, 1, 1, 1, 10 ** 9, 1, 0, 0, 1, 1, 0)
                                    for node, line, statement in lines), 3, last=2 * 10 ** 9)
    recording.looks(lambda i: (0, 1 + i % 3) if i < 180 else (0, 0))
    found = energy(saved(recording, tmp_path), "--by", "line")
    assert [(row["name"], row["line"]) for row in found["rows"]] == [("work", 5), ("work", 4)]
    assert [row["self"]["share_j"] for row in found["rows"]] == [pytest.approx(30), pytest.approx(15)]
    assert found["elsewhere"]["share_j"] == pytest.approx(5) and whole(found) == pytest.approx(50)


def test_spans(energy, tmp_path):
    """a from 0 to 1 s, in it b from 0.2 to 0.7, in it a again from 0.3 to 0.4; c is open while nobody runs."""
    recording = Metered()
    for site, name in ((1, "a"), (2, "b"), (3, "c")):
        recording.site(site, name)
    events = recording.events(0, 0)
    for tick, site in ((0, 1), (2, 2), (3, 1), (4, None), (7, None), (10, None), (12, 3), (14, None)):
        at = tick * TICK + 1  # looks are at whole hundredths
        events.begin(at, site) if site else events.end(at)
    events.write()
    events = recording.events(0, 15 * TICK)  # one that crosses threads says nothing of this one
    events.async_begin(15 * TICK, 3, 1)
    events.async_end(19 * TICK, 1)
    events.write()
    recording.looks(lambda i: None if 119 <= i < 141 else (0, 0))
    found = energy(saved(recording, tmp_path), "--by", "span")
    assert rows(found) == {"a": (pytest.approx(15), pytest.approx(25)), "b": (pytest.approx(10), pytest.approx(12.5))}
    assert whole(found) == pytest.approx(50)


def test_tasks(energy, tmp_path):
    recording = Metered()
    recording.main()
    recording.site(5, "load")
    recording.site(6, "sum")
    body = entry(1, 1, bytearray(signed(0)), 0, 2, 1, "threads") + entry(2, 1, 0, 100, 100, "w")
    time = last = 0
    for number, site, begin, end in ((1, 5, 0, 5), (2, 6, 5, 15)):
        body += entry(3, 1 | 1 << 8 | 1 << 13, 1, bytearray(signed(number - last)), site, 1,
                      bytearray(signed(begin * TICK + 1 - time)), (end - begin) * TICK, 0, "")
        time, last = end * TICK + 1, number
    recording.block(TASKS, body, 4, 0)
    recording.looks(lambda i: (0, 0))
    found = energy(saved(recording, tmp_path), "--by", "task")
    assert rows(found) == {"sum": (pytest.approx(25), pytest.approx(25)), "load": (pytest.approx(12.5), pytest.approx(12.5))}
    assert found["elsewhere"]["share_j"] == pytest.approx(12.5)


def test_processes(venturi, energy, tmp_path):
    """Of its CPU one process has 60 %, another 30 %; 10 % are of some that nobody saw."""
    recording = Metered()
    recording.main()
    recording.process_cpu(1, 100, "program", 6 * TICK // 10)
    recording.process_cpu(2, 101, "child", 3 * TICK // 10, parent=1)
    recording.process_cpu(3, 102, "idle", 0, parent=1)
    path = saved(recording, tmp_path)
    found = energy(path, "--by", "process")
    assert rows(found) == {"program": (pytest.approx(30), pytest.approx(30)), "child": (pytest.approx(15), pytest.approx(15)),
                           "idle": (0, 0)}
    assert found["elsewhere"]["share_j"] == pytest.approx(5, abs=0.01) and whole(found) == pytest.approx(50, abs=0.01)
    text = venturi("energy", "--by", "process", path, check=0).stdout
    assert "60%" in text and "child (101)" in text and "(not seen by process)" in text


def test_power_that_changes(energy, tmp_path):
    """Each second of CPU time has the price of its own time: 20 W in the first second, 80 W in the other."""
    recording = Metered(joules=[(2, )] * 10 + [(8, )] * 10)
    for site, name in ((1, "early"), (2, "late")):
        recording.site(site, name)
    events = recording.events(0, 1)
    events.begin(1, 1)
    events.end(10 * TICK + 1)
    events.begin(10 * TICK + 1, 2)
    events.end(20 * TICK + 1)
    events.write()
    recording.looks(lambda i: (0, 0))
    assert rows(energy(saved(recording, tmp_path)))["early"][0] == pytest.approx(10)
    assert rows(energy(tmp_path / "out.vt"))["late"][0] == pytest.approx(40)


def test_a_little_is_not_nothing(venturi, tmp_path):
    recording = Metered(joules=[(2, )] * 10 + [(8, )] * 10)
    recording.main()
    for site, name in ((10, "often"), (11, "once")):
        recording.function(site, name, site)
    recording.calls((1, 0, 10), (2, 0, 11))
    recording.looks(lambda i: (2 if i == 0 else 1, 0))
    lines = venturi("energy", saved(recording, tmp_path), check=0).stdout.splitlines()
    assert " <1% " in next(line for line in lines if "once" in line)


def test_limit_and_default(venturi, energy, tmp_path):
    recording = Metered()
    recording.main()
    nodes = [(i + 1, 0, 10 + i) for i in range(30)]
    for node, _, site in nodes:
        recording.function(site, "f%d" % node, node)
    recording.calls(*nodes)
    recording.looks(lambda i: (1 + i % 30, 0))
    path = saved(recording, tmp_path)
    assert len(energy(path)["rows"]) == 30 and len(energy(path, "-n", "3")["rows"]) == 3
    text = venturi("energy", path, check=0).stdout
    assert "... and 10 more, -n 0 shows all\n" in text
    assert "more" not in venturi("energy", "-n", "0", path, check=0).stdout
    summary = venturi("report", path, check=0).stdout
    assert "... and 27 more\n" in summary and summary.count("What sleeps gets nothing") == 1


def test_items(venturi, energy, tmp_path):
    recording = Metered()
    recording.site(1, "main")
    recording.site(7, "venturi.items", kind=2)
    recording.site(8, "venturi.items.effective", kind=2)
    events = recording.events(0, 0)
    events.begin(0, 1)
    for i in range(4):
        events.counter(i * 10, 7, 500)
        events.counter(i * 10, 8, 125)
    events.end(SECONDS * 10 ** 9)
    events.write()
    path = saved(recording, tmp_path)
    items = energy(path, "--intensity", "72")["items"]
    assert (items["raw"], items["effective"], items["cores"]) == (2000, 500, 4)
    assert (items["raw_per_s"], items["effective_per_s"]) == (pytest.approx(1000), pytest.approx(250))
    assert (items["raw_per_core_s"], items["raw_per_cpu_s"]) == (pytest.approx(250), pytest.approx(1000))
    assert items["j_per_1000"] == pytest.approx(25)
    assert items["co2e_g_per_1000"] == pytest.approx(25 / 3.6e6 * 72, rel=1e-9)
    assert "25.0 J per 1,000" in venturi("energy", path, check=0).stdout
    report = venturi("report", path, check=0).stdout
    assert "25.0 J per 1,000" in report and "\nEnergy" in report
    assert json.loads(venturi("report", "--json", path, check=0).stdout)["energy"]["items"]["raw"] == 2000


@pytest.mark.parametrize("raw, done, shown, said", [(-5, None, False, False), (10, 20, True, True), (10, 10, True, False)])
def test_items_that_cannot_be(venturi, energy, tmp_path, raw, done, shown, said):
    recording = Metered()
    recording.site(1, "main")
    recording.site(7, "venturi.items", kind=2)
    recording.site(8, "venturi.items.effective", kind=2)
    events = recording.events(0, 0)
    events.begin(0, 1)
    events.counter(0, 7, raw)
    if done is not None:
        events.counter(0, 8, done)
    events.end(SECONDS * 10 ** 9)
    events.write()
    path = saved(recording, tmp_path)
    assert bool(energy(path)["items"]) == shown
    text = " ".join(venturi("energy", path, check=0).stdout.split())
    assert ("items:" in text) == shown
    assert ("more done than begun" in text) == said


def findings(venturi, path, kind):
    found = json.loads(venturi("report", "--json", path, check=0).stdout)["findings"]
    return [each["text"] for each in found if each["kind"] == kind]


def test_findings(venturi, tmp_path):
    path = simple(tmp_path)
    assert findings(venturi, path, "energy") == ["main used 50 J by itself, 100 % of what the recorded threads used."]
    assert findings(venturi, path, "energy-trust") == []
    path = simple(tmp_path, sources=[source(0, CPU, "processors", ESTIMATED, watts=60, idle=6, origin="tdp")])
    assert len(findings(venturi, path, "energy-trust")) == 1 and "estimated" in findings(venturi, path, "energy-trust")[0]


# ---- how it looks, and what is not there ----------------------------------------------------------


def test_widths(venturi, tmp_path):
    path = simple(tmp_path, "the counters may not be read by everybody: sudo chmod a+r /sys/class/powercap/*/energy_uj " * 3)
    for columns in (40, 64, 80, 200):
        text, code, _ = venturi.on_terminal("energy", path, "--country", "FRA", columns=columns)
        assert code == 0
        for line in text.decode().splitlines():
            assert len(line) <= columns, line
    text = venturi("energy", path, check=0).stdout
    assert "CPU time" in text and "What sleeps gets nothing" in text
    assert all(len(line) <= 80 for line in text.splitlines())


def test_text_of_recordings_is_harmless(venturi, tmp_path):
    path = simple(tmp_path, "\x1b[31mred\nline", sources=[source(0, CPU, "\x1b]0;title\x07", origin="\x1b[2J")])
    text = venturi("energy", path, check=0).stdout
    assert "\x1b" not in text and "\x07" not in text and "red" in text


def test_no_energy(venturi, make_recording, tmp_path):
    path = make_recording()
    done = venturi("energy", path, check=2)
    assert done.stdout == "" and "holds no energy (record with `venturi run --energy`)" in done.stderr
    assert len(done.stderr.splitlines()) == 1
    recording = NewRecording()
    recording.block(ENERGY, entry(5, 0, 0, 0, 4, GIB) + entry(4, 0, 1, "no counter, and\nno busy time"), 2)
    done = venturi("energy", recording.save(tmp_path / "none.vt"), check=2)
    assert done.stdout == "" and "no counter, and" in done.stderr and len(done.stderr.splitlines()) == 1


def test_every_key_is_documented(venturi, energy, tmp_path):
    with open(venturi.top + "/docs/commands/energy.md") as page:
        text = page.read()

    def check(item):
        for key, inner in item.items() if isinstance(item, dict) else enumerate(item) if isinstance(item, list) else ():
            assert isinstance(key, int) or "`%s`" % key in text, key
            check(inner)
    recording = Metered()
    recording.main()
    recording.site(7, "venturi.items", kind=2)
    events = recording.events(0, SECONDS * 10 ** 9)
    events.counter(SECONDS * 10 ** 9, 7, 5)
    events.write()
    recording.looks(lambda i: (0, 0))
    check(energy(saved(recording, tmp_path)))


# ---- hostile ------------------------------------------------------------------------------------


def test_hostile_numbers(venturi, tmp_path):
    """Times and counts at their ends, sources in themselves, trees that there are none of: said, never a crash."""
    most = 2 ** 64 - 1
    recording = Metered(sources=[source(0, CPU, "a", inside=0), source(1, 9, "b", how=77, inside=0), source(2, CPU, "c", inside=63),
                                 source(63, PLATFORM, "d", inside=2)], joules=[(5, 1, 1)])
    recording.main()
    recording.energy_block(entry(2, 0, most, most, *[most] * 64, most), entry(2, 7, 0, 1, most, 0),
                           entry(2, 0, 5, 1 << 63, most, 0), entry(3, 0, most, 4, most), entry(5, 0, 9, 9, 2 ** 32 - 1, most))
    recording.block(THREAD_CPU, join(most, most, most, 3, 2 ** 32 - 1, 2 ** 32 - 1, 1, 0, 0, 1, 1, 1), 2, owner=0)
    recording.block(THREAD_CPU, join(5, 5, 5, 1, 1, 1), 1, owner=77)
    recording.calls((1, 2, 1), (2, 1, 1))  # in a circle
    path = recording.save(tmp_path / "hostile.vt")
    for by in ("function", "line", "span", "task", "process"):
        done = venturi("energy", "--json", "--by", by, path)
        assert done.returncode in (0, 2) and len(done.stderr.splitlines()) <= 2, done.stderr
        assert "nan" not in done.stdout and "inf" not in done.stdout
        assert venturi("energy", "--by", by, path).returncode in (0, 2)
    assert venturi("report", path).returncode in (0, 2)


@pytest.mark.parametrize("seed", range(3))
def test_any_bytes_in_the_blocks(venturi, tmp_path, seed):
    """Blocks with right checksums and wrong contents."""
    dice = random.Random(seed)
    good = [entry(5, 0, 0, 0, 4, GIB), source(0, CPU, "package-0"), entry(2, 0, TICK, 1, 5 * JOULE, 0), entry(3, 0, 5, 1, 9)]
    for round_number in range(25):
        recording = NewRecording()
        recording.site(1, "main")
        events = recording.events(0, 0)
        events.begin(0, 1)
        events.end(10 ** 9)
        events.write()
        for kind in (ENERGY, THREAD_CPU, RESOURCES, ENERGY):
            body = bytearray(b"".join(dice.choice(good) for _ in range(dice.randrange(12))))
            for _ in range(dice.randrange(6)):
                if body:
                    body[dice.randrange(len(body))] = dice.choice((0, 1, 127, 128, 255, dice.randrange(256)))
            recording.block(kind, bytes(body), dice.randrange(20))
        path = recording.save(tmp_path / ("%d.vt" % round_number))
        for by in ("function", "process"):
            done = venturi("energy", "--by", by, path)
            assert done.returncode in (0, 2), (done.returncode, done.stderr)


def test_cut_anywhere(venturi, tmp_path):
    data = simple(tmp_path).read_bytes()
    path = tmp_path / "cut.vt"
    for size in range(0, len(data), max(1, len(data) // 40)):
        path.write_bytes(data[:size])
        assert venturi("energy", path).returncode in (0, 2)


