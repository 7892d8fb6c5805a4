/* The five that matter most: functions and spans by self time. Pure. */

import type { StatsReply } from "../../data/work";
import { column } from "../../data/types";
import type { PageData } from "../../data/types";
import { frames } from "../../model/frames";
import type { Frame } from "../../model/frames";
import { asyncSites } from "../../model/overlap";

export interface Top {
  frame: Frame;
  ns: number;
  share: number; // of all in the list; NaN: there is no whole that it is a share of
  count: number;
}

const MOST = 5;

function largest(values: ArrayLike<number>): number[] {
  const order = Array.from({ length: values.length }, (_, i) => i);

  return order
    .filter((i) => values[i]! > 0)
    .sort((a, b) => values[b]! - values[a]!)
    .slice(0, MOST);
}

export function sumOf(values: ArrayLike<number>): number {
  return Array.from(values).reduce((sum, value) => sum + (value > 0 ? value : 0), 0);
}

export function topFunctions(data: PageData): Top[] {
  const self = column(data, "functions", "self");
  const calls = column(data, "functions", "calls");
  const samples = column(data, "functions", "samples");
  const all = sumOf(self);

  return largest(self).map((i) => ({
    frame: frames(data).list[i]!,
    ns: self[i]!,
    share: self[i]! / all,
    count: calls[i] || samples[i] || 0,
  }));
}

type SpanNumbers = Pick<StatsReply, "site" | "count" | "total" | "self">;

/* The numbers of all spans, as the tool made them. */
export function allSpans(data: PageData): SpanNumbers {
  const read = (name: string) => column(data, "span_stats", name) as never;

  return { site: read("site"), count: read("count"), total: read("total"), self: read("self") };
}

/* A share is that of self time: totals of nested spans add up to more than there was, and async spans overlap. */
export function topSpans(data: PageData, numbers: SpanNumbers): Top[] {
  const { list, siteBase } = frames(data);
  const isAsync = asyncSites(data);
  const all = sumOf(Array.from(numbers.self, (self, i) => (isAsync[numbers.site[i]!] ? 0 : self)));

  return largest(numbers.self).flatMap((i) => {
    const frame = list[siteBase + numbers.site[i]!];
    const share = isAsync[numbers.site[i]!] ? NaN : numbers.self[i]! / all;
    return frame ? [{ frame, ns: numbers.self[i]!, share, count: numbers.count[i]! }] : [];
  });
}
