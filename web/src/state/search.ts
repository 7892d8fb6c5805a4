/* What the search box means: plain text, whatever the case, or /a regular expression/. A bad expression is said, never thrown. */

import { computed, signal } from "@preact/signals";
import { LONGEST_TRIED } from "../data/trial";
import { search } from "./selection";

export interface Matcher {
  isActive: boolean;
  error: string | null; // a sentence
  test(text: string): boolean;
  expression?: RegExp;
  isPending?: boolean; // it is not known yet whether the expression ends
}

const NOTHING: Matcher = { isActive: false, error: null, test: () => false };

function expressionMatcher(expression: RegExp): Matcher {
  const known = new Map<string, boolean>();
  const test = (text: string) => {
    let is = known.get(text);
    if (is === undefined) known.set(text, (is = expression.test(text.slice(0, LONGEST_TRIED))));
    return is;
  };

  return { isActive: true, error: null, test, expression };
}

export function matcherOf(query: string): Matcher {
  const text = query.trim();

  if (!text || text === "/") return NOTHING;
  if (!text.startsWith("/")) {
    const wanted = text.toLowerCase();
    return { isActive: true, error: null, test: (name) => name.toLowerCase().includes(wanted) };
  }
  const end = text.lastIndexOf("/");
  const source = end > 0 ? text.slice(1, end) : text.slice(1);
  const flags = end > 0 && text.slice(end + 1).includes("c") ? "u" : "iu";
  try {
    return expressionMatcher(new RegExp(source, flags));
  } catch (error) {
    const why = error instanceof Error ? error.message : "it cannot be read";
    return { ...NOTHING, error: `not a regular expression: ${why}` };
  }
}

/* What is known of an expression that was tried; without anybody who tries them out, all are taken as they are. See trial.ts. */
export const isTried = signal(false);
export const verdict = signal<{ query: string; isSlow: boolean } | null>(null);

/* Views read this and highlight what it finds. */
export const matcher = computed<Matcher>(() => {
  const query = search.value;
  const made = matcherOf(query);

  if (!made.expression || !isTried.value) return made;
  if (verdict.value?.query !== query) return { ...NOTHING, isPending: true };
  return verdict.value.isSlow ? { ...NOTHING, error: "this pattern takes too long" } : made;
});

/* Runs once what the search means is known, and views show it. */
export function whenKnown(run: () => void): void {
  if (!matcher.peek().isPending) return run();
  const stop = matcher.subscribe(({ isPending }) => {
    if (isPending) return;
    queueMicrotask(() => stop());
    requestAnimationFrame(() => setTimeout(run));
  });
}
