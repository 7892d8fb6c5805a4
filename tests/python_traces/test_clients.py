"""Hooks of outgoing requests, and traces through services of both kinds: venturi.clients."""
import json
import subprocess

import pytest
from in_pythons import VENTURI, VERSIONS, cases, check, environment, python_or_skip


@pytest.mark.parametrize("version, file, name", cases("case_clients"))
def test_clients(version, file, name):
    check(version, file, name)


SERVICE = """
import urllib.error
import urllib.request
import kit
from venturi import clients, trace, web

def application(environ, start_response):
    with trace.Trace("inner"):
        start_response("503 Not Now", [("Content-Length", "0")])
        return []

trace.set_service(project="shop", service="till")
clients.install()
with kit.serve(web.WsgiMiddleware(application, kit.KEY, True)) as url:
    trace.init(kit.KEY, base_id=kit.BASE)
    try:
        urllib.request.urlopen(url + "/p?q=1", timeout=20)
    except urllib.error.HTTPError as error:
        error.close()
    trace.clean()
"""


@pytest.mark.parametrize("version", VERSIONS)
def test_recorded(version, tmp_path):
    """Client and service in a recording: who called whom, both statuses, the error."""
    (tmp_path / "service.py").write_text(SERVICE)
    subprocess.run([VENTURI, "run", "-q", "-o", "x.vt", python_or_skip(version), "service.py"], cwd=tmp_path, check=True, env=environment())
    shown = subprocess.run([VENTURI, "trace", "show", "f12e75d5-5d59-4cbc-b74d-357f19290dd7", "x.vt", "--json"], cwd=tmp_path, check=True,
                           capture_output=True, text=True).stdout
    client, served, inner = json.loads(shown)["spans"]
    assert [client["name"], served["name"], inner["name"]] == ["http", "wsgi", "inner"]
    assert (served["parent"], inner["parent"]) == (client["id"], served["id"])
    assert client["attrs"]["requests.status_code"] == 503 and client["attrs"]["requests.path"] == "/p" and client["error"] is None
    assert served["attrs"]["request.status"] == 503 and served["attrs"]["request.query"] == "q=1" and served["attrs"]["service"] == "till"
    assert served["error"] == {"type": "venturi.web.ServerError", "message": "503 Not Now"}
