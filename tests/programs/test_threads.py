"""Threads that come and go, and more of them than there is room for."""


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
