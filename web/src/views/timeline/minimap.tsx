/* The whole run in a strip: one line for each thread, what is shown and what is selected on top. Dragging moves or chooses what is shown. */

import { useRef, useState } from "preact/hooks";
import type { PageData } from "../../data/types";
import type { Range, WindowReply } from "../../data/work";
import { Canvas } from "../../ui/canvas";
import type { CanvasPointer } from "../../ui/canvas";
import { formatTime } from "../../ui/format";
import type { Pen } from "../../ui/pen";
import type { Size } from "../../ui/use";
import { colours } from "../../state/theme";
import type { Colours } from "../../state/theme";
import { selection } from "../../state/selection";
import { makeInks } from "./draw";
import { frames } from "../../model/frames";
import { limit } from "../../ui/time/zoom";

const HEIGHT = 48;

export function Minimap(props: {
  data: PageData;
  reply: WindowReply | undefined;
  whole: Range;
  range: Range;
  gutter: number;
  onRange(range: Range): void;
}) {
  const { whole, range, gutter } = props;
  const [size, setSize] = useState<Size>({ width: 0, height: HEIGHT });
  const grip = useRef<{ time: number; isMove: boolean } | null>(null);
  const length = whole.to - whole.from;
  const timeAt = (x: number) => whole.from + ((x - gutter) / Math.max(1, size.width - gutter)) * length;

  const onPointer = (pointer: CanvasPointer) => {
    const time = timeAt(pointer.x);
    const shown = range.to - range.from;

    if (pointer.kind === "down") {
      const isInside = time >= range.from && time <= range.to && shown < length * 0.999;
      grip.current = { time: isInside ? time - range.from : time, isMove: isInside };
    } else if (pointer.kind === "move" && grip.current && pointer.isDragged) {
      const { time: from, isMove } = grip.current;
      if (isMove) props.onRange(limit({ from: time - from, to: time - from + shown }, whole));
      else props.onRange(limit({ from: Math.min(from, time), to: Math.max(from, time) }, whole));
    } else if (pointer.kind === "click") {
      props.onRange(limit({ from: time - shown / 2, to: time + shown / 2 }, whole));
    } else if (pointer.kind === "double") props.onRange(whole);
    if (pointer.kind === "up") grip.current = null;
  };
  return (
    <Canvas
      isBare
      name="minimap"
      title={props.data.directory.title}
      label={`The whole run; shown are ${formatTime(range.from)} to ${formatTime(range.to)}`}
      height={HEIGHT}
      cursor="pointer"
      onPointer={onPointer}
      onSize={setSize}
      table={() => ({ columns: [], rows: [] })}
      draw={(pen, now) => drawMap(pen, now, props)}
    />
  );
}

function drawMap(pen: Pen, size: Size, props: Parameters<typeof Minimap>[0]): void {
  const { data, reply, whole, range, gutter } = props;
  const theme: Colours = colours.value;
  const inks = makeInks({ frames: frames(data), data }, theme);
  const scale = (size.width - gutter) / (whole.to - whole.from);
  const xOf = (time: number) => gutter + (time - whole.from) * scale;
  const thick = Math.max(1, Math.min(8, (size.height - 8) / Math.max(1, data.recording.tracks.length)));
  const chosen = selection.value.range;

  data.recording.tracks.forEach((track, i) => {
    const x = Math.max(gutter, xOf(track.start_ns));
    if (track.end_ns > track.start_ns)
      pen.rect(x, 4 + i * thick, Math.max(1, xOf(track.end_ns) - x), Math.max(1, thick - 1), theme.raised);
  });
  for (let i = 0; reply && i < reply.start.length; i++) {
    if (reply.depth[i] !== 0) continue;
    const x = xOf(reply.start[i]!);
    pen.rect(
      x,
      4 + reply.track[i]! * thick,
      Math.max(1, (reply.end[i]! - reply.start[i]!) * scale),
      Math.max(1, thick - 1),
      inks(reply.site[i]!).fill,
    );
  }
  const veil = theme.isDark ? "rgba(20,22,26,0.65)" : "rgba(225,228,234,0.7)";
  const from = xOf(range.from);
  const to = xOf(range.to);
  pen.rect(gutter, 0, from - gutter, size.height, veil);
  pen.rect(to, 0, size.width - to, size.height, veil);
  if (chosen)
    pen.rect(
      xOf(chosen.from),
      size.height - 3,
      Math.max(2, xOf(chosen.to) - xOf(chosen.from)),
      3,
      theme.accent,
    );
  pen.outline(from, 0, Math.max(3, to - from), size.height, theme.muted);
  pen.text(18, size.height / 2, "whole run", theme.muted, { size: 11 });
}
