/* What the address says of this view: which run, which task, what is below the stream; and the ways to change that. */

import type { PageData } from "../../data/types";
import type { Range } from "../../data/work";
import { type Tasks, tasksOf } from "../../model/tasks";
import { option, setOption, textOption } from "../../state/options";

const RUN = "tasks.run";
const TASK = "tasks.task";
const PANEL = "tasks.panel";
const CURVES = "tasks.curves";
/* The same as that of the timeline: they show the same time. */
export const ZOOM = "timeline.zoom";

export const PANELS = ["names", "path", "workers", "task"] as const;
export type PanelName = (typeof PANELS)[number];

/* The only one, or the one that was chosen; -1: all. Numbers of runs begin with 1. */
export function runShown(tasks: Tasks): number {
  const number = Number(textOption(RUN));

  if (tasks.runs.length === 1) return 0;
  return Number.isInteger(number) && number > 0 && number <= tasks.runs.length ? number - 1 : -1;
}

export function showRun(run: number): void {
  setOption(RUN, run < 0 ? "" : String(run + 1));
  setOption(TASK, "");
  setOption(ZOOM, "");
}

/* A row of tasks; -1: none. */
export function taskShown(tasks: Tasks, run: number): number {
  const text = textOption(TASK);
  const task = text === "" ? -1 : Number(text);

  if (!(Number.isInteger(task) && task >= 0 && task < tasks.size)) return -1;
  return run < 0 || tasks.run[task] === run ? task : -1;
}

export function selectTask(task: number): void {
  setOption(TASK, task < 0 ? "" : String(task));
}

export function panelShown(): PanelName {
  return option(PANEL, PANELS);
}

export function showPanel(panel: PanelName): void {
  setOption(PANEL, panel, PANELS[0]);
}

const CURVES_SHOWN = ["on", "off"] as const;

export function hasCurves(): boolean {
  return option(CURVES, CURVES_SHOWN) === "on";
}

export function showCurves(isOn: boolean): void {
  setOption(CURVES, isOn ? "on" : "off", "on");
}

/* From the begin of the first of the runs to the end of the last, all of their tasks included. */
export function extentOf(data: PageData, run: number): Range {
  const tasks = tasksOf(data);
  const all: Range = { from: Infinity, to: -Infinity };
  const add = (from: number, to: number) => {
    if (from < all.from) all.from = from;
    if (to > all.to) all.to = to;
  };

  for (const one of run < 0 ? tasks.runs : tasks.runs.slice(run, run + 1))
    add(one.begin, one.begin + one.duration);
  for (let i = 0; i < tasks.size; i++)
    if (run < 0 || tasks.run[i] === run) add(tasks.start[i]!, tasks.end[i]!);
  if (!(all.to > all.from))
    return { from: Number.isFinite(all.from) ? all.from : 0, to: (all.from || 0) + 1 };
  return all;
}
