/* Where the texts of an axis stand: beside their ticks, on the side where there is room. Pure. */

import { CHAR_WIDTH } from "./pen";

export interface Tick {
  x: number;
  text: string;
}

export interface TickLabel {
  x: number; // where the text begins, or ends
  text: string;
  align: "left" | "right";
}

export const LABEL_SIZE = 11;
const GAP = 4;

/* On the right of the tick; that of the last one, where it would be cut, on the left, unless another stands there. */
export function tickLabels(ticks: readonly Tick[], left: number, right: number): TickLabel[] {
  const list: TickLabel[] = [];
  let end = left;

  for (const { x, text } of ticks) {
    const width = text.length * CHAR_WIDTH * (LABEL_SIZE / 12);
    if (x + GAP + width <= right) {
      list.push({ x: x + GAP, text, align: "left" });
      end = x + GAP + width;
    } else if (x - GAP - width >= end + GAP) list.push({ x: x - GAP, text, align: "right" });
  }
  return list;
}
