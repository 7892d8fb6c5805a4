/* The picture of a tree, in rows or in rings: pointer, keys, tooltip, the way to where one is, and a line that says in text what is outlined. */

import { useCallback, useEffect, useMemo, useState } from "preact/hooks";
import { type Boxes, boxAt, layOut } from "../../model/layout";
import { MOST_RINGS, placeInRings, ringsOf } from "../../model/rings";
import type { Tree } from "../../model/tree";
import { extentOf, panWindow, type Zoom, zoomTo, zoomTrail, zoomWindow } from "../../model/zoom";
import { type KeyAction, useKeys } from "../../state/keys";
import type { Colours } from "../../state/theme";
import { Canvas, type CanvasPointer, type TextTable } from "../canvas";
import { Tooltip } from "../parts";
import type { Pen } from "../pen";
import type { Size } from "../use";
import { flameKeys, jumpKeys, runKey } from "./keys";
import type { Look } from "./look";
import { drawRows, drawScroll, outlineBox, placeInRows, ROW, rowsInSight } from "./rows";
import { Trail } from "./trail";
import { drawRings, outlineWedge } from "./wedges";
import "./flame.css";

export interface FlameProps {
  name: string; // in file names
  title: string; // of the recording, in file names
  label: string; // what the picture shows, in a sentence
  tree: Tree;
  look: Look;
  shape: "rows" | "rings";
  isUpward: boolean;
  isMain: boolean; // its keys work wherever the focus is; else only in the picture
  height?: number;
  zoom: Zoom;
  onZoom(zoom: Zoom): void;
  onChoose(node: number, isAdded: boolean): void;
  describe(node: number): string[]; // the name, then what there is to say
  columns: string[]; // of the table behind the picture …
  cells(node: number): (string | number)[]; // … and a node's row in it, without its depth
}

const BUDGET_MS = 60; // for growing a tree between two pictures
const NARROWEST = 2; // pixels: what is narrower cannot be pointed at

interface Point {
  x: number;
  y: number;
}

/* The boxes in sight. A tree that is still growing is laid out again until it is all there. */
function useBoxes(props: FlameProps, size: Size, firstRow: number, centre: number): Boxes {
  const [round, setRound] = useState(0);
  const isRings = props.shape === "rings";
  const { tree, zoom } = props;
  const boxes = useMemo(() => {
    let deadline = 0; // from when it first grows: what has grown is never looked at in vain
    return layOut(tree, {
      window: zoom.window,
      pixels: isRings ? Math.min(size.width, size.height) * Math.PI : size.width,
      firstRow: isRings ? centre : firstRow,
      lastRow: isRings ? centre + MOST_RINGS : firstRow + rowsInSight(size.height),
      isCut: isRings,
      isLate() {
        const now = performance.now();
        deadline ||= now + BUDGET_MS;
        return now > deadline;
      },
    });
  }, [tree, zoom.window.from, zoom.window.to, size.width, size.height, firstRow, centre, isRings, round]);
  useEffect(() => {
    if (!boxes.isPartial) return;
    const request = requestAnimationFrame(() => setRound(round + 1));
    return () => cancelAnimationFrame(request);
  }, [boxes]);
  return boxes;
}

function depthOf(tree: Tree, node: number): number {
  let depth = 0;
  for (let at = node; at > 0; at = tree.parent(at)) depth++;
  return depth;
}

export function Flame(props: FlameProps) {
  const { tree, zoom, look } = props;
  const [size, setSize] = useState<Size>({ width: 0, height: 0 });
  const [top, setTop] = useState(0);
  const [cursor, setCursor] = useState(-1);
  const [hover, setHover] = useState<Point | null>(null);
  const isRings = props.shape === "rings";
  const trail = useMemo(() => zoomTrail(tree, zoom), [tree, zoom.window.from, zoom.window.to, zoom.depth]);
  const centre = trail.length - 1;
  const boxes = useBoxes(props, size, top, centre);
  const inSight = rowsInSight(size.height);
  const lastTop = Math.max(0, boxes.deepest + 1 - inSight);
  const rows = { size, window: zoom.window, firstRow: top, isUpward: props.isUpward };
  const rings = ringsOf(size.width, size.height, centre, boxes.deepest, zoom.window);

  useEffect(() => {
    setCursor(-1);
    setHover(null);
    setTop(0);
  }, [tree]);
  useEffect(() => {
    if (top > lastTop && !boxes.isPartial) setTop(lastTop);
  });

  const showRow = (depth: number) => {
    if (depth < top) setTop(depth);
    else if (depth >= top + inSight) setTop(depth - inSight + 1);
  };
  const zoomInto = (node: number) => {
    const next = zoomTo(tree, node);
    if (next.depth > inSight / 2) setTop(Math.max(0, next.depth - 2));
    else setTop(0);
    props.onZoom(next);
  };
  const moveCursor = (node: number) => {
    const extent = extentOf(tree, node);
    const span = zoom.window.to - zoom.window.from;
    const isNarrow = ((extent.to - extent.from) / span) * size.width < NARROWEST;
    const isOutside = extent.to <= zoom.window.from || extent.from >= zoom.window.to;
    setHover(null);
    setCursor(node);
    showRow(depthOf(tree, node));
    if (isNarrow || isOutside) props.onZoom(zoomTo(tree, isNarrow ? node : Math.max(0, tree.parent(node))));
  };
  const choose = (node: number, isAdded = false) => {
    setCursor(node);
    if (!isAdded) zoomInto(isRings && node === trail[centre] ? Math.max(0, tree.parent(node)) : node);
    props.onChoose(node, isAdded);
  };
  const grip = {
    tree,
    zoom,
    cursor: cursor >= 0 ? cursor : (widestChosen(boxes, look) ?? trail[centre]!),
    isUpward: props.isUpward && !isRings,
    onZoom: props.onZoom,
    onCursor: moveCursor,
    onChoose: choose,
  };
  const actions = [...jumpKeys(boxes, look.isMatch, grip), ...flameKeys(grip)];

  const boxUnder = (x: number, y: number) => {
    const { at, depth } = isRings ? placeInRings(rings, x, y) : placeInRows(rows, x, y);
    return boxAt(boxes, at, depth);
  };
  const onPointer = (pointer: CanvasPointer) => {
    const box = pointer.kind === "leave" ? -1 : boxUnder(pointer.x, pointer.y);
    if (pointer.kind === "move" || pointer.kind === "leave")
      setHover(box < 0 ? null : { x: pointer.x, y: pointer.y });
    else if (pointer.kind === "click" && box >= 0) {
      const node = boxes.node[box]!;
      if (node >= 0) choose(node, pointer.isShift || pointer.isControl);
      else zoomInto(boxes.above[box]!);
    } else if (pointer.kind === "wheel" && !isRings) onWheel(pointer);
  };
  const onWheel = (pointer: CanvasPointer) => {
    const { window } = zoom;
    if (pointer.isControl) {
      const at = window.from + (pointer.x / size.width) * (window.to - window.from);
      props.onZoom({ ...zoom, window: zoomWindow(window, Math.exp(pointer.deltaY / 200), at) });
    } else if (pointer.isShift || Math.abs(pointer.deltaX) > Math.abs(pointer.deltaY)) {
      const delta = pointer.deltaX || pointer.deltaY;
      props.onZoom({ ...zoom, window: panWindow(window, delta / Math.max(1, size.width)) });
    } else if (lastTop > 0) {
      const step = Math.sign(pointer.deltaY) * Math.max(1, Math.round(Math.abs(pointer.deltaY) / ROW));
      setTop(Math.min(lastTop, Math.max(0, top + (props.isUpward ? -step : step))));
    } else return;
    pointer.preventDefault();
  };
  const cursorBox = cursor < 0 ? -1 : boxes.node.subarray(0, boxes.size).indexOf(cursor);
  const draw = useCallback(
    (pen: Pen, drawnSize: Size, colours: Colours) => {
      if (boxes.size === 0) return;
      if (isRings) {
        drawRings(pen, rings, boxes, look, colours);
        if (cursorBox >= 0) outlineWedge(pen, rings, boxes, cursorBox, colours.text);
        return;
      }
      drawRows(pen, { ...rows, size: drawnSize }, boxes, look, colours);
      if (cursorBox >= 0) outlineBox(pen, rows, boxes, cursorBox, colours.text, colours.surface);
      drawScroll(pen, rows, boxes.deepest, colours);
    },
    /* Boxes are new whenever the tree, the window, the size or the first row is. */
    [boxes, look, cursorBox, props.isUpward],
  );
  const hoverBox = hover ? boxUnder(hover.x, hover.y) : -1;
  const told = hoverBox >= 0 ? boxes.node[hoverBox]! : cursor;

  return (
    <div class={props.height === undefined ? "flame flame-fill" : "flame"}>
      {props.isMain && <Keys actions={actions} />}
      <Trail trail={trail} text={look.text} onZoom={zoomInto} />
      <Canvas
        name={props.name}
        title={props.title}
        label={props.label}
        height={props.height}
        cursor={hoverBox >= 0 ? "pointer" : "default"}
        onSize={setSize}
        onPointer={onPointer}
        onKeyDown={(event) => !props.isMain && runKey(actions, event)}
        table={() => tableOf(props, boxes)}
        draw={draw}
      >
        {hover && hoverBox >= 0 && (
          <Tooltip x={hover.x} y={hover.y} width={size.width} height={size.height}>
            {linesOf(props, boxes, hoverBox).map((line, i) => (
              <div key={i} class={i === 0 ? "flame-name" : ""}>
                {line}
              </div>
            ))}
          </Tooltip>
        )}
      </Canvas>
      <p class="flame-status" role="status">
        {told >= 0 ? props.describe(told).join(" · ") : hintOf(boxes)}
      </p>
    </div>
  );
}

function Keys({ actions }: { actions: KeyAction[] }) {
  useKeys("In the picture", actions);
  return null;
}

/* Where the keyboard starts, if something is chosen that can be seen. */
function widestChosen(boxes: Boxes, look: Look): number | null {
  let widest = -1;
  for (let box = 0; box < boxes.size; box++) {
    if (boxes.node[box]! < 0 || !look.isChosen(boxes.node[box]!)) continue;
    if (widest < 0 || boxes.to[box]! - boxes.from[box]! > boxes.to[widest]! - boxes.from[widest]!)
      widest = box;
  }
  return widest < 0 ? null : boxes.node[widest]!;
}

function hintOf(boxes: Boxes): string {
  if (boxes.hidden === 0) return "";
  const what = boxes.hidden === 1 ? "call is" : "calls are";
  return `${boxes.hidden.toLocaleString("en-US")} ${what} too narrow to draw here: zoom in to see more`;
}

function linesOf(props: FlameProps, boxes: Boxes, box: number): string[] {
  const node = boxes.node[box]!;
  return node >= 0
    ? props.describe(node)
    : ["Many short calls", "too narrow to draw one by one: click to zoom in"];
}

/* What is in sight, from the top: for those who cannot see it, and for CSV. */
function tableOf(props: FlameProps, boxes: Boxes): TextTable {
  const order = Array.from({ length: boxes.size }, (_, box) => box).filter((box) => boxes.node[box]! >= 0);
  order.sort((a, b) => boxes.depth[a]! - boxes.depth[b]! || boxes.from[a]! - boxes.from[b]!);
  return {
    columns: ["depth", ...props.columns],
    rows: order.map((box) => [boxes.depth[box]!, ...props.cells(boxes.node[box]!)]),
  };
}
