/* Opens the page's data, keeps the spans and answers questions about them, in the worker or, where there is little, in the page. See work.ts
 * for what is asked. */

import { answerAt, answerNext, answerPaths, answerStats, answerWindow } from "./answers";
import { openTables } from "./open";
import { layOutSpans } from "./spans";
import type { SpanLanes, SpanStore } from "./spans";
import { tryExpression } from "./trial";
import type { Question, Questions } from "./work";

/* Lanes are there first and enough for pictures; nesting, which numbers need, is worked out after them. */
let lanes = failing<SpanLanes>();
let store = failing<SpanStore>();

let tried: readonly string[] = [];

function failing<T>(): Promise<T> {
  return quiet(Promise.reject(new Error("no data is open")));
}

/* Whoever asks hears of the error; without a question it is none. */
function quiet<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => undefined);
  return promise;
}

/* Questions that came meanwhile go first. */
function pause(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve));
}

/* Answers as soon as everything but the spans is there; questions about spans wait for them. */
async function open(ask: Questions["open"]["ask"]): Promise<Questions["open"]["reply"]> {
  const { strings, tables, openSpans } = await openTables(ask.directory, ask.blocks);
  const recording = ask.directory.recordings[ask.directory.recordings.length - 1]!;

  const laid = openSpans().then((spans) => {
    performance.mark("venturi:spans");
    return layOutSpans(spans, recording);
  });
  lanes = quiet(laid);
  store = quiet(
    laid.then(async (one) => {
      const nesting = one.nest();
      performance.mark("venturi:lanes");
      for (;;) {
        await pause();
        const { done, value } = nesting.next();
        if (done) return value;
      }
    }),
  );
  return { strings, tables };
}

const answers: { [Q in Question]: (ask: Questions[Q]["ask"]) => Promise<Questions[Q]["reply"]> } = {
  open,
  window: async (ask) => answerWindow(await lanes, ask),
  stats: async (ask) => answerStats(await store, ask),
  paths: async (ask) => answerPaths(await store, ask),
  next: async (ask) => answerNext(await store, ask),
  at: async (ask) => answerAt(await store, ask),
  try: async ({ source, flags, texts }) => {
    tried = texts ?? tried;
    tryExpression(source, flags, tried);
    return null;
  },
};

export async function answer<Q extends Question>(
  question: Q,
  ask: Questions[Q]["ask"],
): Promise<Questions[Q]["reply"]> {
  return answers[question](ask);
}
