/* From when to when the timeline goes: what it has to show, not the whole life of the recording. Pure. */

import type { Column, PageData } from "../../data/types";
import { column } from "../../data/types";
import type { Range } from "../../data/work";

export function extentOf(data: PageData): Range {
  const { tracks, processes, duration_ns } = data.recording;
  const all: Range = { from: Infinity, to: -Infinity };
  const add = (from: number, to: number) => {
    if (Number.isFinite(from) && from < all.from) all.from = from;
    if (Number.isFinite(to) && to > all.to) all.to = to;
  };
  const addEach = (times: Column, lengths?: Column) => {
    for (let i = 0; i < times.length; i++) add(times[i]!, times[i]! + (lengths?.[i] ?? 0));
  };

  for (const { start_ns, end_ns } of [...tracks, ...processes]) add(start_ns, end_ns);
  addEach(column(data, "async", "start"), column(data, "async", "duration"));
  for (const name of ["counters", "marks", "errors"]) addEach(column(data, name, "time"));
  /* Readings go on before and after a program: they count where there is nothing else. */
  if (!(all.to > all.from)) addEach(column(data, "resources", "time"));
  if (!(all.to > all.from)) add(0, Math.max(1, duration_ns));
  return { from: all.from, to: Math.max(all.from + 1, all.to) };
}
