/* Draws the timeline: axis, rows, spans, counters, marks, errors, and hatched what was lost. Only with a Pen: the same for SVG. */

import type { Range } from "../../data/work";
import { palette } from "../../model/palette";
import type { Selection } from "../../state/selection";
import type { Colours } from "../../state/theme";
import { css, mix, textOn } from "../../ui/colour";
import type { Rgb } from "../../ui/colour";
import { formatShort, formatTick, tickStep } from "../../ui/format";
import { LABEL_SIZE, tickLabels } from "../../ui/axis";
import { CHAR_WIDTH } from "../../ui/pen";
import type { Pen } from "../../ui/pen";
import { clean, fit } from "../../ui/text";
import type { Row } from "./rows";
import { LANE } from "./rows";
import { AXIS, laneY, xOf } from "./scene";
import type { Scene } from "./scene";
import { columnsOf } from "./series";
import { asyncWindow } from "./asyncs";
import { drawFlags, drawLosses } from "./flags";

const UNFINISHED = 1;
const ERROR = 2;
const IN_GAP = 8;
const LABEL_FROM = 28; // pixels

interface Ink {
  fill: string;
  soft: string; // what is not chosen
  text: string;
  softText: string;
  name: string;
}

/* The colours and the text of each site, made once for a theme. */
export type Inks = (site: number) => Ink;

export function makeInks(scene: Pick<Scene, "frames" | "data">, colours: Colours): Inks {
  const known: Ink[] = [];
  const { colourOf } = palette(scene.data);
  const ground: Rgb = colours.isDark ? [0x1b, 0x1e, 0x24] : [255, 255, 255];

  return (site) => {
    const found = known[site];
    if (found) return found;
    const frame = scene.frames.list[scene.frames.siteBase + site];
    const name = frame ? clean(frame.name, 120) : "";
    const colour = colourOf(scene.frames.siteBase + site);
    const soft = mix(colour, ground, 0.7);
    return (known[site] = {
      fill: css(colour),
      soft: css(soft),
      text: css(textOn(colour)),
      softText: css(textOn(soft)),
      name,
    });
  };
}

export function drawTimeline(
  pen: Pen,
  scene: Scene,
  colours: Colours,
  inks: Inks,
  selected: Selection,
): void {
  const { gutter, width, height } = scene;
  const top = AXIS;
  const shown = scene.rows.list.filter(
    (row) => row.y + row.height > scene.scroll && row.y < scene.scroll + height - AXIS,
  );

  pen.clip(0, top, width, height - top, () => {
    for (const row of shown) drawRow(pen, scene, colours, row);
    pen.clip(gutter, top, width - gutter, height - top, () => {
      drawTicks(pen, scene, colours);
      drawLosses(pen, scene, colours);
      drawSpans(pen, scene, colours, inks);
      for (const row of shown) {
        if (row.kind === "async") drawAsyncs(pen, scene, colours, inks, row);
        if (row.kind === "counter") drawCounter(pen, scene, colours, row);
      }
      drawFlags(pen, scene, colours, "marks", colours.accent);
      drawFlags(pen, scene, colours, "errors", colours.error);
      drawSelected(pen, scene, colours, selected);
    });
    for (const row of shown) drawLabel(pen, scene, colours, row);
  });
  drawAxis(pen, scene, colours, selected.range);
}

function ticksOf(scene: Scene): { step: number; times: number[] } {
  const { from, to } = scene.range;
  const step = tickStep(to - from, Math.max(2, (scene.width - scene.gutter) / 110));
  const times: number[] = [];

  for (let n = Math.ceil(from / step); n * step <= to && times.length < 200; n++) times.push(n * step);
  return { step, times };
}

const TICKS = ["rgba(26,29,35,0.07)", "rgba(230,232,236,0.08)"] as const; // light, dark: seen over everything

function drawTicks(pen: Pen, scene: Scene, colours: Colours): void {
  for (const time of ticksOf(scene).times)
    pen.rect(Math.round(xOf(scene, time)), AXIS, 1, scene.height - AXIS, TICKS[colours.isDark ? 1 : 0]);
}

function drawAxis(pen: Pen, scene: Scene, colours: Colours, range: Range | null): void {
  const { step, times } = ticksOf(scene);

  pen.rect(0, 0, scene.width, AXIS, colours.surface);
  pen.clip(scene.gutter, 0, scene.width - scene.gutter, AXIS, () => {
    if (range) {
      const x = xOf(scene, range.from);
      pen.rect(x, AXIS - 4, xOf(scene, range.to) - x, 3, colours.accent);
    }
    const list = times.map((time) => ({ x: Math.round(xOf(scene, time)), text: formatTick(time, step) }));
    for (const { x } of list) pen.rect(x, AXIS - 6, 1, 6, colours.line);
    for (const { x, text, align } of tickLabels(list, scene.gutter, scene.width))
      pen.text(x, AXIS / 2 - 1, text, colours.muted, { size: LABEL_SIZE, align });
  });
  pen.rect(0, AXIS - 1, scene.width, 1, colours.line);
}

function drawRow(pen: Pen, scene: Scene, colours: Colours, row: Row): void {
  const y = AXIS + row.y - scene.scroll;

  if (row.kind === "process") pen.rect(0, y, scene.width, row.height, colours.raised);
  drawLife(pen, scene, colours, row);
  pen.rect(0, y + row.height - 1, scene.width, 1, row.kind === "process" ? colours.line : colours.raised);
}

/* From when to when a process or thread was there: one without spans is not nothing. */
function drawLife(pen: Pen, scene: Scene, colours: Colours, row: Row): void {
  const { processes, tracks } = scene.data.recording;
  const life =
    row.kind === "process" ? processes[row.process] : row.kind === "thread" ? tracks[row.track] : undefined;
  const y = AXIS + row.y - scene.scroll;

  if (!life || !(life.end_ns > life.start_ns)) return;
  const from = Math.max(scene.gutter, xOf(scene, life.start_ns));
  const to = Math.min(scene.width, Math.max(from + 1, xOf(scene, life.end_ns)));
  if (to <= from) return;
  if (row.kind === "process") pen.rect(from, y + row.height - 4, to - from, 3, colours.line);
  else pen.rect(from, y + 3, to - from, row.height - 8, colours.raised);
}

function drawLabel(pen: Pen, scene: Scene, colours: Colours, row: Row): void {
  const y = AXIS + row.y - scene.scroll;
  const isProcess = row.kind === "process";
  const room = (isProcess ? scene.width : scene.gutter) - 24;
  const text = fit(row.label, room, CHAR_WIDTH);
  /* The label of a tall row stays in sight. */
  const at = Math.min(Math.max(y, AXIS), y + row.height - LANE - 4) + 12;

  if (!isProcess) pen.rect(0, y, scene.gutter - 1, row.height - 1, colours.surface);
  if (row.canFold) pen.text(6, at, row.isFolded ? "▸" : "▾", colours.muted, { size: 10 });
  pen.text(18, at, text, isProcess || row.kind === "thread" ? colours.text : colours.muted, {
    isBold: isProcess,
  });
  if (!isProcess) {
    const note = row.kind === "counter" ? counterNote(scene, row) : row.note;
    if (note && row.height >= 2 * LANE)
      pen.text(18, at + 14, fit(note, room, 6), colours.muted, { size: 11 });
    pen.rect(scene.gutter - 1, y, 1, row.height, colours.line);
  }
}

function counterNote(scene: Scene, row: Row): string {
  return `at most ${formatShort(scene.seriesOf(row).most)} ${row.note}`.trim();
}

/* Rectangles narrower than a pixel are drawn one pixel wide: what is there is seen. */
function drawSpans(pen: Pen, scene: Scene, colours: Colours, inks: Inks): void {
  const { reply, rows, range, gutter, width } = scene;

  if (!reply) return;
  const scale = (width - gutter) / (range.to - range.from);
  let track = -1;
  let row: Row | undefined;
  for (let i = 0; i < reply.start.length; i++) {
    if (reply.track[i] !== track) {
      track = reply.track[i]!;
      row = rows.ofTrack.get(track);
    }
    if (!row || (row.isFolded && reply.depth[i]! > 0)) continue;
    const y = laneY(scene, row, reply.depth[i]!);
    if (y + LANE < AXIS || y > scene.height) continue;
    const x = Math.max(gutter - 2, gutter + (reply.start[i]! - range.from) * scale);
    const end = Math.min(width + 2, gutter + (reply.end[i]! - range.from) * scale);
    if (end < gutter || x > width) continue;
    const [site, count, flags] = [reply.site[i]!, reply.count[i]!, reply.flags[i]!];
    drawSpan(pen, scene, colours, inks, x, y, end - x, LANE, site, count, flags);
  }
}

function drawSpan(
  pen: Pen,
  scene: Scene,
  colours: Colours,
  inks: Inks,
  x: number,
  y: number,
  wide: number,
  lane: number,
  site: number,
  count: number,
  flags: number,
): void {
  const ink = inks(site);
  const width = wide > 3 ? wide - 0.5 : Math.max(1, wide);
  const height = Math.max(1, lane >= 3 ? lane - 1 : lane);
  const isSoft = scene.hasChosen && !scene.isChosen(site);

  pen.rect(x, y, width, height, isSoft ? ink.soft : ink.fill);
  if (lane < LANE) {
    if (scene.isMatch(site)) pen.rect(x, y, width, height, colours.match);
    return;
  }
  if (flags & IN_GAP && width > 6) pen.hatch(x, y, width, height, colours.muted);
  if (flags & UNFINISHED && width > 6)
    pen.hatch(x + Math.max(0, width - 12), y, Math.min(12, width), height, ink.text);
  if (scene.isMatch(site)) pen.rect(x, y + height - 3, width, 3, colours.match);
  if (flags & ERROR) drawErrorCorner(pen, colours, x, y, width);
  if (width < LABEL_FROM) return;
  const label = count > 1 ? `${formatShort(count)} × ${ink.name}` : ink.name;
  pen.text(x + 4, y + height / 2 + 0.5, fit(label, width - 8, CHAR_WIDTH), isSoft ? ink.softText : ink.text, {
    size: 11.5,
  });
}

/* A corner and not a colour alone: errors are seen by everybody. */
function drawErrorCorner(pen: Pen, colours: Colours, x: number, y: number, width: number): void {
  if (width < 6) pen.rect(x, y, Math.max(1.5, width), 4, colours.error);
  else pen.area([x + width - 7, y, x + width, y, x + width, y + 7], colours.error);
}

function drawAsyncs(pen: Pen, scene: Scene, colours: Colours, inks: Inks, row: Row): void {
  const pixels = (scene.width - scene.gutter) / (row.isFolded ? 2 : 1);
  const batch = asyncWindow(scene.asyncs, row.process, row.lanes, scene.range, pixels);

  for (let i = 0; i < batch.length; i++) {
    const x = Math.max(scene.gutter - 2, xOf(scene, batch.start[i]!));
    const wide = Math.min(scene.width + 2, xOf(scene, batch.end[i]!)) - x;
    const y = laneY(scene, row, batch.lane[i]!);
    if (y + row.lane < AXIS || y > scene.height) continue;
    const [site, count, flags] = [batch.site[i]!, batch.count[i]!, batch.flags[i]!];
    drawSpan(pen, scene, colours, inks, x, y, wide, row.lane, site, count, flags);
  }
}

function drawCounter(pen: Pen, scene: Scene, colours: Colours, row: Row): void {
  const series = scene.seriesOf(row);
  const { from, to } = scene.range;
  const top = AXIS + row.y - scene.scroll + 4;
  const high = row.height - 8;
  const spread = series.most - series.least || 1;
  const yOf = (value: number) => top + high - ((value - series.least) / spread) * high;
  const columns = columnsOf(series, from, to, scene.width - scene.gutter);
  /* A value holds until the next, the last one until its process ends. */
  const end = scene.data.recording.processes[row.process]?.end_ns ?? to;
  const right = Math.min(scene.width, xOf(scene, Math.max(end, from)));
  const line: number[] = [];

  columns.forEach((column, i) => {
    const x = scene.gutter + column.x;
    const next = columns[i + 1] ? scene.gutter + columns[i + 1]!.x : Math.max(x + 1, right);
    if (column.high > column.low) line.push(x, yOf(column.low), x, yOf(column.high));
    line.push(x, yOf(column.last), next, yOf(column.last));
  });
  if (line.length < 4) return;
  const base = yOf(Math.max(series.least, Math.min(0, series.most)));
  pen.area([line[0]!, base, ...line, line[line.length - 2]!, base], colours.raised);
  pen.line(line, colours.accent);
}

function drawSelected(pen: Pen, scene: Scene, colours: Colours, selected: Selection): void {
  const { range, span } = selected;

  if (range) {
    const from = Math.max(scene.gutter - 2, xOf(scene, range.from));
    const to = Math.min(scene.width + 2, xOf(scene, range.to));
    const veil = colours.isDark ? "rgba(20,22,26,0.6)" : "rgba(245,246,248,0.7)";
    const high = scene.height - AXIS;
    if (from > scene.gutter) pen.rect(scene.gutter, AXIS, from - scene.gutter, high, veil);
    if (to < scene.width) pen.rect(to, AXIS, scene.width - to, high, veil);
    pen.rect(from, AXIS, 1, high, colours.accent);
    pen.rect(to - 1, AXIS, 1, high, colours.accent);
  }
  const row = span && scene.rows.ofTrack.get(span.track);
  if (!span || !row || !scene.reply) return;
  for (let i = 0; i < scene.reply.start.length; i++) {
    if (scene.reply.track[i] !== span.track || scene.reply.depth[i] !== span.depth) continue;
    if (scene.reply.start[i]! > span.start || scene.reply.end[i]! <= span.start) continue;
    const x = xOf(scene, scene.reply.start[i]!);
    const width = Math.max(4, xOf(scene, scene.reply.end[i]!) - x);
    pen.outline(x - 1, laneY(scene, row, span.depth) - 1, width + 2, LANE + 1, colours.text, 2);
    return;
  }
}
