/* Trees whose nodes stand for many nodes of a forest at once: bottom-up, callers and callees. They are made when somebody looks at them,
 * one level at a time, since all of a bottom-up tree can be as large as the forest times its depth. */

import { type Forest, isLabelNode } from "./forest";
import { outermost } from "./sums";
import { type Tree, type Weight, widthsOf } from "./tree";

/* Places in the forest, each with the part of the width, time and calls that came through it. */
interface Places {
  size: number;
  at: Uint32Array;
  width: Float64Array;
  total: Float64Array;
  count: Float64Array;
}

/* A node: the places from `begin` to before `end`, all of one frame. */
interface Bundle {
  frame: number;
  parent: number;
  width: number;
  total: number;
  self: number;
  count: number;
  places: Places;
  begin: number;
  end: number;
  children: Uint32Array | null; // null: nobody looked yet
}

type Step = (from: Bundle) => Places;

function roomFor(most: number): Places {
  return {
    size: 0,
    at: new Uint32Array(most),
    width: new Float64Array(most),
    total: new Float64Array(most),
    count: new Float64Array(most),
  };
}

function addPlace(to: Places, at: number, width: number, total: number, count: number): void {
  const place = to.size++;
  to.at[place] = at;
  to.width[place] = width;
  to.total[place] = total;
  to.count[place] = count;
}

function addPart(to: Places, place: number, width: number, total: number, count: number): void {
  to.width[place]! += width;
  to.total[place]! += total;
  to.count[place]! += count;
}

/* Sorts places by frame: a bundle for each, in the order in which frames are met. `slotOf` has a zero for each frame, before and after. */
function bundlesOf(forest: Forest, parent: number, found: Places, slotOf: Uint32Array): Bundle[] {
  const bundles: Bundle[] = [];
  const places = roomFor(found.size);
  for (let place = 0; place < found.size; place++) {
    const frame = forest.frame[found.at[place]!]!;
    if (slotOf[frame] === 0) {
      const none = { width: 0, total: 0, self: 0, count: 0, begin: 0, end: 0, children: null };
      slotOf[frame] = bundles.push({ frame, parent, places, ...none });
    }
    bundles[slotOf[frame]! - 1]!.end++;
  }
  let begin = 0;
  for (const bundle of bundles) {
    const size = bundle.end;
    bundle.begin = bundle.end = begin;
    begin += size;
  }
  for (let place = 0; place < found.size; place++) {
    const bundle = bundles[slotOf[forest.frame[found.at[place]!]!]! - 1]!;
    const [width, total, count] = [found.width[place]!, found.total[place]!, found.count[place]!];
    places.size = bundle.end++;
    addPlace(places, found.at[place]!, width, total, count);
    bundle.width += width;
    bundle.total += total;
    bundle.count += count;
  }
  for (const bundle of bundles) slotOf[bundle.frame] = 0;
  return bundles;
}

/* Grows a tree from its root, which stands for `places`: `step` says which places come after those of a node. */
function growTree(
  forest: Forest,
  frame: number,
  places: Places,
  selfOf: (bundle: Bundle) => number,
  step: Step,
): Tree {
  const slotOf = new Uint32Array(forest.frameCount + forest.labels.length);
  const [width, total, count] = [places.width, places.total, places.count].map((all) =>
    all.reduce((a, b) => a + b, 0),
  );
  const root = { frame, parent: -1, width: width!, total: total!, self: 0, count: count!, children: null };
  const nodes: Bundle[] = [{ ...root, places, begin: 0, end: places.size }];
  const grow = (parent: number): Uint32Array => {
    const bundles = bundlesOf(forest, parent, step(nodes[parent]!), slotOf);
    bundles.sort((a, b) => b.width - a.width);
    return Uint32Array.from(bundles, (bundle) => {
      bundle.self = selfOf(bundle);
      return nodes.push(bundle) - 1;
    });
  };
  nodes[0]!.self = selfOf(nodes[0]!);
  return {
    frame: (node) => nodes[node]!.frame,
    parent: (node) => nodes[node]!.parent,
    width: (node) => nodes[node]!.width,
    total: (node) => nodes[node]!.total,
    self: (node) => nodes[node]!.self,
    count: (node) => nodes[node]!.count,
    children: (node) => (nodes[node]!.children ??= grow(node)),
    isGrown: (node) => nodes[node]!.children !== null,
  };
}

/* One level up: what came through a place came through its caller, where ways may meet. Processes and threads call nobody. */
function stepUp(forest: Forest): Step {
  const placeOf = new Uint32Array(forest.size); // plus 1; all zero between two steps
  return ({ places, begin, end }) => {
    const found = roomFor(end - begin);
    for (let place = begin; place < end; place++) {
      const caller = forest.parent[places.at[place]!]!;
      if (caller <= 0 || isLabelNode(forest, caller)) continue;
      if (placeOf[caller] === 0) {
        addPlace(found, caller, 0, 0, 0);
        placeOf[caller] = found.size;
      }
      addPart(found, placeOf[caller]! - 1, places.width[place]!, places.total[place]!, places.count[place]!);
    }
    for (let place = 0; place < found.size; place++) placeOf[found.at[place]!] = 0;
    return found;
  };
}

function stepDown(forest: Forest, width: Float64Array): Step {
  const { childFirst, child } = forest;
  return ({ places, begin, end }) => {
    let size = 0;
    for (let place = begin; place < end; place++) {
      const at = places.at[place]!;
      size += childFirst[at + 1]! - childFirst[at]!;
    }
    const found = roomFor(size);
    for (let place = begin; place < end; place++) {
      const at = places.at[place]!;
      for (let i = childFirst[at]!; i < childFirst[at + 1]!; i++) {
        const callee = child[i]!;
        addPlace(found, callee, width[callee]!, forest.total[callee]!, forest.count[callee]!);
      }
    }
    return found;
  };
}

/* Functions by their own time (or calls), and above each who called it: every node's time is the part of the first one's own time. */
export function bottomUpTree(forest: Forest, weight: Weight): Tree {
  const first = roomFor(forest.size);
  for (let node = 1; node < forest.size; node++) {
    const width = weight === "time" ? forest.self[node]! : forest.count[node]!;
    if (width > 0 && !isLabelNode(forest, node))
      addPlace(first, node, width, forest.self[node]!, forest.count[node]!);
  }
  const up = stepUp(forest);
  const own = (bundle: Bundle) => (bundle.parent === 0 ? bundle.total : 0);
  return growTree(forest, forest.frameCount, first, own, (from) => (from.parent < 0 ? first : up(from)));
}

function outermostOf(forest: Forest, frame: number, width: Float64Array): Places {
  const isOutermost = outermost(forest);
  const found = roomFor(forest.size);
  for (let node = 1; node < forest.size; node++)
    if (forest.frame[node] === frame && isOutermost[node])
      addPlace(found, node, width[node]!, forest.total[node]!, forest.count[node]!);
  return found;
}

/* The function and, one level after the other, who called it. Inner calls of itself are part of the outer ones. */
export function callersTree(forest: Forest, frame: number, weight: Weight): Tree {
  return growTree(
    forest,
    frame,
    outermostOf(forest, frame, widthsOf(forest, weight)),
    () => 0,
    stepUp(forest),
  );
}

/* The function and everything that it called, over all places where it was called. */
export function calleesTree(forest: Forest, frame: number, weight: Weight): Tree {
  const width = widthsOf(forest, weight);
  const own = ({ places, begin, end }: Bundle) => {
    let self = 0;
    for (let place = begin; place < end; place++) self += forest.self[places.at[place]!]!;
    return self;
  };
  return growTree(forest, frame, outermostOf(forest, frame, width), own, stepDown(forest, width));
}
