/* A rectangle of the timeline or of the task stream, with its name in it and marks that are no colours alone. Only with a Pen. */

import type { Colours } from "../../state/theme";
import { css, hexColour, mix, textOn } from "../colour";
import type { Rgb } from "../colour";
import { formatShort } from "../format";
import { CHAR_WIDTH } from "../pen";
import type { Pen } from "../pen";
import { fit } from "../text";

const LABEL_FROM = 28; // pixels
const SHORTEST = 4; // letters that still say something
const LOWEST = 14; // with room for a name

export interface Ink {
  fill: string;
  soft: string; // what is not chosen
  text: string;
  softText: string;
  name: string;
}

export function makeInk(colour: Rgb, name: string, colours: Colours): Ink {
  const soft = mix(colour, hexColour(colours.surface), 0.7);

  return {
    fill: css(colour),
    soft: css(soft),
    text: css(textOn(colour)),
    softText: css(textOn(soft)),
    name,
  };
}

export interface Box {
  x: number;
  y: number;
  wide: number; // as long as it took; what is narrower than a pixel is drawn one pixel wide
  lane: number; // how high, with the line of ground below
  count: number; // more than 1: so many are folded
  isSoft: boolean;
  isMatch: boolean;
  isError: boolean;
  isCut: boolean; // it had not ended
  isInGap: boolean; // events around it were lost
}

export function drawBox(pen: Pen, colours: Colours, ink: Ink, box: Box): void {
  const { x, y, wide, lane } = box;
  const width = wide > 3 ? wide - 0.5 : Math.max(1, wide);
  const height = Math.max(1, lane >= 3 ? lane - 1 : lane);

  pen.rect(x, y, width, height, box.isSoft ? ink.soft : ink.fill);
  if (lane < LOWEST) {
    if (box.isMatch) pen.rect(x, y, width, height, colours.match);
    return;
  }
  if (box.isInGap && width > 6) pen.hatch(x, y, width, height, colours.muted);
  if (box.isCut && width > 6)
    pen.hatch(x + Math.max(0, width - 12), y, Math.min(12, width), height, ink.text);
  if (box.isMatch) pen.rect(x, y + height - 3, width, 3, colours.match);
  if (box.isError) drawErrorCorner(pen, colours, x, y, width);
  if (width < LABEL_FROM) return;
  const label = fit(
    box.count > 1 ? `${formatShort(box.count)} × ${ink.name}` : ink.name,
    width - 8,
    CHAR_WIDTH,
  );
  if (label.length < SHORTEST && label.endsWith("…")) return;
  pen.text(x + 4, y + height / 2 + 0.5, label, box.isSoft ? ink.softText : ink.text, { size: 11.5 });
}

/* A corner and not a colour alone: errors are seen by everybody. */
function drawErrorCorner(pen: Pen, colours: Colours, x: number, y: number, width: number): void {
  if (width < 6) pen.rect(x, y, Math.max(1.5, width), 4, colours.error);
  else pen.area([x + width - 7, y, x + width, y, x + width, y + 7], colours.error);
}
