"""Every call is counted, in the right place, as gcov or plain thinking counts them."""
import gzip
import json
import os
import signal

import pytest
from conftest import BUILD, FLAGS, SANITIZE, TOP, VENTURI, need, run, source

INCLUDE = os.path.join(TOP, "include")

LEVELS = ["-O0", "-O2", "-O3"]


def gcov_counts(tmp_path, name, *arguments):
    """function -> executions, from a build with --coverage; unoptimised, since gcov misses what was inlined."""
    need("gcc", "gcov")
    binary = tmp_path / "covered"
    run(["gcc", "-O0", "--coverage", source(name), "-o", binary, "-pthread"], cwd=tmp_path)
    run([binary, *arguments], cwd=tmp_path)
    notes = next(tmp_path.glob("*.gcda"))
    run(["gcov", "--json-format", notes.name], cwd=tmp_path)
    with gzip.open(next(tmp_path.glob("*.gcov.json.gz"))) as file:
        found = json.load(file)
    return {function["name"]: function["execution_count"]
            for each in found["files"] for function in each["functions"] if function["execution_count"]}


def query(path, sql):
    return json.loads(run([VENTURI, "query", "--json", path, sql]).stdout)


@pytest.mark.parametrize("level", LEVELS)
def test_counts_are_those_of_gcov(compile, record, tmp_path, level):
    profile = record(compile("known.c", level), 123).profile()
    assert profile.lost == 0
    calls, expected = profile.calls(), gcov_counts(tmp_path, "known.c", 123)
    if SANITIZE:  # its qsort looks at more pairs
        assert calls.pop("by_number") >= expected.pop("by_number")
    assert calls == expected


@pytest.mark.parametrize("level", LEVELS)
def test_counts_and_callers_are_known(compile, record, level):
    profile = record(compile("known.c", level), 200).profile()
    calls = profile.calls()
    assert calls["main"] == 1 and calls["sum"] == 1 and "never" not in calls
    assert calls["leaf"] == 400 and profile.callers("leaf") == {"sum": 200, "main": 200}
    assert calls["thrice"] == 200 and profile.callers("twice") == {"thrice": 200}
    assert calls["fib"] == 1973 and profile["fib"]["pcalls"] == 1
    assert calls["is_even"] + calls["is_odd"] == 100
    assert profile["leaf"]["file"] == source("known.c") and profile["leaf"]["line"] == 15


def test_callers_in_libraries_are_skipped(compile, record):
    """qsort is not ours to see: what it calls is called by who called it."""
    profile = record(compile("known.c", "-O2")).profile()
    assert profile.callers("by_number") == {"main": profile.calls()["by_number"]}


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("frames", ["-fno-omit-frame-pointer", "-fomit-frame-pointer"])
def test_jumps_leave_functions(compile, record, level, frames):
    profile = record(compile("jumps.c", level, frames), 100).profile()
    assert profile.lost == 0
    assert profile.callers("thrower") == {"again": 100, "after": 100, "thrower": 300}
    assert profile.callers("wide") == {"after": 100}
    assert profile.callers("within") == {"after": 100}
    assert profile.callers("small") == {"after": 100, "within": 100, "outer": 100, "main": 1}
    assert profile.callers("outer") == {"main": 100, "outer": 700}
    assert profile["outer"]["pcalls"] == 100
    assert profile.callers("again") == profile.callers("after") == {"main": 1}


@pytest.mark.parametrize("level", LEVELS)
def test_exceptions_leave_functions(compile, record, level):
    profile = record(compile("throws.cpp", level), 100).profile()
    calls = profile.calls()
    assert profile.lost == 0
    assert calls["shop::fail(int)"] == 200 and profile["shop::fail(int)"]["pcalls"] == 50
    assert calls["shop::Till::take(int)"] == 100
    assert calls["shop::Guard::Guard(int*)"] == calls["shop::Guard::~Guard()"] == 100
    assert profile.callers("shop::Guard::~Guard()") == {"shop::Till::take": 100}
    assert calls["shop::Till::worth() const"] == 50
    assert calls["int shop::Till::round<int>(int)"] == calls["double shop::Till::round<double>(double)"] == 100
    assert [calls[name] for name in calls if "lambda" in name] == [100]
    assert profile["main"]["ncalls"] == 1
    assert not [name for name in calls if name.startswith("std::")], "functions of system headers"


def test_threads(compile, record):
    run = record(compile("threads.c"), 5000)
    profile = run.profile()
    calls = profile.calls()
    assert profile.lost == 0
    assert calls["leaf"] == 8 * 5000 and calls["work"] == 8 and calls["main"] == 1
    assert calls["leave_early"] == 2 * 4 and calls["wait_for_end"] == 2
    assert profile.callers("leaf") == {"work": 40000}


@pytest.mark.parametrize("how", ["stack", "own", "jump"])
def test_signals(compile, record, how):
    run = record(compile("signals.c", "-O2"), 300000 if not SANITIZE else 30000, how)
    profile = run.profile()
    calls = profile.calls()
    assert profile.lost == 0
    assert calls["in_handler"] == calls["handler"] == run.facts["handled"]
    assert calls["inner"] >= run.facts["worked"]
    if how != "jump":  # which leaves functions between the hook and what it announces
        assert calls["inner"] == run.facts["worked"] == calls["work"]
        assert profile.callers("inner") == {"work": calls["work"]}
    assert profile.callers("in_handler") == {"handler": calls["handler"]}
    # A handler that was left by a jump is known to be gone when the next function is called, not before.
    assert set(profile.callers("handler")) <= {"main", "work", "inner"} | ({"handler"} if how == "jump" else set())
    assert profile.callers("main") == {}


def test_forks(compile, record):
    run = record(compile("forks.c"))
    calls = run.profile().calls()
    assert calls["leaf"] == 100 + 300 + 50
    assert calls["split"] == calls["main"] == calls["replace"] == 1
    assert calls["only_child"] == 1


def test_killed(compile, record):
    run = record(compile("killed.c"), 12345, check=False)
    assert run.code == -signal.SIGKILL
    profile = run.profile()
    assert profile.calls() == {"main": 1, "leaf": 12345, "end": 1}
    assert profile["end"]["cumtime"] > 0 and profile["end"]["file"] == source("killed.c")


@pytest.mark.parametrize("depth", [10, 5000])
def test_deep_recursion(compile, record, depth):
    profile = record(compile("deep.c", "-O1", "-fno-optimize-sibling-calls"), depth).profile()
    calls = profile.calls()
    assert profile.lost == 0
    assert calls == {"main": 1, "work": 1, "down": depth + 1, "down_and_away": depth + 1, "known": 2}
    assert profile.callers("known") == {"work": 2}


@pytest.mark.skipif(bool(FLAGS), reason="a sanitizer takes more stack than there is")
def test_recursion_deeper_than_memory(compile, record):
    """What finds no place is counted as lost; what comes afterwards is right again."""
    depth = 2000000
    profile = record(compile("deep.c", "-O1", "-fno-optimize-sibling-calls"), depth,
                     options=["--buffer", "1M"]).profile()
    calls = profile.calls()
    assert profile.lost > 0
    assert calls["down"] + calls.get("down_and_away", 0) + profile.lost == 2 * (depth + 1)
    assert profile.callers("known") == {"work": 2}


def test_times(compile, record):
    profile = record(compile("busy.c")).profile()
    assert profile.callers("one") == profile.callers("three") == {"both": 20}
    one, three, both = (profile[name] for name in ("one", "three", "both"))
    # Other load makes a busy wait longer than asked, never shorter.
    assert one["tottime"] >= 0.0199 and three["tottime"] >= 0.0599 and both["tottime"] >= 0.0399
    assert both["cumtime"] == pytest.approx(one["cumtime"] + three["cumtime"] + both["tottime"], rel=0.01)
    assert one["min"] >= 0.00099 and three["min"] >= 0.0029
    assert one["min"] < 0.002 and three["min"] < 0.006
    assert profile["main"]["cumtime"] >= both["cumtime"]


def test_timeline(compile, record):
    run = record(compile("known.c", "-O2"), 200, options=["--timeline"])
    calls = run.profile().calls()
    assert calls["leaf"] == 400 and calls["fib"] == 1973 and calls["main"] == 1


@pytest.mark.parametrize("level", LEVELS)
def test_timeline_jumps(compile, record, level):
    profile = record(compile("jumps.c", level), 100, options=["--timeline"]).profile()
    assert profile.callers("thrower") == {"again": 100, "after": 100, "thrower": 300}
    assert profile.callers("small") == {"after": 100, "within": 100, "outer": 100, "main": 1}
    assert profile.callers("outer") == {"main": 100, "outer": 700}


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("options", [[], ["--timeline"]])
def test_trace_points_and_functions(compile, record, level, options):
    run = record(compile("mixed.c", level, "-I" + INCLUDE, "-L" + BUILD, "-lventuri"), 100, options=options)
    profile = run.profile()
    assert profile.callers("within") == {"around": 100, "step": 200}
    assert profile.callers("leave") == profile.callers("step") == {"around": 100}
    if options:
        rows = query(run.path, "SELECT name, count(*) AS n, min(depth) AS low, max(depth) AS high FROM spans GROUP BY name")
        spans = {row["name"]: (row["n"], row["low"], row["high"]) for row in rows}
        assert spans == {"main": (1, 0, 0), "around": (2, 1, 2), "leave": (100, 3, 3), "left": (100, 4, 4),
                         "within": (300, 3, 5), "step": (200, 3, 4)}
