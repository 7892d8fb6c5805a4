import { beforeAll, describe, expect, it } from "vitest";
import type { PageData } from "../src/data/types";
import { asyncWindow, makeAsyncs } from "../src/views/timeline/asyncs";
import { HEAD, LANE, makeRows, rowAt } from "../src/views/timeline/rows";
import { columnsOf, seriesOf, valueAt } from "../src/views/timeline/series";
import { around, bring, limit, pan, readZoom, withMargin, writeZoom, zoom } from "../src/views/timeline/zoom";
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

  it("has processes with async lanes, threads and counters, one below the other", () => {
    const rows = makeRows(data, { tracks: null, depths, folded: none });
    expect(rows.list.map((row) => row.kind)).toEqual([
      ...["process", "async", "thread", "thread", "thread", "thread", "counter", "counter"],
      ...["process", "async", "thread", "thread", "thread", "thread"],
    ]);
    rows.list.forEach((row, i) => expect(row.y).toBe(i ? rows.list[i - 1]!.y + rows.list[i - 1]!.height : 0));
    const first = rows.list[0]!;
    expect(rowAt(rows, HEAD - 1)).toBe(first);
    expect(rowAt(rows, HEAD)).toBe(rows.list[1]);
    expect(rowAt(rows, rows.height)).toBeNull();
    expect(rowAt(rows, -1)).toBeNull();
  });

  it("shows only the selected threads, and only the first lane of a folded one", () => {
    const rows = makeRows(data, { tracks: [0, 5], depths, folded: new Set([0]) });
    expect([...rows.ofTrack.keys()]).toEqual([0, 5]);
    expect(rows.ofTrack.get(0)!.height).toBeLessThan(2 * LANE);
  });

  it("counters keep their peaks", () => {
    const rows = makeRows(data, { tracks: null, depths, folded: none });
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
