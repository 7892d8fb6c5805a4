/* What the search has found in the whole run: how many spans, and which part of all time within spans. From the table of paths, so that it is
 * exact whatever is folded in the picture. Pure. */

import type { PageData } from "../../data/types";
import { column } from "../../data/types";

export interface Found {
  spans: number;
  share: number; // a span inside of another that was found counts once; NaN: there are no spans
}

/* On these tracks; null: all. */
export function foundSpans(data: PageData, matches: ArrayLike<number>, tracks: number[] | null): Found {
  const of = (name: string) => column(data, "paths", name);
  const [parent, site, track] = [of("parent"), of("site"), of("track")];
  const [count, total] = [of("count"), of("total")];
  const isInside = new Uint8Array(site.length); // in one that was found
  const wanted = tracks && new Set(tracks);
  let all = 0;
  let found = 0;
  let spans = 0;

  for (let i = 0; i < site.length; i++) {
    if (wanted && !wanted.has(track[i]!)) continue;
    const isBelow = parent[i]! > 0 && isInside[parent[i]! - 1] === 1;
    const isFound = matches[site[i]!] === 1;
    if (parent[i] === 0) all += total[i]!;
    if (isFound) spans += count[i]!;
    if (isFound && !isBelow) found += total[i]!;
    if (isFound || isBelow) isInside[i] = 1;
  }
  return { spans, share: found / (all || NaN) };
}
