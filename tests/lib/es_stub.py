"""A stand-in for Elasticsearch and OpenSearch that does what a healthy server never does when it is asked to.

It keeps documents as the real ones do for `create` (a second one under an id is a 409), and checks what a request must look like. `faults`
is a list: each request to _bulk takes the first and does that instead of answering well.
"""
import base64
import gzip
import json
import socket
import ssl
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

ITEM_ERRORS = {
    400: {"type": "document_parsing_exception", "reason": "failed to parse field [n] of type [long]"},
    403: {"type": "security_exception", "reason": "action [indices:data/write/bulk] is unauthorized"},
    404: {"type": "index_not_found_exception", "reason": "no such index and [action.auto_create_index] is [false]"},
    429: {"type": "es_rejected_execution_exception", "reason": "rejected execution of primary operation"},
    503: {"type": "unavailable_shards_exception", "reason": "primary shard is not active"},
}


class Answer:
    """A whole answer: status, body (JSON, text or bytes), headers. `takes`: the documents are kept all the same."""

    def __init__(self, status, body="", takes=False, **headers):
        self.status, self.body, self.takes, self.headers = status, body, takes, headers


class Items:
    """Some items fail: by position in the request, or by what a document holds: a function of it."""

    def __init__(self, status, which, error=None):
        self.status, self.which, self.error = status, which, error or ITEM_ERRORS.get(status)

    def hits(self, at, document):
        return self.which(document) if callable(self.which) else at in self.which


class Silence:
    """Takes the request, keeps what is in it if told so, and never answers: closes, or waits first."""

    def __init__(self, takes=False, seconds=0):
        self.takes, self.seconds = takes, seconds


# What servers of all ages are called here: distribution and version.
FORMS = [("elasticsearch", "7.5.2"), ("elasticsearch", "7.17.9"), ("elasticsearch", "8.15.0"), ("elasticsearch", "9.1.0"), ("opensearch", "1.3.20"),
         ("opensearch", "2.19.1"), ("opensearch", "3.1.0")]


class Stub:
    def __init__(self, distribution="opensearch", version="2.19.1", login=None, tls=None, most_bytes=None, port=0):
        self.documents = {}  # (index, id): document
        self.order = []
        self.requests = []  # (method, path, headers, body)
        self.bulks = []  # documents in each _bulk
        self.faults = []
        self.refused = None  # a function of a document: 400 for good
        self.distribution, self.version, self.login, self.most_bytes = distribution, version, login, most_bytes
        self.lifecycle = True
        self.policies = {}
        self.connections = set()
        self.lock = threading.Lock()
        stub = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def setup(self):
                super().setup()
                stub.connections.add(self.connection)

            def finish(self):
                stub.connections.discard(self.connection)
                super().finish()

            def log_message(self, *_):
                pass

            def do(self):
                try:
                    stub.serve(self)
                except (BrokenPipeError, ConnectionResetError):
                    self.close_connection = True

            do_GET = do_POST = do_PUT = do_HEAD = do_DELETE = do

        class Server(ThreadingHTTPServer):
            daemon_threads = True
            request_queue_size = 64

            def handle_error(self, *_):
                pass

        self.server = Server(("127.0.0.1", port), Handler)
        if tls:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(*tls)
            self.server.socket = context.wrap_socket(self.server.socket, server_side=True, do_handshake_on_connect=False)
        self.port = self.server.server_address[1]
        self.thread = threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
        self.thread.start()

    @property
    def url(self):
        return f"elasticsearch://127.0.0.1:{self.port}"

    @property
    def numbers(self):
        """Of the version: major and minor."""
        return tuple(map(int, self.version.split(".")[:2]))

    def close(self):
        self.server.shutdown()
        self.server.server_close()
        self.thread.join(10)
        for connection in list(self.connections):  # those that are kept, too
            try:
                connection.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    # ---- requests ----------------------------------------------------------------------------

    def serve(self, handler):
        length = int(handler.headers.get("Content-Length") or 0)
        raw = handler.rfile.read(length)
        body = gzip.decompress(raw) if handler.headers.get("Content-Encoding") == "gzip" else raw
        path = handler.path.split("?")[0]
        with self.lock:
            self.requests.append((handler.command, handler.path, dict(handler.headers), body))
        if "vnd.elasticsearch" in str(handler.headers.get("Content-Type")) + str(handler.headers.get("Accept")):  # OpenSearch and those before 7.11
            self.answer(handler, 406, {"error": "Content-Type header [application/vnd.elasticsearch+json] is not supported", "status": 406})
        elif self.login and handler.headers.get("Authorization") != self.login:
            self.answer(handler, 401, {"error": {"type": "security_exception", "reason": "missing authentication"}, "status": 401})
        elif path == "/":
            self.answer(handler, 200, {"name": "stub", "version": {"number": self.version, **(
                {"distribution": "opensearch"} if self.distribution == "opensearch" else {"build_flavor": "default"})}})
        elif path == "/_bulk" and handler.command == "POST":
            self.bulk(handler, body)
        elif path.startswith(("/_ilm/policy/", "/_plugins/_ism/policies/", "/_index_template/", "/_template/")):
            self.configure(handler, path, body)
        else:
            self.answer(handler, 404, {"error": "no handler found for uri [" + handler.path + "]"})

    def answer(self, handler, status, body, headers=None):
        data = body if isinstance(body, bytes) else body.encode() if isinstance(body, str) else json.dumps(body).encode()
        handler.send_response(status)
        is_elastic = self.distribution == "elasticsearch"
        handler.send_header("Content-Type", "application/json; charset=UTF-8" if self.numbers < (8, 0) else "application/json")
        if is_elastic and self.numbers >= (7, 14):
            handler.send_header("X-Elastic-Product", "Elasticsearch")
        handler.send_header("Content-Length", str(len(data)))
        for name, value in (headers or {}).items():
            handler.send_header(name.replace("_", "-"), str(value))
        handler.end_headers()
        if handler.command != "HEAD":
            handler.wfile.write(data)

    @staticmethod
    def parse(body):
        """Pairs of action and document; what the real one refuses is an error here, too."""
        assert body.endswith(b"\n"), "no line end at the end"
        lines = body.split(b"\n")[:-1]
        assert len(lines) % 2 == 0
        pairs = []
        for action, document in zip(lines[::2], lines[1::2]):
            meta = json.loads(action)
            assert list(meta) == ["create"] and set(meta["create"]) == {"_index", "_id"}, action
            assert meta["create"]["_index"] == meta["create"]["_index"].lower()
            pairs.append((meta["create"]["_index"], meta["create"]["_id"], json.loads(document, object_pairs_hook=no_twins)))
        return pairs

    def keep(self, pairs):
        """What became of each, as the real one says it."""
        statuses = []
        for index, name, document in pairs:
            if self.refused and self.refused(document):
                statuses.append(400)
            elif (index, name) in self.documents:
                statuses.append(409)
            else:
                self.documents[index, name] = document
                self.order.append(document)
                statuses.append(201)
        return statuses

    def bulk(self, handler, body):
        with self.lock:
            fault = self.faults.pop(0) if self.faults else None
        if callable(fault):
            fault = fault(self)
        if self.most_bytes and len(body) > self.most_bytes:
            return self.answer(handler, 413, "")
        assert handler.headers["Content-Type"] == "application/x-ndjson"
        pairs = self.parse(body)
        with self.lock:
            self.bulks.append(len(pairs))
        if isinstance(fault, Silence):
            if fault.takes:
                with self.lock:
                    self.keep(pairs)
            time.sleep(fault.seconds)
            handler.close_connection = True
            return None
        if isinstance(fault, Answer):
            if fault.takes:
                with self.lock:
                    self.keep(pairs)
            return self.answer(handler, fault.status, fault.body, fault.headers)
        return self.answer_items(handler, pairs, fault)

    def answer_items(self, handler, pairs, fault):
        items, has_errors = [], False
        with self.lock:
            for at, (index, name, document) in enumerate(pairs):
                if fault and fault.hits(at, document):
                    status, error = fault.status, fault.error
                else:
                    status = self.keep([(index, name, document)])[0]
                    error = ITEM_ERRORS[400] if status == 400 else None
                    if status == 409:
                        error = {"type": "version_conflict_engine_exception", "reason": f"[{name}]: version conflict"}
                has_errors |= status >= 300
                items.append({"create": {**self.more(status), "status": status, **({"error": self.worded(error)} if error else {})}})
        return self.answer(handler, 200, {"errors": has_errors, "items": items})

    def more(self, status):
        """Members that only some versions have, as far as filter_path lets them through: a proxy may cut it off."""
        if self.distribution == "elasticsearch" and self.numbers >= (9, 0):
            return {"_index": "x", "failure_store": "not_enabled"} if status >= 300 else {"_index": "x"}
        return {"_type": "_doc"} if self.numbers < (8, 0) and self.distribution == "elasticsearch" else {}

    def worded(self, error):
        """What 8.9 calls document_parsing_exception was mapper_parsing_exception before, and still is in OpenSearch."""
        is_new = self.distribution == "elasticsearch" and self.numbers >= (8, 9)
        if error.get("type") == "document_parsing_exception" and not is_new:
            return {**error, "type": "mapper_parsing_exception", "caused_by": {"type": "illegal_argument_exception", "reason": "For input string"}}
        return error

    def configure(self, handler, path, body):
        is_ism, is_ilm = path.startswith("/_plugins"), path.startswith("/_ilm")
        known = self.lifecycle and (self.distribution == "opensearch" if is_ism else self.distribution != "opensearch")
        if (is_ism or is_ilm) and not known and self.version.startswith("7."):  # it is a document's path there
            return self.answer(handler, 400, {"error": {"type": "invalid_index_name_exception", "reason": "Invalid index name [_ilm]"}, "status": 400})
        if (is_ism or is_ilm) and not known:
            return self.answer(handler, 400, {"error": "no handler found for uri [" + path + "] and method [PUT]"})
        if handler.command == "GET":
            if path not in self.policies:
                return self.answer(handler, 404, {"error": {"type": "status_exception", "reason": "Policy not found"}})
            return self.answer(handler, 200, {"_id": path, "_version": 1, "_primary_term": 3, "_seq_no": 7, "policy": {}})
        if is_ism and path in self.policies and "if_seq_no=7&if_primary_term=3" not in handler.path:
            return self.answer(handler, 409, {"error": {"type": "version_conflict_engine_exception", "reason": "exists"}})
        self.policies[path] = json.loads(body, object_pairs_hook=no_twins)
        return self.answer(handler, 200, {"acknowledged": True})


def no_twins(pairs):
    """As Elasticsearch: a name that stands twice in an object is an error."""
    names = [name for name, _ in pairs]
    assert len(names) == len(set(names)), names
    return dict(pairs)


def basic(user, password):
    return "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()
