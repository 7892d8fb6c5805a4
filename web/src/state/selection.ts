/* The one selection that all views share, and its form in the address. Views read the signals and call the functions; nobody keeps a
 * copy. */

import { signal } from "@preact/signals";
import type { Range } from "../data/work";

export interface Selection {
  range: Range | null; // null: all of the time
  tracks: number[] | null; // indices; null: all
  frames: string[]; // keys of functions and sites: see frameKey()
  span: { track: number; start: number; depth: number } | null; // the one that was clicked
}

export const NOTHING: Selection = { range: null, tracks: null, frames: [], span: null };

export const selection = signal<Selection>(NOTHING);
export const view = signal<string>("overview");
export const search = signal<string>(""); // plain text, or /regular expression/
/* What a view remembers of itself in the address: its mode, its order, what is folded. */
export const viewOptions = signal<Record<string, string>>({});

/* How a function or a site is named in the selection and in the address: the same for a function that is in `functions`, in `sites` and in
 * `line_functions`, so that choosing it in one view finds it in all. */
export function frameKey(name: string, file: string, line: number): string {
  return `${name}\u0001${file}\u0001${line}`;
}
