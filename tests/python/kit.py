"""What the programs under test share: run something with the hooks on, look at the rows."""
import contextlib
import json

from venturi import _venturi


class Rows:
    """Filled when the block of profiled() ends."""

    def __init__(self):
        self.rows, self.lost, self.after, self.before = [], 0, None, None

    def named(self, name):
        """The one row of a function."""
        found = [row for row in self.rows if row[2] == name]
        assert len(found) == 1, (name, [row[2] for row in self.rows])
        return found[0]

    def has(self, name):
        return any(row[2] == name for row in self.rows)

    def calls(self, name):
        return self.named(name)[6]

    def own(self, name):
        return self.named(name)[7]

    def total(self, name):
        return self.named(name)[8]

    def callers(self, name):
        """{name of the caller: calls}"""
        return {self.rows[caller[0]][2]: caller[1] for caller in self.named(name)[16]}


@contextlib.contextmanager
def profiled(**options):
    found = Rows()
    _venturi.calls_start()
    found.before = _venturi.snapshot()
    _venturi.start(**options)
    try:
        yield found
    finally:
        _venturi.stop()
        found.after = _venturi.snapshot()
        found.rows = _venturi.profile([(found.after, found.before)])
        found.lost = _venturi.info()["lost_calls"]
        _venturi.calls_stop()


def tell(value):
    print(json.dumps(value), flush=True)
