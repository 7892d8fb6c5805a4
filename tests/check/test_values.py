"""Benches with counts of others, and with values that nothing can be made of: a verdict, or none, but never a wrong one."""
import json

import pytest
from test_check import edited, rows, times


def test_allocations_are_counts(venturi, tmp_path, bench_file):
    """Of google-benchmark, and of whoever counts them and writes a bench: one more decides, whatever times say."""
    for name, count in (("a", 12), ("b", 13)):
        (tmp_path / name).write_text(json.dumps({"context": {}, "benchmarks": [
            {"name": "f", "run_type": "iteration", "real_time": 100, "cpu_time": 100, "time_unit": "ns", "allocs_per_iter": count, "max_bytes_used": 5}
            for _ in range(6)]}))
    done = venturi("check", tmp_path / "a", tmp_path / "b", check=1)
    assert "allocations" in done.stdout and "REGRESSION" in done.stdout
    venturi("check", tmp_path / "a", tmp_path / "a", check=0)
    base, now = (bench_file(name, times(0.1), counts={"allocations": count}) for name, count in (("c.json", 7), ("d.json", 8)))
    assert "allocations" in venturi("check", base, now, check=1).stdout
    (tmp_path / "e").write_text((tmp_path / "a").read_text().replace('"allocs_per_iter": 12', '"allocs_per_iter": -1'))
    assert "allocations" in venturi("check", tmp_path / "e", tmp_path / "a", check=2).stderr


@pytest.mark.parametrize("values", [[1e308] * 6, [1e19]])
def test_values_that_cannot_be(venturi, bench_file, values):
    base = bench_file("a.json", times(0.1))
    now = edited(bench_file("b.json", times(0.1)), lambda content: content["benches"][0]["quantities"][0].update(values=values))
    for pair in ((base, now), (now, base)):
        done = venturi("check", *pair, check=2)
        assert done.stdout == "" and "too large" in done.stderr and len(done.stderr.splitlines()) == 1


def test_a_quantity_that_stands_there_twice(venturi, bench_file):
    """Its values would count as twice as many runs."""
    base = bench_file("a.json", times(0.1))
    now = edited(bench_file("b.json", times(0.1)), lambda content: content["benches"][0]["quantities"].append(
        content["benches"][0]["quantities"][0]))
    assert "cpu stand there twice" in venturi("check", base, now, check=2).stderr


def test_no_time_at_all_was_not_measured(venturi, bench_file):
    """Neither a hundred percent better nor a million times worse."""
    base = bench_file("a.json", times(0.1))
    now = edited(bench_file("b.json", times(0.1)), lambda content: [one.update(values=[0] * 6) for one in content["benches"][0]["quantities"]])
    for pair in ((base, now), (now, base), (now, now)):
        done = venturi("check", *pair, check=3)
        assert "INCONCLUSIVE" in done.stdout and "0 in every run" in done.stdout
    waits = edited(bench_file("c.json", times(0.1)), lambda content: content["benches"][0]["quantities"][0].update(values=[0] * 6))
    assert "wall" in rows(venturi("check", "--json", waits, waits, check=0))  # which decides where there is no CPU time
