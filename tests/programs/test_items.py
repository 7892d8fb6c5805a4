"""Items are counted exactly, wherever they are counted."""


def sums(recording):
    """name -> (sum, unit) of the reserved counters; the sum is made here, of integers."""
    found = {}
    for row in recording.query("SELECT name, unit, value FROM counters"):
        assert isinstance(row["value"], int)
        total, _ = found.get(row["name"], (0, ""))
        found[row["name"]] = (total + row["value"], row["unit"])
    return found


def test_items_of_threads_and_children_add_up(record):
    run = record("items", options=["--buffer", "64M"])
    assert run.code == 0, run.done.stderr
    recording = run.recording
    assert recording.lost == 0
    assert sums(recording) == {"venturi.items": (run.facts["items"], "items"),
                               "venturi.items.effective": (run.facts["done"], "items")}
    assert recording.query("SELECT count(*) AS n FROM counters")[0]["n"] == run.facts["events"]
