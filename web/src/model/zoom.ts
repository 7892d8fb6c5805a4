/* Which part of a tree is looked at, and how that is written in the address. */

import type { Tree } from "./tree";

/* The part of the whole width that is shown. */
export interface Window {
  from: number; // 0 … 1
  to: number;
}

export const WHOLE: Window = { from: 0, to: 1 };

/* A window, and how deep the node lies that was chosen to fill it: several may fill the same one. */
export interface Zoom {
  window: Window;
  depth: number;
}

export const NO_ZOOM: Zoom = { window: WHOLE, depth: 0 };

/* Where a node lies, whether it is drawn or not. */
export function extentOf(tree: Tree, node: number): Window {
  const whole = tree.width(0);
  let from = 0;
  for (let at = node; at > 0; at = tree.parent(at)) {
    const siblings = tree.children(tree.parent(at));
    for (let i = 0; i < siblings.length && siblings[i] !== at; i++) from += tree.width(siblings[i]!) / whole;
  }
  return whole > 0 ? { from, to: from + tree.width(node) / whole } : WHOLE;
}

/* Nodes from the root down to the innermost one that fills the window: the way to where one is. */
export function trailOf(tree: Tree, window: Window): number[] {
  const whole = tree.width(0);
  const trail = [0];
  const slack = (window.to - window.from) * 1e-6 + 1e-12;
  let begin = 0;
  for (let node = 0; whole > 0;) {
    const children = tree.children(node);
    let found = -1;
    let at = begin;
    for (let i = 0; i < children.length && at <= window.from + slack; i++) {
      const end = at + tree.width(children[i]!) / whole;
      if (at <= window.from + slack && end >= window.to - slack) {
        found = children[i]!;
        begin = at;
      }
      at = end;
    }
    if (found < 0) break;
    trail.push(found);
    node = found;
  }
  return trail;
}

/* The same, down to the node that was chosen at most. */
export function zoomTrail(tree: Tree, zoom: Zoom): number[] {
  return trailOf(tree, zoom.window).slice(0, zoom.depth + 1);
}

export function zoomTo(tree: Tree, node: number): Zoom {
  let depth = 0;
  for (let at = node; at > 0; at = tree.parent(at)) depth++;
  return { window: extentOf(tree, node), depth };
}

export function writeZoom({ window, depth }: Zoom): string {
  if (window.from === 0 && window.to === 1 && depth === 0) return "";
  return [window.from.toPrecision(12), window.to.toPrecision(12), depth].join("~");
}

/* What cannot be is no zoom at all. */
export function readZoom(text: string): Zoom {
  const [from, to, depth] = text.split("~").map(Number);
  if (from === undefined || to === undefined || depth === undefined) return NO_ZOOM;
  const isPossible = from >= 0 && to > from && to <= 1 + 1e-9 && Number.isInteger(depth) && depth >= 0;
  return isPossible ? { window: { from, to }, depth } : NO_ZOOM;
}

const NARROWEST_WINDOW = 1e-12;

/* The window with its width multiplied, the place `at` (fraction of the whole) kept where it is. */
export function zoomWindow(window: Window, factor: number, at: number): Window {
  const width = Math.min(1, Math.max(NARROWEST_WINDOW, (window.to - window.from) * factor));
  const share = (at - window.from) / (window.to - window.from);
  return moveInside({ from: at - share * width, to: at + (1 - share) * width });
}

export function panWindow(window: Window, share: number): Window {
  const step = (window.to - window.from) * share;
  return moveInside({ from: window.from + step, to: window.to + step });
}

function moveInside({ from, to }: Window): Window {
  const width = Math.min(1, to - from);
  const begin = Math.min(Math.max(0, from), 1 - width);
  return { from: begin, to: begin + width };
}
