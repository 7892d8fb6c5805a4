/* Zooming in a waterfall with wheel and pointer. */

import type { RefObject } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { panWindow, type Window, zoomWindow } from "../../model/zoom";
import { GUTTER } from "./draw";

/* How wide bars may be in the column of times, and which place the pointer is at. */
function roomOf(element: HTMLElement): number {
  return Math.max(1, element.getBoundingClientRect().width - GUTTER);
}

function placeOf(element: HTMLElement, event: MouseEvent, window: Window): number {
  const share = (event.clientX - element.getBoundingClientRect().left) / roomOf(element);

  return window.from + Math.min(1, Math.max(0, share)) * (window.to - window.from);
}

/* Control and the wheel zoom, Shift and the wheel move, as in the timeline. */
export function useWheel(
  frame: RefObject<HTMLDivElement | null>,
  time: RefObject<HTMLDivElement | null>,
  window: Window,
  onZoom: (window: Window) => void,
): void {
  useEffect(() => {
    const element = frame.current;
    if (!element) return;
    const wheel = (event: WheelEvent) => {
      const column = time.current;
      const isMove = event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY);
      if (!column || (!event.ctrlKey && !event.metaKey && !isMove)) return;
      event.preventDefault();
      if (isMove) onZoom(panWindow(window, (event.deltaX || event.deltaY) / roomOf(column)));
      else onZoom(zoomWindow(window, Math.exp(event.deltaY / 200), placeOf(column, event, window)));
    };
    element.addEventListener("wheel", wheel, { passive: false });
    return () => element.removeEventListener("wheel", wheel);
  });
}

/* What is dragged over on the axis fills it. */
export function useDrag(
  axis: RefObject<HTMLCanvasElement | null>,
  window: Window,
  onZoom: (window: Window) => void,
): void {
  const begin = useRef<number | null>(null);

  useEffect(() => {
    const element = axis.current;
    if (!element) return;
    const down = (event: PointerEvent) => {
      begin.current = placeOf(element, event, window);
      element.setPointerCapture(event.pointerId);
    };
    const up = (event: PointerEvent) => {
      const end = placeOf(element, event, window);
      const [from, to] = [begin.current ?? 0, end].sort((a, b) => a - b) as [number, number];
      if (begin.current !== null && to - from > (window.to - window.from) / 200) onZoom({ from, to });
      begin.current = null;
    };
    element.addEventListener("pointerdown", down);
    element.addEventListener("pointerup", up);
    return () => {
      element.removeEventListener("pointerdown", down);
      element.removeEventListener("pointerup", up);
    };
  });
}
