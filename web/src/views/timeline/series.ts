/* Counters as curves: for each pixel the least and the greatest value, so that no peak is lost. Pure. */

import type { PageData } from "../../data/types";
import { column } from "../../data/types";

export interface Series {
  time: Float64Array;
  value: Float64Array;
  least: number;
  most: number;
}

/* The values of one counter of one process, by time. */
export function seriesOf(data: PageData, process: number, site: number): Series {
  const track = column(data, "counters", "track");
  const sites = column(data, "counters", "site");
  const time = column(data, "counters", "time");
  const value = column(data, "counters", "value");
  const rows: number[] = [];

  for (let i = 0; i < sites.length; i++)
    if (
      sites[i] === site &&
      (data.recording.tracks[track[i]! - 1]?.process ?? -1) === process &&
      !Number.isNaN(value[i]!)
    )
      rows.push(i);
  rows.sort((a, b) => time[a]! - time[b]!);
  const values = Float64Array.from(rows, (i) => value[i]!);
  return {
    time: Float64Array.from(rows, (i) => time[i]!),
    value: values,
    least: values.reduce((a, b) => Math.min(a, b), 0),
    most: values.reduce((a, b) => Math.max(a, b), 0),
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
