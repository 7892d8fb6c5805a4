/* The address: view, selection, search and options after the #, so that a link shows the same picture. Whatever stands there is read
 * with care: people edit addresses. */

import { effect } from "@preact/signals";
import { NOTHING, search, selection, view, viewOptions } from "./selection";
import type { Selection } from "./selection";

export interface Address {
  view: string;
  selection: Selection;
  search: string;
  options: Record<string, string>;
}

const OPTION = "o.";
const MOST_FRAMES = 100;

export function writeAddress(address: Address): string {
  const { range, tracks, frames, span } = address.selection;
  const query = new URLSearchParams();

  if (range) query.set("range", `${range.from}-${range.to}`);
  if (tracks) query.set("threads", tracks.join("."));
  for (const frame of frames.slice(0, MOST_FRAMES)) query.append("frame", frame);
  if (span) query.set("span", `${span.track}.${span.depth}.${span.start}`);
  if (address.search) query.set("search", address.search);
  for (const [name, value] of Object.entries(address.options)) if (value) query.set(OPTION + name, value);
  const text = query.toString();
  return `#${encodeURIComponent(address.view)}${text ? `?${text}` : ""}`;
}

function numbersOf(text: string | null, separator: string): number[] {
  const numbers = (text ?? "").split(separator).map((part) => (part === "" ? NaN : Number(part)));

  return numbers.every((number) => Number.isFinite(number) && number >= 0) ? numbers : [];
}

export function readAddress(hash: string, firstView: string): Address {
  const [name = "", ...rest] = hash.replace(/^#/, "").split("?");
  const query = new URLSearchParams(rest.join("?"));
  const [from, to] = numbersOf(query.get("range"), "-");
  const tracks = numbersOf(query.get("threads"), ".").filter(Number.isInteger);
  const [track, depth, start] = numbersOf(query.get("span"), ".");
  const options: Record<string, string> = {};

  for (const [key, value] of query) if (key.startsWith(OPTION)) options[key.slice(OPTION.length)] = value;
  return {
    view: decoded(name) || firstView,
    selection: {
      range: from !== undefined && to !== undefined && to > from ? { from, to } : null,
      tracks: tracks.length ? tracks : null,
      frames: query.getAll("frame").slice(0, MOST_FRAMES),
      span:
        track !== undefined && depth !== undefined && start !== undefined ? { track, depth, start } : null,
    },
    search: query.get("search") ?? "",
    options,
  };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return "";
  }
}

const WRITE_AFTER_MS = 200;

/* Keeps the address and the state the same, from now on. Some browsers count changes of the address: only the last of many is written. */
export function startAddress(firstView: string): void {
  let written = location.hash;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const read = () => {
    const address = readAddress((written = location.hash), firstView);
    view.value = address.view;
    selection.value = { ...NOTHING, ...address.selection };
    search.value = address.search;
    viewOptions.value = address.options;
  };

  read();
  addEventListener("hashchange", () => location.hash !== written && read());
  effect(() => {
    const hash = writeAddress({
      view: view.value,
      selection: selection.value,
      search: search.value,
      options: viewOptions.value,
    });
    clearTimeout(timer);
    timer = setTimeout(() => {
      /* Whoever has just changed the address wants to go there. */
      if (hash === location.hash || location.hash !== written) return;
      /* In full: inside of a notebook's frame, addresses are relative to the notebook's. */
      history.replaceState(null, "", location.href.split("#")[0] + hash);
      written = location.hash;
    }, WRITE_AFTER_MS);
  });
}
