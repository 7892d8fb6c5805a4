/* What a flame graph is drawn from, whatever the tree stands for: nodes with widths, children found when somebody looks at them. */

import type { Forest } from "./forest";

export type Weight = "time" | "count";
export type Order = "time" | "heavy";

/* Node 0 is the root. Children's widths never add up to more than their parent's. */
export interface Tree {
  frame(node: number): number;
  parent(node: number): number; // -1: the root
  width(node: number): number;
  total(node: number): number;
  self(node: number): number;
  count(node: number): number;
  children(node: number): ArrayLike<number>;
  /* Whether children() has nothing left to work out; without it, that is always so. */
  isGrown?(node: number): boolean;
}

/* By time a node is as wide as its total (or as all its children, if rounding made these more); by count as the calls of it and below it. */
export function widthsOf(forest: Forest, weight: Weight): Float64Array {
  const { size, parent, total, count } = forest;
  const width = new Float64Array(size);
  const below = new Float64Array(size);
  for (let node = size - 1; node >= 0; node--) {
    width[node] = weight === "time" ? Math.max(total[node]!, below[node]!) : count[node]! + below[node]!;
    if (node > 0) below[parent[node]!]! += width[node]!;
  }
  return width;
}

export function forestTree(forest: Forest, weight: Weight, order: Order): Tree {
  const { childFirst } = forest;
  const width = widthsOf(forest, weight);
  const child = order === "heavy" ? forest.child.slice() : forest.child;
  const isSorted = new Uint8Array(order === "heavy" ? forest.size : 0);
  return {
    frame: (node) => forest.frame[node]!,
    parent: (node) => forest.parent[node]!,
    width: (node) => width[node]!,
    total: (node) => forest.total[node]!,
    self: (node) => forest.self[node]!,
    count: (node) => forest.count[node]!,
    children(node) {
      const children = child.subarray(childFirst[node]!, childFirst[node + 1]!);
      if (isSorted[node] === 0) {
        children.sort((a, b) => width[b]! - width[a]! || a - b);
        isSorted[node] = 1;
      }
      return children;
    },
  };
}
