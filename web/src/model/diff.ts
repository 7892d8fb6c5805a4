/* Two runs side by side: what changed, in numbers and in words, and the trees of what is there now and what is gone. */

import { column, type PageData } from "../data/types";
import { type Forest, makeForest, type PathRows } from "./forest";
import { type Frame, makeFrame } from "./frames";

export const MEASURES = ["absolute", "call", "share"] as const;
export type Measure = (typeof MEASURES)[number];

export interface Side {
  self: number;
  total: number;
  calls: number;
}

export type Match = "both" | "gone" | "new";

export interface DiffRow {
  frame: Frame;
  match: Match;
  base: Side;
  now: Side;
}

const MATCHES: Match[] = ["both", "gone", "new"];

export function diffRows(data: PageData): DiffRow[] {
  const of = (name: string) => column(data, "diff_functions", name);
  const [name, file, language, line, baseLine] = ["name", "file", "language", "line", "base_line"].map(of);
  const [baseSelf, self, baseTotal, total] = ["base_self", "self", "base_total", "total"].map(of);
  const [baseCalls, calls, match] = ["base_calls", "calls", "match"].map(of);
  const text = (number: number | undefined) => data.strings[number ?? 0] ?? "";
  return Array.from(name!, (_, i) => ({
    frame: makeFrame(text(name![i]), text(file![i]), line![i] || baseLine![i] || 0, text(language![i])),
    match: MATCHES[match![i]!] ?? "both",
    base: { self: baseSelf![i]!, total: baseTotal![i]!, calls: baseCalls![i]! },
    now: { self: self![i]!, total: total![i]!, calls: calls![i]! },
  }));
}

/* All own time of a side: what its shares are taken of. */
export function wholes(rows: readonly DiffRow[]): { base: number; now: number } {
  return {
    base: rows.reduce((sum, row) => sum + (row.base.self || 0), 0),
    now: rows.reduce((sum, row) => sum + (row.now.self || 0), 0),
  };
}

const LEAST = 0.001; // of the larger side's own time, as in `venturi diff`

/* Whether a row says anything: it is on one side only, is called more or less often, or its time changed by more than noise. */
export function changedOf(rows: readonly DiffRow[], time: "self" | "total"): (row: DiffRow) => boolean {
  const { base, now } = wholes(rows);
  const least = LEAST * Math.max(base, now);

  return (row) =>
    row.match !== "both" ||
    row.now.calls !== row.base.calls ||
    Math.abs(row.now[time] - row.base[time]) > least;
}

/* A time as it is compared: in ns, in ns a call, or as a share of all own time. A function that was not called has no time a call. */
export function measured(side: Side, time: "self" | "total", measure: Measure, whole: number): number {
  if (measure === "absolute") return side[time];
  if (measure === "share") return whole > 0 ? side[time] / whole : NaN;
  return side.calls > 0 ? side[time] / side.calls : NaN;
}

/* -1 … 1: gone, the same, new; between them by how much of the larger one the difference is. */
export function change(base: number, now: number): number {
  const larger = Math.max(base, now);
  return larger > 0 ? (now - base) / larger : 0;
}

const SAME = 0.005; // of the larger one

export function signOf(base: number, now: number): "▲" | "▼" | "=" {
  const by = change(base, now);
  return Math.abs(by) < SAME ? "=" : by > 0 ? "▲" : "▼";
}

/* The direction in words: "slower by", never only a sign. */
export function verdict(base: number, now: number): "slower" | "faster" | "as fast" {
  return { "▲": "slower", "▼": "faster", "=": "as fast" }[signOf(base, now)] as
    "slower" | "faster" | "as fast";
}

export interface DiffTrees {
  now: Forest; // node n is row n - 1 of diff_calls
  gone: Forest; // paths that are not there any more, as wide as they were
  goneRow: Uint32Array; // of each of its nodes; [0] means nothing
}

function isGone(calls: number, total: number, baseCalls: number, baseTotal: number): boolean {
  return calls === 0 && total === 0 && (baseCalls > 0 || baseTotal > 0);
}

function forestOf(rows: PathRows, frameCount: number, rootLabel: string): Forest {
  const place = () => ({ process: 0, processLabel: "", threadLabel: "" });
  return makeForest(rows, { frameCount, tracks: null, place, isMerged: false, isFolded: false, rootLabel });
}

export function diffTrees(data: PageData, frameCount: number): DiffTrees {
  const of = (name: string) => column(data, "diff_calls", name);
  const [parent, frame, total, baseTotal] = [of("parent"), of("function"), of("total"), of("base_total")];
  const [calls, baseCalls] = [of("calls"), of("base_calls")];
  const rest = { track: () => -1, length: frame.length };
  const now = { parent, frame: (row: number) => frame[row]!, count: calls, total, self: of("self"), ...rest };
  const gone: number[] = [];
  const placeOf = new Uint32Array(frame.length); // in `gone`, plus 1
  for (let row = 0; row < frame.length; row++)
    if (isGone(calls[row]!, total[row]!, baseCalls[row]!, baseTotal[row]!)) placeOf[row] = gone.push(row);
  const pick = (values: ArrayLike<number>) => Float64Array.from(gone, (row) => values[row]!);
  const lost: PathRows = {
    parent: Uint32Array.from(gone, (row) => (parent[row]! > 0 ? placeOf[parent[row]! - 1]! : 0)),
    frame: (row) => frame[gone[row]!]!,
    track: () => -1,
    count: pick(baseCalls),
    total: pick(baseTotal),
    self: pick(of("base_self")),
    length: gone.length,
  };
  return {
    now: forestOf(now, frameCount, "the new run"),
    gone: forestOf(lost, frameCount, "paths that are gone"),
    goneRow: Uint32Array.from([0, ...gone]),
  };
}
