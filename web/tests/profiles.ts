/* Pages that other viewers cannot show: very many functions very deep, several roots on several threads, and a comparison. */

import type { Recording } from "../src/data/types";
import {
  emptyRecording,
  encodePage,
  type Fixture,
  type FixtureColumn,
  type FixtureTable,
  makeTexts,
  type Texts,
} from "./fixture";
import { randomNumbers } from "./trees";

interface Call {
  parent: number; // plus 1
  frame: number;
  track: number;
  calls: number;
  self: number;
}

interface Named {
  name: string;
  file: string;
  line: number;
  language: string;
}

function uint(name: string, values: number[]): FixtureColumn {
  return { name, type: "uint", values };
}

function f64(name: string, values: number[]): FixtureColumn {
  return { name, type: "f64", values };
}

function totalsOf(calls: readonly Call[]): number[] {
  const totals = calls.map((call) => call.self);
  for (let i = calls.length - 1; i >= 0; i--)
    if (calls[i]!.parent > 0) totals[calls[i]!.parent - 1]! += totals[i]!;
  return totals;
}

/* The simplest way to count recursion once: look at everybody above. */
function isWithinItself(calls: readonly Call[], call: Call): boolean {
  for (let above = call.parent; above > 0; above = calls[above - 1]!.parent)
    if (calls[above - 1]!.frame === call.frame) return true;
  return false;
}

export function functionTables(texts: Texts, named: Named[], calls: Call[]): FixtureTable[] {
  const totals = totalsOf(calls);
  const sum = { calls: named.map(() => 0), self: named.map(() => 0), total: named.map(() => 0) };
  calls.forEach((call, i) => {
    sum.calls[call.frame]! += call.calls;
    sum.self[call.frame]! += call.self;
    if (!isWithinItself(calls, call)) sum.total[call.frame]! += totals[i]!;
  });
  const text = (of: (one: Named) => string) => named.map((one) => texts.of(of(one)));
  const none = named.map(() => 0);
  const each = (share: number) => named.map((_, i) => (sum.total[i]! / Math.max(1, sum.calls[i]!)) * share);
  return [
    {
      name: "functions",
      columns: [
        { name: "name", type: "text", values: text((one) => one.name) },
        { name: "function", type: "text", values: text((one) => one.name) },
        { name: "file", type: "text", values: text((one) => one.file) },
        { name: "language", type: "text", values: text((one) => one.language) },
        uint(
          "line",
          named.map((one) => one.line),
        ),
        uint("twin", none),
        uint("calls", sum.calls),
        uint("primitive", sum.calls),
        uint("resumes", none),
        uint("samples", none),
        f64("self", sum.self),
        f64("total", sum.total),
        f64("suspended", none),
        f64("min", each(0.5)),
        f64("max", each(4)),
        f64("p50", each(0.9)),
        f64("p90", each(2)),
        f64("p99", each(3)),
        f64("estimated", none),
      ],
    },
    {
      name: "calls",
      columns: [
        { name: "parent", type: "ref", values: calls.map((call) => call.parent) },
        uint(
          "function",
          calls.map((call) => call.frame),
        ),
        { name: "track", type: "ref", values: calls.map((call) => call.track + 1) },
        uint(
          "calls",
          calls.map((call) => call.calls),
        ),
        uint(
          "resumes",
          calls.map(() => 0),
        ),
        uint(
          "samples",
          calls.map(() => 0),
        ),
        f64("total", totals),
        f64(
          "self",
          calls.map((call) => call.self),
        ),
        f64(
          "suspended",
          calls.map(() => 0),
        ),
        uint(
          "flags",
          calls.map(() => 0),
        ),
      ],
    },
  ];
}

function recordingOf(file: string, processes: number, threads: number, duration: number): Recording {
  const base = {
    parent: -1,
    host: 0,
    start_ns: 0,
    end_ns: duration,
    how: "started",
    status: 0,
    pair_ns: 0,
    inner_ns: 0,
  };
  const track = { start_ns: 0, end_ns: duration, events: 0, spans: 0, lost_events: 0, deepest: 20 };
  return {
    ...emptyRecording(),
    file,
    command: `python3 ${file}`,
    duration_ns: duration,
    mode: { functions: "counted", timeline: false, lines: false, resources_hz: 0 },
    processes: Array.from({ length: processes }, (_, i) => ({
      ...base,
      id: i + 1,
      pid: 700 + i,
      name: i === 0 ? file : `worker ${i}`,
      command: `python3 ${file}`,
    })),
    tracks: Array.from({ length: threads }, (_, i) => ({
      ...track,
      id: i + 1,
      process: i % processes,
      tid: 700 + i,
      name: i < processes ? "MainThread" : `pool-${i}`,
    })),
  };
}

const FILES = [
  "parse.py",
  "render.py",
  "http/client.py",
  "store/index.py",
  "codec.c",
  "json/decoder.py",
  "util/__init__.py",
];

function namesOf(count: number): Named[] {
  return Array.from({ length: count }, (_, i) => {
    const file = FILES[(i * 5) % FILES.length]!;
    const language = file.endsWith(".c") ? "c" : "python";
    return {
      name: `${["load", "step", "visit", "merge", "emit"][i % 5]}_${i}`,
      file: `/srv/app/${file}`,
      line: i + 1,
      language,
    };
  });
}

/* Every one of the functions is called, at depths of up to `deepest`, some within themselves. */
export function deepCalls(functions: number, nodes: number, deepest: number, tracks: number): Call[] {
  const random = randomNumbers(functions);
  const calls: Call[] = [];
  const depth: number[] = [];
  for (let i = 0; i < nodes; i++) {
    const back = 1 + Math.floor(random() ** 2 * 40);
    const above = i < tracks ? -1 : Math.max(0, i - back);
    const parent = above < 0 || depth[above]! >= deepest ? -1 : above;
    depth.push(parent < 0 ? 0 : depth[parent]! + 1);
    calls.push({
      parent: parent + 1,
      frame: i < functions ? i : Math.floor(random() ** 2 * functions),
      track: parent < 0 ? i % tracks : calls[parent]!.track,
      calls: 1 + Math.floor(random() * 50),
      self: Math.floor(random() ** 6 * 5e6),
    });
  }
  return calls;
}

/* 3,980 functions, deeper than 15: too much for snakeviz, which gives up. */
export function makeDeep(functions = 3980, nodes = 60_000, deepest = 40): Fixture {
  const texts = makeTexts();
  const calls = deepCalls(functions, nodes, deepest, 1);
  const duration = calls.reduce((sum, call) => sum + call.self, 0);
  const tables = functionTables(texts, namesOf(functions), calls);
  return encodePage(recordingOf("deep.py", 1, 1, duration), texts, tables, { title: "deep.py" });
}

/* Five roots on each of eight threads of two processes; every path differs by its thread. */
export function makeRoots(): Fixture {
  const texts = makeTexts();
  const calls: Call[] = [];
  for (let track = 0; track < 8; track++)
    for (let root = 0; root < 5; root++) {
      const top = calls.push({ parent: 0, frame: root, track, calls: 1, self: 1e6 * (root + 1) });
      for (let i = 0; i < 6; i++) {
        const below = calls.push({
          parent: top,
          frame: 5 + ((root * 3 + i) % 12),
          track,
          calls: 3,
          self: 4e5 * (i + 1),
        });
        calls.push({ parent: below, frame: 17 + ((root + i) % 7), track, calls: 9, self: 1e5 * (i + track) });
      }
    }
  return encodePage(recordingOf("roots.py", 2, 8, 2e8), texts, functionTables(texts, namesOf(24), calls), {
    title: "roots.py",
  });
}

/* A run and a later one: some functions slower, some faster, one path new, one gone. */
export function makeDiff(): Fixture {
  const texts = makeTexts();
  const named = namesOf(40);
  const random = randomNumbers(40);
  const calls = deepCalls(40, 400, 12, 1).map((call) => ({ ...call, self: call.self + 1e4 }));
  const factor = calls.map((call) =>
    call.frame === 7 ? 0 : call.frame % 5 === 1 ? 1.8 : call.frame % 5 === 2 ? 0.4 : 0.99 + random() * 0.02,
  );
  for (let i = 0; i < calls.length; i++)
    if (calls[i]!.parent > 0 && factor[calls[i]!.parent - 1] === 0) factor[i] = 0;
  const isNew = calls.map((call) => call.frame === 11);
  const base = calls.map((call, i) => (isNew[i] ? { ...call, self: 0, calls: 0 } : call));
  const now = calls.map((call, i) => ({
    ...call,
    self: call.self * factor[i]!,
    calls: factor[i] === 0 ? 0 : call.calls,
  }));
  const [baseTables, tables] = [functionTables(texts, named, base), functionTables(texts, named, now)];
  const of = (from: FixtureTable[], table: number, name: string) =>
    Array.from(from[table]!.columns.find((column) => column.name === name)!.values);
  const names = ["name", "file", "language"].map((name) => ({
    name,
    type: "text" as const,
    values: of(tables, 0, name),
  }));
  const counts = of(tables, 0, "calls");
  const baseCounts = of(baseTables, 0, "calls");
  const sides = (table: number) => [
    uint("base_calls", of(baseTables, table, "calls")),
    uint("calls", of(tables, table, "calls")),
    f64("base_self", of(baseTables, table, "self")),
    f64("self", of(tables, table, "self")),
    f64("base_total", of(baseTables, table, "total")),
    f64("total", of(tables, table, "total")),
  ];
  const lines = of(tables, 0, "line");
  const match = counts.map((count, i) => (count === 0 ? 1 : baseCounts[i] === 0 ? 2 : 0));
  const both: FixtureTable[] = [
    {
      name: "diff_functions",
      columns: [...names, uint("line", lines), uint("base_line", lines), ...sides(0), uint("match", match)],
    },
    {
      name: "diff_calls",
      columns: [
        { name: "parent", type: "ref", values: calls.map((call) => call.parent) },
        uint(
          "function",
          calls.map((call) => call.frame),
        ),
        ...sides(1),
      ],
    },
  ];
  const [before, after] = [recordingOf("before.vt", 1, 1, 9e8), recordingOf("after.vt", 1, 1, 11e8)];
  return encodePage(after, texts, both, {
    kind: "diff",
    title: "before.vt to after.vt",
    recordings: [before, after],
    notes: [
      { kind: "doubt", text: "Compare with care: the machines differ." },
      { kind: "noise", text: "One run a side: how much of this is noise is not known." },
    ],
  });
}
