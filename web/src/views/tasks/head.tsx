/* Above the stream: which run is shown, what it is in one line, and what went wrong with it. */

import type { PageData } from "../../data/types";
import { workersAtOnce } from "../../model/task-sums";
import { NEVER_RAN, type TaskRun, type Tasks, tasksOf } from "../../model/tasks";
import { formatCount, formatDuration, formatTime } from "../../ui/format";
import { clean } from "../../ui/text";
import { showRun } from "./address";

const MOST_LISTED = 1000;

function titleOf(run: TaskRun): string {
  const within = run.parent >= 0 ? ` within run ${run.parent + 1}` : "";

  return `run ${run.row + 1}${within}: ${clean(run.scheduler || "tasks", 24)}, ${formatCount(run.tasks)} tasks, ${formatDuration(run.duration)}`;
}

export function RunChooser({ tasks, run }: { tasks: Tasks; run: number }) {
  if (tasks.runs.length < 2) return null;
  return (
    <select
      class="button"
      aria-label="Run"
      value={String(run)}
      onChange={(event) => showRun(Number(event.currentTarget.value))}
    >
      <option value="-1">all {formatCount(tasks.runs.length)} runs</option>
      {tasks.runs.slice(0, MOST_LISTED).map((one) => (
        <option key={one.row} value={String(one.row)}>
          {titleOf(one)}
        </option>
      ))}
    </select>
  );
}

const plural = (count: number, one: string, many = `${one}s`) =>
  `${formatCount(count)} ${count === 1 ? one : many}`;

/* Of the run that is shown, or of all; `rows` are the threads of their workers: one may have worked for several runs. */
export function Summary({ data, run, rows }: { data: PageData; run: number; rows: number }) {
  const tasks = tasksOf(data);
  const runs = run < 0 ? tasks.runs : tasks.runs.slice(run, run + 1);
  const sum = (value: (one: TaskRun) => number) => runs.reduce((all, one) => all + value(one), 0);
  const one = runs.length === 1 ? runs[0]! : null;
  const count = sum((each) => each.tasks);
  const planned = sum((each) => each.planned);
  let never = 0;

  for (const each of runs)
    for (let i = each.first; i < each.last; i++) if (tasks.flags[i]! & NEVER_RAN) never++;
  const facts = [
    one && tasks.runs.length === 1 && clean(one.scheduler, 24),
    `${plural(count, "task")}${planned > count ? ` of ${formatCount(planned)}` : ""}`,
    plural(
      one ? one.workers : Math.min(rows, workersAtOnce(runs)),
      one ? "worker" : "worker at once",
      one ? "workers" : "workers at once",
    ),
    one && formatTime(one.duration),
    one && one.duration > 0 && `${(one.taskTime / one.duration).toFixed(2)} at once`,
    never > 0 && `${formatCount(never)} never ran`,
  ];

  return <span>{facts.filter(Boolean).join(" · ")}</span>;
}

/* What did not go well. */
export function Problems({ data, run }: { data: PageData; run: number }) {
  const { runs } = tasksOf(data);
  const list = (run < 0 ? runs : runs.slice(run, run + 1)).flatMap((one) => {
    const said = [
      one.error && clean(one.error, 300),
      one.dead > 0 && `${plural(one.dead, "worker")} died`,
      one.lost > 0 && `records of ${plural(one.lost, "task")} were lost: figures are about the others`,
      one.isOpen && "nobody saw it end",
    ].filter(Boolean);
    return said.length ? [`${runs.length > 1 ? `run ${one.row + 1}: ` : ""}${said.join("; ")}`] : [];
  });

  if (list.length === 0) return null;
  return (
    <span class="tasks-problem" title={list.join("\n")}>
      {list.slice(0, 3).join(" · ")}
      {list.length > 3 && ` · and ${formatCount(list.length - 3)} more runs`}
    </span>
  );
}
