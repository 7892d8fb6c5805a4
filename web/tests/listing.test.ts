/* Source with numbers: the right numbers on the right lines, and sense without a source. */

import { describe, expect, it } from "vitest";
import type { Column, PageData, Table } from "../src/data/types";
import { highlight, languageOf } from "../src/model/highlight";
import { listedFunctions, listing, MOST_LINES } from "../src/model/listing";

function table(name: string, columns: Record<string, number[]>): Table {
  const entries = Object.entries(columns).map(([key, list]) => [key, Float64Array.from(list) as Column]);
  return { name, rows: Object.values(columns)[0]?.length ?? 0, columns: Object.fromEntries(entries) };
}

const SOURCE =
  "import x\n\ndef slow(n):\n    a = 1\n    return work(\n        n)\n\ndef quick():\n    pass\n";

function page(source: string | null): PageData {
  const strings = ["", "slow", "quick", "/p.py", "python", source ?? ""];
  const list = [
    table("line_functions", {
      name: [2, 1],
      file: [3, 3],
      language: [4, 4],
      thread: [0, 0],
      line: [8, 3],
      last_line: [9, 6],
      twin: [0, 0],
      calls: [5, 2],
      total: [50, 1000],
    }),
    table("lines", {
      function: [0, 1, 1],
      line: [9, 4, 5],
      statement: [9, 4, 5],
      hits: [5, 2, 2],
      events: [5, 2, 4],
      samples: [0, 0, 0],
      how: [1, 1, 1],
      time: [50, 100, 900],
      error: [0, 0, 0],
      suspended: [0, 0, 70],
      min: [5, 40, 400],
      max: [20, 60, 500],
    }),
    ...(source === null ? [] : [table("sources", { file: [3], source: [5] })]),
  ];
  return {
    strings,
    tables: Object.fromEntries(list.map((one) => [one.name, one])),
  } as unknown as PageData;
}

describe("listing", () => {
  it("puts the costliest function first", () => {
    expect(listedFunctions(page(SOURCE)).map((one) => [one.name, one.time])).toEqual([
      ["slow", 1000],
      ["quick", 50],
    ]);
  });

  it("shows a function with its numbers where they belong", () => {
    const data = page(SOURCE);
    const shown = listing(data, listedFunctions(data)[0]!, false);
    expect(shown.lines.map((line) => line.number)).toEqual([3, 4, 5, 6]);
    expect(shown.lines.map((line) => line.isCounted)).toEqual([false, true, true, false]);
    expect(shown.lines[2]).toMatchObject({
      text: "    return work(",
      hits: 2,
      time: 900,
      share: 0.9,
      suspended: 70,
    });
    expect(shown.hasSource && shown.hasAll).toBe(true);
  });

  it("shows the whole file when asked to", () => {
    const data = page(SOURCE);
    const shown = listing(data, listedFunctions(data)[0]!, true);
    expect(shown.lines.length).toBe(SOURCE.split("\n").length);
    expect(shown.lines[8]).toMatchObject({ number: 9, isCounted: false });
  });

  it("shows counted lines where the source is missing", () => {
    const data = page(null);
    const shown = listing(data, listedFunctions(data)[0]!, false);
    expect(shown.hasSource).toBe(false);
    expect(shown.lines.map((line) => [line.number, line.text])).toEqual([
      [4, ""],
      [5, ""],
    ]);
  });

  it("does not trust the extent of a function", () => {
    const data = page(SOURCE);
    const shown = listing(data, { ...listedFunctions(data)[0]!, lastLine: 4e9 }, false);
    expect(shown.lines.length).toBe(MOST_LINES);
    expect(shown.hasAll).toBe(false);
  });
});

describe("highlight", () => {
  it("keeps every character", () => {
    for (const line of ['x = f"a{b}" # c', "if (a) /* b */ return 'c';", "", "\t\\", '"open', "0x1f + é"])
      for (const language of ["python", "c", ""] as const)
        expect(
          highlight(line, language)
            .map((piece) => piece.text)
            .join(""),
        ).toBe(line);
  });

  it("knows words by what they are", () => {
    const kinds = highlight("return 'a' + 12  # why", "python").filter((piece) => piece.kind !== "plain");
    expect(kinds.map((piece) => piece.kind)).toEqual(["keyword", "string", "number", "comment"]);
    expect(languageOf("/a/b.py")).toBe("python");
    expect(languageOf("/a/b.HPP")).toBe("c");
    expect(languageOf("/a/README")).toBe("");
  });
});
