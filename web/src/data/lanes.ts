/* Rectangles in lanes: what is drawn in rows where no two overlap. Finds those in a window without walking over all of them: binary
 * search by begin in each lane, and blocks of blocks that know their longest, for what is too small to be drawn one by one. Pure. */

import type { Column } from "./types";

export interface Lanes {
  begins: Uint32Array; // of each lane, and one more: where its rectangles are
  start: Float64Array; // ascending within a lane
  duration: Column;
  site: Column;
  flags: Column;
  count: Column;
  levels: Level[];
}

/* Of each 16 of the level below (of the rectangles, for the first). */
interface Level {
  longest: Uint32Array; // its place
  flags: Uint8Array;
  count: Float64Array;
}

const FAN_BITS = 4;
const FAN = 1 << FAN_BITS;

/* Rectangles to draw, as they are found. */
export interface Batch {
  length: number;
  lane: Uint32Array;
  site: Uint32Array;
  start: Float64Array;
  end: Float64Array;
  count: Uint32Array;
  flags: Uint8Array;
  folded: number;
}

export function makeBatch(capacity = 4096): Batch {
  return {
    length: 0,
    lane: new Uint32Array(capacity),
    site: new Uint32Array(capacity),
    start: new Float64Array(capacity),
    end: new Float64Array(capacity),
    count: new Uint32Array(capacity),
    flags: new Uint8Array(capacity),
    folded: 0,
  };
}

function grow(batch: Batch): void {
  const bigger = makeBatch(batch.lane.length * 2);

  for (const name of ["lane", "site", "start", "end", "count", "flags"] as const) {
    bigger[name].set(batch[name]);
    Object.assign(batch, { [name]: bigger[name] });
  }
}

/* Where each rectangle goes when they are put in lanes, in the order in which they come. */
export function placesOf(
  laneOf: (i: number) => number,
  length: number,
  lanes: number,
): { begins: Uint32Array; places: Uint32Array } {
  const begins = new Uint32Array(lanes + 1);
  const places = new Uint32Array(length);

  for (let i = 0; i < length; i++) begins[laneOf(i) + 1]!++;
  for (let i = 0; i < lanes; i++) begins[i + 1]! += begins[i]!;
  const next = begins.slice();
  for (let i = 0; i < length; i++) places[i] = next[laneOf(i)]!++;
  return { begins, places };
}

/* A column in its new order. */
export function arrange<C extends Column>(column: C, places: Uint32Array): C {
  const result = new (column.constructor as new (length: number) => C)(column.length);

  for (let i = 0; i < places.length; i++) result[places[i]!] = column[i]!;
  return result;
}

export function makeLanes(begins: Uint32Array, columns: Omit<Lanes, "begins" | "levels">): Lanes {
  const lanes: Lanes = { begins, levels: [], ...columns };
  let below = firstLevel(lanes);

  while (below.longest.length > 1) {
    lanes.levels.push(below);
    below = nextLevel(lanes, below);
  }
  return lanes;
}

function emptyLevel(length: number): Level {
  return { longest: new Uint32Array(length), flags: new Uint8Array(length), count: new Float64Array(length) };
}

function firstLevel({ duration, flags, count }: Lanes): Level {
  const level = emptyLevel(Math.ceil(duration.length / FAN));

  for (let block = 0, i = 0; block < level.longest.length; block++) {
    const end = Math.min(i + FAN, duration.length);
    let longest = i;
    let all = 0;
    let sum = 0;
    for (; i < end; i++) {
      if (duration[i]! > duration[longest]!) longest = i;
      all |= flags[i]!;
      sum += count[i]!;
    }
    level.longest[block] = longest;
    level.flags[block] = all;
    level.count[block] = sum;
  }
  return level;
}

function nextLevel({ duration }: Lanes, below: Level): Level {
  const level = emptyLevel(Math.ceil(below.longest.length / FAN));

  for (let i = 0; i < below.longest.length; i++) {
    const block = i >> FAN_BITS;
    if (i % FAN === 0 || duration[below.longest[i]!]! > duration[level.longest[block]!]!)
      level.longest[block] = below.longest[i]!;
    level.flags[block]! |= below.flags[i]!;
    level.count[block]! += below.count[i]!;
  }
  return level;
}

export interface Summary {
  longest: number; // its place
  flags: number;
  count: number;
}

/* The longest, all flags and the sum of counts of rectangles `from` to before `to`, into `sum`: this runs for every pixel of every lane, so
 * it makes nothing. Takes what sticks out of whole blocks at each level, then goes on with the blocks. */
export function summarize(lanes: Lanes, from: number, to: number, sum: Summary): void {
  const { duration, levels } = lanes;
  let depth = 0;
  let low = from;
  let high = to;

  sum.longest = from;
  sum.flags = sum.count = 0;
  while (high - low >= 2 * FAN && depth < levels.length) {
    const lowEdge = (low + FAN - 1) & ~(FAN - 1);
    const highEdge = high & ~(FAN - 1);
    take(lanes, duration, depth, low, lowEdge, sum);
    take(lanes, duration, depth, highEdge, high, sum);
    low = lowEdge >> FAN_BITS;
    high = highEdge >> FAN_BITS;
    depth++;
  }
  take(lanes, duration, depth, low, high, sum);
}

function take(lanes: Lanes, duration: Column, depth: number, low: number, high: number, sum: Summary): void {
  const level = depth === 0 ? null : lanes.levels[depth - 1]!;
  const flags = level ? level.flags : lanes.flags;
  const count = level ? level.count : lanes.count;

  for (let i = low; i < high; i++) {
    const place = level ? level.longest[i]! : i;
    if (duration[place]! > duration[sum.longest]!) sum.longest = place;
    sum.flags |= flags[i]!;
    sum.count += count[i]!;
  }
}

/* The first place from `low` to before `high` that begins at `time` or later. Looks near `low` first: the next pixel is never far. */
export function firstFrom(start: Float64Array, time: number, low: number, high: number): number {
  let step = 1;

  while (low + step < high && start[low + step]! < time) {
    low += step;
    step *= 2;
  }
  let end = Math.min(high, low + step + 1);
  while (low < end) {
    const middle = (low + end) >>> 1;
    if (start[middle]! < time) low = middle + 1;
    else end = middle;
  }
  return low;
}

/* Adds what a lane has between `from` and `to`, where a pixel is `pixel` ns wide: at most one thing narrower than a pixel for each. */
export function windowOf(
  lanes: Lanes,
  lane: number,
  from: number,
  to: number,
  pixel: number,
  batch: Batch,
): void {
  const { start, duration, site, flags, count } = lanes;
  const first = lanes.begins[lane]!;
  const last = lanes.begins[lane + 1]!;
  const sum: Summary = { longest: 0, flags: 0, count: 0 };
  let i = firstFrom(start, from, first, last);

  if (i > first && start[i - 1]! + duration[i - 1]! > from) i--;
  while (i < last && start[i]! < to) {
    let end = i + 1;
    if (duration[i]! < pixel) {
      const edge = from + (Math.floor((start[i]! - from) / pixel) + 1) * pixel;
      end = Math.max(end, firstFrom(start, edge, i, last));
      /* Only the last that begins in a pixel can be wider than one. */
      if (end - 1 > i && duration[end - 1]! >= pixel) end--;
    }
    if (batch.length === batch.lane.length) grow(batch);
    const at = batch.length++;
    const isOne = end - i === 1;
    if (!isOne) summarize(lanes, i, end, sum);
    batch.lane[at] = lane;
    batch.start[at] = start[i]!;
    batch.end[at] = start[end - 1]! + duration[end - 1]!;
    batch.site[at] = site[isOne ? i : sum.longest]!;
    batch.count[at] = isOne ? count[i]! : sum.count;
    batch.flags[at] = isOne ? flags[i]! : sum.flags;
    if (batch.count[at]! > 1) batch.folded += batch.count[at]!;
    i = end;
  }
}

/* The rectangle of a lane at a time, or -1. */
export function placeAt(lanes: Lanes, lane: number, time: number): number {
  const first = lanes.begins[lane];
  const last = lanes.begins[lane + 1];

  if (first === undefined || last === undefined) return -1;
  const after = firstFrom(lanes.start, time, first, last);
  if (after < last && lanes.start[after] === time) return after;
  const i = after - 1;
  return i >= first && lanes.start[i]! + lanes.duration[i]! > time ? i : -1;
}
