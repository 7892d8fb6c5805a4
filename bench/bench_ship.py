#!/usr/bin/env python3
"""Documents that `venturi ship` encodes and sends in a CPU-second, to an endpoint that takes everything and keeps nothing.

usage: bench_ship.py BUILD [--documents N] [--runs N]

The endpoint answers each _bulk as a server does, with the status of each document. The best run counts: other load on the machine only
ever makes a run slower. Prints one JSON object a line.
"""
import argparse
import json
import os
import resource
import socket
import subprocess
import sys
import tempfile
import threading

BATCH = 2000
EXTRA = '"candid":"15494733621150{:05d}","oid":"ZTF20aaelulu","n_det":17'


def answer(documents):
    body = b'{"errors":false,"items":[' + b",".join([b'{"create":{"status":201}}'] * documents) + b"]}"
    return b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(body) + body


class Null:
    """Reads requests by their lengths only. `answers` has one for a full batch; the last one of a run is shorter, which nobody looks at."""

    def __init__(self):
        self.server = socket.create_server(("127.0.0.1", 0))
        self.port = self.server.getsockname()[1]
        self.answer = answer(BATCH)
        self.bytes = 0
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            connection, _ = self.server.accept()
            threading.Thread(target=self.serve, args=(connection,), daemon=True).start()

    def serve(self, connection):
        room = bytearray(1 << 20)
        with connection, connection.makefile("rb", 1 << 20) as reader:
            while reader.readline():
                length = 0
                while (line := reader.readline()) not in (b"\r\n", b""):
                    if line.lower().startswith(b"content-length:"):
                        length = int(line.split(b":")[1])
                self.bytes += length
                while length:
                    got = reader.readinto(memoryview(room)[:min(length, len(room))])
                    if not got:
                        return
                    length -= got
                connection.sendall(self.answer)


def make(program, path, documents):
    maker = subprocess.Popen([program, path], stdin=subprocess.PIPE, text=True)
    for i in range(documents):
        at = 1789991999_000000000 + i * 12345
        maker.stdin.write(f"{at}\t{at - 1500000}\t{1400000 + i % 999}\t0\t1\tClassifier\tpipeline\tztf\t{EXTRA.format(i % 100000)}\n")
    maker.stdin.close()
    if maker.wait():
        sys.exit("bench_ship.py: make_steps failed")


def documents_per_second(build, folder, recording, documents, null, gzip):
    for name in os.listdir(folder):
        if "ship-" in name:
            os.remove(os.path.join(folder, name))
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([os.path.join(build, "venturi-ship"), recording, "--to", f"elasticsearch://127.0.0.1:{null.port}", "--once", "--only", "steps",
                           "--gzip", gzip, "--batch", str(BATCH)], capture_output=True, text=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode or f"{documents} documents" not in done.stderr:
        sys.exit("bench_ship.py: " + done.stderr)
    return documents / (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("build")
    parser.add_argument("--documents", type=int, default=500_000)
    parser.add_argument("--runs", type=int, default=5)
    options = parser.parse_args()
    null = Null()
    with tempfile.TemporaryDirectory() as folder:
        recording = os.path.join(folder, "a.vt")
        make(os.path.join(options.build, "tests", "fault", "make_steps"), recording, options.documents)
        for name, gzip in (("ship", "off"), ("ship_gzip", "on")):
            null.bytes = 0
            best = max(documents_per_second(options.build, folder, recording, options.documents, null, gzip) for _ in range(options.runs))
            print(json.dumps({"name": name, "value": round(best), "unit": "documents/s",
                              "bytes": round(null.bytes / options.runs / options.documents, 1)}))


if __name__ == "__main__":
    main()
