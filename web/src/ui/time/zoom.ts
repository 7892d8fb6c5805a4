/* The piece of time that is shown, and how it changes. Pure. */

import type { Range } from "../../data/work";

const SHORTEST = 10; // ns

/* Inside the whole, not shorter than can be seen. */
export function limit(range: Range, whole: Range): Range {
  const length = Math.min(whole.to - whole.from, Math.max(SHORTEST, range.to - range.from));
  const from = Math.max(whole.from, Math.min(whole.to - length, range.from));

  return { from, to: from + length };
}

/* `factor` below 1 comes nearer; the time at `at` (0 … 1 of the width) stays where it is. */
export function zoom(range: Range, whole: Range, factor: number, at = 0.5): Range {
  const length = range.to - range.from;
  const center = range.from + length * at;
  const next = Math.min(whole.to - whole.from, Math.max(SHORTEST, length * factor));

  return limit({ from: center - next * at, to: center + next * (1 - at) }, whole);
}

/* By a share of what is shown. */
export function pan(range: Range, whole: Range, share: number): Range {
  const by = (range.to - range.from) * share;

  return limit({ from: range.from + by, to: range.to + by }, whole);
}

/* Around something, with room on both sides. */
export function around(range: Range, whole: Range, room = 0.25): Range {
  const margin = Math.max(SHORTEST, range.to - range.from) * room;

  return limit({ from: range.from - margin, to: range.to + margin }, whole);
}

/* Brings a moment into sight without changing the scale. */
export function bring(range: Range, whole: Range, time: number): Range {
  const length = range.to - range.from;

  if (time >= range.from && time < range.to) return range;
  return limit({ from: time - length / 3, to: time + (length * 2) / 3 }, whole);
}

/* What to ask the worker for: as much again on both sides, so that the next frames of a pan have something to show. */
export function withMargin(range: Range, whole: Range): Range {
  const margin = (range.to - range.from) / 2;

  return { from: Math.max(whole.from, range.from - margin), to: Math.min(whole.to, range.to + margin) };
}

export function writeZoom(range: Range, whole: Range): string {
  return range.from <= whole.from && range.to >= whole.to
    ? ""
    : `${Math.round(range.from)}-${Math.round(range.to)}`;
}

export function readZoom(text: string, whole: Range): Range {
  const [from, to] = text.split("-").map(Number);
  const isRange = from !== undefined && to !== undefined && Number.isFinite(from) && to > from;

  return isRange ? limit({ from, to }, whole) : whole;
}
