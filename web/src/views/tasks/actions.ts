/* What can be done in the stream, by key or click. */

import type { Range } from "../../data/work";
import { besideTask, nextTask } from "../../model/task-stream";
import { isFailed, type Links, taskKey, taskName } from "../../model/tasks";
import { chooseRange } from "../../state/choose";
import { type KeyAction, useKeys } from "../../state/keys";
import { selection } from "../../state/selection";
import { say } from "../../state/status";
import { formatTime } from "../../ui/format";
import { clean } from "../../ui/text";
import { AXIS } from "../../ui/time/frame";
import type { Time } from "../../ui/time/pointer";
import { around, bring } from "../../ui/time/zoom";
import { laneBox } from "../../model/task-stream";
import { hasCurves, selectTask, showCurves, showPanel } from "./address";
import type { Scene } from "./scene";
import { workerOf } from "./words";

export interface ActionsAsk {
  scene: Scene;
  whole: Range;
  matches: Uint8Array | null;
  time: Time;
  setRange(range: Range): void;
  scrollTo(top: number): void;
}

/* Of linked tasks the one that decides: the last that ended of those it waited for, the first that began of those that waited for it. */
function decisive(scene: Scene, links: Links, isNeed: boolean): number {
  const { start, end } = scene.tasks;
  let best = -1;

  if (scene.selected < 0) return -1;
  for (let i = links.first[scene.selected]!; i < links.first[scene.selected + 1]!; i++) {
    const other = links.to[i]!;
    if (best < 0 || (isNeed ? end[other]! > end[best]! : start[other]! < start[best]!)) best = other;
  }
  return best;
}

export function useActions(ask: ActionsAsk) {
  const { scene, whole, setRange } = ask;
  const { data, tasks, stream, selected, range } = scene;

  /* Brings a task into sight and makes it the selected one. */
  const show = (task: number) => {
    const lane = stream.laneOf[task] ?? -1;

    selectTask(task);
    if (lane >= 0) {
      const { y, height } = laneBox(stream, lane);
      setRange(bring(range, whole, tasks.start[task]!));
      if (y < scene.scroll || y + height > scene.scroll + scene.height - AXIS) ask.scrollTo(y - height);
    }
    say(
      lane >= 0
        ? `${clean(taskKey(data, task), 80)}, ${formatTime(tasks.end[task]! - tasks.start[task]!)}, ${workerOf(tasks, task)}`
        : `${clean(taskKey(data, task), 80)} never ran.`,
    );
  };
  const goTo = (task: number, otherwise: string) => (task >= 0 ? show(task) : say(otherwise));
  const find = (direction: 1 | -1, isWanted: (task: number) => boolean, none: string) =>
    goTo(nextTask(stream, tasks, selected, direction, isWanted), none);
  const isInSight = (task: number) => tasks.end[task]! > range.from && tasks.start[task]! < range.to;
  const walk = (toSide: -1 | 0 | 1, toRow: -1 | 0 | 1) =>
    selected < 0
      ? find(1, isInSight, "There is no task here.")
      : goTo(besideTask(stream, tasks, selected, toSide, toRow), "There is none.");
  const isSame = (task: number) => selected >= 0 && tasks.name[task] === tasks.name[selected];
  const isFound = (task: number) => ask.matches?.[task] === 1;
  const clear = () => selectTask(-1);
  const actions = {
    show,
    clear,
    nextFailed: (direction: 1 | -1 = 1) =>
      find(direction, (task) => isFailed(tasks.flags[task]!), "No other task failed."),
    focus: () => {
      const chosen = selection.peek().range;
      if (selected >= 0 && stream.laneOf[selected]! >= 0)
        setRange(around({ from: tasks.start[selected]!, to: tasks.end[selected]! }, whole));
      else if (chosen) setRange(around(chosen, whole, 0.02));
      else say("Nothing is selected.");
    },
    toRange: () =>
      chooseRange(
        selected >= 0 && stream.laneOf[selected]! >= 0
          ? { from: tasks.start[selected]!, to: tasks.end[selected]! }
          : range,
      ),
  };
  const missing = (what: string) => (selected < 0 ? "No task is selected." : `No task ${what}.`);
  const keys: KeyAction[] = [
    ...ask.time.keys,
    { keys: ["ArrowRight"], title: "The next task of this worker", run: () => walk(1, 0) },
    { keys: ["ArrowLeft"], title: "The task before of this worker", run: () => walk(-1, 0) },
    { keys: ["ArrowUp"], title: "The task above, of another worker", run: () => walk(0, -1) },
    { keys: ["ArrowDown"], title: "The task below", run: () => walk(0, 1) },
    {
      keys: ["["],
      title: "What the task waited for: the last that ended",
      run: () => goTo(decisive(scene, tasks.needs, true), missing("was waited for")),
    },
    {
      keys: ["]"],
      title: "What waited for the task: the first that began",
      run: () => goTo(decisive(scene, tasks.neededBy, false), missing("waited for it")),
    },
    { keys: ["."], title: "Next of the same name", run: () => find(1, isSame, lastOf(scene)) },
    { keys: [","], title: "Previous of the same name", run: () => find(-1, isSame, lastOf(scene)) },
    { keys: ["e"], title: "Next task that failed", run: () => actions.nextFailed() },
    {
      keys: ["Enter"],
      title: "Next that the search finds",
      run: () => find(1, isFound, "Nothing else is found."),
    },
    {
      keys: ["Shift+Enter"],
      title: "Previous that the search finds",
      run: () => find(-1, isFound, "Nothing else is found."),
    },
    { keys: ["f"], title: "Zoom to the selection", run: actions.focus },
    { keys: ["r"], title: "Select the time of the task, or what is shown", run: actions.toRange },
    { keys: ["n"], title: "Names, below the stream", run: () => showPanel("names") },
    { keys: ["p"], title: "The critical path", run: () => showPanel("path") },
    { keys: ["i"], title: "Workers, and why they were idle", run: () => showPanel("workers") },
    { keys: ["o"], title: "The selected task", run: () => showPanel("task") },
    { keys: ["u"], title: "Curves below the stream", run: () => showCurves(!hasCurves()) },
    ...(selected >= 0 ? [{ keys: ["Escape"], title: "Select no task", run: clear }] : []),
  ];

  useKeys("Tasks", keys);
  return actions;
}

function lastOf(scene: Scene): string {
  return scene.selected < 0
    ? "No task is selected."
    : `No other task is called ${clean(taskName(scene.tasks, scene.selected), 60)}.`;
}

export type Actions = ReturnType<typeof useActions>;
