/* Rows for the ranking: functions, lines, spans, threads or processes, each with the same numbers. What is not known is NaN. */

import { column, type PageData } from "../data/types";
import type { StatsReply } from "../data/work";
import { frameKey } from "../state/selection";
import { frames, placeOf } from "./frames";
import { asyncSites } from "./overlap";
import { arrange, callRows, placeOfTrack } from "./source";
import { sumByFrame } from "./sums";

export const GROUPS = ["function", "line", "span", "thread", "process"] as const;
export type Group = (typeof GROUPS)[number];

export const NUMBERS = ["count", "total", "self", "min", "avg", "p50", "p90", "p99", "max"] as const;
export type NumberName = (typeof NUMBERS)[number];

/* A row chooses a frame, or threads. */
export type Chosen = { frame: string } | { tracks: number[] };

export interface RankRow extends Record<NumberName, number> {
  name: string;
  place: string; // where it is, for people
  searched: string[]; // texts that the search looks through, one by one
  chooses: Chosen;
  whole?: number; // what its share is taken of, where that is not the sum of all rows; NaN: it has no share
}

/* Which groups have rows, whatever is selected. */
export function groupsOf(data: PageData): Group[] {
  const has = (table: string) => (data.tables[table]?.rows ?? 0) > 0;
  const hasTime = has("calls") || has("paths"); // async spans are no thread's time
  const known: Record<Group, boolean> = {
    function: has("functions"),
    line: has("lines"),
    span: has("span_stats"),
    thread: hasTime && data.recording.tracks.length > 0,
    process: hasTime && data.recording.processes.length > 0,
  };
  return GROUPS.filter((group) => known[group]);
}

const UNKNOWN: Record<NumberName, number> = {
  count: NaN,
  total: NaN,
  self: NaN,
  min: NaN,
  avg: NaN,
  p50: NaN,
  p90: NaN,
  p99: NaN,
  max: NaN,
};

function average(total: number, count: number): number {
  return count > 0 ? total / count : NaN;
}

function frameRow(data: PageData, index: number, numbers: Record<NumberName, number>): RankRow {
  const frame = frames(data).list[index]!;
  const searched = [frame.name, frame.file];
  return { ...numbers, name: frame.name, place: placeOf(frame), searched, chooses: { frame: frame.key } };
}

/* Of the whole run as the tool worked it out; of some threads from their paths, which know no shortest and longest. */
export function rankFunctions(data: PageData, tracks: readonly number[] | null): RankRow[] {
  const of = (name: string) => column(data, "functions", name);
  if (tracks) {
    const sums = sumByFrame(arrange(data, callRows(data), { tracks, isMerged: false, isFolded: false }));
    const rows: RankRow[] = [];
    for (let i = 0; i < of("name").length; i++) {
      const [count, total, self] = [sums.count[i]!, sums.total[i]!, sums.self[i]!];
      if (count > 0 || total > 0)
        rows.push(frameRow(data, i, { ...UNKNOWN, count, total, self, avg: average(total, count) }));
    }
    return rows;
  }
  const [calls, total] = [of("calls"), of("total")];
  return Array.from(calls, (count, i) => {
    const numbers = { ...UNKNOWN, count, total: total[i]!, avg: average(total[i]!, count) };
    for (const name of ["self", "min", "p50", "p90", "p99", "max"] as const)
      numbers[name] = of(name)[i] ?? NaN;
    return frameRow(data, i, numbers);
  });
}

/* Lines of the source, for those whose files are in the page. */
function sourceReader(data: PageData): (file: number, line: number) => string {
  const texts = new Map<number, string[]>(); // by the number of the file's name
  const [file, source] = [column(data, "sources", "file"), column(data, "sources", "source")];
  const numberOf = new Map(Array.from(file, (name, row) => [name, source[row] ?? 0]));
  return (name, line) => {
    let lines = texts.get(name);
    if (!lines) texts.set(name, (lines = (data.strings[numberOf.get(name) ?? 0] ?? "").split("\n")));
    return (lines[line - 1] ?? "").trim();
  };
}

/* What the shares of a function's lines are taken of: their sum, but no more than its own time. */
function lineWholes(data: PageData): Float64Array {
  const [owner, time] = [column(data, "lines", "function"), column(data, "lines", "time")];
  const totals = column(data, "line_functions", "total");
  const wholes = new Float64Array(totals.length);
  owner.forEach((row, i) => (wholes[row]! += time[i] || 0));
  return wholes.map((sum, row) => (totals[row]! > 0 ? Math.min(sum, totals[row]!) : sum));
}

/* A line's time is that of what it calls as well: lines of a caller and of its callee have the same time twice. */
export function rankLines(data: PageData): RankRow[] {
  const of = (name: string) => column(data, "lines", name);
  const owner = (name: string) => column(data, "line_functions", name);
  const [line, hits, time, min, max] = [of("line"), of("hits"), of("time"), of("min"), of("max")];
  const [names, files, begins] = [owner("name"), owner("file"), owner("line")];
  const textOf = sourceReader(data);
  const wholes = lineWholes(data);
  return Array.from(of("function"), (row, i) => {
    const name = data.strings[names[row] ?? 0] ?? "";
    const file = data.strings[files[row] ?? 0] ?? "";
    const [at, count, total] = [line[i]!, hits[i]!, time[i]!];
    const numbers = { ...UNKNOWN, count, total, avg: average(total, count), min: min[i]!, max: max[i]! };
    const place = `${file.split(/[\\/]/).pop() ?? file}:${at}`;
    const text = textOf(files[row] ?? 0, at);
    return {
      ...numbers,
      name: place,
      place: text === "" ? name : text,
      searched: [name, `${file}:${at}`, text],
      chooses: { frame: frameKey(name, file, begins[row] ?? 0) },
      whole: wholes[row] ?? NaN,
    };
  });
}

/* Of all spans as the tool worked it out, or of those that the worker counted. */
export function rankSpans(data: PageData, reply?: StatsReply): RankRow[] {
  const { siteBase, list } = frames(data);
  const of = (name: NumberName | "site") => reply?.[name] ?? column(data, "span_stats", name);
  const isAsync = asyncSites(data);
  const rows: RankRow[] = [];
  Array.from(of("site")).forEach((site, i) => {
    const numbers = { ...UNKNOWN };
    for (const name of NUMBERS) numbers[name] = of(name)[i] ?? NaN;
    if (siteBase + site >= list.length) return;
    const row = frameRow(data, siteBase + site, numbers);
    rows.push(isAsync[site] ? { ...row, whole: NaN } : row);
  });
  return rows;
}

interface Sum {
  count: number;
  self: number;
}

type Add = (track: number, count: number, self: number) => void;

/* Of these tracks; null: of all. */
function sumByTrack(tracks: readonly number[] | null, addAll: (add: Add) => void): Map<number, Sum> {
  const sums = new Map<number, Sum>();
  addAll((track, count, self) => {
    const sum = sums.get(track);
    if (tracks && !tracks.includes(track)) return;
    if (sum) {
      sum.count += count;
      sum.self += self;
    } else sums.set(track, { count, self });
  });
  return sums;
}

/* Threads, or processes with all their threads: calls and time within functions, or without functions within spans. `stats` are by track.
 * Own time of a thread's functions adds up to its time within functions, and likewise of spans: nothing counts twice. */
export function rankThreads(
  data: PageData,
  by: "thread" | "process",
  stats: StatsReply | undefined,
  tracks: readonly number[] | null,
): RankRow[] {
  const calls = callRows(data);
  const ofCalls = sumByTrack(tracks, (add) => {
    for (let row = 0; row < calls.length; row++) add(calls.track(row), calls.count[row]!, calls.self[row]!);
  });
  const ofSpans = sumByTrack(tracks, (add) =>
    stats?.site.forEach((track, i) => add(track, stats.count[i]!, stats.self[i]!)),
  );
  const groupOf = (track: number) => (by === "thread" ? track : placeOfTrack(data, track).process);
  const withCalls = new Set(Array.from(ofCalls.keys(), groupOf));
  const rows = new Map<number, RankRow>();
  const onlySpans = [...ofSpans].filter(([track]) => !withCalls.has(groupOf(track)));
  for (const [track, { count, self }] of [...ofCalls, ...onlySpans]) {
    const place = placeOfTrack(data, track);
    const group = groupOf(track);
    const isBeside = calls.length > 0 && !withCalls.has(group); // spans where others have calls
    const where =
      by === "thread" ? place.processLabel : (data.recording.processes[place.process]?.command ?? "");
    const row = rows.get(group) ?? {
      ...UNKNOWN,
      count: 0,
      total: 0,
      self: 0,
      name: by === "thread" ? place.threadLabel : place.processLabel,
      place: isBeside ? [where, "only spans"].filter(Boolean).join(", ") : where,
      searched: [place.threadLabel, place.processLabel],
      chooses: { tracks: [] as number[] },
    };
    row.count += isBeside ? NaN : count; // spans are no calls
    row.total += self;
    row.self += self;
    row.avg = average(row.total, row.count);
    if ("tracks" in row.chooses && track >= 0) row.chooses.tracks.push(track);
    rows.set(group, row);
  }
  return [...rows.values()];
}

/* What shares are taken of: all self time, or all time of rows that have none of their own. */
export function wholeOf(rows: readonly RankRow[]): number {
  return rows.reduce((sum, row) => sum + (hasShare(row) ? shared(row) || 0 : 0), 0);
}

/* Async spans overlap: they are no part of a whole. */
export function hasShare(row: RankRow): boolean {
  return !Number.isNaN(row.whole);
}

/* Whether any of them has one; of no rows nobody asks. */
export function hasShares(rows: readonly RankRow[]): boolean {
  return rows.length === 0 || rows.some(hasShare);
}

/* The time that its share is of. */
export function shared(row: RankRow): number {
  return Number.isNaN(row.self) ? row.total : row.self;
}
