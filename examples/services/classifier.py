#!/usr/bin/env python3
"""A service that says what an alert of a survey is: asks the catalog (catalog.c) what lies nearby, then decides.

    venturi run -o classifier.vt -- classifier.py services.conf 40124      the port of the catalog

GET /alerts/NAME. Shows how a Python service takes part in traces: its settings, one line of middleware, and trace points where the
work is; requests that go out carry the trace on because the settings say so. Ends at SIGTERM.
"""
import json
import signal
import socketserver
import sys
import urllib.error
import urllib.request
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server

from venturi import configuration, trace, web

ALERTS = {
    "mira": {"ra": 34.8, "dec": 22.9, "light": [9.1, 8.6, 7.2, 5.9]},
    "nova": {"ra": 267.1, "dec": -29.4, "light": [19.8, 19.7, 12.3, 12.4]},
    "glitch": {"ra": 12.0, "dec": 123.0, "light": [20.1]},  # the telescope was not where it thought
}


class CatalogError(Exception):
    """The catalog has refused."""


class Classifier:
    def __init__(self, catalog):
        self.catalog = catalog

    @trace.trace("classify", hide_args=True)
    def classify(self, alert):
        with trace.Trace("brightness"):
            rise = max(alert["light"]) - min(alert["light"])
        nearby = self.ask_catalog(alert)
        with trace.Trace("decide", info={"rise": rise, "degrees": nearby["degrees"]}):
            kind = "new star" if rise > 5 else "variable star" if nearby["degrees"] < 1 else "moving object"
        return {"is": kind, "near": nearby["object"]}

    @trace.trace("ask-catalog", hide_args=True)
    def ask_catalog(self, alert):
        try:
            with urllib.request.urlopen("%s/match?ra=%s&dec=%s" % (self.catalog, alert["ra"], alert["dec"]), timeout=10) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as refused:
            raise CatalogError(json.load(refused)["error"]) from None

    def __call__(self, environ, start_response):
        alert = ALERTS.get(environ["PATH_INFO"].rpartition("/")[2])
        try:
            status, said = ("200 OK", self.classify(alert)) if alert else ("404 Not Found", {"error": "no such alert"})
        except (CatalogError, OSError) as error:
            status, said = "502 Bad Gateway", {"error": str(error)}
        body = json.dumps(said).encode() + b"\n"
        start_response(status, [("Content-Type", "application/json"), ("Content-Length", str(len(body)))])
        return [body]


class Server(socketserver.ThreadingMixIn, WSGIServer):
    daemon_threads = True


class Quiet(WSGIRequestHandler):
    def log_message(self, *_):
        pass


def main(settings, catalog_port):
    configuration.setup(settings, project="survey", service="classifier")
    application = web.WsgiMiddleware(Classifier("http://127.0.0.1:" + catalog_port))
    with make_server("127.0.0.1", 0, application, Server, Quiet) as server:
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
        print(server.server_port, flush=True)
        server.serve_forever()


if __name__ == "__main__":
    main(*sys.argv[1:])
