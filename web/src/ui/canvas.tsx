/* A picture: a canvas in device pixels that views draw on with a Pen, with pointer and keys, saving as SVG, PNG and CSV, and a table
 * behind it that says the same in text. */

import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { colours } from "../state/theme";
import type { Colours } from "../state/theme";
import { canvasPen, svgPen } from "./pen";
import type { Pen } from "./pen";
import { fileName, saveCanvas, saveText, toCsv } from "./save";
import { Button } from "./parts";
import type { Size } from "./use";
import { useSize } from "./use";

export interface CanvasPointer {
  kind: "move" | "leave" | "down" | "up" | "click" | "double" | "wheel";
  x: number; // CSS pixels from the canvas's corner
  y: number;
  deltaX: number; // of a wheel
  deltaY: number;
  isShift: boolean;
  isControl: boolean; // or Command; a pinch is a wheel with this
  isDragged: boolean; // the pointer moved since "down"; a "click" never is
  /* A wheel that was used must not scroll the page. */
  preventDefault(): void;
}

/* What the picture says, for those who do not see it and for CSV. */
export interface TextTable {
  columns: string[];
  rows: (string | number)[][];
}

/* What can be saved. */
export interface Picture {
  name: string; // in file names: "flame"
  title: string; // of the recording, in file names
  label: string; // what the picture shows, in a sentence
  /* Drawn again only when this is another function: one that is kept costs nothing while the pointer moves. */
  draw(pen: Pen, size: Size, colours: Colours): void;
  table(): TextTable;
}

export interface CanvasProps extends Picture {
  height?: number; // CSS pixels; without it, as much as the frame gives
  cursor?: string;
  onPointer?(pointer: CanvasPointer): void;
  onKeyDown?(event: KeyboardEvent): void;
  onSize?(size: Size): void;
  isBare?: boolean; // no buttons for saving: a minimap
  children?: ComponentChildren; // tooltips, over the canvas
}

const MOST_ROWS = 200;
const DRAG = 3;

export function Canvas(props: CanvasProps) {
  const [frame, size] = useSize<HTMLDivElement>();
  const canvas = useRef<HTMLCanvasElement>(null);
  const [isTable, showTable] = useState(false);
  const theme = colours.value;
  const height = props.height ?? size.height;

  useEffect(() => {
    if (size.width > 0 && height > 0) props.onSize?.({ width: size.width, height });
  }, [size.width, height]);
  useEffect(() => {
    const request = requestAnimationFrame(() =>
      paint(canvas.current, { width: size.width, height }, props, theme),
    );
    return () => cancelAnimationFrame(request);
  }, [props.draw, size.width, height, theme]);
  useEffect(() => {
    /* The paper does not wait for the next frame; the theme is the printer's by now. */
    const paintNow = () => paint(canvas.current, { width: size.width, height }, props, colours.peek());
    addEventListener("beforeprint", paintNow);
    return () => removeEventListener("beforeprint", paintNow);
  });
  usePointer(canvas, props.onPointer);

  return (
    <div class={props.height === undefined ? "picture picture-fill" : "picture"}>
      {!props.isBare && (
        <SaveBar picture={props} size={() => ({ width: size.width, height })}>
          <Button
            onClick={() => showTable(!isTable)}
            isPressed={isTable}
            title="Show what this picture says as a table"
          >
            Table
          </Button>
        </SaveBar>
      )}
      <div
        class="picture-frame"
        ref={frame}
        /* A height of its own keeps the frame from following the canvas. */
        {...(props.height === undefined ? {} : { style: { height: `${props.height}px` } })}
      >
        <canvas
          ref={canvas}
          role="img"
          tabIndex={props.isBare ? -1 : 0}
          aria-label={props.label}
          style={{ cursor: props.cursor ?? "default" }}
          onKeyDown={props.onKeyDown}
        />
        {props.children}
      </div>
      {isTable && <PictureTable label={props.label} table={props.table()} />}
    </div>
  );
}

export function paint(
  canvas: HTMLCanvasElement | null,
  size: Size,
  picture: Pick<Picture, "draw">,
  theme: Colours,
): void {
  const context = canvas?.getContext("2d", { alpha: false });
  const scale = Math.max(1, Math.min(4, devicePixelRatio || 1));
  const width = Math.round(size.width * scale);
  const height = Math.round(size.height * scale);

  if (!canvas || !context || width <= 0 || height <= 0) return;
  if (canvas.width !== width || canvas.height !== height) {
    canvas.width = width;
    canvas.height = height;
    canvas.style.width = `${size.width}px`;
    canvas.style.height = `${size.height}px`;
  }
  context.setTransform(scale, 0, 0, scale, 0, 0);
  context.fillStyle = theme.surface;
  context.fillRect(0, 0, size.width, size.height);
  picture.draw(canvasPen(context), size, theme);
}

/* Buttons that save a picture, drawn anew in that size. */
export function SaveBar(props: { picture: Picture; size(): Size; children?: ComponentChildren }) {
  const { picture } = props;
  const nameOf = (ending: string) => fileName(picture.title, picture.name, ending);
  const saveSvg = () => {
    const size = props.size();
    const pen = svgPen(size.width, size.height, picture.label);
    pen.rect(0, 0, size.width, size.height, colours.value.surface);
    picture.draw(pen, size, colours.value);
    saveText(nameOf("svg"), "image/svg+xml", pen.finish());
  };
  const savePng = () => {
    const canvas = document.createElement("canvas");
    paint(canvas, props.size(), picture, colours.value);
    saveCanvas(nameOf("png"), canvas);
  };
  const saveCsv = () => {
    const table = picture.table();
    saveText(nameOf("csv"), "text/csv", toCsv(table.columns, table.rows));
  };

  return (
    <div class="save" role="group" aria-label={`Save or read: ${picture.name}`}>
      <Button onClick={saveSvg} title="Save this picture as SVG">
        SVG
      </Button>
      <Button onClick={savePng} title="Save this picture as PNG">
        PNG
      </Button>
      <Button onClick={saveCsv} title="Save what this picture shows as CSV">
        CSV
      </Button>
      {props.children}
    </div>
  );
}

function PictureTable({ label, table }: { label: string; table: TextTable }) {
  const left = table.rows.length - MOST_ROWS;

  return (
    <div class="picture-table" tabIndex={0} role="region" aria-label={`Table: ${label}`}>
      <table>
        <caption>{label}</caption>
        <thead>
          <tr>
            {table.columns.map((title) => (
              <th key={title} scope="col">
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {table.rows.slice(0, MOST_ROWS).map((row, i) => (
            <tr key={i}>
              {row.map((cell, j) => (
                <td key={j}>{cell}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {left > 0 && <p class="muted">and {left} more: save them as CSV</p>}
    </div>
  );
}

/* Pointer events in the canvas's own coordinates. A press that moves is a drag and never a click. */
function usePointer(canvas: { current: HTMLCanvasElement | null }, handler: CanvasProps["onPointer"]): void {
  const latest = useRef(handler);

  latest.current = handler;
  useEffect(() => {
    const element = canvas.current;
    let down: { x: number; y: number } | null = null;
    let isDragged = false;

    if (!element) return;
    const send = (kind: CanvasPointer["kind"], event: MouseEvent) => {
      const box = element.getBoundingClientRect();
      const wheel = event instanceof WheelEvent ? event : null;
      const lines = wheel?.deltaMode === 1 ? 16 : 1;
      latest.current?.({
        kind,
        x: event.clientX - box.left,
        y: event.clientY - box.top,
        deltaX: (wheel?.deltaX ?? 0) * lines,
        deltaY: (wheel?.deltaY ?? 0) * lines,
        isShift: event.shiftKey,
        isControl: event.ctrlKey || event.metaKey,
        isDragged,
        preventDefault: () => event.preventDefault(),
      });
    };
    const onDown = (event: PointerEvent) => {
      if (event.button !== 0) return;
      down = { x: event.clientX, y: event.clientY };
      isDragged = false;
      element.setPointerCapture(event.pointerId);
      send("down", event);
    };
    const onMove = (event: PointerEvent) => {
      if (down && Math.abs(event.clientX - down.x) + Math.abs(event.clientY - down.y) > DRAG)
        isDragged = true;
      send("move", event);
    };
    const onUp = (event: PointerEvent) => {
      if (!down) return;
      send("up", event);
      if (!isDragged) send("click", event);
      down = null;
      isDragged = false;
    };
    const onLeave = (event: PointerEvent) => !down && send("leave", event);
    const onDouble = (event: MouseEvent) => send("double", event);
    const onWheel = (event: WheelEvent) => send("wheel", event);

    element.addEventListener("pointerdown", onDown);
    element.addEventListener("pointermove", onMove);
    element.addEventListener("pointerup", onUp);
    element.addEventListener("pointercancel", onUp);
    element.addEventListener("pointerleave", onLeave);
    element.addEventListener("dblclick", onDouble);
    element.addEventListener("wheel", onWheel, { passive: false });
    return () => {
      element.removeEventListener("pointerdown", onDown);
      element.removeEventListener("pointermove", onMove);
      element.removeEventListener("pointerup", onUp);
      element.removeEventListener("pointercancel", onUp);
      element.removeEventListener("pointerleave", onLeave);
      element.removeEventListener("dblclick", onDouble);
      element.removeEventListener("wheel", onWheel);
    };
  }, []);
}
