"""A second reader of pages, written from docs/page.md alone: what the tests compare with the tool's other answers.

  python3 page_reader.py PAGE      tables with their rows and bytes, and the notes
"""
import base64
import gzip
import json
import math
import re
import struct
import sys

BLOCK = re.compile(r'<script type="application/octet-stream" id="venturi-block-(\d+)">([A-Za-z0-9+/=]*)</script>')
DIRECTORY = re.compile(r'<script type="application/json" id="venturi-directory">(.*?)</script>', re.S)
SCRIPT = re.compile(r"<script\b", re.I)


class Table:
    """Columns by name; `rows` is how many values each has."""

    def __init__(self, name="", rows=0, columns=None, size=0):
        self.name = name
        self.rows = rows
        self.columns = columns or {}
        self.size = size  # bytes of base64

    def __getitem__(self, name):
        return self.columns.get(name, [])

    def dicts(self):
        names = list(self.columns)
        return [dict(zip(names, values)) for values in zip(*self.columns.values())]


class Page:
    def __init__(self, text):
        self.text = text
        directories = DIRECTORY.findall(text)
        assert len(directories) == 1, "one directory, not %d" % len(directories)
        self.directory = json.loads(directories[0])
        assert self.directory["page"] == 1
        blocks = BLOCK.findall(text)
        assert [int(number) for number, _ in blocks] == list(range(len(blocks))), "blocks from 0 on, in order"
        self.sizes = [len(data) for _, data in blocks]
        self.blocks = [gzip.decompress(base64.b64decode(data, validate=True)) for _, data in blocks]
        self.strings = self.read_strings()
        self.tables = {entry["name"]: self.read_table(entry) for entry in self.directory["tables"]}
        used = [block["block"] for entry in self.directory["tables"] for block in entry["blocks"]]
        used.append(self.directory["strings"]["block"])
        assert sorted(used) == list(range(len(blocks))), "each block is used once"

    @property
    def recording(self):
        return self.directory["recordings"][0]

    @property
    def notes(self):
        return [note["text"] for note in self.directory["notes"]]

    def table(self, name):
        return self.tables.get(name) or Table(name)

    def text_of(self, number):
        return self.strings[number]

    def read_strings(self):
        entry = self.directory["strings"]
        data = self.blocks[entry["block"]]
        lengths = struct.unpack_from("<%dI" % entry["count"], data)
        at = 4 * entry["count"]
        texts = []
        for length in lengths:
            texts.append(data[at:at + length].decode("utf-8"))
            at += length
        assert at == len(data), "strings end with their block"
        assert texts[0] == ""
        assert len(set(texts)) == len(texts), "each text once"
        return texts

    def read_table(self, entry):
        columns = {column["name"]: [] for column in entry["columns"]}
        size = 0
        for block in entry["blocks"]:
            assert 0 < block["rows"] <= 262144
            data = self.blocks[block["block"]]
            size += self.sizes[block["block"]]
            at = 0
            for column, width in zip(entry["columns"], block["widths"]):
                planes = [data[at + i * block["rows"]:at + (i + 1) * block["rows"]] for i in range(width)]
                at += width * block["rows"]
                columns[column["name"]] += decode(column, planes, block["rows"])
            assert at == len(data), "columns end with their block"
        assert all(len(values) == entry["rows"] for values in columns.values())
        return self.texts(entry, Table(entry["name"], entry["rows"], columns, size))

    def texts(self, entry, table):
        for column in entry["columns"]:
            if column["type"] == "text":
                table.columns[column["name"]] = [self.strings[number] for number in table[column["name"]]]
        return table


def decode(column, planes, rows):
    if column["type"] == "f64":
        assert len(planes) in (0, 8)
        if not planes:
            return [0.0] * rows
        return list(struct.unpack("<%dd" % rows, bytes(byte for row in zip(*planes) for byte in row)))
    assert len(planes) <= 7
    values = [0] * rows
    for significance, plane in enumerate(planes):
        values = [value | byte << 8 * significance for value, byte in zip(values, plane)]
    if column.get("delta"):
        last = 0
        for i, value in enumerate(values):
            last += value >> 1 ^ -(value & 1)
            values[i] = last
    return values


def read(path):
    with open(path, encoding="utf-8", newline="") as file:
        return Page(file.read())


def same(a, b, relative=1e-9):
    """Two times, of which either may be unknown (None, NaN)."""
    a, b = (math.nan if value is None else value for value in (a, b))
    return (math.isnan(a) and math.isnan(b)) or math.isclose(a, b, rel_tol=relative, abs_tol=1e-6)


if __name__ == "__main__":
    page = read(sys.argv[1])
    for table in page.tables.values():
        print("%-16s %9d rows %11d bytes %6.2f a row" % (table.name, table.rows, table.size, table.size / table.rows))
    print("%-16s %9d" % ("strings", len(page.strings)))
    print("\n".join(page.notes))
