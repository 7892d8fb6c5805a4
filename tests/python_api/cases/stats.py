"""venturi.Stats is a pstats.Stats, and more."""
import cProfile
import io
import json
import os
import pathlib
import pickle
import pstats
import subprocess
import sys
import time

import venturi


def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)


def outer():
    fib(8)
    sorted([3, 1, 2], key=lambda value: value)
    json.dumps([1, {"a": None}])


def other():
    fib(3)


def make_prof(function=outer, name="x.prof"):
    profile = cProfile.Profile()
    profile.runcall(function)
    profile.dump_stats(name)
    return name


def text_of(kind, *args, then):
    stream = io.StringIO()
    stats = kind(*args, stream=stream)
    then(stats)
    return stream.getvalue()


def same_text(*args, then):
    ours, theirs = (text_of(kind, *args, then=then) for kind in (venturi.Stats, pstats.Stats))
    assert ours == theirs, "\n%s\n--- and not\n%s" % (ours, theirs)
    assert ours.strip()


def test_is_a_pstats():
    assert isinstance(venturi.Stats(make_prof()), pstats.Stats)
    assert pstats.Stats("x.prof").stats == venturi.Stats("x.prof").stats


def test_print_stats_is_the_same():
    make_prof()
    for restrictions in ((), (3,), (0.5,), ("fib",), ("json", 2), (2, "fib"), ("no such",)):
        same_text("x.prof", then=lambda stats: stats.print_stats(*restrictions))


def test_every_sort_key_is_the_same():
    make_prof()
    keys = list(pstats.Stats.sort_arg_dict_default) + ["cumul", "ti", "nc", "fi", "na", "pc", "st", "mod"]
    for key in keys + [-1, 0, 1, 2] + list(pstats.SortKey):
        same_text("x.prof", then=lambda stats: stats.sort_stats(key).print_stats())
    same_text("x.prof", then=lambda stats: stats.sort_stats("calls", "time", "name").print_stats(5))
    for key in ("nonsense", "c"):
        errors = []
        for kind in (venturi.Stats, pstats.Stats):
            try:
                kind("x.prof").sort_stats(key)
                errors.append(None)
            except Exception as error:
                errors.append((type(error), str(error)))
        assert errors[0] == errors[1]


def test_everything_else_prints_the_same():
    make_prof()
    make_prof(other, "y.prof")
    for then in (lambda stats: stats.strip_dirs().print_stats(),
                 lambda stats: stats.strip_dirs().sort_stats("tottime").print_stats(),
                 lambda stats: stats.sort_stats("cumulative").reverse_order().print_stats(),
                 lambda stats: stats.print_callers(), lambda stats: stats.print_callees(),
                 lambda stats: stats.strip_dirs().sort_stats("name").print_callers("fib"),
                 lambda stats: stats.print_callees("outer", 3),
                 lambda stats: stats.add("y.prof").print_stats(),
                 lambda stats: stats.add("y.prof", "y.prof").strip_dirs().sort_stats("nfl").print_callers()):
        same_text("x.prof", then=then)
    same_text("x.prof", "y.prof", then=lambda stats: stats.sort_stats("calls").print_stats())


def test_stats_profile_is_the_same():
    make_prof()
    assert venturi.Stats("x.prof").get_stats_profile() == pstats.Stats("x.prof").get_stats_profile()


def test_dump_and_load():
    stats = venturi.Stats(make_prof())
    stats.dump_stats("z.prof")
    stats.dump_stats(pathlib.Path("zz.prof"))
    assert pstats.Stats("z.prof").stats == pstats.Stats("zz.prof").stats == stats.stats == venturi.Stats("z.prof").stats
    assert venturi.Stats(pathlib.Path("z.prof")).stats == stats.stats


def test_profile_objects():
    reference = cProfile.Profile()
    reference.runcall(outer)
    stats = venturi.Stats(reference)
    assert any(key[2] == "fib" for key in stats.stats)
    with venturi.Profile() as profile:
        outer()
    assert venturi.Stats(profile).stats == profile.stats().stats
    double = venturi.Stats(profile, profile)
    assert double.total_calls == 2 * profile.stats().total_calls
    assert venturi.Stats(profile).add(profile).total_calls == double.total_calls


def test_in_the_place_of_a_pstats():
    with venturi.Profile() as profile:
        outer()
    ours = profile.stats()
    before = dict(ours.stats)
    plain = pstats.Stats(ours)
    assert plain.stats == before and ours.stats == before and ours.stats
    assert plain.total_calls == ours.total_calls
    added = pstats.Stats(make_prof()).add(ours)
    assert added.total_calls == pstats.Stats("x.prof").total_calls + ours.total_calls
    assert ours.stats == before
    mixed = venturi.Stats(pstats.Stats("x.prof")).add(pstats.Stats("x.prof"), ours)
    assert mixed.total_calls == 2 * pstats.Stats("x.prof").total_calls + ours.total_calls


def test_rows():
    with venturi.Profile() as profile:
        outer()
        other()
    stats = profile.stats().sort_stats("calls")
    rows = stats.rows()
    assert [row.ncalls for row in rows] == sorted((row.ncalls for row in rows), reverse=True)
    row = [row for row in rows if row.name == "fib"][0]
    assert row.language == "python" and row.qualname == "fib" and row.line == fib.__code__.co_firstlineno
    assert row.pcalls == 2 and row.ncalls > 2
    assert 0 <= row.min <= row.p50 <= row.p90 <= row.p99 <= row.max
    stripped = profile.stats().strip_dirs()
    same = [row for row in stripped.rows() if row.name == "fib"][0]
    assert same.file == os.path.basename(__file__) and same[2:] == row[2:]
    assert [row.min for row in venturi.Stats(make_prof()).rows() if row.name == "fib"] == [None]


def test_details_after_adding():
    with venturi.Profile() as one:
        fib(5)
    with venturi.Profile() as two:
        fib(10)
    a, b = ([row for row in profile.stats().rows() if row.name == "fib"][0] for profile in (one, two))
    both = [row for row in one.stats().add(two.stats()).rows() if row.name == "fib"][0]
    assert both.ncalls == a.ncalls + b.ncalls
    assert both.min == min(a.min, b.min) and both.max == max(a.max, b.max)
    for name in ("p50", "p90", "p99"):  # of all calls: between those of the parts, or in the same bucket (a quarter more)
        parts = sorted(getattr(row, name) for row in (a, b))
        assert parts[0] / 1.25 <= getattr(both, name) <= parts[1] * 1.25, (name, a, b, both)
    mixed = [row for row in one.stats().add(venturi.Stats(make_prof())).rows() if row.name == "fib"][0]
    assert mixed.p50 is None  # a file of cProfile does not know how long single calls took


def spin(seconds):
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        pass


def test_percentiles_of_sums():
    """Known durations: three quarters short ones, a quarter long ones, in two profiles, in one profile twice, and later on."""
    with venturi.Profile() as one:
        for _ in range(30):
            spin(0.0005)
    with venturi.Profile() as two:
        for _ in range(10):
            spin(0.004)
    again = venturi.Profile()
    for count, seconds in ((30, 0.0005), (10, 0.004)):
        with again:
            for _ in range(count):
                spin(seconds)
    for stats in (one.stats().add(two.stats()), venturi.Stats(one, two), again.stats(), venturi.Stats(again.stats())):
        row = [row for row in stats.rows() if row.name == "spin"][0]
        assert row.ncalls == 40
        assert 0.0004 < row.p50 < 0.002 and 0.0035 < row.p90 <= row.p99, row
    # Neither the shortest nor the longest call of all is in it: percentiles are known all the same.
    with venturi.Profile() as later:
        for _ in range(20):
            spin(0.001)
    row = [row for row in later.stats().rows() if row.name == "spin"][0]
    assert 0.0008 < row.p50 <= row.p90 <= row.p99, row


def test_print_percentiles():
    with venturi.Profile() as profile:
        outer()
    stream = io.StringIO()
    stats = profile.stats(stream=stream).sort_stats("calls")
    assert stats.print_percentiles("fib") is stats
    lines = stream.getvalue().splitlines()
    header = [line for line in lines if "p99" in line][0]
    assert header.split() == ["ncalls", "min", "p50", "p90", "p99", "max", "filename:lineno(function)"]
    row = lines[lines.index(header) + 1].split()
    assert row[0] == "67" and row[6].endswith("(fib)") and len(row) == 7


def test_json():
    with venturi.Profile() as profile:
        outer()
    stats = profile.stats()
    found = json.loads(stats.to_json())
    assert found["total_calls"] == stats.total_calls and len(found["functions"]) == len(stats.stats)
    row = [row for row in found["functions"] if row["name"] == "fib"][0]
    assert row["ncalls"] == 67 and row["pcalls"] == 1
    assert {who["name"]: who["ncalls"] for who in row["callers"]} == {"fib": 66, "outer": 1}
    assert "\n" in stats.to_json(indent=2)


def record(text, *options):
    with open("script.py", "w") as file:
        file.write(text)
    subprocess.run([os.environ["TOOL"], "run", "-qfo", "x.vt", "--python", sys.executable, *options, "script.py"],
                   check=True, env={key: value for key, value in os.environ.items() if key != "PYTHONPATH"})
    return "x.vt"


def test_recording():
    path = record("def f(): pass\nfor _ in range(10): f()\n")
    stats = venturi.Stats(path)
    assert [row.ncalls for row in stats.rows() if row.name == "f"] == [10]
    stream = io.StringIO()
    venturi.Stats(path, stream=stream).sort_stats("calls").print_stats("script.py")
    assert stream.getvalue().splitlines()[0].endswith("    x.vt") and "script.py:1(f)" in stream.getvalue()
    assert venturi.Stats(path, path).total_calls == 2 * stats.total_calls


def test_threads_and_processes_of_a_recording():
    path = record("""
import os, threading
def f(): pass
def work(count):
    for _ in range(count): f()
if os.fork() == 0:
    work(1000)
    os._exit(0)
os.wait()
thread = threading.Thread(target=work, args=(100,))
thread.start()
thread.join()
work(10)
""")
    def count(stats):
        return sum(row.ncalls for row in stats.rows() if row.name == "f")
    stats = venturi.Stats(path)
    threads = stats.threads()
    assert sorted(count(stats.thread(thread)) for thread in threads) == [10, 100, 1000], threads
    assert sorted(count(stats.thread(thread.id)) for thread in threads) == [10, 100, 1000]
    processes = {thread.process for thread in threads}
    assert sorted(count(stats.process(process)) for process in processes) == [110, 1000]
    assert {thread.pid for thread in threads} == {thread.pid for thread in threads if thread.tid == thread.pid}
    assert count(stats) == 1110
    assert count(stats.thread("MainThread")) == 1010  # of both processes
    for call, part in ((lambda: stats.thread(99), "no thread 99; there are: 0 MainThread"),
                       (lambda: stats.thread("nobody"), "no thread 'nobody'"),
                       (lambda: stats.process(99), "no process 99; there are: 0")):
        try:
            call()
        except ValueError as error:
            assert str(error).startswith(part), error
        else:
            raise AssertionError(part)


def test_threads_of_a_profile():
    import threading

    def work(count):
        for _ in range(count):
            fib(0)
    with venturi.Profile() as profile:
        thread = threading.Thread(target=work, args=(100,))
        thread.start()
        thread.join()
        work(10)
    stats = profile.stats()
    found = {one.tid: sum(row.ncalls for row in stats.thread(one).rows() if row.name == "fib") for one in stats.threads()}
    assert sorted(found.values()) == [10, 100] and found[threading.get_native_id()] == 10, found
    assert [one.name for one in stats.threads() if one.tid == threading.get_native_id()] == ["MainThread"]
    assert stats.process(0).stats == stats.stats


def test_statistics_without_threads():
    stats = venturi.Stats(make_prof())
    assert stats.threads() == [] and venturi.Stats().threads() == []
    for call in (lambda: venturi.Stats().thread(0), lambda: venturi.Stats(stats, stats).process(0)):
        try:
            call()
        except ValueError as error:
            assert str(error) == "only the statistics of one recording or one profile have threads and processes"
        else:
            raise AssertionError("no error")


def test_same_rows_as_the_tool():
    path = record("import json\ndef f(): json.dumps([1])\nfor _ in range(10): f()\n")
    done = subprocess.run([os.environ["TOOL"], "stats", "--json", path], capture_output=True, text=True, check=True)
    theirs, ours = json.loads(done.stdout), json.loads(venturi.Stats(path).sort_stats("cumulative").to_json())
    assert ours["total_calls"] == theirs["total_calls"]
    assert [set(row) for row in ours["functions"]] == [set(row) for row in theirs["functions"]]
    for one in (ours, theirs):
        one["functions"].sort(key=lambda row: (row["file"], row["line"], row["name"]))
    assert [(row["qualified_name"], row["ncalls"], row["tottime"], row["p99"]) for row in ours["functions"]] == \
        [(row["qualified_name"], row["ncalls"], row["tottime"], row["p99"]) for row in theirs["functions"]]


def test_bad_files():
    with open("empty.prof", "wb"):
        pass
    with open("text.prof", "w") as file:
        file.write("this is no profile\n")
    with open(make_prof(), "rb") as file:
        whole = file.read()
    with open("cut.prof", "wb") as file:
        file.write(whole[:len(whole) // 2])
    with open("pickle.prof", "wb") as file:
        pickle.dump({("a", 1, "b"): (1, 1, 1.0, 1.0, {})}, file)
    for name in ("empty.prof", "text.prof", "cut.prof", "pickle.prof", "missing.prof", "missing.vt", "."):
        try:
            venturi.Stats(name)
        except (OSError, ValueError) as error:
            assert name in str(error) and "\n" not in str(error), str(error)
        else:
            raise AssertionError(name)
    for arg in (3, object(), ["x.prof"]):
        try:
            venturi.Stats(arg)
        except TypeError:
            pass
        else:
            raise AssertionError(arg)


def test_missing_file_is_a_file_not_found():
    for name in ("missing.prof", "missing.vt"):
        try:
            venturi.Stats(name)
        except FileNotFoundError:
            pass
        else:
            raise AssertionError(name)


def test_twins():
    f, g = (lambda: 1), (lambda: 2)
    with venturi.Profile() as profile:
        for _ in range(3):
            f()
        for _ in range(5):
            g()
    stats = profile.stats()
    assert sorted(row.ncalls for row in stats.rows() if row.name.startswith("<lambda>")) == [3, 5]
    stats.dump_stats("twins.prof")
    assert sorted(row[1] for key, row in pstats.Stats("twins.prof").stats.items() if "<lambda>" in key[2]) == [3, 5]


def test_browser():
    """`python -m pstats` reads what we write."""
    with venturi.Profile() as profile:
        outer()
    profile.stats().dump_stats("x.prof")
    done = subprocess.run([sys.executable, "-m", "pstats", "x.prof"], input="sort calls\nstats fib\nquit\n", text=True,
                          capture_output=True, timeout=60)
    assert "(fib)" in done.stdout and "67/1" in done.stdout, done.stdout
