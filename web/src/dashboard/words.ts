/* How the dashboard says its numbers. */

import { formatBytes, formatCount, formatShort } from "../ui/format";
import type { Known } from "./data/types";

/* "1.25 cores". */
export function formatCores(cores: number): string {
  return cores.toFixed(2);
}

/* Of a second: "12.3 k/s". */
export function formatRate(value: number): string {
  return value === 0 ? "0" : `${formatShort(value)}/s`;
}

export function formatByteRate(value: number): string {
  return `${formatBytes(value)}/s`;
}

export function known(value: Known | undefined, format: (value: number) => string): string {
  return value === null || value === undefined || !Number.isFinite(value) ? "–" : format(value);
}

export function plural(count: number, one: string, many = `${one}s`): string {
  return `${formatCount(count)} ${count === 1 ? one : many}`;
}

export function nothing(isSearched: boolean): string {
  return isSearched ? "Nothing here matches the search." : "Nothing yet.";
}

/* "12,345", "1.23 M". */
export function formatMany(count: number): string {
  return count < 1e6 ? formatCount(Math.round(count)) : formatShort(count);
}
