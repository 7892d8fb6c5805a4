/* The ways to change the selection: every view goes through these, so that "back" and the address always work. */

import { signal } from "@preact/signals";
import type { Range } from "../data/work";
import { NOTHING, selection, view } from "./selection";
import type { Selection } from "./selection";
import { say } from "./status";

const MOST_KEPT = 50;
const earlier = signal<Selection[]>([]);

/* Remembers the selection that was, then takes the new one. */
export function choose(change: Partial<Selection>): void {
  const now = selection.peek();

  earlier.value = [...earlier.peek().slice(-MOST_KEPT + 1), now];
  take({ ...now, ...change });
}

/* What was said about a span goes with it. */
function take(next: Selection): void {
  if (isEmpty(next) || (selection.peek().span && !next.span)) say("");
  selection.value = next;
}

export function chooseRange(range: Range | null): void {
  const from = Math.round(range?.from ?? 0);
  const to = Math.round(range?.to ?? 0);

  choose({ range: to > from ? { from, to } : null });
}

/* One frame; with `add` it joins or leaves those that are chosen. */
export function chooseFrame(key: string, add = false): void {
  const frames = selection.peek().frames;

  if (!add) choose({ frames: frames.length === 1 && frames[0] === key ? frames : [key] });
  else choose({ frames: frames.includes(key) ? frames.filter((one) => one !== key) : [...frames, key] });
}

/* Threads by index; null: all. */
export function chooseTracks(tracks: number[] | null): void {
  choose({ tracks: tracks && tracks.length ? tracks : null });
}

export function chooseNothing(): void {
  if (!isEmpty(selection.peek())) choose(NOTHING);
}

/* The selection before the last change. */
export function chooseBack(): void {
  const list = earlier.peek();
  const last = list[list.length - 1];

  if (!last) return;
  earlier.value = list.slice(0, -1);
  take(last);
}

export function showView(id: string): void {
  if (view.peek() !== id) say("");
  view.value = id;
}

export function isEmpty(now: Selection): boolean {
  return !now.range && !now.tracks && now.frames.length === 0 && !now.span;
}
