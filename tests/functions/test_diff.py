"""`venturi diff`: what changed between two runs whose numbers are known."""
import json
import os

import pytest

import trees  # first: it says where the next one is
import taskgraphs

# The same program a version later: fib moved by five lines and got slower, len is called half as often, numbers is gone, checked is new.
LATER = {**trees.FUNCTIONS, 3: ("fib", "fib", "/src/step.py", 25, "python"),
         9: ("checked", "checked", "/src/step.py", 40, "python")}
LATER_TREES = {
    0: {1: (0, 1, 1, 0, 5000), 2: (1, 2, 2, 0, 3000), 3: (2, 3, 2, 0, 11500), 4: (3, 3, 4, 0, 2500), 5: (4, 3, 8, 0, 500),
        6: (4, 4, 8, 0, 500), 7: (1, 5, 3, 0, 700), 8: (1, 6, 5, 0, 800), 9: (2, 9, 1, 0, 1000)},
    1: trees.TREES[1],
}


GOLDEN = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "golden")


@pytest.fixture
def two(tmp_path):
    return trees.write(tmp_path / "base.vt"), trees.write(tmp_path / "new.vt", LATER_TREES, LATER)


def rows(venturi, *args, check=0):
    found = json.loads(venturi("diff", "--json", "--limit", "0", *args, check=check).stdout)
    return {(row["name"], row["match"]): row for row in found["functions"]}


def test_numbers(venturi, two):
    found = rows(venturi, *two)
    fib = found["fib", "both"]
    assert (fib["base_line"], fib["line"]) == (20, 25)
    assert (fib["base"]["calls"], fib["new"]["calls"]) == (15, 15)
    assert fib["new"]["self_ns"] - fib["base"]["self_ns"] == pytest.approx(10000)
    assert fib["base"]["self_ns"] == pytest.approx(1500 + 2500 + 500 + 300)
    assert fib["base"]["total_ns"] == pytest.approx(1500 + 2500 + 500 + 1000 + 300)  # calls itself: counted once
    size = found["len", "both"]
    assert (size["base"]["calls"], size["new"]["calls"]) == (16, 8)
    assert found["numbers", "gone"]["base"]["calls"] == 11 and found["numbers", "gone"]["new"]["calls"] == 0
    assert found["checked", "new"]["new"]["self_ns"] == pytest.approx(1000)
    assert ("Step.execute", "both") not in found  # its own time and calls are what they were


def test_all_names_what_did_not_change(venturi, two):
    found = rows(venturi, "--all", *two)
    assert found["Step.execute", "both"]["base"]["self_ns"] == found["Step.execute", "both"]["new"]["self_ns"]
    assert len([1 for name, _ in found if name == "main.<locals>.<lambda>"]) == 1


def test_the_numbers_of_stats(venturi, two):
    found = json.loads(venturi("diff", "--json", *two, check=0).stdout)
    for path, side in zip(two, ("base", "new")):
        stats = json.loads(venturi("stats", "--json", path, check=0).stdout)
        assert found[side]["self_ns"] == pytest.approx(1e9 * sum(row["tottime"] for row in stats["functions"]))


def test_twins_keep_their_places(venturi, two, tmp_path):
    found = json.loads(venturi("diff", "--json", "--all", "--limit", "0", *two, check=0).stdout)["functions"]
    calls = sorted(row["base"]["calls"] for row in found if row["name"] == "main.<locals>.<lambda>")
    assert calls == [3, 5] and all(row["base"]["calls"] == row["new"]["calls"] for row in found
                                   if row["name"] == "main.<locals>.<lambda>")


def test_another_folder_is_the_same_file(venturi, tmp_path):
    elsewhere = {site: (name, function, file.replace("/src/", "/opt/v2/"), line, unit)
                 for site, (name, function, file, line, unit) in trees.FUNCTIONS.items()}
    base = trees.write(tmp_path / "base.vt")
    new = trees.write(tmp_path / "new.vt", functions=elsewhere)
    found = rows(venturi, "--all", base, new)
    assert found["fib", "both"]["base"] == found["fib", "both"]["new"]
    # Two lambdas of one line in a moved file: which is which is not known, so nothing is claimed.
    assert {match for name, match in found if name == "main.<locals>.<lambda>"} == {"gone", "new"}


def test_says_which_is_slower(venturi, two, tmp_path):
    base, new = two
    assert " us (6.50 us more, +5 %)\n" in venturi("diff", base, new, check=0).stdout
    assert " us (6.50 us less, -5 %)\n" in venturi("diff", new, base, check=0).stdout
    assert "Nothing changed" in venturi("diff", base, base, check=0).stdout
    quick, slow = (trees.write(tmp_path / name, lasted=ns) for name, ns in (("quick.vt", 2000000), ("slow.vt", 3000000)))
    assert "slower: 2.00 ms, then 3.00 ms (1.00 ms more, +50 %)\n" in venturi("diff", quick, slow, check=0).stdout
    assert "faster: 3.00 ms, then 2.00 ms (1.00 ms less, -33 %)\n" in venturi("diff", slow, quick, check=0).stdout
    assert "lasted as long as the base: 3.00 ms, then 3.00 ms\n" in venturi("diff", slow, slow, check=0).stdout


def test_fits_a_terminal(venturi, two):
    done = venturi("diff", *two, check=0)
    assert "One run a side" in done.stdout and "\x1b" not in done.stdout


@pytest.mark.skipif(bool(os.environ.get("VENTURI_SANITIZE")), reason="no Python that could be recorded")
def test_other_commands_are_compared_with_care(venturi, tmp_path):
    script = tmp_path / "a program with a long name.py"
    script.write_text("def called():\n    return sum(range(1000))\nfor i in range(50):\n    called()\n")
    for name, word in (("base", "first"), ("new", "second\nline")):
        venturi("run", "-q", "-o", tmp_path / (name + ".vt"), script, word, check=0)
    files = [tmp_path / "base.vt", tmp_path / "new.vt"]
    text = venturi("diff", *files, check=0).stdout
    doubt = text[text.index("Compare with care: the commands differ: "):text.index("One run a side")]
    assert all(len(line) <= 80 for line in doubt.splitlines() if " " in line.strip())
    doubts = json.loads(venturi("diff", "--json", *files, check=0).stdout)["doubts"]
    assert len([line for line in doubts if line.startswith("the commands differ: ") and line.endswith("'second line'")]) == 1
    same = json.loads(venturi("diff", "--json", files[0], files[0], check=0).stdout)["doubts"]
    assert not [line for line in same if "commands" in line]


def test_nothing_in_common(venturi, two, tmp_path):
    other = trees.write(tmp_path / "other.vt", {0: {1: (0, 1, 1, 0, 10)}}, {1: ("alone", "alone", "/x.py", 1, "python")})
    done = venturi("diff", two[0], other, check=3)
    assert "in common" in done.stderr


def test_files_of_cprofile(venturi, prof):
    from conftest import NEW_PYTHONS
    path = prof(NEW_PYTHONS[-1])
    assert "Nothing changed" in venturi("diff", path, path, check=0).stdout


def test_from_nothing_there_is_no_share(venturi, two, tmp_path):
    nothing = trees.write(tmp_path / "nothing.vt", {0: {1: (0, 1, 1, 0, 0)}}, {1: trees.FUNCTIONS[1]})
    text = venturi("diff", nothing, two[1]).stdout
    assert ": 0 ns, then " in text and " more)\n" in text and "%)" not in text


def test_recording_with_cprofile(venturi, two, tmp_path):
    """It knows no classes: the line tells that execute is Step.execute."""
    venturi("export", "-f", "pstats", "-o", tmp_path / "new.prof", two[1], check=0)
    found = rows(venturi, "--all", two[0], tmp_path / "new.prof")
    assert {match for name, match in found if name.endswith("execute")} == {"both"}
    text = " ".join(venturi("diff", two[0], tmp_path / "new.prof").stdout.split())
    assert "new run was measured by another profiler, whose own cost is in its times" in text


@pytest.mark.parametrize("arguments, words", [((), "which two?"), (("one.vt",), "which two?"),
                                              (("a.vt", "b.vt", "c.vt"), "one BASE and one NEW"),
                                              (("nowhere.vt", "nowhere.vt"), "nowhere.vt")])
def test_bad_input(venturi, arguments, words):
    done = venturi("diff", *arguments, check=2)
    assert words in done.stderr and len(done.stderr.splitlines()) == 1


def test_sorted_by_total_is_filtered_by_total(venturi, two):
    """Step.execute has the same own time and calls; what it calls got slower."""
    found = rows(venturi, "--sort", "total", *two)
    row = found["Step.execute", "both"]
    assert row["base"]["self_ns"] == row["new"]["self_ns"] and row["new"]["total_ns"] > row["base"]["total_ns"]


def test_page_of_two_that_have_nothing_in_common(venturi, tmp_path):
    other = {number: ("x" + name, "x" + full, "/other/file.py", line, language)
             for number, (name, full, _, line, language) in trees.FUNCTIONS.items()}
    sides = trees.write(tmp_path / "a.vt"), trees.write(tmp_path / "b.vt", trees.TREES, other)
    venturi("diff", *sides, check=3)
    done = venturi("diff", *sides, "-o", tmp_path / "page.html", check=3)
    assert "no function and no span in common" in done.stderr and (tmp_path / "page.html").exists()


# ---- without functions and spans -------------------------------------------------------------------

def notes(page):
    """What the page of a comparison says in sentences."""
    text = page.read_text()
    return text[text.index('id="venturi-directory">'):]


def test_a_program_that_records_nothing_itself(venturi, tmp_path):
    sides = [tmp_path / "base.vt", tmp_path / "new.vt"]
    for path, turns in zip(sides, (1000, 60000)):
        venturi("run", "-q", "-o", path, "sh", "-c", "i=0; while [ $i -lt %d ]; do i=$((i+1)); done" % turns, check=0)
    text = venturi("diff", *sides, check=0).stdout
    assert "\nCPU time: " in text and "\nPeak memory: " in text and "Neither of them holds functions or spans." in text
    assert "Self time" not in text and "in common" not in text and ", 0 ns" not in text and "The new run " in text
    found = json.loads(venturi("diff", "--json", *sides, check=0).stdout)
    cpu, = [row for row in found["quantities"] if row["name"] == "cpu"]
    assert 0 < cpu["base"] < cpu["new"] and found["functions"] == found["parts"] == []
    venturi("diff", *sides, "-o", tmp_path / "page.html", check=0)
    assert '"CPU time: ' in notes(tmp_path / "page.html") and "in common" not in notes(tmp_path / "page.html")


def test_tasks(venturi, tmp_path):
    build = os.environ.get("VENTURI_BUILD") or os.path.dirname(venturi.path)
    if not os.access(taskgraphs.maker(build), os.X_OK):
        pytest.skip("make_tasks is not built")
    task, ms = taskgraphs.Task, 10 ** 6
    lists = ([task(0, "load", 0, 0, 4 * ms), task(1, "load", 0, 4 * ms, 8 * ms), task(2, "old\x1b", 0, 8 * ms, 9 * ms)],
             [task(0, "load", 0, 0, 4 * ms), task(1, "sum", 0, 4 * ms, 10 * ms)])
    sides = [taskgraphs.write(build, tmp_path / name, [taskgraphs.Run(tasks, 1, end=20 * ms)])
             for name, tasks in zip(("base.vt", "new.vt"), lists)]
    rows = json.loads(venturi("diff", "--json", *sides, check=0).stdout)["parts"]
    assert [(row["name"], row["match"], row["base"]["count"], row["new"]["count"], row["new"]["total_ns"] - row["base"]["total_ns"])
            for row in rows] == [("sum", "new", 0, 1, 6 * ms), ("load", "both", 2, 1, -4 * ms), ("old\x1b", "gone", 1, 0, -ms)]
    lines = venturi("diff", *sides, check=0).stdout.splitlines()
    assert ["+6.00", "ms", "-", "6.00ms", "0", "to", "1", "task", "sum", "(new)"] in [line.split() for line in lines]
    assert ["-4.00", "ms", "8.00ms", "4.00ms", "2", "to", "1", "task", "load"] in [line.split() for line in lines]
    assert "\x1b" not in "".join(lines)
    assert "task old" not in venturi("diff", "-n", "2", *sides, check=0).stdout
    venturi("diff", *sides, "-o", tmp_path / "page.html", check=0)
    assert "Task load: 8.00 ms, then 4.00 ms (-50 %)." in notes(tmp_path / "page.html")
    assert "Task sum: 6.00 ms (new)." in notes(tmp_path / "page.html")


def test_steps(venturi):
    steps = os.path.join(GOLDEN, "v1-steps.vt")
    rows = json.loads(venturi("diff", "--json", steps, steps, check=0).stdout)["parts"]
    report = {row["source"]: row for row in json.loads(venturi("report", "--json", steps, check=0).stdout)["steps"]}
    assert rows and {row["name"] for row in rows} == set(report)
    for row in rows:
        assert row["kind"] == "step" and row["match"] == "both" and row["base"] == row["new"]
        assert row["new"]["count"] == sum(one["messages"] for name, one in report.items() if name == row["name"])


def test_nothing_at_all(venturi):
    empty = os.path.join(GOLDEN, "v1-empty.vt")
    done = venturi("diff", empty, empty, check=2)
    assert "there is nothing that both of them hold" in done.stderr and len(done.stderr.splitlines()) == 1
