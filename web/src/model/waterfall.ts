/* Which rows of a trace are in sight, and where their bars lie. Pure. */

import type { PageData } from "../data/types";
import { column } from "../data/types";
import type { Range } from "../data/work";
import type { Matcher } from "../state/search";
import { firstAttribute, type TraceSpans } from "./traces";
import type { Window } from "./zoom";

/* What is open at first: all of it if that makes few rows, three levels if not too many; the children of roots in any case. */
const FEW_ROWS = 40;
const LEVELS = 3;
const MOST_ROWS = 200;

/* One byte a span: its children are shown. */
export function openLevels(spans: TraceSpans, levels: number): Uint8Array {
  return Uint8Array.from(spans.depth, (depth) => (depth < levels - 1 ? 1 : 0));
}

export function openAtFirst(spans: TraceSpans): Uint8Array {
  const rows = new Uint32Array(MOST_ROWS);
  let levels = 2;

  for (const depth of spans.depth) if (depth < MOST_ROWS) rows[depth]!++;
  for (let sum = rows[0]! + rows[1]!; levels < MOST_ROWS; levels++) {
    sum += rows[levels]!;
    if (sum > (levels < LEVELS ? MOST_ROWS : FEW_ROWS)) break;
  }
  return openLevels(spans, levels);
}

/* The spans in sight, in order. Those that are not `shown` (null: all are) count as open: what is below them stays. */
export function visibleSpans(spans: TraceSpans, open: Uint8Array, shown: Uint8Array | null): Uint32Array {
  const rows = new Uint32Array(spans.size);
  let count = 0;

  for (let i = 0; i < spans.size;) {
    const isShown = shown === null || shown[i] === 1;
    if (isShown) rows[count++] = i;
    i = isShown && !open[i] ? spans.end[i]! : i + 1;
  }
  return rows.subarray(0, count);
}

/* With everything above a span open; the same array if it was. */
export function reveal(spans: TraceSpans, open: Uint8Array, span: number): Uint8Array {
  let result = open;

  for (let at = spans.parent[span] ?? -1; at >= 0; at = spans.parent[at]!)
    if (!result[at]) {
      if (result === open) result = open.slice();
      result[at] = 1;
    }
  return result;
}

/* The row of a span, or of the nearest one before it that is in sight; -1: none is. */
export function rowOf(rows: Uint32Array, span: number): number {
  let low = 0;
  let high = rows.length;

  while (low < high) {
    const middle = (low + high) >> 1;
    if (rows[middle]! <= span) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

/* How many spans before each one are marked: those of a subtree are a difference. */
export function countMarked(size: number, isMarked: (span: number) => boolean): Uint32Array {
  const before = new Uint32Array(size + 1);

  for (let i = 0; i < size; i++) before[i + 1] = before[i]! + (isMarked(i) ? 1 : 0);
  return before;
}

/* The next marked span behind `at` (direction -1: before), around the end; -1: there is none. */
export function nextMarked(before: Uint32Array, at: number, direction: 1 | -1): number {
  const size = before.length - 1;

  for (let step = 1; step <= size; step++) {
    const span = (((at + direction * step) % size) + size) % size;
    if (before[span + 1]! > before[span]!) return span;
  }
  return -1;
}

/* Which spans are left by services that are switched off and by a range of time (since the trace's begin); null: all. */
export function shownSpans(
  spans: TraceSpans,
  hidden: ReadonlySet<number>,
  range: Range | null,
): Uint8Array | null {
  if (hidden.size === 0 && !range) return null;
  return Uint8Array.from({ length: spans.size }, (_, i) => {
    const isIn = !range || (spans.start[i]! < range.to && spans.start[i]! + spans.length[i]! >= range.from);
    return isIn && !hidden.has(spans.service[i]!) ? 1 : 0;
  });
}

/* Where a bar lies in the window: 0 … 1 of its width, outside of that if it is out of sight. */
export function barOf(spans: TraceSpans, span: number, window: Window): Window {
  const whole = (spans.duration || 1) * (window.to - window.from);
  const begin = spans.start[span]! - window.from * (spans.duration || 1);

  return { from: begin / whole, to: (begin + spans.length[span]!) / whole };
}

/* The parts of a span's time in which no child ran, as begin and end in ns since the trace's begin; those shorter than `least` are left out. */
export function selfParts(spans: TraceSpans, span: number, least: number): number[] {
  const end = spans.start[span]! + spans.length[span]!;
  const parts: number[] = [];
  let at = spans.start[span]!;

  for (let child = span + 1; child < spans.end[span]! && at < end; child = spans.end[child]!) {
    const begin = Math.min(end, spans.start[child]!);
    if (begin - at > least) parts.push(at, begin);
    at = Math.max(at, spans.start[child]! + spans.length[child]!);
  }
  if (end - at > least) parts.push(at, end);
  return parts;
}

/* One byte a span: the search means it: by its name, service, error, id, or something that was said about it. */
export function matchSpans(
  data: PageData,
  spans: TraceSpans,
  serviceNames: string[],
  idOf: ((row: number) => string) | null,
  matcher: Matcher,
): Uint8Array {
  const found = new Uint8Array(spans.size);
  const texts = new Uint8Array(data.strings.length); // 0 not looked at, 1 no, 2 yes
  const isText = (number: number | undefined) => {
    const at = number ?? 0;
    if (!texts[at]) texts[at] = matcher.test(data.strings[at] ?? "") ? 2 : 1;
    return texts[at] === 2;
  };
  const services = serviceNames.map((name) => matcher.test(name));
  const [type, message] = [
    column(data, "trace_spans", "error_type"),
    column(data, "trace_spans", "error_message"),
  ];
  const [owner, key, value] = [
    column(data, "trace_attrs", "span"),
    column(data, "trace_attrs", "key"),
    column(data, "trace_attrs", "value"),
  ];

  for (let i = 0, row = spans.first; i < spans.size; i++, row++)
    if (
      isText(spans.name[i]) ||
      services[spans.service[i]!] ||
      isText(type[row]) ||
      isText(message[row]) ||
      (idOf && matcher.test(idOf(row)))
    )
      found[i] = 1;
  const last = firstAttribute(data, spans.first + spans.size);
  for (let i = firstAttribute(data, spans.first); i < last; i++)
    if (isText(key[i]) || isText(value[i])) found[owner[i]! - spans.first] = 1;
  return found;
}
