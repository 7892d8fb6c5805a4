"""Recordings whose checksums are right and whose contents are not: every command answers or refuses, in one line."""
import os
import random
import struct
import sys

import pytest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "reader"))
from vtblocks import BLOCK_HEADER_SIZE, BLOCK_MAGIC, FILE_HEADER_SIZE, crc32c  # noqa: E402

ROUNDS = 400 if os.environ.get("VENTURI_SOAK") else 12
BASES = [(), ("--crash", "--plain"), ("--link", 5000, "--plain"), ("--no-process", "--plain"), ("--plain", "--spans", 200)]


def blocks(data):
    """Offset and payload bytes of each block of a sound file."""
    at = FILE_HEADER_SIZE
    while data[at:at + 4] == BLOCK_MAGIC:
        size, = struct.unpack_from("<I", data, at + 8)
        yield at, size
        at += BLOCK_HEADER_SIZE + (size + 7) // 8 * 8


def spoil(data, generator):
    """Changes bytes of a few blocks and makes their checksums right again."""
    data = bytearray(data)
    found = list(blocks(data))
    for _ in range(generator.choice([1, 1, 2, 4])):
        at, size = generator.choice(found)
        for _ in range(generator.choice([1, 1, 3])):
            place = BLOCK_HEADER_SIZE + generator.randrange(size) if size and generator.random() < 0.9 else (
                4 + generator.randrange(36))
            data[at + place] = generator.choice([0, 1, 0x7f, 0x80, 0xff, generator.randrange(256)])
        size, = struct.unpack_from("<I", data, at + 8)
        if at + BLOCK_HEADER_SIZE + size <= len(data):
            payload = bytes(data[at + BLOCK_HEADER_SIZE:at + BLOCK_HEADER_SIZE + size])
            struct.pack_into("<I", data, at + 40, crc32c(payload))
            struct.pack_into("<I", data, at + 44, crc32c(bytes(data[at:at + 44])))
    return bytes(data)


def commands(path, other, out):
    part = ("--from", "20%", "--to", "60%")
    yield from (("info", path), ("info", "--json", path), ("report", path), ("report", "--raw", "--json", path))
    yield from (("export", "-f", name, path) for name in ("chrome", "perfetto", "csv", "jsonl"))
    yield from (("export", "-f", name, *part, path) for name in ("chrome", "perfetto"))
    yield from (("query", path, "SELECT * FROM " + table) for table in ("spans", "stats", "attributes", "losses", "threads"))
    yield ("query", path, "SELECT id, parent_id FROM spans WHERE begin_ns > 500000 AND track = 0")
    yield ("merge", other, path, "--force", "-o", out)
    yield ("slice", path, *part, "--force", "-o", out)


@pytest.mark.parametrize("seed", range(ROUNDS))
def test_contents_that_make_no_sense(venturi, make_recording, tmp_path, seed):
    generator = random.Random(seed)
    path, out = tmp_path / "spoiled.vt", tmp_path / "out.vt"
    path.write_bytes(spoil(make_recording(*generator.choice(BASES)).read_bytes(), generator))
    other = make_recording("--plain", "--pid", 9, "--start", 1)
    for words in generator.sample(list(commands(path, other, out)), 8):
        done = venturi(*words, text=False)
        said = done.stderr.decode("utf-8", "replace")
        assert done.returncode in (0, 2), (words, done.returncode, said)
        assert all(line.startswith("venturi") for line in said.splitlines()), (words, said)
        if words[0] in ("merge", "slice") and done.returncode == 0:
            # What we write ourselves is sound, whatever it was made of.
            assert venturi("info", out, check=0).stderr == ""
