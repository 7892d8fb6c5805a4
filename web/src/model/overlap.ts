/* Sites whose spans are async only. Such spans overlap each other, so that their times add up to no whole: they have no share. Pure. */

import { column, type PageData } from "../data/types";

/* Said where nothing has a share. */
export const OVERLAP = "Async spans and those of traces overlap: their times are no shares of a whole.";

const known = new WeakMap<PageData, Uint8Array>();

/* One byte for each site: 1 if all its spans are async. Made once for a page. */
export function asyncSites(data: PageData): Uint8Array {
  const found = known.get(data);
  if (found) return found;
  const isAsync = new Uint8Array(data.tables["sites"]?.rows ?? 0);
  for (const site of column(data, "async", "site")) isAsync[site] = 1;
  for (const site of column(data, "paths", "site")) isAsync[site] = 0;
  known.set(data, isAsync);
  return isAsync;
}
