/* What the search box means: plain text, whatever the case, or /a regular expression/. A bad expression is said, never thrown. */

import { computed } from "@preact/signals";
import { search } from "./selection";

export interface Matcher {
  isActive: boolean;
  error: string | null;
  test(text: string): boolean;
}

const NOTHING: Matcher = { isActive: false, error: null, test: () => false };

/* The longest text an expression is tried on: names can be long, and expressions slow. */
const LONGEST = 1000;

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
    const expression = new RegExp(source, flags);
    return { isActive: true, error: null, test: (name) => expression.test(name.slice(0, LONGEST)) };
  } catch (error) {
    return { ...NOTHING, error: error instanceof Error ? error.message : "not a regular expression" };
  }
}

/* Views read this and highlight what it finds. */
export const matcher = computed<Matcher>(() => matcherOf(search.value));
