/* The colours of tasks: by their names, the same in every recording with these names. Some colours mean what they mean in dask: red moves data
 * between workers, orange to or from a disk, grey makes objects of bytes, black failed. Names have none of these. Pure. */

import { hashText, mix, type Rgb } from "../ui/colour";

const HUES: Rgb[] = [
  [0x56, 0xb4, 0xe9],
  [0x00, 0x9e, 0x73],
  [0xcc, 0x79, 0xa7],
  [0x2f, 0x7f, 0xc1],
  [0xd9, 0xcb, 0x4a],
  [0x8e, 0x7c, 0xc3],
  [0x9b, 0xb0, 0x3c],
  [0x4f, 0xbd, 0xb2],
];

export const FAILED_COLOUR: Rgb = [0x0c, 0x0d, 0x10];
const FAILED_ON_DARK: Rgb = [0xf4, 0xf5, 0xf7];
export const TRANSFER_COLOUR: Rgb = [0xd6, 0x3b, 0x35];
const DISK: Rgb = [0xf0, 0x97, 0x1c];
const DESERIALIZE: Rgb = [0x9a, 0xa2, 0xae];
const BESIDE = [TRANSFER_COLOUR, DISK, DISK, DESERIALIZE]; // of actions from 1 on

const WHITE: Rgb = [255, 255, 255];
const SHADES = 5;
const LIGHTEST = 0.45;

/* Black on a dark ground is not seen: there it is white. */
export function failedColour(isDark: boolean): Rgb {
  return isDark ? FAILED_ON_DARK : FAILED_COLOUR;
}

/* What is done beside computing. */
export function actionColour(action: number): Rgb {
  return BESIDE[action - 1] ?? DESERIALIZE;
}

/* Gives names colours as they come. The hash of a name says which one it gets; one that others have already gives way to the next, so that a
 * few names never look the same. What a name has got it keeps. */
export function colourGiver(): (name: string) => Rgb {
  const taken = new Uint32Array(HUES.length);
  const colours = new Map<string, Rgb>();

  return (name) => {
    const given = colours.get(name);
    if (given) return given;
    const hash = hashText(`${name} `) >>> 7; // the lowest bits say little
    const least = Math.min(...taken);
    let hue = hash % HUES.length;
    while (taken[hue] !== least) hue = (hue + 1) % HUES.length;
    const shade = ((hash >>> 3) + taken[hue]!++) % SHADES;
    const colour = mix(HUES[hue]!, WHITE, (LIGHTEST * shade) / (SHADES - 1));
    colours.set(name, colour);
    return colour;
  };
}

/* Of names that are all known: in whatever order they stand, the same colours. */
export function nameColours(names: readonly string[]): Map<string, Rgb> {
  const give = colourGiver();

  return new Map([...new Set(names)].sort().map((name) => [name, give(name)]));
}
