/* What is where in the picture of threads over time. Pure. */

import type { SpanRect, WindowReply } from "./types";

export interface TrackRow {
  label: string;
  note: string;
  rects: SpanRect[];
  y: number;
  height: number;
}

const MOST_TRACKS = 60;
const MOST_DEEP = 24;

/* Where several have one name the number tells them apart. */
function labelOf(track: WindowReply["tracks"][number], isOfSeveral: boolean): string {
  if (!track.name) return `thread ${track.tid}`;
  return isOfSeveral ? `${track.name} ${track.tid}` : track.name;
}

/* Threads that have something in the piece of time; `left` counts those for which there is no room. */
export function layoutTracks(
  reply: WindowReply | null,
  lane: number,
): { rows: TrackRow[]; height: number; left: number } {
  const tracks = (reply?.tracks ?? []).filter((track) => track.rects.length > 0);
  const rows: TrackRow[] = [];
  const names = new Map<string, number>();
  let y = 0;

  for (const track of tracks) names.set(track.name, (names.get(track.name) ?? 0) + 1);

  for (const track of tracks.slice(0, MOST_TRACKS)) {
    const deepest = track.rects.reduce((most, rect) => Math.max(most, rect[0]), 0);
    const height = (Math.min(MOST_DEEP, deepest) + 1) * lane + 4;
    rows.push({
      label: labelOf(track, names.get(track.name)! > 1),
      note: `process ${track.pid}`,
      rects: track.rects.filter((rect) => rect[0] <= MOST_DEEP),
      y,
      height,
    });
    y += height;
  }
  return { rows, height: y, left: Math.max(0, tracks.length - MOST_TRACKS) };
}

/* The rectangle at a place; `near` is how far beside a narrow one still means it. */
export function rectAt(
  rows: TrackRow[],
  y: number,
  time: number,
  near: number,
  lane: number,
): SpanRect | null {
  const row = rows.find((one) => y >= one.y && y < one.y + one.height);
  const depth = row ? Math.floor((y - row.y - 2) / lane) : -1;
  let best: SpanRect | null = null;
  let distance = near;

  for (const rect of row?.rects ?? []) {
    if (rect[0] !== depth) continue;
    const off = Math.max(0, rect[2] - time, time - rect[2] - rect[3]);
    if (off <= distance) {
      best = rect;
      distance = off;
    }
  }
  return best;
}
