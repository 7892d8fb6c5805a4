import { expect, it } from "vitest";
import type { PageData } from "../src/data/types";
import { palette } from "../src/model/palette";

function page(modules: number): PageData {
  const rows = modules + 2; // two more functions in the first module
  const list = (value: (i: number) => number) => Float64Array.from({ length: rows }, (_, i) => value(i));
  const files = Array.from({ length: modules }, (_, i) => `m${i}.py`);

  return {
    strings: ["", "f", "a", "b", ...files],
    tables: {
      functions: {
        name: "functions",
        rows,
        columns: {
          name: list(() => 1),
          file: list((i) => 4 + (i < modules ? i : 0)),
          line: list((i) => i),
          language: list(() => 0),
          self: list((i) => (i < modules ? i + 1 : 1000)),
        },
      },
      sites: {
        name: "sites",
        rows: 2,
        columns: {
          name: Uint8Array.of(2, 3),
          file: Uint8Array.of(4, 4),
          line: Uint8Array.of(1, 2),
          type: Uint8Array.of(0, 0),
        },
      },
      span_stats: {
        name: "span_stats",
        rows: 2,
        columns: { site: Uint8Array.of(0, 1), self: Float64Array.of(5, 9) },
      },
    },
    directory: { kind: "report" },
  } as unknown as PageData;
}

it("gives the modules that take most different colours, and the rest pale ones", () => {
  const { groupOf } = palette(page(20));
  const groups = Array.from({ length: 20 }, (_, i) => groupOf(i));
  const named = groups.filter((group) => group.isNamed);
  expect(named.map((group) => group.text)).toEqual([
    ...["m0.py", "m14.py", "m15.py", "m16.py", "m17.py", "m18.py", "m19.py"],
  ]);
  expect(new Set(named.map((group) => group.colour.join())).size).toBe(7);
  const own = new Set(named.map((group) => group.colour.join()));
  for (const group of groups) if (!group.isNamed) expect(own.has(group.colour.join())).toBe(false);
  expect(groupOf(20)).toBe(groupOf(0)); // one module
});

it("tells spans of one file apart by their names", () => {
  const { groupOf } = palette(page(3));
  expect([groupOf(5).text, groupOf(6).text]).toEqual(["a", "b"]);
  expect(groupOf(5).colour).not.toEqual(groupOf(6).colour);
  expect(groupOf(99).isNamed).toBe(false);
});
