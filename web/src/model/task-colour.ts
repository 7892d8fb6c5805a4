/* The colour of a task: by its name, the same in every recording. Some colours mean what they mean in dask: red moves data between workers,
 * orange to or from a disk, grey makes objects of bytes, black failed. Names have none of these. Pure. */

import { hashText, mix, type Rgb } from "../ui/colour";
import type { TaskName } from "./tasks";

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
const TRANSFER: Rgb = [0xd6, 0x3b, 0x35];
const DISK: Rgb = [0xf0, 0x97, 0x1c];
const DESERIALIZE: Rgb = [0x9a, 0xa2, 0xae];
const BESIDE = [TRANSFER, DISK, DISK, DESERIALIZE]; // of actions from 1 on

const WHITE: Rgb = [255, 255, 255];
const SHADES = 5;
const LIGHTEST = 0.45;

export function nameColour({ text, action }: TaskName): Rgb {
  if (action > 0) return BESIDE[action - 1] ?? DESERIALIZE;
  const hash = hashText(text);
  const shade = ((hash >>> 12) % SHADES) / (SHADES - 1);

  return mix(HUES[hash % HUES.length]!, WHITE, LIGHTEST * shade);
}
