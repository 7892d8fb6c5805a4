/* A program that never ran: a recording with everything in it, of any number of spans, the same every time. */

import type { Recording } from "../src/data/types";
import { emptyRecording, encodePage, makeTexts } from "./fixture";
import type { Fixture, FixtureTable, Texts } from "./fixture";

/* A small generator (mulberry32): the same numbers on every machine. */
export function makeRandom(seed: number): () => number {
  return () => {
    seed = (seed + 0x6d2b79f5) | 0;
    let t = Math.imul(seed ^ (seed >>> 15), 1 | seed);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

const MODULES = ["pipeline.py", "parse.py", "http/client.py", "codec.c", "store/index.py", "json/decoder.py"];
const VERBS = [
  "read",
  "parse",
  "fetch",
  "decode",
  "merge",
  "index",
  "flush",
  "hash",
  "sort",
  "write",
  "check",
  "wait",
];
const NOUNS = ["rows", "page", "frame", "batch", "header", "key", "block", "token", "record", "queue"];

export interface SpanColumns {
  track: Uint16Array;
  site: Uint16Array;
  depth: Uint8Array;
  start: Float64Array;
  duration: Float64Array;
  flags: Uint8Array;
  count: Uint8Array;
}

/* A site has three others that it leads to, one of them nearly always. */
function childOf(site: number, random: () => number, sites: number): number {
  const chance = random();

  return (site * 7 + 3 + (chance < 0.8 ? 0 : chance < 0.97 ? 11 : 29)) % sites;
}

/* Threads that open and close spans at random, nested up to `deepest`; children never outlast their parents. */
export function makeSpans(total: number, tracks: number, sites: number, deepest = 10, seed = 1): SpanColumns {
  const random = makeRandom(seed);
  const columns: SpanColumns = {
    track: new Uint16Array(total),
    site: new Uint16Array(total),
    depth: new Uint8Array(total),
    start: new Float64Array(total),
    duration: new Float64Array(total),
    flags: new Uint8Array(total),
    count: new Uint8Array(total).fill(1),
  };
  const open: number[] = [];
  let at = 0;

  for (let track = 0; track < tracks; track++) {
    const end = Math.round((total * (track + 1)) / tracks);
    let time = Math.round(random() * 1e6);
    const close = () => {
      const i = open.pop()!;
      columns.duration[i] = time - columns.start[i]!;
      if (random() < 0.0005) columns.flags[i] = 2;
    };
    while (at < end) {
      time += Math.round(20 + random() * random() * 2000);
      if (open.length > 0 && (open.length >= deepest || random() < 0.48)) {
        close();
      } else {
        const site =
          open.length === 0
            ? Math.floor(random() * 5)
            : childOf(columns.site[open[open.length - 1]!]!, random, sites);
        columns.track[at] = track;
        columns.site[at] = site;
        columns.depth[at] = open.length;
        columns.start[at] = time;
        open.push(at++);
        if (random() < 0.001) time += Math.round(random() * 3e6);
      }
    }
    while (open.length > 0) {
      time += Math.round(20 + random() * 500);
      close();
    }
  }
  return columns;
}

function namesOf(texts: Texts, count: number) {
  const names = Array.from(
    { length: count },
    (_, i) => `${VERBS[i % VERBS.length]}_${NOUNS[(i * 7) % NOUNS.length]}`,
  );

  return {
    name: names.map((name, i) => texts.of(i >= 120 ? `${name}_${i}` : name)),
    file: names.map((_, i) => texts.of(`/home/me/work/${MODULES[(i * 5) % MODULES.length]}`)),
    line: names.map((_, i) => 10 + ((i * 37) % 400)),
  };
}

function sitesTable(texts: Texts, count: number): FixtureTable {
  const names = namesOf(texts, count);
  const extra = [
    { name: "queue length", unit: "items", type: 1 },
    { name: "bytes held", unit: "bytes", type: 1 },
    { name: "checkpoint", unit: "", type: 2 },
  ];

  return {
    name: "sites",
    columns: [
      { name: "name", type: "text", values: [...names.name, ...extra.map((one) => texts.of(one.name))] },
      { name: "function", type: "text", values: [...names.name, ...extra.map(() => 0)] },
      { name: "file", type: "text", values: [...names.file, ...extra.map(() => names.file[0]!)] },
      {
        name: "unit",
        type: "text",
        values: [...names.name.map(() => 0), ...extra.map((one) => texts.of(one.unit))],
      },
      { name: "line", type: "uint", values: [...names.line, ...extra.map((_, i) => 30 + i)] },
      { name: "type", type: "uint", values: [...names.name.map(() => 0), ...extra.map((one) => one.type)] },
    ],
  };
}

function spansTable(spans: SpanColumns): FixtureTable {
  return {
    name: "spans",
    columns: [
      { name: "track", type: "uint", values: spans.track },
      { name: "site", type: "uint", values: spans.site },
      { name: "depth", type: "uint", values: spans.depth },
      { name: "start", type: "uint", delta: true, values: spans.start },
      { name: "duration", type: "uint", values: spans.duration },
      { name: "flags", type: "uint", values: spans.flags },
      { name: "count", type: "uint", values: spans.count },
    ],
  };
}

/* Totals of sites, without own cost: what the tool would have in span_stats. */
function statsTable(spans: SpanColumns, sites: number): FixtureTable {
  const list = Array.from({ length: sites }, () => [] as number[]);

  spans.site.forEach((site, i) => list[site]!.push(spans.duration[i]!));
  const used = list.flatMap((values, site) => (values.length ? [site] : []));
  used.forEach((site) => list[site]!.sort((a, b) => a - b));
  const sum = (site: number) => list[site]!.reduce((a, b) => a + b, 0);
  const quantile = (share: number) => (site: number) =>
    list[site]![Math.max(0, Math.ceil(list[site]!.length * share) - 1)]!;
  const f64 = (name: string, value: (site: number) => number) => ({
    name,
    type: "f64" as const,
    values: used.map(value),
  });
  return {
    name: "span_stats",
    columns: [
      { name: "site", type: "uint", values: used },
      { name: "count", type: "uint", values: used.map((site) => list[site]!.length) },
      { name: "errors", type: "uint", values: used.map((site) => site % 3) },
      f64("total", sum),
      f64("self", (site) => sum(site) / 3),
      f64("min", (site) => list[site]![0]!),
      f64("avg", (site) => sum(site) / list[site]!.length),
      f64("p50", quantile(0.5)),
      f64("p90", quantile(0.9)),
      f64("p99", quantile(0.99)),
      f64("max", quantile(1)),
    ],
  };
}

function functionsTables(texts: Texts, duration: number): FixtureTable[] {
  const random = makeRandom(7);
  const names = namesOf(texts, 90);
  const self = names.name.map(() => (random() ** 4 * duration) / 6);
  const calls = names.name.map(() => Math.ceil(random() ** 3 * 200_000));
  const f64 = (name: string, value: (i: number) => number) => ({
    name,
    type: "f64" as const,
    values: self.map((_, i) => value(i)),
  });
  const uint = (name: string, value: (i: number) => number) => ({
    name,
    type: "uint" as const,
    values: self.map((_, i) => value(i)),
  });
  const parent = self.map((_, i) => (i === 0 ? 0 : 1 + Math.floor(random() * Math.min(i, 40))));
  const total = self.slice();
  for (let i = total.length - 1; i > 0; i--) total[parent[i]! - 1]! += total[i]!;

  return [
    {
      name: "functions",
      columns: [
        { name: "name", type: "text", values: names.name },
        { name: "function", type: "text", values: names.name },
        { name: "file", type: "text", values: names.file },
        {
          name: "language",
          type: "text",
          values: names.name.map((_, i) => texts.of(i % 6 === 3 ? "c" : "python")),
        },
        { name: "line", type: "uint", values: names.line },
        uint("twin", () => 0),
        uint("calls", (i) => calls[i]!),
        uint("primitive", (i) => calls[i]!),
        uint("resumes", () => 0),
        uint("samples", () => 0),
        f64("self", (i) => self[i]!),
        f64("total", (i) => total[i]!),
        f64("suspended", () => 0),
        f64("min", (i) => (self[i]! / calls[i]!) * 0.4),
        f64("max", (i) => (self[i]! / calls[i]!) * 9),
        f64("p50", (i) => (self[i]! / calls[i]!) * 0.9),
        f64("p90", (i) => (self[i]! / calls[i]!) * 2),
        f64("p99", (i) => (self[i]! / calls[i]!) * 5),
        f64("estimated", () => 0),
      ],
    },
    {
      name: "calls",
      columns: [
        { name: "parent", type: "ref", values: parent },
        uint("function", (i) => i),
        { name: "track", type: "ref", values: self.map(() => 1) },
        uint("calls", (i) => calls[i]!),
        uint("resumes", () => 0),
        uint("samples", () => 0),
        f64("total", (i) => total[i]!),
        f64("self", (i) => self[i]!),
        f64("suspended", () => 0),
        uint("flags", () => 0),
      ],
    },
  ];
}

function eventTables(texts: Texts, duration: number, sites: number): FixtureTable[] {
  const random = makeRandom(3);
  const times = (count: number) =>
    Array.from({ length: count }, (_, i) => Math.round((duration * (i + 0.5)) / count));
  const counterTimes = times(800);
  const asyncTimes = times(120);
  const uint = (name: string, values: number[]) => ({ name, type: "uint" as const, values });
  const f64 = (name: string, values: number[]) => ({ name, type: "f64" as const, values });
  const at = (values: number[]) => ({ name: "time", type: "uint" as const, delta: true, values });

  return [
    {
      name: "async",
      columns: [
        uint(
          "track",
          asyncTimes.map((_, i) => (i % 3 === 0 ? 4 : 0)),
        ),
        uint(
          "site",
          asyncTimes.map((_, i) => i % 7),
        ),
        uint(
          "id",
          asyncTimes.map((_, i) => i + 1),
        ),
        { name: "start", type: "uint", delta: true, values: asyncTimes },
        uint(
          "duration",
          asyncTimes.map(() => Math.round((duration / 130) * (0.3 + random() * 2))),
        ),
        uint(
          "flags",
          asyncTimes.map((_, i) => (i === 50 ? 2 : 0)),
        ),
        uint(
          "lane",
          asyncTimes.map((_, i) => Math.floor(i / 1) % 4),
        ),
      ],
    },
    {
      name: "counters",
      columns: [
        { name: "track", type: "ref", values: counterTimes.map(() => 1) },
        uint(
          "site",
          counterTimes.map((_, i) => sites + (i % 2)),
        ),
        at(counterTimes),
        f64(
          "value",
          counterTimes.map((_, i) =>
            i % 2 ? 2e6 + 1e6 * Math.sin(i / 60) : Math.round(40 + 30 * Math.sin(i / 30) + random() * 20),
          ),
        ),
      ],
    },
    {
      name: "marks",
      columns: [
        uint("track", [0, 1, 0]),
        uint("site", [sites + 2, sites + 2, sites + 2]),
        at([0.2, 0.5, 0.8].map((x) => Math.round(x * duration))),
      ],
    },
    {
      name: "errors",
      columns: [
        uint("track", [0, 2]),
        uint("site", [3, 5]),
        at([0.33, 0.66].map((x) => Math.round(x * duration))),
        { name: "type", type: "text", values: [texts.of("ValueError"), texts.of("TimeoutError")] },
        {
          name: "message",
          type: "text",
          values: [texts.of("row 17: no such key"), texts.of("no answer after 2 s")],
        },
      ],
    },
    ...resourceTables(texts, duration),
  ];
}

/* One tree with two processes, read 200 times. */
function resourceTables(texts: Texts, duration: number): FixtureTable[] {
  const times = Array.from({ length: 200 }, (_, i) => Math.round((duration * (i + 0.5)) / 200));
  const owners = [0, 1, 2];
  const rows = owners.flatMap((of) => times.map((time, i) => ({ of, time, i })));
  const uint = (name: string, values: number[]) => ({ name, type: "uint" as const, values });
  const ref = (name: string, values: number[]) => ({ name, type: "ref" as const, values });
  const text = (name: string, values: string[]) => ({
    name,
    type: "text" as const,
    values: values.map(texts.of),
  });
  const f64 = (name: string, values: number[]) => ({ name, type: "f64" as const, values });
  const reading = (name: string, value: (row: { of: number; time: number; i: number }) => number) =>
    f64(name, rows.map(value));
  const part = [1, 0.7, 0.3];

  return [
    {
      name: "resource_trees",
      columns: [
        text("host", ["box"]),
        uint("cpus", [8]),
        ...[
          "cpu_s",
          "user_s",
          "cores",
          "machine_busy",
          "others_busy",
          "peak",
          "read",
          "written",
          "disk_read",
          "disk_written",
          "begin",
        ].map((name, i) => f64(name, [[2.1, 1.9, 1.6, 0.4, 0.1, 1.5e8, 2e7, 8e6, 0, 0, 0][i]!])),
        f64("end", [duration]),
        uint("processes", [2]),
      ],
    },
    {
      name: "resource_processes",
      columns: [
        uint("tree", [0, 0]),
        uint("pid", [4120, 4121]),
        ref("parent", [0, 1]),
        ref("process", [1, 2]),
        text("name", ["pipeline.py", "worker.py"]),
        text("command", ["python3 pipeline.py", "python3 worker.py"]),
        f64("start", [0, duration * 0.02]),
        f64("end", [duration, duration]),
        f64("peak", [1.1e8, 4e7]),
        f64("cpu_s", [1.5, 0.6]),
      ],
    },
    {
      name: "resources",
      columns: [
        uint(
          "tree",
          rows.map(() => 0),
        ),
        ref(
          "of",
          rows.map((row) => row.of),
        ),
        { name: "time", type: "uint", delta: true, values: rows.map((row) => row.time) },
        reading("cpu", ({ of, time, i }) => time * part[of]! * (1.6 + 0.1 * Math.sin(i / 20))),
        reading("user", ({ of, time }) => time * part[of]!),
        reading("memory", ({ of, i }) => part[of]! * (9e7 + i * 3e5)),
        reading("threads", ({ of }) => [8, 5, 3][of]!),
        reading("read", ({ of, i }) => (of === 2 ? NaN : i * 1e5 + 4e4 * Math.sin(i / 5))),
        reading("written", ({ of, i }) => part[of]! * i * 4e4),
        reading("disk_read", () => NaN),
        reading("disk_written", () => NaN),
        reading("machine", ({ time }) => time * 3),
        reading("available", () => 8e9),
      ],
    },
  ];
}

function makeRecording(spans: SpanColumns, tracks: number, duration: number): Recording {
  const process = (i: number) => ({
    id: i + 1,
    pid: 4120 + i,
    parent: i - 1,
    host: 0,
    name: i ? "worker.py" : "pipeline.py",
    command: i ? "python3 worker.py" : "python3 pipeline.py --jobs 4 data.csv",
    start_ns: i * duration * 0.02,
    end_ns: duration,
    how: i ? "forked" : "started",
    status: 0,
    pair_ns: 40,
    inner_ns: 15,
  });

  return {
    ...emptyRecording(),
    file: "pipeline.vt",
    command: "python3 pipeline.py --jobs 4 data.csv",
    duration_ns: duration,
    events: spans.track.length * 2,
    spans: spans.track.length,
    lost_events: 1234,
    overhead_ns: duration * 0.013,
    overhead_share: 0.013,
    mode: { functions: "counted", timeline: true, lines: false, resources_hz: 10 },
    processes: [process(0), process(1)],
    tracks: Array.from({ length: tracks }, (_, i) => ({
      id: i + 1,
      process: i < Math.ceil(tracks / 2) ? 0 : 1,
      tid: 4120 + i,
      name: i % 4 === 0 ? "MainThread" : `pool-${i}`,
      start_ns: 0,
      end_ns: duration,
      events: 2 * Math.round(spans.track.length / tracks),
      spans: Math.round(spans.track.length / tracks),
      lost_events: i === 1 ? 1234 : 0,
      deepest: 10,
    })),
    losses: [
      {
        reason: "buffers full",
        events: 1234,
        is_lower_bound: false,
        is_wanted: false,
        process: 0,
        track: 1,
        begin_ns: duration * 0.4,
        end_ns: duration * 0.43,
      },
    ],
    resources: { cpu_s: 2.1, peak_memory: 1.5e8, read: 2e7, written: 8e6, processes: 2 },
  };
}

/* Everything at once. */
export function makeProgram(total: number, tracks = 8, sites = 200): Fixture {
  const texts = makeTexts();
  const spans = makeSpans(total, tracks, sites);
  const duration = spans.start.reduce((most, start, i) => Math.max(most, start + spans.duration[i]!), 0);
  const tables = [
    sitesTable(texts, sites),
    spansTable(spans),
    statsTable(spans, sites),
    ...functionsTables(texts, duration),
    ...eventTables(texts, duration, sites),
  ];

  return encodePage(makeRecording(spans, tracks, duration), texts, tables, {
    title: "pipeline.py",
    findings: [
      {
        kind: "self-time",
        severity: 0.9,
        text: "parse_page takes 31 % of the time by itself (pipeline.py:47).",
        refs: [{ function: 1 }],
      },
      {
        kind: "n-plus-one",
        severity: 0.5,
        text: "fetch_batch is called 4,812 times from index_key, once for each row.",
        refs: [{ site: 2 }],
      },
      {
        kind: "idle",
        severity: 0.2,
        text: "Thread pool-3 is idle for 62 % of the run.",
        refs: [{ track: 3 }],
      },
    ],
    notes: [{ kind: "missing", text: "The source of 2 files was not found; their lines show no text." }],
  });
}
