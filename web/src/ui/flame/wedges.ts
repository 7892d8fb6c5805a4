/* Draws the boxes of a flame graph as rings. */

import type { Boxes } from "../../model/layout";
import { angleOf, radiiOf, type Rings } from "../../model/rings";
import type { Colours } from "../../state/theme";
import { CHAR_WIDTH, type Pen } from "../pen";
import { fit } from "../text";
import { type Look, painter } from "./look";

const FULL = 2 * Math.PI - 1e-9;

export function drawRings(pen: Pen, rings: Rings, boxes: Boxes, look: Look, colours: Colours): void {
  const marked: [number, string][] = [];
  const paint = painter(look, colours);
  const labels: (() => void)[] = []; // after all pieces, so that none covers them
  for (let box = 0; box < boxes.size; box++) {
    const node = boxes.node[box]!;
    if (boxes.depth[box]! < rings.centre) continue;
    if (node < 0) {
      drawWedge(pen, rings, boxes, box, colours.raised, colours.surface);
      continue;
    }
    const { fill, text } = paint(node);
    drawWedge(pen, rings, boxes, box, fill, colours.surface);
    labels.push(() => {
      if (boxes.depth[box]! === rings.centre) drawCentre(pen, rings, look.text(node), text);
      else drawLabel(pen, rings, boxes, box, (look.sign?.(node) ?? "") + look.text(node), text);
    });
    if (look.isChosen(node)) marked.push([box, colours.accent]);
    else if (look.isMatch?.(node)) marked.push([box, colours.match]);
  }
  for (const draw of labels) draw();
  for (const [box, stroke] of marked) outlineWedge(pen, rings, boxes, box, stroke);
}

function drawWedge(pen: Pen, rings: Rings, boxes: Boxes, box: number, fill: string, stroke: string): void {
  const { inner, outer } = radiiOf(rings, boxes.depth[box]!);
  const [from, to] = [angleOf(rings, boxes.from[box]!), angleOf(rings, boxes.to[box]!)];
  if (inner === 0) pen.wedge(rings.x, rings.y, 0, outer, 0, 2 * Math.PI, fill);
  else
    pen.wedge(rings.x, rings.y, inner, outer, from, to, fill, (to - from) * outer > 3 ? stroke : undefined);
}

/* Arcs with ends, as lines: a wedge's own stroke would go around what it is drawn on. */
export function outlineWedge(pen: Pen, rings: Rings, boxes: Boxes, box: number, stroke: string): void {
  const { inner, outer } = radiiOf(rings, boxes.depth[box]!);
  const [from, to] = [angleOf(rings, boxes.from[box]!), angleOf(rings, boxes.to[box]!)];
  const steps = Math.max(2, Math.ceil(((to - from) * outer) / 6));
  const points: number[] = [];
  const add = (radius: number, share: number) => {
    const angle = from + (to - from) * share;
    points.push(rings.x + (radius - 1) * Math.sin(angle), rings.y - (radius - 1) * Math.cos(angle));
  };
  for (let i = 0; i <= steps; i++) add(outer, i / steps);
  if (to - from < FULL) {
    for (let i = steps; i >= 0; i--) add(inner + 2, i / steps);
    add(outer, 0);
  }
  pen.line(points, stroke, 2);
}

function drawCentre(pen: Pen, rings: Rings, text: string, fill: string): void {
  const short = fit(text, rings.hole * 1.9, CHAR_WIDTH * 0.9);
  if (short !== "") pen.text(rings.x, rings.y, short, fill, { align: "center", size: 11 });
}

/* How wide and high a level text can be at an angle of a piece: a level line leaves it at its arcs or at its ends. */
function roomAt(angle: number, from: number, to: number, inner: number, outer: number): [number, number] {
  const radius = (inner + outer) / 2;
  const along = 2 * Math.min(angle - from, to - angle) * radius;
  const thickness = outer - inner;
  const [sine, cosine] = [Math.abs(Math.sin(angle)) + 1e-9, Math.abs(Math.cos(angle)) + 1e-9];
  /* A ring bends away: at its top and bottom a level line meets the inner arc, or the outer one, sooner. */
  const bend = 2 * Math.sqrt(thickness * radius);
  return [Math.min(thickness / sine, along / cosine, bend), Math.min(thickness / cosine, along / sine)];
}

/* Level, where there is the most room for it: in the middle of its piece, at the bottom of the ring, or near its top. */
function drawLabel(pen: Pen, rings: Rings, boxes: Boxes, box: number, text: string, fill: string): void {
  const { inner, outer } = radiiOf(rings, boxes.depth[box]!);
  const [from, to] = [angleOf(rings, boxes.from[box]!), angleOf(rings, boxes.to[box]!)];
  const radius = (inner + outer) / 2;
  let best = { angle: 0, width: 0 };
  for (const angle of [(from + to) / 2, Math.PI, from + 40 / radius, to - 40 / radius]) {
    const [width, height] = angle > from && angle < to ? roomAt(angle, from, to, inner, outer) : [0, 0];
    if (height >= 14 && width > best.width) best = { angle, width };
  }
  const short = fit(text, best.width - 8, CHAR_WIDTH * 0.9);
  if (short.length < 4 && short !== text) return;
  const [x, y] = [rings.x + radius * Math.sin(best.angle), rings.y - radius * Math.cos(best.angle)];
  if (best.width > 0) pen.text(x, y, short, fill, { align: "center", size: 11 });
}
