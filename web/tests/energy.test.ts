/* Power as layers, and rows with their shares. */

import { expect, it } from "vitest";
import type { PageData, Table } from "../src/data/types";
import { energyKinds, energyRows, powerOf } from "../src/model/energy";
import type { EnergyFacts } from "../src/model/energy";
import { formatUnit } from "../src/ui/format";
import { putLast } from "../src/ui/table";
import { itemsWords, joulesWords } from "../src/views/overview/energy";

function of(columns: Record<string, number[]>): Table {
  return {
    name: "",
    rows: Object.values(columns)[0]!.length,
    columns: Object.fromEntries(Object.entries(columns).map(([key, list]) => [key, Float64Array.from(list)])),
  };
}

function page(platform: number[]): PageData {
  return {
    strings: ["", "hot", "work.py", "program"],
    tables: {
      energy_power: of({
        tree: [0, 0, 0, 1],
        time: [1e8, 2e8, 3e8, 1e8],
        cpu: [50, 40, NaN, 7],
        memory: [5, NaN, NaN, NaN],
        gpu: [NaN, NaN, NaN, NaN],
        platform: [...platform, NaN],
        share: [25, 20, NaN, 3],
      }),
      energy: of({
        by: [0, 0, 4],
        name: [1, 0, 3],
        file: [2, 0, 0],
        line: [3, 0, 0],
        self: [30, 10, 40],
        dynamic: [20, 5, 25],
        total: [30, 10, 40],
        cpu_s: [0.6, 0.2, 0.8],
        seen: [60, 20, 8],
        elsewhere: [0, 1, 0],
      }),
    },
  } as unknown as PageData;
}

it("puts parts on top of each other", () => {
  const { seconds, curves } = powerOf(page([NaN, NaN, NaN]), 0);
  expect(seconds).toEqual([0.1, 0.2, 0.3]);
  expect(curves.map((curve) => curve.title)).toEqual(["processors", "+ memory", "the program's share"]);
  expect(curves.map((curve) => curve.values)).toEqual([
    [50, 40, null], // nothing is known: no zero
    [55, 40, null],
    [25, 20, null],
  ]);
});

it("counts nothing twice that the platform has in it", () => {
  const { curves } = powerOf(page([100, 30, 60]), 0);
  expect(curves.map((curve) => curve.title)).toContain("+ rest of the machine");
  expect(curves.find((curve) => curve.title === "+ rest of the machine")!.values).toEqual([100, 40, 60]);
});

it("leaves out what was read too soon after", () => {
  const data = page([NaN, NaN, NaN]);
  data.tables.energy_power!.columns.time = Float64Array.from([1e8, 2e8, 2.1e8, 1e8]);
  expect(powerOf(data, 0).seconds).toEqual([0.1, 0.2]);
});

it("knows one machine from another", () => {
  expect(powerOf(page([NaN, NaN, NaN]), 1).curves.map((curve) => curve.values)).toEqual([[7], [3]]);
});

it("has rows of each kind, and shares of all of them", () => {
  const data = page([NaN, NaN, NaN]);
  expect(energyKinds(data)).toEqual(["function", "process"]);
  const rows = energyRows(data, "function");
  expect(rows.map((row) => [row.name, row.self, row.share, row.isElsewhere])).toEqual([
    ["hot", 30, 0.75, false],
    ["", 10, 0.25, true],
  ]);
  expect(energyRows(data, "task")).toEqual([]);
});

it("keeps what was nobody's below the others", () => {
  expect([...putLast(Uint32Array.from([3, 1, 0, 2]), (row) => row === 1)]).toEqual([3, 0, 2, 1]);
});

it("says joules and items in a sentence", () => {
  const use = { how: "estimated", gross_j: 30.1, share_j: 3.03, dynamic_j: 2.7 };
  const items = {
    raw: 1000,
    effective: 15,
    wall_s: 1.09,
    raw_per_s: 917.4,
    effective_per_s: 13.76,
    raw_per_cpu_s: 1301,
    j_per_1000: 3.03,
  };
  const facts = { machines: [{ all: use }], co2e_g: 59e-6, items } as unknown as EnergyFacts;

  expect(joulesWords(facts)).toBe(
    "3.03 J (estimated) of the machine's 30.1 J, 2.70 J beyond rest, 59.0 µg of CO2e",
  );
  expect(itemsWords(facts)).toBe(
    "1,000 items in 1.09 s, 917 a second, 13.8 of them effective, 1.30 k a second of CPU time, 3.03 J per 1,000",
  );
  const bare = { machines: [], co2e_g: null, items: { ...items, effective: 1000, j_per_1000: null } };
  expect(joulesWords(bare as unknown as EnergyFacts)).toBeNull();
  expect(itemsWords(bare as unknown as EnergyFacts)).toBe(
    "1,000 items in 1.09 s, 917 a second, 1.30 k a second of CPU time",
  );
  expect(itemsWords(undefined)).toBeNull();
});

it("formats units of any size", () => {
  expect(["J", "g"].map((unit) => formatUnit(12.345, unit))).toEqual(["12.3 J", "12.3 g"]);
  expect([1234, 0.00443, 4.43e-7, 0, NaN].map((value) => formatUnit(value, "J"))).toEqual([
    "1.23 kJ",
    "4.43 mJ",
    "0.44 µJ",
    "0 J",
    "–",
  ]);
});
