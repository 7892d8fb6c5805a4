"""What `venturi energy` says of its figures: what they are of, how they are known, and what is in none of them."""
from test_energy import (  # noqa: F401  (energy is a fixture)
    CPU, JOULE, LINES, LOOK, MEMORY, MODELLED, SECONDS, TICK, Metered, energy, rows, saved, simple, source, whole,
)
from vtwrite import join

import pytest

NS = 10 ** 9


def test_each_joule_is_in_a_row(venturi, energy, tmp_path):
    """Also those of less than a millisecond that nobody saw by process."""
    recording = Metered()
    recording.main()
    recording.process_cpu(1, 100, "program", TICK - 20_000)
    path = saved(recording, tmp_path)
    found = energy(path, "--by", "process")
    assert found["elsewhere"]["cpu_s"] == pytest.approx(0.0004) and whole(found) == pytest.approx(50)
    assert found["rows"][0]["pid"] == 100
    text = venturi("energy", "--by", "process", path, check=0).stdout
    assert "(not seen by process)\n" in text and "after the last look" in text


@pytest.mark.parametrize("by, text", [
    ("function", "this recording has no functions"), ("line", "this recording has no lines (record with `run -l`)"),
    ("task", "this recording has no tasks"), ("span", "this recording has no spans")])
def test_what_there_is_none_of(venturi, tmp_path, by, text):
    recording = Metered()
    recording.looks(lambda i: (0, 0))
    done = venturi("energy", "--by", by, saved(recording, tmp_path), check=0)
    assert "\nno joules by %s: %s\n" % (by, text) in done.stdout


def test_spans_that_were_not_seen(venturi, tmp_path):
    recording = Metered()
    recording.main()
    recording.looks(lambda i: None)
    done = venturi("energy", "--by", "span", saved(recording, tmp_path), check=0)
    assert "no joules by span: none was seen while a thread ran" in done.stdout


def test_what_the_rows_are_of(venturi, tmp_path):
    recording = Metered()
    recording.main()
    recording.looks(lambda i: (0, 0), cpu=LOOK // 2)
    text = " ".join(venturi("energy", saved(recording, tmp_path), check=0).stdout.split())
    assert "Of threads that record: 25.0 J of the 50.0 J that the program used of the processors." in text
    assert "estimated" not in text


def test_one_wall_time_for_all(venturi, energy, tmp_path):
    """Events begin late and end early: items a second are by the time that CPU time and joules are of."""
    recording = Metered()
    recording.site(7, "venturi.items", kind=2)
    events = recording.events(0, SECONDS * NS // 2)
    events.counter(SECONDS * NS // 2, 7, 500)
    events.write()
    recording.looks(lambda i: (0, 0))
    path = saved(recording, tmp_path)
    found = energy(path)
    assert found["items"]["wall_s"] == pytest.approx(found["machines"][0]["wall_s"]) == pytest.approx(SECONDS)
    assert found["items"]["raw_per_s"] == pytest.approx(250) and found["items"]["raw_per_cpu_s"] == pytest.approx(250)
    text = venturi("energy", path, check=0).stdout
    assert "100 J in 2.00 s" in text and "items: 500 in 2.00 s, 250/s raw" in text


def test_rest_is_no_better_than_its_sources(venturi, energy, tmp_path):
    recording = Metered(sources=[source(0, CPU, "package-0"), source(1, MEMORY, "modules", how=MODELLED, watts=10, idle=10)],
                        joules=((5, 1), ))
    recording.main()
    recording.looks(lambda i: (0, 0))
    recording.rest(30)
    path = saved(recording, tmp_path)
    machine = energy(path)["machines"][0]
    assert (machine["rest_how"], machine["rest_w"], machine["baseline_s"]) == ("modelled", 30, 10)
    assert "rest 30.0 W modelled (baseline)" in venturi("energy", path, check=0).stdout
    plain = simple(tmp_path)
    assert energy(plain)["machines"][0]["baseline_s"] is None


def test_lines_of_c_by_their_samples(venturi, energy, tmp_path):
    """They are not seen open; 1.5 s of the 2 s that the thread ran have samples, a third of them of the line that is called."""
    recording = Metered()
    recording.site(1, "main")
    for site, name, line in ((5, "outer", 10), (6, "inner", 20)):
        recording.site(site, name, kind=4, function=name, file="work.c", line=line, unit="c")

    def line(node, site, number, total_s, own_s):
        return join(node, site, number, number, 2, 0, 0, round(total_s * NS), round(total_s * 1000), 0, 0, 0, round(own_s * NS), 0)
    recording.block(LINES, line(1, 5, 11, 1.5, 1.0) + line(2, 6, 21, 0.5, 0.5) + line(3, 5, 12, 0.25, 0), 3, last=SECONDS * NS)
    recording.looks(lambda i: (0, 0))
    path = saved(recording, tmp_path)
    found = energy(path, "--by", "line")
    assert {(row["name"], row["line"]): (row["self"]["share_j"], row["total"]["share_j"]) for row in found["rows"]} == {
        ("outer", 11): (pytest.approx(25), pytest.approx(37.5)), ("inner", 21): (pytest.approx(12.5), pytest.approx(12.5)),
        ("outer", 12): (0, pytest.approx(6.25))}
    assert found["sampled_lines"] is True and found["cpu_j"] == pytest.approx(found["threads_j"]) and found["elsewhere"]["share_j"] == pytest.approx(12.5) and whole(found) == pytest.approx(50)
    assert "Lines of C are estimated" in " ".join(venturi("energy", "--by", "line", path, check=0).stdout.split())


def test_places_that_are_not_known_fit(venturi, tmp_path):
    path = simple(tmp_path)
    for given, shown in (("QQQ", "QQQ"), ("", "''")):
        done = venturi("energy", "--country", given, path, check=2)
        assert done.stderr.startswith("venturi energy: --country %s: not known" % shown) and len(done.stderr) <= 81


def threads_of(tmp_path, cpu):
    """A thread that records and was seen with so much CPU time in each look, half of them in a function and a span."""
    recording = Metered()
    recording.main()
    recording.function(2, "work", 3)
    recording.calls((1, 0, 2))
    recording.looks(lambda i: (1, 0) if i % 2 else None, cpu=cpu)
    return saved(recording, tmp_path)


@pytest.mark.parametrize("by", ["function", "span"])
def test_what_no_look_saw_is_in_the_last_row(venturi, energy, tmp_path, by):
    """Threads that end between two looks, and processes that do not record, are the program's too."""
    path = threads_of(tmp_path, LOOK // 5)
    found = energy(path, "--by", by)
    assert found["rows"][0]["self"]["cpu_s"] == pytest.approx(0.2) and not found["scaled"]
    assert found["elsewhere"]["cpu_s"] == pytest.approx(1.8) and found["elsewhere"]["share_j"] == pytest.approx(45)
    assert whole(found) == pytest.approx(50) == pytest.approx(found["cpu_j"])
    assert "(none open, or not seen)\n" in venturi("energy", "--by", by, path, check=0).stdout


@pytest.mark.parametrize("by", ["function", "span"])
def test_rows_never_have_more_than_the_program(venturi, energy, tmp_path, by):
    path = threads_of(tmp_path, LOOK * 4)
    found = energy(path, "--by", by)
    assert found["rows"][0]["self"]["cpu_s"] == found["rows"][0]["total"]["cpu_s"] == pytest.approx(2) and found["scaled"]
    assert whole(found) == pytest.approx(50) and found["elsewhere"]["cpu_s"] == 0
    text = " ".join(venturi("energy", "--by", by, path, check=0).stdout.split())
    assert "record: 50.0 J of the 50.0 J" in text and "were scaled down to it" in text
