"""The machine's clock is set while a server shows a program."""
import glob
import os

import pytest

FAKETIME = next(iter(glob.glob("/usr/lib/*/faketime/libfaketime.so.1")), None)

pytestmark = [
    pytest.mark.skipif(not FAKETIME, reason="no libfaketime on this machine"),
    pytest.mark.skipif(bool(os.environ.get("VENTURI_SANITIZE")), reason="a preloaded library and a sanitizer do not go together"),
]


def test_open_spans_do_not_follow_a_clock_that_is_set(serve, monitored, tmp_path):
    stamp = tmp_path / "stamp"
    stamp.write_text("+0")
    program = monitored()
    program.tell("hold")
    server = serve(program.path, env={"LD_PRELOAD": FAKETIME, "FAKETIME_TIMESTAMP_FILE": str(stamp), "FAKETIME_NO_CACHE": "1",
                                      "DONT_FAKE_MONOTONIC": "1"})

    def held(state):
        return next((one for one in state["threads"]["list"] if one["open"] == "held"), None)
    before = server.wait(held, "a span that is open")
    for shift in (3600, -3600):
        stamp.write_text("%+d" % shift)
        after = server.wait(lambda state: held(state) and abs(state["now_ms"] - before["now_ms"] - 1000 * shift) < 600000, "the other time")
        assert held(before)["open_ns"] < held(after)["open_ns"] < 600e9
    program.tell("go on")
