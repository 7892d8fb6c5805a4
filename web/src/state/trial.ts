/* Tries regular expressions out before views use them: in a worker of their own, which is stopped if one takes too long. One expression at a
 * time; of those that come meanwhile the last counts. */

import { effect } from "@preact/signals";
import type { StoppableWorker } from "../data/work";
import { isTried, matcherOf, verdict } from "./search";
import { search } from "./selection";

export const LONGEST_TRIAL = 1000; // ms

export function tryExpressions(texts: readonly string[], start: () => StoppableWorker): void {
  let worker: StoppableWorker | null = null;
  let tried: string | null = null; // what the worker is at
  const settle = (query: string, isSlow: boolean) => {
    tried = null;
    verdict.value = { query, isSlow };
    if (search.peek() !== query) begin();
  };
  const begin = () => {
    const query = search.peek();
    const { expression } = matcherOf(query);
    if (!expression || tried !== null || verdict.peek()?.query === query) return;
    const { source, flags } = expression;
    const asked = { source, flags, texts: worker ? null : texts };
    const trial = (worker ??= start());
    const timer = setTimeout(() => {
      trial.stop();
      worker = null;
      settle(query, true);
    }, LONGEST_TRIAL);
    const finish = () => {
      clearTimeout(timer);
      settle(query, false);
    };
    tried = query;
    trial.ask("try", asked).then(finish, finish);
  };

  isTried.value = true;
  effect(() => {
    if (search.value) begin();
  });
}
