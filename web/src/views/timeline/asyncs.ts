/* Async spans in their lanes, drawn like the others: made once from the table that the page has. Pure. */

import { arrange, makeBatch, makeLanes, placesOf, windowOf } from "../../data/lanes";
import type { Batch, Lanes } from "../../data/lanes";
import { column } from "../../data/types";
import type { PageData } from "../../data/types";
import type { Range } from "../../data/work";

export interface Asyncs {
  lanes: Lanes;
  firstLane: Map<number, number>; // of each process
}

export function makeAsyncs(data: PageData): Asyncs {
  const track = column(data, "async", "track");
  const lane = column(data, "async", "lane");
  const start = column(data, "async", "start");
  const processOf = (i: number) => data.recording.tracks[track[i]!]?.process ?? -1;
  const lanes = new Map<number, number>();
  const firstLane = new Map<number, number>();
  let all = 0;

  for (let i = 0; i < lane.length; i++)
    lanes.set(processOf(i), Math.max(lanes.get(processOf(i)) ?? 0, lane[i]! + 1));
  for (const [process, count] of lanes) {
    firstLane.set(process, all);
    all += count;
  }
  const { begins, places } = placesOf((i) => firstLane.get(processOf(i))! + lane[i]!, lane.length, all);
  const take = (name: string) => arrange(column(data, "async", name), places);
  return {
    firstLane,
    lanes: makeLanes(begins, {
      start: Float64Array.from(arrange(start, places)),
      duration: take("duration"),
      site: take("site"),
      flags: take("flags"),
      count: new Uint8Array(lane.length).fill(1),
    }),
  };
}

/* What the lanes of one process have in a window; `lane` of the batch counts from its first. */
export function asyncWindow(
  asyncs: Asyncs,
  process: number,
  count: number,
  range: Range,
  pixels: number,
): Batch {
  const batch = makeBatch(256);
  const first = asyncs.firstLane.get(process) ?? 0;

  for (let lane = first; lane < first + count && lane + 1 < asyncs.lanes.begins.length; lane++)
    windowOf(asyncs.lanes, lane, range.from, range.to, (range.to - range.from) / Math.max(1, pixels), batch);
  for (let i = 0; i < batch.length; i++) batch.lane[i]! -= first;
  return batch;
}
