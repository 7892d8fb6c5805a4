/* One way to draw for the screen and for SVG files: views draw with a Pen and do not know which it is. Coordinates are CSS pixels. */

import type { Rgb } from "./colour";
import { css } from "./colour";

export type Paint = string | Rgb;

export interface TextStyle {
  size?: number; // CSS pixels, 12 unless told
  align?: "left" | "center" | "right";
  isBold?: boolean;
  isMono?: boolean;
}

export interface Pen {
  rect(x: number, y: number, width: number, height: number, fill: Paint): void;
  outline(x: number, y: number, width: number, height: number, stroke: Paint, thickness?: number): void;
  /* Stripes over a rectangle: lost, waiting, folded. */
  hatch(x: number, y: number, width: number, height: number, stroke: Paint): void;
  line(points: readonly number[], stroke: Paint, thickness?: number): void; // x, y, x, y, …
  area(points: readonly number[], fill: Paint): void;
  /* A piece of a ring; angles in radians, 0 is up, clockwise. */
  wedge(
    x: number,
    y: number,
    inner: number,
    outer: number,
    from: number,
    to: number,
    fill: Paint,
    stroke?: Paint,
  ): void;
  /* y is the middle of the line of text. Text must be clean(): see text.ts. */
  text(x: number, y: number, text: string, fill: Paint, style?: TextStyle): void;
  /* Everything that `draw` draws stays inside. */
  clip(x: number, y: number, width: number, height: number, draw: () => void): void;
}

export const FONT = 'system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif';
export const MONO = 'ui-monospace, "Cascadia Mono", "DejaVu Sans Mono", Menlo, Consolas, monospace';
/* How wide an average letter of the 12-pixel font is: cheaper than measuring each text. */
export const CHAR_WIDTH = 7;

const HATCH = 6;

function paintOf(paint: Paint): string {
  return typeof paint === "string" ? paint : css(paint);
}

/* Lines at 45 degrees that cover the rectangle, as from, to pairs. */
function* stripes(
  x: number,
  y: number,
  width: number,
  height: number,
): Generator<[number, number, number, number]> {
  for (let at = Math.floor((x - height) / HATCH) * HATCH; at < x + width; at += HATCH) {
    const from = Math.max(at, x);
    const to = Math.min(at + height, x + width);
    if (to > from) yield [from, y + height - (from - at), to, y + height - (to - at)];
  }
}

export function canvasPen(context: CanvasRenderingContext2D): Pen {
  const trace = (points: readonly number[]) => {
    context.beginPath();
    for (let i = 0; i + 1 < points.length; i += 2) context.lineTo(points[i]!, points[i + 1]!);
  };

  return {
    rect(x, y, width, height, fill) {
      context.fillStyle = paintOf(fill);
      context.fillRect(x, y, width, height);
    },
    outline(x, y, width, height, stroke, thickness = 1) {
      context.strokeStyle = paintOf(stroke);
      context.lineWidth = thickness;
      context.strokeRect(x + thickness / 2, y + thickness / 2, width - thickness, height - thickness);
    },
    hatch(x, y, width, height, stroke) {
      context.strokeStyle = paintOf(stroke);
      context.lineWidth = 1;
      context.beginPath();
      for (const [x1, y1, x2, y2] of stripes(x, y, width, height)) {
        context.moveTo(x1, y1);
        context.lineTo(x2, y2);
      }
      context.stroke();
    },
    line(points, stroke, thickness = 1) {
      context.strokeStyle = paintOf(stroke);
      context.lineWidth = thickness;
      trace(points);
      context.stroke();
    },
    area(points, fill) {
      context.fillStyle = paintOf(fill);
      trace(points);
      context.fill();
    },
    wedge(x, y, inner, outer, from, to, fill, stroke) {
      const quarter = Math.PI / 2;
      context.beginPath();
      context.arc(x, y, outer, from - quarter, to - quarter);
      context.arc(x, y, inner, to - quarter, from - quarter, true);
      context.closePath();
      context.fillStyle = paintOf(fill);
      context.fill();
      if (!stroke) return;
      context.strokeStyle = paintOf(stroke);
      context.lineWidth = 1;
      context.stroke();
    },
    text(x, y, text, fill, style = {}) {
      context.font = `${style.isBold ? "600 " : ""}${style.size ?? 12}px ${style.isMono ? MONO : FONT}`;
      context.textAlign = style.align ?? "left";
      context.textBaseline = "middle";
      context.fillStyle = paintOf(fill);
      context.fillText(text, x, y);
    },
    clip(x, y, width, height, draw) {
      context.save();
      context.beginPath();
      context.rect(x, y, width, height);
      context.clip();
      draw();
      context.restore();
    },
  };
}

const ESCAPES: Record<string, string> = { "<": "&lt;", ">": "&gt;", "&": "&amp;", '"': "&quot;" };

function escaped(text: string): string {
  return text.replace(/[<>&"]/g, (letter) => ESCAPES[letter]!);
}

/* Collects an SVG document; finish() gives its text. */
export function svgPen(width: number, height: number, title: string): Pen & { finish(): string } {
  const parts: string[] = [];
  let clips = 0;
  const n = (value: number) => String(Math.round(value * 100) / 100);
  const box = (x: number, y: number, w: number, h: number) =>
    `x="${n(x)}" y="${n(y)}" width="${n(Math.max(0, w))}" height="${n(Math.max(0, h))}"`;
  const path = (points: readonly number[]) =>
    points.reduce((text, value, i) => text + (i % 2 ? `,${n(value)}` : `${i ? " " : ""}${n(value)}`), "");
  const at = (x: number, y: number, radius: number, angle: number) =>
    `${n(x + radius * Math.sin(angle))},${n(y - radius * Math.cos(angle))}`;

  return {
    rect(x, y, w, h, fill) {
      parts.push(`<rect ${box(x, y, w, h)} fill="${paintOf(fill)}"/>`);
    },
    outline(x, y, w, h, stroke, thickness = 1) {
      parts.push(
        `<rect ${box(x + thickness / 2, y + thickness / 2, w - thickness, h - thickness)} fill="none" ` +
          `stroke="${paintOf(stroke)}" stroke-width="${thickness}"/>`,
      );
    },
    hatch(x, y, w, h, stroke) {
      const lines = [...stripes(x, y, w, h)].map((s) => `M${n(s[0])},${n(s[1])}L${n(s[2])},${n(s[3])}`);
      parts.push(`<path d="${lines.join("")}" stroke="${paintOf(stroke)}" fill="none"/>`);
    },
    line(points, stroke, thickness = 1) {
      parts.push(
        `<polyline points="${path(points)}" fill="none" stroke="${paintOf(stroke)}" stroke-width="${thickness}"/>`,
      );
    },
    area(points, fill) {
      parts.push(`<polygon points="${path(points)}" fill="${paintOf(fill)}"/>`);
    },
    wedge(x, y, inner, outer, from, to, fill, stroke) {
      /* An arc from a point to itself is nothing: a whole ring is drawn as nearly whole. */
      const end = Math.min(to, from + 2 * Math.PI - 1e-4);
      const large = end - from > Math.PI ? 1 : 0;
      parts.push(
        `<path d="M${at(x, y, outer, from)}A${n(outer)},${n(outer)} 0 ${large} 1 ${at(x, y, outer, end)}` +
          `L${at(x, y, inner, end)}A${n(inner)},${n(inner)} 0 ${large} 0 ${at(x, y, inner, from)}Z" ` +
          `fill="${paintOf(fill)}"${stroke ? ` stroke="${paintOf(stroke)}"` : ""}/>`,
      );
    },
    text(x, y, text, fill, style = {}) {
      const anchor = { left: "start", center: "middle", right: "end" }[style.align ?? "left"];
      parts.push(
        `<text x="${n(x)}" y="${n(y)}" dominant-baseline="central" text-anchor="${anchor}" ` +
          `font-size="${style.size ?? 12}" font-family="${style.isMono ? "monospace" : "system-ui, sans-serif"}"` +
          `${style.isBold ? ' font-weight="600"' : ""} fill="${paintOf(fill)}">${escaped(text)}</text>`,
      );
    },
    clip(x, y, w, h, draw) {
      const id = `clip${clips++}`;
      parts.push(`<clipPath id="${id}"><rect ${box(x, y, w, h)}/></clipPath><g clip-path="url(#${id})">`);
      draw();
      parts.push("</g>");
    },
    finish() {
      return (
        `<svg xmlns="http://www.w3.org/2000/svg" width="${n(width)}" height="${n(height)}" ` +
        `viewBox="0 0 ${n(width)} ${n(height)}"><title>${escaped(title)}</title>${parts.join("")}</svg>\n`
      );
    },
  };
}
