/* Trees for the tests of src/model: written as lines of indented names, or made at random. */

import { type Forest, type ForestOptions, makeForest, type PathRows } from "../src/model/forest";

export interface Drawn {
  rows: PathRows;
  names: string[];
}

/* "main 10" is a call of 10 ns by itself, "main 10x3" three calls; two spaces deeper is what it calls; "#1" at the end is its track. */
export function drawn(text: string): Drawn {
  const names: string[] = [];
  const parent: number[] = [];
  const frame: number[] = [];
  const track: number[] = [];
  const count: number[] = [];
  const self: number[] = [];
  const open: number[] = [];
  for (const line of text.split("\n")) {
    const found = /^( *)(\S+) ([\d.]+)(?:x(\d+))?(?: #(\d+))?$/.exec(line);
    if (!found) continue;
    const depth = (found[1] ?? "").length / 2;
    const name = found[2] ?? "";
    if (!names.includes(name)) names.push(name);
    open.length = depth;
    const above = open[depth - 1] ?? -1;
    open.push(frame.length);
    parent.push(above + 1);
    frame.push(names.indexOf(name));
    track.push(found[5] ? Number(found[5]) : (track[above] ?? 0));
    count.push(Number(found[4] ?? 1));
    self.push(Number(found[3]));
  }
  return { names, rows: rowsOf(parent, frame, track, count, self) };
}

/* Totals are worked out: parents come before children. */
export function rowsOf(
  parent: ArrayLike<number>,
  frame: ArrayLike<number>,
  track: ArrayLike<number>,
  count: ArrayLike<number>,
  self: ArrayLike<number>,
): PathRows {
  const total = Float64Array.from(self);
  for (let row = total.length - 1; row >= 0; row--) {
    const above = parent[row]! - 1;
    if (above >= 0) total[above]! += total[row]!;
  }
  return {
    parent,
    frame: (row) => frame[row]!,
    track: (row) => track[row]!,
    count,
    total,
    self,
    length: total.length,
  };
}

export function forestOf(made: Drawn, options: Partial<ForestOptions> = {}): Forest {
  return makeForest(made.rows, {
    frameCount: made.names.length,
    tracks: null,
    place: (track) => ({ process: 0, processLabel: "process", threadLabel: `thread ${track}` }),
    isMerged: true,
    isFolded: false,
    rootLabel: "all",
    ...options,
  });
}

export function nameOf(made: Drawn, forest: Forest, frame: number): string {
  return made.names[frame] ?? forest.labels[frame - forest.frameCount] ?? "?";
}

/* Deterministic random numbers, 0 … 1. */
export function randomNumbers(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

/* A tree of that many nodes: each below one of the last few, so that it is both deep and broad. */
export function randomTree(nodes: number, functions: number, tracks: number, deepest = 60): PathRows {
  const random = randomNumbers(nodes);
  const parent = new Uint32Array(nodes);
  const frame = new Uint32Array(nodes);
  const track = new Uint32Array(nodes);
  const depth = new Uint32Array(nodes);
  const self = new Float64Array(nodes);
  for (let row = 0; row < nodes; row++) {
    const above = row < tracks ? -1 : Math.max(0, row - 1 - Math.floor(random() ** 3 * Math.min(row, 4000)));
    const isRoot = above < 0 || depth[above]! >= deepest;
    parent[row] = isRoot ? 0 : above + 1;
    depth[row] = isRoot ? 0 : depth[above]! + 1;
    track[row] = isRoot ? row % tracks : track[above]!;
    frame[row] = Math.floor(random() ** 4 * functions);
    self[row] = Math.floor(random() ** 8 * 1e6);
  }
  return rowsOf(parent, frame, track, new Uint32Array(nodes).fill(1), self);
}
