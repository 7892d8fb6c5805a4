"""C programs that were not made for it."""
import os
import subprocess

import pytest

from conftest import BUILD, HERE, LEAST, MOST, VENTURI, need, run

CLOCKS = [{}, {"VENTURI_NATIVE_CLOCK": "timer"}]


@pytest.mark.parametrize("clock", CLOCKS, ids=["event", "timer"])
@pytest.mark.parametrize("flags", [["-fno-omit-frame-pointer"], ["-fomit-frame-pointer"], ["-O0"], ["-no-pie", "-fno-pie"]],
                         ids=["pointers", "none", "O0", "fixed"])
def test_ratio(compile, sample, flags, clock):
    done = sample(compile("ratio.c", *flags), "300", env=clock)
    three, one = done.samples("three"), done.samples("one")
    assert one > 20
    assert 2 < three / one < 4.5
    assert done.within("work") == done.within("three") + done.within("one") + done.samples("work")
    assert 0 <= done.within("main") - done.within("work") <= 2  # it has hardly any code of its own, and calls strtol() and printf()
    assert LEAST < done.sampled_seconds / done.facts["cpu"] < MOST


def test_the_way_from_main(compile, sample):
    done = sample(compile("ratio.c"))
    paths = {row["path"] for row in done.rows if row["path"][-1] == "three"}
    assert len(paths) == 1
    path = paths.pop()
    assert path[0] == "_start" and path[-3:] == ("main", "work", "three")


def test_rows_say_that_they_are_estimates(compile, sample):
    done = sample(compile("ratio.c"))
    row = next(row for row in done.rows if row["path"][-1] == "three")
    assert row["calls"] == 0 and row["samples"] > 0
    each = done.sampled_seconds * 1e9 / sum(row["samples"] for row in done.rows)
    assert row["error_ns"] == pytest.approx((row["total_ns"] * each) ** 0.5, rel=0.01)
    text = run([VENTURI, "stats", done.path]).stdout
    line = next(line for line in text.splitlines() if "(three)" in line)
    assert line.split()[0] == "~" and line.split()[1].startswith("~") and line.split()[2].startswith("±")


def test_stripped(compile, sample):
    program = compile("ratio.c")
    run(["strip", program])
    done = sample(program)
    assert "stays addresses" in done.done.stderr or "stay addresses" in done.done.stderr
    names = sorted((row["samples"], row["name"]) for row in done.rows)
    assert names[-1][1].startswith("ratio+0x")
    assert 2 < names[-1][0] / names[-2][0] < 4.5


def build_id(path):
    return run(["readelf", "-n", path]).stdout.split("Build ID:")[1].split()[0]


def test_says_nothing_about_what_is_hardly_there(tmp_path):
    """Of two modules without debug info the one that is in nearly no sample is not worth a word, nor is the kernel's own."""
    symbols = os.path.join(BUILD, "venturi-symbols")
    if not os.access(symbols, os.X_OK):
        pytest.skip("venturi-symbols is not built: no libdw")
    need("readelf")
    (tmp_path / "x.c").write_text("int main(void) { return 0; }\n")
    for name in ("often", "seldom"):
        run(["cc", "-s", "-Wl,--build-id", tmp_path / "x.c", "-o", tmp_path / name])
    questions = "".join("%s\t%s\t0x10\t%d\n" % row for row in [(tmp_path / "often", build_id(tmp_path / "often"), 10),
                        (tmp_path / "seldom", build_id(tmp_path / "seldom"), 9), ("linux-vdso.so.1", "", 500)])
    done = run([symbols], input=questions)
    assert len(done.stdout.splitlines()) == 3
    assert done.stderr == "venturi: %s: stripped, no debug info: functions that it does not export stay addresses\n" \
                          % (tmp_path / "often")


def test_static(compile, tmp_path):
    program = compile("ratio.c", "-static")
    done = run([VENTURI, "run", "--native", "-o", tmp_path / "out.vt", program, "10"])
    assert "linked statically: its stacks cannot be sampled" in done.stderr
    assert "cpu" in done.stdout


def test_rate(compile, sample):
    done = sample(compile("ratio.c"), "300", options=["--rate", "100"])
    count = sum(row["samples"] for row in done.rows)
    assert LEAST * 100 < count / done.facts["cpu"] < MOST * 100


@pytest.mark.parametrize("rate", ["0", "x", "-1", "1000000", "10k"])
def test_bad_rate(tmp_path, rate):
    done = run([VENTURI, "run", "--rate", rate, "-o", tmp_path / "out.vt", "true"], check=False)
    assert done.returncode == 2 and "--rate" in done.stderr and len(done.stderr.splitlines()) <= 2


def test_not_with_timeline(tmp_path):
    done = run([VENTURI, "run", "--native", "--timeline", "-o", tmp_path / "out.vt", "true"], check=False)
    assert done.returncode == 2


@pytest.mark.parametrize("clock", CLOCKS, ids=["event", "timer"])
def test_threads(compile, sample, clock):
    done = sample(compile("threads.c"), env=clock)
    for name in ("returns", "leaves", "is_small"):
        assert done.samples(name) > 10
        assert len({row["track"] for row in done.rows if row["path"][-1] == name and row["samples"]}) == 1
    assert not any("venturi" in part for row in done.rows for part in row["path"])


@pytest.mark.parametrize("clock", CLOCKS, ids=["event", "timer"])
def test_fork_and_exec(compile, sample, clock):
    ratio = compile("ratio.c")
    done = sample(compile("forks.c"), ratio, "100", env=clock)
    where = {name: {row["process"] for row in done.rows if row["path"][-1] == name and row["samples"]}
             for name in ("of_parent", "of_child", "three")}
    assert all(len(processes) == 1 for processes in where.values())
    assert len(set.union(*where.values())) == 3
    assert all(done.samples(name) > 10 for name in where)


@pytest.mark.parametrize("what", ["threads", "processes"])
def test_lives_shorter_than_a_period(compile, sample, what):
    """Most of them are never met; those that are stand for the others."""
    done = sample(compile("brief.c"), what)
    found = done.samples("brief")
    expected = done.facts["work"] * 1000
    assert expected > 60
    assert 0.5 * expected < found < 2 * expected


def test_a_program_with_its_own_sigprof(compile, sample):
    done = sample(compile("signals.c"), "prof")
    assert done.facts["signals"] > 0
    assert done.samples("before") > 10 and done.samples("after") > 10


def test_a_program_that_wants_our_signal(compile, sample):
    done = sample(compile("signals.c"), "urg")
    assert done.facts["signals"] == 1
    assert done.samples("before") > 10 and done.samples("after") == 0
    assert "SIGURG" in done.done.stderr


def test_a_program_that_leaves_our_signal_alone(compile, sample):
    done = sample(compile("signals.c"), "plain")
    assert done.facts["signals"] == 1
    assert done.samples("before") > 10 and done.samples("after") > 10


def test_sleeping(compile, sample):
    done = sample(compile("sleeps.c"), check=False)
    assert done.facts["interrupted"] == 0
    if os.path.exists(done.path):
        assert done.sampled_seconds < 0.1


def test_deep_recursion(compile, sample):
    done = sample(compile("deep.c"))
    assert done.samples("down") > 20
    paths = {row["path"] for row in done.rows if row["path"][-1] == "down" and row["samples"]}
    assert {path[-2:] for path in paths} == {("main", "down")}
    assert done.within("ping") > 20  # cut off: there are more functions than are kept


def test_other_stacks(compile, sample):
    done = sample(compile("stacks.c"))
    paths = {row["path"] for row in done.rows if row["path"][-1] == "in_handler" and row["samples"]}
    assert all("main" in path for path in paths) and paths
    assert done.samples("in_coroutine") > 20


def test_modules_that_come_and_go(compile, sample):
    plain = compile("plugin.c", "-shared", "-fPIC", "-DINNER=first", "-DPADDING=0", output="a.so")
    other = compile("plugin.c", "-shared", "-fPIC", "-DINNER=second", "-DPADDING=1", output="b.so")
    done = sample(compile("modules.c", "-ldl"), plain, other)
    for name in ("first", "second"):
        paths = {row["path"][-3:] for row in done.rows if row["path"][-1] == name and row["samples"]}
        assert paths == {("main", "work", name)}


def test_under_functions_whose_calls_are_recorded(sample, tmp_path):
    program = tmp_path / "mixed"
    run([VENTURI, "cc", "-O2", "-g", os.path.join(HERE, "programs", "mixed.c"), "-o", program])
    rows = sample(program).rows
    exact = {row["path"]: row["calls"] for row in rows if row["samples"] is None}
    assert exact == {("main",): 1, ("main", "shown"): 5, ("main", "alone"): 5}
    sampled = {row["path"]: row["samples"] for row in rows if row["samples"]}
    assert sampled.pop(("main", "shown", "unseen")) > 20
    assert sum(sampled.values()) < 10  # outside of main: the loader, the C library


def test_nothing_without_a_recording(compile, tmp_path):
    library = os.path.join(os.path.dirname(VENTURI), "libventuri-sample.so")
    done = subprocess.run([compile("signals.c"), "plain"], env={"LD_PRELOAD": library}, capture_output=True, text=True)
    assert done.returncode == 0 and done.stderr == "" and '"signals": 1' in done.stdout


def test_paused(compile, sample):
    done = sample(compile("ratio.c"), "50", options=["--paused"], check=False)
    assert done.done.returncode == 0
    assert not os.path.exists(done.path) or done.sampled_seconds == 0


def test_merged_recordings_keep_their_samples(compile, sample, tmp_path):
    done = sample(compile("ratio.c"))
    merged = tmp_path / "merged.vt"
    run([VENTURI, "merge", "-o", merged, done.path])
    done_again = type(done)(done.done, merged)
    assert done_again.samples("three") == done.samples("three")


def test_exports_take_estimates(compile, sample, tmp_path):
    need("python3")
    done = sample(compile("ratio.c"))
    for name in ("pstats", "collapsed", "speedscope", "pprof", "callgrind"):
        run([VENTURI, "export", "-f", name, "-o", tmp_path / name, done.path])
    lines = (tmp_path / "collapsed").read_text().splitlines()
    assert any("three" in line and int(line.rsplit(None, 1)[1]) > 0 for line in lines)
