/* An axis of time over a picture, and what is where under it: timeline and tasks share it. Pure but for the Pen. */

import type { Range } from "../../data/work";
import type { Colours } from "../../state/theme";
import { LABEL_SIZE, tickLabels } from "../axis";
import { formatTick, tickStep } from "../format";
import type { Pen } from "../pen";

export const AXIS = 24;

/* How times are said at the ticks. */
export interface Scale {
  step(span: number, most: number): number; // between two ticks, at most so many of them
  offset: number; // ticks are at multiples of the step after this
  text(time: number, step: number): string;
}

const SINCE_START: Scale = { step: tickStep, offset: 0, text: formatTick };

export interface TimeFrame {
  range: Range; // what is shown
  gutter: number; // the width of the labels
  width: number;
  height: number;
  scale?: Scale; // the time since the start unless told
}

/* How wide labels are in a picture of that width. */
export function gutterOf(width: number): number {
  return width < 640 ? 96 : 168;
}

export function xOf(frame: TimeFrame, time: number): number {
  const { range, gutter, width } = frame;

  return gutter + ((time - range.from) / (range.to - range.from)) * (width - gutter);
}

export function timeAt(frame: TimeFrame, x: number): number {
  const { range, gutter, width } = frame;

  return range.from + ((x - gutter) / Math.max(1, width - gutter)) * (range.to - range.from);
}

/* How much time two pixels are: a pointer that is so near means it. */
export function nearOf({ range, gutter, width }: TimeFrame): number {
  return ((range.to - range.from) / Math.max(1, width - gutter)) * 2;
}

function ticksOf(frame: TimeFrame): { step: number; times: number[] } {
  const { from, to } = frame.range;
  const scale = frame.scale ?? SINCE_START;
  const step = scale.step(to - from, Math.max(2, (frame.width - frame.gutter) / 110));
  const at = (n: number) => n * step + scale.offset;
  const times: number[] = [];

  for (let n = Math.ceil((from - scale.offset) / step); at(n) <= to && times.length < 200; n++)
    times.push(at(n));
  return { step, times };
}

const TICKS = ["rgba(26,29,35,0.07)", "rgba(230,232,236,0.08)"] as const; // light, dark: seen over everything

export function drawTicks(pen: Pen, frame: TimeFrame, colours: Colours, top = AXIS): void {
  for (const time of ticksOf(frame).times)
    pen.rect(Math.round(xOf(frame, time)), top, 1, frame.height - top, TICKS[colours.isDark ? 1 : 0]);
}

export function drawAxis(pen: Pen, frame: TimeFrame, colours: Colours, range: Range | null): void {
  const { step, times } = ticksOf(frame);

  pen.rect(0, 0, frame.width, AXIS, colours.surface);
  pen.clip(frame.gutter, 0, frame.width - frame.gutter, AXIS, () => {
    if (range) {
      const x = xOf(frame, range.from);
      pen.rect(x, AXIS - 4, xOf(frame, range.to) - x, 3, colours.accent);
    }
    const { text } = frame.scale ?? SINCE_START;
    const list = times.map((time) => ({ x: Math.round(xOf(frame, time)), text: text(time, step) }));
    for (const { x } of list) pen.rect(x, AXIS - 6, 1, 6, colours.line);
    for (const label of tickLabels(list, frame.gutter, frame.width))
      pen.text(label.x, AXIS / 2 - 1, label.text, colours.muted, { size: LABEL_SIZE, align: label.align });
  });
  pen.rect(0, AXIS - 1, frame.width, 1, colours.line);
}

/* A veil over what is not selected. */
export function drawRange(pen: Pen, frame: TimeFrame, colours: Colours, range: Range, top = AXIS): void {
  const from = Math.max(frame.gutter - 2, xOf(frame, range.from));
  const to = Math.min(frame.width + 2, xOf(frame, range.to));
  const veil = colours.isDark ? "rgba(20,22,26,0.6)" : "rgba(245,246,248,0.7)";
  const high = frame.height - top;

  if (from > frame.gutter) pen.rect(frame.gutter, top, from - frame.gutter, high, veil);
  if (to < frame.width) pen.rect(to, top, frame.width - to, high, veil);
  pen.rect(from, top, 1, high, colours.accent);
  pen.rect(to - 1, top, 1, high, colours.accent);
}
