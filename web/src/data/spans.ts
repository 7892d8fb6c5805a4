/* The store of spans: they lie in lanes (one for each track and depth), where a range is a piece of each lane; then nesting, self time and
 * paths are worked out once. Pure; lives in the worker. Our own cost is taken off as the tool does it. */

import { arrange, makeLanes, placesOf } from "./lanes";
import type { Lanes } from "./lanes";
import type { Column, Recording, Table } from "./types";

export const UNFINISHED = 1;
export const ERROR = 2;

const DEEPEST = 65_535;

/* Paths of spans, each on one track, parents before children. */
export interface Paths {
  length: number;
  parent: Uint32Array; // plus 1; 0: a root
  site: Uint32Array;
  track: Uint32Array;
  /* How many steps above the nearest path of the same site is; 0: none. Recursion is counted once. */
  steps: Uint32Array;
}

export interface SpanStore extends SpanLanes, Nested {
  processOf: Int32Array; // of each track; -1: none
}

/* What is left of a duration; see vti_corrected(). */
export function corrected(ns: number, cost: number): number {
  if (cost === 0) return ns;
  return ns > cost ? Math.floor(ns - cost + 0.5) : 0;
}

interface Costs {
  pair: Float64Array;
  inner: Float64Array;
}

function costsOf(recording: Recording, tracks: number): Costs {
  const costs = { pair: new Float64Array(tracks), inner: new Float64Array(tracks) };

  recording.tracks.slice(0, tracks).forEach((track, i) => {
    const process = recording.processes[track.process];
    costs.pair[i] = process?.pair_ns ?? 0;
    costs.inner[i] = process?.inner_ns ?? 0;
  });
  return costs;
}

function mostOf(column: Column): number {
  let most = 0;

  for (let i = 0; i < column.length; i++) if (column[i]! > most) most = column[i]!;
  return most;
}

/* A table of paths that grows; looks for a child among its brothers, the one found last first. */
function makePathBuilder() {
  let capacity = 1024;
  let parent = new Uint32Array(capacity);
  let site = new Uint32Array(capacity);
  let track = new Uint32Array(capacity);
  let firstChild = new Uint32Array(capacity);
  let brother = new Uint32Array(capacity);
  let length = 0;
  let firstRoot = 0;
  let rootTrack = -1;
  const wider = (array: Uint32Array<ArrayBuffer>) => {
    const result = new Uint32Array(capacity);
    result.set(array);
    return result;
  };

  return {
    /* The path of `ofSite` below `below` (plus 1; 0: a root). */
    find(below: number, ofSite: number, onTrack: number): number {
      if (below === 0 && onTrack !== rootTrack) {
        firstRoot = 0;
        rootTrack = onTrack;
      }
      const first = below === 0 ? firstRoot : firstChild[below - 1]!;
      let before = 0;
      for (let at = first; at !== 0; before = at, at = brother[at - 1]!) {
        if (site[at - 1] !== ofSite) continue;
        if (before !== 0) {
          brother[before - 1] = brother[at - 1]!;
          brother[at - 1] = first;
          if (below === 0) firstRoot = at;
          else firstChild[below - 1] = at;
        }
        return at - 1;
      }
      if (length === capacity) {
        capacity *= 2;
        [parent, site, track, firstChild, brother] = [parent, site, track, firstChild, brother].map(
          wider,
        ) as [typeof parent, typeof parent, typeof parent, typeof parent, typeof parent];
      }
      const made = length++;
      parent[made] = below;
      site[made] = ofSite;
      track[made] = onTrack;
      brother[made] = first;
      if (below === 0) firstRoot = made + 1;
      else firstChild[below - 1] = made + 1;
      return made;
    },
    finish(): Paths {
      const steps = new Uint32Array(length);

      for (let i = 0; i < length; i++) {
        let up = 1;
        let at = parent[i]!;
        for (; at !== 0 && site[at - 1] !== site[i]; at = parent[at - 1]!) up++;
        if (at !== 0) steps[i] = up;
      }
      return {
        length,
        parent: parent.subarray(0, length),
        site: site.subarray(0, length),
        track: track.subarray(0, length),
        steps,
      };
    },
  };
}

interface Nested {
  total: Column; // ns without our own cost; in the lanes' order, like the others
  self: Column;
  path: Uint32Array;
  paths: Paths;
}

interface Order {
  track: Column; // in the first order: by track, then begin, outer before inner
  depth: Column;
  places: Uint32Array; // in the lanes
}

/* Walks the spans in their first order with a stack of those that are open, a piece at a time: `walk(to)` goes on to before row `to`. */
function makeNester(lanes: Lanes, { track, depth, places }: Order, costs: Costs) {
  const { site, start, duration, flags, count } = lanes;
  const length = places.length;
  const room = mostOf(depth) + 2;
  const isNarrow = !(duration instanceof Float64Array);
  const total = isNarrow ? new Uint32Array(length) : new Float64Array(length);
  const self = isNarrow ? new Uint32Array(length) : new Float64Array(length);
  const path = new Uint32Array(length);
  const builder = makePathBuilder();
  const open = new Uint32Array(room); // places
  const openDepth = new Uint32Array(room);
  const inside = new Float64Array(room); // spans in it that ended
  const direct = new Float64Array(room); // of those its own children
  const childNs = new Float64Array(room);
  let height = 0;
  let at = 0;
  let onTrack = 0;

  const close = () => {
    const top = --height;
    const i = open[top]!;
    const ended = flags[i]! & UNFINISHED ? 0 : count[i]!;
    const own = ended ? costs.inner[onTrack]! : 0;
    const left = Math.max(0, duration[i]! - childNs[top]!);
    total[i] = corrected(duration[i]!, own + inside[top]! * costs.pair[onTrack]!);
    self[i] = corrected(left, own + direct[top]! * (costs.pair[onTrack]! - costs.inner[onTrack]!));
    if (top === 0) return;
    childNs[top - 1]! += duration[i]!;
    inside[top - 1]! += inside[top]! + ended;
    direct[top - 1]! += ended;
  };

  return {
    walk(to: number): void {
      for (; at < to; at++) {
        const i = places[at]!;
        const isNewTrack = track[at] !== onTrack;
        while (height > 0) {
          const top = open[height - 1]!;
          if (!isNewTrack && openDepth[height - 1]! < depth[at]! && start[i]! <= start[top]! + duration[top]!)
            break;
          close();
        }
        onTrack = track[at]!;
        path[i] = builder.find(height > 0 ? path[open[height - 1]!]! + 1 : 0, site[i]!, onTrack);
        open[height] = i;
        openDepth[height] = depth[at]!;
        inside[height] = direct[height] = childNs[height] = 0;
        height++;
      }
    },
    finish(): Nested {
      while (height > 0) close();
      return { total, self, path, paths: builder.finish() };
    },
  };
}

type SpanColumn = "track" | "site" | "depth" | "start" | "duration" | "flags" | "count";

function columnsOf(table: Table | undefined): Record<SpanColumn, Column> {
  const names: SpanColumn[] = ["track", "site", "depth", "start", "duration", "flags", "count"];
  const found = {} as Record<SpanColumn, Column>;

  for (const name of names) found[name] = table?.columns[name] ?? new Uint8Array(table?.rows ?? 0);
  if (table && !table.columns["count"]) found.count = new Uint8Array(table.rows).fill(1);
  return found;
}

/* The lanes of spans: all that a picture needs, before nesting is worked out. */
export interface SpanLanes {
  length: number;
  sites: number; // how many there may be
  lanes: Lanes;
  firstLane: Uint32Array; // of each track, and one more: lane = firstLane[track] + depth
}

/* Takes the table over: its columns are let go one by one as their copies in lanes are made. `nest` works out the rest, a piece at a time. */
export function layOutSpans(
  table: Table | undefined,
  recording: Recording,
): SpanLanes & { nest(): Generator<void, SpanStore> } {
  const columns = columnsOf(table);
  const length = table?.rows ?? 0;
  if (mostOf(columns.depth) > DEEPEST) throw new Error(`spans deeper than ${DEEPEST}`);
  const { track, depth } = columns;
  const tracks = Math.max(recording.tracks.length, length ? mostOf(track) + 1 : 0);
  const firstLane = new Uint32Array(tracks + 1);

  for (let i = 0; i < length; i++)
    if (depth[i]! >= firstLane[track[i]! + 1]!) firstLane[track[i]! + 1] = depth[i]! + 1;
  for (let i = 0; i < tracks; i++) firstLane[i + 1]! += firstLane[i]!;
  const { begins, places } = placesOf((i) => firstLane[track[i]!]! + depth[i]!, length, firstLane[tracks]!);
  const start = columns.start instanceof Float64Array ? columns.start : Float64Array.from(columns.start);
  const take = <C extends Column>(name: SpanColumn, column: C) => {
    const result = arrange(column, places);
    delete (columns as Partial<typeof columns>)[name];
    if (table) delete table.columns[name];
    return result;
  };
  const sites = mostOf(columns.site) + 1;
  const lanes = makeLanes(begins, {
    start: take("start", start),
    duration: take("duration", columns.duration),
    site: take("site", columns.site),
    flags: take("flags", columns.flags),
    count: take("count", columns.count),
  });
  const laid: SpanLanes = { length, sites, lanes, firstLane };

  return {
    ...laid,
    *nest() {
      const { walk, finish } = makeNester(lanes, { track, depth, places }, costsOf(recording, tracks));
      for (let to = PIECE; to < length; to += PIECE) {
        walk(to);
        yield;
      }
      walk(length);
      return {
        ...laid,
        ...finish(),
        processOf: Int32Array.from({ length: tracks }, (_, i) => recording.tracks[i]?.process ?? -1),
      };
    },
  };
}

const PIECE = 100_000;

/* All at once. */
export function makeSpanStore(table: Table | undefined, recording: Recording): SpanStore {
  const nesting = layOutSpans(table, recording).nest();

  for (;;) {
    const { done, value } = nesting.next();
    if (done) return value;
  }
}
