"""Files of a spool that a shipper deletes soon after they appeared: they are read all the same, or it is said that they were not."""
import os
import re
import signal

from conftest import named, wait_for


def counted(server):
    """(messages of steps, files that were missed) of /metrics."""
    text = server.ask("/metrics")[2].decode()
    messages = re.findall(r"^venturi_step_messages_total\{.*\} (\S+)", text, re.M)
    return sum(map(float, messages)), float(re.search(r"^venturi_recordings_missed_total (\S+)", text, re.M)[1])


def short_job(monitored, spool):
    program = monitored("--spool", str(spool))
    program.tell("round 1")
    program.stop()
    for path in spool.glob("*.vt"):
        path.unlink()


def test_files_that_are_deleted_at_once(serve, monitored, tmp_path):
    spool = tmp_path / "spool"
    spool.mkdir()
    server = serve(spool)
    for _ in range(6):
        short_job(monitored, spool)
    wait_for(lambda: sum(a * b for a, b in zip(counted(server), (1, 200))) == 1200, "six jobs of 200 messages")
    assert server.state()["kind"] == "spool"


def test_what_was_missed_is_counted(serve, monitored, tmp_path):
    spool = tmp_path / "spool"
    spool.mkdir()
    server = serve(spool)
    short_job(monitored, spool)
    wait_for(lambda: counted(server) == (200, 0), "what was not missed")
    os.kill(server.process.pid, signal.SIGSTOP)
    try:
        short_job(monitored, spool)
    finally:
        os.kill(server.process.pid, signal.SIGCONT)
    wait_for(lambda: counted(server) == (200, 1), "a file that nobody could open")
    lost = server.wait(lambda state: state["losses"], "losses")["losses"]
    assert named({"list": lost}, "recordings deleted before they were read", "reason")["events"] == 1
