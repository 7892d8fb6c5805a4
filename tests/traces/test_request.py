"""`venturi trace request`: what it sends, as the real osprofiler reads it, what it prints, and how it fails."""
import base64
import json
import os
import re
import socket
import ssl
import subprocess
import sys
import threading
import time
import uuid
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from recorded import BUILD, TOP, VENTURI, need, run  # noqa: E402

pytestmark = pytest.mark.skipif(not os.access(os.path.join(BUILD, "venturi-request"), os.X_OK),
                                reason="venturi-request is not built: no libcurl")
KEY = "secret_word"
BIG = 50 * 1000 * 1000
PIECE = bytes(range(256)) * 256
UUID = r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}"


class Handler(BaseHTTPRequestHandler):
    """Keeps what it got; its path says what it answers."""

    protocol_version = "HTTP/1.1"

    def answer(self):
        length = int(self.headers.get("Content-Length", 0))
        self.server.got.append((self.command, self.path, self.headers, self.rfile.read(length)))
        self.server.asked.set()
        kind, _, value = self.path.strip("/").partition("/")
        status = int(value) if kind == "status" else 200
        if kind == "slow":
            self.server.stopped.wait(60)
            return
        body = PIECE if kind == "binary" else b"no end" if kind == "short" else b"answer\n"
        self.send_response(status)
        if status == 302:
            self.send_header("Location", "/elsewhere")
        if kind == "long":
            self.send_header("X-Long", "x" * int(value))
        if kind == "cut":
            self.send_header("Content-Length", "1000")
        elif kind == "big":
            self.send_header("Content-Length", str(BIG))
        else:
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command == "HEAD":
            return
        if kind == "big":
            for at in range(0, BIG, len(PIECE)):
                self.wfile.write(PIECE[:BIG - at])
            return
        self.wfile.write(body)
        self.close_connection = kind == "cut"

    do_GET = do_POST = do_PUT = do_DELETE = do_PATCH = do_HEAD = do_OPTIONS = answer

    def log_message(self, *_):
        pass


class Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_):  # a client that leaves is what some tests are about
        pass


@pytest.fixture
def server():
    httpd = Server(("127.0.0.1", 0), Handler)
    httpd.got = []
    httpd.asked, httpd.stopped = threading.Event(), threading.Event()
    httpd.url = "http://127.0.0.1:%d" % httpd.server_port
    thread = threading.Thread(target=httpd.serve_forever, args=(0.01,))
    thread.start()
    yield httpd
    httpd.stopped.set()
    httpd.shutdown()
    thread.join()
    httpd.server_close()


def request(*words, profile=KEY, env=None, expect=0, **kw):
    """Runs it; stdout and stderr are bytes and text."""
    environment = {key: value for key, value in os.environ.items() if key != "OS_PROFILE" and not key.lower().endswith("_proxy")}
    kw.setdefault("stdin", subprocess.DEVNULL if "input" not in kw else None)
    if kw["stdin"] is None:
        del kw["stdin"]
    key = ["--profile", profile] if profile is not None else []
    done = subprocess.run([VENTURI, "trace", "request", *key, *map(str, words)], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          env={**environment, **(env or {})}, timeout=60, check=False, **kw)
    done.stderr = done.stderr.decode()
    assert done.returncode == expect, (done.returncode, done.stdout[:500], done.stderr)
    return done


def refused(*words, **kw):
    """The one line that says why nothing came of it."""
    done = request(*words, expect=2, **kw)
    assert done.stdout == b""
    assert done.stderr.count("\n") == 1 and done.stderr.startswith("venturi trace request: "), done.stderr
    return done.stderr


def sent_ids(server):
    """The ids of the last request, from all its headers, which agree."""
    headers = server.got[-1][2]
    ids = json.loads(base64.urlsafe_b64decode(headers["X-Trace-Info"]))
    assert list(ids) == ["base_id", "parent_id"] and ids["base_id"] == ids["parent_id"]
    plain = ids["base_id"].replace("-", "")
    assert headers["traceparent"] == "00-%s-%s-01" % (plain, plain[16:])
    return ids["base_id"]


def test_starts_a_trace(server):
    done = request(server.url + "/a/b?c=d")
    assert done.stdout == b"answer\n"
    first, second = done.stderr.splitlines()
    base = sent_ids(server)
    assert re.fullmatch(UUID, base)
    assert re.fullmatch(r"venturi: trace %s, status 200, 7 B in [0-9.]+ [um]?s" % base, first)
    assert second == "venturi: next  venturi trace show %s FILE..." % base
    command, path, headers, body = server.got[-1]
    assert (command, path, body) == ("GET", "/a/b?c=d", b"")
    assert headers["User-Agent"].startswith("venturi/")


def test_every_request_has_a_trace_of_its_own(server):
    request(server.url)
    first = sent_ids(server)
    request(server.url)
    assert sent_ids(server) != first


def osprofiler_unpacks(headers, keys):
    """What the real package makes of the headers."""
    folder = os.path.join(TOP, "build", "neighbours", "%d.%d-trace" % sys.version_info[:2])
    if not os.path.exists(os.path.join(folder, "done")):
        pytest.skip("no osprofiler in %s: run tools/neighbours" % folder)
    code = ("import json, sys\nfrom osprofiler import _utils\n"
            "print(json.dumps(_utils.signed_unpack(sys.argv[1], sys.argv[2], json.loads(sys.argv[3]))))")
    done = subprocess.run([sys.executable, "-c", code, headers["X-Trace-Info"], headers["X-Trace-HMAC"], json.dumps(keys)],
                          env={**os.environ, "PYTHONPATH": folder}, stdout=subprocess.PIPE, text=True, timeout=60, check=True)
    return json.loads(done.stdout)


def test_osprofiler_takes_the_headers(server):
    request(server.url)
    headers = server.got[-1][2]
    base = sent_ids(server)
    assert osprofiler_unpacks(headers, ["other", KEY]) == {"base_id": base, "parent_id": base, "hmac_key": KEY}
    assert osprofiler_unpacks(headers, ["other"]) is None


@pytest.mark.parametrize("given, signs", [("one, two", "one"), (" ,two,", "two"), ("kéy", "kéy")])
def test_the_first_key_signs(server, given, signs):
    request(server.url, profile=given)
    assert osprofiler_unpacks(server.got[-1][2], [signs])["hmac_key"] == signs


def test_key_from_the_environment(server):
    request(server.url, profile=None, env={"OS_PROFILE": "from-there"})
    assert osprofiler_unpacks(server.got[-1][2], ["from-there"])
    request(server.url, profile=KEY, env={"OS_PROFILE": "from-there"})
    assert osprofiler_unpacks(server.got[-1][2], [KEY])


@pytest.mark.parametrize("profile", [None, "", " , "])
def test_without_a_key_it_says_how_to_give_one(server, profile):
    line = refused(server.url, profile=profile)
    assert "--profile KEY" in line and "OS_PROFILE" in line and "hmac_keys" in line
    assert not server.got


def test_given_id(server):
    request("--base-id", "f12e75d5-5d59-4cbc-b74d-357f19290dd7", server.url)
    assert sent_ids(server) == "f12e75d5-5d59-4cbc-b74d-357f19290dd7"
    assert server.got[-1][2]["X-Trace-HMAC"] and "b74d357f19290dd7-01" in server.got[-1][2]["traceparent"]
    request("--base-id", "ticket 4711", server.url)
    made = sent_ids(server)
    request("--base-id", "ticket 4711", server.url)
    assert sent_ids(server) == made and uuid.UUID(made)
    refused("--base-id", "", server.url)
    refused("--base-id", str(uuid.UUID(int=0)), server.url)


def test_methods(server):
    for method in "GET", "POST", "PUT", "DELETE", "PATCH", "OPTIONS":
        assert request("-X", method, server.url).stdout == b"answer\n"
        assert server.got[-1][0] == method
    assert request("-X", "HEAD", server.url).stdout == b""
    assert server.got[-1][0] == "HEAD"
    assert request("-i", "-X", "HEAD", server.url).stdout.startswith(b"HTTP/1.1 200")
    assert "not a method" in refused("-X", "GET /x", server.url)
    assert "no body" in refused("-X", "HEAD", "-d", "x", server.url)


def test_bodies(server, tmp_path):
    request("-d", '{"a": 1}', "-H", "Content-Type: application/json", server.url)
    command, _, headers, body = server.got[-1]
    assert (command, headers["Content-Type"], body) == ("POST", "application/json", b'{"a": 1}')
    binary = bytes(range(256)) * 8192
    (tmp_path / "body").write_bytes(binary)
    request("-X", "PUT", "-d", "@%s" % (tmp_path / "body"), server.url)
    assert server.got[-1][0] == "PUT" and server.got[-1][3] == binary and "Expect" not in server.got[-1][2]
    request("-d", "@-", server.url, input=binary)
    assert server.got[-1][3] == binary
    request("-d", "a=1", "-d", "b=2", server.url)
    assert server.got[-1][3] == b"a=1&b=2"
    request("-d", "", server.url)
    assert server.got[-1][0] == "POST" and server.got[-1][3] == b""
    assert "missing: cannot open" in refused("-d", "@%s" % (tmp_path / "missing"), server.url)


def test_headers(server):
    request("-H", "X-One: 1", "--header", "X-Empty:", "-H", "Host: example.org", server.url)
    headers = server.got[-1][2]
    assert (headers["X-One"], headers["X-Empty"], headers["Host"]) == ("1", "", "example.org")
    asked = len(server.got)
    for wrong in "nothing", ": x", "A b: c", "X: y\r\nZ: w", "", "X: y\nZ: w":
        assert "not a header" in refused("-H", wrong, server.url)
    for ours in "x-trace-info: a", "X-Trace-HMAC: b", "Traceparent: c":
        assert "--profile" in refused("-H", ours, server.url)
    assert len(server.got) == asked


def test_answers_are_printed_byte_for_byte(server, tmp_path):
    assert request(server.url + "/binary").stdout == PIECE
    kept = tmp_path / "answer"
    assert request("-o", kept, server.url + "/binary").stdout == b""
    assert kept.read_bytes() == PIECE
    assert "already exists" in refused("-o", kept, server.url)
    request("-f", "-o", kept, server.url)
    assert kept.read_bytes() == b"answer\n"
    shown = request("-i", server.url).stdout
    assert shown.startswith(b"HTTP/1.1 200 OK\r\n") and shown.endswith(b"\r\n\r\nanswer\n")


def test_status_becomes_the_exit_code(server):
    for status, code in (200, 0), (204, 0), (302, 0), (400, 1), (404, 1), (500, 1), (503, 1):
        done = request("%s/status/%d" % (server.url, status), expect=code)
        assert "status %d," % status in done.stderr
        if status != 204:
            assert done.stdout == b"answer\n"
    assert not any(path == "/elsewhere" for _, path, _, _ in server.got)


def test_big_answer_in_flat_memory(server):
    def child(url):
        read, write = os.pipe()
        started = subprocess.Popen([VENTURI, "trace", "request", "--profile", KEY, url], stdout=write, stderr=subprocess.DEVNULL)
        os.close(write)
        got = 0
        with os.fdopen(read, "rb") as pipe:
            while True:
                piece = pipe.read(1 << 20)
                if not piece:
                    break
                got += len(piece)
        _, status, usage = os.wait4(started.pid, 0)
        started.returncode = os.waitstatus_to_exitcode(status)
        assert started.returncode == 0
        return got, usage.ru_maxrss
    small, small_kb = child(server.url)
    big, big_kb = child(server.url + "/big")
    assert (small, big) == (7, BIG)
    assert big_kb < small_kb + 4096


def test_nobody_there():
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))  # taken, and nobody listens
        line = refused("http://127.0.0.1:%d/x" % held.getsockname()[1])
    assert line.startswith("venturi trace request: 127.0.0.1: ") and "connect" in line.lower()
    assert "host.invalid" in refused("http://host.invalid/")


def test_certificates_are_checked(server, tmp_path):
    need("openssl")
    run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1", "-subj", "/CN=127.0.0.1",
         "-keyout", tmp_path / "key", "-out", tmp_path / "cert"])
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(tmp_path / "cert", tmp_path / "key")
    server.socket = context.wrap_socket(server.socket, server_side=True)
    assert "certificate" in refused(server.url.replace("http:", "https:"))
    assert not server.got


def test_slow_server(server):
    began = time.monotonic()
    line = refused("--timeout", "0.3", server.url + "/slow")
    assert "0.3 s" in line and re.search(r"\(trace %s\)" % UUID, line)
    assert time.monotonic() - began < 30
    for wrong in "0", "-1", "x", "1s", "nan", "inf", "":
        assert "--timeout" in refused("--timeout", wrong, server.url)


def test_answer_that_breaks_off(server, tmp_path):
    done = request(server.url + "/cut", expect=2)
    assert done.stdout == b"answer\n" and done.stderr.count("\n") == 1
    refused("-o", tmp_path / "kept", server.url + "/cut")
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("url", ["", "http://", "http:///x", "http://[::1", "http://a b/", "http://h:99999/"])
def test_bad_urls(url):
    assert "URL" in refused(url) or "host" in refused(url)


@pytest.mark.parametrize("url", ["file:///etc/passwd", "ftp://127.0.0.1/x", "dict://127.0.0.1:1/", "FILE:///etc/passwd"])
def test_only_http(url):
    assert "only http and https" in refused(url)


def test_usage(server):
    assert "which URL?" in refused()
    assert "one URL, not 2" in refused(server.url, server.url)
    assert "no option" in refused("--nonsense", server.url)
    assert "missing" in refused("-d")
    said = request("--help").stdout.decode()
    assert said.startswith("Usage: venturi trace request")
    with open(os.path.join(TOP, "docs", "commands", "trace.md")) as page:
        assert said in page.read()


def test_the_key_is_in_no_message_and_not_in_the_process_list(server):
    child = subprocess.Popen([VENTURI, "trace", "request", "--profile", "very-secret", server.url + "/slow"],
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert server.asked.wait(60)
    with open("/proc/%d/cmdline" % child.pid, "rb") as words:
        assert b"very-secret" not in words.read()
    child.terminate()
    stdout, stderr = child.communicate(timeout=60)
    assert child.returncode == 2 and stdout == b"" and b"stopped by a signal" in stderr and b"very-secret" not in stderr


def test_a_reader_that_leaves(server):
    child = subprocess.Popen([VENTURI, "trace", "request", "--profile", KEY, server.url + "/big"],
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert child.stdout.read(10) == PIECE[:10]
    child.stdout.close()
    stderr = child.stderr.read().decode()
    child.stderr.close()
    assert child.wait(60) == 0 and "cannot" not in stderr and "status 200" in stderr


def test_headers_without_end(server):
    assert "the headers of the answer are too large" in refused(server.url + "/long/200000")
    assert request(server.url + "/long/60000").stdout == b"answer\n"


def test_no_standard_output(server, tmp_path):
    """The answer does not go into whatever file or connection took the place of what was closed."""
    for closed in (">&-", ">&- <&-"):
        done = subprocess.run(["sh", "-c", '"$@" ' + closed, "sh", VENTURI, "trace", "request", "--profile", KEY, server.url + "/x"],
                              stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, timeout=60, check=False)
        assert done.returncode == 2 and b"standard output: cannot write" in done.stderr, done.stderr
        assert server.got[-1][1] == "/x"
    done = subprocess.run(["sh", "-c", '"$@" >&-', "sh", VENTURI, "trace", "request", "--profile", KEY, "-o", tmp_path / "a", server.url + "/x"],
                          stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, timeout=60, check=False)
    assert done.returncode == 0 and (tmp_path / "a").read_bytes() == b"answer\n"


def test_output_that_cannot_be_written(server):
    if not os.path.exists("/dev/full"):
        pytest.skip("no /dev/full")
    with open("/dev/full", "wb") as full:
        done = subprocess.run([VENTURI, "trace", "request", "--profile", KEY, server.url], stdout=full, stderr=subprocess.PIPE,
                              timeout=60, check=False)
    assert done.returncode == 2 and b"standard output: cannot write" in done.stderr


@pytest.mark.parametrize("path, shown", [("short", b"no end\r\nventuri: trace "), ("x", b"answer\r\nventuri: trace ")])
def test_our_lines_begin_a_line_on_a_terminal(server, path, shown):
    """Where the answer and our lines go to the same terminal; a pipe gets the answer's bytes and no more."""
    ours, theirs = os.openpty()
    words = [VENTURI, "trace", "request", "--profile", KEY, server.url + "/" + path]
    child = subprocess.Popen(words, stdout=theirs, stderr=theirs)
    os.close(theirs)
    got = b""
    while b"FILE...\r\n" not in got:
        got += os.read(ours, 4096)
    assert child.wait(timeout=60) == 0
    assert got.startswith(shown)
    os.close(ours)
    piped = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60)
    assert piped.stdout == (b"no end" if path == "short" else b"answer\n") and piped.stderr.startswith(b"venturi: trace ")
