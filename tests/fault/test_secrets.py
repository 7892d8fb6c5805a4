"""Passwords in URLs: on no command line of any process while it runs, in no message; and the ways that keep them out of URLs."""
import os
import subprocess
import threading

import pytest

from conftest import environment, make_steps, many, wait_for
from es_stub import Stub, basic
from recorded import BUILD, VENTURI
from redis_stub import RedisStub

SECRET = "verySecret"
STEPS = os.path.join(BUILD, "tests", "programs", "steps")


def family(pid):
    """It and all that it has started, with their command lines."""
    found, left = {}, [pid]
    while left:
        pid = left.pop()
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as words:
                found[pid] = words.read().decode(errors="replace")
            with open(f"/proc/{pid}/task/{pid}/children") as children:
                left += map(int, children.read().split())
        except OSError:
            continue
    return found


@pytest.mark.parametrize("words", [("trace", "list", "--from", "URL"), ("trace", "show", "last", "--from=URL"), ("rank", "--from", "URL"),
                                   ("rank", "--from=URL"), ("ship", "RECORDING", "--to", "URL", "--once"), ("ship", "RECORDING", "--to=URL")])
def test_on_no_command_line(tmp_path, words):
    """While the store lets it wait, when all of them run."""
    make_steps(tmp_path / "a.vt", many(3))
    reached, go_on = threading.Event(), threading.Event()

    class Waiting(Stub):
        def serve(self, handler):
            reached.set()
            go_on.wait(60)
            super().serve(handler)

    with Waiting(login=basic("al", SECRET)) as stub:
        url = stub.url.replace("://", f"://al:{SECRET}@")
        words = [word.replace("URL", url).replace("RECORDING", str(tmp_path / "a.vt")) for word in words]
        child = subprocess.Popen([VENTURI, *words], env=environment(), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        try:
            assert reached.wait(60)
            lines = family(child.pid)
            assert len(lines) == (1 if "ship" in words[0] else 2), lines
            assert all(SECRET not in line and "127.0.0.1" in line for line in lines.values()), lines
            go_on.set()
            _, messages = child.communicate(timeout=60)
        finally:
            child.kill()
            child.wait()
            child.stdout.close()
            child.stderr.close()
        assert SECRET not in messages
        assert [headers["Authorization"] for _, _, headers, _ in stub.requests][:1] == [basic("al", SECRET)]


def environments(pids):
    for pid in pids:
        with open(f"/proc/{pid}/environ", "rb") as words:
            yield words.read().decode(errors="replace")


@pytest.mark.skipif(not os.path.exists(STEPS), reason="the programs are not built")
def test_the_shipper_of_a_run_gets_it_by_a_descriptor(tmp_path):
    reached, go_on = threading.Event(), threading.Event()

    class Waiting(Stub):
        def serve(self, handler):
            reached.set()
            go_on.wait(60)
            super().serve(handler)

    with Waiting(login=basic("al", SECRET)) as stub:
        url = stub.url.replace("://", f"://al:{SECRET}@")
        child = subprocess.Popen([VENTURI, "run", "--ship", url, "--spool", tmp_path / "spool", "--", STEPS, "plain", "50"], env=environment(), cwd=tmp_path,
                                 stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        try:
            assert reached.wait(60)
            lines = family(child.pid)
            assert any("venturi-ship" in line and "127.0.0.1" in line for line in lines.values()), lines
            assert not any(SECRET in text for text in [*lines.values(), *environments(lines)])
        finally:
            go_on.set()
            _, messages = child.communicate(timeout=60)
        assert child.returncode == 0 and SECRET not in messages and len(stub.documents) == 50, messages


def test_a_file_for_all(tmp_path):
    (tmp_path / "secrets").write_text(f"user = al\npassword = {SECRET}\n")
    os.chmod(tmp_path / "secrets", 0o600)
    with Stub(login=basic("al", SECRET)) as stub:
        for words in (("trace", "list", "--from", stub.url), ("rank", "--from", stub.url)):
            done = subprocess.run([VENTURI, *words], env=environment(VENTURI_STORE_CREDENTIALS=str(tmp_path / "secrets")), stdin=subprocess.DEVNULL,
                                  capture_output=True, text=True, timeout=60)
            assert "does not let us in" not in done.stderr
        make_steps(tmp_path / "a.vt", many(3))
        done = subprocess.run([VENTURI, "ship", str(tmp_path / "a.vt"), "--to", stub.url, "--once"], stdin=subprocess.DEVNULL,
                              env=environment(VENTURI_STORE_CREDENTIALS=str(tmp_path / "secrets")), capture_output=True, text=True, timeout=60)
        assert done.returncode == 0 and len(stub.documents) == 3, done.stderr
        os.chmod(tmp_path / "secrets", 0o644)
        done = subprocess.run([VENTURI, "rank", "--from", stub.url], env=environment(VENTURI_STORE_CREDENTIALS=str(tmp_path / "secrets")),
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)
        assert done.returncode == 2 and "chmod 600" in done.stderr


@pytest.mark.parametrize("password", ["12/verySecret", "verySecret?x", "ver#ySecret", "1?verySecret/@"])
def test_a_password_that_is_not_encoded(tmp_path, password):
    make_steps(tmp_path / "a.vt", many(3))
    for words in (("trace", "list", "--from"), ("rank", "--from"), ("ship", str(tmp_path / "a.vt"), "--once", "--to")):
        done = subprocess.run([VENTURI, *words, f"redis://al:{password}@127.0.0.1:1"], env=environment(), stdin=subprocess.DEVNULL, capture_output=True,
                              text=True, timeout=60)
        assert done.returncode == 2 and done.stderr.count("\n") == 1 and "ecret" not in done.stderr, done.stderr


def test_redis_gets_it():
    with RedisStub(lambda words: b"-NOPE\r\n") as stub:
        subprocess.run([VENTURI, "trace", "list", "--from", stub.url.replace("://", f"://:{SECRET}@")], env=environment(), stdin=subprocess.DEVNULL,
                       capture_output=True, timeout=60)
        wait_for(lambda: stub.commands)
        assert stub.commands[0] == [b"AUTH", SECRET.encode()]
