/* One sentence about what just happened, shown at the bottom and read out by screen readers. */

import { signal } from "@preact/signals";

export const status = signal("");

export function say(text: string): void {
  status.value = text;
}
