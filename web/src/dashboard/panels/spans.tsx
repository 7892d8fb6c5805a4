/* Spans by name: how often, how long, how many fail, how many are open now. */

import { useMemo } from "preact/hooks";
import { formatCount, formatTime } from "../../ui/format";
import type { TableColumn } from "../../ui/table";
import { clean, place } from "../../ui/text";
import type { SpanState } from "../data/types";
import { columnMaker, LiveTable } from "../live-table";
import type { Panel, PanelProps } from "../panel";
import { formatCores, formatMany, formatRate } from "../words";

/* Of those that ended lately; if there were none, of all. */
const recent = (now: number, all: number) => (now > 0 ? now : all);

function columnsOf(list: SpanState[]): TableColumn[] {
  const { word, number } = columnMaker(list);
  const most = Math.max(...list.map((span) => span.sum_ns), 1);
  const time = (value: (span: SpanState) => number) => (span: SpanState) => (span.count ? value(span) : null);
  const p50 = time((span) => recent(span.recent_p50_ns, span.p50_ns));
  const p99 = time((span) => recent(span.recent_p99_ns, span.p99_ns));
  const share = (span: SpanState) => span.sum_ns / most;

  return [
    word("name", "Span", (span) => clean(span.name, 200) || "(no name)", { width: 110, isWide: true }),
    number("per_s", "Rate", "Ended in the last second", (span) => span.per_s, formatRate),
    number("running", "Running", "Open now", (span) => span.running, formatCount, { leaves: 4 }),
    number("busy", "Busy", "Threads inside of it, over the last second", (span) => span.busy, formatCores, {
      leaves: 6,
    }),
    number("p50_ns", "p50", "Half of those of the last minute were not longer", p50, formatTime, {
      leaves: 2,
    }),
    number("p99_ns", "p99", "99 of 100 of the last minute were not longer", p99, formatTime),
    number(
      "p90_ns",
      "p90, all",
      "Nine of ten were not longer, since the beginning",
      time((span) => span.p90_ns),
      formatTime,
      { leaves: 8 },
    ),
    number(
      "max_ns",
      "Max",
      "The longest since the beginning",
      time((span) => span.max_ns),
      formatTime,
      { leaves: 7 },
    ),
    number("count", "Count", "Ended since the beginning", (span) => span.count, formatMany, { leaves: 5 }),
    number("errors", "Errors", "That failed", (span) => span.errors, formatMany, { leaves: 1 }),
    number(
      "sum_ns",
      "Total",
      "Time inside of it, of all threads together",
      (span) => span.sum_ns,
      formatTime,
      { leaves: 3, share },
    ),
    word("place", "Place", (span) => place(span.file, span.line, 32), { width: 180, leaves: 9 }),
  ];
}

function Spans({ state }: PanelProps) {
  const { list, more } = state.spans;
  const columns = useMemo(() => columnsOf(list), [list]);

  return (
    <LiveTable
      name="spans"
      title={state.title}
      label="Spans by name"
      columns={columns}
      count={list.length}
      more={more}
      order={{ column: "sum_ns", isDescending: true }}
      textOf={(row) => list[row]!.name}
    />
  );
}

export const spansPanel: Panel = {
  id: "spans",
  title: "Spans",
  question: "Which trace points are hit, how often, how long, how many fail?",
  width: "whole",
  missing: (state) =>
    state.spans.count
      ? null
      : "No spans: they come from trace points (`VT_SPAN` in C, `@trace` in Python), and from every call with `venturi run --timeline`.",
  component: Spans,
};
