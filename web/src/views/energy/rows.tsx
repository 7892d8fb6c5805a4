/* What joules went to: functions, lines, spans, tasks or processes. */

import { useMemo, useState } from "preact/hooks";
import type { PageData } from "../../data/types";
import type { By, EnergyRow } from "../../model/energy";
import { matcher } from "../../state/search";
import { formatCount, formatShare, formatTime, formatUnit } from "../../ui/format";
import { type Order, type TableColumn, VirtualTable } from "../../ui/table";
import { clean, place } from "../../ui/text";

const NS = 1e9;
const MOST_PATH = 22; // letters, so that the line behind it is not cut

function nameOf(row: EnergyRow, by: By): string {
  if (row.isElsewhere) return by === "process" ? "(not seen by process)" : "(none open, or not seen)";
  const name = row.name || "(no name)";
  return by === "line" && row.line ? `${name}:${row.line}` : name;
}

function placeOf(row: EnergyRow): string {
  return row.file && row.line ? `${row.file}:${row.line}` : row.file;
}

/* The end of a path and the line are what tells one from another. */
function Place({ row }: { row: EnergyRow }) {
  return <span title={clean(placeOf(row))}>{place(row.file, row.line, MOST_PATH)}</span>;
}

function columnsOf(rows: EnergyRow[], by: By): TableColumn[] {
  const most = rows.reduce((largest, row) => Math.max(largest, row.share || 0), 0);
  const joules = (
    id: "self" | "total" | "dynamic",
    title: string,
    hint: string,
    leaves = 0,
  ): TableColumn => ({
    id: `${id}_j`,
    title,
    hint,
    isNumber: true,
    width: 88,
    leaves,
    text: (row) => formatUnit(rows[row]![id], "J"),
    value: (row) => rows[row]![id],
  });
  const columns: TableColumn[] = [
    {
      id: "name",
      title: by[0]!.toUpperCase() + by.slice(1),
      width: 160,
      isWide: true,
      text: (row) => clean(nameOf(rows[row]!, by)),
      value: (row) => nameOf(rows[row]!, by),
    },
    joules("self", "Self", "While it was the innermost that was open"),
    {
      id: "share",
      title: "Share",
      hint: "Of all rows together",
      isNumber: true,
      width: 80,
      text: (row) => formatShare(rows[row]!.share),
      value: (row) => rows[row]!.share,
      share: (row) => rows[row]!.share / most,
    },
    joules("total", "Total", "With what it called, once where it calls itself", 1),
    joules("dynamic", "Dynamic", "Self, without what the machine uses at rest", 2),
    {
      id: "cpu_ns",
      title: "CPU time",
      hint: "That the joules were given for",
      isNumber: true,
      width: 88,
      leaves: 3,
      text: (row) => formatTime(rows[row]!.cpu * NS),
      value: (row) => rows[row]!.cpu * NS,
    },
    {
      id: "seen",
      title: "Seen",
      hint: "How often it was met as the innermost: few are a rough figure",
      isNumber: true,
      width: 72,
      leaves: 5,
      text: (row) => formatCount(rows[row]!.seen),
      value: (row) => rows[row]!.seen,
    },
    {
      id: "place",
      title: "Where",
      width: 232,
      leaves: 4,
      text: (row) => clean(placeOf(rows[row]!)),
      value: (row) => placeOf(rows[row]!),
      cell: (row) => <Place row={rows[row]!} />,
    },
  ];

  return rows.some((row) => row.file) ? columns : columns.filter(({ id }) => id !== "place");
}

export function Rows({ data, by, rows }: { data: PageData; by: By; rows: EnergyRow[] }) {
  const columns = useMemo(() => columnsOf(rows, by), [rows, by]);
  const all = useMemo(() => rows.map((_, row) => row), [rows]);
  const [order, setOrder] = useState<Order>({ column: "self_j", isDescending: true });
  const { isActive, test } = matcher.value;

  return (
    <VirtualTable
      name={`energy-${by}`}
      title={data.directory.title}
      label="Joules"
      columns={columns}
      rows={all}
      order={order}
      onOrder={setOrder}
      isMatch={(row) => isActive && test(rows[row]!.name)}
      isLast={(row) => rows[row]!.isElsewhere}
      empty="Nothing was seen."
      isMain
    />
  );
}
