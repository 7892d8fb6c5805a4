/* Which colour a frame has, the same in every view of a page: functions go by their module, spans by their name. The groups that take most
 * have colours of their own; the others are pale and may share one. Pure. */

import { column, type PageData } from "../data/types";
import { CATEGORIES, faded, hashText, nthColour, type Rgb, shaded } from "../ui/colour";
import { type Frame, frames } from "./frames";

export interface Group {
  text: string; // the module, or the span
  colour: Rgb;
  isNamed: boolean; // has a colour of its own
}

export interface Palette {
  groupOf(frame: number): Group;
  colourOf(frame: number): Rgb; // a little lighter or darker than the group's, by the name: neighbours differ
}

const isSpan = (frame: Frame) => frame.language === "span";

function selfOf(data: PageData): Float64Array {
  const { list, siteBase } = frames(data);
  const self = new Float64Array(list.length);
  const add = (frame: number, ns: number) => {
    if (frame < self.length && ns > 0) self[frame]! += ns;
  };
  const site = column(data, "span_stats", "site");

  column(data, "functions", "self").forEach((ns, i) => add(i, ns));
  column(data, "span_stats", "self").forEach((ns, i) => add(siteBase + site[i]!, ns));
  return self;
}

/* Groups of one kind, those with the most self time first; of equal ones the first name. */
function rank(times: Map<string, number>): Map<string, Group> {
  const order = [...times].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1));

  return new Map(
    order.map(([text], i) => {
      const isNamed = i < CATEGORIES;
      return [text, { text, isNamed, colour: isNamed ? nthColour(i) : faded(nthColour(hashText(text))) }];
    }),
  );
}

function makePalette(data: PageData): Palette {
  const { list } = frames(data);
  const self = selfOf(data);
  const textOf = (frame: Frame) => (isSpan(frame) ? frame.name : frame.module);
  const times = { spans: new Map<string, number>(), modules: new Map<string, number>() };
  const kindOf = (frame: Frame) => (isSpan(frame) ? "spans" : "modules");

  list.forEach((frame, i) => {
    const kind = times[kindOf(frame)];
    kind.set(textOf(frame), (kind.get(textOf(frame)) ?? 0) + self[i]!);
  });
  const groups = { spans: rank(times.spans), modules: rank(times.modules) };
  const groupOf = (frame: number): Group => {
    const one = list[frame];
    return (one && groups[kindOf(one)].get(textOf(one))) ?? NOBODY;
  };
  return {
    groupOf,
    colourOf: (frame) => shaded(groupOf(frame).colour, list[frame]?.name ?? ""),
  };
}

const NOBODY: Group = { text: "", colour: [128, 128, 128], isNamed: false };

const known = new WeakMap<PageData, Palette>();

/* The palette of a page, made once. */
export function palette(data: PageData): Palette {
  let found = known.get(data);
  if (!found) known.set(data, (found = makePalette(data)));
  return found;
}
