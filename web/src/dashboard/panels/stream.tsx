/* The stream of tasks as users of dask know it: a row for each worker, a rectangle for each task, coloured by its name. */

import { useSignal } from "@preact/signals";
import { useMemo, useRef, useState } from "preact/hooks";
import { actionColour, failedColour } from "../../model/task-colour";
import { matcher } from "../../state/search";
import { type Colours, colours } from "../../state/theme";
import { Canvas, type CanvasPointer } from "../../ui/canvas";
import { formatBytes, formatCount, formatTime } from "../../ui/format";
import { Tooltip } from "../../ui/parts";
import { CHAR_WIDTH, type Pen } from "../../ui/pen";
import { clean, fitMiddle } from "../../ui/text";
import { drawBox, type Ink, makeInk } from "../../ui/time/box";
import {
  AXIS,
  drawAxis,
  drawRange,
  drawTicks,
  gutterOf,
  type TimeFrame,
  timeAt,
  xOf,
} from "../../ui/time/frame";
import type { Size } from "../../ui/use";
import { clockText } from "../data/clock";
import {
  ACTIONS,
  isFailed,
  type Layout,
  layoutOf,
  placeOf,
  type PlacedRow,
  STATES,
  type Task,
} from "../data/stream";
import type { Panel, PanelProps } from "../panel";
import { colourOf, drawn, origin, range, scale, stream } from "../state";
import { useLiveTime } from "../time";
import { plural } from "../words";

const ROOM = 264; // that the rows may take
const LOWEST = 48;
const MOST_TABLE = 2000;

interface Scene extends TimeFrame {
  layout: Layout;
  inkOf(task: Task): Ink;
  isMatch: ((task: Task) => boolean) | null;
}

interface Hover {
  task: Task;
  x: number;
  y: number;
}

function makeInks(theme: Colours): (task: Task) => Ink {
  const known = new Map<string, Ink>();

  return (task) => {
    const key = `${isFailed(task) ? "!" : task.action} ${task.name}`;
    let ink = known.get(key);
    if (!ink) {
      const colour = isFailed(task)
        ? failedColour(theme.isDark)
        : task.action
          ? actionColour(task.action)
          : colourOf(task.name);
      known.set(key, (ink = makeInk(colour, clean(task.name, 120), theme)));
    }
    return ink;
  };
}

function drawRowOf(pen: Pen, scene: Scene, theme: Colours, row: PlacedRow): void {
  const y = AXIS + row.y;

  pen.rect(0, y, scene.gutter - 1, row.height - 1, theme.surface);
  if (row.height >= 12) {
    const label = fitMiddle(clean(row.row.label || "no worker"), scene.gutter - 16, CHAR_WIDTH);
    pen.text(8, y + row.height / 2, label, theme.text, { size: row.height < 16 ? 10 : 12 });
  }
  pen.rect(scene.gutter - 1, y, 1, row.height, theme.line);
  pen.rect(0, y + row.height - 1, scene.width, 1, theme.raised);
}

/* What is narrower than a pixel and stands where something is already is left out: nobody would see it. */
function drawTasks(pen: Pen, scene: Scene, theme: Colours): void {
  const rows = new Map(scene.layout.rows.map((row) => [row.row, row]));
  const covered = new Map<PlacedRow, Float64Array>();

  for (const task of scene.layout.tasks) {
    const row = rows.get(task.row)!;
    const { y, height } = placeOf(row, task);
    const x = Math.max(scene.gutter - 2, xOf(scene, task.start));
    const end = Math.min(scene.width + 2, xOf(scene, task.end));
    let ends = covered.get(row);
    if (!ends) covered.set(row, (ends = new Float64Array(row.lanes + 1).fill(-Infinity)));
    if (end - x < 1 && end < ends[task.lane + 1]! + 0.5 && !isFailed(task)) continue;
    ends[task.lane + 1] = Math.max(ends[task.lane + 1]!, x + 1, end);
    drawBox(pen, theme, scene.inkOf(task), {
      x,
      y: AXIS + y,
      wide: end - x,
      lane: height,
      count: 1,
      isSoft: scene.isMatch !== null && !scene.isMatch(task),
      isMatch: false,
      isError: isFailed(task),
      isCut: false,
      isInGap: false,
    });
    if (theme.isDark && isFailed(task) && end - x > 3)
      pen.outline(x, AXIS + y, end - x, height - 1, theme.muted);
  }
}

function draw(pen: Pen, scene: Scene, theme: Colours, drag: Scene["range"] | null): void {
  pen.clip(0, AXIS, scene.width, scene.height - AXIS, () => {
    pen.clip(scene.gutter, AXIS, scene.width - scene.gutter, scene.height - AXIS, () => {
      drawTicks(pen, scene, theme);
      drawTasks(pen, scene, theme);
      if (drag) drawRange(pen, scene, theme, drag);
    });
    for (const row of scene.layout.rows) drawRowOf(pen, scene, theme, row);
  });
  drawAxis(pen, scene, theme, drag);
}

/* The last drawn is on top. */
function taskAt(scene: Scene, x: number, y: number): Task | null {
  const row = scene.layout.rows.find((one) => y >= AXIS + one.y && y < AXIS + one.y + one.height);
  const time = timeAt(scene, x);
  const near = ((scene.range.to - scene.range.from) / Math.max(1, scene.width - scene.gutter)) * 2;
  let best: Task | null = null;

  if (!row || x < scene.gutter) return null;
  for (const task of scene.layout.tasks) {
    if (task.row !== row.row || task.start - near > time || task.end + near < time) continue;
    const place = placeOf(row, task);
    if (y >= AXIS + place.y && y < AXIS + place.y + place.height) best = task;
  }
  return best;
}

function tableOf(layout: Layout) {
  return {
    columns: ["worker", "task", "started", "seconds", "state"],
    rows: layout.tasks
      .slice(-MOST_TABLE)
      .reverse()
      .map((task) => [
        clean(task.row.label),
        clean(task.name),
        clockText(origin() + task.start / 1e6, 1e6),
        (task.end - task.start) / 1e9,
        task.action ? (ACTIONS[task.action] ?? "") : (STATES[task.state] ?? ""),
      ]),
  };
}

function Stream({ state }: PanelProps) {
  const [size, setSize] = useState<Size>({ width: 0, height: 0 });
  const hover = useSignal<Hover | null>(null);
  const theme = colours.value;
  const now = range.value;
  const { isActive, test } = matcher.value;
  const inkOf = useMemo(() => makeInks(theme), [theme, colourOf]);
  const layout = useMemo(() => layoutOf(stream, now, ROOM), [drawn.value, now]);
  /* It does not become lower: what is below would jump. */
  const highest = useRef(LOWEST);
  highest.current = Math.max(highest.current, layout.height);
  const height = AXIS + highest.current;
  const frame: TimeFrame = {
    range: now,
    gutter: gutterOf(size.width),
    width: size.width,
    height,
    scale: scale.value,
  };
  const time = useLiveTime(frame);
  const scene: Scene = { ...frame, layout, inkOf, isMatch: isActive ? (task) => test(task.name) : null };
  const paint = useMemo(
    () => (pen: Pen, _size: Size, looks: Colours) => draw(pen, scene, looks, time.drag),
    [layout, size.width, height, inkOf, isActive, test, time.drag?.from, time.drag?.to],
  );
  const onPointer = (pointer: CanvasPointer) => {
    const task = pointer.kind === "move" ? taskAt(scene, pointer.x, pointer.y) : null;

    time.onPointer(pointer);
    hover.value = task ? { task, x: pointer.x, y: pointer.y } : null;
  };

  return (
    <div class="stream">
      <Canvas
        name="tasks"
        title={state.title}
        label={`${plural(layout.tasks.length, "task")} of ${plural(layout.rows.length, "worker")}`}
        height={height}
        onPointer={onPointer}
        onSize={setSize}
        draw={paint}
        table={() => tableOf(layout)}
      >
        {hover.value && <HoverText hover={hover.value} size={{ width: size.width, height }} />}
      </Canvas>
      {stream.skipped > 0 && (
        <p class="muted note">
          {formatCount(stream.skipped)} tasks came too fast to be drawn here; they are counted, and in the
          report.
        </p>
      )}
    </div>
  );
}

function HoverText({ hover, size }: { hover: Hover; size: Size }) {
  const { task } = hover;

  return (
    <Tooltip x={hover.x} y={hover.y} width={size.width} height={size.height}>
      <strong>{clean(task.name, 120)}</strong>
      <br />
      {formatTime(task.end - task.start)} from {clockText(origin() + task.start / 1e6, 1e6)}
      <br />
      {task.action ? ACTIONS[task.action] : STATES[task.state]}
      {task.row.label ? `, ${clean(task.row.label, 80)}` : ""}
      {task.bytes ? `, ${formatBytes(task.bytes)}` : ""}
    </Tooltip>
  );
}

export const streamPanel: Panel = {
  id: "stream",
  title: "Task stream",
  question: "Which worker does what, and when?",
  width: "most",
  missing: (state) =>
    state.tasks.ended || state.tasks.groups.count
      ? null
      : "No tasks: they come from venturi-graph, `venturi.dask.get` and `venturi.dask.record` in a program under `venturi run`, or from a cluster: `venturi serve --dask tcp://HOST:8786`.",
  component: Stream,
};
