/* What the program used, and the results that were held, on the axis of the stream. */

import { useSignal } from "@preact/signals";
import { useMemo } from "preact/hooks";
import type { PageData } from "../../data/types";
import { type TaskCurve, taskCurves } from "../../model/task-curves";
import { selection } from "../../state/selection";
import type { Colours } from "../../state/theme";
import { Canvas, type CanvasPointer, type TextTable } from "../../ui/canvas";
import { formatBytes, formatCount, formatTime } from "../../ui/format";
import { Tooltip } from "../../ui/parts";
import { CHAR_WIDTH, type Pen } from "../../ui/pen";
import { fit } from "../../ui/text";
import { drawCurve, valueAt } from "../../ui/time/curve";
import { drawRange, drawTicks, timeAt, type TimeFrame } from "../../ui/time/frame";
import type { Time } from "../../ui/time/pointer";
import type { Range } from "../../data/work";

const ROW = 36;

function textOf({ unit }: TaskCurve, value: number): string {
  if (Number.isNaN(value)) return "–";
  if (unit === "bytes") return formatBytes(value);
  return unit === "cores" ? `${value.toFixed(2)} cores` : formatCount(value);
}

function draw(
  pen: Pen,
  frame: TimeFrame,
  curves: TaskCurve[],
  colours: Colours,
  range: Range | null,
  end: number,
): void {
  curves.forEach((curve, i) => {
    const top = i * ROW;
    const room = frame.gutter - 20;
    pen.clip(frame.gutter, top, frame.width - frame.gutter, ROW, () =>
      drawCurve(pen, frame, colours, curve.series, { top: top + 4, high: ROW - 8, end }),
    );
    pen.rect(0, top, frame.gutter - 1, ROW - 1, colours.surface);
    pen.text(12, top + 11, fit(curve.title, room, CHAR_WIDTH), colours.text);
    pen.text(12, top + 25, fit(`at most ${textOf(curve, curve.series.most)}`, room, 6), colours.muted, {
      size: 11,
    });
    pen.rect(frame.gutter - 1, top, 1, ROW, colours.line);
    pen.rect(0, top + ROW - 1, frame.width, 1, colours.raised);
  });
  pen.clip(frame.gutter, 0, frame.width - frame.gutter, frame.height, () => {
    drawTicks(pen, frame, colours, 0);
    if (range) drawRange(pen, frame, colours, range, 0);
  });
}

/* One row a moment at which any of them changes. */
function tableOf(curves: TaskCurve[], range: Range): TextTable {
  const times = new Set(curves.flatMap(({ series }) => Array.from(series.time)));
  const shown = [...times].filter((at) => at >= range.from && at <= range.to).sort((a, b) => a - b);

  return {
    columns: ["time ns", ...curves.map(({ id }) => id)],
    rows: shown.map((at) => [at, ...curves.map(({ series }) => valueAt(series, at))]),
  };
}

export function Curves(props: { data: PageData; run: number; frame: TimeFrame; whole: Range; time: Time }) {
  const { data, time } = props;
  const curves = useMemo(() => taskCurves(data, props.run), [data, props.run]);
  const hover = useSignal<CanvasPointer | null>(null);
  const frame = { ...props.frame, height: curves.length * ROW };
  const range = time.drag ?? selection.value.range;
  const onPointer = (pointer: CanvasPointer) => {
    hover.value = pointer.kind === "move" && !pointer.isDragged ? pointer : null;
    time.onPointer(pointer);
  };

  if (curves.length === 0 || frame.width <= 0) return null;
  return (
    <section class="tasks-curves" aria-label="Used and held">
      <Canvas
        name="task-curves"
        title={data.directory.title}
        label={`Over time: ${curves.map((one) => `${one.title}, at most ${textOf(one, one.series.most)}`).join("; ")}`}
        height={frame.height}
        onPointer={onPointer}
        table={() => tableOf(curves, frame.range)}
        draw={(pen, size, colours) =>
          draw(pen, { ...frame, width: size.width }, curves, colours, range, props.whole.to)
        }
      >
        <Values hover={hover} curves={curves} frame={frame} />
      </Canvas>
    </section>
  );
}

function Values(props: { hover: { value: CanvasPointer | null }; curves: TaskCurve[]; frame: TimeFrame }) {
  const now = props.hover.value;
  const curve = now && props.curves[Math.floor(now.y / ROW)];

  if (!now || !curve) return null;
  const time = timeAt(props.frame, now.x);
  return (
    <Tooltip x={now.x} y={now.y} width={props.frame.width} height={Infinity}>
      {now.x < props.frame.gutter ? (
        curve.hint
      ) : (
        <>
          <strong>{textOf(curve, valueAt(curve.series, time))}</strong> at {formatTime(time)}
        </>
      )}
    </Tooltip>
  );
}
