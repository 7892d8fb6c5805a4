/* Every thread's spans over time. The server makes the picture of the piece that is shown: a recording of any size costs the same. */

import { useSignal } from "@preact/signals";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { Range } from "../../data/work";
import { textOption, setOption } from "../../state/options";
import { matcher } from "../../state/search";
import { type Colours, colours } from "../../state/theme";
import { Canvas, type CanvasPointer } from "../../ui/canvas";
import { categoryColour, shaded } from "../../ui/colour";
import { formatCount, formatTime } from "../../ui/format";
import { Tooltip } from "../../ui/parts";
import { CHAR_WIDTH, type Pen } from "../../ui/pen";
import { clean, fit, fitMiddle } from "../../ui/text";
import { drawBox, type Ink, makeInk } from "../../ui/time/box";
import {
  AXIS,
  drawAxis,
  drawRange,
  drawTicks,
  gutterOf,
  type TimeFrame,
  timeAt,
  xOf,
} from "../../ui/time/frame";
import type { Size } from "../../ui/use";
import { useAnswer, useInSight } from "../ask";
import { clockText } from "../data/clock";
import { layoutTracks, rectAt, type TrackRow } from "../data/tracks";
import type { SpanRect, State, WindowReply } from "../data/types";
import type { Panel, PanelProps } from "../panel";
import { origin, range, scale } from "../state";
import { useLiveTime } from "../time";
import { plural } from "../words";

const EVERY_MS = 1000;
const LANE = 16;
const MOST_TABLE = 2000;
const NO_ROWS =
  "No thread has spans here. Those of trace points in Python belong to no thread: the report shows them";

interface Scene extends TimeFrame {
  rows: TrackRow[];
  names: string[];
  shift: number; // of the recording's start, from the origin
  inkOf(name: number): Ink;
  isMatch: ((name: number) => boolean) | null;
}

interface Hover {
  rect: SpanRect;
  x: number;
  y: number;
}

/* The whole recording, or the piece that is shown, which may reach beyond it. */
function addressOf(recording: number, start: number | undefined, shown: Range, pixels: number): string {
  const shift = start === undefined ? 0 : (start - origin()) * 1e6;
  const from = Math.max(0, Math.floor(shown.from - shift));
  const to = Math.ceil(shown.to - shift);
  const piece = start === undefined || to <= from ? "" : `&from=${from}&to=${to}`;

  return `api/window?recording=${recording}${piece}&pixels=${Math.max(100, Math.min(4000, Math.round(pixels)))}`;
}

function makeInks(names: string[], theme: Colours): (name: number) => Ink {
  const known: Ink[] = [];

  return (name) =>
    (known[name] ??= makeInk(
      shaded(categoryColour(names[name] ?? ""), names[name] ?? ""),
      clean(names[name] ?? "", 120),
      theme,
    ));
}

function drawRects(pen: Pen, scene: Scene, theme: Colours, row: TrackRow): void {
  for (const [depth, name, begin, length, count] of row.rects) {
    const start = begin + scene.shift;
    if (start > scene.range.to || start + length < scene.range.from) continue;
    const x = Math.max(scene.gutter - 2, xOf(scene, start));
    const end = Math.min(scene.width + 2, xOf(scene, start + length));
    drawBox(pen, theme, scene.inkOf(name), {
      x,
      y: AXIS + row.y + 2 + depth * LANE,
      wide: end - x,
      lane: LANE,
      count,
      isSoft: scene.isMatch !== null && !scene.isMatch(name),
      isMatch: false,
      isError: false,
      isCut: false,
      isInGap: false,
    });
  }
}

function draw(pen: Pen, scene: Scene, theme: Colours, drag: Range | null): void {
  const { gutter, width, height } = scene;

  pen.clip(0, AXIS, width, height - AXIS, () => {
    pen.clip(gutter, AXIS, width - gutter, height - AXIS, () => {
      drawTicks(pen, scene, theme);
      for (const row of scene.rows) drawRects(pen, scene, theme, row);
      if (drag) drawRange(pen, scene, theme, drag);
    });
    for (const row of scene.rows) {
      const y = AXIS + row.y;
      pen.rect(0, y, gutter - 1, row.height - 1, theme.surface);
      pen.text(8, y + LANE / 2 + 2, fitMiddle(clean(row.label), gutter - 16, CHAR_WIDTH), theme.text);
      if (row.height >= 2 * LANE)
        pen.text(8, y + LANE * 1.5 + 1, fit(row.note, gutter - 16, 6), theme.muted, { size: 11 });
      pen.rect(gutter - 1, y, 1, row.height, theme.line);
      pen.rect(0, y + row.height - 1, width, 1, theme.raised);
    }
  });
  drawAxis(pen, scene, theme, drag);
}

function tableOf(scene: Scene) {
  const rows = scene.rows.flatMap((row) =>
    row.rects.map(([depth, name, begin, length, count]): (string | number)[] => [
      clean(row.label),
      clean(scene.names[name] ?? ""),
      depth,
      clockText(origin() + (begin + scene.shift) / 1e6, 1e3),
      length / 1e9,
      count,
    ]),
  );

  return {
    columns: ["thread", "span", "depth", "began", "seconds", "count"],
    rows: rows.slice(0, MOST_TABLE),
  };
}

/* Its index: the newest unless the reader wants another, by name, because indices move on when there are many. */
function chosenRecording({ recordings }: State): number {
  const chosen = recordings.findIndex((one) => one.name === textOption("recording"));

  return chosen >= 0 ? chosen : Math.max(0, recordings.length - 1);
}

function Choose({ state, recording }: { state: State; recording: number }) {
  const names = state.recordings.map((one) => one.name);

  if (names.length < 2) return null;
  return (
    <label class="timeline-choose">
      Recording{" "}
      <select
        value={names[recording]}
        onChange={(event) => setOption("recording", event.currentTarget.value, names.at(-1))}
      >
        {names.map((name) => (
          <option key={name} value={name}>
            {clean(name, 60)}
          </option>
        ))}
      </select>
    </label>
  );
}

function Timeline({ state }: PanelProps) {
  const [outer, isSeen] = useInSight<HTMLDivElement>();
  const [size, setSize] = useState<Size>({ width: 0, height: 0 });
  const hover = useSignal<Hover | null>(null);
  const starts = useRef(new Map<string, number>()); // by name, in ms
  const theme = colours.value;
  const now = range.value;
  const recording = chosenRecording(state);
  const name = state.recordings[recording]?.name ?? "";
  const gutter = gutterOf(size.width);
  const { answer, error } = useAnswer<WindowReply>(
    isSeen && size.width > gutter
      ? addressOf(
          recording,
          starts.current.get(name) ?? (recording ? undefined : origin()),
          now,
          size.width - gutter,
        )
      : null,
    state.is_growing ? EVERY_MS : 0,
  );
  const reply = answer && answer.recording === recording ? answer : null;

  useEffect(() => {
    if (reply) starts.current.set(name, reply.start_ms);
  }, [reply]);
  useEffect(() => {
    if (reply) performance.mark("venturi:timeline");
  }, [reply !== null]);
  const { rows, height: high, left } = useMemo(() => layoutTracks(reply, LANE), [reply]);
  const inkOf = useMemo(() => makeInks(reply?.names ?? [], theme), [reply, theme]);
  const { isActive, test } = matcher.value;
  const height = AXIS + Math.max(LANE, high);
  const frame: TimeFrame = { range: now, gutter, width: size.width, height, scale: scale.value };
  const time = useLiveTime(frame);
  const scene: Scene = {
    ...frame,
    rows,
    names: reply?.names ?? [],
    shift: reply ? (reply.start_ms - origin()) * 1e6 : 0,
    inkOf,
    isMatch: isActive ? (name) => test(reply?.names[name] ?? "") : null,
  };
  const paint = useMemo(
    () => (pen: Pen, _size: Size, looks: Colours) => draw(pen, scene, looks, time.drag),
    [rows, now, size.width, height, inkOf, isActive, test, time.drag?.from, time.drag?.to],
  );
  const onPointer = (pointer: CanvasPointer) => {
    time.onPointer(pointer);
    const at = timeAt(frame, pointer.x) - scene.shift;
    const near = ((now.to - now.from) / Math.max(1, size.width - gutter)) * 2;
    const rect =
      pointer.kind === "move" && pointer.x >= gutter && !pointer.isDragged
        ? rectAt(rows, pointer.y - AXIS, at, near, LANE)
        : null;
    hover.value = rect ? { rect, x: pointer.x, y: pointer.y } : null;
  };

  return (
    <div class="timeline-live" ref={outer}>
      <Choose state={state} recording={recording} />
      <div
        class="timeline-frame"
        tabIndex={height > 400 ? 0 : -1}
        role="region"
        aria-label="Threads over time"
      >
        <Canvas
          name="timeline"
          title={state.title}
          label={`Spans of ${plural(rows.length, "thread")} over time`}
          height={height}
          onPointer={onPointer}
          onSize={setSize}
          draw={paint}
          table={() => tableOf(scene)}
        >
          {hover.value && (
            <Tooltip x={hover.value.x} y={hover.value.y} width={size.width} height={height}>
              <HoverText rect={hover.value.rect} names={scene.names} shift={scene.shift} />
            </Tooltip>
          )}
        </Canvas>
      </div>
      <p class="muted note">
        {error
          ? `The picture is not the newest: ${error}`
          : [
              reply ? (rows.length ? "" : NO_ROWS) : "Asking for the picture…",
              left ? `and ${plural(left, "thread")} more` : "",
              reply?.more ? `${formatCount(reply.more)} of the deepest are left out here: come nearer` : "",
            ]
              .filter(Boolean)
              .join("; ")}
      </p>
    </div>
  );
}

function HoverText({ rect, names, shift }: { rect: SpanRect; names: string[]; shift: number }) {
  const [, name, begin, length, count] = rect;

  return (
    <>
      <strong>{clean(names[name] ?? "", 120)}</strong>
      <br />
      {count > 1 ? `${formatCount(count)} together within ` : ""}
      {formatTime(length)} from {clockText(origin() + (begin + shift) / 1e6, 1e3)}
    </>
  );
}

export const timelinePanel: Panel = {
  id: "timeline",
  title: "Timeline",
  question: "What did each thread do, and when?",
  width: "whole",
  missing: (state) => (state.spans.count && state.recordings.length ? null : ""),
  component: Timeline,
};
