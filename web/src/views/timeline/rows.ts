/* The rows of the timeline from top to bottom: processes, their threads, async lanes and counters. Pure. */

import type { PageData } from "../../data/types";
import { column } from "../../data/types";
import { processName, trackName, tracksByProcess } from "../../ui/threads";
import { clean } from "../../ui/text";

export const LANE = 18; // a span is this high, with a line of ground between two
export const HEAD = 24;
export const COUNTER = 40;
const MANY = 8; // more async lanes than this are drawn thin …
const THIN = 160; // … and take no more than about this many pixels together, unless opened
const SPACE = 8;

export interface Row {
  kind: "process" | "async" | "thread" | "counter";
  y: number;
  height: number;
  label: string;
  note: string;
  process: number;
  track: number; // of a thread; else -1
  lanes: number; // of a thread or of async spans
  lane: number; // how high each of them is
  site: number; // of a counter; else -1
  isFolded: boolean; // of a thread only the first lane is shown; async lanes are thin
  canFold: boolean;
}

export interface Rows {
  list: Row[];
  height: number;
  ofTrack: Map<number, Row>;
}

export interface RowsAsk {
  tracks: number[] | null; // the selected ones
  depths: ArrayLike<number>; // how deep each track is
  folded: ReadonlySet<number>; // tracks
  opened: ReadonlySet<number>; // processes whose async lanes are as high as others
}

interface Counters {
  process: number;
  site: number;
}

/* Which counters each process has, in the order of their first values. */
function countersOf(data: PageData): Counters[] {
  const track = column(data, "counters", "track");
  const site = column(data, "counters", "site");
  const found = new Map<string, Counters>();

  for (let i = 0; i < site.length; i++) {
    const process = data.recording.tracks[track[i]! - 1]?.process ?? -1;
    const key = `${process} ${site[i]}`;
    if (!found.has(key)) found.set(key, { process, site: site[i]! });
  }
  return [...found.values()];
}

/* How many async lanes each process needs. */
function asyncLanes(data: PageData): Map<number, number> {
  const track = column(data, "async", "track");
  const lane = column(data, "async", "lane");
  const lanes = new Map<number, number>();

  for (let i = 0; i < lane.length; i++) {
    const process = data.recording.tracks[track[i]!]?.process ?? -1;
    lanes.set(process, Math.max(lanes.get(process) ?? 0, lane[i]! + 1));
  }
  return lanes;
}

function siteName(data: PageData, site: number): { name: string; unit: string } {
  const text = (name: string) => data.strings[column(data, "sites", name)[site] ?? 0] ?? "";

  return { name: clean(text("name") || "counter", 60), unit: clean(text("unit"), 20) };
}

export function makeRows(data: PageData, ask: RowsAsk): Rows {
  const { recording } = data;
  const wanted = ask.tracks && new Set(ask.tracks);
  const counters = countersOf(data);
  const asyncs = asyncLanes(data);
  const list: Row[] = [];
  const ofTrack = new Map<number, Row>();
  let y = 0;
  const add = (row: Partial<Row> & Pick<Row, "kind" | "height" | "label" | "process">) => {
    const made: Row = {
      y,
      note: "",
      track: -1,
      lanes: 0,
      lane: LANE,
      site: -1,
      isFolded: false,
      canFold: false,
      ...row,
    };
    list.push(made);
    y += row.height;
    return made;
  };

  for (const { process, tracks } of tracksByProcess(recording)) {
    const shown = tracks.filter((track) => !wanted || wanted.has(track));
    const lanes = asyncs.get(process) ?? 0;
    const own = counters.filter((counter) => counter.process === process);

    if (shown.length === 0 && (wanted || (lanes === 0 && own.length === 0))) continue;
    if (recording.processes.length > 1)
      add({ kind: "process", height: HEAD, label: processName(data, process), process });
    for (const track of shown) {
      const depth = ask.depths[track] ?? 0;
      const isFolded = ask.folded.has(track);
      const height = Math.max(1, isFolded ? Math.min(1, depth) : depth) * LANE + SPACE;
      const note = depth === 0 ? "no spans" : isFolded && depth > 1 ? `${depth} deep, folded` : "";
      ofTrack.set(
        track,
        add({
          kind: "thread",
          height,
          label: trackName(recording, track),
          note,
          process,
          track,
          lanes: depth,
          isFolded,
          canFold: depth > 1,
        }),
      );
    }
    if (lanes > 0) {
      const isFolded = lanes > MANY && !ask.opened.has(process);
      const lane = isFolded ? Math.min(4, THIN / lanes) : LANE;
      const height = Math.ceil(lanes * lane) + SPACE;
      const note = `${lanes} at once`;
      add({
        kind: "async",
        height,
        label: "async",
        note,
        process,
        lanes,
        lane,
        isFolded,
        canFold: lanes > MANY,
      });
    }
    for (const { site } of own) {
      const { name, unit } = siteName(data, site);
      add({ kind: "counter", height: COUNTER, label: name, note: unit, process, site });
    }
  }
  return { list, height: y, ofTrack };
}

/* The row at a height, by halving. */
export function rowAt<R extends { y: number; height: number }>(rows: readonly R[], y: number): R | null {
  let low = 0;
  let high = rows.length;

  while (low < high) {
    const middle = (low + high) >> 1;
    const row = rows[middle]!;
    if (y < row.y) high = middle;
    else if (y >= row.y + row.height) low = middle + 1;
    else return row;
  }
  return null;
}
