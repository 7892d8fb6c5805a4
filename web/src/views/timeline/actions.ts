/* What can be done in the timeline, by key, button or click. */

import type { Range, SpanReply, Worker } from "../../data/work";
import { choose, chooseFrame, chooseRange } from "../../state/choose";
import { useKeys } from "../../state/keys";
import { setOption, textOption } from "../../state/options";
import { selection } from "../../state/selection";
import { say } from "../../state/status";
import { clean } from "../../ui/text";
import { trackName } from "../../ui/threads";
import { formatTime } from "../../ui/format";
import { AXIS } from "../../ui/time/frame";
import type { Hit, Scene } from "./scene";
import { LANE } from "./rows";
import type { Row } from "./rows";
import type { Time } from "../../ui/time/pointer";
import { around, bring } from "../../ui/time/zoom";

export interface ActionsAsk {
  scene: Scene;
  worker: Worker;
  whole: Range;
  setRange(range: Range): void;
  time: Time;
  matches: Uint8Array;
  scrollTo(top: number): void;
  pinned: SpanReply | null;
}

type Pin = Pick<SpanReply, "track" | "depth" | "site" | "start" | "duration">;

export function useActions(ask: ActionsAsk) {
  const { scene, whole, worker, setRange, pinned } = ask;
  const { range, frames } = scene;
  const nameOf = (site: number) => frames.list[frames.siteBase + site];

  /* Brings a span into sight and makes it the selected one. */
  const pin = (span: Pin) => {
    const frame = nameOf(span.site);
    const row = scene.rows.ofTrack.get(span.track);
    const top = row ? row.y + span.depth * LANE : 0;

    choose({
      span: { track: span.track, depth: span.depth, start: span.start },
      frames: frame ? [frame.key] : [],
    });
    setRange(bring(range, whole, span.start));
    if (row && (top < scene.scroll || top + LANE * 2 > scene.scroll + scene.height - AXIS))
      ask.scrollTo(top - LANE * 2);
    say(
      `${clean(frame?.name ?? "", 60)}, ${formatTime(span.duration)}, ${trackName(scene.data.recording, span.track)}`,
    );
  };
  const find = async (sites: number[], direction: 1 | -1, what: string) => {
    const { range: within, tracks, span } = selection.peek();
    const at = span ? span.start : direction > 0 ? range.from - 1 : range.to;

    if (sites.length === 0) return say(`Nothing is ${what}.`);
    const found = await worker.ask("next", { range: within, tracks, sites, at, direction });
    if (found) pin(found);
    else say(direction > 0 ? "That was the last one." : "That was the first one.");
  };
  const chosenSites = () => {
    const keys = new Set(selection.peek().frames);
    return frames.list.slice(frames.siteBase).flatMap((frame, site) => (keys.has(frame.key) ? [site] : []));
  };
  const foundSites = () => Array.from(ask.matches.keys()).filter((site) => ask.matches[site]);
  /* The neighbour of the selected span: in its lane, or in the lanes above and below it. */
  const walk = async (toSide: -1 | 0 | 1, toDepth: -1 | 0 | 1) => {
    const first = firstInSight(scene);
    if (!pinned) return first && pin(first);
    const next =
      neighbour(scene, pinned, toSide, toDepth) ?? (await further(worker, pinned, toSide, toDepth));
    if (next) pin(next);
    else say("There is none.");
  };
  const actions = {
    focus: () => {
      const chosen = selection.peek().range;
      if (pinned) setRange(around({ from: pinned.start, to: pinned.start + pinned.duration }, whole));
      else if (chosen) setRange(around(chosen, whole, 0.02));
      else say("Nothing is selected.");
    },
    toRange: () =>
      pinned ? chooseRange({ from: pinned.start, to: pinned.start + pinned.duration }) : chooseRange(range),
    unpin: () => choose({ span: null }),
    nextSame: (direction: 1 | -1) => void find(chosenSites(), direction, "selected"),
    /* On a label a click folds, on a span it selects, beside them it selects nothing. */
    click: (hit: Hit, isLabel: boolean, isAdded: boolean) => {
      const frame = hit.site >= 0 ? nameOf(hit.site) : undefined;
      if (isLabel && hit.row.canFold) return foldRow(hit.row);
      if (hit.count === 0) return selection.peek().span ? choose({ span: null }) : undefined;
      if (frame && isAdded) return chooseFrame(frame.key, true);
      if (hit.row.kind === "async") return frame ? chooseFrame(frame.key) : undefined;
      pin({
        track: hit.row.track,
        depth: hit.lane,
        site: hit.site,
        start: hit.start,
        duration: hit.end - hit.start,
      });
    },
    open: (hit: Hit) => hit.count > 0 && setRange(around({ from: hit.start, to: hit.end }, whole)),
  };

  useKeys("Timeline", [
    ...ask.time.keys,
    { keys: ["ArrowRight"], title: "The next span in this lane", run: () => void walk(1, 0) },
    { keys: ["ArrowLeft"], title: "The span before in this lane", run: () => void walk(-1, 0) },
    { keys: ["ArrowUp"], title: "The span around this one", run: () => void walk(0, -1) },
    { keys: ["ArrowDown"], title: "The first span inside this one", run: () => void walk(0, 1) },
    { keys: ["."], title: "Next of the same name", run: () => actions.nextSame(1) },
    { keys: [","], title: "Previous of the same name", run: () => actions.nextSame(-1) },
    { keys: ["Enter"], title: "Next that the search finds", run: () => void find(foundSites(), 1, "found") },
    {
      keys: ["Shift+Enter"],
      title: "Previous that the search finds",
      run: () => void find(foundSites(), -1, "found"),
    },
    { keys: ["f"], title: "Zoom to the selection", run: actions.focus },
    { keys: ["r"], title: "Select the time of the span, or what is shown", run: actions.toRange },
    {
      keys: ["x"],
      title: "Fold or unfold the thread of the span",
      run: () => pinned && flip("timeline.folded", pinned.track),
    },
    { keys: ["y"], title: "Thin or high lanes of async spans", run: () => openAsyncs(scene.rows.list) },
  ]);
  return actions;
}

/* Options that are lists of numbers, "1.4.7". */
function flip(option: string, number: number): void {
  const numbers = new Set(textOption(option).split(".").filter(Boolean).map(Number));

  if (!numbers.delete(number)) numbers.add(number);
  setOption(option, [...numbers].sort((a, b) => a - b).join("."));
}

function foldRow(row: Row): void {
  if (row.kind === "async") flip("timeline.opened", row.process);
  else flip("timeline.folded", row.track);
}

/* All that can be, or if they are open already none. */
function openAsyncs(rows: readonly Row[]): void {
  const list = rows.filter((row) => row.kind === "async" && row.canFold);
  const isOpen = list.every((row) => !row.isFolded);

  if (list.length === 0) return say("There are no thin lanes of async spans.");
  setOption("timeline.opened", isOpen ? "" : list.map((row) => row.process).join("."));
}

function pinAt(scene: Scene, i: number): Pin {
  const reply = scene.reply!;

  return {
    track: reply.track[i]!,
    depth: reply.depth[i]!,
    site: reply.site[i]!,
    start: reply.start[i]!,
    duration: reply.end[i]! - reply.start[i]!,
  };
}

function firstInSight(scene: Scene): Pin | null {
  const { reply, range } = scene;

  for (let i = 0; reply && i < reply.start.length; i++)
    if (reply.end[i]! > range.from && reply.start[i]! < range.to) return pinAt(scene, i);
  return null;
}

/* The same outside of what is loaded. */
async function further(
  worker: Worker,
  from: Pin,
  toSide: -1 | 0 | 1,
  toDepth: -1 | 0 | 1,
): Promise<Pin | null> {
  const depth = from.depth + toDepth;
  const one = { tracks: [from.track], sites: null, depth };

  if (toSide !== 0) return worker.ask("next", { ...one, range: null, at: from.start, direction: toSide });
  if (toDepth < 0) return worker.ask("at", { track: from.track, depth, time: from.start });
  const range = { from: from.start, to: from.start + from.duration };
  return worker.ask("next", { ...one, range, at: from.start - 1, direction: 1 });
}

/* Rectangles come by track, depth and begin: the first that fits is the nearest, to the left the last. */
export function neighbour(scene: Scene, from: Pin, toSide: number, toDepth: number): Pin | null {
  const { reply } = scene;
  const depth = from.depth + toDepth;
  const end = from.start + from.duration;
  let found = -1;

  for (let i = 0; reply && i < reply.start.length; i++) {
    if (reply.track[i] !== from.track || reply.depth[i] !== depth) continue;
    const start = reply.start[i]!;
    if (toSide > 0 && start > from.start) return pinAt(scene, i);
    if (toSide < 0 && start < from.start) found = i;
    if (toDepth < 0 && start <= from.start && reply.end[i]! >= from.start) found = i;
    if (toDepth > 0 && start >= from.start && start <= end) return pinAt(scene, i);
  }
  return found < 0 ? null : pinAt(scene, found);
}
