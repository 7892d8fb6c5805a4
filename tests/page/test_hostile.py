"""Nothing that a recording says ends an element of the page, and no recording makes the tool fall."""
import os
import random
import struct
import sys

import pytest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "reader"))
from vtblocks import BLOCK_HEADER_SIZE, BLOCK_MAGIC, FILE_HEADER_SIZE, crc32c  # noqa: E402

from page_reader import SCRIPT, read  # noqa: E402

ROUNDS = 300 if os.environ.get("VENTURI_SOAK") else 25

NAMES = ["</script><script>alert(1)</script>", "<!--<script>", "]]>&amp;<b>", "\u202egnp.exe\u202c", "a\x00b"[:1] + "\x1b[31mred\x07",
         "\u2028line\u2029paragraph", "x" * 10000, "\"quoted\\\"", "'; --", "\ud7ff\ufeffbom", "&lt;"]


def parts(text):
    """A page before its data, its data, and the rest."""
    begin = text.index('<script type="application/octet-stream" id="venturi-block-0"')
    end = text.index("</script>", text.index('id="venturi-directory"')) + len("</script>")
    return text[:begin], text[begin:end], text[end:]


def test_names_that_would_end_the_element(venturi, page, golden, recording, tmp_path):
    writer = recording(name=NAMES[0], command=NAMES[0])
    writer.meta(command=NAMES[0], directory=NAMES[1])
    for i, name in enumerate(NAMES):
        writer.site(i + 1, name, 0, name, name, 1, name)
    events = writer.events(0, first=0)
    for i in range(len(NAMES)):
        events.begin(10 * i, i + 1)
        events.error(10 * i + 1, NAMES[i], NAMES[0])
        events.end(10 * i + 5)
    events.write()
    out = tmp_path / "page.html"
    writer.save(tmp_path / "a.vt")
    before, _, after = parts(page(golden("empty")).text)
    venturi("report", tmp_path / "a.vt", "-o", out, check=0)
    page = read(out)
    assert parts(page.text)[::2] == (before, after)
    data = parts(page.text)[1]
    assert len(SCRIPT.findall(data)) == len(page.blocks) + 1
    assert data.count("</script>") == len(page.blocks) + 1
    for bad in ("<b>", "<!--", "&", "\u2028", "\u2029", "alert(1)</"):
        assert bad not in data
    assert set(NAMES) <= set(page.table("sites")["name"])
    assert {row["message"] for row in page.table("errors").dicts()} == {NAMES[0]}
    assert page.recording["processes"][0]["name"] == NAMES[0]


def test_bytes_that_are_no_text(page, recording, tmp_path):
    writer = recording(name=b"bad \xff name")
    writer.site(1, b"\xc0\xaf overlong \xed\xa0\x80")
    events = writer.events(0, first=0)
    events.begin(1, 1)
    events.end(2)
    events.write()
    made = page(writer.save(tmp_path / "a.vt"))
    assert made.table("sites")["name"] == ["\ufffd\ufffd overlong \ufffd\ufffd\ufffd"]
    assert made.recording["processes"][0]["name"] == "bad \ufffd name"


def test_ids_that_nobody_defined(page, recording, tmp_path):
    writer = recording()
    events = writer.events(77, first=5)
    events.begin(5, 4000000000)
    events.counter(6, 3999999999, 1.5)
    events.end(9)
    events.write()
    made = page(writer.save(tmp_path / "a.vt"))
    sites = made.table("sites").dicts()
    span, = made.table("spans").dicts()
    assert sites[span["site"]]["name"] == "site 4000000000"
    assert made.recording["tracks"][span["track"]]["id"] == 77


def test_parents_in_a_circle(page, recording, tmp_path):
    writer = recording()
    for process in (1, 2, 3):
        writer.process(process, pid=process, parent=1 + process % 3)
    made = page(writer.save(tmp_path / "a.vt"))
    processes = made.recording["processes"]
    for at in range(len(processes)):
        steps = 0
        while at >= 0 and steps < 10:
            at, steps = processes[at]["parent"], steps + 1
        assert steps < 10


def test_very_deep(page, recording, tmp_path):
    writer = recording()
    writer.site(1, "down")
    events = writer.events(0, first=0)
    for i in range(5000):
        events.begin(i, 1)
    for i in range(5000):
        events.end(5000 + i)
    events.write()
    path = writer.save(tmp_path / "a.vt")
    made = page(path)
    assert made.table("spans")["depth"] == list(range(5000))
    folded = page(path, "--events", "10")
    assert sum(folded.table("spans")["count"]) == 5000


def test_times_out_of_reach(page, recording, tmp_path):
    writer = recording()
    writer.site(1, "long")
    events = writer.events(0, first=0)
    events.begin(0, 1)
    events.end(2 ** 62)
    events.write()
    made = page(writer.save(tmp_path / "a.vt"))
    assert all(0 <= row["start"] + row["duration"] < 2 ** 53 for row in made.table("spans").dicts())


def blocks(data):
    at = FILE_HEADER_SIZE
    while data[at:at + 4] == BLOCK_MAGIC:
        size, = struct.unpack_from("<I", data, at + 8)
        yield at, size
        at += BLOCK_HEADER_SIZE + (size + 7) // 8 * 8


def spoil(data, generator):
    """Changes bytes of a few blocks and makes their checksums right again."""
    data = bytearray(data)
    found = [block for block in blocks(data) if block[1]]
    for _ in range(generator.choice([1, 2, 5])):
        at, size = generator.choice(found)
        for _ in range(generator.choice([1, 3])):
            data[at + BLOCK_HEADER_SIZE + generator.randrange(size)] = generator.choice([0, 1, 0x7f, 0x80, 0xff])
        payload = bytes(data[at + BLOCK_HEADER_SIZE:at + BLOCK_HEADER_SIZE + size])
        struct.pack_into("<I", data, at + 40, crc32c(payload))
        struct.pack_into("<I", data, at + 44, crc32c(bytes(data[at:at + 44])))
    return bytes(data)


@pytest.mark.parametrize("seed", range(ROUNDS))
def test_contents_that_make_no_sense(venturi, golden, tmp_path, seed):
    generator = random.Random(seed)
    path, out = tmp_path / "spoiled.vt", tmp_path / "page.html"
    with open(golden(generator.choice(["everything", "calls", "lines", "monotonic"])), "rb") as file:
        path.write_bytes(spoil(file.read(), generator))
    done = venturi("report", path, "-o", out, *generator.choice([(), ("--events", "3"), ("--no-source",)]))
    assert done.returncode in (0, 2), done.stderr
    assert all(line.startswith("venturi") for line in done.stderr.splitlines()), done.stderr
    assert os.path.exists(out) == (done.returncode == 0)
    if not done.returncode:
        page = read(out)
        spans, sites = page.table("spans"), page.table("sites").rows
        assert all(site < sites for site in spans["site"])
        assert all(track < len(page.recording["tracks"]) for track in spans["track"])
        assert all(0 <= start < 2 ** 53 for start in spans["start"])
        calls = page.table("calls")
        assert all(parent <= at for at, parent in enumerate(calls["parent"]))
        assert all(function < page.table("functions").rows for function in calls["function"])
