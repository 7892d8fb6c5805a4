/* A recording whose every text is an attack. */

import { writeWithPython } from "./tool";

/* Names as Python writes them, for the writer of recordings. */
export const NAMES = `[
  "</script><script>window.hit = 1; alert(1)</script>", "<img src=x onerror='window.hit=1'>", "<svg/onload=alert(1)>",
  "javascript:alert(1)", "<!--<script>", "]]>&amp;<b>", "\\u202egnp.exe\\u202c txt", "a\\x00b\\x1b[31mred\\x07\\r\\n\\ttab",
  "\\u2028line\\u2029paragraph", "x" * 10000, "W" * 10000, "日本" * 3000, b"bad \\xff\\xfe\\xc0\\x80 \\xed\\xa0\\x80", "'; DROP--\\\\", "",
  "%s%n{{7*7}}", "=1+1", "@SUM(A1)", "__proto__", "constructor", "toString",
]`;

const RECORDING = `
import sys
from vtwrite import Writer
NAMES = ${NAMES}
first = NAMES[0]
w = Writer()
w.meta(command=first, directory=NAMES[1], venturi="1.0", policy="drop")
w.host(name=NAMES[2], system=NAMES[1], cpu=first)
w.clock(kind=2, anchors=[(0, 0, 1800000000 * 10 ** 9, 0)])
for i, name in enumerate(NAMES):
    w.process(i, pid=100 + i, name=name, command=name)
    w.track(i, process=i, name=name, thread=1000 + i)
    w.site(i + 1, name, 0, name, name, i, name)
    w.site(100 + i, name, 1, name, name, i, name)
    w.site(200 + i, name, 2, name, name, i, name)
for i in range(len(NAMES)):
    e = w.events(i, first=0)
    e.begin(1000 * i, i + 1)
    for j in range(len(NAMES)):
        e.begin(1000 * i + 10 + 40 * j, j + 1)
        if i == j:
            e.error(1000 * i + 15 + 40 * j, NAMES[j], NAMES[i])
        e.mark(1000 * i + 16 + 40 * j, 200 + j)
        e.counter(1000 * i + 17 + 40 * j, 100 + j, j)
        e.end(1000 * i + 40 + 40 * j)
    e.end(1000 * i + 990)
    e.async_begin(1000 * i + 991, i + 1, i)
    e.async_end(1000 * i + 999, i)
    e.write()
w.close()
open(sys.argv[1], "wb").write(w.bytes())
`;

export function hostileRecording(): string {
  return writeWithPython("hostile.vt", RECORDING);
}
