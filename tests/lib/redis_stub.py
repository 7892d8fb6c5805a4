"""A stand-in for Redis that says whatever a test wants: bytes, or bytes without end."""
import socket
import threading


def bulk(text):
    return b"$%d\r\n%s\r\n" % (len(text), text)


def array(*items):
    return b"*%d\r\n" % len(items) + b"".join(items)


class RedisStub:
    """`says` is asked with the words of each command: bytes, None (no answer), or a generator of bytes."""

    def __init__(self, says):
        self.says, self.commands, self.sent = says, [], 0
        self.door = socket.create_server(("127.0.0.1", 0))
        self.url = "redis://127.0.0.1:%d" % self.door.getsockname()[1]
        self.threads = [threading.Thread(target=self._accept, daemon=True)]
        self.threads[0].start()
        self.links = []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.door.shutdown(socket.SHUT_RDWR)
        self.door.close()
        for link in self.links:
            try:
                link.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
        for thread in self.threads:
            thread.join(30)

    def _accept(self):
        while True:
            try:
                link, _ = self.door.accept()
            except OSError:
                return
            self.links.append(link)
            self.threads.append(threading.Thread(target=self._serve, args=(link,), daemon=True))
            self.threads[-1].start()

    def _serve(self, link):
        with link, link.makefile("rb") as asked:
            try:
                while line := asked.readline():
                    words = [asked.read(int(asked.readline()[1:]) + 2)[:-2] for _ in range(int(line[1:]))]
                    self.commands.append(words)
                    said = b"+OK\r\n" if words[0] in (b"SELECT", b"AUTH") else self.says(words)
                    for piece in [said] if isinstance(said, bytes) else said or ():
                        link.sendall(piece)
                        self.sent += len(piece)
            except (OSError, ValueError):
                pass
