/* Draws the stream of tasks: workers, their tasks by name, the critical path, and what the selected one depends on. Only with a Pen. */

import type { Batch } from "../../data/lanes";
import type { Range } from "../../data/work";
import { FAILED_COLOUR } from "../../model/task-colour";
import { FAILED_MARK, MATCH_MARK, PATH_MARK, type StreamRow } from "../../model/task-stream";
import { isFailed, type Links, type Tasks } from "../../model/tasks";
import type { Colours } from "../../state/theme";
import { CHAR_WIDTH, type Pen } from "../../ui/pen";
import { clean, fit, fitMiddle } from "../../ui/text";
import { drawBox, type Ink, makeInk } from "../../ui/time/box";
import { AXIS, drawAxis, drawRange, drawTicks, xOf } from "../../ui/time/frame";
import { laneAt, rowsInSight, type Scene } from "./scene";

const MOST_LINKS = 400; // that are drawn
const MOST_RUNS = 500; // whose time is marked in a row

/* The colours and the text of each name, made once for a theme; those of failed tasks too. */
export function makeInks(tasks: Tasks, colours: Colours): (task: number) => Ink {
  const texts = tasks.names.map((name) => clean(name.text, 120));
  const names = tasks.names.map((name, i) => makeInk(name.colour, texts[i]!, colours));
  const failed = texts.map((text) => makeInk(FAILED_COLOUR, text, colours));
  const none = makeInk(FAILED_COLOUR, "", colours);

  return (task) => (isFailed(tasks.flags[task]!) ? failed : names)[tasks.name[task]!] ?? none;
}

export function drawStream(
  pen: Pen,
  scene: Scene,
  batch: Batch,
  path: readonly number[],
  colours: Colours,
  range: Range | null,
): void {
  const { gutter, width, height } = scene;
  const rows = rowsInSight(scene);

  pen.clip(0, AXIS, width, height - AXIS, () => {
    for (const row of rows) drawRow(pen, scene, colours, row);
    pen.clip(gutter, AXIS, width - gutter, height - AXIS, () => {
      drawTicks(pen, scene, colours);
      drawTasks(pen, scene, colours, batch);
      if (scene.isPath) drawSteps(pen, scene, colours, path);
      if (scene.selected >= 0) drawSelected(pen, scene, colours);
      if (range) drawRange(pen, scene, colours, range);
    });
    for (const row of rows) drawLabel(pen, scene, colours, row);
  });
  drawAxis(pen, scene, colours, range);
}

/* While its runs go on: what stays empty is time that the worker did nothing in. */
function drawRow(pen: Pen, scene: Scene, colours: Colours, row: StreamRow): void {
  const { runs, workers } = scene.tasks;
  const y = AXIS + row.y - scene.scroll;

  for (const worker of row.workers.slice(0, MOST_RUNS)) {
    const run = runs[workers[worker]!.run];
    if (!run) continue;
    const from = Math.max(scene.gutter, xOf(scene, run.begin));
    const to = Math.min(scene.width, Math.max(from + 1, xOf(scene, run.begin + run.duration)));
    if (to > from) pen.rect(from, y + 3, to - from, row.height - 6, colours.raised);
  }
  pen.rect(0, y + row.height - 1, scene.width, 1, colours.raised);
}

function drawLabel(pen: Pen, scene: Scene, colours: Colours, row: StreamRow): void {
  const y = AXIS + row.y - scene.scroll;
  const room = scene.gutter - 20;
  const hasNote = row.note !== "" && row.height >= 34;

  pen.rect(0, y, scene.gutter - 1, row.height - 1, colours.surface);
  const label = fitMiddle(clean(row.short), room, CHAR_WIDTH);
  pen.text(12, y + row.height / 2 - (hasNote ? 7 : 0), label, colours.text);
  if (hasNote)
    pen.text(12, y + row.height / 2 + 8, fit(clean(row.note), room, 6), colours.muted, { size: 11 });
  pen.rect(scene.gutter - 1, y, 1, row.height, colours.line);
}

/* What is not meant by the selection, the chosen names or the path is pale. */
function isSoft(scene: Scene, task: number, marks: number): boolean {
  if (scene.selected >= 0) return true; // those that it is about are drawn again
  if (scene.isChosen) return !scene.isChosen(task);
  return scene.isPath && (marks & PATH_MARK) === 0;
}

function drawTasks(pen: Pen, scene: Scene, colours: Colours, batch: Batch): void {
  const { range, gutter, width } = scene;
  const scale = (width - gutter) / (range.to - range.from);
  let lane = -1;
  let box = { y: 0, height: 0 };

  for (let i = 0; i < batch.length; i++) {
    if (batch.lane[i] !== lane) box = laneAt(scene, (lane = batch.lane[i]!));
    if (box.y + box.height < AXIS || box.y > scene.height) continue;
    const x = Math.max(gutter - 2, gutter + (batch.start[i]! - range.from) * scale);
    const end = Math.min(width + 2, gutter + (batch.end[i]! - range.from) * scale);
    const [task, count, marks] = [batch.site[i]!, batch.count[i]!, batch.flags[i]!];
    drawTask(pen, scene, colours, task, { x, end, ...box }, count, marks, isSoft(scene, task, marks));
  }
}

function drawTask(
  pen: Pen,
  scene: Scene,
  colours: Colours,
  task: number,
  place: { x: number; end: number; y: number; height: number },
  count: number,
  marks: number,
  soft: boolean,
): void {
  const { x, end, y, height } = place;
  const width = Math.max(1, end - x - 0.5);

  drawBox(pen, colours, scene.inkOf(task), {
    x,
    y,
    wide: end - x,
    lane: height,
    count,
    isSoft: soft,
    isMatch: (marks & MATCH_MARK) !== 0,
    isError: (marks & FAILED_MARK) !== 0,
    isCut: false,
    isInGap: false,
  });
  /* Black on a dark ground has a border. */
  if (colours.isDark && isFailed(scene.tasks.flags[task]!) && width > 3)
    pen.outline(x, y, width, height - 1, colours.muted);
  if (marks & PATH_MARK) pen.rect(x, y, width, 2, colours.text);
}

interface Place {
  x: number;
  end: number;
  y: number;
  height: number;
}

/* Where a task is; null: it is not in the stream. */
function placeOf(scene: Scene, task: number): Place | null {
  const lane = scene.stream.laneOf[task] ?? -1;

  if (lane < 0) return null;
  const x = xOf(scene, scene.tasks.start[task]!);
  return { x, end: Math.max(x + 1, xOf(scene, scene.tasks.end[task]!)), ...laneAt(scene, lane) };
}

const middle = ({ y, height }: Place) => y + height / 2;

function drawLine(pen: Pen, scene: Scene, from: Place, to: Place, colour: string): void {
  if (Math.max(from.end, to.x) < scene.gutter || Math.min(from.end, to.x) > scene.width) return;
  pen.line([from.end, middle(from), to.x, middle(to)], colour, 1.5);
}

function drawSteps(pen: Pen, scene: Scene, colours: Colours, path: readonly number[]): void {
  let before: Place | null = null;

  for (const task of path) {
    const place = placeOf(scene, task);
    if (before && place) drawLine(pen, scene, before, place, colours.text);
    before = place;
  }
}

/* Away from the edges of the picture: a line of a million pixels is not drawn well. */
function cut(scene: Scene, place: Place): Place {
  const inside = (x: number) => Math.max(scene.gutter - 4, Math.min(scene.width + 4, x));

  return { ...place, x: inside(place.x), end: inside(place.end) };
}

function drawLinked(pen: Pen, scene: Scene, colours: Colours, links: Links, isNeed: boolean): void {
  const own = placeOf(scene, scene.selected);
  const colour = linkColour(colours, isNeed);
  const first = links.first[scene.selected]!;
  const last = Math.min(links.first[scene.selected + 1]!, first + MOST_LINKS);

  for (let i = first; i < last; i++) {
    const other = links.to[i]!;
    const place = placeOf(scene, other);
    if (!place) continue;
    drawAgain(pen, scene, colours, other, cut(scene, place), colour, 1.5);
    if (own) drawLine(pen, scene, isNeed ? place : own, isNeed ? own : place, colour);
  }
}

/* In its full colour, with a border. */
function drawAgain(
  pen: Pen,
  scene: Scene,
  colours: Colours,
  task: number,
  place: Place,
  border: string,
  thick: number,
): void {
  if (place.end <= scene.gutter - 3 || place.x >= scene.width + 3) return;
  drawTask(pen, scene, colours, task, place, 1, isFailed(scene.tasks.flags[task]!) ? FAILED_MARK : 0, false);
  pen.outline(
    place.x - 1,
    place.y - 1,
    Math.max(4, place.end - place.x) + 2,
    place.height + 1,
    border,
    thick,
  );
}

function drawSelected(pen: Pen, scene: Scene, colours: Colours): void {
  const own = placeOf(scene, scene.selected);

  drawLinked(pen, scene, colours, scene.tasks.needs, true);
  drawLinked(pen, scene, colours, scene.tasks.neededBy, false);
  if (own) drawAgain(pen, scene, colours, scene.selected, cut(scene, own), colours.text, 2);
}

/* What it depends on, and what depends on it. */
export function linkColour(colours: Colours, isNeed: boolean): string {
  return isNeed ? colours.accent : colours.warning;
}
