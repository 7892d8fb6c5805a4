import { describe, expect, it } from "vitest";
import { change, changedOf, diffRows, diffTrees, measured, signOf, verdict, wholes } from "../src/model/diff";
import { frames, framesOfKeys, matchFrames, moduleOf } from "../src/model/frames";
import { layOut } from "../src/model/layout";
import { groupsOf, rankFunctions, rankLines, rankSpans, rankThreads, wholeOf } from "../src/model/ranking";
import { arrange, callRows, kindsOf } from "../src/model/source";
import { sumByFrame } from "../src/model/sums";
import { forestTree } from "../src/model/tree";
import { WHOLE } from "../src/model/zoom";
import type { StatsReply } from "../src/data/work";
import { matcherOf } from "../src/state/search";
import { frameKey } from "../src/state/selection";
import { changeText, spelled, summary, timesText } from "../src/views/diff/words";
import { type FixtureColumn, emptyRecording, encodePage, makeTexts } from "./fixture";
import { openPage } from "./open";
import { makeDeep, makeDiff, makeRoots } from "./profiles";

function sum(values: Iterable<number>): number {
  return [...values].reduce((a, b) => a + b, 0);
}

const APART = { tracks: null, isMerged: false, isFolded: false };
const layout = { window: WHOLE, pixels: 1280, firstRow: 0, lastRow: 1e6 };

describe("a profile of 3,980 functions, forty deep", async () => {
  const data = await openPage(makeDeep());
  const forest = arrange(data, callRows(data), APART);

  it("has them all in the ranking", () => {
    const rows = rankFunctions(data, null);
    expect(rows.length).toBe(3980);
    expect(rows.every((row) => row.count > 0)).toBe(true);
    expect(wholeOf(rows)).toBeCloseTo(forest.total[0]!, 0);
  });

  it("counts recursion as the tool does", () => {
    const sums = sumByFrame(forest);
    rankFunctions(data, null).forEach((row, i) => {
      expect(sums.total[i]).toBeCloseTo(row.total, 3);
      expect(sums.self[i]).toBeCloseTo(row.self, 3);
      expect(sums.count[i]).toBe(row.count);
    });
  });

  it("is laid out to its full depth", () => {
    const boxes = layOut(forestTree(forest, "time", "heavy"), layout);
    expect(boxes.deepest).toBeGreaterThan(30);
    expect(boxes.size).toBeGreaterThan(2000);
  });
});

describe("a profile of five roots and eight threads", async () => {
  const data = await openPage(makeRoots());
  const all = frames(data);

  it("shows every process, thread and root", () => {
    const forest = arrange(data, callRows(data), APART);
    const boxes = layOut(forestTree(forest, "time", "time"), layout);
    const at = (depth: number) =>
      boxes.node.subarray(0, boxes.size).filter((_, box) => boxes.depth[box] === depth);
    const label = (node: number) => forest.labels[forest.frame[node]! - forest.frameCount];
    expect(Array.from(at(1), label).sort()).toEqual(["roots.py · 700", "worker 1 · 701"]);
    expect(at(2).length).toBe(8);
    expect(at(3).length).toBe(40);
    expect(new Set(Array.from(at(3), (node) => all.list[forest.frame[node]!]!.name)).size).toBe(5);
  });

  it("merges threads, or shows some of them, with the same sums", () => {
    const merged = arrange(data, callRows(data), { ...APART, isMerged: true });
    expect(merged.childFirst[1]! - merged.childFirst[0]!).toBe(5);
    const [some, others] = [
      [0, 3],
      [1, 2, 4, 5, 6, 7],
    ].map((tracks) => arrange(data, callRows(data), { ...APART, tracks }));
    expect(some!.total[0]! + others!.total[0]!).toBeCloseTo(merged.total[0]!, 3);
  });

  it("ranks threads and processes", () => {
    expect(groupsOf(data)).toEqual(["function", "thread", "process"]);
    expect(kindsOf(data)).toEqual(["functions"]);
    const threads = rankThreads(data, "thread", undefined, null);
    const processes = rankThreads(data, "process", undefined, null);
    expect([threads.length, processes.length]).toEqual([8, 2]);
    expect(sum(processes.map((row) => row.total))).toBeCloseTo(sum(threads.map((row) => row.total)), 3);
    expect(processes[0]!.chooses).toEqual({ tracks: [0, 2, 4, 6] });
    expect(rankThreads(data, "thread", undefined, [5]).map((row) => row.name)).toEqual(["pool-5 · 705"]);
  });

  it("ranks threads that have only spans beside those with calls, and spans of the others not", () => {
    const missing = data.recording.tracks.length; // a thread without calls
    const stats = {
      site: Uint32Array.of(0, missing),
      count: Uint32Array.of(3, 4),
      self: Float64Array.of(5e9, 6e9),
    } as StatsReply;
    const [without, all] = [undefined, stats].map((reply) => rankThreads(data, "thread", reply, null));
    expect(all!.slice(0, -1)).toEqual(without);
    expect(all!.at(-1)).toMatchObject({ count: NaN, self: 6e9, place: "unknown process, only spans" });
  });

  it("ranks the functions of some threads", () => {
    const rows = rankFunctions(data, [1]);
    expect(wholeOf(rows)).toBeCloseTo(rankThreads(data, "thread", undefined, [1])[0]!.self, 3);
    expect(rows.every((row) => Number.isNaN(row.max))).toBe(true);
  });

  it("finds frames by their keys, and by what is searched for", () => {
    expect([...framesOfKeys(all, [all.list[3]!.key, "nobody"])]).toEqual([3]);
    expect(sum(matchFrames(all, matcherOf("/^load_/")))).toBe(5);
    expect(sum(matchFrames(all, matcherOf("CODEC.C")))).toBe(3);
    expect(sum(matchFrames(all, matcherOf("")))).toBe(0);
  });
});

describe("lines and spans", async () => {
  const texts = makeTexts();
  const text = (name: string, ...values: string[]): FixtureColumn => ({
    name,
    type: "text",
    values: values.map(texts.of),
  });
  const uint = (name: string, ...values: number[]): FixtureColumn => ({ name, type: "uint", values });
  const f64 = (name: string, ...values: number[]): FixtureColumn => ({ name, type: "f64", values });
  const times = ["total", "self", "min", "avg", "p50", "p90", "p99", "max"];
  const tables = [
    {
      name: "sites",
      columns: [
        text("name", "load", "parse"),
        text("file", "a.py", "a.py"),
        uint("line", 3, 9),
        uint("type", 0, 4),
      ],
    },
    {
      name: "span_stats",
      columns: [
        uint("site", 1),
        uint("count", 7),
        uint("errors", 0),
        ...times.map((name, i) => f64(name, 10 * i)),
      ],
    },
    {
      name: "line_functions",
      columns: [text("name", "f"), text("file", "/src/a.py"), uint("line", 1), f64("total", 90)],
    },
    {
      name: "lines",
      columns: [
        uint("function", 0, 0),
        uint("line", 2, 3),
        uint("hits", 4, 0),
        f64("time", 60, 40),
        f64("min", 1, NaN),
        f64("max", 30, NaN),
      ],
    },
    {
      name: "sources",
      columns: [text("file", "/src/a.py"), text("source", "def f():\n    x = 1\n    return x\n")],
    },
  ];
  const data = await openPage(encodePage(emptyRecording(), texts, tables));

  it("are ranked with their text, a line's share that of its function", () => {
    const [first, second] = rankLines(data);
    expect(first).toMatchObject({
      name: "a.py:2",
      place: "x = 1",
      count: 4,
      total: 60,
      avg: 15,
      max: 30,
      whole: 90,
    });
    expect(first!.chooses).toEqual({ frame: frameKey("f", "/src/a.py", 1) });
    expect([second!.avg, second!.self]).toEqual([NaN, NaN]);
  });

  it("are ranked as the tool counted them, or as the worker did", () => {
    expect(rankSpans(data)).toMatchObject([
      { name: "parse", place: "a.py:9", count: 7, total: 0, self: 10, max: 70 },
    ]);
    const numbers = Object.fromEntries(times.map((name) => [name, Float64Array.of(5)])) as Record<
      "total",
      Float64Array
    >;
    const reply = {
      site: Uint32Array.of(0),
      count: Uint32Array.of(2),
      errors: Uint32Array.of(0),
      ...numbers,
    } as StatsReply;
    expect(rankSpans(data, reply)).toMatchObject([{ name: "load", count: 2, total: 5 }]);
    expect(frames(data).list.map((frame) => frame.language)).toEqual(["span", ""]);
  });
});

describe("modules", () => {
  it("are files, packages, or what stands for them", () => {
    expect(moduleOf("/a/b.py", "python")).toBe("b.py");
    expect(moduleOf("/a/pkg/__init__.py", "python")).toBe("pkg/__init__.py");
    expect(moduleOf("~", "builtin")).toBe("built-in");
    expect(moduleOf("", "")).toBe("unknown");
  });
});

describe("a comparison", async () => {
  const data = await openPage(makeDiff());
  const rows = diffRows(data);

  it("knows what is new and what is gone", () => {
    expect(rows.filter((row) => row.match === "gone").map((row) => row.frame.name)).toEqual(["visit_7"]);
    expect(rows.filter((row) => row.match === "new").map((row) => row.frame.name)).toEqual(["step_11"]);
  });

  it("has a lane for every path that is gone, and the new run for the rest", () => {
    const { now, gone, goneRow } = diffTrees(data, rows.length);
    const whole = wholes(rows);
    expect(now.total[0]).toBeCloseTo(whole.now, 0);
    expect(gone.size).toBeGreaterThan(1);
    expect(goneRow.length).toBe(gone.size);
    for (let node = 1; node < gone.size; node++) {
      expect(now.total[goneRow[node]! + 1]).toBe(0);
      expect(gone.frame[node]).toBe(now.frame[goneRow[node]! + 1]);
    }
  });

  it("measures in time, in time a call, in shares", () => {
    const side = { self: 30, total: 60, calls: 3 };
    expect(measured(side, "total", "absolute", 120)).toBe(60);
    expect(measured(side, "total", "call", 120)).toBe(20);
    expect(measured(side, "self", "share", 120)).toBe(0.25);
    expect(measured({ ...side, calls: 0 }, "self", "call", 120)).toBeNaN();
  });

  it("tells rows that changed from noise as the tool does", () => {
    const row = (base: number, now: number, calls = 1) => ({
      ...rows[0]!,
      match: "both" as const,
      base: { self: base, total: 2 * base, calls: 1 },
      now: { self: now, total: 2 * now, calls },
    });
    const some = [row(9000, 9000), row(500, 509), row(500, 511), row(0, 0, 2), row(300, 306)];
    expect(some.map(changedOf(some, "self"))).toEqual([false, false, true, true, false]);
    expect(some.map(changedOf(some, "total"))).toEqual([false, true, true, true, true]);
    expect(changedOf(some, "self")({ ...row(1, 1), match: "new" })).toBe(true);
  });

  it("spells units and signs in one way", () => {
    expect(spelled("CPU time: 12.3 us, then 900us (-8.3 %)")).toBe("CPU time: 12.3 µs, then 900 µs (−8.3 %)");
    expect(spelled("Energy: 5 uJ (+2 %), us-east-1")).toBe("Energy: 5 µJ (+2 %), us-east-1");
  });

  it("says the direction in words", () => {
    expect(verdict(100, 120)).toBe("slower");
    expect(verdict(120, 100)).toBe("faster");
    expect(verdict(1000, 1001)).toBe("as fast");
    expect([signOf(1, 2), signOf(2, 1), signOf(1, 1)]).toEqual(["▲", "▼", "="]);
    expect([change(0, 5), change(5, 0), change(0, 0), change(4, 3)]).toEqual([1, -1, 0, -0.25]);
    expect([timesText(100, 112), timesText(100, 50), timesText(1, 57)]).toEqual([
      "+12.0 %",
      "−50.0 %",
      "×57",
    ]);
    expect([changeText(0, 5), changeText(5, 0), changeText(5, 5)]).toEqual([
      "new",
      "gone",
      "as long as before",
    ]);
    expect(changeText(2e6, 1e6)).toBe("▼ shorter by 1.00 ms (−50.0 %)");
    const { base, now } = wholes(rows);
    expect(summary(data, rows)[0]).toContain(`is ${now > base ? "slower" : "faster"} by`);
  });

  it("says nothing of own time where there are no functions", () => {
    expect(summary(data, rows).join(" ")).toContain("Self time");
    expect(summary(data, []).join(" ")).not.toContain("Self time");
  });
});
