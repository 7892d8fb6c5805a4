"""Findings: each rule on a recording that has just what it looks for, and on one that has not quite enough of it."""
import json
import os
import random

import pytest

from cli_conftest import NewRecording
from vtwrite import varint

US, MS = 1000, 1000000


def findings(venturi, path):
    return json.loads(venturi("report", "--json", path, check=0).stdout)["findings"]


def kinds(venturi, path):
    return [finding["kind"] for finding in findings(venturi, path)]


def one(venturi, path, kind):
    found, = [finding for finding in findings(venturi, path) if finding["kind"] == kind]
    return found


def test_self_time(venturi, spans):
    found = one(venturi, spans([("a", 0, 100), ("b", 100, 180), ("c", 180, 300)]), "self-time")
    assert found["text"] == "c itself takes 40 % of the time of all spans: 120 ns in 1 span."
    assert found["severity"] == "info" and found["weight"] == pytest.approx(0.4)
    assert found["evidence"] == {"what": "span", "name": "c", "id": 3}
    even = [("n%d" % i, i * 10, i * 10 + 10) for i in range(5)]
    assert kinds(venturi, spans(even)) == []
    assert kinds(venturi, spans([("only", 0, 10)])) == [], "of one it goes without saying"


def test_self_time_of_functions(venturi, calls):
    found = one(venturi, calls("main;work 3000", "main 1000"), "self-time")
    assert found["text"] == "work itself takes 75 % of the time of all functions: 3.00 ms in 1 call."
    assert found["severity"] == "notice" and found["evidence"] == {"what": "function", "name": "work"}


def requests(count, each, length):
    made = []
    at = 0
    for _ in range(count):
        begin = at
        for _ in range(each):
            made.append(("query", at + 10, at + 10 + length))
            at += 20 + length
        at += 10
        made.append(("request", begin, at))
        at += 10
    return made


def test_n_plus_one(venturi, spans):
    found = one(venturi, spans(requests(20, 12, 100)), "n-plus-one")
    assert found["text"].startswith("query runs 12 times for each span of request: 240 in all, ")
    assert found["evidence"]["name"] == "query"
    assert "n-plus-one" not in kinds(venturi, spans(requests(20, 9, 100)))
    assert "n-plus-one" not in kinds(venturi, spans(requests(2, 120, 100))), "a loop"
    assert "n-plus-one" not in kinds(venturi, spans(requests(20, 12, 1))), "they take no time"


def lasting(lengths):
    at = 0
    for length in lengths:
        yield "step", at, at + length
        at += length + 5


def test_tail(venturi, spans):
    found = one(venturi, spans(list(lasting(([100] * 48 + [5000, 5000]) * 10))), "tail")
    assert found["text"].startswith("step is sometimes much slower: half of its 500 spans take at most 100 ns, 1 in 100 takes ")
    assert found["text"].endswith(" or more (50 times that).")
    assert "tail" not in kinds(venturi, spans(list(lasting(([100] * 48 + [900, 900]) * 10)))), "nine times"
    assert "tail" not in kinds(venturi, spans(list(lasting(([100] * 48 + [5000, 5000]) * 3)))), "150 spans"


def test_recursion(venturi, calls):
    found = one(venturi, calls(";".join(["walk"] * 150) + " 10"), "recursion")
    assert found["text"] == "walk calls itself up to 150 levels deep."
    assert "recursion" not in kinds(venturi, calls(";".join(["walk"] * 99) + " 10"))


def test_tiny(venturi, spans):
    many = [("tiny", at, at + 10) for at in range(0, 20 * 20000, 20)]
    found = one(venturi, spans(many, pair_cost=20000, inner_cost=4000), "tiny-calls")
    assert found["text"] == ("tiny is very short: run 20.0 k times for 6 ns each, less than what recording it costs (20 ns), "
                             "so its times are rough.")
    assert "tiny-calls" not in kinds(venturi, spans(many)), "nothing is known of the cost"
    assert "overhead" in kinds(venturi, spans(many, pair_cost=20000, inner_cost=4000))


def failing(folder, count, failed):
    w = NewRecording()
    w.site(1, "step")
    events = w.events(0, 0)
    for i in range(count):
        events.begin(i * 100, 1)
        if i < failed:
            events.error(i * 100 + 10, "Bad", "no")
        events.end(i * 100 + 50)
    events.write()
    return w.save(folder / ("%d.vt" % failed))


def test_errors(venturi, tmp_path):
    found = one(venturi, failing(tmp_path, 200, 10), "errors")
    assert found["text"] == "step failed in 10 of 200 spans (5 %), most often with Bad."
    assert found["severity"] == "warning"
    assert one(venturi, failing(tmp_path, 200, 9), "errors")["severity"] == "notice"
    assert "errors" not in kinds(venturi, failing(tmp_path, 200, 0))
    assert "failed in 200 of 200 spans (100 %)" in one(venturi, failing(tmp_path, 200, 200), "errors")["text"]


def threads(folder, busy):
    w = NewRecording(pid=100)
    w.site(1, "work")
    for number, pairs in enumerate(busy, 1):
        w.track(number, name="w%d" % number, thread=200 + number)
        events = w.events(number, 0)
        for begin, end in pairs:
            events.begin(begin, 1)
            events.end(end)
        events.write()
    return w.save(folder / "threads.vt")


def test_serial_threads(venturi, tmp_path):
    found = one(venturi, threads(tmp_path, [[(0, 50 * MS)], [(50 * MS, 100 * MS)]]), "serial-threads")
    assert found["text"] == "2 threads take turns: while any of them is in a span, 1.00 are on average."
    assert found["confidence"]
    assert "serial-threads" not in kinds(venturi, threads(tmp_path, [[(0, 50 * MS)], [(20 * MS, 70 * MS)]]))


def test_imbalance(venturi, tmp_path):
    found = one(venturi, threads(tmp_path, [[(0, 90 * MS)], [(0, 10 * MS)], [(0, 10 * MS)], [(0, 10 * MS)]]), "imbalance")
    assert found["text"] == ("Thread w1 has 75 % of the time that 4 threads beside the main one spent in spans: 90.0 ms, "
                             "3.0 times the average.")
    assert found["evidence"] == {"what": "thread", "name": "w1", "id": 1}
    assert "imbalance" not in kinds(venturi, threads(tmp_path, [[(0, 19 * MS)]] + [[(0, 10 * MS)]] * 3))


def using(folder, cores, threads=0):
    """A recording of a machine with four CPUs: so many cores are busy in each tenth of a second."""
    w = NewRecording(pid=100)
    at = cpu = 0
    payload = b""
    for busy in [0] + cores:
        step = 100 * MS if busy or at else 0
        at += step
        cpu += int(busy * step)
        body = varint(0) + varint(0) + varint(step) + varint(1) + varint(cpu)
        payload += varint(2) + varint(len(body)) + body
    w.site(1, "work")
    for number in range(1, threads + 1):
        w.track(number, thread=200 + number)
        events = w.events(number, 0)
        events.begin(0, 1)
        events.end(at)
        events.write()
    w.block(29, payload, len(cores) + 1)
    return w.save(folder / "cpu.vt")


def test_one_core(venturi, tmp_path):
    found = one(venturi, using(tmp_path, [1] * 20), "cpu")
    assert found["text"] == "The program is bound by CPU: 2.00 s of CPU time in 2.00 s."
    found = one(venturi, using(tmp_path, [1] * 20, threads=3), "cpu")
    assert found["text"].startswith("3 threads, but no more than one core was busy: 2.00 s of CPU time in 2.00 s")
    assert "cpu" not in kinds(venturi, using(tmp_path, [2] * 10 + [0.01] * 10, threads=3)), "one on average, but two at once"
    assert "cpu" not in kinds(venturi, using(tmp_path, [2] * 10 + [0.01] * 10))


def test_losses_and_cut_off(venturi, tmp_path, spans, make_recording):
    found = one(venturi, make_recording("--plain"), "losses")
    assert found["text"].startswith("49 events were lost (buffers full), ") and found["severity"] == "warning"
    cut = spans([("a", 0, 10), ("b", 10, 20)], closed=False)
    assert one(venturi, cut, "cut-off")["text"] == "The recording has no end: it goes on, or what wrote it was stopped."
    assert "cut-off" not in kinds(venturi, spans([("a", 0, 10), ("b", 10, 20)]))
    assert "1 range of the file is damaged" in one(venturi, make_recording("--damage"), "damage")["text"]


def test_the_gravest_come_first_and_eight_are_shown(venturi, make_recording):
    order = ["warning", "notice", "info"]
    found = findings(venturi, make_recording("--plain"))
    ranks = [(order.index(finding["severity"]), -finding["weight"]) for finding in found]
    assert ranks == sorted(ranks) and len(ranks) > 2


def test_hostile_names_stay_in_one_sentence(venturi, spans):
    name = "\x1b[31m" + "y" * 10000 + "\u202e</script>\n"
    path = spans([(name, 0, 90), ("b", 90, 100)])
    found = one(venturi, path, "self-time")
    assert len(found["text"]) < 300 and found["evidence"]["name"] == name
    text = venturi("report", path, env={"COLUMNS": "80"}, check=0).stdout
    assert "\x1b" not in text and "\u202e" not in text
    lines = text[text.index("Findings"):text.index("\n\n", text.index("Findings"))].splitlines()
    assert max(map(len, lines)) <= 80


def test_bytes_that_are_no_text(venturi, tmp_path):
    w = NewRecording()
    w.site(1, b"\xff\xfe" * 60)
    w.site(2, b"b")
    events = w.events(0, 0)
    events.begin(0, 1)
    events.end(90)
    events.begin(90, 2)
    events.end(100)
    events.write()
    path = w.save(tmp_path / "x.vt")
    assert "itself takes 90 %" in one(venturi, path, "self-time")["text"]
    venturi("report", path, check=0)


def test_damaged_bytes_never_crash(venturi, make_recording, tmp_path):
    good = make_recording("--plain").read_bytes()
    choice = random.Random(5)
    for number in range(40):
        bad = bytearray(good)
        for _ in range(choice.randrange(1, 20)):
            bad[choice.randrange(16, len(bad))] = choice.randrange(256)
        path = tmp_path / "bad.vt"
        path.write_bytes(bad[:choice.randrange(len(bad) // 2, len(bad))] if number % 2 else bad)
        for command in ("report", "flame"):
            done = venturi(command, path)
            assert done.returncode in (0, 2), (number, command, done.stderr)


def test_real_program(venturi, tmp_path):
    program = os.path.join(os.environ.get("VENTURI_BUILD", os.path.dirname(venturi.path)), "examples", "pipeline")
    if not os.access(program, os.X_OK):
        pytest.skip("%s is not built" % program)
    path = tmp_path / "x.vt"
    venturi("run", "-q", "-o", path, program, check=0)
    found = {finding["kind"] for finding in findings(venturi, path)}
    assert {"errors", "self-time"} <= found
    tree, = json.loads(venturi("report", "--json", path, check=0).stdout)["resources"]
    assert tree["cpu_ns"] > 0 and tree["readings"] >= 2 and tree["end_ns"] > tree["begin_ns"]
    assert "\nResources: CPU " in venturi("report", path, check=0).stdout
