/* A span and what is below it as a flame graph: spans of the same name on the same path are one box. Pure. */

import { makeForest } from "./forest";
import type { TraceSpans } from "./traces";
import { forestTree, type Tree } from "./tree";

/* Its frames are numbers of names; node 0 is the span itself. */
export function spanFlame(spans: TraceSpans, span: number): Tree {
  const size = spans.end[span]! - span;
  const part = (values: ArrayLike<number>) =>
    Float64Array.from({ length: size }, (_, i) => values[span + i]!);
  const forest = makeForest(
    {
      parent: Float64Array.from({ length: size }, (_, i) =>
        i === 0 ? 0 : spans.parent[span + i]! - span + 1,
      ),
      frame: (row) => spans.name[span + row]!,
      track: () => -1,
      count: new Uint8Array(size).fill(1),
      total: part(spans.length),
      self: part(spans.self),
      length: size,
    },
    {
      frameCount: Infinity,
      tracks: null,
      place: () => ({ process: 0, processLabel: "", threadLabel: "" }),
      isMerged: true,
      isFolded: false,
      rootLabel: "",
    },
  );
  /* The forest has a root above all: here its only child is one. */
  const tree = forestTree(forest, "time", "time");

  return {
    frame: (node) => tree.frame(node + 1),
    parent: (node) => tree.parent(node + 1) - 1,
    width: (node) => tree.width(node + 1),
    total: (node) => tree.total(node + 1),
    self: (node) => tree.self(node + 1),
    count: (node) => tree.count(node + 1),
    children: (node) => Array.from(tree.children(node + 1), (child) => child - 1),
  };
}
