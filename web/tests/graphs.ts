/* Task graphs that never ran: tables as src/page/tasks.c writes them, of given tasks. */

import type { Directory } from "../src/data/types";
import { emptyRecording, encodePage, makeTexts } from "./fixture";
import type { Fixture, FixtureTable, Texts } from "./fixture";

export interface TaskWish {
  name: string;
  key?: string; // with \u0001 for numbers
  numbers?: number[];
  action?: number;
  worker?: number; // of its run; -1: none
  start?: number; // units since the begin of its run; none: it never ran
  length?: number;
  wait?: number;
  state?: number;
  flags?: number; // beside the state
  retries?: number;
  bytes?: number;
  cpu?: number; // 1/250 of its length
  kept?: number; // as the table has it
  needs?: number[]; // tasks of its run
}

export interface WorkerWish {
  label: string;
  pid?: number;
  tid?: number;
  spent?: number[]; // compute, moving, dependencies, nothing left, scheduler, gone
}

export interface RunWish {
  begin?: number;
  duration: number;
  unit?: number;
  freedUnit?: number;
  parent?: number;
  error?: string;
  workers: WorkerWish[];
  tasks: TaskWish[];
}

const SPENT = ["compute", "moving", "dependencies", "nothing_left", "scheduler", "gone"];
const NEVER_RAN = 32;
const CRITICAL = 8;

const lengthOf = (task: TaskWish, run: RunWish) => (task.length ?? 0) * (run.unit ?? 1);

export function graphTables(texts: Texts, runs: RunWish[]): FixtureTable[] {
  const all = runs.flatMap((run, r) => run.tasks.map((task, i) => ({ run, r, task, i })));
  const workers = runs.flatMap((run, r) => run.workers.map((worker, i) => ({ worker, r, i })));
  const firstOf = (list: { r: number }[], r: number) => list.findIndex((one) => one.r === r);
  const groups = [
    ...new Set(all.map(({ task }) => `${task.action ?? 0}\t${task.action ? "" : task.name}`)),
  ].sort();
  const groupOf = (task: TaskWish) => groups.indexOf(`${task.action ?? 0}\t${task.action ? "" : task.name}`);
  const membersOf = (group: number) => all.filter(({ task }) => groupOf(task) === group);
  const ran = (group: number) =>
    membersOf(group)
      .filter(({ task }) => task.start !== undefined)
      .map(({ task, run }) => lengthOf(task, run))
      .sort((a, b) => a - b);
  const sum = (values: number[]) => values.reduce((a, b) => a + b, 0);
  const at = (share: number) => (group: number) =>
    ran(group)[Math.max(0, Math.ceil(share * ran(group).length) - 1)] ?? NaN;
  const make =
    (type: "uint" | "ref" | "f64" | "text") =>
    <T>(name: string, list: T[], value: (one: T) => number, delta = false) => ({
      name,
      type,
      values: list.map(value),
      ...(delta ? { delta } : {}),
    });
  const [uint, ref, f64] = [make("uint"), make("ref"), make("f64")];
  const text = <T>(name: string, list: T[], value: (one: T) => string) =>
    make("text")(name, list, (one) => texts.of(value(one)));
  const rows = runs.map((run, r) => ({ run, r }));
  const indices = groups.map((_, i) => i);
  const edges = all.flatMap(({ task, r }, row) =>
    (task.needs ?? []).map((other) => ({ row, other: firstOf(all, r) + other })),
  );
  const path = (run: RunWish) => run.tasks.filter((task) => (task.flags ?? 0) & CRITICAL);

  return [
    {
      name: "task_runs",
      columns: [
        ref("process", rows, () => 1),
        uint("number", rows, ({ r }) => r + 1),
        ref("parent", rows, ({ run }) => (run.parent ?? -1) + 1),
        text("scheduler", rows, () => "threads"),
        text("error", rows, ({ run }) => run.error ?? ""),
        uint("begin", rows, ({ run }) => run.begin ?? 0),
        uint("duration", rows, ({ run }) => run.duration),
        uint("planned", rows, ({ run }) => run.tasks.length),
        uint("lost", rows, () => 0),
        uint("tasks", rows, ({ run }) => run.tasks.filter((task) => !task.action).length),
        uint("failed", rows, ({ run }) => run.tasks.filter((task) => task.state === 2).length),
        uint("retries", rows, () => 0),
        uint("workers", rows, ({ run }) => run.workers.length),
        uint("dead", rows, () => 0),
        uint("first", rows, ({ r }) => firstOf(all, r)),
        uint("rows", rows, ({ run }) => run.tasks.length),
        uint("flags", rows, () => 0),
        uint("unit", rows, ({ run }) => run.unit ?? 1),
        uint("freed_unit", rows, ({ run }) => run.freedUnit ?? 1),
        uint("path_tasks", rows, ({ run }) => path(run).length),
        f64("path", rows, ({ run }) => sum(path(run).map((task) => lengthOf(task, run)))),
        f64("task_time", rows, ({ run }) =>
          sum(run.tasks.filter((task) => !task.action).map((task) => lengthOf(task, run))),
        ),
        f64("wait", rows, () => 0),
      ],
    },
    {
      name: "task_workers",
      columns: [
        uint("run", workers, ({ r }) => r),
        uint("number", workers, ({ i }) => i),
        text("label", workers, ({ worker }) => worker.label),
        uint("pid", workers, ({ worker }) => worker.pid ?? 0),
        uint("tid", workers, ({ worker }) => worker.tid ?? 0),
        uint("tasks", workers, ({ r, i }) => runs[r]!.tasks.filter((task) => task.worker === i).length),
        uint("failed", workers, () => 0),
        ...SPENT.map((name, k) => f64(name, workers, ({ worker }) => worker.spent?.[k] ?? 0)),
      ],
    },
    {
      name: "task_names",
      columns: [
        text("name", groups, (group) => group.split("\t")[1]!),
        uint("action", groups, (group) => Number(group.split("\t")[0])),
        uint("count", indices, (group) => membersOf(group).length),
        uint("failed", indices, (group) => membersOf(group).filter(({ task }) => task.state === 2).length),
        uint("retries", indices, (group) => sum(membersOf(group).map(({ task }) => task.retries ?? 0))),
        f64("total", indices, (group) => sum(ran(group))),
        f64("min", indices, at(0)),
        f64("avg", indices, (group) => sum(ran(group)) / ran(group).length),
        f64("p50", indices, at(0.5)),
        f64("p90", indices, at(0.9)),
        f64("p99", indices, at(0.99)),
        f64("max", indices, at(1)),
        f64("wait", indices, (group) =>
          sum(membersOf(group).map(({ task, run }) => (task.wait ?? 0) * (run.unit ?? 1))),
        ),
        f64("cpu", indices, () => NaN),
        f64("bytes", indices, () => NaN),
        uint(
          "path_tasks",
          indices,
          (group) => membersOf(group).filter(({ task }) => (task.flags ?? 0) & CRITICAL).length,
        ),
        f64("path", indices, () => 0),
      ],
    },
    {
      name: "tasks",
      columns: [
        uint("name", all, ({ task }) => groupOf(task)),
        ref("worker", all, ({ task, r }) =>
          (task.worker ?? 0) < 0 ? 0 : firstOf(workers, r) + (task.worker ?? 0) + 1,
        ),
        uint("start", all, ({ task }) => task.start ?? 0, true),
        uint("duration", all, ({ task }) => task.length ?? 0),
        uint("wait", all, ({ task }) => task.wait ?? 0),
        uint(
          "flags",
          all,
          ({ task }) => (task.state ?? 1) | (task.flags ?? 0) | (task.start === undefined ? NEVER_RAN : 0),
        ),
        uint("retries", all, ({ task }) => task.retries ?? 0),
        ref("cpu", all, ({ task }) => (task.cpu === undefined ? 0 : task.cpu + 1)),
        ref("bytes", all, ({ task }) => (task.bytes === undefined ? 0 : task.bytes + 1)),
        ref("kept", all, ({ task }) => task.kept ?? 0),
        text("key", all, ({ task }) => task.key ?? ""),
        ...[0, 1, 2, 3].map((part) => uint(`key_${part}`, all, ({ task }) => task.numbers?.[part] ?? 0)),
      ],
    },
    {
      name: "task_edges",
      columns: [
        uint("task", edges, ({ row }) => row, true),
        uint("back", edges, ({ row, other }) => Math.max(0, row - other)),
        uint("ahead", edges, ({ row, other }) => Math.max(0, other - row)),
      ],
    },
  ];
}

export function graphPage(runs: RunWish[], more: Partial<Directory> = {}): Fixture {
  const texts = makeTexts();

  return encodePage({ ...emptyRecording(), file: "graph.vt" }, texts, graphTables(texts, runs), more);
}
