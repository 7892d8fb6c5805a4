/* Draws the timeline: axis, rows, spans, counters, marks, errors, and hatched what was lost. Only with a Pen: the same for SVG. */

import { palette } from "../../model/palette";
import type { Selection } from "../../state/selection";
import type { Colours } from "../../state/theme";
import { formatShort } from "../../ui/format";
import { CHAR_WIDTH } from "../../ui/pen";
import type { Pen } from "../../ui/pen";
import { clean, fit } from "../../ui/text";
import type { Row } from "./rows";
import { LANE } from "./rows";
import { drawBox, makeInk } from "../../ui/time/box";
import type { Ink } from "../../ui/time/box";
import { drawCurve } from "../../ui/time/curve";
import { AXIS, drawAxis, drawRange, drawTicks, xOf } from "../../ui/time/frame";
import { laneY } from "./scene";
import type { Scene } from "./scene";
import { asyncWindow } from "./asyncs";
import { drawFlags, drawLosses } from "./flags";

const UNFINISHED = 1;
const ERROR = 2;
const IN_GAP = 8;

/* The colours and the text of each site, made once for a theme. */
export type Inks = (site: number) => Ink;

export function makeInks(scene: Pick<Scene, "frames" | "data">, colours: Colours): Inks {
  const known: Ink[] = [];
  const { colourOf } = palette(scene.data);

  return (site) => {
    const found = known[site];
    if (found) return found;
    const frame = scene.frames.list[scene.frames.siteBase + site];
    const name = frame ? clean(frame.name, 120) : "";
    return (known[site] = makeInk(colourOf(scene.frames.siteBase + site), name, colours));
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
  drawBox(pen, colours, inks(site), {
    x,
    y,
    wide,
    lane,
    count,
    isSoft: scene.hasChosen && !scene.isChosen(site),
    isMatch: scene.isMatch(site),
    isError: (flags & ERROR) !== 0,
    isCut: (flags & UNFINISHED) !== 0,
    isInGap: (flags & IN_GAP) !== 0,
  });
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
  /* A value holds until the next, the last one until its process ends. */
  const end = scene.data.recording.processes[row.process]?.end_ns ?? scene.range.to;

  drawCurve(pen, scene, colours, scene.seriesOf(row), {
    top: AXIS + row.y - scene.scroll + 4,
    high: row.height - 8,
    end,
  });
}

function drawSelected(pen: Pen, scene: Scene, colours: Colours, selected: Selection): void {
  const { range, span } = selected;

  if (range) drawRange(pen, scene, colours, range);
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
