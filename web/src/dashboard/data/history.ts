/* Values over time for the curves: what the server kept, then what its events said since. Bounded, in order of time. Pure. */

import type { HistoryReply, Known, State } from "./types";

/* Names as the server's history has them. */
export const NAMES = [
  "cpu",
  "machine",
  "memory",
  "read",
  "written",
  "spans",
  "errors",
  "tasks",
  "tasks_failed",
  "messages",
  "steps_failed",
  "watts",
  "own_watts",
  "server_cpu",
  "items",
  "effective",
] as const;

export type SeriesName = (typeof NAMES)[number];

export interface History {
  times: number[]; // ms since 1970
  series: Record<SeriesName, Known[]>;
  version: number; // goes up with every change
  before: { at: number; failed: number } | null; // tasks, for their rate
}

/* 10 minutes of events, with room. */
const MOST = 6000;
/* Where nothing was said for so long the curve is broken. */
const GAP_MS = 12_000;
const EMPTY = Object.fromEntries(NAMES.map((name) => [name, null])) as Record<SeriesName, Known>;

export function makeHistory(): History {
  return {
    times: [],
    series: Object.fromEntries(NAMES.map((name) => [name, []])) as unknown as Record<SeriesName, Known[]>,
    version: 0,
    before: null,
  };
}

function push(history: History, at: number, values: Record<SeriesName, Known>): void {
  history.times.push(at);
  for (const name of NAMES) history.series[name].push(values[name]);
}

function cut(history: History, from: number, to: number): void {
  history.times = history.times.slice(from, to);
  for (const name of NAMES) history.series[name] = history.series[name].slice(from, to);
}

const sum = <T>(list: readonly T[], value: (one: T) => Known) =>
  list.reduce((total, one) => total + (value(one) ?? 0), 0);

/* What a state says about now. */
function valuesOf(state: State, before: History["before"]): Record<SeriesName, Known> {
  const { resources, energy, items, tasks, steps } = state;
  const failed = before ? Math.max(0, tasks.failed - before.failed) : 0;

  return {
    cpu: resources?.cpu ?? null,
    machine: resources?.machine_busy ?? null,
    memory: resources?.memory_bytes ?? null,
    read: resources?.read_per_s ?? null,
    written: resources?.written_per_s ?? null,
    spans: state.spans_per_s,
    errors: sum(state.spans.list, (span) => span.errors_per_s),
    tasks: sum(tasks.groups.list, (group) => group.per_s),
    tasks_failed: before ? (failed / (state.now_ms - before.at)) * 1000 : null,
    messages: sum(steps.list, (step) => step.messages_per_s),
    steps_failed: sum(steps.list, (step) => step.failed_per_s),
    watts: energy?.watts ?? null,
    own_watts: energy?.own_watts ?? null,
    server_cpu: state.cost.server_cpu,
    items: items?.raw_per_s ?? null,
    effective: items?.effective_per_s ?? null,
  };
}

/* The newest. */
export function append(history: History, state: State): void {
  const last = history.times.at(-1) ?? -Infinity;

  if (!(state.now_ms > last)) return;
  if (state.now_ms - last > GAP_MS && last > 0) push(history, last + 1, EMPTY);
  push(history, state.now_ms, valuesOf(state, history.before));
  history.before = { at: state.now_ms, failed: state.tasks.failed };
  if (history.times.length > MOST) cut(history, history.times.length - MOST * 0.9, history.times.length);
  history.version++;
}

function isReply(reply: HistoryReply): boolean {
  return Array.isArray(reply.times_ms) && typeof reply.series === "object" && reply.series !== null;
}

/* What the server kept takes the place of everything up to its end; what it saw before `from` was another program. */
export function load(history: History, reply: HistoryReply, from = 0): void {
  if (!isReply(reply)) return;
  const kept = reply.times_ms.filter((at) => at >= from).slice(-MOST / 2);
  const skip = reply.times_ms.length - kept.length;
  const end = kept.at(-1) ?? -Infinity;
  const first = history.times.findIndex((at) => at > end);
  const rest = first < 0 ? history.times.length : first;

  cut(history, rest, history.times.length);
  history.times = [...kept, ...history.times];
  for (const name of NAMES) {
    const values = reply.series[name]?.slice(skip) ?? [];
    history.series[name] = [...kept.map((_, i) => values[i] ?? null), ...history.series[name]];
  }
  history.version++;
}

/* Something else than nothing happened. */
export function isMoving(history: History, name: SeriesName): boolean {
  return history.series[name].some((value) => value !== null && value > 0);
}

export function lastOf(history: History, name: SeriesName): Known {
  return history.series[name].at(-1) ?? null;
}
