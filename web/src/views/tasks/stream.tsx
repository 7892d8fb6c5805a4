/* The stream of tasks on its canvas, with pointer and scroll bar. */

import { useSignal } from "@preact/signals";
import { useEffect, useMemo } from "preact/hooks";
import type { RefObject } from "preact";
import type { Range } from "../../data/work";
import { selection } from "../../state/selection";
import { Canvas, type CanvasPointer } from "../../ui/canvas";
import { formatCount, formatTime } from "../../ui/format";
import { AXIS } from "../../ui/time/frame";
import type { Time } from "../../ui/time/pointer";
import { around } from "../../ui/time/zoom";
import type { Size } from "../../ui/use";
import type { Actions } from "./actions";
import { showPanel } from "./address";
import { drawStream } from "./draw";
import { batchOf, hitAt, type Scene } from "./scene";
import { type Hover, HoverText, tableOf } from "./words";

export function StreamPicture(props: {
  scene: Scene;
  path: readonly number[];
  whole: Range;
  time: Time;
  actions: Actions;
  scroller: RefObject<HTMLDivElement | null>;
  setRange(range: Range): void;
  onScroll(top: number): void;
  onSize(size: Size): void;
}) {
  const { scene, path, time, actions } = props;
  const { stream, range } = scene;
  const hover = useSignal<Hover | null>(null);
  const batch = useMemo(
    () => batchOf(scene),
    [scene.lanes, range.from, range.to, scene.scroll, scene.width, scene.height],
  );
  const shown = time.drag ?? selection.value.range;
  const draw = useMemo(
    () => (pen: Parameters<typeof drawStream>[0], _size: Size, theme: Parameters<typeof drawStream>[4]) =>
      drawStream(pen, scene, batch, path, theme, shown),
    [batch, path, shown?.from, shown?.to, scene.selected, scene.isPath, scene.isChosen, scene.inkOf],
  );

  useEffect(() => {
    if (scene.width > 0) performance.mark("venturi:tasks");
  }, [scene.width > 0]);
  const onPointer = (pointer: CanvasPointer) => {
    const hit = hitAt(scene, batch, pointer.x, pointer.y);

    time.onPointer(pointer);
    if (pointer.kind === "leave" || pointer.kind === "wheel") hover.value = null;
    if (pointer.kind === "move")
      hover.value = hit && !pointer.isDragged ? { hit, x: pointer.x, y: pointer.y } : null;
    if (pointer.kind === "click") {
      if (!hit) return actions.clear();
      actions.show(hit.task);
      showPanel("task");
    }
    if (pointer.kind === "double" && hit)
      props.setRange(around({ from: hit.start, to: hit.end }, props.whole));
  };

  return (
    <div class="tasks-stream">
      <Canvas
        name="tasks"
        title={scene.data.directory.title}
        label={`Tasks of ${formatCount(stream.rows.length)} ${stream.rows.length === 1 ? "worker" : "workers"} from ${formatTime(range.from)} to ${formatTime(range.to)}${scene.selected >= 0 ? ", one of them selected" : ""}`}
        height={scene.height}
        onPointer={onPointer}
        onSize={props.onSize}
        table={() => tableOf(scene)}
        draw={draw}
      >
        <HoverText hover={hover} scene={scene} />
      </Canvas>
      <div
        class="timeline-scroll"
        style={{ height: `${scene.height}px` }}
        ref={props.scroller}
        role="region"
        aria-label="Scroll the workers"
        tabIndex={stream.height + AXIS > scene.height ? 0 : -1}
        onScroll={(event) => props.onScroll(event.currentTarget.scrollTop)}
      >
        <div style={{ height: `${stream.height + AXIS}px` }} />
      </div>
    </div>
  );
}
