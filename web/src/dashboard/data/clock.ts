/* Times of the dashboard: inside, nanoseconds since the origin (the start of what is followed); at the axes, the reader's clock. Pure. */

import type { Scale } from "../../ui/time/frame";
import { tickStep } from "../../ui/format";

export const S = 1e9;

/* Whole parts of a minute, an hour, a day. */
const STEPS = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200, 86400];

export function clockStep(span: number, most: number): number {
  const least = span / Math.max(1, most);
  const found = STEPS.find((step) => step * S >= least);

  return least < S ? tickStep(span, most) : (found ?? STEPS.at(-1)!) * S;
}

const two = (n: number) => String(n).padStart(2, "0");

/* "14:03:07", with as many digits as tell it from the next tick; without seconds where all are whole minutes. */
export function clockText(unixMs: number, step: number): string {
  const places = step >= S ? 0 : Math.min(6, Math.max(1, Math.ceil(-Math.log10(step / S) - 1e-9)));
  const at = new Date(unixMs);
  const hours = `${two(at.getHours())}:${two(at.getMinutes())}`;

  if (Number.isNaN(at.getTime())) return "–";
  if (step >= 60 * S) return hours;
  if (!places) return `${hours}:${two(at.getSeconds())}`;
  const seconds = at.getSeconds() + (unixMs - Math.floor(unixMs / 1000) * 1000) / 1000;
  const cut = Math.floor(seconds * 10 ** places + 1e-4) / 10 ** places;
  return `${hours}:${cut.toFixed(places).padStart(places + 3, "0")}`;
}

/* Ticks at whole times of the reader's clock. */
export function clockScale(originMs: number): Scale {
  const zone = new Date(originMs).getTimezoneOffset() * 60_000;

  return {
    step: clockStep,
    offset: -(((originMs - zone) % 86_400_000) * 1e6),
    text: (time, step) => clockText(originMs + time / 1e6, step),
  };
}
