/* What a trace is, in a line, and what can be done with its picture. */

import { column, type PageData } from "../../data/types";
import { attributesOf, detailOf, spanId, traceBase, traceName } from "../../model/traces";
import { selection } from "../../state/selection";
import { say } from "../../state/status";
import { SaveBar, type TextTable } from "../../ui/canvas";
import { formatCount, formatInstant, formatTime } from "../../ui/format";
import { Button, Gap, WholeRun } from "../../ui/parts";
import { clean } from "../../ui/text";
import { showTrace } from "./address";
import { AXIS, drawPicture, ROW, type Scene } from "./draw";

export interface HeadProps {
  data: PageData;
  trace: number;
  scene: Scene;
  hasList: boolean;
  hasPath: boolean;
  time: { left: number; width: number }; // where the bars lie
  inSight: { first: number; count: number }; // rows
  onPath(): void;
  onOpen(how: "all" | "none"): void;
  onError(direction: 1 | -1): void;
}

function countOf(count: number, one: string): string {
  return `${formatCount(count)} ${one}${count === 1 ? "" : "s"}`;
}

export function Head(props: HeadProps) {
  const { data, trace, scene } = props;
  const number = (name: string) => column(data, "traces", name)[trace] ?? 0;
  const base = traceBase(data, trace);
  const detail = clean(detailOf(data, scene.spans.first), 120);
  const notes = [
    number("unfinished") > 0 && `${formatCount(number("unfinished"))} not ended`,
    number("orphans") > 0 && `${formatCount(number("orphans"))} without their parent`,
  ].filter(Boolean);
  const copy = () =>
    navigator.clipboard?.writeText(base).then(
      () => say(`Copied: ${base}`),
      () => say("This browser does not let the page copy."),
    );

  return (
    <div class="toolbar traces-head">
      {props.hasList && (
        <Button onClick={() => showTrace(data, null)} title="The list of traces (u)">
          ‹ All traces
        </Button>
      )}
      <div class="traces-title">
        <h2>
          {clean(traceName(data, trace), 120) || "A trace"} {detail && <span>{detail}</span>}{" "}
          <span>{formatTime(number("duration"))}</span>
        </h2>
        <p class="muted">
          <code>{clean(base)}</code>{" "}
          <button type="button" class="link" onClick={copy} aria-label="Copy the trace's id">
            copy
          </button>
          {` · ${formatInstant(number("begin")).slice(0, 23)} · `}
          {[
            countOf(number("spans"), "span"),
            countOf(number("services"), "service"),
            countOf(number("hosts"), "host"),
            ...notes,
          ].join(" · ")}
        </p>
      </div>
      {number("errors") > 0 && (
        <button
          type="button"
          class="button trace-failed"
          title="To the next span that failed (e)"
          onClick={() => props.onError(1)}
        >
          ✕ {countOf(number("errors"), "error")}
        </button>
      )}
      <Gap />
      {selection.value.tracks && (
        <WholeRun hint="Spans of traces are not narrowed by the selected threads: they go from one to another." />
      )}
      <Button
        onClick={props.onPath}
        isPressed={props.hasPath}
        title="Emphasise the spans that the trace had to wait for (p)"
      >
        Critical path
      </Button>
      <Button onClick={() => props.onOpen("all")} title="Open every span (+)">
        Open all
      </Button>
      <Button onClick={() => props.onOpen("none")} title="Close every span (-)">
        Close all
      </Button>
      <Save {...props} />
    </div>
  );
}

/* The rows in sight as a picture; all that are open as a table. */
function Save({ data, trace, scene, time, inSight }: HeadProps) {
  const last = Math.min(scene.rows.length, inSight.first + inSight.count);
  const first = Math.min(inSight.first, last);

  return (
    <SaveBar
      picture={{
        name: "trace",
        title: `${data.directory.title}-${traceBase(data, trace).slice(0, 8)}`,
        label: `Spans of trace ${traceBase(data, trace)}`,
        draw: (pen, size, colours) => drawPicture(pen, scene, size, time.left, first, last, colours),
        table: () => tableOf(data, scene),
      }}
      size={() => ({ width: time.left + time.width, height: AXIS + (last - first) * ROW })}
    />
  );
}

const COLUMNS = [
  "depth",
  "name",
  "service",
  "host",
  "pid",
  "thread",
  "begin ns",
  "duration ns",
  "self ns",
  "error",
  "message",
  "span id",
  "attributes",
];

function tableOf(data: PageData, { rows, spans, services }: Scene): TextTable {
  const text = (name: string, row: number) => data.strings[column(data, "trace_spans", name)[row] ?? 0] ?? "";
  const process = column(data, "trace_spans", "process");
  const host = column(data, "trace_processes", "host");
  const pid = column(data, "trace_processes", "pid");

  return {
    columns: COLUMNS,
    rows: Array.from(rows, (span) => {
      const row = spans.first + span;
      return [
        spans.depth[span]!,
        text("name", row),
        services[spans.service[span]!]?.name ?? "",
        data.strings[host[process[row]!] ?? 0] ?? "",
        pid[process[row]!] ?? 0,
        text("thread", row),
        spans.start[span]!,
        spans.length[span]!,
        spans.self[span]!,
        text("error_type", row),
        text("error_message", row),
        spanId(data, row),
        attributesOf(data, row)
          .map(({ key, value }) => `${key}=${value}`)
          .join("; "),
      ];
    }),
  };
}
