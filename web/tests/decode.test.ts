import { describe, expect, it } from "vitest";
import { decodeBlock, decodeStrings, makeTable } from "../src/data/decode";
import { openTables } from "../src/data/open";
import { emptyRecording, encodePage, makeTexts } from "./fixture";
import type { FixtureColumn } from "./fixture";
import { blocksOf, openPage } from "./open";

async function roundTrip(column: FixtureColumn, blockRows?: number) {
  const fixture = encodePage(
    emptyRecording(),
    makeTexts(),
    [{ name: "t", columns: [column] }],
    {},
    blockRows,
  );

  return (await openPage(fixture)).tables["t"]!.columns[column.name]!;
}

describe("columns come back as they were", () => {
  const values: Record<string, number[]> = {
    "one byte": [0, 1, 255, 7],
    "two bytes": [0, 256, 65_535, 3],
    "three bytes": [1, 65_536, 16_777_215],
    "four bytes": [1, 4_294_967_295, 16_777_216],
    "five bytes": [4_294_967_296, 5, 1_099_511_627_775],
    "seven bytes": [2 ** 52 + 1, 0, 2 ** 53 - 1],
    zeros: [0, 0, 0],
  };

  for (const [name, list] of Object.entries(values))
    it(`uint of ${name}`, async () => {
      expect([...(await roundTrip({ name: "c", type: "uint", values: list }))]).toEqual(list);
    });

  it("uint in the smallest array that holds it", async () => {
    expect(await roundTrip({ name: "c", type: "uint", values: [255] })).toBeInstanceOf(Uint8Array);
    expect(await roundTrip({ name: "c", type: "uint", values: [256] })).toBeInstanceOf(Uint16Array);
    expect(await roundTrip({ name: "c", type: "uint", values: [65_536] })).toBeInstanceOf(Uint32Array);
    expect(await roundTrip({ name: "c", type: "uint", values: [2 ** 32] })).toBeInstanceOf(Float64Array);
  });

  it("differences, up and down, over several blocks", async () => {
    const list = [5, 3, 1_000_000_000_000, 999_999_999_999, 0, 2 ** 45, 7, 7, 8];
    for (const blockRows of [2, 4, 100])
      expect([
        ...(await roundTrip({ name: "c", type: "uint", delta: true, values: list }, blockRows)),
      ]).toEqual(list);
  });

  it("differences of zero only", async () => {
    expect([...(await roundTrip({ name: "c", type: "uint", delta: true, values: [0, 0] }))]).toEqual([0, 0]);
    expect([...(await roundTrip({ name: "c", type: "uint", delta: true, values: [9, 9, 9] }, 2))]).toEqual([
      9, 9, 9,
    ]);
  });

  it("doubles, with those that are no number", async () => {
    const list = [0.1, -0, NaN, Infinity, 1e300, 5e-324];
    const found = [...(await roundTrip({ name: "c", type: "f64", values: list }))];
    found.forEach((value, i) => expect(Object.is(value, list[i])).toBe(true));
  });
});

describe("strings", () => {
  it("keeps every letter", async () => {
    const texts = makeTexts();
    const list = ["plain", "</script>", "ä€😀", "\u0000\u202e"];
    list.forEach((text) => texts.of(text));
    const page = await openPage(encodePage(emptyRecording(), texts, []));
    expect(page.strings).toEqual(["", ...list]);
  });

  it("does not read past the block", () => {
    expect(() => decodeStrings(new Uint8Array(3), 1)).toThrow("too short");
    expect(() => decodeStrings(new Uint8Array([5, 0, 0, 0, 65]), 1)).toThrow("too short");
  });
});

describe("a page that does not fit itself is refused", () => {
  const entry = {
    name: "t",
    rows: 2,
    columns: [{ name: "c", type: "uint" as const }],
    blocks: [{ block: 0, rows: 2, widths: [1] }],
  };

  it("rows", () => {
    expect(() => makeTable({ ...entry, rows: 3 })).toThrow("2 rows, not 3");
    expect(() => makeTable({ ...entry, rows: 1e12, blocks: [] })).toThrow("rows");
  });

  it("widths", () => {
    expect(() => makeTable({ ...entry, blocks: [{ block: 0, rows: 2, widths: [9] }] })).toThrow("widths");
    expect(() => makeTable({ ...entry, blocks: [{ block: 0, rows: 2, widths: [] }] })).toThrow("widths");
  });

  it("bytes", () => {
    const table = makeTable(entry);
    expect(() => decodeBlock(table, entry.columns, entry.blocks[0]!, new Uint8Array(1), 0)).toThrow(
      "1 bytes, not 2",
    );
  });

  it("blocks that are missing, or no gzip", async () => {
    const fixture = encodePage(emptyRecording(), makeTexts(), [
      { name: "t", columns: [{ name: "c", type: "uint", values: [1] }] },
    ]);
    await expect(openTables(fixture.directory, blocksOf(fixture).slice(0, 1))).rejects.toThrow("missing");
    await expect(openTables(fixture.directory, ["AAAA", "AAAA"])).rejects.toThrow();
  });
});
