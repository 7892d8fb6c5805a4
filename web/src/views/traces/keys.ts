/* What each key does in a waterfall. */

import type { TraceSpans } from "../../model/traces";
import { nextMarked } from "../../model/waterfall";
import { panWindow, WHOLE, type Window, zoomWindow } from "../../model/zoom";
import type { KeyAction } from "../../state/keys";

/* What a waterfall lets its keys do. */
export interface Grip {
  spans: TraceSpans;
  open: Uint8Array;
  rows: Uint32Array;
  at: number; // row with the focus
  page: number; // rows in sight
  window: Window;
  errorsBefore: Uint32Array;
  matchesBefore: Uint32Array | null; // null: nobody searches
  hasDetails: boolean;
  onRow(row: number): void;
  onGo(span: number): void; // opens what is above it
  onOpen(open: "one" | "all" | "none"): void;
  onDetails(isOpen: boolean): void;
  onZoom(window: Window): void;
  onPath(): void;
  onList: (() => void) | null; // null: there is no list
}

const STEP = 0.25;

/* The part of the time that a span fills. */
export function windowOf(spans: TraceSpans, span: number): Window {
  const whole = spans.duration || 1;
  const from = Math.min(1, Math.max(0, spans.start[span]! / whole));
  const width = Math.max(spans.length[span]! / whole, 1e-9);

  return { from: Math.min(from, 1 - width), to: Math.min(1, from + width) };
}

export function waterfallKeys(grip: Grip): KeyAction[] {
  const { spans, rows, at, window, onRow, onGo, onZoom } = grip;
  const span = rows[at] ?? 0;
  const hasChildren = spans.size > 0 && spans.end[span]! > span + 1;
  const parent = spans.parent[span] ?? -1;
  const bar = windowOf(spans, span);
  const middle = Math.min(window.to, Math.max(window.from, (bar.from + bar.to) / 2));
  const go = (before: Uint32Array | null, direction: 1 | -1) => {
    const next = before ? nextMarked(before, span, direction) : -1;
    if (next >= 0) onGo(next);
  };
  const sameName = (direction: 1 | -1) => {
    for (let step = 1; step < spans.size; step++) {
      const other = (span + direction * step + spans.size) % spans.size;
      if (spans.name[other] === spans.name[span]) return onGo(other);
    }
  };
  const right = () => {
    if (hasChildren && !grip.open[span]) grip.onOpen("one");
    else if (hasChildren) onRow(at + 1);
  };
  const left = () => {
    if (hasChildren && grip.open[span]) grip.onOpen("one");
    else if (parent >= 0) onGo(parent);
  };
  const found: KeyAction[] = grip.matchesBefore
    ? [
        { keys: ["Enter"], title: "next match", run: () => go(grip.matchesBefore, 1) },
        { keys: ["Shift+Enter"], title: "previous match", run: () => go(grip.matchesBefore, -1) },
      ]
    : [];
  const close: KeyAction[] = grip.hasDetails
    ? [{ keys: ["Escape"], title: "close the details", run: () => grip.onDetails(false) }]
    : [];
  const list: KeyAction[] = grip.onList
    ? [{ keys: ["Backspace", "u"], title: "all traces", run: grip.onList }]
    : [];

  return [
    ...found,
    ...close,
    { keys: ["ArrowDown"], title: "next row", run: () => onRow(at + 1) },
    { keys: ["ArrowUp"], title: "row before", run: () => onRow(at - 1) },
    { keys: ["PageDown"], title: "", run: () => onRow(at + grip.page) },
    { keys: ["PageUp"], title: "", run: () => onRow(at - grip.page) },
    { keys: ["Home"], title: "first row", run: () => onRow(0) },
    { keys: ["End"], title: "last row", run: () => onRow(rows.length - 1) },
    { keys: ["ArrowRight"], title: "open it, or go to what is inside", run: right },
    { keys: ["ArrowLeft"], title: "close it, or go to the span around it", run: left },
    { keys: ["Enter", " "], title: "details", run: () => grip.onDetails(!grip.hasDetails) },
    { keys: ["+", "*"], title: "open everything", run: () => grip.onOpen("all") },
    { keys: ["-"], title: "close everything", run: () => grip.onOpen("none") },
    { keys: ["e"], title: "next error", run: () => go(grip.errorsBefore, 1) },
    { keys: ["E"], title: "error before", run: () => go(grip.errorsBefore, -1) },
    { keys: ["."], title: "next of the same name", run: () => sameName(1) },
    { keys: [","], title: "previous of the same name", run: () => sameName(-1) },
    { keys: ["p"], title: "critical path", run: grip.onPath },
    { keys: ["w", "W"], title: "zoom in", run: () => onZoom(zoomWindow(window, 0.5, middle)) },
    { keys: ["s", "S"], title: "zoom out", run: () => onZoom(zoomWindow(window, 2, middle)) },
    { keys: ["a", "A"], title: "to the left", run: () => onZoom(panWindow(window, -STEP)) },
    { keys: ["d", "D"], title: "to the right", run: () => onZoom(panWindow(window, STEP)) },
    { keys: ["f"], title: "zoom to the span", run: () => onZoom(bar) },
    { keys: ["0"], title: "show all of the time", run: () => onZoom(WHOLE) },
    ...list,
  ];
}
