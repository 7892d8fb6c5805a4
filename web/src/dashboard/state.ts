/* What the page shows. Events come into the stores at any time; the signals here change at most four times a second, never while the reader
 * has stopped the picture, and never in a tab that nobody sees. */

import { batch, computed, signal } from "@preact/signals";
import type { Range } from "../data/work";
import { colourGiver } from "../model/task-colour";
import { clockScale, S } from "./data/clock";
import type { Link } from "./data/feed";
import { append, load, makeHistory, NAMES } from "./data/history";
import { addTasks, makeStream, MOST_TASKS } from "./data/stream";
import type { HistoryReply, State, TasksEvent } from "./data/types";
import { option, setOption } from "../state/options";

/* ---- the window ---- */

export const WINDOWS = [
  { value: "60", title: "1 min" },
  { value: "10", title: "10 s" },
  { value: "30", title: "30 s" },
  { value: "300", title: "5 min" },
  { value: "1800", title: "30 min" },
  { value: "7200", title: "2 h" },
  { value: "86400", title: "24 h" },
  { value: "all", title: "all" },
] as const;

export type WindowChoice = (typeof WINDOWS)[number]["value"];
const VALUES = WINDOWS.map((one) => one.value);

/* Shortest first, as they are shown. */
export const WINDOW_LIST = [...WINDOWS].sort(
  (a, b) => (Number(a.value) || Infinity) - (Number(b.value) || Infinity),
);

const isChosen = signal(false);

/* What is over is shown whole unless the reader wants less. */
export const windowChoice = computed<WindowChoice>(() => {
  const chosen = option("window", VALUES);
  const isOver = shown.value !== null && !shown.value.is_growing;

  return isOver && !isChosen.value && chosen === VALUES[0] ? "all" : chosen;
});

export function chooseWindow(value: WindowChoice): void {
  isChosen.value = true;
  setOption("window", value, VALUES[0]);
  frozen.value = null;
  void loadHistory();
}

/* The next shorter or longer one. */
export function stepWindow(by: number): void {
  const at = WINDOW_LIST.findIndex((one) => one.value === windowChoice.peek());
  const next = WINDOW_LIST[at + by];

  if (next) chooseWindow(next.value);
}

/* ---- stores and signals ---- */

export const history = makeHistory();
export let stream = makeStream();
export let colourOf = colourGiver();

export const link = signal<Link>({ state: "connecting", why: "", tries: 0, retryAt: 0 });
export const shown = signal<State | null>(null);
/* The right end of all pictures, and that something is to be drawn anew. */
export const edge = signal(0);
export const drawn = signal(0);
/* The piece of time at which the reader has stopped the picture. */
export const frozen = signal<Range | null>(null);
export const isPaused = computed(() => frozen.value !== null);
/* The moment of what is shown is not now: nobody says anything. */
export const isStale = computed(() => shown.value !== null && link.value.state !== "live");
/* For texts like "in 3 s". */
export const second = signal(0);

let newest: State | null = null;
let receivedAt = 0;
let originMs = 0;

export function origin(): number {
  return originMs;
}

export const scale = computed(() => (void drawn.value, clockScale(originMs)));

/* What goes on is never narrower than a second: everything would race. */
const least = computed(() => (shown.value && !shown.value.is_growing ? 1e3 : S));

/* All that there is. */
export const whole = computed<Range>(() => ({ from: 0, to: Math.max(least.value, edge.value) }));

/* What every picture with an axis of time shows. */
export const range = computed<Range>(() => {
  const choice = windowChoice.value;
  const to = edge.value;

  if (frozen.value) return frozen.value;
  const from = choice === "all" ? 0 : Math.max(0, to - Number(choice) * S);
  return { from, to: Math.max(to, from + least.value) };
});

/* ---- stopping ---- */

export function pause(): void {
  frozen.value ??= { ...range.peek() };
}

export function resume(): void {
  frozen.value = null;
  publish();
}

/* A piece of time for all pictures; what goes on does not push it away. */
export function look(piece: Range): void {
  frozen.value = piece.to - piece.from > 1e3 ? piece : { from: piece.from, to: piece.from + 1e3 };
}

/* ---- events ---- */

export const isUnreadable = signal(false);

function isState(value: unknown): value is State {
  const state = value as Partial<State> | null;

  return (
    typeof state?.seq === "number" &&
    typeof state.now_ms === "number" &&
    Array.isArray(state.spans?.list) &&
    Array.isArray(state.steps?.list) &&
    Array.isArray(state.tasks?.groups?.list) &&
    Array.isArray(state.tasks.workers?.list) &&
    Array.isArray(state.processes?.list) &&
    Array.isArray(state.threads?.list) &&
    Array.isArray(state.losses) &&
    typeof state.cost === "object" &&
    state.cost !== null
  );
}

/* Another server, or another program: nothing of what was is of it. */
function startAnew(state: State): void {
  Object.assign(history, makeHistory());
  stream = makeStream();
  colourOf = colourGiver();
  originMs = state.start_ms || state.now_ms;
  edge.value = 0;
  frozen.value = null;
  shown.value = null;
}

function isAnother(state: State): boolean {
  return (
    !newest ||
    state.seq < newest.seq ||
    state.target !== newest.target ||
    (state.replaced ?? 0) !== (newest.replaced ?? 0)
  );
}

/* True: it is the first of a program; what was before it is to be asked for. */
export function takeEvent(kind: "state" | "tasks", text: string): boolean {
  let data: unknown = null;
  let isFirst = false;

  try {
    data = JSON.parse(text);
  } catch {
    /* It is not what was agreed on. */
  }
  if (kind === "state" && isState(data)) {
    isFirst = isAnother(data);
    if (isFirst) startAnew(data);
    newest = data;
    receivedAt = performance.now();
    append(history, data);
    isUnreadable.value = false;
  } else if (kind === "tasks" && data && originMs) {
    if (early) early.push(data as TasksEvent);
    else addTasks(stream, data as TasksEvent, originMs);
  } else {
    isUnreadable.value = true;
    return false;
  }
  publishSoon();
  return isFirst;
}

let isPlanned = false;

function publishSoon(): void {
  if (isPlanned) return;
  isPlanned = true;
  requestAnimationFrame(() => {
    isPlanned = false;
    publish();
  });
}

/* Now, as the server's clock has it. */
function edgeOf(state: State): number {
  const isGoing = state.is_growing && link.peek().state === "live";
  const passed = isGoing ? Math.min(2000, performance.now() - receivedAt) : 0;
  const at = state.is_growing ? state.now_ms + passed : state.last_ms || state.now_ms;

  return Math.max(0, (at - originMs) * 1e6);
}

export function publish(): void {
  const state = newest;

  if (!state || frozen.peek()) return;
  batch(() => {
    shown.value = state;
    edge.value = state.is_growing ? Math.max(edge.peek(), edgeOf(state)) : edgeOf(state);
    drawn.value++;
  });
}

/* ---- what was before ---- */

/* Events that came while earlier tasks are being asked for. */
let early: TasksEvent[] | null = null;

/* Tasks that the server still keeps: its events begin with the newest of them. */
export async function loadTasks(): Promise<void> {
  const into = stream;
  const mine: TasksEvent[] = [];

  if ((newest?.tasks.last ?? 0) <= into.last) return;
  early = mine;
  try {
    const answer = await fetch(`api/tasks?after=${into.last}&limit=${MOST_TASKS}`, { cache: "no-store" });
    if (answer.ok) addTasks(into, (await answer.json()) as TasksEvent, originMs);
  } catch {
    /* The stream begins with what the events have. */
  }
  if (early === mine) early = null;
  for (const event of mine) addTasks(into, event, originMs);
  publish();
}

const POINTS = 700; // a minute in steps of 100 ms, with room
const SHORT_S = 60;
const LONG_S = 600;

/* Curves of hours are the server's averages: what came since is finer than they need. */
export function refreshHistory(): void {
  const choice = windowChoice.peek();

  if (choice === "all" || Number(choice) > LONG_S) void loadHistory();
}

export async function loadHistory(): Promise<void> {
  const state = newest;
  const choice = windowChoice.peek();

  if (!state) return;
  const to = state.now_ms;
  const from = choice === "all" ? to - 86_400_000 : to - Math.max(SHORT_S, Number(choice)) * 1000;
  const query = `from=${Math.floor(from)}&to=${Math.ceil(to)}&points=${POINTS}&names=${NAMES.join(",")}`;
  try {
    const answer = await fetch(`api/history?${query}`, { cache: "no-store" });
    if (!answer.ok) return;
    load(history, (await answer.json()) as HistoryReply, originMs);
    publish();
  } catch {
    /* The curves begin now. */
  }
}
