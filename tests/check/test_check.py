"""`venturi check` on files and budgets: every answer follows from figures that are made up."""
import json
import os
import sys
import xml.etree.ElementTree

import pytest
from conftest import TOP, NewRecording

SAME = [0.100, 0.101, 0.099, 0.102, 0.098, 0.100, 0.101, 0.099, 0.100, 0.1005]


def times(factor):
    return [factor * value for value in SAME]


def rows(done):
    return {row["name"]: row for row in json.loads(done.stdout)["rows"]}


@pytest.mark.parametrize("factor, code, word", [(1, 0, "OK: no regression"), (1.02, 0, "OK: no regression"),
                                                (0.5, 0, "OK: no regression"), (1.3, 1, "REGRESSION: cpu +30 %")])
def test_times_of_two_benches(venturi, bench_file, factor, code, word):
    done = venturi("check", bench_file("a.json", SAME), bench_file("b.json", times(factor)), check=code)
    assert word in done.stdout


def test_too_few_runs_are_refused(venturi, bench_file):
    done = venturi("check", bench_file("a.json", SAME), bench_file("b.json", times(3)[:5]), check=3)
    assert "INCONCLUSIVE: too few runs to judge cpu: 10 and 5, it takes 6 on each side" in done.stdout


def test_one_of_many_that_may_be_chance(venturi, bench_file):
    """Six runs a side: p is 0.001 at best, and ten are tested."""
    def with_spans(name, factor):
        path = bench_file(name, SAME[:6])
        bench = json.loads(path.read_text())
        bench["benches"][0]["quantities"] += [
            {"name": "span:%d" % i, "kind": "time", "share": 0.1, "values": [value * (1 if i else factor) for value in SAME[:6]]}
            for i in range(9)]
        path.write_text(json.dumps(bench))
        return path

    done = venturi("check", with_spans("a.json", 1), with_spans("b.json", 2), check=3)
    text = " ".join(done.stdout.split())
    assert "span:0 changed by +9" in text and ": among 10 tests that may be chance (p 0.011); more runs" in text, text


def test_counts_come_first(venturi, bench_file):
    base = bench_file("a.json", SAME, {"calls:parse a.py": 30, "calls:other a.py": 7})
    done = venturi("check", base, bench_file("b.json", SAME, {"calls:parse a.py": 1000, "calls:other a.py": 7}), check=1)
    assert "REGRESSION: calls:parse a.py: 30, then 1000 (33.3 times)" in done.stdout
    assert "1 count is the same on both sides" in done.stdout
    venturi("check", base, bench_file("c.json", SAME, {"calls:parse a.py": 29, "calls:other a.py": 7}), check=0)


def test_counts_without_times_are_enough_to_fail_but_not_to_pass(venturi, bench_file):
    base = bench_file("a.json", SAME[:1], {"calls:f a.py": 3})
    venturi("check", base, bench_file("b.json", SAME[:1], {"calls:f a.py": 4}), check=1)
    done = venturi("check", base, bench_file("c.json", SAME[:1], {"calls:f a.py": 3}), check=3)
    assert "too few runs" in done.stdout


@pytest.mark.parametrize("other, reason", [
    ({"machine": "Other CPU"}, "the processors differ: Test CPU, then Other CPU"),
    ({"command": "other work"}, "the commands differ: work, then other work"),
    ({"mode": "sampled"}, "they were not measured in the same way: plain, then sampled"),
    ({"interpreter": "Python 3.13.0"}, "the interpreters differ: Python 3.12.0, then Python 3.13.0"),
])
def test_what_cannot_be_compared_is_said(venturi, bench_file, other, reason):
    base = bench_file("a.json", SAME, interpreter="Python 3.12.0")
    now = bench_file("b.json", times(3), **{"interpreter": "Python 3.12.0", **other})
    done = venturi("check", base, now, check=3)
    assert "INCONCLUSIVE: not comparable: " + reason in " ".join(done.stdout.split())
    assert "REGRESSION" in venturi("check", "--force", base, now, check=1).stdout


def test_memory_decides_if_it_is_asked_to(venturi, bench_file):
    def with_memory(name, megabytes):
        path = bench_file(name, SAME)
        bench = json.loads(path.read_text())
        bench["benches"][0]["quantities"].append({"name": "rss", "kind": "memory", "values": [megabytes * 1e6 + i for i in range(10)]})
        path.write_text(json.dumps(bench))
        return path

    both = with_memory("a.json", 100), with_memory("b.json", 200)
    assert "does not decide: --gate rss makes it" in " ".join(venturi("check", *both, check=0).stdout.split())
    assert "REGRESSION: rss" in venturi("check", "--gate", "rss", *both, check=1).stdout
    venturi("check", "--gate", "rss", both[0], both[0], check=0)


def test_nothing_in_common(venturi, bench_file, tmp_path):
    empty = bench_file("a.json", command="")
    assert "INCONCLUSIVE: nothing was compared" in venturi("check", empty, empty, check=3).stdout
    (tmp_path / "none.json").write_text('{"format":"venturi bench","version":1,"benches":[]}')
    assert "it holds no run of any command" in venturi("check", tmp_path / "none.json", empty, check=2).stderr


def test_items_divide_times(venturi, bench_file):
    done = venturi("check", "--json", bench_file("a.json", SAME, {"calls:f a.py": 10}, items=10),
                   bench_file("b.json", times(2), {"calls:f a.py": 20}, items=20), check=0)
    assert rows(done)["cpu"]["per_item"] and rows(done)["cpu"]["base"] == pytest.approx(0.01)
    assert not rows(done)["calls:f a.py"]["gates"]
    assert "the work differs: 10 items, then 20" in json.loads(done.stdout)["notes"][0]


def test_two_commands_in_turn_in_one_file(venturi, bench_file, tmp_path):
    first, second = (json.loads(bench_file(name, value, command=name, bench=name).read_text())
                     for name, value in (("a", SAME), ("b", times(1.08))))
    first["benches"] += second["benches"]
    path = tmp_path / "both.json"
    path.write_text(json.dumps(first))
    venturi("check", path, check=0)  # apart: less than 10 %
    first["interleaved"] = True
    path.write_text(json.dumps(first))
    done = venturi("check", "--json", path, check=1)
    assert rows(done)["cpu"]["test"] == "signed rank"
    assert rows(done)["cpu"]["p"] == 2 ** -10


def test_files_of_hyperfine(venturi, tmp_path):
    for name, factor in (("a", 1), ("b", 1.5)):
        (tmp_path / name).write_text(json.dumps({"results": [{"command": "work", "mean": 1, "times": times(factor)}]}))
    done = venturi("check", tmp_path / "a", tmp_path / "b", check=1)
    assert "REGRESSION: wall +50 %" in done.stdout  # they hold no CPU time of single runs


@pytest.mark.parametrize("kind", ["google-benchmark", "pyperf"])
def test_turns_of_a_loop_may_be_short(venturi, tmp_path, kind):
    """300 ns instead of 100: less than a run could ever lose, and three times as slow."""
    for name, factor in (("a", 1e-6), ("b", 3e-6)):
        if kind == "pyperf":
            found = {"metadata": {"name": "f"}, "runs": [{"values": times(factor)}]}
            content = {"version": "1.0", "benchmarks": [found]}
        else:
            content = {"context": {}, "benchmarks": [
                {"name": "f", "run_type": "iteration", "real_time": 1e9 * value, "cpu_time": 1e9 * value, "time_unit": "ns"}
                for value in times(factor)]}
        (tmp_path / name).write_text(json.dumps(content))
    done = venturi("check", tmp_path / "a", tmp_path / "b", check=1)
    assert "+200 %" in done.stdout or "3 times" in done.stdout
    assert "mostly to start" not in done.stdout
    venturi("check", tmp_path / "a", tmp_path / "a", check=0)


def edited(path, change):
    content = json.loads(path.read_text())
    change(content)
    path.write_text(json.dumps(content))
    return path


def without(*names):
    def change(content):
        bench = content["benches"][0]
        bench["quantities"] = [one for one in bench["quantities"] if one["name"] not in names]
    return change


@pytest.mark.parametrize("names, code, words", [
    (("cpu", "wall"), 3, "the new side has no times"),
    (("calls:f a.py",), 3, "the new side has no counts"),
    (("cpu",), 0, "OK: no regression"),  # the wall's time decides
])
def test_what_the_new_side_lacks(venturi, bench_file, names, code, words):
    base = bench_file("a.json", SAME, {"calls:f a.py": 30})
    now = edited(bench_file("b.json", SAME, {"calls:f a.py": 30}), without(*names))
    done = venturi("check", base, now, check=code)
    assert words in " ".join(done.stdout.split())
    venturi("check", "--force", base, now, check=0)
    slow = edited(bench_file("c.json", times(2), {"calls:f a.py": 30}), without("cpu"))
    assert "REGRESSION: wall +100 %" in venturi("check", base, slow, check=1).stdout


def test_commands_on_one_side_are_named(venturi, bench_file):
    base = bench_file("a.json", SAME, bench="x")
    more = json.loads(bench_file("b.json", SAME, bench="y").read_text())["benches"]
    now = edited(bench_file("c.json", SAME, bench="x"), lambda content: content["benches"].extend(more))
    for sides, where in (((base, now), "new side"), ((now, base), "base")):
        text = " ".join(venturi("check", *sides, check=0).stdout.split())
        assert "OK: no regression in what both sides have; 1 command is on one side only" in text
        assert "Note: y is only in the %s" % where in text


def test_legend_is_of_what_is_there(venturi, bench_file):
    """All that is shown decides: nothing is in parentheses."""
    def without_wall(content):
        content["benches"][0]["quantities"] = [row for row in content["benches"][0]["quantities"] if row["name"] != "wall"]

    both = [bench_file(name, SAME) for name in ("a.json", "b.json")]
    text = venturi("check", *both, check=0).stdout
    assert "in parentheses" in text and "(Change: middle of the pairs (Hodges-Lehmann), not the ratio of the medians)\n" in text
    assert "Hodges-Lehmann" in venturi("check", "--markdown", *both, check=0).stdout
    text = venturi("check", *(edited(path, without_wall) for path in both), check=0).stdout
    assert "cpu" in text and "(" not in text.split("Quantity")[1].split("cpu")[0] and "in parentheses" not in text


def test_no_work_done_is_no_gain(venturi, bench_file):
    now = edited(bench_file("b.json", times(0.1), items=5), lambda content: content["benches"][0]["quantities"][-1].update(values=[0]))
    done = venturi("check", bench_file("a.json", SAME, items=5), now, check=3)
    assert "the new side did no items, the base 5" in " ".join(done.stdout.split())
    assert "no items were counted" in venturi("check", "--budget", "cpu/item<3ms", now, check=3).stdout


@pytest.mark.parametrize("budget, units", [("cpu<2G", "'G' but in ns, us, ms, s, min or h"), ("cpu<50J", "'J' but in ns, us, ms, s, min or h"),
                                           ("rss<2s", "'s' but in B, k, M or G (1024 each)"), ("throughput>=1ms", "'ms' but in /s"),
                                           ("items>1s", "'s' but in plain numbers")])
def test_units_fit_what_they_limit(venturi, bench_file, budget, units):
    assert "is not measured in " + units in venturi("check", "--budget", budget, bench_file("a.json", SAME), check=2).stderr


@pytest.mark.parametrize("text", ["", "{", "[", "{}", "text", '{"format":"venturi bench","version":1,"benches":[]} more', '{"format":"venturi bench","version":1,"benches":[{"quantities":3}]}'])
def test_files_that_are_none(venturi, bench_file, tmp_path, text):
    (tmp_path / "bad").write_text(text)
    done = venturi("check", bench_file("a.json", SAME), tmp_path / "bad", check=2)
    assert str(tmp_path / "bad") in done.stderr and done.stderr.count("\n") == 1
    assert done.stdout == ""


def test_file_that_is_not_there(venturi, bench_file, tmp_path):
    assert "none.vt: cannot open" in venturi("check", bench_file("a.json", SAME), tmp_path / "none.vt", check=2).stderr


@pytest.mark.parametrize("words, message", [
    ((), "which two?"),
    (("a",), None),
    (("a", "b", "c"), "one BASE and one NEW; a command goes behind --"),
    (("--base-cmd", "true"), "--base-cmd needs --new-cmd"),
    (("--", "true"), "compare it with what?"),
    (("a", "--", "true"), "either files or a command, not both"),
    (("--setup", "true", "a", "b"), "--setup goes with --rev"),
    (("--update", "a"), "--update needs to know which: --baseline FILE"),
    (("--rev", "a..b"), "which command?"),
    (("--pairs", "6", "--base-cmd", "true", "--new-cmd", "true"), "--pairs: 6 pairs prove nothing, it takes 7 at least"),
    (("--pairs", "9..8", "--base-cmd", "true", "--new-cmd", "true"), "--pairs: '9..8' is not MIN..MAX"),
    (("--threshold", "x", "a", "b"), "--threshold: 'x' is no percentage"),
    (("--selftest", "0", "--", "true"), "--selftest: '0' is no number of comparisons"),
    (("--json", "--markdown", "a", "b"), "either --json or --markdown"),
    (("--budget", "cpu<1", "--"), "which two?"),
    (("--base-cmd", "false", "--new-cmd", "true"), "false: failed with exit code 1"),
    (("--base-cmd", "true", "--new-cmd", "/no/such"), "/no/such: not found"),
])
def test_wrong_words(venturi, tmp_path, words, message):
    done = venturi("check", *words, cwd=tmp_path, check=2)
    assert (message or "a: cannot open") in done.stderr
    assert done.stdout == ""


# ---- budgets ---------------------------------------------------------------------------------------


@pytest.fixture
def recording(tmp_path):
    """100 spans "step" of 1 to 100 ms, one after the other."""
    new = NewRecording()
    new.site(1, "step")
    events, at = new.events(0, 0), 0
    for i in range(1, 101):
        events.begin(at, 1)
        at += i * 10 ** 6
        events.end(at)
    events.write()
    return new.save(tmp_path / "r.vt")


@pytest.mark.parametrize("budget, code, word", [
    ("step:p99<110ms", 0, "OK: all budgets are kept"),
    ("step:p99<50ms", 1, "REGRESSION: over budget: step:p99<50ms (it is 99"),
    ("step:count<=100", 0, "kept, it is 100"),
    ("step:max<=99ms", 1, "BROKEN, it is 100 ms"),
    ("stop:p99<1s", 3, "INCONCLUSIVE: budget stop:p99<1s: nothing of that name was measured"),
    ("step:p99", 2, "write NAME<LIMIT"),
    ("step:p99<fast", 2, "'fast' is no number"),
])
def test_budgets_of_a_recording(venturi, recording, budget, code, word):
    done = venturi("check", "--budget", budget, recording, check=code)
    assert word in done.stdout + done.stderr


def test_a_broken_budget_beats_an_unknown_one(venturi, recording):
    venturi("check", "--budget", "none<1", "--budget", "step:p99<1ms", recording, check=1)


def test_budget_of_a_command(venturi, work):
    done = venturi("check", "--no-counts", "--items", "did ([0-9]+)", "--budget", "cpu<60s", "--budget", "throughput>0.001/s", "--",
                   *work(1000).split(), check=0)
    assert done.stdout.count(": kept, it is") == 2
    venturi("check", "--no-counts", "--budget", "cpu<1us", "--", *work(1000).split(), check=1)


# ---- baselines -------------------------------------------------------------------------------------


def test_baseline_is_written_and_kept_to(venturi, tmp_path, work):
    baseline = tmp_path / "baseline.json"
    command = work(100000).split()
    assert "cannot open" in venturi("check", "--baseline", baseline, "--no-counts", "--", *command, check=2).stderr
    venturi("check", "--baseline", baseline, "--update", "--no-counts", "--", *command, check=0)
    text = json.loads(baseline.read_text())
    assert len(text["benches"][0]["quantities"][0]["values"]) == 10
    assert text["benches"][0]["quantities"][0]["name"] == "cpu"
    text["benches"][0]["quantities"][0]["values"] = [1e-3] * 10
    baseline.write_text(json.dumps(text))
    done = venturi("check", "--json", "--baseline", baseline, "--no-counts", "--", *command, check=1)
    assert json.loads(done.stdout)["confirmed"] and json.loads(done.stdout)["confirming_runs"] == 10
    text["budgets"] = ["cpu<60s"]
    text["machine"]["cpu"] = "Other CPU"
    baseline.write_text(json.dumps(text))
    done = venturi("check", "--baseline", baseline, "--no-counts", "--", *command, check=3)
    assert "nothing" in done.stdout or "the processors differ" in done.stdout
    assert "budget cpu<60s: kept" in done.stdout
    venturi("check", "--baseline", baseline, "--update", "--no-counts", "--", *command, check=0)
    assert json.loads(baseline.read_text())["budgets"] == ["cpu<60s"]  # written by hand: they stay


def test_counts_of_a_baseline_decide_on_every_machine(venturi, bench_file):
    baseline = bench_file("base.json", times(0.1), {"calls:f a.py": 3}, machine="Other CPU")
    done = venturi("check", "--baseline", baseline, bench_file("a.json", SAME, {"calls:f a.py": 3}), check=0)
    assert "OK: no count has grown; times are of another machine and were not compared" in " ".join(done.stdout.split())
    venturi("check", "--baseline", baseline, bench_file("b.json", SAME, {"calls:f a.py": 4}), check=1)
    same = bench_file("same.json", times(0.1), {"calls:f a.py": 3})
    venturi("check", "--baseline", same, bench_file("a.json", SAME, {"calls:f a.py": 3}), check=1)


def test_baseline_of_budgets_only(venturi, bench_file):
    """Ratios that no machine changes, as bench/baseline.json has them."""
    baseline = bench_file("base.json", budgets=["ratio<=1.1", "cpu<1s"], benches=[])
    text = json.loads(baseline.read_text())
    text["benches"] = []
    baseline.write_text(json.dumps(text))
    now = bench_file("a.json", SAME)
    new = json.loads(now.read_text())
    for value, code in ((1.05, 0), (1.2, 1)):
        new["benches"][0]["quantities"].append({"name": "ratio", "kind": "value", "values": [value]})
        now.write_text(json.dumps(new))
        venturi("check", "--baseline", baseline, now, check=code)
        new["benches"][0]["quantities"].pop()


# ---- output ----------------------------------------------------------------------------------------

HOSTILE = "calls:<script>|`x`\x1b[2J\n\"&' a.py"


def test_hostile_names_in_every_output(venturi, bench_file, tmp_path):
    base, now = bench_file("a.json", SAME, {HOSTILE: 1}), bench_file("b.json", SAME, {HOSTILE: 2})
    junit = tmp_path / "j.xml"
    text = venturi("check", base, now, "--junit", junit, check=1).stdout
    assert "\x1b" not in text and "\\x1b[2J" in text
    assert json.loads(venturi("check", "--json", base, now, check=1).stdout)["rows"][-1]["name"] == HOSTILE
    markdown = venturi("check", "--markdown", base, now, check=1).stdout
    row = next(line for line in markdown.splitlines() if "script" in line and line.startswith("|"))
    assert "<script" not in markdown and "\x1b" not in markdown and "\\|\\`x\\`" in row
    cases = list(xml.etree.ElementTree.parse(junit).iter("testcase"))
    assert any("<script>" in case.get("name") and case.find("failure") is not None for case in cases)


def test_junit_says_what_the_exit_code_says(venturi, bench_file, tmp_path):
    junit, base = tmp_path / "j.xml", bench_file("a.json", SAME)
    for now, code, kind in ((SAME, 0, None), (times(2), 1, "failure"), (SAME[:3], 3, "error")):
        venturi("check", base, bench_file("b.json", now), "--junit", junit, check=code)
        suite = xml.etree.ElementTree.parse(junit).getroot().find("testsuite")
        verdict = next(case for case in suite.iter("testcase") if case.get("name") == "verdict")
        assert [child.tag for child in verdict] == ([kind] if kind else [])
        assert int(suite.get("tests")) == len(list(suite.iter("testcase")))
        assert int(suite.get("failures")) == len(list(suite.iter("failure")))


def test_markdown_is_a_table(venturi, bench_file):
    lines = venturi("check", "--markdown", bench_file("a.json", SAME), bench_file("b.json", times(2)), check=1).stdout.splitlines()
    assert lines[0] == "### Performance: ❌ regression"
    assert any(line.startswith("| cpu | 100 ms | 200 ms | +100 % |") and line.endswith("| **worse** |") for line in lines)


def test_text_fits_80_columns(venturi, bench_file):
    base = bench_file("a.json", SAME, {"calls:" + 20 * "long" + " a.py": 1})
    now = bench_file("b.json", times(3), {"calls:" + 20 * "long" + " a.py": 200000}, machine="Another CPU with quite a long name")
    text, code, _ = venturi.on_terminal("check", "--force", str(base), str(now))
    assert code == 1
    assert all(len(line) <= 80 for line in text.decode().splitlines())


# ---- recordings ------------------------------------------------------------------------------------


def spans(path, count, length):
    new = NewRecording()
    new.site(1, "step")
    events, at = new.events(0, 0), 0
    for _ in range(count):
        events.begin(at, 1)
        at += length
        events.end(at)
    events.write()
    return new.save(path)


def test_recordings_are_compared_by_their_counts(venturi, tmp_path):
    base = spans(tmp_path / "a.vt", 30, 10 ** 6)
    done = venturi("check", base, spans(tmp_path / "b.vt", 1000, 10 ** 6), check=1)
    assert "REGRESSION: spans:step: 30, then 1000 (33.3 times)" in done.stdout
    assert "span step" in done.stdout.split("What carries it")[1]
    assert "too few runs" in venturi("check", base, spans(tmp_path / "c.vt", 30, 10 ** 7), check=3).stdout


def test_diff_has_the_same_numbers(venturi, tmp_path):
    base, now = spans(tmp_path / "a.vt", 30, 10 ** 6), spans(tmp_path / "b.vt", 40, 10 ** 6)
    check = json.loads(venturi("check", "--json", base, now, check=1).stdout)
    diff = json.loads(venturi("diff", "--json", base, now, check=0).stdout)
    step = next(one for one in diff["functions"] if one["name"] == "step")
    reason = check["reasons"][0]
    assert (reason["base_count"], reason["new_count"]) == (30, 40) == (step["base"]["calls"], step["new"]["calls"])
    shared = {row["name"]: row for row in diff["quantities"]}
    for row in check["rows"]:
        assert shared[row["name"]]["base"] == row["base"] and shared[row["name"]]["new"] == row["new"]


def work_of(path, count):
    """Spans and so many items."""
    new = NewRecording()
    new.site(1, "step")
    new.site(7, "venturi.items", kind=2)
    new.site(8, "venturi.items.effective", kind=2)
    events = new.events(0, 0)
    events.begin(0, 1)
    events.counter(10, 7, count)
    events.counter(10, 8, count // 2)
    events.end(10 ** 6)
    events.write()
    return new.save(path)


def test_the_page_of_a_diff_says_what_the_terminal_says(venturi, tmp_path):
    sys.path.insert(0, os.path.join(TOP, "tests", "page"))
    from page_reader import read
    sides = work_of(tmp_path / "a.vt", 30), work_of(tmp_path / "b.vt", 40)
    lines = [line for line in venturi("diff", *sides, check=0).stdout.splitlines() if "tems: " in line]
    assert lines == ["Items: 30, then 40 (+33 %)", "Effective items: 15, then 20 (+33 %)"]
    venturi("diff", *sides, "-o", tmp_path / "page.html", check=0)
    notes = read(tmp_path / "page.html").directory["notes"]
    assert [note["text"] for note in notes if note["kind"] == "quantity"] == [line + "." for line in lines]


def tasks(path, count):
    new = NewRecording()
    new.site(1, "load")
    new.tasks([(number, number * 10 ** 6, number * 10 ** 6 + 10 ** 5) for number in range(1, count + 1)])
    return new.save(path)


def test_tasks_are_counted_and_carry_a_verdict(venturi, tmp_path):
    done = venturi("check", "--json", tasks(tmp_path / "a.vt", 3), tasks(tmp_path / "b.vt", 5), check=1)
    found = json.loads(done.stdout)
    assert found["why"] == "tasks:load: 3, then 5 (+67 %)"
    assert [(one["kind"], one["what"], one["base_count"], one["new_count"]) for one in found["reasons"]] == [("task", "load", 3, 5)]
    assert found["reasons"][0]["new_s"] == pytest.approx(5e-4)
    for form in ((), ("--markdown",)):
        text = venturi("check", *form, tmp_path / "a.vt", tmp_path / "b.vt", check=1).stdout
        assert "(time of functions and spans: their own; of tasks: all of it)" in text and "of lines" not in text


def test_items_of_a_recording(venturi, tmp_path):
    """VT_ITEMS and VT_ITEMS_DONE: counters of these names."""
    new = NewRecording()
    new.site(1, "venturi.items", kind=1)
    new.site(2, "venturi.items.effective", kind=1)
    events = new.events(0, 0)
    for at in range(10):
        events.counter(at * 10 ** 8, 1, 3)
    events.counter(10 ** 9, 2, 12)
    events.write()
    path = new.save(tmp_path / "i.vt")
    done = venturi("check", "--json", "--budget", "items>=30", "--budget", "throughput>=30/s", "--budget", "effective<=12.01/s", path,
                   check=0)
    assert [round(one["value"], 6) for one in json.loads(done.stdout)["budgets"]] == [30, 30, 12]


# ---- before anything runs --------------------------------------------------------------------------


@pytest.mark.parametrize("words, message", [
    (("--budget", "cpu"), "write NAME<LIMIT"),
    (("--budget", "cpu<1s", "--junit", "/no/such/x.xml"), "/no/such/x.xml: cannot create"),
    (("--baseline", "missing.json"), "missing.json: cannot open: No such file or directory (--update writes it)"),
    (("--baseline", "bad.json"), "bad.json"),
    (("--baseline", "/no/such/b.json", "--update"), "/no/such/b.json: cannot create"),
    (("--baseline", "missing.json", "-n", "3"), "--runs: a baseline takes 6 runs at least"),
])
def test_arguments_are_looked_at_first(venturi, tmp_path, words, message):
    (tmp_path / "bad.json").write_text("{")
    done = venturi("check", *words, "--", "touch", "ran", cwd=tmp_path, check=2)
    assert message in done.stderr
    assert not (tmp_path / "ran").exists()


def test_missing_new_command_is_seen_before_the_base_runs(venturi, tmp_path):
    done = venturi("check", "--base-cmd", "touch ran", "--new-cmd", "/no/such", cwd=tmp_path, check=2)
    assert "/no/such: not found" in done.stderr and not (tmp_path / "ran").exists()


def test_budgets_that_need_something(venturi, recording):
    done = venturi("check", "--budget", "energy<1J", "--budget", "throughput>1/s", recording, check=3)
    assert "no joules were recorded (venturi run --energy)" in " ".join(done.stdout.split())
    assert "no items were counted" in done.stdout


def test_joules_of_a_command_are_metered(venturi, work):
    done = venturi("check", "--no-counts", "-n", "2", "--budget", "energy<1000kJ", "--", *work(100000).split())
    assert done.returncode == 0 or "no source of energy" in done.stdout
    assert "nothing of that name" not in done.stdout


def test_all_broken_budgets_are_named(venturi, recording):
    done = venturi("check", "--json", "--budget", "step:p99<1ms", "--budget", "step:max<1ms", recording, check=1)
    assert "step:p99<1ms" in json.loads(done.stdout)["why"] and "step:max<1ms" in json.loads(done.stdout)["why"]


def test_another_interpreter_of_a_baseline(venturi, bench_file):
    base = bench_file("base.json", SAME, {"calls:f a.py": 3}, interpreter="Python 3.9.1")
    now = bench_file("a.json", SAME, {"calls:f a.py": 4}, interpreter="Python 3.11.7")
    text = " ".join(venturi("check", "--baseline", base, now, check=3).stdout.split())
    assert "not comparable: the interpreters differ" in text and "--force compares all the same" in text
    assert text.count("the interpreters differ") == 1 and "another machine" not in text


def test_too_few_runs_have_no_interval(venturi, bench_file):
    text = venturi("check", bench_file("a.json", SAME[:1], {"calls:f a.py": 3}), bench_file("b.json", SAME[:1], {"calls:f a.py": 3}), check=3).stdout
    assert "1 count is the same, but too few runs" in " ".join(text.split()) and "to ?" not in text


def test_markdown_says_what_was_compared(venturi, bench_file):
    text = venturi("check", "--markdown", bench_file("a.json", SAME), bench_file("b.json", times(2)), check=1).stdout
    assert "- base: " in text and "| p |" in text and "| (worse) |" in text


def test_a_part_of_a_suite(venturi, bench_file, tmp_path):
    one, two = (json.loads(bench_file(name, SAME, bench=name).read_text()) for name in ("one", "two"))
    one["benches"] += two["benches"]
    (tmp_path / "all.json").write_text(json.dumps(one))
    (tmp_path / "part.json").write_text(json.dumps(two))
    assert "no command in common" not in venturi("check", tmp_path / "all.json", tmp_path / "part.json").stdout


def test_noncharacters_in_junit(venturi, bench_file, tmp_path):
    name = "calls:\ufffe\uffff a.py"
    venturi("check", bench_file("a.json", SAME, {name: 1}), bench_file("b.json", SAME, {name: 2}), "--junit", tmp_path / "j.xml", check=1)
    xml.etree.ElementTree.parse(tmp_path / "j.xml")
