"""Threads that come and go, and more of them than there is room for."""
import pytest

from conftest import SANITIZE, under_tsan


def test_threads_by_the_thousand(record):
    run = record("threads", 3000, 8, 10)
    assert run.code == 0, run.done.stderr
    recording = run.recording
    assert recording.lost == 0
    assert recording.spans() == {"thread work": run.facts["spans"]}
    assert recording.info["thread_count"] == 3000


def test_more_threads_than_slots_are_counted(record):
    """4,096 threads can record at once; what more of them do is counted."""
    run = record("crowd", 4200)
    assert run.code == 0, run.done.stderr
    recording = run.recording
    assert recording.events + recording.lost == 2 * run.facts["spans"]


def test_crowd_below_the_limit_loses_nothing(record):
    run = record("crowd", 500)
    recording = run.recording
    assert recording.lost == 0
    assert recording.spans() == {"before": 500, "after": 500}


def test_threads_without_a_slot_at_an_early_end(record):
    """_exit while 4,200 threads live: what those without a slot did is stated, to the event."""
    run = record("crowd", 4200, "_exit")
    assert run.code == 0, run.done.stderr
    recording = run.recording
    assert recording.events + recording.lost == 2 * run.facts["spans"]
    rows = recording.query("SELECT reason, events FROM losses")
    # a slot may be free again for no thread: none has ended
    assert [(row["reason"], row["events"]) for row in rows] == [("too many threads", 2 * 2 * (4200 - 4096))]


@pytest.mark.parametrize("options", [[], ["--block", "10s"]])
def test_more_threads_than_buffers(record, options):
    """2,000 threads with 800 records each, four buffers: with --block each still gets its turn."""
    threads = under_tsan(500, 2000)
    run = record("threads", threads, threads, 200, options=["--buffer", "256k", *options])
    assert run.code == 0, run.done.stderr
    recording = run.recording
    assert recording.events + recording.lost == 3 * run.facts["spans"]
    if options and SANITIZE != "thread":  # which makes a wait of seconds of a moment
        assert recording.lost == 0


def test_spans_without_an_end_beyond_the_slots(record):
    """A begin is one lost event, its end another one if it comes."""
    run = record("crowd", 4200, "open")
    assert run.code == 0, run.done.stderr
    recording = run.recording
    assert recording.lost > 0
    assert recording.events + recording.lost == 2 * run.facts["spans"] + run.facts["others"]


@pytest.mark.parametrize("step", under_tsan([0, 3], range(6)))
def test_slot_gained_between_begin_and_end(record, step):
    """The main thread is beyond the slots until its step: from there on it is recorded, what came before is counted."""
    run = record("crowd", 4096, "turn", step)
    assert run.code == 0, run.done.stderr
    recording = run.recording
    assert recording.events + recording.lost == 2 * (run.facts["spans"] + run.facts["more"])
    first_lap = 2
    before = step + (step > first_lap) + (step > first_lap + 1)
    ends_of_those = {0: 0, 1: 1, 2: 2, 3: 2, 4: 2, 5: 1}[step]
    assert recording.lost == before + ends_of_those


@pytest.mark.skipif(SANITIZE == "thread", reason="places go from thread to thread through the drainer, which it does not see")
def test_calls_without_a_slot_are_counted(record):
    run = record("crowd", 4200, "calls")
    assert run.code == 0, run.done.stderr
    recording = run.recording
    counted = recording.query("SELECT sum(calls) AS n FROM calls")[0]["n"]
    assert counted + recording.lost == run.facts["spans"]
    assert 0 < recording.lost <= 2 * (4201 - 4096)  # the main thread has a slot too


def test_calls_on_the_timeline_without_a_slot_are_counted(record):
    run = record("crowd", 4200, "calls", options=["--timeline"])
    assert run.code == 0, run.done.stderr
    recording = run.recording
    assert recording.events + recording.lost == 2 * run.facts["spans"]
    assert 0 < recording.lost <= 2 * 2 * (4201 - 4096)


@pytest.mark.parametrize("count", [4095, 4096])
def test_threads_come_and_go_where_no_slot_is_left(record, count):
    run = record("crowd", count, "more")
    assert run.code == 0, run.done.stderr
    recording = run.recording
    assert recording.events + recording.lost == 2 * (run.facts["spans"] + run.facts["more"])


@pytest.mark.parametrize("rounds", [1, 2])
def test_destructors_belong_to_their_thread(record, rounds):
    run = record("destructors", 200, rounds)
    assert run.code == 0, run.done.stderr
    recording = run.recording
    assert recording.lost == 0
    assert recording.spans() == {"leaf": run.facts["spans"]}
    assert recording.info["thread_count"] == 201


@pytest.mark.skipif(SANITIZE == "thread", reason="the sanitizer itself is gone by the last round")
def test_last_destructors_keep_no_slot(record):
    """What runs when no more destructors will: more such threads than slots, most are recorded."""
    run = record("destructors", 9000, 4)
    assert run.code == 0, run.done.stderr
    recording = run.recording
    assert recording.events + recording.lost == 2 * run.facts["spans"]
    assert recording.events > 1.5 * run.facts["spans"]
