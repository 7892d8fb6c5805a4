/* Values over time as curves: for each pixel the least and the greatest value, so that no peak is lost. Pure but for the Pen. */

import type { Range } from "../../data/work";
import type { Colours } from "../../state/theme";
import type { Pen } from "../pen";
import { xOf } from "./frame";
import type { TimeFrame } from "./frame";

export interface Series {
  time: Float64Array; // ascending; each value holds until the next
  value: Float64Array;
  least: number;
  most: number;
}

export function makeSeries(time: Float64Array, value: Float64Array): Series {
  return {
    time,
    value,
    least: value.reduce((a, b) => Math.min(a, b), 0),
    most: value.reduce((a, b) => Math.max(a, b), 0),
  };
}

export interface Column {
  x: number;
  low: number;
  high: number;
  last: number;
}

/* One column for each pixel that has values, and one for the value that holds at the beginning. */
export function columnsOf(series: Series, from: number, to: number, pixels: number): Column[] {
  const { time, value } = series;
  const scale = pixels / (to - from);
  const result: Column[] = [];
  let i = firstAt(time, from);

  if (i > 0) result.push({ x: 0, low: value[i - 1]!, high: value[i - 1]!, last: value[i - 1]! });
  for (; i < time.length && time[i]! < to; i++) {
    const x = Math.floor((time[i]! - from) * scale);
    const last = result[result.length - 1];
    const now = value[i]!;
    if (!last || last.x !== x) result.push({ x, low: now, high: now, last: now });
    else Object.assign(last, { low: Math.min(last.low, now), high: Math.max(last.high, now), last: now });
  }
  return result;
}

/* The value that holds at a time; NaN before the first. */
export function valueAt(series: Series, at: number): number {
  const i = firstAt(series.time, at + Number.EPSILON) - 1;

  return series.time[i + 1] === at ? series.value[i + 1]! : i >= 0 ? series.value[i]! : NaN;
}

function firstAt(time: Float64Array, at: number): number {
  let low = 0;
  let high = time.length;

  while (low < high) {
    const middle = (low + high) >> 1;
    if (time[middle]! < at) low = middle + 1;
    else high = middle;
  }
  return low;
}

/* Between `top` and `top` + `high`; the last value holds until `end`. */
export function drawCurve(
  pen: Pen,
  frame: TimeFrame,
  colours: Colours,
  series: Series,
  place: { top: number; high: number; end: number },
): void {
  const { from, to }: Range = frame.range;
  const spread = series.most - series.least || 1;
  const yOf = (value: number) => place.top + place.high - ((value - series.least) / spread) * place.high;
  const columns = columnsOf(series, from, to, frame.width - frame.gutter);
  const right = Math.min(frame.width, xOf(frame, Math.max(place.end, from)));
  const line: number[] = [];

  columns.forEach((column, i) => {
    const x = frame.gutter + column.x;
    const next = columns[i + 1] ? frame.gutter + columns[i + 1]!.x : Math.max(x + 1, right);
    if (column.high > column.low) line.push(x, yOf(column.low), x, yOf(column.high));
    line.push(x, yOf(column.last), next, yOf(column.last));
  });
  if (line.length < 4) return;
  const base = yOf(Math.max(series.least, Math.min(0, series.most)));
  pen.area([line[0]!, base, ...line, line[line.length - 2]!, base], colours.raised);
  pen.line(line, colours.accent);
}
