/* Counters as series of values. Pure. */

import type { PageData } from "../../data/types";
import { column } from "../../data/types";
import { makeSeries } from "../../ui/time/curve";
import type { Series } from "../../ui/time/curve";

/* The values of one counter of one process, by time. */
export function seriesOf(data: PageData, process: number, site: number): Series {
  const track = column(data, "counters", "track");
  const sites = column(data, "counters", "site");
  const time = column(data, "counters", "time");
  const value = column(data, "counters", "value");
  const rows: number[] = [];

  for (let i = 0; i < sites.length; i++)
    if (
      sites[i] === site &&
      (data.recording.tracks[track[i]! - 1]?.process ?? -1) === process &&
      !Number.isNaN(value[i]!)
    )
      rows.push(i);
  rows.sort((a, b) => time[a]! - time[b]!);
  return makeSeries(
    Float64Array.from(rows, (i) => time[i]!),
    Float64Array.from(rows, (i) => value[i]!),
  );
}
