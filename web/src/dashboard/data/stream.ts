/* The stream of tasks: the newest ones, by worker, each on a lane where it covers no other. Bounded. Pure. */

import type { Range } from "../../data/work";
import type { TasksEvent } from "./types";

export interface Task {
  number: number;
  name: string;
  row: Row;
  lane: number;
  state: number;
  action: number; // 0: it computed
  start: number; // ns since the origin
  end: number;
  bytes: number | null;
}

/* Workers of one label share a row: a pool that is made anew for every run stays where it was. */
export interface Row {
  label: string;
  lanes: { start: number; end: number }[][]; // the last ones of each, the newest last
}

export interface Stream {
  names: Map<number, string>;
  workers: Map<number, string>;
  rows: Map<string, Row>;
  tasks: Task[]; // in the order in which they were told
  last: number; // number
  skipped: number; // that the server left out
  version: number;
}

export const MOST_TASKS = 20_000;
const MOST_LANES = 32;
const MOST_NEAR = 64;
const ROUNDED = 2000; // ns: times are told in thousandths of a millisecond
const FAILED = new Set([2, 5, 6]);

export const STATES = [
  "unknown",
  "done",
  "failed",
  "skipped",
  "cancelled",
  "timed out",
  "lost with its worker",
];
export const ACTIONS = ["compute", "transfer", "read from disk", "write to disk", "deserialize"];

export function makeStream(): Stream {
  return {
    names: new Map(),
    workers: new Map(),
    rows: new Map(),
    tasks: [],
    last: 0,
    skipped: 0,
    version: 0,
  };
}

export function isFailed(task: Task): boolean {
  return FAILED.has(task.state);
}

/* The first lane where it covers no other. Tasks are told nearly in order: only the last ones of a lane may be in the way. */
function laneOf(row: Row, start: number, end: number): number {
  const isFree = (lane: Row["lanes"][number]) =>
    lane.every((other) => start >= other.end - ROUNDED || end <= other.start + ROUNDED);
  let at = row.lanes.findIndex(isFree);

  if (at < 0) at = Math.min(row.lanes.length, MOST_LANES - 1);
  const lane = (row.lanes[at] ??= []);
  lane.push({ start, end });
  if (lane.length > MOST_NEAR) lane.splice(0, MOST_NEAR / 2);
  return at;
}

function learn(known: Map<number, string>, told: Record<string, string> | undefined): void {
  for (const [number, text] of Object.entries(told ?? {})) known.set(Number(number), String(text));
}

/* What a reader knows already is told again after a break. */
export function addTasks(stream: Stream, event: TasksEvent, originMs: number): void {
  const ns = (ms: number) => (ms - originMs) * 1e6;

  if (!Array.isArray(event.tasks)) return;
  learn(stream.names, event.names);
  learn(stream.workers, event.workers);
  if (stream.last) stream.skipped += event.skipped || 0;
  for (const [number, name, worker, state, action, start, end, bytes] of event.tasks) {
    if (!(number > stream.last) || !Number.isFinite(start) || !(end >= start)) continue;
    const label = worker === null ? "" : (stream.workers.get(worker) ?? `worker ${worker}`);
    let row = stream.rows.get(label);
    if (!row) stream.rows.set(label, (row = { label, lanes: [] }));
    stream.last = number;
    stream.tasks.push({
      number,
      name: stream.names.get(name) ?? `task ${name}`,
      row,
      lane: action ? -1 : laneOf(row, ns(start), ns(end)),
      state,
      action,
      start: ns(start),
      end: ns(end),
      bytes,
    });
  }
  if (stream.tasks.length > MOST_TASKS) stream.tasks = stream.tasks.slice(-MOST_TASKS * 0.9);
  stream.version++;
}

/* ---- what is where ---- */

export interface PlacedRow {
  row: Row;
  lanes: number;
  hasOthers: boolean; // what is not computing has a thin lane of its own
  y: number;
  height: number;
}

export interface Layout {
  rows: PlacedRow[];
  tasks: Task[]; // that reach into the range
  height: number;
}

const TALLEST = 24;
const LOWEST = 5;
export const THIN = 4;

const byLabel = (a: PlacedRow, b: PlacedRow) =>
  a.row.label.localeCompare(b.row.label, "en", { numeric: true });

/* Rows of workers that did something in the range, as high as `room` lets them. */
export function layoutOf(stream: Stream, range: Range, room: number): Layout {
  const tasks = stream.tasks.filter((task) => task.end >= range.from && task.start <= range.to);
  const placed = new Map<Row, PlacedRow>();
  let y = 0;

  for (const task of tasks) {
    let one = placed.get(task.row);
    if (!one) placed.set(task.row, (one = { row: task.row, lanes: 1, hasOthers: false, y: 0, height: 0 }));
    one.lanes = Math.max(one.lanes, task.lane + 1);
    if (task.action) one.hasOthers = true;
  }
  const rows = [...placed.values()].sort(byLabel);
  const lanes = rows.reduce((sum, row) => sum + row.lanes, 0);
  const lane = Math.max(LOWEST, Math.min(TALLEST, Math.floor(room / Math.max(1, lanes))));
  for (const row of rows) {
    row.y = y;
    row.height = lane * row.lanes + (row.hasOthers ? THIN : 0);
    y += row.height;
  }
  return { rows, tasks, height: y };
}

/* Where a task is in the picture, from the top of the rows. */
export function placeOf(row: PlacedRow, task: Task): { y: number; height: number } {
  const thin = row.hasOthers ? THIN : 0;
  const lane = (row.height - thin) / row.lanes;

  return task.action
    ? { y: row.y + row.height - thin, height: thin }
    : { y: row.y + task.lane * lane, height: lane };
}
