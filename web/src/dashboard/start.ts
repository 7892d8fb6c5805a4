/* What to say where nothing has been recorded yet. Pure. */

import { clean } from "../ui/text";
import type { State } from "./data/types";

/* There is nothing at all to show. */
export function isBare(state: State): boolean {
  return (
    !state.events &&
    !state.processes.count &&
    !state.tasks.ended &&
    !state.tasks.groups.count &&
    !state.tasks.workers.count &&
    !state.steps.count &&
    !state.resources &&
    !state.energy
  );
}

/* In one sentence or two, with commands in backticks: a path must not end them. */
export function whatToDo(state: State): string {
  const path = clean(state.path || state.target || ".", 200).replaceAll("`", "'");

  if (state.kind === "folder" || state.kind === "spool")
    return `Nothing is recorded in this folder yet. Start a program with \`venturi run -o ${path}/NAME.vt PROGRAM\`: it appears here by itself.`;
  if (state.kind === "dask")
    return state.cluster && !state.cluster.is_connected
      ? `The cluster does not answer: ${clean(state.cluster.error || "it may have ended", 200)}. It is asked again and again.`
      : "The cluster has no workers and no tasks yet. What is submitted to it appears here by itself.";
  if (state.kind === "process") return "This process has ended before anything was seen of it.";
  if (state.caught_up < 1) return "The recording is being read.";
  return state.is_growing
    ? "The program has begun and nothing of it is recorded yet. What it does appears here by itself; a program without trace points shows its CPU and memory after a moment."
    : `There is nothing in this recording: the program ended before it came to a trace point. \`venturi info ${path}\` says more.`;
}
