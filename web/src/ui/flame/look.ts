/* How the nodes of a flame graph look: what views decide, for both shapes. */

import type { Colours } from "../../state/theme";
import { css, hexColour, mix, type Rgb, textOn } from "../colour";

export interface Look {
  text(node: number): string; // clean
  colour(node: number): Rgb;
  isPlain(node: number): boolean; // stands for a process, a thread, everything: has no colour of its own
  sign?(node: number): string; // before the text: what the colour says, for those who do not see it
  isMatch: ((node: number) => boolean) | null; // null: nobody searches
  isChosen(node: number): boolean;
}

export interface Paints {
  fill: string;
  text: string;
}

/* What a node is drawn with: pale if something is searched for and this is not it. Views give the same colour for the same frame again and
 * again: each is written as CSS once a picture. */
export function painter(look: Look, colours: Colours): (node: number) => Paints {
  const plain = hexColour(colours.raised);
  const surface = hexColour(colours.surface);
  const strong = new Map<Rgb, Paints>();
  const pale = new Map<Rgb, Paints>();
  const paintsOf = (colour: Rgb) => ({ fill: css(colour), text: css(textOn(colour)) });
  return (node) => {
    const colour = look.isPlain(node) ? plain : look.colour(node);
    const isPale = look.isMatch !== null && node !== 0 && !look.isMatch(node);
    const known = isPale ? pale : strong;
    let paints = known.get(colour);
    if (!paints) known.set(colour, (paints = paintsOf(isPale ? mix(colour, surface, 0.72) : colour)));
    return paints;
  };
}
