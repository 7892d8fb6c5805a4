import { describe, expect, it } from "vitest";
import type { PageData } from "../src/data/types";
import { hasShare, rankSpans, wholeOf } from "../src/model/ranking";
import { stepRows } from "../src/model/steps";
import { usageCurves } from "../src/model/usage";
import { isOnlyTasks, taskWords } from "../src/views/overview/tasks";
import { allSpans, topFunctions, topSpans } from "../src/views/overview/top";
import { nothingHere, trustFacts } from "../src/views/overview/trust";
import { emptyRecording, encodePage, makeTexts } from "./fixture";
import { openPage } from "./open";
import { makeProgram } from "./program";

const levelOf = (label: string, change: object, tables: string[] = []) =>
  trustFacts({
    recording: { ...emptyRecording(), ...change },
    directory: { tables: tables.map((name) => ({ name, rows: 1 })) },
  } as unknown as PageData).find((fact) => fact.label === label)!;

describe("trust", () => {
  const loss = {
    reason: "buffers full",
    events: 50,
    is_lower_bound: true,
    is_wanted: false,
    process: -1,
    track: -1,
    begin_ns: 0,
    end_ns: 1,
  };

  it("counts what was lost, not what was left out on purpose", () => {
    expect(levelOf("Losses", {}).level).toBe("good");
    expect(levelOf("Losses", { losses: [{ ...loss, is_wanted: true }] }).level).toBe("good");
    expect(levelOf("Losses", { events: 100_000, losses: [loss] })).toMatchObject({
      level: "notice",
      value: "at least 50 events",
    });
    expect(levelOf("Losses", { events: 50, lost_events: 50 }).level).toBe("bad");
  });

  it("says when the recording was cut off or is damaged", () => {
    expect(levelOf("File", {}).value).toBe("whole");
    expect(levelOf("File", { is_closed: false }).value).toBe("cut off");
    expect(levelOf("File", { is_closed: false, is_growing: true })).toMatchObject({
      value: "still recording",
      level: "notice",
    });
    expect(levelOf("File", { damage: [{ what: "checksum", begin: 0, end: 1 }] }).value).toBe("damaged");
  });

  it("says that samples are estimates, and that overhead is not known", () => {
    const mode = { functions: "sampled", timeline: false, lines: false, resources_hz: 0 };
    expect(levelOf("Recorded", { mode }).detail).toContain("estimates");
    expect(levelOf("Overhead", {}).value).toBe("not known");
  });

  it("names what was recorded, and rounds how often", () => {
    const mode = { functions: "none", timeline: false, lines: false, resources_hz: 10.49 };
    expect(levelOf("Recorded", { spans: 3 }, ["spans"])).toMatchObject({
      value: "spans",
      detail: "Nothing else.",
    });
    expect(levelOf("Recorded", { spans: 3, mode }, ["spans", "resources"]).detail).toBe(
      "Also resources at 10 Hz.",
    );
    expect(levelOf("Recorded", {}).value).toBe("nothing");
  });

  it("names tasks, of which nothing is subtracted", () => {
    const mode = { functions: "none", timeline: false, lines: false, resources_hz: 17 };
    const only = { spans: 0, mode };
    expect(levelOf("Recorded", only, ["task_runs", "resources"])).toMatchObject({
      value: "tasks",
      detail: "Also resources at 17 Hz.",
    });
    expect(levelOf("Overhead", only, ["task_runs"]).value).toBe("nothing to subtract");
    expect(levelOf("Overhead", only, ["task_runs", "functions"]).value).toBe("not known");
  });

  it("promises nothing about another tool's profile", () => {
    const mode = { functions: "imported", timeline: false, lines: false, resources_hz: 0 };
    const profile = { mode, clock: { type: "", ticks_per_ns: 0 } };
    expect(levelOf("Losses", profile)).toMatchObject({ value: "not known", level: "notice" });
    expect(levelOf("File", profile).detail).not.toContain("every checksum");
    expect(levelOf("Clock", profile).level).toBe("notice");
  });
});

describe("task graphs", () => {
  const table = (columns: Record<string, number[]>) => ({
    rows: Object.values(columns)[0]!.length,
    columns: Object.fromEntries(
      Object.entries(columns).map(([name, list]) => [name, Float64Array.from(list)]),
    ),
  });
  const pageOf = (tables: Record<string, ReturnType<typeof table>>) =>
    ({
      recording: emptyRecording(),
      directory: { tables: Object.entries(tables).map(([name, { rows }]) => ({ name, rows })) },
      strings: ["", "w"],
      tables,
    }) as unknown as PageData;
  const runs = table({
    begin: [0, 9],
    duration: [5, 5],
    tasks: [50, 1],
    failed: [1, 0],
    process: [1, 1],
    parent: [0, 0],
    workers: [2, 1],
  });
  const workers = table({ run: [0, 0, 1], pid: [7, 7, 7], tid: [8, 9, 8], label: [1, 1, 1] });

  it("are told in a sentence, each thread once", () => {
    expect(taskWords(pageOf({ task_runs: runs, task_workers: workers }))).toBe(
      "2 runs, 51 tasks, 2 workers, 1 failed",
    );
    const pools = table({ run: [0, 0, 1], pid: [7, 7, 7], tid: [8, 9, 10], label: [1, 1, 1] });
    expect(taskWords(pageOf({ task_runs: runs, task_workers: pools }))).toBe(
      "2 runs, 51 tasks, 2 workers, 1 failed", // the third was not there with the others
    );
    expect(taskWords(pageOf({}))).toBeNull();
  });

  it("open first where there is nothing else", () => {
    const readings = table({ time: [1] });
    expect(isOnlyTasks(pageOf({ task_runs: runs, resources: readings }))).toBe(true);
    expect(isOnlyTasks(pageOf({ task_runs: runs, functions: readings }))).toBe(false);
    expect(isOnlyTasks(pageOf({ resources: readings }))).toBe(false);
  });
});

describe("what matters most", () => {
  it("is the five with the most self time", async () => {
    const data = await openPage(makeProgram(3000));
    const functions = topFunctions(data);
    expect(functions.length).toBe(5);
    functions.reduce((a, b) => (expect(a.ns).toBeGreaterThanOrEqual(b.ns), b));
    expect(functions[0]!.ns).toBe(Math.max(...data.tables["functions"]!.columns["self"]!));
    expect(topSpans(data, allSpans(data)).length).toBe(5);
    expect(nothingHere(data)).toBeNull();
    expect(usageCurves(data).map((curve) => curve.title)).toEqual(["CPU", "Memory", "Read", "Written"]);
  });

  it("gives async spans no share: they overlap", () => {
    const of = (columns: Record<string, number[]>) => ({
      name: "",
      rows: Object.values(columns)[0]!.length,
      columns: Object.fromEntries(
        Object.entries(columns).map(([name, list]) => [name, Float64Array.from(list)]),
      ),
    });
    const data = {
      directory: { kind: "report" },
      strings: ["", "a", "b", "c"],
      tables: {
        sites: of({ name: [1, 2, 3], file: [0, 0, 0], line: [1, 2, 3], type: [0, 0, 0] }),
        span_stats: of({ site: [0, 1, 2], count: [1, 2, 3], total: [9, 60, 40], self: [900, 60, 40] }),
        paths: of({ site: [1, 2] }),
        async: of({ site: [0, 1] }),
      },
    } as unknown as PageData;
    const tops = topSpans(data, allSpans(data));
    expect(tops.map((top) => [top.frame.name, top.share])).toEqual([
      ["a", NaN],
      ["b", 0.6],
      ["c", 0.4],
    ]);
    const rows = rankSpans(data);
    expect(wholeOf(rows)).toBe(100);
    expect(rows.map(hasShare)).toEqual([false, true, true]);
  });

  it("is nothing in an empty recording, which says so", async () => {
    const data = await openPage(encodePage(emptyRecording(), makeTexts(), []));
    expect(topFunctions(data)).toEqual([]);
    expect(topSpans(data, allSpans(data))).toEqual([]);
    expect(usageCurves(data)).toEqual([]);
    expect(nothingHere(data)).toContain("empty");
    expect(nothingHere(data)).toContain("a profiler of tasks");
  });

  it("is steps where there is nothing else, those that took the most time first", async () => {
    const measure = (sum: number) => ({
      count: 2,
      sum,
      avg: sum / 2,
      min: 0,
      max: sum,
      p50: 0,
      p90: 0,
      p99: sum,
    });
    const step = { prefix: "pipeline", survey: null, count: 2, failed: 0, messages: 2, documents: 0 };
    const steps = [
      { ...step, source: "Quick", execute: measure(10) },
      { ...step, source: "Silent" },
      { ...step, source: "Slow", execute: measure(30) },
    ];
    const data = await openPage(encodePage({ ...emptyRecording(), steps }, makeTexts(), []));
    expect(nothingHere(data)).toBeNull();
    expect(stepRows(data.recording.steps).map((row) => row.source)).toEqual(["Slow", "Quick", "Silent"]);
    expect(stepRows(undefined)).toEqual([]);
  });
});
