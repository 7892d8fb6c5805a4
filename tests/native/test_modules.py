"""Libraries that come and go, symbols of every quality, binaries that were instrumented elsewhere."""
import os
import shutil

import pytest
from conftest import BUILD, COLLECTOR, FLAGS, SANITIZE, SYMBOLS, VENTURI, Profile, need, no_sanitizer, run, source

pytestmark = pytest.mark.skipif(not os.access(SYMBOLS, os.X_OK), reason="venturi-symbols is not built: no libdw")


def plugin(tmp_path, name, *flags):
    library = tmp_path / ("lib%s.so" % name)
    run([VENTURI, "cc", *FLAGS, "-shared", "-fPIC", "-DNAME=" + name, *flags, source("plugin.c"), "-o", library])
    return library


def test_one_library_in_the_place_of_another(compile, record, tmp_path):
    """The same addresses, other functions."""
    libraries = [plugin(tmp_path, name) for name in ("apple", "pear", "plum")]
    run = record(compile("plugins.c", "-ldl"), 50, *libraries)
    if not SANITIZE:
        assert run.facts["same"] > 100, "the loader did not use the same place again"
    profile = run.profile()
    calls = profile.calls()
    assert {name: calls[name] for name in ("apple", "pear", "plum")} == {"apple": 100, "pear": 100, "plum": 100}
    for name in ("apple", "pear", "plum"):
        assert profile.callers(name) == {"entry": 100}
    # Seen 50 times each, but described once.
    sites = [row for row in profile.all["functions"] if row["name"] == "entry"]
    assert sum(row["ncalls"] for row in sites) == 150


def test_a_library_that_was_built_anew(compile, record, tmp_path):
    """The file on disk is not the one that ran: no names rather than wrong ones."""
    library = plugin(tmp_path, "before")
    program = compile("plugins.c", "-ldl")
    script = tmp_path / "run.sh"
    again = [VENTURI, "cc", *FLAGS, "-shared", "-fPIC", "-DNAME=after", source("plugin.c"), "-o", library]
    script.write_text("#!/bin/sh\n%s 3 %s\nrm %s\n%s\n" % (program, library, library, " ".join(map(str, again))))
    script.chmod(0o755)
    run = record(script)
    calls = run.profile().calls()
    assert "after" not in calls and "before" not in calls
    assert sorted(count for name, count in calls.items() if name.startswith("libbefore.so+0x")) == [3, 6]
    assert "libbefore.so: is not the file that ran" in run.done.stderr


def test_stripped_and_without_debug_info(compile, record, tmp_path):
    program = compile("known.c", "-O1", "-g0")
    run_ = record(program)
    if not SANITIZE:  # which brings debug info of its own
        assert "%s: no debug info: functions without lines" % program in run_.done.stderr
    row = run_.profile()["leaf"]
    assert row["file"] == str(program) and row["line"] == 0
    need("strip")
    run(["strip", program])
    run_ = record(program, 50)
    assert "%s: stripped, no debug info" % program in run_.done.stderr
    calls = run_.profile().calls()
    assert all(name.startswith("known+0x") for name in calls)
    assert sorted(calls.values())[-2:] == [399, 1973] or 1973 in calls.values()


def test_separate_debug_info(compile, record, tmp_path):
    need("objcopy", "strip")
    program = compile("known.c", "-O1")
    run(["objcopy", "--only-keep-debug", program, str(program) + ".debug"])
    run(["strip", program])
    run(["objcopy", "--add-gnu-debuglink=" + str(program) + ".debug", program])
    run_ = record(program)
    assert "debug info" not in run_.done.stderr
    assert run_.profile()["leaf"]["line"] == 15


@no_sanitizer
def test_instrumented_elsewhere(compile, record, tmp_path):
    """Not linked with anything of ours: the collector is preloaded."""
    program = compile("known.c", "-O2", "-g", "-finstrument-functions", command=["gcc"])
    assert "venturi" not in run(["ldd", program]).stdout
    assert record(program).profile().calls()["fib"] == 1973
    # Alone it runs as ever.
    assert run([program]).stdout == record(program).done.stdout


@no_sanitizer
def test_libraries_bring_the_collector(compile, record, tmp_path):
    """As extensions of Python do: nobody preloads anything, and nobody hears of dlclose but the library."""
    libraries = [plugin(tmp_path, name) for name in ("apple", "pear", "plum")]
    run = record(compile("plugins.c", "-ldl", command=["gcc"]), 50, *libraries)
    assert run.facts["same"] > 100
    calls = run.profile().calls()
    assert calls.pop("entry") > 0 and calls == {"apple": 100, "pear": 100, "plum": 100}


@no_sanitizer
def test_libraries_of_a_plain_program(compile, record, tmp_path):
    libraries = [plugin(tmp_path, "apple")]
    program = compile("plugins.c", "-ldl", command=["gcc"])
    run = record(program, 5, *libraries, options=["--functions"])
    assert run.profile().calls()["apple"] == 10


@no_sanitizer
def test_a_script_that_starts_a_program(compile, record, tmp_path):
    program = compile("known.c", "-O2", "-finstrument-functions", command=["gcc"])
    run = record("sh", "-c", "%s; true" % program, options=["--functions"])
    assert run.profile().calls()["fib"] == 1973


@no_sanitizer
def test_static_program(compile, record):
    program = compile("known.c", "-finstrument-functions", "-static", command=["gcc"])
    run = record(program)
    assert run.code == 0 and "linked statically: its functions cannot be recorded" in run.done.stderr


def test_only_mine_and_globs(compile, record, tmp_path):
    libraries = [plugin(tmp_path, name) for name in ("apple", "pear")]
    program = compile("plugins.c", "-ldl")

    def names(*options):
        return set(record(program, 2, *libraries, options=options).profile().calls())

    assert names() == {"main", "entry", "apple", "pear"}
    assert names("--exclude", "apple") == {"main", "entry", "pear"}
    assert names("--exclude", "libapple.so") == {"main", "entry", "pear"}
    assert names("--include", "*lib*.so") == {"entry", "apple", "pear"}
    assert names("--include", "*e*", "--exclude", "pea?") == {"entry", "apple"} | names("--include", "*e*") - {"pear"}
    assert names("--only-mine") == {"main", "entry", "apple", "pear"}
    site = tmp_path / "site-packages"
    site.mkdir()
    shutil.move(libraries[1], site)
    libraries[1] = site / libraries[1].name
    assert names("--only-mine") == {"main", "entry", "apple"}


def test_callees_of_excluded_functions_belong_to_their_callers(compile, record):
    profile = record(compile("known.c", "-O0"), 100, options=["--exclude", "sum"]).profile()
    assert "sum" not in profile.calls()
    assert profile.callers("leaf") == {"main": 200}


def symbols(text):
    return run([SYMBOLS], input=text)


def test_symbols_by_hand(compile, tmp_path):
    program = compile("known.c", "-O0")
    address = next(line.split()[0] for line in run(["nm", program]).stdout.splitlines() if line.endswith(" leaf"))
    notes = run(["readelf", "-n", program]).stdout
    build_id = next(line.split()[-1] for line in notes.splitlines() if "Build ID" in line)
    line = "%s\t%s\t0x%s\n" % (program, build_id, address)
    assert symbols(line).stdout == "leaf\tleaf\t%s\t15\n" % source("known.c")
    # Once for each module, not for each line.
    done = symbols(line.replace(build_id, "00") * 3)
    assert done.stdout == "\t\t\t0\n" * 3 and done.stderr.count("is not the file that ran") == 1
    done = symbols("/no/such\t\t0x1\n")
    assert done.stdout == "\t\t\t0\n" and "cannot be read" in done.stderr


def test_symbols_from_rubbish(compile, tmp_path):
    program = compile("known.c", "-O0")
    whole = open(program, "rb").read()
    for at, size in ((0, 0), (0, 10), (0, 64), (0, 4000), (0, len(whole) // 2), (0, len(whole) - 100)):
        (tmp_path / "cut").write_bytes(whole[at:size])
        done = symbols("%s\t\t0x1139\n" % (tmp_path / "cut"))
        assert done.stdout.count("\n") == 1
    broken = bytearray(whole)
    for at in range(0, len(broken), 7):
        broken[at] ^= 0x55
    broken[:64] = whole[:64]
    (tmp_path / "broken").write_bytes(broken)
    assert symbols("%s\t\t0x1139\n" % (tmp_path / "broken")).stdout.count("\n") == 1
    for text in ("\n", "\t\n", "\t\t\n", "a\tb\tc\td\n", "x\t\tzz\n", "x\t\t-\n", "\0\t\t1\n", "no end"):
        assert symbols(text).stdout == "\t\t\t0\n"


def test_symbols_crash_does_no_harm(compile, record, tmp_path):
    """The helper dies at once: the recording is whole, functions are addresses."""
    tool = tmp_path / "tool"
    tool.mkdir()
    shutil.copy(VENTURI, tool / "venturi")
    for name in os.listdir(BUILD):
        if name.startswith("libventuri"):
            os.symlink(os.path.join(BUILD, name), tool / name)
    (tool / "venturi-symbols").write_text("#!/bin/sh\nkill -SEGV $$\n")
    (tool / "venturi-symbols").chmod(0o755)
    program = compile("known.c", "-O0")
    path = tmp_path / "crash.vt"
    run([tool / "venturi", "run", "-o", path, "--", program])
    rows = run([VENTURI, "stats", path]).stdout
    assert "known+0x" in rows


def test_collector_exports_nothing_else():
    names = run(["nm", "-D", "--defined-only", COLLECTOR]).stdout.split()
    if not SANITIZE:
        assert sorted(names[2::3]) == ["__cyg_profile_func_enter", "__cyg_profile_func_exit", "__longjmp_chk",
                                         "_longjmp", "dlclose", "longjmp", "siglongjmp",
                                         "vt_functions_enter", "vt_functions_exit", "vt_functions_unload"]


@no_sanitizer
def test_no_program_for_symbols(compile, tmp_path):
    """As where Venturi was built without elfutils: functions stay addresses, and one line says so, also to the quiet."""
    alone = tmp_path / "alone" / "venturi"
    alone.parent.mkdir()
    shutil.copy2(VENTURI, alone)
    program = compile("switched.c", "-O2")
    libraries = {**os.environ, "LD_LIBRARY_PATH": BUILD}
    for options in ([], ["-q"]):
        (tmp_path / "go").touch()
        done = run([alone, "run", "-f", *options, "-o", tmp_path / "x.vt", "--", program, tmp_path / "ready", tmp_path / "go",
                    2, 3], env=libraries)
        lines = [line for line in done.stderr.splitlines() if "addresses" in line]
        assert lines == ["venturi: 3 functions stay addresses: venturi-symbols is not there (it is built with elfutils)"]
    calls = Profile(tmp_path / "x.vt").calls()
    assert sorted(calls.values()) == [1, 2, 5] and all(name.startswith("switched+0x") for name in calls)
    assert "addresses" not in run([VENTURI, "run", "-f", "-o", tmp_path / "x.vt", "--", program, tmp_path / "ready",
                                   tmp_path / "go", 2, 3]).stderr
