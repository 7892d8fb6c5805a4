/* The stream of tasks: a row for each worker, in it a lane of tasks, more where they overlap (runs within tasks), and thin lanes of what was
 * done beside computing. Pure. */

import { type Lanes, makeLanes, placesOf } from "../data/lanes";
import { CRITICAL, isComputed, isFailed, type Tasks, workerLabel } from "./tasks";

/* Of rectangles: what is in them if several are folded. */
export const FAILED_MARK = 1;
export const PATH_MARK = 2;
export const MATCH_MARK = 4;

const NUMBERED = /^(worker \d+)?$/; // says nothing that the thread does not
const MOST_LANES = 16;
const MOST_THIN = 4;
const ROOM = 200; // a few workers have higher lanes, to fill about so much
const LOW = 18;
const HIGH = 30;
const THIN = 8;
const SPACE = 6;

export interface StreamRow {
  label: string;
  short: string; // where there is little room
  note: string;
  workers: number[]; // rows of task_workers: of several runs if it is the same thread
  firstLane: number;
  lanes: number; // of tasks; thin ones come after them
  thin: number;
  y: number;
  height: number;
}

export interface Stream {
  rows: StreamRow[];
  height: number;
  laneHeight: number;
  order: Uint32Array; // tasks by lane, in each by start
  begins: Uint32Array; // of each lane, and one more
  laneOf: Int32Array; // by task; -1: it is not shown
  rowOfLane: Uint32Array;
}

/* The tasks of the chosen runs that ran, by start. */
function startedOf(tasks: Tasks, run: number): number[] {
  const list: number[] = [];

  for (let i = 0; i < tasks.size; i++)
    if (!Number.isNaN(tasks.start[i]!) && (run < 0 || tasks.run[i] === run)) list.push(i);
  return list.sort((a, b) => tasks.start[a]! - tasks.start[b]!);
}

function emptyRow(label: string, short: string, note: string): StreamRow {
  return { label, short, note, workers: [], firstLane: 0, lanes: 1, thin: 0, y: 0, height: 0 };
}

/* Addresses in their order, so that threads of a process stand together; other workers as they come. */
function rowsOf(tasks: Tasks, run: number): { rows: StreamRow[]; rowOf: Int32Array } {
  const known = new Map<string, number>();
  const rows: StreamRow[] = [];
  const rowOf = new Int32Array(tasks.workers.length).fill(-1);

  tasks.workers.forEach((worker, i) => {
    if (run >= 0 && worker.run !== run) return;
    const thread = [tasks.runs[worker.run]?.process, worker.pid, worker.tid].join(" ");
    const key = `${thread} ${worker.label}`;
    const isThread = worker.tid > 0 && NUMBERED.test(worker.label);
    const at = known.get(isThread ? thread : key) ?? rows.length;
    if (at === rows.length) {
      const note = worker.label && worker.tid ? `thread ${worker.tid}` : "";
      rows.push(emptyRow(workerLabel(worker), workerLabel(worker, true), note));
    }
    known.set(key, at);
    if (!known.has(thread)) known.set(thread, at);
    rows[at]!.workers.push(i);
    rowOf[i] = at;
  });
  if (rows.every((row) => row.label.includes("://")))
    rows.sort((a, b) => a.label.localeCompare(b.label, "en", { numeric: true }));
  rows.forEach((row, at) => row.workers.forEach((worker) => (rowOf[worker] = at)));
  return { rows, rowOf };
}

/* The first lane that is free by then; of too many the one that is free soonest. */
function freeLane(ends: number[], start: number, most: number): number {
  let soonest = 0;

  for (let lane = 0; lane < ends.length; lane++) {
    if (ends[lane]! <= start) return lane;
    if (ends[lane]! < ends[soonest]!) soonest = lane;
  }
  return ends.length < most ? ends.length : soonest;
}

function placeRows(rows: StreamRow[]): { height: number; laneHeight: number; rowOfLane: Uint32Array } {
  const lanes = rows.reduce((sum, row) => sum + row.lanes, 0);
  const laneHeight = Math.max(LOW, Math.min(HIGH, Math.floor(ROOM / Math.max(1, lanes))));
  const rowOfLane: number[] = [];
  let y = 0;

  rows.forEach((row, at) => {
    row.firstLane = rowOfLane.length;
    row.y = y;
    row.height = row.lanes * laneHeight + row.thin * THIN + SPACE;
    y += row.height;
    for (let lane = 0; lane < row.lanes + row.thin; lane++) rowOfLane.push(at);
  });
  return { height: y, laneHeight, rowOfLane: Uint32Array.from(rowOfLane) };
}

/* Of one run, or of all (-1): a thread that worked for several runs is one row. */
export function makeStream(tasks: Tasks, run: number): Stream {
  const started = startedOf(tasks, run);
  const { rows, rowOf } = rowsOf(tasks, run);
  const ends: { lanes: number[]; thin: number[] }[] = rows.map(() => ({ lanes: [], thin: [] }));
  const place = new Int32Array(tasks.size).fill(-1); // within its row; of thin ones from MOST_LANES on
  const rowOfTask = new Int32Array(tasks.size);
  let unknown = -1;

  for (const task of started) {
    let row = rowOf[tasks.worker[task]!] ?? -1;
    if (row < 0) {
      if (unknown < 0) {
        unknown = rows.push(emptyRow("unknown worker", "unknown worker", "")) - 1;
        ends.push({ lanes: [], thin: [] });
      }
      row = unknown;
    }
    const isThin = !isComputed(tasks, task);
    const list = isThin ? ends[row]!.thin : ends[row]!.lanes;
    const lane = freeLane(list, tasks.start[task]!, isThin ? MOST_THIN : MOST_LANES);
    list[lane] = Math.max(list[lane] ?? 0, tasks.end[task]!);
    place[task] = isThin ? MOST_LANES + lane : lane;
    rowOfTask[task] = row;
  }
  rows.forEach((row, i) => {
    row.lanes = Math.max(1, ends[i]!.lanes.length);
    row.thin = ends[i]!.thin.length;
  });
  const placed = placeRows(rows);
  const laneOf = new Int32Array(tasks.size).fill(-1);
  for (const task of started) {
    const row = rows[rowOfTask[task]!]!;
    const at = place[task]!;
    laneOf[task] = row.firstLane + (at < MOST_LANES ? at : row.lanes + at - MOST_LANES);
  }
  const { begins, places } = placesOf((i) => laneOf[started[i]!]!, started.length, placed.rowOfLane.length);
  const order = new Uint32Array(started.length);
  started.forEach((task, i) => (order[places[i]!] = task));
  return { rows, ...placed, order, begins, laneOf };
}

/* How high a lane is, and where it begins in the picture. */
export function laneBox(stream: Stream, lane: number): { y: number; height: number } {
  const row = stream.rows[stream.rowOfLane[lane]!]!;
  const at = lane - row.firstLane;
  const isThin = at >= row.lanes;

  return {
    y: row.y + SPACE / 2 + Math.min(at, row.lanes) * stream.laneHeight + Math.max(0, at - row.lanes) * THIN,
    height: isThin ? THIN : stream.laneHeight,
  };
}

/* The lanes to draw; `site` of a rectangle is its task, of folded ones the longest. `matches`: by task, or none. */
export function streamLanes(tasks: Tasks, stream: Stream, matches: Uint8Array | null): Lanes {
  const { order, begins } = stream;
  const take = (value: (task: number) => number) => Float64Array.from(order, value);
  const marks = Uint8Array.from(order, (task) => {
    const flags = tasks.flags[task]!;
    return (
      (isFailed(flags) ? FAILED_MARK : 0) |
      (flags & CRITICAL ? PATH_MARK : 0) |
      (matches?.[task] ? MATCH_MARK : 0)
    );
  });

  return makeLanes(begins, {
    start: take((task) => tasks.start[task]!),
    duration: take((task) => tasks.end[task]! - tasks.start[task]!),
    site: order,
    flags: marks,
    count: new Uint8Array(order.length).fill(1),
  });
}

/* The next task in time (direction 1) or the one before that is wanted; without `from` (-1) the first or the last. -1: none. */
export function nextTask(
  stream: Stream,
  tasks: Tasks,
  from: number,
  direction: 1 | -1,
  isWanted: (task: number) => boolean,
): number {
  const order = (a: number, b: number) => tasks.start[a]! - tasks.start[b]! || a - b;
  let best = -1;

  for (const task of stream.order) {
    if (task === from || !isWanted(task)) continue;
    if (from >= 0 && order(task, from) * direction < 0) continue;
    if (best < 0 || order(task, best) * direction < 0) best = task;
  }
  return best;
}

/* The neighbour in its lane, or the one at the same time in the next row with one; -1: none. */
export function besideTask(
  stream: Stream,
  tasks: Tasks,
  from: number,
  toSide: number,
  toRow: number,
): number {
  const lane = stream.laneOf[from] ?? -1;

  if (lane < 0) return -1;
  if (toSide !== 0) {
    const at = stream.order.subarray(stream.begins[lane]!, stream.begins[lane + 1]!).indexOf(from);
    const next = stream.begins[lane]! + at + toSide;
    return next >= stream.begins[lane]! && next < stream.begins[lane + 1]! ? stream.order[next]! : -1;
  }
  for (let other = lane + toRow; other >= 0 && other < stream.rowOfLane.length; other += toRow) {
    let best = -1;
    for (let i = stream.begins[other]!; i < stream.begins[other + 1]!; i++) {
      const task = stream.order[i]!;
      const away = Math.abs(tasks.start[task]! - tasks.start[from]!);
      if (best >= 0 && away >= Math.abs(tasks.start[best]! - tasks.start[from]!)) continue;
      best = task;
    }
    if (best >= 0) return best;
  }
  return -1;
}
