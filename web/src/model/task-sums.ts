/* Figures of tasks: by name, by worker, and along the critical path. Of all runs and all time they are the tool's own; of one run, or of a part
 * of the time, they are worked out here from the tasks in the page. Pure. */

import { column, type PageData } from "../data/types";
import type { Range } from "../data/work";
import type { StreamRow } from "./task-stream";
import { CRITICAL, isComputed, isFailed, taskFacts, type TaskRun, type Tasks, tasksOf } from "./tasks";

const NAME_FIGURES = [
  "count",
  "failed",
  "retries",
  "total",
  "min",
  "avg",
  "p50",
  "p90",
  "p99",
  "max",
  "wait",
  "cpu",
  "bytes",
  "path_tasks",
  "path",
] as const;

/* `wait` is that of one on average, `total`, `cpu`, `bytes` and `path` are of all. */
export type NameFigure = (typeof NAME_FIGURES)[number];
export type NameFigures = Record<NameFigure, number>;

export interface NameRow extends NameFigures {
  name: number; // row of task_names
  level: number; // 0, or how many tasks of other runs its tasks ran within
  share: number; // of the time of all tasks of its level: deeper ones are part of them; NaN: it is none
}

const MOST_LEVELS = 4; // deeper ones count as the last

/* Of each run: how many tasks of others it is within. Of one run alone that does not matter. */
function levelsOf(runs: readonly TaskRun[], run: number): number[] {
  return runs.map((one) => {
    let level = 0;
    let at = runs[one.parent];

    if (run >= 0) return 0;
    while (at && level < MOST_LEVELS - 1) {
      level++;
      at = runs[at.parent];
    }
    return level;
  });
}

/* `run`: -1 for all. Tasks count that begin in the range. */
export function nameRows(data: PageData, run: number, range: Range | null): NameRow[] {
  const { names, runs } = tasksOf(data);
  const levels = levelsOf(runs, run);
  const deepest = levels.reduce((most, level) => Math.max(most, level), 0);
  const isAll = range === null && deepest === 0 && (run < 0 || runs.length === 1);
  const figures = isAll
    ? [told(data)]
    : Array.from({ length: deepest + 1 }, (_, level) => counted(data, run, range, levels, level));
  const isTask = (name: number) => names[name]!.action === 0;
  const wholes = figures.map((list) =>
    list.reduce((sum, { total }, name) => sum + (isTask(name) ? total || 0 : 0), 0),
  );

  return figures
    .flatMap((list, level) =>
      list.map((one, name) => ({
        ...one,
        name,
        level,
        share: isTask(name) ? one.total / (wholes[level] || NaN) : NaN,
      })),
    )
    .filter(({ count }) => count > 0);
}

function told(data: PageData): NameFigures[] {
  const columns = NAME_FIGURES.map((name) => column(data, "task_names", name));

  return tasksOf(data).names.map((_, row) => {
    const figures = Object.fromEntries(
      NAME_FIGURES.map((name, i) => [name, columns[i]![row] ?? NaN]),
    ) as NameFigures;
    const ran = figures.total > 0 ? figures.total / figures.avg : figures.count;
    return { ...figures, wait: figures.wait / (ran || NaN) };
  });
}

/* The time that so many of the sorted ones do not exceed. */
function quantile(sorted: Float64Array, share: number): number {
  return sorted[Math.min(sorted.length, Math.max(1, Math.ceil(share * sorted.length))) - 1] ?? NaN;
}

/* What is done beside computing has no levels. */
function counted(
  data: PageData,
  run: number,
  range: Range | null,
  levels: number[],
  level: number,
): NameFigures[] {
  const tasks = tasksOf(data);
  const lists = tasks.names.map((): number[] => []);

  for (let i = 0; i < tasks.size; i++) {
    if (run >= 0 && tasks.run[i] !== run) continue;
    if ((isComputed(tasks, i) ? (levels[tasks.run[i]!] ?? 0) : 0) !== level) continue;
    if (range && !(tasks.start[i]! >= range.from && tasks.start[i]! < range.to)) continue;
    lists[tasks.name[i]!]?.push(i);
  }
  return lists.map((list) => figuresOf(data, tasks, list));
}

function figuresOf(data: PageData, tasks: Tasks, list: number[]): NameFigures {
  const ran = list.filter((task) => !Number.isNaN(tasks.start[task]!));
  const lengths = Float64Array.from(ran, (task) => tasks.end[task]! - tasks.start[task]!).sort();
  const facts = ran.map((task) => taskFacts(data, task));
  const onPath = list.filter((task) => tasks.flags[task]! & CRITICAL);
  const sum = (values: Iterable<number>) => [...values].reduce((all, one) => all + one, 0);
  const sumKnown = (values: number[]) => {
    const known = values.filter((one) => !Number.isNaN(one));
    return known.length ? sum(known) : NaN;
  };
  const total = sum(lengths);

  return {
    count: list.length,
    failed: list.filter((task) => isFailed(tasks.flags[task]!)).length,
    retries: sum(list.map((task) => column(data, "tasks", "retries")[task] ?? 0)),
    total,
    min: lengths[0] ?? NaN,
    avg: ran.length ? total / ran.length : NaN,
    p50: quantile(lengths, 0.5),
    p90: quantile(lengths, 0.9),
    p99: quantile(lengths, 0.99),
    max: lengths[lengths.length - 1] ?? NaN,
    wait: sum(facts.map((one) => one.wait)) / (ran.length || NaN),
    cpu: sumKnown(facts.map((one) => one.cpu)),
    bytes: sumKnown(facts.map((one) => one.bytes)),
    path_tasks: onPath.length,
    path: sum(onPath.map((task) => tasks.end[task]! - tasks.start[task]! || 0)),
  };
}

/* How a worker spent its time, in the order in which it is drawn; all but the first two are idle. */
export const SPENT = ["compute", "moving", "dependencies", "scheduler", "nothing_left", "gone"] as const;

export type Spent = (typeof SPENT)[number];

export interface WorkerRow extends Record<Spent, number> {
  label: string;
  short: string;
  tasks: number;
  failed: number;
  whole: number; // the time of its runs
}

/* Of each row of the stream; of a thread that worked for several runs their sum. */
export function workerRows(data: PageData, rows: readonly StreamRow[]): WorkerRow[] {
  return rows
    .filter((row) => row.workers.length > 0)
    .map((row) => {
      const sum = (name: string) =>
        row.workers.reduce((all, worker) => all + (column(data, "task_workers", name)[worker] || 0), 0);
      const spent = Object.fromEntries(SPENT.map((name) => [name, sum(name)])) as Record<Spent, number>;
      const whole = SPENT.reduce((all, name) => all + spent[name], 0);
      return {
        ...spent,
        label: row.label,
        short: row.short,
        tasks: sum("tasks"),
        failed: sum("failed"),
        whole,
      };
    });
}

export interface PathStep {
  task: number;
  gap: number; // since the end of the one before, or since the begin of the run
  queued: number; // the part of the gap in which it was ready
  time: number;
}

/* The chain of tasks that takes the longest. */
export function pathSteps(tasks: Tasks, run: TaskRun): PathStep[] {
  const steps: number[] = [];
  let before = run.begin;

  for (let i = run.first; i < run.last; i++)
    if (tasks.flags[i]! & CRITICAL && isComputed(tasks, i) && !Number.isNaN(tasks.start[i]!)) steps.push(i);
  steps.sort((a, b) => tasks.start[a]! - tasks.start[b]!);
  return steps.map((task) => {
    const gap = tasks.start[task]! - before;
    const queued = Math.max(0, Math.min(gap, tasks.start[task]! - tasks.ready[task]!));
    before = tasks.end[task]!;
    return { task, gap, queued, time: tasks.end[task]! - tasks.start[task]! };
  });
}

/* The least that a run with these workers can take: no chain is shorter than it is, and somebody has to do the work. */
export function leastTime(run: TaskRun): number {
  return Math.max(run.path, run.workers ? run.taskTime / run.workers : 0);
}

/* Of several runs: the most workers that there were at a time. Those of runs within others are not counted: the tasks that they are within
 * have workers already. */
export function workersAtOnce(
  runs: readonly Pick<TaskRun, "begin" | "duration" | "parent" | "workers">[],
): number {
  const moments = runs
    .filter(({ parent }) => parent < 0)
    .flatMap(({ begin, duration, workers }) => [
      { at: begin, more: workers },
      { at: begin + Math.max(duration, 0.5), more: -workers }, // times are whole: it lasts at least a moment
    ])
    .sort((a, b) => a.at - b.at || a.more - b.more);
  let [now, most] = [0, 0];

  for (const { more } of moments) {
    now += more;
    most = Math.max(most, now);
  }
  return most;
}

/* The run whose path is meant where no run is chosen. */
export function longestRun(runs: readonly TaskRun[]): TaskRun | undefined {
  return runs.reduce<TaskRun | undefined>(
    (longest, run) => (!longest || run.duration > longest.duration ? run : longest),
    undefined,
  );
}
