/* A flame graph bent into rings: the same boxes, a node in the middle, what it calls around it. */

import type { Window } from "./zoom";

export const MOST_RINGS = 10;

export interface Rings {
  x: number; // of the middle
  y: number;
  hole: number; // radius of the node in the middle
  ring: number; // thickness of one ring
  centre: number; // depth of the node in the middle
  window: Window;
}

export function ringsOf(width: number, height: number, centre: number, depth: number, window: Window): Rings {
  const radius = Math.max(1, Math.min(width, height) / 2 - 8);
  const rings = Math.min(MOST_RINGS, Math.max(3, depth - centre));
  const hole = (radius / (rings + 1.2)) * 1.2;
  return { x: width / 2, y: height / 2, hole, ring: (radius - hole) / rings, centre, window };
}

/* Radians, 0 is up, clockwise: all of the window goes once around. */
export function angleOf(rings: Rings, at: number): number {
  const { from, to } = rings.window;
  return 2 * Math.PI * Math.min(1, Math.max(0, (at - from) / (to - from)));
}

export function radiiOf(rings: Rings, depth: number): { inner: number; outer: number } {
  const inner = rings.hole + (depth - rings.centre - 1) * rings.ring;
  return depth <= rings.centre ? { inner: 0, outer: rings.hole } : { inner, outer: inner + rings.ring };
}

/* What lies at a point, as boxes have it: a fraction of the whole width, and a depth. */
export function placeInRings(rings: Rings, x: number, y: number): { at: number; depth: number } {
  const [dx, dy] = [x - rings.x, y - rings.y];
  const radius = Math.hypot(dx, dy);
  const turn = (Math.atan2(dx, -dy) / (2 * Math.PI) + 1) % 1;
  const depth =
    radius < rings.hole ? rings.centre : rings.centre + 1 + Math.floor((radius - rings.hole) / rings.ring);
  return { at: rings.window.from + turn * (rings.window.to - rings.window.from), depth };
}
