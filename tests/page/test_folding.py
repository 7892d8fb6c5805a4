"""Too many spans for a page: the short ones are folded, and the page says so; sums stay those of all."""
import random


def nested(recording, path, count, seed=1):
    """Spans of very different lengths on two threads, up to five deep; their (track, depth, begin, end)."""
    generator = random.Random(seed)
    writer = recording()
    writer.track(1, name="worker", thread=101)
    for site in range(1, 8):
        writer.site(site, "name %d" % site)
    spans = []
    for track in (0, 1):
        tick, left, stack = 1000, count // 2, []
        events = writer.events(track, first=tick)
        while left or stack:
            tick += int(10 ** generator.uniform(0, 4))
            if left and len(stack) < 5 and generator.random() < 0.5:
                events.begin(tick, generator.randrange(1, 8))
                stack.append(tick)
                left -= 1
            elif stack:
                events.end(tick)
                spans.append((track, len(stack) - 1, stack.pop(), tick))
        events.write()
    writer.save(path)
    return spans


def test_counts_add_up(venturi, page, recording, tmp_path):
    path = tmp_path / "many.vt"
    spans = nested(recording, path, 6000)
    for limit in (50, 500, 3000):
        made = page(path, "--events", str(limit))
        rows = made.table("spans").dicts()
        assert len(rows) <= limit
        assert sum(row["count"] for row in rows) == len(spans)
        # What stands for itself is a span as it was; every long one does.
        single = {(row["track"], row["depth"], row["start"], row["start"] + row["duration"]) for row in rows
                  if row["count"] == 1}
        assert single <= set(spans)
        shortest = max(end - begin for _, _, begin, end in set(spans) - single)
        assert all(span in single for span in spans if span[3] - span[2] > 2 * shortest)
        assert str(sum(row["count"] for row in rows if row["count"] > 1)) + " of 6000 spans" in " ".join(made.notes)


def test_order_and_nesting(page, recording, tmp_path):
    path = tmp_path / "many.vt"
    nested(recording, path, 6000)
    for options in ([], ["--events", "400"]):
        rows = page(path, *options).table("spans").dicts()
        keys = [(row["track"], row["start"], row["depth"]) for row in rows]
        assert keys == sorted(keys)
        ends = {}
        for row in rows:  # in one row of the picture nothing overlaps
            place = row["track"], row["depth"]
            assert ends.get(place, 0) <= row["start"]
            ends[place] = row["start"] + row["duration"]


def test_sums_do_not_change(venturi, page, recording, tmp_path):
    path = tmp_path / "many.vt"
    nested(recording, path, 4000)
    whole, folded = page(path), page(path, "--events", "100")
    assert not whole.notes and folded.notes
    for name in ("span_stats", "paths", "sites"):
        assert whole.table(name).columns == folded.table(name).columns
    report = venturi.json("report", "--json", "-n", "0", path)
    assert sorted(folded.table("span_stats")["total"]) == sorted(row["total_ns"] for row in report["spans"])
    assert page(path, "--events", "all").table("spans").columns == whole.table("spans").columns


def test_values_of_counters(page, recording, tmp_path):
    writer = recording()
    writer.site(1, "load", 1)
    events = writer.events(0, first=0)
    values = [(i * 7) % 1000 for i in range(5000)]
    values[2500] = 10 ** 6
    for i, value in enumerate(values):
        events.counter(i * 100, 1, value)
    events.write()
    made = page(writer.save(tmp_path / "a.vt"), "--events", "200")
    found = made.table("counters")
    assert 20 <= found.rows <= 202
    assert max(found["value"]) == 10 ** 6 and min(found["value"]) == 0
    assert found["time"] == sorted(found["time"])
    assert "Of 5000 values" in " ".join(made.notes)


def test_async_spans_that_do_not_fit(page, recording, tmp_path):
    writer = recording()
    writer.site(1, "request")
    events = writer.events(0, first=0)
    for i in range(1000):
        events.async_begin(i * 100, 1, i + 1)
        events.async_end(i * 100 + (50 if i % 10 else 90), i + 1)
    events.write()
    made = page(writer.save(tmp_path / "a.vt"), "--events", "200")
    rows = made.table("async").dicts()
    assert 0 < len(rows) <= 200 and all(row["duration"] == 90 for row in rows)
    assert "900 of 1000 async spans" in " ".join(made.notes)
    assert made.table("span_stats")["count"] == [1000]
