/* Zooming and moving in pictures that go on: the first step stops them, so that nothing runs away. */

import type { Range } from "../data/work";
import { type TimeFrame } from "../ui/time/frame";
import { useTime } from "../ui/time/pointer";
import { look, whole } from "./state";

const MARGIN = 0.02;

/* A wheel without Control or Shift scrolls the page, as everywhere on it. */
export function useLiveTime(frame: TimeFrame) {
  const { from, to } = whole.value;
  const room: Range = { from, to: to + (to - from) * MARGIN };
  const time = useTime({ frame, whole: room, setRange: look, scrollBy: () => undefined, select: look });

  return {
    ...time,
    onPointer(pointer: Parameters<typeof time.onPointer>[0]): void {
      const isPlain =
        pointer.kind === "wheel" &&
        !pointer.isControl &&
        !pointer.isShift &&
        Math.abs(pointer.deltaY) >= Math.abs(pointer.deltaX);
      if (!isPlain) time.onPointer(pointer);
    },
  };
}
