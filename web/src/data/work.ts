/* What the page asks its worker, which decodes all tables and keeps `spans`: ten million of them are too many to look through between two
 * pictures. Selections come as plain data, so that the worker knows nothing of the page's state. */

import type { Directory, Table } from "./types";

export interface Range {
  from: number; // ns since the start of the recording
  to: number;
}

/* Which spans count: those that begin in the range, on one of the tracks (null: all), of one of the sites (null: all). */
export interface SpanFilter {
  range: Range | null;
  tracks: number[] | null; // indices
  sites: number[] | null; // rows of `sites`
}

/* Rectangles to draw, by track, depth, begin; at most one narrower than a pixel for each pixel and row. */
export interface WindowReply {
  from: number;
  to: number;
  track: Uint32Array;
  depth: Uint16Array;
  site: Uint32Array;
  start: Float64Array;
  end: Float64Array;
  count: Uint32Array; // 1: this span; more: short ones folded
  flags: Uint8Array;
  folded: number; // spans that are not drawn one by one
}

/* One entry for each site (thread, process) that has spans in the filter. Times in ns, without our own cost; in `total` recursion is counted
 * once, of threads and processes only spans that are in no other. */
export interface StatsReply {
  site: Uint32Array;
  count: Uint32Array;
  errors: Uint32Array;
  total: Float64Array;
  self: Float64Array;
  min: Float64Array;
  avg: Float64Array;
  p50: Float64Array;
  p90: Float64Array;
  p99: Float64Array;
  max: Float64Array;
  isAbout: boolean; // some of them are folded, and only the longest of those is known by name
}

/* A tree of paths, parents before children; parent is an index plus 1, 0: a root. The shape of tables `paths` and `calls`. */
export interface PathsReply {
  parent: Uint32Array;
  frame: Uint32Array;
  track: Uint32Array; // 0 where paths of several tracks are one
  count: Uint32Array;
  total: Float64Array;
  self: Float64Array;
  isAbout: boolean; // like that of StatsReply
}

export interface SpanReply {
  track: number;
  depth: number;
  site: number;
  start: number;
  duration: number; // as it was recorded and is drawn
  total: number; // without our own cost, like self
  self: number;
  flags: number;
}

export interface Questions {
  open: { ask: { directory: Directory; blocks: string[] }; reply: { strings: string[]; tables: Table[] } };
  window: { ask: { range: Range; pixels: number; tracks: number[] | null }; reply: WindowReply };
  stats: { ask: SpanFilter & { by: "site" | "track" | "process" }; reply: StatsReply };
  paths: { ask: SpanFilter & { byTrack: boolean }; reply: PathsReply };
  /* The next span (direction 1) or the one before (-1) of the filter's sites, after `at`; of one depth, or without it of any. */
  next: { ask: SpanFilter & { at: number; direction: 1 | -1; depth?: number }; reply: SpanReply | null };
  /* The span at a place: what a click meets. */
  at: { ask: { track: number; depth: number; time: number }; reply: SpanReply | null };
  /* Whether a regular expression ends, on these texts (null: those before). Only of a worker that may be stopped. */
  try: { ask: { source: string; flags: string; texts: readonly string[] | null }; reply: null };
}

export type Question = keyof Questions;

export interface Worker {
  ask<Q extends Question>(question: Q, ask: Questions[Q]["ask"]): Promise<Questions[Q]["reply"]>;
}

export interface StoppableWorker extends Worker {
  stop(): void; // what it was asked is never answered
}
