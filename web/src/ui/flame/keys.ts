/* Walking through a tree with the keyboard, and what each key does to a picture of it. */

import type { Boxes } from "../../model/layout";
import type { Tree } from "../../model/tree";
import { NO_ZOOM, panWindow, type Zoom, zoomTo, zoomTrail, zoomWindow } from "../../model/zoom";
import type { KeyAction } from "../../state/keys";
import type { Look } from "./look";

/* What a picture lets its keys do. */
export interface Grip {
  tree: Tree;
  zoom: Zoom;
  cursor: number; // node
  isUpward: boolean; // the root at the bottom: up is deeper
  onZoom(zoom: Zoom): void;
  onCursor(node: number): void;
  onChoose(node: number): void;
}

const STEP = 0.25;

export function widestChild(tree: Tree, node: number): number {
  const children = tree.children(node);
  let widest = node;
  for (let i = 0; i < children.length; i++)
    if (widest === node || tree.width(children[i]!) > tree.width(widest)) widest = children[i]!;
  return widest;
}

/* The next sibling with any width, to the right (1) or to the left (-1); the node itself if there is none. */
export function sibling(tree: Tree, node: number, direction: 1 | -1): number {
  if (node <= 0) return node;
  const siblings = Array.from(tree.children(tree.parent(node)));
  for (let i = siblings.indexOf(node) + direction; i >= 0 && i < siblings.length; i += direction)
    if (tree.width(siblings[i]!) > 0) return siblings[i]!;
  return node;
}

/* Zooms by a factor around the middle; the node that was chosen stays so while it fills the window. */
function zoomBy(zoom: Zoom, factor: number): Zoom {
  const middle = (zoom.window.from + zoom.window.to) / 2;
  return { ...zoom, window: zoomWindow(zoom.window, factor, middle) };
}

function zoomOut({ tree, zoom, onZoom }: Grip): void {
  const trail = zoomTrail(tree, zoom);
  onZoom(trail.length > 1 ? zoomTo(tree, trail[trail.length - 2]!) : NO_ZOOM);
}

export function flameKeys(grip: Grip): KeyAction[] {
  const { tree, zoom, cursor, onCursor, onZoom } = grip;
  const inward = () => onCursor(widestChild(tree, cursor));
  const outward = () => onCursor(Math.max(0, tree.parent(cursor)));
  const pan = (share: number) => onZoom({ ...zoom, window: panWindow(zoom.window, share) });
  return [
    { keys: ["w", "W"], title: "zoom in", run: () => onZoom(zoomBy(zoom, 0.5)) },
    { keys: ["s", "S"], title: "zoom out", run: () => onZoom(zoomBy(zoom, 2)) },
    { keys: ["a", "A"], title: "to the left", run: () => pan(-STEP) },
    { keys: ["d", "D"], title: "to the right", run: () => pan(STEP) },
    { keys: ["0"], title: "show everything", run: () => onZoom(NO_ZOOM) },
    { keys: ["ArrowDown"], title: "one row down", run: grip.isUpward ? outward : inward },
    { keys: ["ArrowUp"], title: "one row up", run: grip.isUpward ? inward : outward },
    { keys: ["ArrowLeft"], title: "neighbour on the left", run: () => onCursor(sibling(tree, cursor, -1)) },
    { keys: ["ArrowRight"], title: "neighbour on the right", run: () => onCursor(sibling(tree, cursor, 1)) },
    { keys: ["Home"], title: "the root", run: () => onCursor(0) },
    { keys: [" ", "f"], title: "zoom to the outlined frame", run: () => onZoom(zoomTo(tree, cursor)) },
    { keys: ["Enter"], title: "select the outlined frame and zoom to it", run: () => grip.onChoose(cursor) },
    { keys: ["Backspace", "u"], title: "zoom out to the caller", run: () => zoomOut(grip) },
  ];
}

/* From one box to the next of those that are meant, row by row and around. */
function step(boxes: Boxes, isMeant: (node: number) => boolean, cursor: number, direction: 1 | -1): number {
  const found = Array.from({ length: boxes.size }, (_, box) => box).filter(
    (box) => boxes.node[box]! >= 0 && isMeant(boxes.node[box]!),
  );
  found.sort((a, b) => boxes.depth[a]! - boxes.depth[b]! || boxes.from[a]! - boxes.from[b]!);
  const nodes = found.map((box) => boxes.node[box]!);
  const at = nodes.indexOf(cursor);
  if (at < 0) return nodes.at(direction > 0 ? 0 : -1) ?? cursor;
  return nodes[(at + direction + nodes.length) % nodes.length]!;
}

/* Through what is searched for, and through places of the same name. */
export function jumpKeys(boxes: Boxes, isMatch: Look["isMatch"], grip: Grip): KeyAction[] {
  const { tree, cursor, onCursor } = grip;
  const isSame = (node: number) => tree.frame(node) === tree.frame(cursor);
  const jumps: KeyAction[] = [
    { keys: ["."], title: "next of the same name", run: () => onCursor(step(boxes, isSame, cursor, 1)) },
    { keys: [","], title: "previous of the same name", run: () => onCursor(step(boxes, isSame, cursor, -1)) },
  ];
  if (!isMatch) return jumps;
  return [
    ...jumps,
    { keys: ["Enter"], title: "next match", run: () => onCursor(step(boxes, isMatch, cursor, 1)) },
    { keys: ["Shift+Enter"], title: "previous match", run: () => onCursor(step(boxes, isMatch, cursor, -1)) },
  ];
}

/* For a picture whose keys work only while it has the focus. */
export function runKey(actions: KeyAction[], event: KeyboardEvent): void {
  const name = event.shiftKey && event.key.length > 1 ? `Shift+${event.key}` : event.key;
  const action = actions.find((one) => one.keys.includes(name));
  if (!action || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  action.run();
}
