/* All traces of the page, one a row. */

import { useMemo } from "preact/hooks";
import { column, type PageData } from "../../data/types";
import { detailOf, traceBase, traceName, traceTables } from "../../model/traces";
import { setOption, textOption } from "../../state/options";
import { matcher } from "../../state/search";
import { selection } from "../../state/selection";
import { formatCount, formatInstant, formatTime } from "../../ui/format";
import { type Order, type TableColumn, VirtualTable } from "../../ui/table";
import { clean } from "../../ui/text";
import { ORDER, showTrace } from "./address";

const USUAL = "begin";

function columnsOf(data: PageData): TableColumn[] {
  const number = (name: string) => column(data, "traces", name);
  const textOf = (row: number) =>
    `${traceName(data, row)} ${detailOf(data, traceTables(data).firsts[row]!)}`.trim();
  const longest = Array.from(number("duration")).reduce((most, one) => Math.max(most, one), 1);
  const count = (id: string, title: string, width: number): TableColumn => ({
    id,
    title,
    isNumber: true,
    width,
    text: (row) => formatCount(number(id)[row]!),
    value: (row) => number(id)[row]!,
  });

  return [
    {
      id: "name",
      title: "First span",
      width: 200,
      isWide: true,
      text: (row) => clean(textOf(row) || "(none of its spans is here)"),
      value: textOf,
    },
    {
      id: "base",
      title: "Trace",
      hint: "Its base id",
      width: 280,
      text: (row) => clean(traceBase(data, row)),
      value: (row) => traceBase(data, row),
      cell: (row) => <code>{clean(traceBase(data, row))}</code>,
    },
    {
      id: "begin",
      title: "Began",
      width: 192,
      text: (row) => formatInstant(number("begin")[row]!).slice(0, 23),
      value: (row) => number("begin")[row]!,
    },
    {
      id: "duration",
      title: "Duration",
      isNumber: true,
      width: 112,
      text: (row) => formatTime(number("duration")[row]!),
      value: (row) => number("duration")[row]!,
      share: (row) => number("duration")[row]! / longest,
    },
    count("spans", "Spans", 80),
    {
      ...count("errors", "Errors", 80),
      cell: (row) =>
        number("errors")[row]! > 0 ? (
          <span class="trace-failed">✕ {formatCount(number("errors")[row]!)}</span>
        ) : (
          "0"
        ),
    },
    count("services", "Services", 80),
    count("hosts", "Hosts", 72),
  ];
}

function readOrder(): Order {
  const [name = USUAL, direction] = (textOption(ORDER) || USUAL).split("~");
  return { column: name, isDescending: direction === "down" };
}

export function TraceList({ data }: { data: PageData }) {
  const columns = useMemo(() => columnsOf(data), [data]);
  const { range } = selection.value;
  const now = matcher.value;
  const rows = useMemo(() => {
    const offset = column(data, "traces", "offset");
    const duration = column(data, "traces", "duration");
    const all = Array.from(offset, (_, i) => i);
    return range ? all.filter((i) => offset[i]! < range.to && offset[i]! + duration[i]! >= range.from) : all;
  }, [data, range]);
  const isMatch = (row: number) =>
    now.isActive && (now.test(traceName(data, row)) || now.test(traceBase(data, row)));

  return (
    <VirtualTable
      name="traces"
      title={data.directory.title}
      label="Traces"
      columns={columns}
      rows={rows}
      order={readOrder()}
      onOrder={(order) => setOption(ORDER, `${order.column}${order.isDescending ? "~down" : ""}`, USUAL)}
      isMatch={isMatch}
      onChoose={(row) => showTrace(data, row)}
      isMain
      empty="The selected time leaves no trace."
    />
  );
}
