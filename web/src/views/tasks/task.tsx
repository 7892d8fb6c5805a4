/* What is known about the selected task, what it depends on, and what depends on it. */

import { useMemo, useState } from "preact/hooks";
import type { PageData } from "../../data/types";
import { CRITICAL, type Links, stateOf, taskFacts, taskKey, taskName, tasksOf } from "../../model/tasks";
import { matcher } from "../../state/search";
import { colours } from "../../state/theme";
import { hexColour } from "../../ui/colour";
import { formatBytes, formatCount, formatTime } from "../../ui/format";
import { Button, Empty, Swatch } from "../../ui/parts";
import { type Order, type TableColumn, VirtualTable } from "../../ui/table";
import { clean } from "../../ui/text";
import type { Actions } from "./actions";
import { linkColour } from "./draw";
import { workerOf } from "./words";

export function Task({ data, task, actions }: { data: PageData; task: number; actions: Actions }) {
  const tasks = tasksOf(data);

  if (task < 0)
    return <Empty>No task is selected: click one in the stream, or walk there with the arrow keys.</Empty>;
  const lists = [
    { links: tasks.needs, isNeed: true, title: "Depends on" },
    { links: tasks.neededBy, isNeed: false, title: "Needed by" },
  ];
  return (
    <div class="tasks-task">
      <Facts data={data} task={task} actions={actions} />
      <div class="tasks-links">
        {lists.map((one) => (
          <Linked key={`${one.title} ${task}`} data={data} task={task} onShow={actions.show} {...one} />
        ))}
      </div>
    </div>
  );
}

function Facts({ data, task, actions }: { data: PageData; task: number; actions: Actions }) {
  const tasks = tasksOf(data);
  const facts = taskFacts(data, task);
  const run = tasks.runs[tasks.run[task]!];
  const hasRun = !Number.isNaN(tasks.start[task]!);
  const list: [string, string][] = [
    ["State", stateOf(tasks, task)],
    ["Name", clean(taskName(tasks, task), 80)],
    ["Worker", workerOf(tasks, task)],
    ["Time", hasRun ? formatTime(facts.length) : "never ran"],
    ["Waited", formatTime(facts.wait)],
    ["Begins", formatTime(tasks.start[task]! - (run?.begin ?? 0))],
    ["CPU", `${facts.isCpuEstimated && facts.cpu >= 0 ? "about " : ""}${formatTime(facts.cpu)}`],
    ["Result", formatBytes(facts.bytes)],
    ["Retries", formatCount(facts.retries)],
    ["Critical path", tasks.flags[task]! & CRITICAL ? "yes" : "no"],
  ];

  return (
    <section class="tasks-facts" aria-label="The selected task">
      <div class="drawer-head">
        <h2>{clean(taskKey(data, task), 160)}</h2>
        <span class="gap" />
        <Button onClick={actions.focus} title="Show it as wide as it goes (f)">
          Zoom
        </Button>
        <Button onClick={actions.toRange} title="Select its time (r)">
          Select time
        </Button>
        <Button onClick={actions.clear} title="Select no task (Esc)">
          Close
        </Button>
      </div>
      <dl>
        {list
          .filter(([, value]) => value !== "–")
          .map(([name, value]) => (
            <div key={name}>
              <dt class="muted">{name}</dt>
              <dd>{value}</dd>
            </div>
          ))}
      </dl>
    </section>
  );
}

function columnsOf(data: PageData, task: number, isNeed: boolean, title: string): TableColumn[] {
  const tasks = tasksOf(data);
  const time = (id: string, name: string, hint: string, value: (other: number) => number): TableColumn => ({
    id: `${id}_ns`,
    title: name,
    hint,
    isNumber: true,
    width: 84,
    text: (other) => formatTime(value(other)),
    value,
  });
  /* From the end of one to the begin of the other. */
  const between = (other: number) =>
    isNeed ? tasks.start[task]! - tasks.end[other]! : tasks.start[other]! - tasks.end[task]!;

  return [
    {
      id: "key",
      title,
      width: 160,
      isWide: true,
      text: (other) => clean(taskKey(data, other)),
      value: (other) => taskKey(data, other),
    },
    {
      id: "state",
      title: "State",
      width: 80,
      text: (other) => stateOf(tasks, other),
      value: (other) => stateOf(tasks, other),
    },
    time("time", "Time", "Its own", (other) => tasks.end[other]! - tasks.start[other]!),
    time(
      "between",
      isNeed ? "Before" : "After",
      isNeed
        ? "How long before the selected task began it had ended"
        : "How long after the selected task had ended it began",
      between,
    ),
    {
      id: "worker",
      title: "Worker",
      width: 128,
      leaves: 1,
      text: (other) => workerOf(tasks, other, true),
      value: (other) => workerOf(tasks, other),
    },
  ];
}

function Linked(props: {
  data: PageData;
  task: number;
  links: Links;
  isNeed: boolean;
  title: string;
  onShow(task: number): void;
}) {
  const { data, task, links, isNeed, title } = props;
  const columns = useMemo(() => columnsOf(data, task, isNeed, title), [data, task, isNeed, title]);
  const [order, setOrder] = useState<Order>({ column: "between_ns", isDescending: false });
  const rows = useMemo(() => links.to.subarray(links.first[task]!, links.first[task + 1]!), [links, task]);
  const { isActive, test } = matcher.value;
  const count = formatCount(rows.length);

  return (
    <section aria-label={title}>
      <h3>
        <Swatch colour={hexColour(linkColour(colours.value, isNeed))} /> {title}{" "}
        <span class="muted">
          {count} {rows.length === 1 ? "task" : "tasks"}
        </span>
      </h3>
      <VirtualTable
        name={isNeed ? "task-needs" : "task-needed-by"}
        title={data.directory.title}
        label={`${title}: ${count} ${rows.length === 1 ? "task" : "tasks"}`}
        columns={columns}
        rows={rows}
        order={order}
        onOrder={setOrder}
        isMatch={(other) => isActive && test(taskKey(data, other))}
        onChoose={props.onShow}
        empty={isNeed ? "It depends on no other task." : "No other task depends on it."}
      />
    </section>
  );
}
