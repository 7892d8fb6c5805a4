/* The words for a node: its name, its times, their shares. */

import type { Forest } from "../../model/forest";
import { type Frame, placeOf } from "../../model/frames";
import type { Tree, Weight } from "../../model/tree";
import { formatCount, formatShare, formatTime } from "../format";
import { clean } from "../text";

export interface Words {
  list: readonly Frame[]; // all frames
  forest: Forest;
  tree: Tree;
  weight: Weight;
  isBottomUp: boolean; // rows go from callees to callers
  what: string; // that the time of a node is: "total", "self"
}

export function frameText(list: readonly Frame[], forest: Forest, frame: number): string {
  return clean(list[frame]?.name ?? forest.labels[frame - forest.frameCount] ?? "");
}

/* A process or thread has no time of its own: it is as long as what is below it. */
export function timeOf(words: Words, node: number): number {
  const { tree, forest, weight } = words;
  const isLabel = tree.frame(node) >= forest.frameCount;
  return isLabel && weight === "time" ? tree.width(node) : tree.total(node);
}

export function describeNode(words: Words, node: number): string[] {
  const { tree, list, forest } = words;
  const frame = list[tree.frame(node)];
  const total = timeOf(words, node);
  const whole = timeOf(words, 0);
  const lines = [frameText(list, forest, tree.frame(node))];
  const parent = tree.parent(node);
  const ofParent =
    parent > 0
      ? `, ${formatShare(total / timeOf(words, parent))} of ${words.isBottomUp ? "what it called" : "its caller"}`
      : "";
  lines.push(`${words.what} ${formatTime(total)}: ${formatShare(total / whole)} of everything${ofParent}`);
  if (!frame) return lines;
  const count = tree.count(node);
  if (!words.isBottomUp) lines.push(`self ${formatTime(tree.self(node))}`);
  if (count > 0)
    lines.push(`${formatCount(count)} ${count === 1 ? "call" : "calls"}, ${formatTime(total / count)} each`);
  const place = placeOf(frame);
  if (place !== "") lines.push(clean(place));
  return lines;
}

export const CELL_COLUMNS = ["name", "file", "line", "total ns", "self ns", "calls", "share"];

export function cellsOf(words: Words, node: number): (string | number)[] {
  const { tree, list, forest } = words;
  const frame = list[tree.frame(node)];
  const total = timeOf(words, node);
  return [
    frameText(list, forest, tree.frame(node)),
    clean(frame?.file ?? ""),
    frame?.line ?? 0,
    total,
    tree.self(node),
    tree.count(node),
    total / timeOf(words, 0),
  ];
}
