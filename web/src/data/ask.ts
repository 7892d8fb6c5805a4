/* The page's side of the worker: questions go out, promises of answers come back. */

import { answer } from "./answer";
import type { Question, Questions, StoppableWorker, Worker } from "./work";
import type { Answer } from "./worker";
import InlineWorker from "./worker?worker&inline";

interface Waiting {
  resolve(reply: never): void;
  reject(error: Error): void;
}

export function startWorker(): StoppableWorker {
  const worker = new InlineWorker();
  const waiting = new Map<number, Waiting>();
  let last = 0;

  worker.addEventListener("message", (event: MessageEvent<Answer>) => {
    const answer = event.data;
    const asked = waiting.get(answer.id);
    waiting.delete(answer.id);
    if ("error" in answer) asked?.reject(new Error(answer.error));
    else asked?.resolve(answer.reply as never);
  });
  worker.addEventListener("error", (event) => {
    for (const asked of waiting.values())
      asked.reject(new Error(event.message || "the worker does not start"));
    waiting.clear();
  });
  return {
    ask<Q extends Question>(question: Q, ask: Questions[Q]["ask"]) {
      return new Promise<Questions[Q]["reply"]>((resolve, reject) => {
        const id = ++last;
        waiting.set(id, { resolve, reject });
        worker.postMessage({ id, question, ask });
      });
    },
    stop: () => worker.terminate(),
  };
}

/* Without a worker: what is little is read at once, and a browser that takes a picture of the page waits for it (it does for the page, not for
 * workers, where the clock is its own: --virtual-time-budget). */
export function startHere(): Worker {
  return { ask: answer };
}
