"""Clients that mean no good, or cannot do better: slow, huge, many, deaf. The server goes on for the others."""
import os
import resource
import socket
import struct
import time

import pytest
from conftest import Events, cli_conftest, wait_for

CONNECTIONS = 128  # as VTI_SERVE_CONNECTIONS and so on
STREAMS = 32
SPARE = 64
OF_ONE = 64


def answer_of(peer):
    """All that comes until the other side is done."""
    text = b""
    try:
        while True:
            piece = peer.recv(65536)
            if not piece:
                return text
            text += piece
    except OSError:
        return text


def is_well(server):
    status, _, body = server.ask("/health")
    return status == 200 and b'"ok"' in body


def memory_of(server):
    with open(f"/proc/{server.process.pid}/statm") as file:
        return int(file.read().split()[1]) * resource.getpagesize()


@pytest.mark.parametrize("what", ["line", "header", "headers", "query", "cookie"])
def test_too_much(serve, finished, what):
    """Request lines and headers beyond the limit: refused, with little memory."""
    server = serve(finished)
    much = "x" * 200000
    text = {"line": f"GET /{much} HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\n\r\n",
            "header": f"GET /health HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\nX: {much}\r\n\r\n",
            "headers": f"GET /health HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\n" + "".join(f"X{i}: y\r\n" for i in range(20000)) + "\r\n",
            "query": f"GET /health?{much} HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\n\r\n",
            "cookie": f"GET /api/state HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\nCookie: {much}\r\n\r\n"}[what]
    with server.connect() as peer:
        try:
            peer.sendall(text.encode())
        except OSError:
            pass  # it was cut off while it spoke
        said = answer_of(peer)
    assert not said or said.split()[1] in (b"400", b"413", b"414", b"431"), said[:80]
    assert is_well(server)


def test_a_blank_in_the_name_of_a_header(serve, finished):
    """What looks like a length to whoever is in front of us: its body is no second request."""
    server = serve(finished)
    hidden = server.request("/health").decode()
    for name in ("Content-Length ", "Content-Length\t", "Transfer-Encoding "):
        with server.connect() as peer:
            peer.sendall(server.request("/health", f"{name}: {len(hidden)}") + hidden.encode())
            said = answer_of(peer)
        assert said.startswith(b"HTTP/1.1 400 ") and said.count(b"HTTP/1.1 ") == 1, said
    assert is_well(server)


def test_bodies(serve, finished):
    server = serve(finished)
    assert server.ask("/health", body=b"x" * 100)[0] == 413
    with server.connect() as peer:
        peer.sendall(server.request("/health", "Transfer-Encoding: chunked"))
        assert b" 413 " in peer.recv(4096)
    with server.connect() as peer:  # promised, never sent
        peer.sendall(server.request("/health", "Content-Length: 999999999999"))
        assert b" 413 " in peer.recv(4096)
    assert is_well(server)


NOISE = [
    b"\x00" * 100, b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"a" * 500, b"GET\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n", b"\r\n" * 5000,
    b"GET /health HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", b"GET /health HTTP/1.1\r\nHost : x\r\n\r\n", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    b"GET /health HTTP/1.1\r\nContent-Length: -5\r\n\r\n", b"GET http://evil.example/ HTTP/1.1\r\nHost: evil.example\r\n\r\n",
    b"GET /%00%ff%fe HTTP/1.1\r\nHost: \xff\xfe\r\n\r\n", bytes(range(256)) * 20,
]


def test_noise(serve, finished):
    """What is no request gets nothing but a refusal, or is let go."""
    server = serve(finished)
    peers = []
    for text in NOISE:
        peers.append(server.connect())
        peers[-1].sendall(text)
        peers[-1].shutdown(socket.SHUT_WR)
    assert is_well(server)
    for text, peer in zip(NOISE, peers):
        said = answer_of(peer)
        peer.close()
        assert not said or said.split()[1][:1] == b"4" or said.split()[1] == b"505", (text[:40], said[:80])
        assert b"classify" not in said
    assert is_well(server)


def test_slow_headers(serve, finished):
    """A byte now and then does not hold a place for ever."""
    server = serve(finished)
    peers = [server.connect() for _ in range(20)]
    text = server.request("/health")[:-4] + b"\r\nX: "
    for peer in peers:
        peer.settimeout(0.05)
        peer.sendall(text)

    def are_gone():
        for peer in list(peers):
            try:
                peer.send(b"x")
                if peer.recv(100) == b"":
                    peers.remove(peer)
            except socket.timeout:
                pass
            except OSError:
                peers.remove(peer)
        return not peers
    assert is_well(server)
    wait_for(are_gone, "slow clients to be let go")
    assert is_well(server)


def open_ones(peers):
    """How many of the connections are not closed by the other side."""
    count = 0
    for peer in peers:
        peer.setblocking(False)
        try:
            count += peer.recv(10) != b""
        except BlockingIOError:
            count += 1
        except OSError:
            pass
    return count


@pytest.mark.parametrize("says", [b"", b"GET /health HTTP/1.1\r\nX: "])
def test_slow_ones_make_room(serve, finished, says):
    """However many say nothing, or not enough: who asks is answered at once, before the time of the others is over."""
    server = serve(finished)
    peers = [server.connect() for _ in range(3 * CONNECTIONS)]
    for peer in peers:
        try:
            peer.sendall(says)
        except OSError:
            pass  # it has made room already
    for _ in range(20):
        assert is_well(server)
    assert 0 < open_ones(peers) <= CONNECTIONS + SPARE
    for peer in peers:
        peer.close()


def test_one_address(serve, finished):
    """Not on loopback one address has a part of the places."""
    server = serve(finished, "--bind", "0.0.0.0")
    peers = [server.connect() for _ in range(OF_ONE + 20)]
    wait_for(lambda: open_ones(peers) <= OF_ONE, "the others to be refused")
    for peer in peers:
        peer.close()
    wait_for(lambda: answers(server), "room for a client")


def answers(server):
    try:
        return is_well(server)
    except OSError:
        return False


@pytest.mark.parametrize("header", ["Host: evil.example", "Host: 127.0.0.1", "Origin: http://evil.example", "Authorization: Bearer x", "Sec-Fetch-Site: none"])
def test_header_twice(serve, finished, header):
    """Whichever of two is meant: neither."""
    server = serve(finished)
    more = [f"Origin: http://127.0.0.1:{server.port}", "Sec-Fetch-Site: none"]
    with server.connect() as peer:
        peer.sendall(server.request("/health", *more))
        assert b" 200 " in peer.recv(4096)[:20]
    with server.connect() as peer:
        peer.sendall(server.request("/health", *more, header))
        assert b" 400 " in peer.recv(4096)[:20]


@pytest.mark.parametrize("count", [63, 64, 500, 5000])
def test_many_parameters(serve, finished, count):
    server = serve(finished)
    with server.connect() as peer:
        peer.sendall(server.request("/health?" + "&".join(["a=1"] * (count + 1)), "Connection: close"))
        said = answer_of(peer)
    assert said.split()[1] == (b"200" if count < 64 else b"414"), said
    assert is_well(server)


def test_many_connections(serve, finished):
    """Beyond the limit the oldest are closed; when the others go there is room again."""
    server = serve(finished)
    assert is_well(server)
    peers = [server.connect() for _ in range(CONNECTIONS + 100)]
    refused = 0
    for peer in peers:
        peer.settimeout(0.02)
        try:
            refused += peer.recv(10) == b""
        except socket.timeout:
            pass
        except OSError:
            refused += 1
    assert refused >= 50
    for peer in peers:
        peer.close()

    wait_for(lambda: answers(server), "room for a client")


def test_many_streams(serve, monitored):
    """Event streams have a limit of their own, and leave connections for others."""
    program = monitored()
    server = serve(program.path)
    streams = [Events(server) for _ in range(STREAMS)]
    assert server.ask("/api/events")[0] == 429
    assert is_well(server)
    server.wait(lambda state: state["cost"]["clients"] == STREAMS, "all streams")
    for stream in streams:
        stream.close()
    wait_for(lambda: server.state()["cost"]["clients"] == 0, "streams to be seen as gone")
    stream = Events(server)
    assert next(iter(stream))[0] == "state"
    stream.close()


def test_deaf_streams(serve, monitored):
    """Clients that do not read: no queue grows, others get every state, and they are let go."""
    program = monitored()
    server = serve(program.path)
    deaf = []
    for _ in range(10):
        peer = socket.socket()
        peer.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        peer.connect(("127.0.0.1", server.port))
        peer.sendall(server.request("/api/events"))
        deaf.append(peer)
    program.tell("round 1")
    stream = iter(Events(server))
    before = None
    for _ in range(40):  # about ten seconds of states
        name, data = next(stream)
        if name == "state" and before is None:
            before = memory_of(server)
    assert memory_of(server) - before < (64 if os.environ.get("VENTURI_SANITIZE") else 8) << 20  # a sanitizer keeps what was freed
    assert is_well(server)
    wait_for(lambda: server.state()["cost"]["clients"] == 1, "deaf clients to be let go", 180)
    for peer in deaf:
        peer.close()


def test_resets(serve, finished):
    """Connections that are torn down in the middle of an answer."""
    server = serve(finished)
    for path in ("/api/state", "/api/events", "/status", "/report", "/api/window?pixels=4000") * 10:
        peer = server.connect()
        peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        peer.sendall(server.request(path))
        peer.recv(1)
        peer.close()
    wait_for(lambda: server.state()["cost"]["clients"] == 0, "streams to be seen as gone")
    assert is_well(server)


def test_pipelined(serve, finished):
    server = serve(finished)
    with server.connect() as peer:
        peer.sendall(server.request("/health") * 50 + server.request("/nothing", "Connection: close"))
        said = answer_of(peer)
    assert said.count(b'"status":"ok"') == 50 and b" 404 " in said


def test_recording_goes_away(serve, monitored, tmp_path):
    """A recording that is deleted, or cut off, is no reason to fall over."""
    program = monitored()
    program.tell("round 1")
    server = serve(program.path)
    server.wait(lambda state: state["span_count"] > 100, "spans")
    os.unlink(program.path)
    time.sleep(0.5)
    assert is_well(server) and server.state()["span_count"] > 100
    assert server.ask("/api/window")[0] in (200, 503)
    assert server.ask("/report")[0] in (404, 503)


@pytest.mark.parametrize("text", [None, b"", b"no recording\n" * 5000])
def test_recording_is_cut_off_or_written_over(serve, finished, text):
    """What is mapped and not there any more: the server goes on, with what it has seen."""
    server = serve(finished)
    before = server.wait(lambda state: state["caught_up"] == 1, "all of it")
    assert server.ask("/api/window")[0] == 200
    if text is None:
        os.truncate(finished, 3000)
    else:
        with open(finished, "r+b") as file:
            file.truncate(0)
            file.write(text)
    for path in ("/api/functions", "/api/window", "/api/spans", "/metrics", "/api/state"):
        assert server.ask(path)[0] in (200, 503), path
    time.sleep(0.3)  # a few refreshes
    assert is_well(server) and server.state()["span_count"] == before["span_count"]


def test_hostile_names(serve, tmp_path):
    """Texts of a program are text: nothing in them becomes anything else."""
    made = cli_conftest().NewRecording()
    name = '</script><script>alert(1)</script>"\\\n\r\x01\x7f\u2028event: end'
    made.site(1, name)
    events = made.events(0, 0)
    events.begin(1000, 1)
    events.end(2000)
    events.write()
    server = serve(made.save(tmp_path / "evil.vt"))
    state = server.wait(lambda state: state["spans"]["list"], "the span")
    assert state["spans"]["list"][0]["name"] == name
    stream = iter(Events(server))
    assert next(stream)[1]["spans"]["list"][0]["name"] == name
    assert server.json("/api/window")["names"] == [name]
    assert server.ask("/metrics")[0] == 200
