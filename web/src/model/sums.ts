/* Sums over a forest in which time within a function's own inner calls counts once: as the tool counts them. */

import { type Forest, isLabelNode, walk } from "./forest";

/* One byte for each node: 1 if no node above it has the same frame. */
export function outermost(forest: Forest): Uint8Array {
  const isOutermost = new Uint8Array(forest.size);
  const onPath = new Uint32Array(forest.frameCount + forest.labels.length);
  walk(
    forest,
    (node) => {
      if (onPath[forest.frame[node]!]!++ === 0) isOutermost[node] = 1;
    },
    (node) => {
      onPath[forest.frame[node]!]!--;
    },
  );
  return isOutermost;
}

export interface FrameSums {
  count: Float64Array; // by frame
  total: Float64Array;
  self: Float64Array;
}

export function sumByFrame(forest: Forest): FrameSums {
  const sums: FrameSums = {
    count: new Float64Array(forest.frameCount),
    total: new Float64Array(forest.frameCount),
    self: new Float64Array(forest.frameCount),
  };
  const isOutermost = outermost(forest);
  for (let node = 1; node < forest.size; node++) {
    if (isLabelNode(forest, node)) continue;
    const frame = forest.frame[node]!;
    sums.count[frame]! += forest.count[node]!;
    sums.self[frame]! += forest.self[node]!;
    if (isOutermost[node]) sums.total[frame]! += forest.total[node]!;
  }
  return sums;
}

/* The time in nodes whose frame is marked, and in what they call: nodes below a marked one add nothing. */
export function sumMarked(forest: Forest, marked: Uint8Array): { total: number; nodes: number } {
  const isCovered = new Uint8Array(forest.size);
  let total = 0;
  let nodes = 0;
  for (let node = 1; node < forest.size; node++) {
    const isMarked = marked[forest.frame[node]!] === 1;
    if (isMarked) nodes++;
    if (isCovered[forest.parent[node]!]) isCovered[node] = 1;
    else if (isMarked) {
      isCovered[node] = 1;
      total += forest.total[node]!;
    }
  }
  return { total, nodes };
}

/* One end of a call: who called the function, or whom it called. */
export interface Neighbour {
  frame: number;
  count: number; // calls along this pair
  total: number; // time of those, where the pair is not within itself
}

export interface Neighbours {
  callers: Neighbour[]; // longest first
  callees: Neighbour[];
  total: number; // of the function
  self: number;
  count: number;
}

type Pairs = Map<number, Neighbour & { open: number }>;

function enterPair(pairs: Pairs, frame: number, count: number, total: number): void {
  let pair = pairs.get(frame);
  if (!pair) pairs.set(frame, (pair = { frame, count: 0, total: 0, open: 0 }));
  pair.count += count;
  if (pair.open++ === 0) pair.total += total;
}

function longestFirst(pairs: Pairs): Neighbour[] {
  const list = [...pairs.values()].map(({ frame, count, total }) => ({ frame, count, total }));
  return list.sort((a, b) => b.total - a.total || b.count - a.count || a.frame - b.frame);
}

/* Pairs are counted once where they recur: a→b within a→b adds calls, no time. */
export function neighboursOf(forest: Forest, wanted: number): Neighbours {
  const callers: Pairs = new Map();
  const callees: Pairs = new Map();
  const found = { total: 0, self: 0, count: 0 };
  let depth = 0;
  const eachPair = (node: number, visit: (pairs: Pairs, other: number) => void) => {
    const parent = forest.parent[node]!;
    if (parent < 0) return;
    const frame = forest.frame[node]!;
    if (frame === wanted) visit(callers, forest.frame[parent]!);
    if (forest.frame[parent] === wanted) visit(callees, frame);
  };
  walk(
    forest,
    (node) => {
      eachPair(node, (pairs, other) => enterPair(pairs, other, forest.count[node]!, forest.total[node]!));
      if (forest.frame[node] !== wanted) return;
      found.count += forest.count[node]!;
      found.self += forest.self[node]!;
      if (depth++ === 0) found.total += forest.total[node]!;
    },
    (node) => {
      eachPair(node, (pairs, other) => pairs.get(other)!.open--);
      if (forest.frame[node] === wanted) depth--;
    },
  );
  return { callers: longestFirst(callers), callees: longestFirst(callees), ...found };
}
