/* Everything that is known about the chosen span. */

import type { ComponentChildren } from "preact";
import { column, type PageData } from "../../data/types";
import { frames } from "../../model/frames";
import {
  attributesOf,
  FAILED,
  ORPHAN,
  type Service,
  spanId,
  traceBase,
  type TraceSpans,
  UNFINISHED,
} from "../../model/traces";
import { chooseFrame, chooseRange, showView } from "../../state/choose";
import { say } from "../../state/status";
import { formatChange, formatCount, formatInstant, formatShare, formatTime } from "../../ui/format";
import { Button, Gap } from "../../ui/parts";
import { clean, cleanLines, lastPart } from "../../ui/text";
import { SpanFlame } from "./flame";

const LONGEST_VALUE = 4000;

export interface DetailsProps {
  data: PageData;
  trace: number;
  spans: TraceSpans;
  services: Service[];
  span: number;
  onGo(span: number): void;
  onZoom(): void;
  onClose(): void;
}

function copy(text: string): void {
  navigator.clipboard?.writeText(text).then(
    () => say(`Copied: ${clean(text, 80)}`),
    () => say("This browser does not let the page copy."),
  );
}

/* The rows below scroll with the same keys that walk through the waterfall. */
function keepScrollKeys(event: KeyboardEvent): void {
  if (/^(Arrow|Page|Home|End)/.test(event.key)) event.stopPropagation();
}

export function Details(props: DetailsProps) {
  const { data, spans, span } = props;
  const row = spans.first + span;
  const text = (name: string) => data.strings[column(data, "trace_spans", name)[row] ?? 0] ?? "";
  const flags = spans.flags[span]!;
  const name = clean(text("name"), 200) || "(no name)";

  return (
    <section class="trace-details" aria-label="The selected span" onKeyDown={keepScrollKeys}>
      <div class="trace-details-head">
        <h2>{name}</h2>
        <Gap />
        <Actions {...props} />
      </div>
      <div class="trace-details-body">
        <div class="trace-details-facts" tabIndex={0} role="region" aria-label="Facts">
          {(flags & FAILED) !== 0 && (
            <p class="trace-error">
              <strong>✕ {clean(text("error_type"), 200) || "It failed"}</strong>{" "}
              <span class="lines">{cleanLines(text("error_message"), LONGEST_VALUE)}</span>
            </p>
          )}
          {(flags & UNFINISHED) !== 0 && (
            <p class="muted">It has not ended: the program was still at it, or was stopped.</p>
          )}
          <Facts {...props} />
          <Attributes data={data} row={row} />
          <Ids {...props} />
        </div>
        <div class="trace-details-flame">
          <SpanFlame
            data={data}
            spans={spans}
            span={span}
            colours={props.services.map((service) => service.colour)}
          />
        </div>
      </div>
    </section>
  );
}

/* The name in other views, if they know it. */
function keyOfName(data: PageData, name: string): string | null {
  return frames(data).list.find((frame) => frame.language === "span" && frame.name === name)?.key ?? null;
}

function Actions(props: DetailsProps) {
  const { data, trace, spans, span } = props;
  const parent = spans.parent[span]!;
  const key = keyOfName(data, data.strings[spans.name[span]!] ?? "");
  const showInTimeline = () => {
    const from = (column(data, "traces", "offset")[trace] ?? 0) + spans.start[span]!;
    chooseRange({ from, to: from + Math.max(1, spans.length[span]!) });
    if (key) chooseFrame(key);
    showView("timeline");
  };

  return (
    <div class="buttons">
      {parent >= 0 && (
        <Button onClick={() => props.onGo(parent)} title="The span around it">
          Parent
        </Button>
      )}
      <Button onClick={props.onZoom} title="Show it as wide as it goes (f)">
        Zoom
      </Button>
      {key && (
        <Button onClick={showInTimeline} title="Select its name and its time, and go to the timeline">
          Timeline
        </Button>
      )}
      <Button onClick={props.onClose} title="Close (Esc)">
        Close
      </Button>
    </div>
  );
}

function Facts({ data, trace, spans, span }: DetailsProps) {
  const row = spans.first + span;
  const process = column(data, "trace_spans", "process")[row] ?? 0;
  const ofProcess = (name: string) => column(data, "trace_processes", name)[process] ?? 0;
  const textOf = (name: string) => clean(data.strings[ofProcess(name)] ?? "", 200);
  const thread = data.strings[column(data, "trace_spans", "thread")[row] ?? 0] ?? "";
  const begin = (column(data, "traces", "begin")[trace] ?? 0) + spans.start[span]! / 1000;
  const skew = ofProcess("skew");
  const length = spans.length[span]!;
  const below = spans.end[span]! - span - 1;

  return (
    <dl class="trace-facts">
      <Fact name="Duration" hint={`${formatCount(length)} ns`}>
        {formatTime(length)}
        <span class="muted"> {formatShare(length / (spans.duration || 1))} of the trace</span>
      </Fact>
      <Fact name="Self" hint={`${formatCount(spans.self[span]!)} ns`}>
        {formatTime(spans.self[span]!)}
        <span class="muted"> {formatShare(spans.self[span]! / (length || 1))} of it</span>
      </Fact>
      <Fact name="Begins" hint={formatInstant(begin)}>
        +{formatTime(spans.start[span]!)} <span class="muted">{formatInstant(begin).slice(11)}</span>
      </Fact>
      <Fact name="Service">{[textOf("service"), textOf("project")].filter(Boolean).join(" · ") || "–"}</Fact>
      <Fact name="Host">{textOf("host") || "–"}</Fact>
      <Fact name="Process">
        {String(ofProcess("pid"))}
        {thread && <span class="muted"> thread {clean(thread, 80)}</span>}
      </Fact>
      {below > 0 && <Fact name="Spans inside">{formatCount(below)}</Fact>}
      {skew !== 0 && (
        <Fact name="Clock" hint="So that spans do not begin before their parents in other services">
          moved by {formatChange(skew, formatTime)}
        </Fact>
      )}
      {textOf("file") && <Fact name="File">{lastPart(textOf("file"))}</Fact>}
    </dl>
  );
}

function Ids({ data, trace, spans, span }: DetailsProps) {
  const row = spans.first + span;
  const parent = spans.parent[span]!;
  const missing = data.strings[column(data, "trace_spans", "parent_id")[row] ?? 0] ?? "";

  return (
    <dl class="trace-facts trace-ids">
      <IdFact name="Span id" id={spanId(data, row)} />
      {(parent >= 0 || missing) && (
        <IdFact
          name={(spans.flags[span]! & ORPHAN) !== 0 ? "Parent id (in none of the files)" : "Parent id"}
          id={parent >= 0 ? spanId(data, spans.first + parent) : missing}
        />
      )}
      <IdFact name="Trace id" id={traceBase(data, trace)} />
    </dl>
  );
}

function Fact({ name, hint, children }: { name: string; hint?: string; children: ComponentChildren }) {
  return (
    <div title={hint}>
      <dt class="muted">{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

function IdFact({ name, id }: { name: string; id: string }) {
  return (
    <Fact name={name}>
      <code>{clean(id, 60)}</code>{" "}
      <button type="button" class="link" onClick={() => copy(id)} aria-label={`Copy ${name}`}>
        copy
      </button>
    </Fact>
  );
}

function Attributes({ data, row }: { data: PageData; row: number }) {
  const list = attributesOf(data, row);

  if (list.length === 0) return null;
  return (
    <table class="trace-attributes">
      <caption>Attributes</caption>
      <thead>
        <tr>
          <th scope="col">Key</th>
          <th scope="col">Value</th>
          <th scope="col">Said</th>
        </tr>
      </thead>
      <tbody>
        {list.map((one, i) => (
          <tr key={i}>
            <th scope="row">{clean(one.key, 200)}</th>
            <td>
              <code class="lines">{cleanLines(one.value, LONGEST_VALUE)}</code>
            </td>
            <td class="muted">{one.isOfBegin ? "at the begin" : "later"}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
