"""Who may ask: tokens, cookies, hosts, origins, methods; and what every answer says to a browser."""
import http.client
import os
import re
import subprocess

import pytest
from conftest import BUILD, VENTURI, environment, wait_for

PRIVATE = ["/status", "/report", "/api/state", "/api/events", "/api/history", "/api/window", "/api/spans", "/api/tasks", "/api/functions"]
PUBLIC = ["/health", "/metrics"]


@pytest.mark.parametrize("path", PRIVATE)
def test_needs_a_token(serve, finished, path):
    server = serve(finished)
    for headers in ({}, {"Authorization": "Bearer wrong"}, {"Authorization": server.token}, {"Cookie": f"venturi-{server.port}=wrong"},
                    {"Cookie": f"venturi-1={server.token}"}, {"Authorization": "Bearer " + server.token + "x"},
                    {"Authorization": "Bearer " + server.token[:-1]}):
        status, said, body = server.ask(path, token=False, headers=headers)
        assert status == 401 and server.token.encode() not in body and said["WWW-Authenticate"] == "Bearer", headers


def test_public_on_loopback_only(serve, finished):
    server = serve(finished)
    for path in PUBLIC:
        assert server.ask(path, token=False)[0] == 200
    everywhere = serve(finished, "--bind", "0.0.0.0")
    assert any("not loopback" in line for line in everywhere.said)
    for path in PUBLIC:
        assert everywhere.ask(path, token=False, host=f"127.0.0.1:{everywhere.port}")[0] == 401
        assert everywhere.ask(path, host=f"127.0.0.1:{everywhere.port}")[0] == 200


def test_ticket_becomes_cookie(serve, finished):
    """The printed address gives a cookie and leads to itself without the token."""
    server = serve(finished)
    for path in ("/status", "/"):
        status, headers, _ = server.ask(f"{path}?token={server.token}", token=False)
        assert status == 303 and headers["Location"] == "/status"
        cookie = headers["Set-Cookie"]
        assert "HttpOnly" in cookie and "SameSite=Strict" in cookie
        assert server.ask("/status", token=False, headers={"Cookie": cookie.split(";")[0]})[0] == 200
        assert server.ask("/api/state", token=False, headers={"Cookie": cookie.split(";")[0]})[0] == 200
    status, headers, _ = server.ask("/status?token=wrong", token=False)
    assert status == 401 and "Set-Cookie" not in headers
    assert server.ask(f"/api/state?token={server.token}", token=False)[0] == 401  # not for programs: it would stay in logs


def test_link_of_another_site(serve, finished):
    """Who follows the printed address on a page, in a terminal of a browser say, gets there: a strict cookie does not come along with a redirect."""
    server = serve(finished)
    status, headers, body = server.ask(f"/status?token={server.token}", token=False, headers={"Sec-Fetch-Site": "cross-site"})
    assert status == 200 and headers["Set-Cookie"] and b'content="0;url=/status"' in body and server.token.encode() not in body
    assert "default-src 'none'" in headers["Content-Security-Policy"]
    assert server.ask("/status?token=wrong", token=False, headers={"Sec-Fetch-Site": "cross-site"})[0] == 403


def command_lines(pid):
    """Of a process and all below it, as every user can read them."""
    with open(f"/proc/{pid}/cmdline", "rb") as file:
        yield file.read()
    for child in subprocess.run(["pgrep", "-P", str(pid)], capture_output=True, text=True).stdout.split():
        yield from command_lines(child)


@pytest.mark.parametrize("words", [["--token", "not-for-others"], ["--token=not-for-others"]])
def test_token_is_not_in_the_process_list(serve, finished, words):
    server = serve(finished, *words, token=None)
    assert server.token == "not-for-others"
    lines = list(command_lines(server.process.pid))
    assert lines and not any(b"not-for-others" in line for line in lines)


def test_token_of_the_server_alone(finished):
    """venturi-serve by itself, without the tool in front, overwrites it, too."""
    process = subprocess.Popen([os.path.join(BUILD, "venturi-serve"), "--port", "0", "--token", "not-for-others", finished], stderr=subprocess.PIPE,
                               text=True, env=environment())
    assert "token=not-for-others" in process.stderr.readline()
    assert not any(b"not-for-others" in line for line in command_lines(process.pid))
    process.terminate()
    assert process.wait(timeout=60) == 0
    process.stderr.close()


def test_token_file(serve, finished, tmp_path):
    file = tmp_path / "token"
    file.write_text("from-a-file\nand more\n")
    assert serve(finished, "--token-file", file, token=None).token == "from-a-file"
    for text in ("short\n", "x" * 129, "no good\n", "", "\0" * 20):
        file.write_text(text)
        done = subprocess.run([VENTURI, "serve", "--port", "0", "--token-file", file, finished], capture_output=True, text=True, env=environment())
        assert done.returncode == 2 and done.stderr.count("\n") == 1 and "token" in done.stderr, text
        assert not text.strip("\0\n") or text.strip() not in done.stderr
    done = subprocess.run([VENTURI, "serve", "--token-file", tmp_path / "none", finished], capture_output=True, text=True, env=environment())
    assert done.returncode == 2 and "No such file" in done.stderr and done.stderr.count("\n") == 1


def test_open(serve, finished, tmp_path):
    """A browser gets the name of a file that only its owner can read, and that is gone at the end."""
    browser, told = tmp_path / "browser", tmp_path / "told"
    browser.write_text(f'#!/bin/sh\nstat -c "%a %n" "$1" > {told}.new; cat "$1" >> {told}.new; mv {told}.new {told}\n')
    browser.chmod(0o755)
    server = serve(finished, "--open", env={"BROWSER": str(browser), "XDG_RUNTIME_DIR": str(tmp_path)})
    wait_for(told.exists, "the browser")
    mode, path = told.read_text().splitlines()[0].split(" ", 1)
    assert mode == "600" and path.startswith(str(tmp_path)) and f"url={server.address}" in told.read_text()
    server.stop()
    assert not os.path.exists(path)


def test_random_token(serve, finished):
    tokens = {serve(finished, token=None).token for _ in range(2)}
    assert len(tokens) == 2 and all(re.fullmatch("[0-9a-f]{32}", token) for token in tokens)
    assert serve(finished, token=None, env={"VENTURI_TOKEN": "from-the-environment"}).token == "from-the-environment"


@pytest.mark.parametrize("path", ["/api/state", "/health", "/metrics", "/status"])
def test_hosts(serve, finished, path):
    """Names that lead here but are not ours: DNS rebinding."""
    server = serve(finished, "--host", "build.example.org")
    port = server.port
    for host in (f"127.0.0.1:{port}", f"localhost:{port}", f"LOCALHOST:{port}", f"[::1]:{port}", "build.example.org", "build.example.org:443"):
        assert server.ask(path, host=host)[0] == 200, host
    for host in ("evil.example", f"evil.example:{port}", "127.0.0.1", f"127.0.0.1:{port + 1}", f"127.0.0.1:{port}.evil.example", "", "localhost",
                 f"127.0.0.1:{port}@evil.example", f"x127.0.0.1:{port}", "[::1", f"build.example.org.evil:{port}"):
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        connection.putrequest("GET", path, skip_host=True)
        connection.putheader("Host", host)
        connection.putheader("Authorization", f"Bearer {server.token}")
        connection.endheaders()
        status = connection.getresponse().status
        connection.close()
        assert status in (400, 403), host


def asked(server, line, host):
    """The status of a request whose first line is as given."""
    with server.connect() as peer:
        peer.sendall(f"{line}\r\nHost: {host}\r\nAuthorization: Bearer {server.token}\r\nConnection: close\r\n\r\n".encode())
        return int(peer.recv(4096).split()[1])


def test_absolute_targets(serve, finished):
    """`GET http://HOST:PORT/PATH`: the same path, and the host that counts is the one in it, whatever Host says (RFC 9112, 3.2.2)."""
    server = serve(finished, "--host", "build.example.org")
    ours = f"127.0.0.1:{server.port}"
    for origin in (f"http://{ours}", f"HTTP://{ours}", f"http://localhost:{server.port}", f"http://[::1]:{server.port}", "http://build.example.org",
                   "https://build.example.org:443"):
        for path in ("/health", "/metrics", "/status", "/api/state", "/api/history?names=cpu"):
            assert asked(server, f"GET {origin}{path} HTTP/1.1", ours) == 200, (origin, path)
        assert asked(server, f"GET {origin} HTTP/1.1", ours) == asked(server, f"GET {origin}/ HTTP/1.1", ours) == 303
        assert asked(server, f"GET {origin}/nothing HTTP/1.1", ours) == 404
        assert asked(server, f"GET {origin}/health HTTP/1.1", "evil.example") == 200
    for origin in ("http://evil.example", f"http://evil.example:{server.port}", f"http://{ours}@evil.example", f"http://build.example.org:x@evil.example",
                   f"http://x@{ours}", "http://127.0.0.1", f"https://127.0.0.1:{server.port + 1}", "http://", f"http://{ours}.evil.example",
                   "http://" + "x" * 3000, f"http:%2F%2Fevil.example"):
        for path in ("/health", "/api/state"):
            assert asked(server, f"GET {origin}{path} HTTP/1.1", ours) in (400, 403), (origin, path)
    assert asked(server, "GET ftp://127.0.0.1/health HTTP/1.1", ours) == 404


def test_no_host(serve, finished):
    server = serve(finished)
    with server.connect() as peer:
        peer.sendall(f"GET /health HTTP/1.0\r\nAuthorization: Bearer {server.token}\r\n\r\n".encode())
        assert b" 40" in peer.recv(4096)[:20]


@pytest.mark.parametrize("path", ["/api/state", "/health", "/metrics"])
def test_origins(serve, finished, path):
    server = serve(finished)
    assert server.ask(path, headers={"Origin": f"http://127.0.0.1:{server.port}"})[0] == 200
    for origin in ("http://evil.example", "null", "https://127.0.0.1", f"http://127.0.0.1:{server.port + 1}", "file://", "http://localhost"):
        status, headers, _ = server.ask(path, headers={"Origin": origin})
        assert status == 403 and not [name for name in headers if name.lower().startswith("access-control")], origin
    for site in ("cross-site", "same-site"):
        assert server.ask(path, headers={"Sec-Fetch-Site": site})[0] == 403
    for site in ("same-origin", "none"):
        assert server.ask(path, headers={"Sec-Fetch-Site": site})[0] == 200


def test_only_get(serve, finished):
    server = serve(finished)
    for method in ("POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "BREW"):
        status, headers, _ = server.ask("/api/state", method=method)
        assert status == 405 and headers["Allow"] == "GET, HEAD", method
    status, headers, body = server.ask("/api/state", method="HEAD")
    assert status == 200 and body == b"" and int(headers["Content-Length"]) > 100


def test_headers(serve, finished):
    """No answer may be framed, sniffed, kept, or read from elsewhere; pages run their own script only."""
    server = serve(finished)
    for path in ("/status", "/report", "/api/state", "/health", "/nothing"):
        _, headers, _ = server.ask(path, timeout=120)
        assert headers["X-Content-Type-Options"] == "nosniff" and headers["X-Frame-Options"] == "DENY"
        assert headers["Cache-Control"] == "no-store" and headers["Referrer-Policy"] == "no-referrer"
        assert headers["Cross-Origin-Resource-Policy"] == "same-origin"
        assert "frame-ancestors 'none'" in headers["Content-Security-Policy"]
    policy = server.ask("/status")[1]["Content-Security-Policy"]
    assert "default-src 'none'" in policy and "script-src 'sha256-" in policy and "unsafe" not in policy


@pytest.mark.parametrize("path, status", [
    ("/nothing", 404), ("/api/", 404), ("/status/", 404), ("/../etc/passwd", 404), ("/api/state/../../x", 404), ("/%2e%2e/", 404), ("/health%00x", 400),
    ("/api/window?pixels=0", 400), ("/api/window?pixels=5000", 400), ("/api/window?pixels=x", 400), ("/api/window?recording=7", 400),
    ("/api/window?from=5&to=3", 400), ("/api/window?recording=-1", 400), ("/api/spans?limit=1001", 400), ("/api/spans?track=-5", 400),
    ("/api/history?names=cpu,zebra", 400), ("/api/history?from=5&to=1", 400), ("/api/history?points=1e9", 400), ("/api/tasks?after=nan", 400),
    ("/api/tasks?limit=inf", 400), ("/report?recording=99", 404), ("/api/window?from=-1e300", 400), ("/api/window?tracks=2", 400),
])
def test_wrong_questions(serve, finished, path, status):
    server = serve(finished)
    got, headers, body = server.ask(path)
    assert got == status and body.startswith(b'{"error":"') and body.count(b"\n") == 1
    assert server.ask("/health")[0] == 200
