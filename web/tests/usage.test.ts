/* Curves of resources: rates between readings, gaps where nothing is known. */

import { expect, it } from "vitest";
import type { PageData, Table } from "../src/data/types";
import { usageCurves, usageOf, usageProcesses, usageTrees } from "../src/model/usage";

function page(): PageData {
  const of = (columns: Record<string, number[]>): Table => ({
    name: "",
    rows: Object.values(columns)[0]!.length,
    columns: Object.fromEntries(Object.entries(columns).map(([key, list]) => [key, Float64Array.from(list)])),
  });
  const unknown = [NaN, NaN, NaN, NaN, NaN, NaN];
  return {
    strings: ["", "sh", "host", "sh -c x"],
    tables: {
      resource_trees: of({ host: [2], cpus: [2], cpu_s: [1.5], peak: [4096], processes: [1] }),
      resource_processes: of({
        tree: [0],
        pid: [42],
        parent: [0],
        process: [0],
        name: [1],
        command: [3],
        start: [0],
        end: [2e9],
        peak: [NaN],
        cpu_s: [1.5],
      }),
      resources: of({
        tree: [0, 0, 0, 0, 0, 0],
        of: [0, 0, 0, 0, 1, 1],
        time: [0, 1e9, 2e9, 4e9, 0, 1e9],
        cpu: [0, 0.5e9, 0.25e9, 2.25e9, 0, 1e9],
        user: unknown,
        memory: [100, NaN, 300, 400, 7, 8],
        threads: [1, 2, 3, 4, 1, 1],
        read: unknown,
        written: [0, 1000, 3000, 3000, NaN, NaN],
        machine: unknown,
        available: unknown,
      }),
    },
  } as unknown as PageData;
}

it("turns totals into rates", () => {
  const usage = usageOf(page(), 0, -1);
  expect(usage.seconds).toEqual([0, 1, 2, 4]);
  expect(usage.cores).toEqual([null, 0.5, null, 1]); // a total that went back says nothing
  expect(usage.written).toEqual([null, 1000, 2000, 0]);
});

it("leaves gaps where nothing is known", () => {
  const usage = usageOf(page(), 0, -1);
  expect(usage.memory).toEqual([100, null, 300, 400]);
  expect(usage.read).toEqual([null, null, null, null]);
});

it("tells a process from its tree", () => {
  expect(usageOf(page(), 0, 0).cores).toEqual([null, 1]);
  expect(usageProcesses(page())[0]).toMatchObject({ pid: 42, name: "sh", parent: -1, cpu: 1.5, peak: NaN });
  expect(usageTrees(page())[0]).toMatchObject({ host: "host", cpu: 1.5, read: NaN });
});

it("takes no rate from a reading right after the one before, and loses nothing of it", () => {
  const data = page();
  const columns = data.tables["resources"]!.columns;
  columns["of"] = new Float64Array(6);
  columns["time"] = Float64Array.of(0, 1e9, 2e9, 2.01e9, 3e9, 3.02e9);
  columns["cpu"] = Float64Array.of(0, 1e9, 2e9, 2.5e9, 3e9, 3.9e9);
  const { cores } = usageOf(data, 0, -1);
  expect(cores).toEqual([null, 1, 1, null, 1, null]);
  expect(usageCurves(data)[0]).toMatchObject({
    title: "CPU",
    points: [1, 1, 1],
    seconds: [1, 2, 3],
    most: 1,
  });
});
