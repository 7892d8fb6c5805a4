/* Source with numbers: which functions have counted lines, and what stands on each line of one. Pure; the view draws it. */

import { column, type PageData } from "../data/types";
import { frameKey } from "../state/selection";

/* How the time of a line is known: see docs/page.md. */
export const UNTIMED = 0;
export const SAMPLED = 2;

export interface ListedFunction {
  row: number; // of line_functions
  name: string;
  file: string;
  line: number;
  lastLine: number; // 0: unknown
  thread: string; // "": all of them
  calls: number;
  time: number; // ns; what shares are of
  isSampled: boolean;
  key: string; // in the selection
}

export interface ListedLine {
  number: number;
  text: string;
  isCounted: boolean;
  hits: number; // NaN: unknown, as where the compiler counted nothing
  time: number; // NaN: unknown
  share: number; // of the function's time
  isSampled: boolean;
  error: number; // of an estimate
  suspended: number;
  min: number;
  max: number;
}

export interface Listing {
  lines: ListedLine[];
  hasSource: boolean;
  hasAll: boolean; // false: only the lines that were counted, or the file was cut
}

/* More lines than anybody reads at once, and fewer than a browser minds. */
export const MOST_LINES = 5000;

/* Rows of `lines` that belong to each function, in one pass. */
function rowsOf(data: PageData): Map<number, number[]> {
  const owner = column(data, "lines", "function");
  const found = new Map<number, number[]>();

  for (let row = 0; row < owner.length; row++) {
    const list = found.get(owner[row]!);
    if (list) list.push(row);
    else found.set(owner[row]!, [row]);
  }
  return found;
}

interface Index {
  functions: ListedFunction[];
  rows: Map<number, number[]>;
  sources: Map<string, string>;
}

const known = new WeakMap<PageData, Index>();

function indexOf(data: PageData): Index {
  let found = known.get(data);

  if (!found) known.set(data, (found = makeIndex(data)));
  return found;
}

function makeIndex(data: PageData): Index {
  const of = (name: string) => column(data, "line_functions", name);
  const text = (list: ArrayLike<number>, row: number) => data.strings[list[row] ?? 0] ?? "";
  const [name, file, line, last] = [of("name"), of("file"), of("line"), of("last_line")];
  const [thread, calls, total] = [of("thread"), of("calls"), of("total")];
  const [time, how] = [column(data, "lines", "time"), column(data, "lines", "how")];
  const rows = rowsOf(data);
  const functions: ListedFunction[] = [];

  for (let row = 0; row < name.length; row++) {
    const own = rows.get(row) ?? [];
    const sum = own.reduce((all, at) => all + (Number.isFinite(time[at]) ? time[at]! : 0), 0);
    const whole = total[row] ?? NaN;

    functions.push({
      row,
      name: text(name, row),
      file: text(file, row),
      line: line[row]!,
      lastLine: last[row]!,
      thread: text(thread, row),
      calls: calls[row]!,
      time: Number.isFinite(whole) ? Math.min(sum, whole) : sum,
      isSampled: own.some((at) => how[at] === SAMPLED),
      key: frameKey(text(name, row), text(file, row), line[row]!),
    });
  }
  functions.sort((a, b) => b.time - a.time || a.row - b.row);
  return { functions, rows, sources: sourcesOf(data) };
}

function sourcesOf(data: PageData): Map<string, string> {
  const [file, source] = [column(data, "sources", "file"), column(data, "sources", "source")];

  return new Map(
    Array.from(file, (at, row) => [data.strings[at] ?? "", data.strings[source[row]!] ?? ""] as const),
  );
}

/* Those with counted lines, the costliest first. */
export function listedFunctions(data: PageData): ListedFunction[] {
  return indexOf(data).functions;
}

export function sourceOf(data: PageData, file: string): string | null {
  return indexOf(data).sources.get(file) ?? null;
}

/* The lines of a function with their numbers; with `isWhole` those of its file. Where the source is not stored, only counted lines. */
export function listing(data: PageData, of: ListedFunction, isWhole: boolean): Listing {
  const index = indexOf(data);
  const source = index.sources.get(of.file);
  const texts = source?.split(/\r\n|\n|\r|\f/) ?? null;
  const counted = new Map<number, ListedLine>();

  for (const row of index.rows.get(of.row) ?? []) {
    const line = lineOf(data, row, of.time, texts);
    counted.set(line.number, line);
  }
  if (!texts) {
    const lines = [...counted.values()].sort((a, b) => a.number - b.number);
    return { lines: lines.slice(0, MOST_LINES), hasSource: false, hasAll: false };
  }
  let last = Math.max(of.lastLine, of.line);
  let first = of.line || Infinity;
  for (const number of counted.keys()) {
    last = Math.max(last, number);
    first = Math.min(first, number);
  }
  const from = isWhole ? 1 : Math.max(1, Math.min(first, last));
  const to = Math.min(isWhole ? texts.length : last, from + MOST_LINES - 1);
  const lines: ListedLine[] = [];

  for (let number = from; number <= to; number++)
    lines.push(counted.get(number) ?? uncounted(number, texts[number - 1] ?? ""));
  return { lines, hasSource: true, hasAll: to >= (isWhole ? texts.length : last) };
}

function uncounted(number: number, text: string): ListedLine {
  const [hits, time, share, error, suspended, min, max] = [0, NaN, 0, 0, 0, NaN, NaN];

  return { number, text, isCounted: false, hits, time, share, isSampled: false, error, suspended, min, max };
}

function lineOf(data: PageData, row: number, whole: number, texts: string[] | null): ListedLine {
  const value = (name: string) => column(data, "lines", name)[row] ?? NaN;
  const number = value("line");
  const isTimed = value("how") !== UNTIMED;
  const time = isTimed ? value("time") : NaN;

  return {
    number,
    text: texts?.[number - 1] ?? "",
    isCounted: true,
    hits: value("counted") === 0 ? NaN : value("hits"),
    time,
    share: isTimed && whole > 0 ? time / whole : 0,
    isSampled: value("how") === SAMPLED,
    error: value("error"),
    suspended: value("suspended"),
    min: value("min"),
    max: value("max"),
  };
}
