/* The critical path: what it says about the run, and its tasks one by one. */

import { useMemo, useState } from "preact/hooks";
import type { PageData } from "../../data/types";
import { leastTime, type PathStep } from "../../model/task-sums";
import { taskKey, taskName, type TaskRun, tasksOf } from "../../model/tasks";
import { matcher } from "../../state/search";
import { formatCount, formatShare, formatTime } from "../../ui/format";
import { type Order, type TableColumn, VirtualTable } from "../../ui/table";
import { clean } from "../../ui/text";
import { workerOf } from "./words";

function columnsOf(data: PageData, run: TaskRun, steps: PathStep[]): TableColumn[] {
  const tasks = tasksOf(data);
  const time = (id: string, title: string, hint: string, value: (step: PathStep) => number): TableColumn => ({
    id: `${id}_ns`,
    title,
    hint,
    isNumber: true,
    width: 88,
    text: (row) => formatTime(value(steps[row]!)),
    value: (row) => value(steps[row]!),
  });
  const keyOf = (row: number) => taskKey(data, steps[row]!.task);

  return [
    time("start", "Start", "Since the begin of the run", (step) => tasks.start[step.task]! - run.begin),
    time(
      "gap",
      "Gap",
      "Since the end of the task before it, or since the begin of the run",
      (step) => step.gap,
    ),
    time("queued", "Queued", "The part of the gap in which it was ready", (step) => step.queued),
    { ...time("time", "Time", "Its own", (step) => step.time) },
    {
      id: "share",
      title: "Share",
      hint: "Of the path",
      isNumber: true,
      width: 80,
      text: (row) => formatShare(steps[row]!.time / (run.path || NaN)),
      value: (row) => steps[row]!.time / (run.path || NaN),
      share: (row) => steps[row]!.time / (run.path || NaN),
    },
    {
      id: "key",
      title: "Task",
      width: 200,
      isWide: true,
      text: (row) => clean(keyOf(row)),
      value: keyOf,
    },
    {
      id: "name",
      title: "Name",
      width: 144,
      leaves: 2,
      text: (row) => clean(taskName(tasks, steps[row]!.task)),
      value: (row) => taskName(tasks, steps[row]!.task),
    },
    {
      id: "worker",
      title: "Worker",
      width: 144,
      leaves: 1,
      text: (row) => workerOf(tasks, steps[row]!.task, true),
      value: (row) => workerOf(tasks, steps[row]!.task),
    },
  ];
}

/* As `venturi tasks --critical-path` says it. */
export function pathSentences(run: TaskRun, isOneOfMany: boolean): string[] {
  const least = leastTime(run);
  const name = isOneOfMany ? `run ${run.row + 1}, the longest,` : "the run";
  const count = formatCount(run.pathTasks);

  return [
    `The critical path of ${name} has ${count} ${run.pathTasks === 1 ? "task" : "tasks"} and takes ${formatTime(run.path)} of ${formatTime(run.duration)} (${formatShare(run.path / (run.duration || NaN))}): with any number of workers the run takes at least that long.`,
    run.workers > 0
      ? `With its ${formatCount(run.workers)} ${run.workers === 1 ? "worker" : "workers"} it takes at least ${formatTime(least)}${least < run.duration ? `: ${formatShare(1 - least / run.duration)} less than it took` : ""}.`
      : "",
  ].filter(Boolean);
}

export function Path(props: {
  data: PageData;
  run: TaskRun;
  steps: PathStep[];
  isOneOfMany: boolean;
  selected: number;
  onShow(task: number): void;
}) {
  const { data, run, steps } = props;
  const columns = useMemo(() => columnsOf(data, run, steps), [data, run, steps]);
  const [order, setOrder] = useState<Order>({ column: "start_ns", isDescending: false });
  const rows = useMemo(() => steps.map((_, row) => row), [steps]);
  const { isActive, test } = matcher.value;

  return (
    <>
      <p class="tasks-says">{pathSentences(run, props.isOneOfMany).join(" ")}</p>
      <VirtualTable
        name="task-path"
        title={data.directory.title}
        label="Tasks on the critical path"
        columns={columns}
        rows={rows}
        order={order}
        onOrder={setOrder}
        isSelected={(row) => steps[row]!.task === props.selected}
        isMatch={(row) => isActive && test(taskKey(data, steps[row]!.task))}
        onChoose={(row) => props.onShow(steps[row]!.task)}
        empty="No task of the critical path is in this page."
      />
    </>
  );
}
