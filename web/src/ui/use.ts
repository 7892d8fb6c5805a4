/* Hooks that views share: an element's size, an answer of the worker. */

import { useEffect, useRef, useState } from "preact/hooks";
import type { RefObject } from "preact";
import type { Question, Questions, Worker } from "../data/work";

export interface Size {
  width: number;
  height: number;
}

/* The size of an element, kept up to date. */
export function useSize<E extends HTMLElement>(): [RefObject<E | null>, Size] {
  const ref = useRef<E>(null);
  const [size, setSize] = useState<Size>({ width: 0, height: 0 });

  useEffect(() => {
    const element = ref.current;
    if (!element) return;
    const measure = () => {
      const now = { width: element.clientWidth, height: element.clientHeight };
      setSize((last) => (last.width === now.width && last.height === now.height ? last : now));
    };
    const observer = new ResizeObserver(measure);
    measure();
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  return [ref, size];
}

/* The newest answer; while the next one is under way, the last one stays, so that nothing flickers. While one question is being
 * answered only the newest of the others is kept. null asks nothing. */
export function useReply<Q extends Question>(
  worker: Worker,
  question: Q,
  ask: Questions[Q]["ask"] | null,
): { reply: Questions[Q]["reply"] | undefined; isPending: boolean; error: string | null } {
  const [state, setState] = useState<{ reply: Questions[Q]["reply"] | undefined; error: string | null }>({
    reply: undefined,
    error: null,
  });
  const key = ask === null ? "" : JSON.stringify(ask);
  const box = useRef({ shown: "", running: false, wanted: "", isGone: false });

  useEffect(() => {
    const now = box.current;
    const run = () => {
      const mine = now.wanted;
      now.running = true;
      worker
        .ask(question, JSON.parse(mine) as Questions[Q]["ask"])
        .then(
          (reply) => ({ reply, error: null }),
          (error: unknown) => ({
            reply: undefined,
            error: error instanceof Error ? error.message : String(error),
          }),
        )
        .then((result) => {
          now.running = false;
          if (now.isGone) return;
          now.shown = mine;
          setState(result);
          if (now.wanted !== mine && now.wanted) run();
        });
    };
    now.wanted = key;
    if (key && !now.running && now.shown !== key) run();
  }, [key, question]);
  useEffect(() => {
    box.current.isGone = false;
    return () => {
      box.current.isGone = true;
    };
  }, []);
  return { ...state, isPending: key !== "" && box.current.shown !== key };
}
