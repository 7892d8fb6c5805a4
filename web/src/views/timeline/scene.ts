/* Everything one picture of the timeline needs, and what is where in it. Drawing and pointing share it. Pure. */

import type { PageData } from "../../data/types";
import type { WindowReply } from "../../data/work";
import type { Frames } from "../../model/frames";
import { rowAt } from "./rows";
import type { Row, Rows } from "./rows";
import type { Asyncs } from "./asyncs";
import type { Series } from "../../ui/time/curve";
import { AXIS, nearOf, timeAt } from "../../ui/time/frame";
import type { TimeFrame } from "../../ui/time/frame";

export interface Scene extends TimeFrame {
  data: PageData;
  frames: Frames;
  rows: Rows;
  asyncs: Asyncs;
  reply: WindowReply | undefined;
  scroll: number; // of the rows
  seriesOf(row: Row): Series;
  isChosen(site: number): boolean;
  isMatch(site: number): boolean;
  hasChosen: boolean;
}

export interface Hit {
  row: Row;
  time: number;
  lane: number; // -1: beside the lanes
  /* The rectangle there, if there is one. */
  site: number;
  start: number;
  end: number;
  count: number;
  flags: number;
}

/* Where a lane's rectangles are on the screen. */
export function laneY(scene: Scene, row: Row, lane: number): number {
  return AXIS + row.y - scene.scroll + lane * row.lane + 3;
}

export interface Rectangles {
  length: number;
  lane: ArrayLike<number>;
  site: ArrayLike<number>;
  start: ArrayLike<number>;
  end: ArrayLike<number>;
  count: ArrayLike<number>;
  flags: ArrayLike<number>;
}

/* Of those that can be meant by a point: the one under it, or else a narrow one within two pixels. */
export function nearest(
  list: Pick<Rectangles, "length" | "start" | "end">,
  isRow: (i: number) => boolean,
  time: number,
  near: number,
): number {
  let best = -1;
  let distance = near;

  for (let i = 0; i < list.length; i++) {
    if (!isRow(i)) continue;
    const away =
      time < list.start[i]! ? list.start[i]! - time : time > list.end[i]! ? time - list.end[i]! : 0;
    if (away < distance || (away === 0 && distance === 0)) {
      best = i;
      distance = away;
    }
  }
  return best;
}

function spansOf(reply: WindowReply): Rectangles {
  return { ...reply, length: reply.start.length, lane: reply.depth };
}

/* What is at a point of the picture. */
export function hitAt(scene: Scene, x: number, y: number, asyncsOf: (row: Row) => Rectangles): Hit | null {
  const row = y < AXIS ? null : rowAt(scene.rows.list, y - AXIS + scene.scroll);
  const time = timeAt(scene, x);

  if (!row) return null;
  const nothing: Hit = { row, time, lane: -1, site: row.site, start: time, end: time, count: 0, flags: 0 };
  if (x < scene.gutter || (row.kind !== "thread" && row.kind !== "async")) return nothing;
  const lane = Math.floor((y - laneY(scene, row, 0)) / row.lane);
  const list = row.kind === "async" ? asyncsOf(row) : scene.reply && spansOf(scene.reply);
  if (!list || lane < 0 || lane >= row.lanes || (row.kind === "thread" && row.isFolded && lane > 0))
    return nothing;
  const isRow = (i: number) =>
    list.lane[i] === lane && (row.kind === "async" || scene.reply!.track[i] === row.track);
  const i = nearest(list, isRow, time, nearOf(scene));
  if (i < 0) return { ...nothing, lane };
  return {
    row,
    time,
    lane,
    site: list.site[i]!,
    start: list.start[i]!,
    end: list.end[i]!,
    count: list.count[i]!,
    flags: list.flags[i]!,
  };
}
