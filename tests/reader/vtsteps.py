"""STEPS blocks: what their entries leave out is what stands in earlier ones of the same block.

Written from docs/format.md alone, as vtblocks.py.
"""

import struct
from collections import namedtuple
from typing import Optional

from vtblocks import Cursor, Malformed

MAX_EXTRA = 32768
ALL = 1 << 64

Step = namedtuple("Step", "process site number failed metrics cut received sent received_ns sent_ns messages execute pre post produce lag extra")


class StepDecoder:
    """Reads the entries of one block, after its head."""

    def __init__(self, process: int, cursor: Cursor) -> None:
        self.process = process
        self.ticks, self.real, self.rate = struct.unpack("<Qqd", cursor.take(24))
        if not 0 < self.rate <= 1e9 or self.real < 0:
            raise Malformed("a clock that cannot be")
        self.time = self.number = 0
        self.extra = b""

    def realtime(self, ticks: int) -> int:
        return min(max(self.real + int(float(ticks - self.ticks) * self.rate), 0), (1 << 63) - 1)

    def next(self, cursor: Cursor) -> Optional[Step]:
        """One entry; None for a type that is not known."""
        kind, length = cursor.fields("vv")
        body = Cursor(cursor.take(length))
        return self._step(body) if kind == 1 else None

    def _step(self, body: Cursor) -> Step:
        flags = body.varint()

        def known(bit):
            return body.varint() if flags >> bit & 1 else None

        site = body.varint()
        if site >= (1 << 32) - 1:
            raise Malformed("site %d" % site)
        self.number = (self.number + body.signed()) % ALL
        self.time = (self.time + body.signed()) % ALL
        received = max(self.time - body.varint(), 0)
        messages = known(3)
        times = [known(bit) for bit in (4, 5, 6, 7)]
        lag = body.signed() if flags >> 8 & 1 else None
        extra = self._extra(body) if flags >> 9 & 1 else ""
        return Step(self.process, site, self.number, bool(flags & 1), bool(flags & 2), bool(flags & 4), received, self.time,
                    self.realtime(received), self.realtime(self.time), 1 if messages is None else messages, *times, lag, extra)

    def _extra(self, body: Cursor) -> str:
        same = body.varint()
        rest = body.take(body.varint())
        if same > len(self.extra) or same + len(rest) > MAX_EXTRA:
            raise Malformed("a text of %d bytes" % (same + len(rest)))
        self.extra = self.extra[:same] + rest
        return self.extra.decode("utf-8", "surrogateescape")
