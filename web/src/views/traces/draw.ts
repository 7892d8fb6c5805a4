/* Draws a waterfall: bars, the axis above them, and for files the names beside them. */

import { CRITICAL, FAILED, type Service, type TraceSpans, UNFINISHED } from "../../model/traces";
import { barOf, selfParts } from "../../model/waterfall";
import type { Window } from "../../model/zoom";
import type { Colours } from "../../state/theme";
import { LABEL_SIZE, type Tick, tickLabels } from "../../ui/axis";
import { css, hexColour, mix, type Rgb } from "../../ui/colour";
import { formatTick, formatTime, tickStep } from "../../ui/format";
import { CHAR_WIDTH, type Pen } from "../../ui/pen";
import { clean, fit } from "../../ui/text";
import type { Size } from "../../ui/use";

export const ROW = 24;
export const AXIS = 28;
export const INDENT = 14;
export const MOST_INDENTS = 16;

/* Free at the right, for what stands beside a bar that ends there. */
export const GUTTER = 16;

const BAR = 12;
const BAR_TOP = 5;
const NARROWEST = 2;
const TICK_WIDTH = 96;
const NUMBER_WIDTH = 80;

export interface Scene {
  strings: string[];
  spans: TraceSpans;
  services: Service[];
  rows: Uint32Array; // spans in sight
  window: Window;
  hasPath: boolean; // the critical path is emphasised
  matches: Uint8Array | null; // null: nobody searches
}

function ticks(scene: Scene, width: number): Tick[] {
  const { window, spans } = scene;
  const whole = spans.duration || 1;
  const from = window.from * whole;
  const length = (window.to - window.from) * whole;
  const step = tickStep(length, Math.max(2, width / TICK_WIDTH));
  const list = [];

  for (let at = Math.ceil(from / step) * step; at <= from + length; at += step)
    list.push({ x: ((at - from) / length) * width, text: formatTick(at, step) });
  return list;
}

export function drawAxis(pen: Pen, scene: Scene, width: number, colours: Colours): void {
  pen.rect(0, 0, width, AXIS, colours.raised);
  const list = ticks(scene, width - GUTTER);
  for (const { x } of list) pen.rect(Math.round(x), AXIS - 8, 1, 8, colours.muted);
  for (const { x, text, align } of tickLabels(list, 0, width))
    pen.text(x, AXIS / 2, text, colours.muted, { size: LABEL_SIZE, align });
}

interface Fills {
  strong: string; // own time
  pale: string; // time in children
}

/* Those that are not meant are paler: off the critical path, or not what is searched for. */
function painter(scene: Scene, colours: Colours): (span: number) => Fills {
  const surface = hexColour(colours.surface);
  const known = new Map<string, Fills>();
  const make = (colour: Rgb, fade: number): Fills => ({
    strong: css(mix(colour, surface, fade)),
    pale: css(mix(mix(colour, surface, colours.isDark ? 0.5 : 0.55), surface, fade)),
  });

  return (span) => {
    const { spans, matches } = scene;
    const isFound = !matches || matches[span] === 1;
    const isOnPath = !scene.hasPath || (spans.flags[span]! & CRITICAL) !== 0;
    const fade = !isFound ? 0.7 : isOnPath ? 0 : 0.3;
    const key = `${spans.service[span]} ${fade}`;
    let fills = known.get(key);
    if (!fills)
      known.set(key, (fills = make(scene.services[spans.service[span]!]?.colour ?? [128, 128, 128], fade)));
    return fills;
  };
}

/* A cross, for errors: fonts differ. */
function drawCross(pen: Pen, x: number, y: number, colour: string): void {
  pen.line([x - 3.5, y - 3.5, x + 3.5, y + 3.5], colour, 2);
  pen.line([x - 3.5, y + 3.5, x + 3.5, y - 3.5], colour, 2);
}

function drawBar(
  pen: Pen,
  scene: Scene,
  span: number,
  y: number,
  width: number,
  fills: Fills,
  colours: Colours,
) {
  const { spans, window } = scene;
  const bar = barOf(spans, span, window);
  const whole = (spans.duration || 1) * (window.to - window.from);
  const zero = window.from * (spans.duration || 1);
  const from = Math.max(-4, bar.from * width);
  const to = Math.min(width, Math.max(bar.to * width, bar.from * width + NARROWEST));
  const middle = y + BAR_TOP + BAR / 2;
  const flags = spans.flags[span]!;

  if (to < 0 || from > width) {
    const x = to < 0 ? 4 : width - 4;
    const tip = to < 0 ? -4 : 4;
    pen.area([x - tip, middle - 4, x, middle, x - tip, middle + 4], colours.muted);
    return;
  }
  pen.rect(from, y + BAR_TOP, to - from, BAR, fills.pale);
  if (to - from <= 2 * NARROWEST) pen.rect(from, y + BAR_TOP, to - from, BAR, fills.strong);
  else {
    const parts = selfParts(spans, span, (0.5 * whole) / width);
    for (let i = 0; i < parts.length; i += 2) {
      const left = Math.max(from, ((parts[i]! - zero) / whole) * width);
      const right = Math.min(to, ((parts[i + 1]! - zero) / whole) * width);
      if (right > left) pen.rect(left, y + BAR_TOP, right - left, BAR, fills.strong);
    }
  }
  if (flags & UNFINISHED) pen.hatch(from, y + BAR_TOP, to - from, BAR, colours.surface);
  if (scene.hasPath && flags & CRITICAL) pen.rect(from, y + BAR_TOP + BAR + 1, to - from, 2, colours.text);
  if (flags & FAILED) {
    pen.outline(from, y + BAR_TOP, to - from, BAR, colours.error, 1.5);
    drawCross(pen, to + 8, middle, colours.error);
  }
}

/* Rows `first` to `last` (behind it), from the top. */
export function drawBars(
  pen: Pen,
  scene: Scene,
  first: number,
  last: number,
  width: number,
  colours: Colours,
): void {
  const fillsOf = painter(scene, colours);
  const room = width - GUTTER;

  for (const { x } of ticks(scene, room)) pen.rect(Math.round(x), 0, 1, (last - first) * ROW, colours.raised);
  for (let row = first; row < last; row++) {
    const span = scene.rows[row]!;
    drawBar(pen, scene, span, (row - first) * ROW, room, fillsOf(span), colours);
  }
}

/* All of it, for a file: names and times on the left as wide as `left`, bars beside them. */
export function drawPicture(
  pen: Pen,
  scene: Scene,
  size: Size,
  left: number,
  first: number,
  last: number,
  colours: Colours,
): void {
  const { spans, strings, services } = scene;
  const names = left - NUMBER_WIDTH;
  const at = (x: number, y: number): Pen => movedPen(pen, x, y);

  pen.rect(0, 0, size.width, AXIS, colours.raised);
  pen.text(12, AXIS / 2, "Span", colours.text, { isBold: true });
  pen.text(left - 12, AXIS / 2, "Duration", colours.text, { isBold: true, align: "right" });
  drawAxis(at(left, 0), scene, size.width - left, colours);
  for (let row = first; row < last; row++) {
    const span = scene.rows[row]!;
    const middle = AXIS + (row - first) * ROW + ROW / 2;
    const x = 12 + Math.min(spans.depth[span]!, MOST_INDENTS) * INDENT;
    const text = clean(strings[spans.name[span]!] ?? "") || "(no name)";
    pen.rect(x, middle - 4, 8, 8, services[spans.service[span]!]?.colour ?? colours.muted);
    pen.text(x + 14, middle, fit(text, names - x - 18, CHAR_WIDTH), colours.text);
    pen.text(left - 12, middle, formatTime(spans.length[span]!), colours.text, { align: "right" });
  }
  pen.clip(left, AXIS, size.width - left, size.height - AXIS, () =>
    drawBars(at(left, AXIS), scene, first, last, size.width - left, colours),
  );
}

/* A pen whose corner lies elsewhere; what bars need of it. */
function movedPen(pen: Pen, dx: number, dy: number): Pen {
  const moved = (points: readonly number[]) => points.map((value, i) => value + (i % 2 ? dy : dx));

  return {
    ...pen,
    rect: (x, y, w, h, fill) => pen.rect(x + dx, y + dy, w, h, fill),
    outline: (x, y, w, h, stroke, thickness) => pen.outline(x + dx, y + dy, w, h, stroke, thickness),
    hatch: (x, y, w, h, stroke) => pen.hatch(x + dx, y + dy, w, h, stroke),
    line: (points, stroke, thickness) => pen.line(moved(points), stroke, thickness),
    area: (points, fill) => pen.area(moved(points), fill),
    text: (x, y, text, fill, style) => pen.text(x + dx, y + dy, text, fill, style),
  };
}
