/* Figures of tasks by name. */

import { useMemo, useState } from "preact/hooks";
import type { PageData } from "../../data/types";
import type { NameFigure, NameRow } from "../../model/task-sums";
import { tasksOf } from "../../model/tasks";
import { chooseFrame } from "../../state/choose";
import { matcher } from "../../state/search";
import { formatBytes, formatCount, formatShare, formatTime } from "../../ui/format";
import { type Order, type TableColumn, VirtualTable } from "../../ui/table";
import { Swatch } from "../../ui/parts";
import { clean } from "../../ui/text";
import { chosenNames, nameKey } from "./legend";

type Format = (value: number) => string;

function figure(
  rows: NameRow[],
  id: NameFigure,
  title: string,
  hint: string,
  format: Format,
  width = 76,
  leaves = 0,
): TableColumn {
  const isTime = format === formatTime;

  return {
    id: isTime ? `${id}_ns` : id,
    title,
    hint,
    isNumber: true,
    width,
    leaves,
    text: (row) => format(rows[row]![id]),
    value: (row) => rows[row]![id],
  };
}

function columnsOf(data: PageData, rows: NameRow[]): TableColumn[] {
  const { names } = tasksOf(data);
  const most = rows.reduce((largest, row) => Math.max(largest, row.share || 0), 0);
  const time = (id: NameFigure, title: string, hint: string, leaves = 0) =>
    figure(rows, id, title, hint, formatTime, 76, leaves);
  const count = (id: NameFigure, title: string, hint: string, leaves = 0) =>
    figure(rows, id, title, hint, formatCount, 72, leaves);
  const textOf = (row: number) => names[rows[row]!.name]!.text || "(no name)";
  const isInner = (row: number) => rows[row]!.level > 0;
  const columns: TableColumn[] = [
    {
      id: "name",
      title: "Task",
      width: 160,
      isWide: true,
      text: (row) => clean(textOf(row)),
      value: textOf,
      cell: (row) => (
        <>
          <Swatch colour={names[rows[row]!.name]!.colour} /> {clean(textOf(row))}
          {isInner(row) && <span class="muted"> within tasks</span>}
        </>
      ),
    },
    count("count", "Count", "Tasks, also those that never began"),
    time("total", "Total", "All of them together"),
    {
      id: "share",
      title: "Share",
      hint: rows.some((row) => row.level > 0)
        ? "Of the time of all tasks that are not within others; of those that are, of theirs"
        : "Of the time of all tasks",
      isNumber: true,
      width: 76,
      text: (row) => formatShare(rows[row]!.share),
      value: (row) => rows[row]!.share,
      share: (row) => rows[row]!.share / most,
    },
    time("avg", "Avg", "Total by count"),
    time("p50", "p50", "Half of them were not longer", 1),
    time("p90", "p90", "Nine of ten were not longer", 3),
    time("p99", "p99", "99 of 100 were not longer", 5),
    time("max", "Max", "The longest", 2),
    time("wait", "Wait", "From ready to start, on average"),
    time("cpu", "CPU", "Of their threads, all of them together"),
    figure(rows, "bytes", "Bytes", "Of their results", formatBytes),
    count("failed", "Failed", "Failed, took too long, or were lost with their worker"),
    count("retries", "Retries", "Earlier tries", 4),
    figure(rows, "path_tasks", "On path", "How many are on a critical path", formatCount, 84, 6),
  ];
  /* What nobody knows has no column. */
  const isKnown = ({ id, value }: TableColumn) =>
    !["cpu_ns", "bytes", "retries", "failed", "wait_ns"].includes(id) ||
    rows.some((_, row) => Number(value(row)) > 0);

  if (rows.some((row) => row.level > 0))
    columns.push({
      id: "level",
      title: "Within",
      hint: "How many tasks each of them ran within",
      isNumber: true,
      width: 72,
      leaves: 7,
      text: (row) => formatCount(rows[row]!.level),
      value: (row) => rows[row]!.level,
    });
  return columns.filter(isKnown);
}

export function Names({ data, rows }: { data: PageData; rows: NameRow[] }) {
  const { names } = tasksOf(data);
  const columns = useMemo(() => columnsOf(data, rows), [data, rows]);
  const [order, setOrder] = useState<Order>({ column: "total_ns", isDescending: true });
  const all = useMemo(() => rows.map((_, row) => row), [rows]);
  const chosen = chosenNames();
  const { isActive, test } = matcher.value;

  return (
    <VirtualTable
      name="task-names"
      title={data.directory.title}
      label="Tasks by name"
      columns={columns}
      rows={all}
      order={order}
      onOrder={setOrder}
      isSelected={(row) => chosen?.has(names[rows[row]!.name]!.text) ?? false}
      isMatch={(row) => isActive && test(names[rows[row]!.name]!.text)}
      onChoose={(row, isAdded) => {
        const name = names[rows[row]!.name]!;
        chooseFrame(nameKey(name), isAdded || (chosen?.has(name.text) ?? false));
      }}
      empty="No task begins in the selected time."
    />
  );
}
