/* Where forests come from: the tables `calls` and `paths` of a page, and what its worker says about a part of the spans. */

import { column, type PageData } from "../data/types";
import type { PathsReply } from "../data/work";
import { type Forest, type ForestOptions, makeForest, type PathRows, type TrackPlace } from "./forest";
import { frames, nameOfSpan } from "./frames";
import { serviceOfProcess } from "./traces";

export type Kind = "functions" | "spans" | "traces";

/* Which kinds of paths the page has; functions first. */
export function kindsOf(data: PageData): Kind[] {
  const kinds: Kind[] = [];
  if (data.tables.calls?.rows) kinds.push("functions");
  if (data.tables.paths?.rows) kinds.push("spans");
  if (data.tables.trace_spans?.rows) kinds.push("traces");
  return kinds;
}

/* Why there is no picture of paths, and what to do; null: there is one. */
export function whyNoPaths(data: PageData): string | null {
  if (kindsOf(data).length > 0) return null;
  if (data.directory.kind === "diff")
    return "This page compares two recordings: the view Diff shows their paths.";
  if (data.tables.functions?.rows)
    return "This profile knows functions but no paths of calls, as files of cProfile do: record with `venturi run` for those.";
  if (data.tables.async?.rows)
    return "All spans of this recording are async: they overlap, and none is known to be part of another. The views Ranking and Timeline show them.";
  return "There are no functions and no spans in this recording: record with `venturi run`, or mark spans in the program.";
}

export function callRows(data: PageData): PathRows {
  const of = (name: string) => column(data, "calls", name);
  const [frame, track, calls, resumes] = [of("function"), of("track"), of("calls"), of("resumes")];
  return {
    parent: of("parent"),
    frame: (row) => frame[row]!,
    track: (row) => track[row]! - 1,
    count: resumes.some((count) => count > 0) ? Float64Array.from(calls, (n, i) => n + resumes[i]!) : calls,
    total: of("total"),
    self: of("self"),
    length: frame.length,
  };
}

/* Of the table, or of an answer that has the same columns. */
export function pathRows(data: PageData, reply?: PathsReply): PathRows {
  const of = (name: string) => column(data, "paths", name);
  const { siteBase } = frames(data);
  const site = reply?.frame ?? of("site");
  const track = reply?.track ?? of("track");
  return {
    parent: reply?.parent ?? of("parent"),
    frame: (row) => siteBase + site[row]!,
    track: (row) => track[row]!,
    count: reply?.count ?? of("count"),
    total: reply?.total ?? of("total"),
    self: reply?.self ?? of("self"),
    length: site.length,
  };
}

/* All traces, one below the other: spans of traces are on no thread of the page. Of the same name are the same frames. */
export function traceRows(data: PageData): PathRows {
  const of = (name: string) => column(data, "trace_spans", name);
  const name = of("name");
  const frameOf = new Map<string, number>();
  frames(data).list.forEach((frame, index) => {
    if (frame.language === "span" && !frameOf.has(frame.name)) frameOf.set(frame.name, index);
  });
  const frameOfName = Uint32Array.from(name, (text) => frameOf.get(nameOfSpan(data.strings[text])) ?? 0);
  return {
    parent: of("parent"),
    frame: (row) => frameOfName[row]!,
    track: () => -1,
    count: new Uint8Array(name.length).fill(1),
    total: of("duration"),
    self: of("self"),
    length: name.length,
  };
}

/* How processes and threads are called above their calls. */
export function placeOfTrack(data: PageData, index: number): TrackPlace {
  const track = data.recording.tracks[index];
  const process = track?.process ?? -1;
  const owner = data.recording.processes[process];
  return {
    process,
    processLabel: owner
      ? [serviceOfProcess(data, process), owner.name || "process", owner.pid].filter(Boolean).join(" · ")
      : "unknown process",
    threadLabel: track ? `${track.name || "thread"} · ${track.tid}` : "unknown thread",
  };
}

export interface Arrangement {
  tracks: readonly number[] | null;
  isMerged: boolean;
  isFolded: boolean;
}

export function arrange(data: PageData, rows: PathRows, how: Arrangement): Forest {
  const options: ForestOptions = {
    frameCount: frames(data).list.length,
    tracks: how.tracks && new Set(how.tracks),
    place: (track) => placeOfTrack(data, track),
    isMerged: how.isMerged,
    isFolded: how.isFolded,
    rootLabel: "everything",
  };
  return makeForest(rows, options);
}
