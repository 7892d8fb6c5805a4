import { beforeAll, describe, expect, it } from "vitest";
import type { PageData } from "../src/data/types";
import { asyncWindow, makeAsyncs } from "../src/views/timeline/asyncs";
import { extentOf } from "../src/views/timeline/extent";
import { foundSpans } from "../src/views/timeline/found";
import { HEAD, LANE, makeRows, rowAt } from "../src/views/timeline/rows";
import { columnsOf, valueAt } from "../src/ui/time/curve";
import { seriesOf } from "../src/views/timeline/series";
import { around, bring, limit, pan, readZoom, withMargin, writeZoom, zoom } from "../src/ui/time/zoom";
import { openPage } from "./open";
import { makeProgram } from "./program";

const WHOLE = { from: 0, to: 1000 };

describe("zoom and pan", () => {
  it("keeps what is under the pointer", () => {
    expect(zoom(WHOLE, WHOLE, 0.5, 0.25)).toEqual({ from: 125, to: 625 });
    expect(zoom({ from: 125, to: 625 }, WHOLE, 2, 0.25)).toEqual(WHOLE);
  });

  it("never leaves the recording and never shrinks to nothing", () => {
    expect(pan({ from: 900, to: 1000 }, WHOLE, 0.5)).toEqual({ from: 900, to: 1000 });
    expect(pan({ from: 10, to: 110 }, WHOLE, -0.5)).toEqual({ from: 0, to: 100 });
    const near = zoom({ from: 500, to: 512 }, WHOLE, 1e-9);
    expect(near.to - near.from).toBe(10);
    expect(limit({ from: -50, to: 5000 }, WHOLE)).toEqual(WHOLE);
    expect(around({ from: 400, to: 500 }, WHOLE)).toEqual({ from: 375, to: 525 });
  });

  it("brings a moment into sight only when it is not", () => {
    const range = { from: 100, to: 200 };
    expect(bring(range, WHOLE, 150)).toBe(range);
    const moved = bring(range, WHOLE, 700);
    expect(moved.from).toBeLessThan(700);
    expect(moved.to).toBeGreaterThan(700);
    expect(moved.to - moved.from).toBeCloseTo(100);
  });

  it("asks for more than is shown", () => {
    expect(withMargin({ from: 400, to: 600 }, WHOLE)).toEqual({ from: 300, to: 700 });
    expect(withMargin(WHOLE, WHOLE)).toEqual(WHOLE);
  });

  it("stands in the address", () => {
    expect(readZoom(writeZoom({ from: 10, to: 20 }, WHOLE), WHOLE)).toEqual({ from: 10, to: 20 });
    expect(writeZoom(WHOLE, WHOLE)).toBe("");
    for (const text of ["", "x-y", "5", "9-2", "-"]) expect(readZoom(text, WHOLE)).toEqual(WHOLE);
  });
});

describe("rows", () => {
  let data: PageData;
  const depths = [3, 2, 0, 1, 1, 1, 1, 1];
  const none = new Set<number>();

  beforeAll(async () => {
    data = await openPage(makeProgram(400));
  });

  it("has processes with threads, async lanes and counters, one below the other", () => {
    const rows = makeRows(data, { tracks: null, depths, folded: none, opened: none });
    expect(rows.list.map((row) => row.kind)).toEqual([
      ...["process", "thread", "thread", "thread", "thread", "async", "counter", "counter"],
      ...["process", "thread", "thread", "thread", "thread", "async"],
    ]);
    rows.list.forEach((row, i) => expect(row.y).toBe(i ? rows.list[i - 1]!.y + rows.list[i - 1]!.height : 0));
    const first = rows.list[0]!;
    expect(rowAt(rows.list, HEAD - 1)).toBe(first);
    expect(rowAt(rows.list, HEAD)).toBe(rows.list[1]);
    expect(rowAt(rows.list, rows.height)).toBeNull();
    expect(rowAt(rows.list, -1)).toBeNull();
  });

  it("shows only the selected threads, and only the first lane of a folded one", () => {
    const rows = makeRows(data, { tracks: [0, 5], depths, folded: new Set([0]), opened: none });
    expect([...rows.ofTrack.keys()]).toEqual([0, 5]);
    expect(rows.ofTrack.get(0)!.height).toBeLessThan(2 * LANE);
  });

  it("counters keep their peaks", () => {
    const rows = makeRows(data, { tracks: null, depths, folded: none, opened: none });
    const counter = rows.list.find((row) => row.kind === "counter")!;
    const series = seriesOf(data, counter.process, counter.site);
    const columns = columnsOf(series, 0, data.recording.duration_ns, 10);
    expect(columns.length).toBeLessThanOrEqual(11);
    expect(Math.max(...columns.map((one) => one.high))).toBe(series.most);
    expect(valueAt(series, series.time[5]!)).toBe(series.value[5]);
    expect(valueAt(series, series.time[5]! + 1)).toBe(series.value[5]);
    expect(valueAt(series, series.time[0]! - 1)).toBeNaN();
  });

  it("async spans are in the lanes of their process", () => {
    const asyncs = makeAsyncs(data);
    const whole = { from: 0, to: data.recording.duration_ns * 2 };
    const count = (process: number) => {
      const batch = asyncWindow(asyncs, process, 4, whole, 100_000);
      return batch.count.slice(0, batch.length).reduce((a, b) => a + b, 0);
    };
    expect(count(0) + count(1)).toBe(120);
    expect(count(1)).toBe(40);
  });
});

describe("what there is", () => {
  const of = (columns: Record<string, number[]>) => ({
    name: "",
    rows: Object.values(columns)[0]!.length,
    columns: Object.fromEntries(
      Object.entries(columns).map(([name, list]) => [name, Float64Array.from(list)]),
    ),
  });
  const page = (recording: object, tables: object) =>
    ({
      recording: { tracks: [], processes: [], duration_ns: 900, ...recording },
      tables,
    }) as unknown as PageData;

  it("is from the first begin to the last end, not from 0 for as long as the run was", () => {
    const life = { start_ns: 575, end_ns: 700 };
    expect(extentOf(page({ tracks: [life] }, {}))).toEqual({ from: 575, to: 700 });
    const tables = {
      counters: of({ time: [500, 600] }),
      async: of({ start: [600], duration: [150] }),
      resources: of({ time: [0, 2000] }),
    };
    expect(extentOf(page({ tracks: [life] }, tables))).toEqual({ from: 500, to: 750 });
    expect(extentOf(page({}, { resources: tables.resources }))).toEqual({ from: 0, to: 2000 });
    expect(extentOf(page({}, {}))).toEqual({ from: 0, to: 900 });
  });

  it("is a share of the time in spans that counts what is inside of others once", () => {
    const paths = of({
      parent: [0, 1, 2, 0],
      site: [0, 1, 1, 2],
      track: [0, 0, 0, 1],
      count: [1, 3, 2, 4],
      total: [60, 30, 20, 40],
    });
    const matches = Uint8Array.of(0, 1, 0);
    expect(foundSpans(page({}, { paths }), matches, null)).toEqual({ spans: 5, share: 0.3 });
    expect(foundSpans(page({}, { paths }), matches, [0])).toEqual({ spans: 5, share: 0.5 });
    expect(foundSpans(page({}, { paths }), matches, [1])).toEqual({ spans: 0, share: 0 });
    expect(foundSpans(page({}, {}), matches, null).share).toBeNaN();
  });

  it("many async lanes are thin until they are opened", async () => {
    const data = await openPage(makeProgram(400));
    const count = data.tables["async"]!.rows;
    data.tables["async"]!.columns["lane"] = Uint8Array.from({ length: count }, (_, i) => i % 40);
    const rowOf = (opened: Set<number>) =>
      makeRows(data, { tracks: null, depths: [], folded: new Set(), opened }).list.find(
        (row) => row.kind === "async",
      )!;
    const thin = rowOf(new Set());
    expect(thin).toMatchObject({ isFolded: true, canFold: true, lane: 4 });
    expect(thin.height).toBeLessThan(200);
    expect(rowOf(new Set([thin.process]))).toMatchObject({ isFolded: false, lane: LANE });
  });
});
