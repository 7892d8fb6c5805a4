/* The keyboard: every action has a key, and the help is made of the same list. A view adds its own while it is shown. */

import { signal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";

export interface KeyAction {
  keys: string[]; // as KeyboardEvent.key has them; "Shift+Enter" with the modifier that matters
  title: string; // in the help; without one it is not there
  run(): void;
}

interface Group {
  title: string;
  actions: KeyAction[];
}

/* Of keys that are the same everywhere; a view's own come before them. */
export const EVERYWHERE = "Everywhere";

/* Those of the view that is shown come first. */
export const keyGroups = signal<Group[]>([]);

/* `actions` are looked up when a key is pressed, so they may be new ones at every render. */
export function useKeys(title: string, actions: KeyAction[]): void {
  const group: Group = { title, actions };
  const latest = useLatest(group);

  useEffect(() => {
    const mine: Group = {
      title,
      get actions() {
        return latest.current.actions;
      },
    };
    keyGroups.value = title === EVERYWHERE ? [...keyGroups.peek(), mine] : [mine, ...keyGroups.peek()];
    return () => {
      keyGroups.value = keyGroups.peek().filter((one) => one !== mine);
    };
  }, [title]);
}

function nameOf(event: KeyboardEvent): string {
  return event.shiftKey && event.key.length > 1 ? `Shift+${event.key}` : event.key;
}

/* Typing in a field is typing; Escape leaves it. */
function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement &&
    ((target.tagName === "INPUT" && target.getAttribute("type") !== "checkbox") ||
      target.tagName === "SELECT" ||
      target.tagName === "TEXTAREA")
  );
}

/* What lists and buttons do themselves with these keys comes first: they call preventDefault(). */
export function onKeyDown(event: KeyboardEvent): void {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target))
    return;
  if (document.querySelector("dialog[open]")) return;
  const name = nameOf(event);
  const isButton = event.target instanceof HTMLElement && event.target.closest("button,a,summary,[role=tab]");

  if (isButton && (name === "Enter" || name === " ")) return;
  if (runKey(name)) event.preventDefault();
}

/* Does what the key means now; false: it means nothing. */
export function runKey(name: string): boolean {
  for (const group of keyGroups.peek())
    for (const action of group.actions)
      if (action.keys.includes(name)) {
        action.run();
        return true;
      }
  return false;
}

function useLatest<T>(value: T): { current: T } {
  const box = useRef(value);

  box.current = value;
  return box;
}
