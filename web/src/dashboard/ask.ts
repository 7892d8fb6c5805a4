/* Asking the server for what is not in its events: again and again while the page shows now, once where it is stopped, and not at all for
 * a panel that is out of sight. */

import { useEffect, useRef, useState } from "preact/hooks";
import type { RefObject } from "preact";
import { frozen, link } from "./state";

export interface Answer<T> {
  answer: T | null;
  error: string | null; // a sentence
}

async function ask<T>(address: string, signal: AbortSignal): Promise<T> {
  const reply = await fetch(address, { signal, cache: "no-store" });
  const body = (await reply.json().catch(() => null)) as (T & { error?: string }) | null;

  if (!reply.ok || body === null)
    throw new Error(body?.error ?? `The server answered with status ${reply.status}.`);
  return body;
}

/* The newest answer; the last one stays while the next is under way. null asks nothing, 0 ms only once for each address. */
export function useAnswer<T>(address: string | null, everyMs: number): Answer<T> {
  const [state, setState] = useState<Answer<T>>({ answer: null, error: null });
  const wanted = useRef(address);
  const isLive = link.value.state === "live";
  const isStopped = frozen.value !== null || everyMs === 0;

  wanted.current = address;
  useEffect(() => {
    const abort = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const run = async () => {
      const mine = wanted.current;
      if (mine !== null && !document.hidden)
        try {
          const answer = await ask<T>(mine, abort.signal);
          if (!abort.signal.aborted) setState({ answer, error: null });
        } catch (error) {
          if (!abort.signal.aborted)
            setState((last) => ({ ...last, error: error instanceof Error ? error.message : String(error) }));
        }
      if (!abort.signal.aborted && !isStopped) timer = setTimeout(run, everyMs);
    };
    if (isLive) timer = setTimeout(run, isStopped ? 100 : 0);
    return () => {
      abort.abort();
      clearTimeout(timer);
    };
    /* While it goes on the address changes with every event: the next round takes the newest. */
  }, [isLive, isStopped, everyMs, address === null, isStopped ? address : ""]);
  return state;
}

/* Whether an element can be seen. */
export function useInSight<E extends HTMLElement>(): [RefObject<E | null>, boolean] {
  const ref = useRef<E>(null);
  const [isSeen, setSeen] = useState(false);

  useEffect(() => {
    if (!ref.current) return;
    const observer = new IntersectionObserver(
      (entries) => setSeen(entries.some((entry) => entry.isIntersecting)),
      {
        rootMargin: "100px",
      },
    );
    observer.observe(ref.current);
    return () => observer.disconnect();
  }, []);
  return [ref, isSeen];
}
