/* Task graphs as the tables have them: runs, workers, names, and every task with its times and what it depends on. Made once a page. What
 * cannot be (rows that are not there) is left out. Pure. */

import { type Column, column, type PageData } from "../data/types";
import type { Rgb } from "../ui/colour";
import { actionColour, nameColours } from "./task-colour";

export const CRITICAL = 8;
export const CPU_ESTIMATED = 16;
export const NEVER_RAN = 32;
const PLAIN_KEY = 64;
const STATE = 7;

export const STATES = [
  "unknown",
  "done",
  "failed",
  "skipped",
  "cancelled",
  "timed out",
  "lost with its worker",
];
export const ACTIONS = ["compute", "transfer", "disk-read", "disk-write", "deserialize"];
const DONE = 1;
const FAILURES = [2, 5, 6];
const CPU_PARTS = 250;
const KEPT_TIMES = 2; // from this on `kept` is a time

export interface TaskRun {
  row: number;
  process: number; // of the recording; -1: unknown
  parent: number; // row; -1: none
  scheduler: string;
  error: string;
  begin: number; // ns since the start of the recording
  duration: number;
  planned: number;
  lost: number;
  tasks: number;
  failed: number;
  workers: number;
  dead: number;
  first: number; // rows of tasks: from here …
  last: number; // … to before this
  isOpen: boolean;
  unit: number;
  freedUnit: number;
  pathTasks: number;
  path: number; // ns
  taskTime: number;
}

export interface TaskWorker {
  run: number;
  number: number;
  label: string;
  short: string; // without what the addresses of all have in common
  pid: number;
  tid: number;
}

export interface TaskName {
  text: string; // of something beside computing: what it is
  action: number;
  colour: Rgb;
}

/* What each has to do with others: those of `i` are `to` from `first[i]` to before `first[i + 1]`. */
export interface Links {
  first: Uint32Array;
  to: Uint32Array;
}

/* All tasks of all runs, by row. Times are ns since the start of the recording, NaN of those that never ran. */
export interface Tasks {
  size: number;
  runs: TaskRun[];
  workers: TaskWorker[];
  names: TaskName[];
  run: Int32Array; // -1: of none
  start: Float64Array;
  end: Float64Array;
  ready: Float64Array;
  name: Uint32Array;
  worker: Int32Array; // -1: unknown
  flags: Column;
  needs: Links;
  neededBy: Links;
}

function runsOf(data: PageData, size: number): TaskRun[] {
  const of = (name: string) => column(data, "task_runs", name);
  const text = (name: string, row: number) => data.strings[of(name)[row] ?? 0] ?? "";

  return Array.from(of("begin"), (begin, row) => {
    const at = (name: string) => of(name)[row] ?? 0;
    const first = Math.min(size, at("first"));
    return {
      row,
      process: at("process") - 1,
      parent: at("parent") - 1,
      scheduler: text("scheduler", row),
      error: text("error", row),
      begin,
      duration: at("duration"),
      planned: at("planned"),
      lost: at("lost"),
      tasks: at("tasks"),
      failed: at("failed"),
      workers: at("workers"),
      dead: at("dead"),
      first,
      last: Math.min(size, first + at("rows")),
      isOpen: (at("flags") & 1) !== 0,
      unit: Math.max(1, at("unit")),
      freedUnit: Math.max(1, at("freed_unit")),
      pathTasks: at("path_tasks"),
      path: at("path"),
      taskTime: at("task_time"),
    };
  });
}

/* Addresses differ at their ends: ":44581#0" of "tcp://127.0.0.1:44581#0" if all of them are of that host. */
export function shortLabels(labels: readonly string[]): string[] {
  const addresses = [...new Set(labels.filter((label) => label.includes("://")))];
  let common = addresses[0] ?? "";

  if (addresses.length < 2) return [...labels];
  for (const one of addresses) while (!one.startsWith(common)) common = common.slice(0, -1);
  const cut = Math.max(common.lastIndexOf("/") + 1, common.lastIndexOf(":"));
  return labels.map((label) => (cut > 0 && label.includes("://") ? label.slice(cut) : label));
}

function workersOf(data: PageData): TaskWorker[] {
  const of = (name: string) => column(data, "task_workers", name);

  const labels = Array.from(of("run"), (_, row) => data.strings[of("label")[row] ?? 0] ?? "");
  const short = shortLabels(labels);

  return Array.from(of("run"), (run, row) => ({
    run,
    number: of("number")[row] ?? row,
    label: labels[row]!,
    short: short[row]!,
    pid: of("pid")[row] ?? 0,
    tid: of("tid")[row] ?? 0,
  }));
}

function namesOf(data: PageData): TaskName[] {
  const actions = column(data, "task_names", "action");
  const texts = Array.from(column(data, "task_names", "name"), (text) => data.strings[text] ?? "");
  const colours = nameColours(texts.filter((_, row) => !actions[row]));

  return texts.map((text, row) => {
    const action = actions[row] ?? 0;
    return action
      ? { text: ACTIONS[action] ?? "other", action, colour: actionColour(action) }
      : { text, action, colour: colours.get(text)! };
  });
}

/* Pairs by the first of each, in the order in which they come. */
function linksOf(from: Uint32Array, to: Uint32Array, size: number): Links {
  const first = new Uint32Array(size + 1);
  const sorted = new Uint32Array(to.length);

  for (const one of from) first[one + 1]!++;
  for (let i = 0; i < size; i++) first[i + 1]! += first[i]!;
  const next = first.slice();
  for (let i = 0; i < from.length; i++) sorted[next[from[i]!]!++] = to[i]!;
  return { first, to: sorted };
}

function edgesOf(data: PageData, size: number): Pick<Tasks, "needs" | "neededBy"> {
  const of = (name: string) => column(data, "task_edges", name);
  const [task, back, ahead] = [of("task"), of("back"), of("ahead")];
  const from = new Uint32Array(task.length);
  const to = new Uint32Array(task.length);
  let count = 0;

  for (let i = 0; i < task.length; i++) {
    const other = task[i]! - back[i]! + ahead[i]!;
    if (!(task[i]! >= 0 && task[i]! < size && other >= 0 && other < size)) continue;
    from[count] = task[i]!;
    to[count++] = other;
  }
  const [tasks, others] = [from.subarray(0, count), to.subarray(0, count)];
  return { needs: linksOf(tasks, others, size), neededBy: linksOf(others, tasks, size) };
}

function makeTasks(data: PageData): Tasks {
  const of = (name: string) => column(data, "tasks", name);
  const size = data.tables["tasks"]?.rows ?? 0;
  const [starts, durations, waits, flags] = [of("start"), of("duration"), of("wait"), of("flags")];
  const runs = runsOf(data, size);
  const workers = workersOf(data);
  const names = namesOf(data);
  const tasks: Tasks = {
    size,
    runs,
    workers,
    names,
    run: new Int32Array(size).fill(-1),
    start: new Float64Array(size).fill(NaN),
    end: new Float64Array(size).fill(NaN),
    ready: new Float64Array(size).fill(NaN),
    name: Uint32Array.from(of("name"), (name) => Math.min(name, Math.max(0, names.length - 1))),
    worker: Int32Array.from(of("worker"), (worker) => (worker <= workers.length ? worker - 1 : -1)),
    flags,
    ...edgesOf(data, size),
  };

  for (const run of runs)
    for (let i = run.first; i < run.last; i++) {
      tasks.run[i] = run.row;
      if (flags[i]! & NEVER_RAN) continue;
      tasks.start[i] = run.begin + starts[i]! * run.unit;
      tasks.end[i] = tasks.start[i]! + durations[i]! * run.unit;
      tasks.ready[i] = tasks.start[i]! - waits[i]! * run.unit;
    }
  return tasks;
}

const known = new WeakMap<PageData, Tasks>();

export function tasksOf(data: PageData): Tasks {
  let found = known.get(data);
  if (!found) known.set(data, (found = makeTasks(data)));
  return found;
}

/* As its scheduler calls it; one that has no key goes by its name. */
export function taskKey(data: PageData, task: number): string {
  const text = data.strings[column(data, "tasks", "key")[task] ?? 0] ?? "";
  let number = 0;

  if (text === "") return taskName(tasksOf(data), task);
  if ((column(data, "tasks", "flags")[task] ?? 0) & PLAIN_KEY) return text;
  return text.replaceAll("\u0001", () => String(column(data, "tasks", `key_${number++}`)[task] ?? 0));
}

export function taskName(tasks: Tasks, task: number): string {
  return tasks.names[tasks.name[task]!]?.text ?? "";
}

export function isComputed(tasks: Tasks, task: number): boolean {
  return (tasks.names[tasks.name[task]!]?.action ?? 0) === 0;
}

export function stateOf(tasks: Tasks, task: number): string {
  return STATES[tasks.flags[task]! & STATE] ?? STATES[0]!;
}

export function isFailed(flags: number): boolean {
  return FAILURES.includes(flags & STATE);
}

/* "thread 101"; a worker without a label goes by what it is. */
export function workerLabel(worker: TaskWorker, isShort = false): string {
  if (worker.label) return isShort ? worker.short : worker.label;
  if (worker.tid) return `thread ${worker.tid}`;
  return worker.pid ? `process ${worker.pid}` : `worker ${worker.number}`;
}

/* What is known of one task beside its times; NaN: not known. */
export function taskFacts(data: PageData, task: number) {
  const tasks = tasksOf(data);
  const at = (name: string) => column(data, "tasks", name)[task] ?? 0;
  const length = tasks.end[task]! - tasks.start[task]!;

  return {
    length,
    wait: tasks.start[task]! - tasks.ready[task]!,
    retries: at("retries"),
    cpu: at("cpu") > 0 ? ((at("cpu") - 1) / CPU_PARTS) * length : NaN,
    isCpuEstimated: (at("flags") & CPU_ESTIMATED) !== 0,
    bytes: at("bytes") > 0 ? at("bytes") - 1 : NaN,
  };
}

/* Until when the result of each task was held; NaN where it has none. If nobody has said when any of them was given up, `isKnown` is false, and
 * they are taken to be held as long as they were needed. */
export function freedTimes(data: PageData): { freed: Float64Array; isKnown: boolean } {
  const tasks = tasksOf(data);
  const kept = column(data, "tasks", "kept");
  const isKnown = kept.some((how) => how > 0);
  const freed = new Float64Array(tasks.size).fill(NaN);

  for (let i = 0; i < tasks.size; i++) {
    const run = tasks.runs[tasks.run[i]!];
    const how = kept[i] ?? 0;
    if (!run || Number.isNaN(tasks.end[i]!) || !isComputed(tasks, i) || (tasks.flags[i]! & STATE) !== DONE)
      continue;
    const last = lastNeed(tasks, i);
    if (how >= KEPT_TIMES) freed[i] = tasks.end[i]! + (how - KEPT_TIMES) * run.freedUnit;
    else if (last > 0 && (how > 0 || !isKnown)) freed[i] = last;
    else freed[i] = Math.max(tasks.end[i]!, run.begin + run.duration);
  }
  return { freed, isKnown };
}

/* When the last task that depends on it ended; 0: none does. */
function lastNeed({ neededBy: { first, to }, end }: Tasks, task: number): number {
  let last = 0;

  for (let j = first[task]!; j < first[task + 1]!; j++)
    if (end[to[j]!]! > last) last = Math.max(end[to[j]!]!, end[task]!);
  return last;
}
