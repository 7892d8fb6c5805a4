import { describe, expect, it } from "vitest";
import { answerAt, answerNext, answerPaths, answerStats, answerWindow } from "../src/data/answers";
import { corrected, makeSpanStore } from "../src/data/spans";
import type { Recording, Table } from "../src/data/types";
import { emptyRecording } from "./fixture";
import { makeSpans } from "./program";

const ALL = { range: null, tracks: null, sites: null };

interface Row {
  track?: number;
  site: number;
  depth: number;
  start: number;
  duration: number;
  flags?: number;
  count?: number;
}

function recordingOf(tracks: number, pair = 0, inner = 0): Recording {
  const recording = emptyRecording();
  const process = {
    id: 1,
    pid: 1,
    parent: -1,
    host: 0,
    name: "",
    command: "",
    start_ns: 0,
    end_ns: 0,
    how: "",
    status: 0,
    pair_ns: pair,
    inner_ns: inner,
  };
  const track = {
    id: 1,
    process: 0,
    tid: 1,
    name: "",
    start_ns: 0,
    end_ns: 0,
    events: 0,
    spans: 0,
    lost_events: 0,
    deepest: 0,
  };

  return { ...recording, processes: [process], tracks: Array.from({ length: tracks }, () => track) };
}

function tableOf(rows: Row[]): Table {
  const column = (name: keyof Row, usual: number) => Float64Array.from(rows, (row) => row[name] ?? usual);

  return {
    name: "spans",
    rows: rows.length,
    columns: {
      track: column("track", 0),
      site: Uint16Array.from(column("site", 0)),
      depth: Uint8Array.from(column("depth", 0)),
      start: column("start", 0),
      duration: column("duration", 0),
      flags: Uint8Array.from(column("flags", 0)),
      count: Uint32Array.from(column("count", 1)),
    },
  };
}

const storeOf = (rows: Row[], pair = 0, inner = 0, tracks = 2) =>
  makeSpanStore(tableOf(rows), recordingOf(tracks, pair, inner));

/* 0: a of 100 with b (20) and c (30, in it d of 10); then a again; on another track b. */
const NESTED: Row[] = [
  { site: 0, depth: 0, start: 0, duration: 100 },
  { site: 1, depth: 1, start: 10, duration: 20 },
  { site: 2, depth: 1, start: 40, duration: 30 },
  { site: 3, depth: 2, start: 45, duration: 10 },
  { site: 0, depth: 0, start: 200, duration: 50, flags: 2 },
  { track: 1, site: 1, depth: 0, start: 5, duration: 500 },
];

describe("numbers of spans", () => {
  it("own time is what is not inside", () => {
    const reply = answerStats(storeOf(NESTED), { ...ALL, by: "site" });
    expect([...reply.site]).toEqual([0, 1, 2, 3]);
    expect([...reply.count]).toEqual([2, 2, 1, 1]);
    expect([...reply.errors]).toEqual([1, 0, 0, 0]);
    expect([...reply.total]).toEqual([150, 520, 30, 10]);
    expect([...reply.self]).toEqual([100, 520, 20, 10]);
    expect([...reply.min]).toEqual([50, 20, 30, 10]);
    expect([...reply.max]).toEqual([100, 500, 30, 10]);
    expect([...reply.p50]).toEqual([50, 20, 30, 10]);
    expect([...reply.p99]).toEqual([100, 500, 30, 10]);
  });

  it("our own cost is taken off as the tool does it", () => {
    const store = storeOf(NESTED, 4, 1);
    const reply = answerStats(store, { ...ALL, tracks: [0], by: "site" });
    /* a: 100 - 1 - 3 * 4, own 50 - 1 - 2 * 3; the second a: 50 - 1 */
    expect([...reply.total]).toEqual([87 + 49, 19, 30 - 1 - 4, 9]);
    expect([...reply.self]).toEqual([43 + 49, 19, 20 - 1 - 3, 9]);
    expect(corrected(10, 2.5)).toBe(8);
    expect(corrected(1, 5)).toBe(0);
    expect(corrected(7, 0)).toBe(7);
  });

  it("what never ended costs nothing", () => {
    const rows = [
      { site: 0, depth: 0, start: 0, duration: 100, flags: 1 },
      { site: 1, depth: 1, start: 10, duration: 90, flags: 1 },
    ];
    expect([...answerStats(storeOf(rows, 4, 1), { ...ALL, by: "site" }).total]).toEqual([100, 90]);
  });

  it("by thread, and only those that begin in the range", () => {
    const reply = answerStats(storeOf(NESTED), { ...ALL, range: { from: 40, to: 200 }, by: "track" });
    expect([...reply.site]).toEqual([0]);
    expect([...reply.count]).toEqual([2]);
    expect([...answerStats(storeOf(NESTED), { ...ALL, by: "process" }).count]).toEqual([6]);
  });

  it("counts recursion once in the total, but in every average", () => {
    const rows = [
      { site: 0, depth: 0, start: 0, duration: 100 },
      { site: 1, depth: 1, start: 10, duration: 80 },
      { site: 0, depth: 2, start: 20, duration: 41 },
    ];
    const reply = answerStats(storeOf(rows), { ...ALL, by: "site" });
    expect([...reply.total]).toEqual([100, 80]);
    expect([...reply.avg]).toEqual([70, 80]);
    expect([...answerStats(storeOf(rows), { ...ALL, by: "track" }).total]).toEqual([100]);
    /* The outer one began before the range: the inner one is all there is. */
    const later = answerStats(storeOf(rows), { ...ALL, range: { from: 5, to: 99 }, by: "site" });
    expect([...later.total]).toEqual([41, 80]);
    expect([...answerStats(storeOf(rows), { ...ALL, sites: [0], by: "process" }).total]).toEqual([100]);
  });

  it("is the same as adding up one by one", () => {
    const spans = makeSpans(5000, 3, 40);
    const store = makeSpanStore({ name: "spans", rows: 5000, columns: { ...spans } }, recordingOf(3));
    const copy = makeSpans(5000, 3, 40);
    const range = { from: 200_000, to: 900_000 };
    const reply = answerStats(store, { range, tracks: [0, 2], sites: [1, 2, 3], by: "site" });
    const isIn = (i: number) =>
      copy.start[i]! >= range.from &&
      copy.start[i]! < range.to &&
      copy.track[i] !== 1 &&
      [1, 2, 3].includes(copy.site[i]!);
    const wanted = Array.from({ length: 5000 }, (_, i) => i).filter(isIn);
    const isAround = (outer: number, i: number) =>
      copy.track[outer] === copy.track[i] &&
      copy.site[outer] === copy.site[i] &&
      copy.depth[outer]! < copy.depth[i]! &&
      copy.start[outer]! <= copy.start[i]! &&
      copy.start[outer]! + copy.duration[outer]! >= copy.start[i]! + copy.duration[i]!;
    const outermost = wanted.filter((i) => !wanted.some((outer) => isAround(outer, i)));
    const count = wanted.length;
    const total = outermost.reduce((sum, i) => sum + copy.duration[i]!, 0);
    expect(outermost.length).toBeLessThan(count);
    expect(count).toBeGreaterThan(10);
    expect(reply.count.reduce((a, b) => a + b, 0)).toBe(count);
    expect(reply.total.reduce((a, b) => a + b, 0)).toBe(total);
  });
});

describe("paths of spans", () => {
  it("keeps threads apart, or joins them", () => {
    const apart = answerPaths(storeOf(NESTED), { ...ALL, byTrack: true });
    expect([...apart.parent]).toEqual([0, 1, 1, 3, 0]);
    expect([...apart.frame]).toEqual([0, 1, 2, 3, 1]);
    expect([...apart.track]).toEqual([0, 0, 0, 0, 1]);
    expect([...apart.count]).toEqual([2, 1, 1, 1, 1]);
    const rows = [NESTED[0]!, NESTED[1]!, { ...NESTED[0]!, track: 1 }, { ...NESTED[1]!, track: 1 }];
    const joined = answerPaths(storeOf(rows), { ...ALL, byTrack: false });
    expect([...joined.parent]).toEqual([0, 1]);
    expect([...joined.total]).toEqual([200, 40]);
  });

  it("shows what leads to the wanted ones, without their numbers", () => {
    const reply = answerPaths(storeOf(NESTED), { ...ALL, sites: [3], byTrack: false });
    expect([...reply.frame]).toEqual([0, 2, 3]);
    expect([...reply.count]).toEqual([0, 0, 1]);
    expect([...reply.total]).toEqual([0, 0, 10]);
  });
});

describe("a window", () => {
  it("has every span when there is room", () => {
    const reply = answerWindow(storeOf(NESTED), { range: { from: 0, to: 1000 }, pixels: 1000, tracks: null });
    expect([...reply.start]).toEqual([0, 200, 10, 40, 45, 5]);
    expect([...reply.depth]).toEqual([0, 0, 1, 1, 2, 0]);
    expect([...reply.track]).toEqual([0, 0, 0, 0, 0, 1]);
    expect(reply.folded).toBe(0);
  });

  it("has what reaches in from the left", () => {
    const reply = answerWindow(storeOf(NESTED), { range: { from: 60, to: 110 }, pixels: 100, tracks: [0] });
    expect([...reply.start]).toEqual([0, 40]);
  });

  it("folds what is narrower than a pixel, and loses none", () => {
    const total = 20_000;
    const spans = makeSpans(total, 4, 30);
    const end = spans.start.reduce((a, b, i) => Math.max(a, b + spans.duration[i]!), 0);
    const store = makeSpanStore({ name: "spans", rows: total, columns: { ...spans } }, recordingOf(4));
    for (const pixels of [7, 100, 1000]) {
      const reply = answerWindow(store, { range: { from: 0, to: end + 1 }, pixels, tracks: null });
      expect(reply.count.reduce((a, b) => a + b, 0)).toBe(total);
      /* At most two things begin in a pixel of a lane: the folded, and one that is wider. */
      const begun = new Map<string, number>();
      reply.start.forEach((start, i) => {
        const key = `${reply.track[i]} ${reply.depth[i]} ${Math.floor((start / (end + 1)) * pixels)}`;
        begun.set(key, (begun.get(key) ?? 0) + 1);
      });
      expect(Math.max(...begun.values())).toBeLessThanOrEqual(2);
    }
  });

  it("draws what is wider than a pixel by itself, whatever begins in the same pixel", () => {
    const rows = [
      { site: 1, depth: 0, start: 0, duration: 2 },
      { site: 2, depth: 0, start: 3, duration: 2 },
      { site: 3, depth: 0, start: 6, duration: 50 },
    ];
    const reply = answerWindow(storeOf(rows), { range: { from: 0, to: 100 }, pixels: 10, tracks: null });
    expect([...reply.site]).toEqual([1, 3]);
    expect([...reply.count]).toEqual([2, 1]);
    expect([...reply.end]).toEqual([5, 56]);
  });

  it("shows the longest of the folded, and whether one has an error", () => {
    const rows = Array.from({ length: 1000 }, (_, i) => ({
      site: i === 700 ? 9 : 1,
      depth: 0,
      start: i * 10,
      duration: i === 700 ? 9 : 5,
      flags: i === 33 ? 2 : 0,
    }));
    const reply = answerWindow(storeOf(rows), { range: { from: 0, to: 10_000 }, pixels: 1, tracks: null });
    expect([...reply.count]).toEqual([1000]);
    expect([...reply.site]).toEqual([9]);
    expect([...reply.flags]).toEqual([2]);
    expect([...reply.end]).toEqual([9995]);
  });
});

describe("single spans", () => {
  it("finds the one at a place", () => {
    const store = storeOf(NESTED);
    expect(answerAt(store, { track: 0, depth: 1, time: 29 })?.start).toBe(10);
    expect(answerAt(store, { track: 0, depth: 1, time: 30 })).toBeNull();
    expect(answerAt(store, { track: 0, depth: 1, time: 40 })?.self).toBe(20);
    expect(answerAt(store, { track: 0, depth: 7, time: 40 })).toBeNull();
    expect(answerAt(store, { track: 9, depth: 0, time: 40 })).toBeNull();
  });

  it("finds the next and the one before, over all threads", () => {
    const store = storeOf(NESTED);
    const next = (at: number, direction: 1 | -1, sites = [1]) =>
      answerNext(store, { ...ALL, sites, at, direction })?.start;
    expect(next(0, 1)).toBe(5);
    expect(next(5, 1)).toBe(10);
    expect(next(10, 1)).toBeUndefined();
    expect(next(10, -1)).toBe(5);
    expect(next(0, 1, [0])).toBe(200);
    expect(next(200, -1, [0])).toBe(0);
  });

  it("finds the next one of a depth", () => {
    const store = storeOf(NESTED);
    const next = (at: number, direction: 1 | -1, depth: number) =>
      answerNext(store, { ...ALL, tracks: [0], at, direction, depth });
    expect(next(0, 1, 1)).toMatchObject({ start: 10, depth: 1 });
    expect(next(10, 1, 1)).toMatchObject({ start: 40, depth: 1 });
    expect(next(40, -1, 1)).toMatchObject({ start: 10, depth: 1 });
    expect(next(0, 1, 9)).toBeNull();
  });

  it("says when folded ones make numbers inexact", () => {
    const rows = [{ site: 0, depth: 0, start: 0, duration: 10 }];
    const about = (count: number) => {
      const store = storeOf(rows.map((row) => ({ ...row, count })));
      return [
        answerStats(store, { ...ALL, by: "site" }).isAbout,
        answerPaths(store, { ...ALL, byTrack: true }).isAbout,
      ];
    };
    expect(about(1)).toEqual([false, false]);
    expect(about(7)).toEqual([true, true]);
  });
});

describe("strange recordings", () => {
  it("no spans at all", () => {
    const store = makeSpanStore(undefined, emptyRecording());
    expect(answerWindow(store, { range: { from: 0, to: 1 }, pixels: 100, tracks: [3] }).start.length).toBe(0);
    expect(answerStats(store, { ...ALL, by: "site" }).site.length).toBe(0);
    expect(answerPaths(store, { ...ALL, byTrack: true }).parent.length).toBe(0);
    expect(answerNext(store, { ...ALL, at: 0, direction: 1 })).toBeNull();
  });

  it("depths that jump, children that outlast, tracks that are not in the list", () => {
    const rows = [
      { site: 0, depth: 3, start: 0, duration: 10 },
      { site: 1, depth: 9, start: 5, duration: 100 },
      { track: 40, site: 2, depth: 0, start: 1, duration: 1 },
    ];
    const reply = answerStats(storeOf(rows, 5, 2), { ...ALL, by: "site" });
    expect([...reply.count]).toEqual([1, 1, 1]);
    expect([...reply.self].every((ns) => ns >= 0)).toBe(true);
  });
});
