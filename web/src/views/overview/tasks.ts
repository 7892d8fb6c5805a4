/* Task graphs in a sentence, and whether there is anything else to look at. Pure. */

import type { PageData } from "../../data/types";
import { column } from "../../data/types";
import { workersAtOnce } from "../../model/task-sums";
import { formatCount } from "../../ui/format";
import { sumOf } from "./top";

function rowsOf(data: PageData, name: string): number {
  return data.directory.tables.find((table) => table.name === name)?.rows ?? 0;
}

/* What the program did is known from its tasks alone: readings of resources go with them. */
export function isOnlyTasks(data: PageData): boolean {
  const others = ["functions", "line_functions", "spans", "span_stats", "async", "counters", "marks"];

  return (
    rowsOf(data, "task_runs") > 0 &&
    data.recording.spans === 0 &&
    others.every((name) => rowsOf(data, name) === 0)
  );
}

/* As many as there were at once; a thread that worked for several runs is one. */
function countWorkers(data: PageData): number {
  const of = (name: string) => column(data, "task_workers", name);
  const [run, pid, tid, label] = [of("run"), of("pid"), of("tid"), of("label")];
  const runOf = (name: string) => column(data, "task_runs", name);
  const [process, duration, parent, workers] = [
    runOf("process"),
    runOf("duration"),
    runOf("parent"),
    runOf("workers"),
  ];
  const threads = Array.from(run, (one, i) => [process[one], pid[i], tid[i], label[i]].join(" "));

  const runs = Array.from(runOf("begin"), (begin, i) => ({
    begin,
    duration: duration[i] ?? 0,
    parent: (parent[i] ?? 0) - 1,
    workers: workers[i] ?? 0,
  }));

  return Math.min(new Set(threads).size, workersAtOnce(runs));
}

/* "3 runs, 51 tasks, 4 workers, 1 failed"; null: there are none. */
export function taskWords(data: PageData): string | null {
  const sum = (name: string) => sumOf(column(data, "task_runs", name));
  const runs = column(data, "task_runs", "begin").length;
  const counts = [
    [runs, "run", "runs"],
    [sum("tasks"), "task", "tasks"],
    [countWorkers(data), "worker", "workers"],
  ] as const;
  const failed = sum("failed");

  if (runs === 0) return null;
  return [
    ...counts.map(([count, one, many]) => `${formatCount(count)} ${count === 1 ? one : many}`),
    failed > 0 ? `${formatCount(failed)} failed` : "none failed",
  ].join(", ");
}
