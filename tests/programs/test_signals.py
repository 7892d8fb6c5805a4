"""Signals inside trace points, and jumps over open spans."""


def test_signals_inside_trace_points(record):
    run = record("signals", 1000000, 50)
    assert run.code == 0, run.done.stderr
    recording = run.recording
    spans = recording.spans()
    total = 2 * (1 + run.facts["interrupted"] + run.facts["handled"])
    assert run.facts["handled"] > 100
    assert recording.events + recording.lost == total
    if recording.lost == 0:
        assert spans == {"first": 1, "interrupted": run.facts["interrupted"], "handler": run.facts["handled"]}
        assert recording.query("SELECT count(*) AS n FROM spans WHERE NOT finished")[0]["n"] == 0


def test_jumps(record):
    run = record("jumps", 500)
    assert run.code == 0, run.done.stderr
    recording = run.recording
    spans = recording.spans()
    assert spans == {"main": 1, "round": 500, "deeper": 500, "by hand": 500, "deepest": 500,
                     "after jump": 500, "raise_inside": 500, "after signal": 500}
    depths = {row["name"]: row["d"] for row in
              recording.query("SELECT name, max(depth) AS d FROM spans GROUP BY name")}
    assert depths == {"main": 0, "round": 1, "deeper": 2, "by hand": 3, "deepest": 4,
                      "after jump": 2, "raise_inside": 2, "after signal": 2}
    assert recording.query("SELECT count(*) AS n FROM spans WHERE NOT finished")[0]["n"] == 0
