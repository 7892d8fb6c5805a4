/* Where the boxes of a flame graph go: only those that can be seen. What is narrower than half a pixel is not drawn, nor looked into; runs of
 * such siblings become one box. */

import type { Tree } from "./tree";
import type { Window } from "./zoom";

export interface Boxes {
  size: number;
  node: Int32Array; // -1: a run of siblings too narrow to draw …
  above: Int32Array; // … below this node; else the node's parent
  depth: Uint16Array;
  from: Float64Array; // fractions of the whole width, not of the window
  to: Float64Array;
  deepest: number; // rows needed, less one
  hidden: number; // siblings in such runs, so far as anybody looked
  isPartial: boolean; // there was no time to look into every node: lay out again to go on
}

export interface LayoutOptions {
  window: Window;
  pixels: number; // width of the window
  firstRow: number; // rows outside of these are walked through, and left out
  lastRow: number;
  isCut?: boolean; // nobody needs to know how much deeper it goes than the last row
  /* Asked before a tree grows: true leaves that for the next time. */
  isLate?(): boolean;
}

const NARROWEST = 0.5; // pixels
const DEEPEST = 65535;

function makeBoxes(room: number): Boxes {
  return {
    size: 0,
    node: new Int32Array(room),
    above: new Int32Array(room),
    depth: new Uint16Array(room),
    from: new Float64Array(room),
    to: new Float64Array(room),
    deepest: 0,
    hidden: 0,
    isPartial: false,
  };
}

function grown<T extends Int32Array | Uint16Array | Float64Array>(old: T, made: T): T {
  made.set(old as never);
  return made;
}

function addBox(boxes: Boxes, node: number, above: number, depth: number, from: number, to: number): void {
  if (boxes.size === boxes.node.length) {
    const room = boxes.size * 2;
    boxes.node = grown(boxes.node, new Int32Array(room));
    boxes.above = grown(boxes.above, new Int32Array(room));
    boxes.depth = grown(boxes.depth, new Uint16Array(room));
    boxes.from = grown(boxes.from, new Float64Array(room));
    boxes.to = grown(boxes.to, new Float64Array(room));
  }
  const box = boxes.size++;
  boxes.node[box] = node;
  boxes.above[box] = above;
  boxes.depth[box] = depth;
  boxes.from[box] = from;
  boxes.to[box] = to;
}

/* Boxes, the root's first, parents before children. */
export function layOut(tree: Tree, options: LayoutOptions): Boxes {
  const { window, firstRow, lastRow } = options;
  const boxes = makeBoxes(1024);
  const whole = tree.width(0);
  if (!(whole > 0)) return boxes;
  const narrowest = (NARROWEST * (window.to - window.from)) / Math.max(1, options.pixels);
  const deepest = options.isCut ? Math.min(lastRow, DEEPEST) : DEEPEST;
  const waiting: number[] = [0, 0, 0]; // node, begin, depth
  while (waiting.length > 0) {
    const depth = waiting.pop()!;
    const begin = waiting.pop()!;
    const node = waiting.pop()!;
    const end = begin + tree.width(node) / whole;
    const isShown = depth >= firstRow && depth <= lastRow;
    if (isShown) addBox(boxes, node, tree.parent(node), depth, begin, end);
    if (depth > boxes.deepest) boxes.deepest = depth;
    if (depth >= deepest) continue;
    if (tree.isGrown && !tree.isGrown(node)) {
      if (depth >= lastRow) {
        boxes.deepest = Math.max(boxes.deepest, lastRow + 1); // perhaps: who scrolls there will see
        continue;
      }
      if (options.isLate?.()) {
        boxes.isPartial = true;
        continue;
      }
    }
    const isBelowShown = depth + 1 >= firstRow && depth + 1 <= lastRow;
    const children = tree.children(node);
    let at = begin;
    let runBegin = begin;
    let run = 0;
    const endRun = () => {
      if (run > 0 && isBelowShown && at - runBegin >= 2 * narrowest)
        addBox(boxes, -1, node, depth + 1, runBegin, at);
      boxes.hidden += run;
      run = 0;
    };
    for (let i = 0; i < children.length; i++) {
      const child = children[i]!;
      const width = tree.width(child) / whole;
      const childEnd = at + width;
      const isInside = childEnd > window.from && at < window.to;
      if (isInside && width >= narrowest) {
        endRun();
        waiting.push(child, at, depth + 1);
      } else if (isInside && width > 0) {
        if (run++ === 0) runBegin = at;
      }
      at = childEnd;
      if (at >= window.to) break;
    }
    endRun();
  }
  return boxes;
}

/* The box at a place; -1: none. A binary search would need rows apart: there are few enough boxes to look at all. */
export function boxAt(boxes: Boxes, x: number, depth: number): number {
  for (let box = 0; box < boxes.size; box++)
    if (boxes.depth[box] === depth && boxes.from[box]! <= x && x < boxes.to[box]!) return box;
  return -1;
}
