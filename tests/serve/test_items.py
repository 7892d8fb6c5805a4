"""Items of work that a program counts: the same in /api/state, /metrics, `venturi top` and `venturi report`."""
import json
import math
import re
import subprocess

import pytest
from conftest import VENTURI, cli_conftest, environment


def report_of(path):
    said = subprocess.run([VENTURI, "report", "--json", str(path)], capture_output=True, text=True, check=True, env=environment()).stdout
    return json.loads(said)["energy"]["items"]


def metrics_of(server):
    text = server.ask("/metrics")[2].decode()
    return {name: float(value) for name, value in re.findall(r"^venturi_((?:effective_)?items)_total (\S+)$", text, re.M)}


def head_of(path):
    return subprocess.run([VENTURI, "top", "-b", "-n", "1", str(path)], capture_output=True, text=True, check=True, env=environment()).stdout


def test_items_are_those_of_the_report(serve, monitored):
    program = monitored("--energy=50")
    server = serve(program.path)
    assert server.state()["items"] is None and not metrics_of(server)  # nobody has counted yet
    program.tell("items 600 20")
    program.tell("busy 1500")
    program.tell("items 300 10")
    state = server.wait(lambda state: state["items"] and state["items"]["raw"] == 900 and state["items"]["j_per_1000"], "all items")
    assert state["items"]["effective"] == 30
    assert metrics_of(server) == {"items": 900, "effective_items": 30}
    program.stop()
    over = server.wait(lambda state: not state["is_growing"] and state["caught_up"] == 1, "its end")["items"]
    wanted = report_of(program.path)
    assert over["raw"] == wanted["raw"] == 900 and over["effective"] == wanted["effective"] == 30
    assert over["wall_s"] == pytest.approx(wanted["wall_s"]) and over["j_per_1000"] == pytest.approx(wanted["j_per_1000"])
    server.wait(lambda state: state["items"]["raw_per_s"] == 0, "nothing more now")
    head = head_of(program.path)
    rate = float(re.search(r"items 900 \(([\d.]+)/s\)", head)[1])
    assert rate == pytest.approx(wanted["raw_per_s"], rel=0.01)
    assert "effective 30 (" in head and f"{wanted['j_per_1000']:.3g} J for 1,000" in head


def test_items_of_a_spool(serve, monitored, tmp_path):
    """Of all its files together."""
    spool = tmp_path / "spool"
    program = monitored("--spool", str(spool), env={"VENTURI_SPOOL_FILE_SECONDS": "1"})
    server = serve(spool)
    for number in range(1, 4):
        program.tell("items 7 3")
        while len(list(spool.glob("*.vt"))) <= number:
            program.tell("busy 50")
    state = server.wait(lambda state: state["items"] and state["items"]["raw"] == 21, "all items")
    assert state["items"]["effective"] == 9 and state["items"]["wall_s"] > 1 and not state["is_partial"]


def counted(tmp_path, numbers, done=()):
    made = cli_conftest().NewRecording()
    made.site(1, "venturi.items")
    made.site(2, "venturi.items.effective")
    made.site(3, "venturi.items.of.somebody.else")
    events = made.events(0, 0)
    for at, number in enumerate(numbers):
        events.counter(1000 * at + 1000, 1, number)
    for at, number in enumerate(done):
        events.counter(1000 * (at + len(numbers)) + 1000, 2, number)
    events.counter(10 ** 9, 3, 5)
    events.write()
    return made.save(tmp_path / "items.vt")


@pytest.mark.parametrize("numbers, done, shown, metric", [
    ([5, -3], [], 2, 5),  # some are taken back: the counter stays
    ([-3], [], None, 0),
    ([3, math.nan], [math.nan], None, 3),
    ([3, math.inf, -math.inf], [], None, 3),
    ([2 ** 62] * 4, [], 2.0 ** 64, 2.0 ** 64),
    ([4, "four"], [1], 4, 4),
])
def test_numbers_that_are_none(serve, tmp_path, numbers, done, shown, metric):
    path = counted(tmp_path, numbers, done)
    server = serve(path)
    items = server.wait(lambda state: state["caught_up"] == 1, "all of it")["items"]
    report = report_of(path)
    assert (items and items["raw"]) == shown == (report and report["raw"])
    assert metrics_of(server)["items"] == metric
    assert ("items " in head_of(path)) == (shown is not None)
