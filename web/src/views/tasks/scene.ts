/* Everything one picture of the stream needs, and what is where in it. Drawing and pointing share it. Pure. */

import { type Batch, type Lanes, makeBatch, windowOf } from "../../data/lanes";
import type { PageData } from "../../data/types";
import { laneBox, type Stream, type StreamRow } from "../../model/task-stream";
import type { Tasks } from "../../model/tasks";
import type { Ink } from "../../ui/time/box";
import { AXIS, nearOf, timeAt, type TimeFrame } from "../../ui/time/frame";
import { rowAt } from "../timeline/rows";
import { nearest } from "../timeline/scene";

/* Tasks narrower than this many pixels are drawn folded. */
const FINEST = 2;

export interface Scene extends TimeFrame {
  data: PageData;
  tasks: Tasks;
  stream: Stream;
  lanes: Lanes;
  scroll: number; // of the rows
  selected: number; // task; -1: none
  isPath: boolean; // the critical path stands out
  isChosen: ((task: number) => boolean) | null; // by name
  inkOf(task: number): Ink;
}

export interface Hit {
  task: number; // of folded ones the longest
  count: number;
  start: number; // of all of them
  end: number;
}

export function rowsInSight(scene: Scene): StreamRow[] {
  const { scroll, height } = scene;

  return scene.stream.rows.filter((row) => row.y + row.height > scroll && row.y < scroll + height - AXIS);
}

/* Rectangles of the rows in sight, by lane. */
export function batchOf(scene: Scene): Batch {
  const { range, lanes } = scene;
  const pixel = ((range.to - range.from) / Math.max(1, scene.width - scene.gutter)) * FINEST;
  const batch = makeBatch();

  for (const row of rowsInSight(scene))
    for (let lane = row.firstLane; lane < row.firstLane + row.lanes + row.thin; lane++)
      windowOf(lanes, lane, range.from, range.to, pixel, batch);
  return batch;
}

/* Where a lane's rectangles are on the screen. */
export function laneAt(scene: Scene, lane: number): { y: number; height: number } {
  const { y, height } = laneBox(scene.stream, lane);

  return { y: AXIS + y - scene.scroll, height };
}

export function hitAt(scene: Scene, batch: Batch, x: number, y: number): Hit | null {
  const row = y < AXIS || x < scene.gutter ? null : rowAt(scene.stream.rows, y - AXIS + scene.scroll);

  if (!row) return null;
  for (let lane = row.firstLane; lane < row.firstLane + row.lanes + row.thin; lane++) {
    const box = laneAt(scene, lane);
    if (y < box.y || y >= box.y + box.height) continue;
    const i = nearest(batch, (at) => batch.lane[at] === lane, timeAt(scene, x), nearOf(scene));
    if (i < 0) return null;
    return { task: batch.site[i]!, count: batch.count[i]!, start: batch.start[i]!, end: batch.end[i]! };
  }
  return null;
}
