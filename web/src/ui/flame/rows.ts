/* Draws the boxes of a flame graph in rows: the root on top, or at the bottom. */

import type { Boxes } from "../../model/layout";
import type { Window } from "../../model/zoom";
import type { Colours } from "../../state/theme";
import { CHAR_WIDTH, type Pen } from "../pen";
import { fit } from "../text";
import type { Size } from "../use";
import { type Look, painter } from "./look";

export const ROW = 20;
const NARROWEST_TEXT = 28;
const PAD = 5;

export interface Rows {
  size: Size;
  window: Window;
  firstRow: number;
  isUpward: boolean; // the root at the bottom
}

export function rowsInSight(height: number): number {
  return Math.max(1, Math.floor(height / ROW));
}

export function placeInRows(rows: Rows, x: number, y: number): { at: number; depth: number } {
  const { window, size } = rows;
  const down = rows.isUpward ? size.height - y : y;
  return {
    at: window.from + (x / size.width) * (window.to - window.from),
    depth: rows.firstRow + Math.floor(down / ROW),
  };
}

/* Where a box lies on the canvas, cut at its edges. */
function rectOf(rows: Rows, boxes: Boxes, box: number): { x: number; y: number; width: number } {
  const { window, size } = rows;
  const scale = size.width / (window.to - window.from);
  const left = Math.max(0, (boxes.from[box]! - window.from) * scale);
  const right = Math.min(size.width, (boxes.to[box]! - window.from) * scale);
  const row = boxes.depth[box]! - rows.firstRow;
  return { x: left, y: rows.isUpward ? size.height - (row + 1) * ROW : row * ROW, width: right - left };
}

export function drawRows(pen: Pen, rows: Rows, boxes: Boxes, look: Look, colours: Colours): void {
  const marked: [number, string][] = [];
  const paint = painter(look, colours);
  for (let box = 0; box < boxes.size; box++) {
    const { x, y, width } = rectOf(rows, boxes, box);
    const node = boxes.node[box]!;
    const seam = width > 3 ? 1 : 0; // between neighbours
    if (width <= 0 || y >= rows.size.height || y + ROW <= 0) continue;
    if (node < 0) {
      pen.rect(x, y, width - seam, ROW - 1, colours.raised);
      pen.hatch(x, y, width - seam, ROW - 1, colours.line);
      continue;
    }
    const { fill, text } = paint(node);
    pen.rect(x, y, width - seam, ROW - 1, fill);
    if (width >= NARROWEST_TEXT)
      drawText(pen, x, y, width - seam, (look.sign?.(node) ?? "") + look.text(node), text);
    if (look.isChosen(node)) marked.push([box, colours.accent]);
    else if (look.isMatch?.(node)) marked.push([box, colours.match]);
  }
  for (const [box, stroke] of marked) outlineBox(pen, rows, boxes, box, stroke, colours.surface);
}

function drawText(pen: Pen, x: number, y: number, width: number, text: string, fill: string): void {
  const short = fit(text, width - 2 * PAD, CHAR_WIDTH);
  const draw = () => pen.text(x + PAD, y + ROW / 2, short, fill);
  if (short === "") return;
  if (short.length * CHAR_WIDTH * 1.4 > width - 2 * PAD) pen.clip(x, y, width - 2, ROW, draw);
  else draw();
}

/* With a line of the ground's colour inside, so that it is seen on every colour. */
export function outlineBox(
  pen: Pen,
  rows: Rows,
  boxes: Boxes,
  box: number,
  stroke: string,
  ground: string,
): void {
  const { x, y, width } = rectOf(rows, boxes, box);
  if (width >= 12) pen.outline(x + 2, y + 2, width - 5, ROW - 5, ground);
  if (width >= 4) pen.outline(x, y, width - 1, ROW - 1, stroke, 2);
  else pen.rect(x, y, Math.max(1, width), ROW - 1, stroke);
}

/* How far one has scrolled, at the right edge, where not everything is in sight. */
export function drawScroll(pen: Pen, rows: Rows, depth: number, colours: Colours): void {
  const inSight = rowsInSight(rows.size.height);
  if (depth < inSight) return;
  const height = Math.max(24, (rows.size.height * inSight) / (depth + 1));
  const down = ((rows.size.height - height) * rows.firstRow) / Math.max(1, depth + 1 - inSight);
  const y = rows.isUpward ? rows.size.height - height - down : down;
  pen.rect(rows.size.width - 5, y, 4, height, colours.muted);
}
