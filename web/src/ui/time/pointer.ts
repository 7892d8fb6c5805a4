/* Zooming, moving and selecting time with pointer, wheel and keys: the same in every picture with an axis of time. */

import { useRef, useState } from "preact/hooks";
import type { Range } from "../../data/work";
import { chooseRange } from "../../state/choose";
import type { KeyAction } from "../../state/keys";
import type { CanvasPointer } from "../canvas";
import { timeAt } from "./frame";
import type { TimeFrame } from "./frame";
import { pan, zoom } from "./zoom";

export interface TimeAsk {
  frame: TimeFrame;
  whole: Range;
  setRange(range: Range): void;
  scrollBy(pixels: number): void;
  select?(range: Range): void; // what a drag does; unless told it selects for all views
}

const STEP = 0.15;
const NEARER = 0.6;

export function useTime({ frame, whole, setRange, scrollBy, select = chooseRange }: TimeAsk) {
  const [drag, setDrag] = useState<Range | null>(null);
  const pointerAt = useRef(0.5);
  const { range, gutter, width } = frame;
  const room = Math.max(1, width - gutter);

  const onWheel = (pointer: CanvasPointer) => {
    pointer.preventDefault();
    if (pointer.isControl) setRange(zoom(range, whole, Math.exp(pointer.deltaY / 200), pointerAt.current));
    else if (pointer.isShift || Math.abs(pointer.deltaX) > Math.abs(pointer.deltaY))
      setRange(pan(range, whole, (pointer.deltaX || pointer.deltaY) / room));
    else scrollBy(pointer.deltaY);
  };
  const actions = {
    zoomIn: () => setRange(zoom(range, whole, NEARER, pointerAt.current)),
    zoomOut: () => setRange(zoom(range, whole, 1 / NEARER, pointerAt.current)),
    fit: () => setRange(whole),
  };
  const keys: KeyAction[] = [
    { keys: ["w", "+", "="], title: "Zoom in, at the pointer", run: actions.zoomIn },
    { keys: ["s", "-"], title: "Zoom out", run: actions.zoomOut },
    { keys: ["a"], title: "To the left", run: () => setRange(pan(range, whole, -STEP)) },
    { keys: ["d"], title: "To the right", run: () => setRange(pan(range, whole, STEP)) },
    { keys: ["0"], title: "The whole run", run: actions.fit },
    { keys: ["PageDown"], title: "Rows below", run: () => scrollBy(frame.height * 0.8) },
    { keys: ["PageUp"], title: "Rows above", run: () => scrollBy(frame.height * -0.8) },
  ];

  return {
    ...actions,
    keys,
    pointerAt,
    /* What is being dragged over. */
    drag: drag && { from: Math.min(drag.from, drag.to), to: Math.max(drag.from, drag.to) },
    /* A drag selects time, with Shift it moves the picture; what is left to the view are moves, clicks and leaving. */
    onPointer(pointer: CanvasPointer): void {
      const time = timeAt(frame, pointer.x);

      pointerAt.current = Math.min(1, Math.max(0, (pointer.x - gutter) / room));
      if (pointer.kind === "wheel") onWheel(pointer);
      if (pointer.kind === "down" && pointer.x >= gutter) setDrag({ from: time, to: time });
      if (pointer.kind === "move" && drag && pointer.isDragged) {
        if (pointer.isShift) setRange(pan(range, whole, (drag.from - time) / (range.to - range.from)));
        else setDrag({ from: drag.from, to: time });
      }
      if (pointer.kind === "up" && drag) {
        if (pointer.isDragged && !pointer.isShift)
          select({
            from: Math.max(0, Math.min(drag.from, time)),
            to: Math.min(whole.to, Math.max(drag.from, time)),
          });
        setDrag(null);
      }
    },
  };
}

export type Time = ReturnType<typeof useTime>;
