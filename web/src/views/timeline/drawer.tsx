/* What is known about the span that was chosen. */

import type { PageData } from "../../data/types";
import { column } from "../../data/types";
import type { SpanReply } from "../../data/work";
import { frames } from "../../model/frames";
import { formatCount, formatTime } from "../../ui/format";
import { Button } from "../../ui/parts";
import { clean, cleanLines, place } from "../../ui/text";
import { trackName } from "../../ui/threads";

const FLAGS: [number, string][] = [
  [1, "it had not ended when the recording did"],
  [2, "it ended with an error"],
  [4, "it was left by a jump"],
  [8, "events around it were lost"],
];

/* The error that was noted inside the span, on its thread: the first one. */
function errorIn(data: PageData, span: SpanReply): string {
  const time = column(data, "errors", "time");
  const track = column(data, "errors", "track");
  const text = (name: string, i: number) => data.strings[column(data, "errors", name)[i] ?? 0] ?? "";

  for (let i = 0; i < time.length; i++)
    if (track[i] === span.track && time[i]! >= span.start && time[i]! <= span.start + span.duration)
      return [text("type", i), text("message", i)].filter(Boolean).join(": ");
  return "";
}

/* Numbers of all spans of the same name, as the tool made them. */
function sameName(data: PageData, site: number): string {
  const row = column(data, "span_stats", "site").indexOf(site as never);
  const value = (name: string) => column(data, "span_stats", name)[row] ?? NaN;

  if (row < 0) return "";
  return `${formatCount(value("count"))} of this name: ${formatTime(value("total"))} in all, half within ${formatTime(value("p50"))}, 99 % within ${formatTime(value("p99"))}, at most ${formatTime(value("max"))}`;
}

export function Drawer(props: {
  data: PageData;
  span: SpanReply;
  onZoom(): void;
  onRange(): void;
  onNext(direction: 1 | -1): void;
  onClose(): void;
}) {
  const { data, span } = props;
  const all = frames(data);
  const frame = all.list[all.siteBase + span.site];
  const notes = FLAGS.filter(([flag]) => span.flags & flag).map(([, text]) => text);
  const error = span.flags & 2 ? errorIn(data, span) : "";
  const same = sameName(data, span.site);

  return (
    <section class="drawer" aria-label="The selected span">
      <div class="drawer-head">
        <h2>{clean(frame?.name ?? "(no name)", 160)}</h2>
        <span class="muted">{frame && place(frame.file, frame.line, 64)}</span>
        <span class="gap" />
        <Button onClick={() => props.onNext(-1)} title="The one of this name before (,)">
          ‹ Previous
        </Button>
        <Button onClick={() => props.onNext(1)} title="The next one of this name (.)">
          Next ›
        </Button>
        <Button onClick={props.onZoom} title="Show it as wide as it goes (f)">
          Zoom
        </Button>
        <Button onClick={props.onRange} title="Select its time (r)">
          Select time
        </Button>
        <Button onClick={props.onClose} title="Close (Esc)">
          Close
        </Button>
      </div>
      <dl>
        <Fact name="Duration">{formatTime(span.total)}</Fact>
        <Fact name="Self">{formatTime(span.self)}</Fact>
        <Fact name="Begins">{formatTime(span.start)}</Fact>
        <Fact name="Ends">{formatTime(span.start + span.duration)}</Fact>
        <Fact name="Thread">{trackName(data.recording, span.track)}</Fact>
        <Fact name="Depth">{formatCount(span.depth)}</Fact>
      </dl>
      {notes.length > 0 && (
        <p class={span.flags & 2 ? "drawer-error" : "muted"}>
          Note: {notes.join("; ")}. <span class="lines">{cleanLines(error, 2000)}</span>
        </p>
      )}
      {same && <p class="muted">{same}.</p>}
    </section>
  );
}

function Fact({ name, children }: { name: string; children: string }) {
  return (
    <div>
      <dt class="muted">{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}
