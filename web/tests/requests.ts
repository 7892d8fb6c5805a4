/* Traces that never were: tables as src/page/traces.c writes them, of given spans or of any number of made-up ones. */

import { emptyRecording, encodePage, makeTexts } from "./fixture";
import type { Fixture, FixtureTable, Texts } from "./fixture";
import { makeRandom } from "./program";
import type { Directory } from "../src/data/types";

export interface SpanWish {
  name: string;
  process?: number;
  parent?: number; // in its trace; -1 or nothing: none
  start: number; // ns since the trace's begin
  duration: number;
  self?: number;
  flags?: number;
  error?: [type: string, message: string];
  attributes?: Record<string, string>;
  thread?: string;
}

export interface TraceWish {
  base: string;
  offset?: number;
  spans: SpanWish[];
}

export interface ProcessWish {
  service: string;
  project?: string;
  host?: string;
  pid?: number;
  skew?: number;
}

const BEGIN_US = 1_790_000_000_123_456;

export function idOf(trace: number, span: number): number[] {
  return [0x10000000 + trace, 0x20003000 + span, 0x80000000, span];
}

export function requestTables(texts: Texts, traces: TraceWish[], processes: ProcessWish[]): FixtureTable[] {
  const firsts: number[] = [];
  const all = traces.flatMap((trace, t) => {
    firsts.push(traces.slice(0, t).reduce((sum, one) => sum + one.spans.length, 0));
    return trace.spans.map((span, i) => ({ span, t, i }));
  });
  const attributes = all.flatMap(({ span }, row) =>
    Object.entries(span.attributes ?? {}).map(([key, value]) => ({ row, key, value })),
  );
  const uint = <T>(name: string, list: T[], value: (one: T) => number, delta = false) => ({
    name,
    type: "uint" as const,
    values: list.map(value),
    ...(delta ? { delta } : {}),
  });
  const text = <T>(name: string, list: T[], value: (one: T) => string) => ({
    name,
    type: "text" as const,
    values: list.map((one) => texts.of(value(one))),
  });
  const lengthOf = (trace: TraceWish) =>
    trace.spans.reduce((most, span) => Math.max(most, span.start + span.duration), 0);
  const flagged = (trace: TraceWish, flag: number) =>
    trace.spans.filter((span) => (span.flags ?? 0) & flag).length;
  const distinct = (trace: TraceWish, what: (process: ProcessWish) => string | undefined) =>
    new Set(trace.spans.map((span) => what(processes[span.process ?? 0]!))).size;

  return [
    {
      name: "traces",
      columns: [
        text("base", traces, (trace) => trace.base),
        uint("begin", traces, (trace) => BEGIN_US + Math.floor((trace.offset ?? 0) / 1000)),
        uint("offset", traces, (trace) => trace.offset ?? 0),
        uint("duration", traces, lengthOf),
        uint("spans", traces, (trace) => trace.spans.length),
        uint("errors", traces, (trace) => flagged(trace, 2)),
        uint("unfinished", traces, (trace) => flagged(trace, 1)),
        uint("orphans", traces, (trace) => flagged(trace, 8)),
        uint("services", traces, (trace) => distinct(trace, (process) => process.service)),
        uint("hosts", traces, (trace) => distinct(trace, (process) => process.host)),
      ],
    },
    {
      name: "trace_processes",
      columns: [
        text("service", processes, (process) => process.service),
        text("project", processes, (process) => process.project ?? ""),
        text("host", processes, (process) => process.host ?? "box"),
        text("file", processes, () => "all.vt"),
        uint("pid", processes, (process) => process.pid ?? 1),
        { name: "skew", type: "f64", values: processes.map((process) => process.skew ?? 0) },
      ],
    },
    {
      name: "trace_spans",
      columns: [
        uint("trace", all, ({ t }) => t),
        uint("process", all, ({ span }) => span.process ?? 0),
        {
          name: "parent",
          type: "ref",
          values: all.map(({ span, t }) => ((span.parent ?? -1) < 0 ? 0 : firsts[t]! + span.parent! + 1)),
        },
        text("name", all, ({ span }) => span.name),
        text("thread", all, ({ span }) => span.thread ?? "main"),
        uint("start", all, ({ span }) => span.start, true),
        uint("duration", all, ({ span }) => span.duration),
        uint("self", all, ({ span }) => span.self ?? span.duration),
        uint("flags", all, ({ span }) => span.flags ?? 0),
        text("error_type", all, ({ span }) => span.error?.[0] ?? ""),
        text("error_message", all, ({ span }) => span.error?.[1] ?? ""),
        ...[0, 1, 2, 3].map((part) => uint(`id_${part}`, all, ({ t, i }) => idOf(t, i)[part]!)),
        text("parent_id", all, ({ span }) => ((span.flags ?? 0) & 8 ? "deadbeef" : "")),
      ],
    },
    {
      name: "trace_attrs",
      columns: [
        uint("span", attributes, ({ row }) => row, true),
        text("key", attributes, ({ key }) => key),
        text("value", attributes, ({ value }) => value),
        uint("flags", attributes, () => 1),
      ],
    },
  ];
}

export function requestPage(
  traces: TraceWish[],
  processes: ProcessWish[],
  more: Partial<Directory> = {},
): Fixture {
  const texts = makeTexts();

  return encodePage({ ...emptyRecording(), file: "all.vt" }, texts, requestTables(texts, traces, processes), {
    kind: "traces",
    title: traces[0]?.spans[0]?.name ?? "traces",
    ...more,
  });
}

export const SERVICES: ProcessWish[] = [
  { service: "api", project: "mistral", host: "ctl-1", pid: 4211 },
  { service: "engine", project: "mistral", host: "ctl-1", pid: 4302 },
  { service: "executor", project: "mistral", host: "cmp-7", pid: 977, skew: -1_250_000 },
  { service: "database", host: "db-1", pid: 88 },
];

const WORK: Record<string, string[]> = {
  api: ["POST /v2/executions", "validate_input", "render_response"],
  engine: ["start_workflow", "run_task", "on_action_complete", "check_affected_tasks", "lock_execution"],
  executor: ["run_action", "std.http", "std.echo", "ssh_connect"],
  database: ["db", "SELECT workflow_executions", "INSERT task_executions", "UPDATE action_executions"],
};

/* A request of `count` spans through four services. */
export function makeRequest(
  count: number,
  seed = 3,
  base = "7bd8a1b8-1f4e-4b1a-9f57-c0d0ef1b2a3c",
): TraceWish {
  const random = makeRandom(seed);
  const spans: SpanWish[] = [];
  const add = (
    parent: number,
    process: number,
    start: number,
    duration: number,
    room: number,
    depth: number,
  ) => {
    const at = spans.length;
    const names = WORK[SERVICES[process]!.service]!;
    const name = names[depth === 0 ? 0 : Math.floor(random() * names.length)]!;
    spans.push({ name, process, parent, start, duration, flags: 0, thread: `worker-${process}` });
    let left = room - 1;
    let time = start + Math.round(duration * 0.02);
    let self = duration;
    const end = start + Math.round(duration * 0.98);
    while (left > 0 && time < end - 40) {
      const below = depth > 8 ? 1 : Math.min(left, Math.max(1, Math.ceil(left * (0.15 + random() * 0.6))));
      const isOther = random() < (depth < 2 ? 0.9 : 0.25);
      const next = isOther ? Math.min(3, process + 1) : process;
      const isLast = below === left;
      const length = Math.round(
        (end - time) *
          (isLast ? 0.6 + random() * 0.3 : Math.min(0.8, (below / left) * (0.7 + random() * 0.3))),
      );
      if (length < 10) break;
      add(at, next, time, length, below, depth + 1);
      left -= below;
      self -= length;
      time += length + Math.round((end - time - length) * 0.04 * random());
    }
    spans[at]!.self = Math.max(0, self);
    if (random() < 0.5)
      spans[at]!.attributes = {
        "function.name": `mistral.${SERVICES[process]!.service}.${name.replaceAll(" ", "_")}`,
        "function.args": `(<Context object>, ${Math.floor(random() * 1000)})`,
        ...(process === 3 ? { "db.statement": "SELECT * FROM workflow_executions_v2 WHERE id = :id" } : {}),
      };
  };
  add(-1, 0, 0, 1_234_567_890, count, 0);
  markPath(spans);
  const failed = spans.findIndex((span, i) => i > spans.length / 2 && span.process === 2);
  for (let at = failed, first = true; at >= 0; at = spans[at]!.parent ?? -1, first = false) {
    if (!first && spans[at]!.process === 0) break;
    spans[at]!.flags! |= 2;
    spans[at]!.error = ["mistral.exceptions.ActionException", "Failed to connect to 10.0.0.7:443: timed out"];
  }
  return { base, spans };
}

/* From each span on the path to the child that ends last. */
function markPath(spans: SpanWish[]): void {
  let at = 0;

  while (at >= 0) {
    spans[at]!.flags! |= 4;
    let last = -1;
    spans.forEach((span, i) => {
      const end = span.start + span.duration;
      if (span.parent === at && (last < 0 || end > spans[last]!.start + spans[last]!.duration)) last = i;
    });
    at = last;
  }
}
