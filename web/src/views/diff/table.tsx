/* Functions and spans of both runs, what they took before and now, and the difference. */

import { useMemo } from "preact/hooks";
import type { PageData } from "../../data/types";
import {
  changedOf,
  type DiffRow,
  type Match,
  measured,
  type Measure,
  signOf,
  wholes,
} from "../../model/diff";
import { placeOf } from "../../model/frames";
import { chooseFrame } from "../../state/choose";
import { setOption, textOption } from "../../state/options";
import { matcher } from "../../state/search";
import { selection } from "../../state/selection";
import { css, diffColour } from "../../ui/colour";
import { formatChange, formatCount, formatShare, formatTime } from "../../ui/format";
import { type Order, type TableColumn, VirtualTable } from "../../ui/table";
import { clean } from "../../ui/text";
import { timesText } from "./words";

const WORDS: Record<Match, string> = { both: "", gone: "gone", new: "new" };

function numberColumn(
  id: string,
  title: string,
  width: number,
  value: (row: number) => number,
  format: (value: number) => string,
): TableColumn {
  return { id, title, isNumber: true, width, value, text: (row) => format(value(row)) };
}

/* Before, now and the change of one time. What is missing on one side counts as nothing there, except a call. */
function timeColumns(
  rows: readonly DiffRow[],
  time: "self" | "total",
  title: string,
  measure: Measure,
): TableColumn[] {
  const whole = wholes(rows);
  const format = measure === "share" ? formatShare : formatTime;
  const base = (row: number) => measured(rows[row]!.base, time, measure, whole.base);
  const now = (row: number) => measured(rows[row]!.now, time, measure, whole.now);
  const by = (row: number) => now(row) - base(row);
  const signed = (row: number) => {
    if (Number.isNaN(by(row))) return formatTime(NaN);
    const times = base(row) > 0 && now(row) > 0 ? ` (${timesText(base(row), now(row))})` : "";
    return `${signOf(base(row), now(row))} ${formatChange(by(row), format)}${times}`;
  };
  const change = numberColumn(`${time}_change`, `${title} change`, 168, by, format);
  return [
    numberColumn(`base_${time}`, `${title} before`, 104, base, format),
    numberColumn(time, `${title} now`, 92, now, format),
    { ...change, text: signed, hint: "▲ longer than before, ▼ shorter" },
  ];
}

function columnsOf(rows: readonly DiffRow[], measure: Measure): TableColumn[] {
  const calls = (row: number) => rows[row]!.now.calls - rows[row]!.base.calls;
  const whole = wholes(rows);
  const most = rows.reduce((max, row) => Math.max(max, Math.abs(row.now.self - row.base.self)), 0);
  const columns: TableColumn[] = [
    {
      id: "name",
      title: "Function",
      width: 180,
      isWide: true,
      text: (row) => clean(rows[row]!.frame.name),
      value: (row) => rows[row]!.frame.name,
      cell: (row) => (
        <>
          {rows[row]!.match !== "both" && (
            <span class={`badge is-${rows[row]!.match}`}>{WORDS[rows[row]!.match]}</span>
          )}{" "}
          {clean(rows[row]!.frame.name)} <span class="muted">{clean(placeOf(rows[row]!.frame), 120)}</span>
        </>
      ),
    },
    ...timeColumns(rows, "self", "Self", measure),
    ...timeColumns(rows, "total", "Total", measure),
    numberColumn("base_calls", "Calls before", 104, (row) => rows[row]!.base.calls, formatCount),
    numberColumn("calls", "Calls now", 92, (row) => rows[row]!.now.calls, formatCount),
    numberColumn("calls_change", "Calls change", 112, calls, (value) => formatChange(value, formatCount)),
  ];
  const self = columns.find((column) => column.id === "self_change");
  if (self && most > 0 && (whole.base > 0 || whole.now > 0) && measure === "absolute") {
    self.share = (row) => Math.abs(rows[row]!.now.self - rows[row]!.base.self) / most;
    self.shade = (row) => css(diffColour(Math.sign(rows[row]!.now.self - rows[row]!.base.self)));
  }
  return columns;
}

/* Unless told, rows stay as the tool wrote them: the largest change of own time first, whichever way it went. */
function orderOf(columns: readonly TableColumn[], text: string): Order {
  const [id, way] = text.split(" ");
  if (id && columns.some((column) => column.id === id)) return { column: id, isDescending: way !== "up" };
  return { column: "", isDescending: true };
}

interface DiffTableProps {
  data: PageData;
  rows: DiffRow[];
  measure: Measure;
  hasAll: boolean; // also rows without a change
}

export function DiffTable({ data, rows, measure, hasAll }: DiffTableProps) {
  const columns = useMemo(() => columnsOf(rows, measure), [rows, measure]);
  const { isActive, test } = matcher.value;
  const order = orderOf(columns, textOption("diff.sort"));
  const time = order.column.includes("total") ? "total" : "self";
  const shown = useMemo(() => {
    const all = Uint32Array.from(rows, (_, row) => row);
    const isChanged = changedOf(rows, time);
    // What is searched for is found, changed or not.
    if (isActive) return all.filter((row) => test(rows[row]!.frame.name) || test(rows[row]!.frame.file));
    return hasAll ? all : all.filter((row) => isChanged(rows[row]!));
  }, [rows, matcher.value, hasAll, time]);

  return (
    <VirtualTable
      name="diff"
      title={data.directory.title}
      label="Functions and spans of both runs"
      columns={columns}
      rows={shown}
      order={order}
      onOrder={({ column, isDescending }) =>
        setOption("diff.sort", `${column} ${isDescending ? "down" : "up"}`)
      }
      isSelected={(row) => selection.value.frames.includes(rows[row]!.frame.key)}
      onChoose={(row, isAdded) => chooseFrame(rows[row]!.frame.key, isAdded)}
      empty={
        isActive
          ? "Nothing matches the search."
          : rows.length > 0
            ? "Nothing changed: calls are the same, times within 0.1 % of the run."
            : "The two runs have no functions and no spans."
      }
    />
  );
}
