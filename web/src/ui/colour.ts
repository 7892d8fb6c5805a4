/* Colours that people with any eyes can tell apart: Okabe-Ito for categories, cividis and viridis for magnitudes, blue to orange for
 * differences. Text on any of them has a contrast of 4.5 or more. Pure: the page's own colours are in state/theme.ts. */

export type Rgb = readonly [number, number, number];

const OKABE_ITO: Rgb[] = [
  [0x56, 0xb4, 0xe9],
  [0xe6, 0x9f, 0x00],
  [0x00, 0x9e, 0x73],
  [0xcc, 0x79, 0xa7],
  [0x2f, 0x7f, 0xc1],
  [0xd5, 0x6e, 0x2c],
  [0xd9, 0xcb, 0x4a],
];

const BLACK: Rgb = [0, 0, 0];
const WHITE: Rgb = [255, 255, 255];
const GREY: Rgb = [0x9a, 0xa2, 0xae];

const VIRIDIS: Rgb[] = [
  [0x44, 0x01, 0x54],
  [0x3b, 0x52, 0x8b],
  [0x21, 0x91, 0x8c],
  [0x5e, 0xc9, 0x62],
  [0xfd, 0xe7, 0x25],
];

const CIVIDIS: Rgb[] = [
  [0x00, 0x22, 0x4e],
  [0x3f, 0x4d, 0x6c],
  [0x7b, 0x7b, 0x78],
  [0xba, 0xad, 0x6f],
  [0xfe, 0xe8, 0x38],
];

const DIFF: Rgb[] = [
  [0x1f, 0x6f, 0xb4],
  [0x8f, 0xbd, 0xe0],
  [0xd8, 0xd8, 0xd8],
  [0xf3, 0xb8, 0x78],
  [0xd9, 0x6a, 0x06],
];

/* FNV-1a: the same name has the same colour in every view and every run. */
export function hashText(text: string): number {
  let hash = 0x811c9dc5;

  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  return hash >>> 0;
}

export function css(colour: Rgb): string {
  return `rgb(${colour.map((part) => Math.round(part)).join(",")})`;
}

/* "#1b1e24" as three numbers. */
export function hexColour(hex: string): Rgb {
  const value = parseInt(hex.slice(1), 16);
  return [(value >> 16) & 255, (value >> 8) & 255, value & 255];
}

export function mix(a: Rgb, b: Rgb, share: number): Rgb {
  return [a[0] + (b[0] - a[0]) * share, a[1] + (b[1] - a[1]) * share, a[2] + (b[2] - a[2]) * share];
}

function scaleAt(scale: Rgb[], share: number): Rgb {
  const at = Math.min(1, Math.max(0, Number.isFinite(share) ? share : 0)) * (scale.length - 1);
  const low = Math.min(scale.length - 2, Math.floor(at));

  return mix(scale[low]!, scale[low + 1]!, at - low);
}

/* The colour of a category (a module, a language, a thread). */
export function categoryColour(key: string): Rgb {
  return OKABE_ITO[hashText(key) % OKABE_ITO.length]!;
}

/* The n-th category, where a view numbers them itself. */
export function nthColour(n: number): Rgb {
  return OKABE_ITO[n % OKABE_ITO.length]!;
}

/* How many colours can be told apart. */
export const CATEGORIES = OKABE_ITO.length;

/* The colour of a group, a little lighter or darker by the name of one in it, so that neighbours differ. */
export function shaded(colour: Rgb, name: string): Rgb {
  const shade = ((hashText(name) >>> 8) % 7) / 6;

  return mix(colour, WHITE, 0.08 + 0.34 * shade);
}

/* Nearly grey: for what has no colour of its own. */
export function faded(colour: Rgb): Rgb {
  return mix(colour, GREY, 0.82);
}

/* 0 … 1 to a colour. */
export function magnitudeColour(share: number, scale: "viridis" | "cividis" = "cividis"): Rgb {
  return scaleAt(scale === "viridis" ? VIRIDIS : CIVIDIS, share);
}

/* -1 (much less: blue) … 0 (the same: grey) … 1 (much more: orange). */
export function diffColour(change: number): Rgb {
  return scaleAt(DIFF, (Math.min(1, Math.max(-1, change)) + 1) / 2);
}

/* WCAG's relative luminance. */
export function luminance(colour: Rgb): number {
  const linear = colour.map((part) => {
    const share = part / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });

  return 0.2126 * linear[0]! + 0.7152 * linear[1]! + 0.0722 * linear[2]!;
}

export function contrast(a: Rgb, b: Rgb): number {
  const [light, dark] = [luminance(a), luminance(b)].sort((x, y) => y - x) as [number, number];

  return (light + 0.05) / (dark + 0.05);
}

/* Black or white, whichever is read better: one of them always has a contrast of 4.58. */
export function textOn(colour: Rgb): Rgb {
  return contrast(colour, BLACK) >= contrast(colour, WHITE) ? BLACK : WHITE;
}
