"""Who is let in, who is not, what is said then, and that no secret is ever among it."""
import os
import shutil
import signal
import socket
import subprocess
import threading

import pytest

from conftest import QUICK, make_steps, many, numbers, ship, status_of, wait_for
from es_stub import Answer, Items, Stub, basic

SECRET = "s3cr et/@:ü"
ENCODED = "s3cr%20et%2F%40%3A%C3%BC"


@pytest.fixture
def recording(tmp_path):
    return make_steps(tmp_path / "a.vt", many(10))


def all_text(folder, done):
    """Everything that it has said or written."""
    texts = [done.stdout, done.stderr]
    for name in os.listdir(folder):
        if "ship-" in name:
            texts.append((folder / name).read_text())
    return "\n".join(texts)


def with_login(url, login):
    return url.replace("://", f"://{login}@")


@pytest.mark.parametrize("header, words, env, file", [
    (basic("al%", SECRET), "al%25:" + ENCODED, {}, None),
    (basic("al", SECRET), "", {"VENTURI_STORE_USER": "al", "VENTURI_STORE_PASSWORD": SECRET}, None),
    (basic("al", SECRET), "al", {"VENTURI_STORE_PASSWORD": SECRET}, None),
    (basic("al", SECRET), "", {}, f"# who\nuser = al\n\n password=  {SECRET}  \n"),
    ("ApiKey " + "a2V5", "", {"VENTURI_STORE_API_KEY": "a2V5"}, None),
    ("ApiKey " + "a2V5", "", {}, "api_key = a2V5"),
    ("Bearer " + "t.o.k", "", {"VENTURI_STORE_TOKEN": "t.o.k"}, None),
    ("Bearer " + "t.o.k", "", {}, "token=t.o.k\n"),
], ids=["url", "environment", "both", "file", "key", "key in a file", "token", "token in a file"])
def test_credentials(recording, tmp_path, header, words, env, file):
    with Stub(login=header) as stub:
        url = with_login(stub.url, words) if words else stub.url
        more = []
        if file:
            (tmp_path / "credentials").write_text(file)
            os.chmod(tmp_path / "credentials", 0o600)
            more = ["--credentials", tmp_path / "credentials"]
        done = ship(recording, "--to", url, "--once", *more, env=env)
        assert done.returncode == 0, done.stderr
        assert numbers(stub) == list(range(10))
        said = all_text(tmp_path, done)
        for secret in (SECRET, ENCODED, "a2V5", "t.o.k"):
            assert secret not in said


@pytest.mark.parametrize("status, text", [(401, "does not accept these credentials (401)"), (403, "these credentials may not write there (403)")])
def test_who_is_not_let_in_loses_nothing(recording, tmp_path, shipper, stub, status, text):
    stub.faults = [Answer(status, {"error": {"type": "security_exception", "reason": "no"}})] * 1000
    url = with_login(stub.url, "al:" + ENCODED)
    done = ship(recording, "--to", url, "--once", *QUICK)
    assert done.returncode == 2 and text in done.stderr.splitlines()[-1] and "venturi: 0 documents" in done.stderr
    one = shipper(recording, "--to", url, *QUICK)
    asked = len(stub.requests)
    wait_for(lambda: len(stub.requests) > asked + 3)
    assert status_of(tmp_path)["state"] == "held" and not stub.documents
    stub.faults = []
    code, messages = one.wait()
    assert code == 0 and numbers(stub) == list(range(10)) and messages.count(text) == 1
    assert "everything is kept until somebody repairs it" in messages and "takes documents again" in messages
    for said in (messages, all_text(tmp_path, done)):
        assert SECRET not in said and ENCODED not in said


def test_an_item_that_we_may_not_write(recording, tmp_path, stub):
    stub.faults = [Items(403, {2, 3})]
    done = ship(recording, "--to", stub.url, "--once", *QUICK)
    assert done.returncode == 2 and "may not write there: security_exception" in done.stderr and len(stub.documents) == 8
    assert ship(recording, "--to", stub.url, "--once").returncode == 0
    assert numbers(stub) == list(range(10))


def test_wanted_but_not_given(recording, tmp_path):
    with Stub(login="Basic x") as stub:
        done = ship(recording, "--to", stub.url, "--once")
    assert done.returncode == 2 and "wants credentials (401): in the URL, VENTURI_STORE_… or --credentials" in done.stderr


@pytest.mark.parametrize("mode, text, message", [
    (0o644, "user = a", "others may read it: chmod 600 first"),
    (0o600, "users = a", "line 1: names are user, password"),
    (0o600, "\n\nsecret", "line 3: is no `name = value`"),
    (0o600, "token = a\x01b", "token holds a control character"),
    (0o600, "fingerprint = 12", "the fingerprint is no SHA-256"),
])
def test_files_of_credentials(recording, tmp_path, stub, mode, text, message):
    (tmp_path / "c").write_text(text)
    os.chmod(tmp_path / "c", mode)
    done = ship(recording, "--to", stub.url, "--once", "--credentials", tmp_path / "c")
    assert done.returncode == 2 and message in done.stderr and done.stderr.count("\n") == 1 and not stub.requests


@pytest.mark.parametrize("variable", ["http_proxy", "all_proxy", "ALL_PROXY"])
def test_no_proxy_for_this_machine(recording, stub, variable):
    """Nothing listens at port 1."""
    for url in (stub.url, stub.url.replace("127.0.0.1", "LocalHost"), stub.url.replace("127.0.0.1", "127.1.2.3")):
        done = ship(recording, "--to", url, "--once", "--give-up", 0, *QUICK, env={variable: "http://127.0.0.1:1"})
        assert "port 1 " not in done.stderr and (done.returncode == 0 or "127.1.2.3" in url), done.stderr
    assert stub.documents


@pytest.mark.parametrize("scheme, variable, proxy", [("http", "http_proxy", "http://al:SECRET@127.0.0.1:1"), ("http", "ALL_PROXY", "127.0.0.1:1"),
                                                     ("https", "https_proxy", "http://[::1]:1"), ("http", "all_proxy", "socks5h://al:SECRET@127.0.0.1:1")])
def test_a_proxy_that_is_away_is_named(recording, scheme, variable, proxy):
    done = ship(recording, "--to", f"{scheme}://store.invalid:9200", "--once", "--give-up", 0, *QUICK, env={variable: proxy})
    assert done.returncode == 1 and "port 1 " in done.stderr and f"(the proxy of {variable})" in done.stderr, done.stderr
    assert "SECRET" not in done.stderr


def test_the_command_line_is_wiped(recording, shipper, stub):
    stub.faults = [Answer(503)] * 1000
    one = shipper(recording, "--to", with_login(stub.url, "al:" + ENCODED), *QUICK)
    wait_for(lambda: stub.requests)
    with open(f"/proc/{one.process.pid}/cmdline") as words:
        assert "s3cr" not in words.read()
    one.end(signal.SIGINT)


@pytest.mark.parametrize("url, message", [
    ("127.0.0.1:9200", "the URL begins with no scheme such as elasticsearch://"),
    ("gopher://al:SECRET@host", "gopher://: no store of that kind; there are elasticsearch"),
    ("elasticsearch://al:SECRET@", "names no host"),
    ("elasticsearch://al:SECRET@h:0", "the port is no number of 1 to 65535"),
    ("elasticsearch://al:SECRET@h:99999", "the port is no number"),
    ("elasticsearch://al:SECRET@h:9200x", "the port is no number"),
    ("elasticsearch://al:SECRET%zz@h", "the password in the URL is not percent-encoded"),
    ("elasticsearch://al:SECRET%0a@h", "the password in the URL is not percent-encoded"),
    ("elasticsearch://al:SECRET@h h", "names no host that there can be"),
    ("elasticsearch://al:SECRET@[::1]x", "what is behind ']'"),
    ("elasticsearch://" + "x" * 5000, "more than 4096 bytes"),
])
def test_urls_that_are_none(recording, url, message):
    done = ship(recording, "--to", url, "--once")
    assert done.returncode == 2 and message in done.stderr and done.stderr.count("\n") == 1
    assert "SECRET" not in done.stderr


def test_nobody_is_there(recording, tmp_path):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        url = "elasticsearch://127.0.0.1:%d" % taken.getsockname()[1]
        done = ship(recording, "--to", url, "--once", "--give-up", "0.5", *QUICK)
    lines = done.stderr.splitlines()
    assert done.returncode == 1 and lines[0].startswith(f"venturi ship: {url}: cannot be reached: ") and lines[0].endswith("trying again for 0.5 s (--give-up)")
    assert lines[-1].endswith(f"not all was sent; it is kept: venturi ship {recording} --to {url} --once") and len(lines) == 3
    assert ship(recording, "--to", "elasticsearch://no.such.host.invalid", "--once", "--give-up", "0", *QUICK).returncode == 1


def test_somebody_else_is_there(recording, stub):
    done = ship(recording, "--to", stub.url + "/elsewhere/", "--once")
    assert done.returncode == 2
    assert f"venturi ship: {stub.url}/elsewhere/: is that the address of Elasticsearch or OpenSearch? It: answers 404" in done.stderr
    stub.faults = [Answer(301, Location="http://127.0.0.1:1/")]
    done = ship(recording, "--to", stub.url, "--once")
    assert done.returncode == 2 and "sends us elsewhere" in done.stderr and not stub.documents


@pytest.fixture
def talker():
    """A server that says a line and closes, as those of other protocols do."""
    server = socket.create_server(("127.0.0.1", 0))

    def serve():
        while True:
            try:
                connection, _ = server.accept()
            except OSError:
                return
            with connection:
                connection.settimeout(5)
                try:
                    connection.sendall(b"220 mail ready\r\n")
                    connection.recv(65536)
                except OSError:
                    pass
    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    yield server.getsockname()[1]
    server.shutdown(socket.SHUT_RDWR)
    server.close()
    thread.join(10)


def test_something_that_is_no_http(recording, talker):
    done = ship(recording, "--to", f"elasticsearch://127.0.0.1:{talker}", "--once", "--give-up", "0.3", *QUICK)
    assert done.returncode in (1, 2) and "not all was sent" in done.stderr or "does not speak HTTP" in done.stderr


# ---- TLS -------------------------------------------------------------------------------------


def openssl(*words, folder):
    subprocess.run(["openssl", *words], cwd=folder, check=True, capture_output=True)


def fingerprint(path):
    text = subprocess.run(["openssl", "x509", "-noout", "-fingerprint", "-sha256", "-in", path], check=True, capture_output=True, text=True).stdout
    return text.strip().split("=")[1]


@pytest.fixture(scope="module")
def certificates(tmp_path_factory):
    """An authority, a server's certificate by it (chain.pem has both), one for another host, one that has expired."""
    if not shutil.which("openssl"):
        pytest.skip("no openssl on this machine")
    folder = tmp_path_factory.mktemp("tls")
    openssl("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", "ca.key", "-out", "ca.pem", "-days", "2", "-subj", "/CN=Test CA",
            "-addext", "basicConstraints=critical,CA:TRUE", folder=folder)
    for name, host, days in (("server", "IP:127.0.0.1", "2"), ("other", "DNS:elsewhere.example", "2"), ("old", "IP:127.0.0.1", "-1")):
        openssl("req", "-newkey", "rsa:2048", "-nodes", "-keyout", name + ".key", "-out", name + ".csr", "-subj", "/CN=" + name, folder=folder)
        (folder / "ext").write_text("subjectAltName=" + host)
        openssl("x509", "-req", "-in", name + ".csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-days", days, "-extfile", "ext",
                "-out", name + ".pem", folder=folder)
        (folder / (name + "-chain.pem")).write_text((folder / (name + ".pem")).read_text() + (folder / "ca.pem").read_text())
    return folder


def over_tls(certificates, recording, *words, server="server", env=None):
    with Stub(tls=(certificates / (server + "-chain.pem"), certificates / (server + ".key"))) as stub:
        url = stub.url.replace("elasticsearch", "elasticsearch+https")
        done = ship(recording, "--to", url, "--once", "--give-up", "0.3", *QUICK, *words, env=env)
        return done, len(stub.documents)


def test_tls_that_is_trusted(certificates, recording):
    done, count = over_tls(certificates, recording, "--ca", certificates / "ca.pem")
    assert (done.returncode, count) == (0, 10), done.stderr
    assert "elasticsearch+https://127.0.0.1" in done.stderr


@pytest.mark.parametrize("which", ["ca.pem", "server.pem"])
def test_tls_by_fingerprint(certificates, recording, which):
    done, count = over_tls(certificates, recording, "--fingerprint", fingerprint(certificates / which))
    assert (done.returncode, count) == (0, 10), done.stderr


def test_tls_by_fingerprint_from_the_environment(certificates, recording):
    done, count = over_tls(certificates, recording, env={"VENTURI_STORE_FINGERPRINT": fingerprint(certificates / "ca.pem").replace(":", "").lower()})
    assert (done.returncode, count) == (0, 10), done.stderr


def test_tls_of_another_host(certificates, recording):
    """An authority vouches for the host that is asked for; a certificate that was named itself is enough."""
    done, count = over_tls(certificates, recording, "--fingerprint", fingerprint(certificates / "ca.pem"), server="other")
    assert (done.returncode, count) == (2, 0), done.stderr
    done, count = over_tls(certificates, recording, "--fingerprint", fingerprint(certificates / "other.pem"), server="other")
    assert (done.returncode, count) == (0, 10), done.stderr


def test_tls_that_is_not_trusted(certificates, recording):
    for words, message in (([], "certificate"), (["--fingerprint", "ab" * 32], "no certificate of the server has the fingerprint"),
                           (["--ca", certificates / "other.key"], "certificate")):
        done, count = over_tls(certificates, recording, *words)
        assert (done.returncode, count) == (2, 0) and message in done.stderr.splitlines()[-1], done.stderr
    done, count = over_tls(certificates, recording, "--insecure")
    assert (done.returncode, count) == (0, 10)


def test_tls_that_has_expired(certificates, recording):
    done, count = over_tls(certificates, recording, "--ca", certificates / "ca.pem", server="old")
    assert (done.returncode, count) == (2, 0) and "is this machine's clock right?" in done.stderr


def test_tls_where_there_is_none(recording, stub):
    done = ship(recording, "--to", stub.url.replace("://", "+https://"), "--once", "--insecure")
    assert done.returncode == 2 and "does it speak TLS at all?" in done.stderr
