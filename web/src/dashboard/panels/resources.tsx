/* Curves: CPU, memory and I/O of the program, and how much of everything happens in a second. */

import { formatBytes, formatUnit } from "../../ui/format";
import { isMoving, NAMES } from "../data/history";
import type { State } from "../data/types";
import type { Panel } from "../panel";
import { curvesOf, Plot, type PlotProps } from "../plot";
import { drawn, history, isPaused } from "../state";
import { formatByteRate, formatCores, formatRate } from "../words";

const PLOTS: (Omit<PlotProps, "curves"> & { curves: Parameters<typeof curvesOf>[0] })[] = [
  {
    heading: "CPU (cores)",
    format: formatCores,
    curves: [
      { name: "cpu", title: "program", isFilled: true },
      { name: "machine", title: "machine", isDashed: true },
    ],
  },
  {
    heading: "Memory",
    format: formatBytes,
    curves: [{ name: "memory", title: "resident", isFilled: true }],
  },
  {
    heading: "Spans",
    format: formatRate,
    curves: [
      { name: "spans", title: "ended", isFilled: true, isRare: true },
      { name: "errors", title: "errors", isRare: true },
    ],
  },
  {
    heading: "Tasks",
    format: formatRate,
    curves: [
      { name: "tasks", title: "ended", isFilled: true, isRare: true },
      { name: "tasks_failed", title: "failed", isRare: true },
    ],
  },
  {
    heading: "Messages of steps",
    format: formatRate,
    curves: [
      { name: "messages", title: "dealt with", isFilled: true, isRare: true },
      { name: "steps_failed", title: "failed", isRare: true },
    ],
  },
  {
    heading: "Items",
    format: formatRate,
    curves: [
      { name: "items", title: "all", isFilled: true, isRare: true },
      { name: "effective", title: "effective", isRare: true },
    ],
  },
  {
    heading: "Power",
    format: (value) => formatUnit(value, "W"),
    curves: [
      { name: "watts", title: "machine" },
      { name: "own_watts", title: "program", isFilled: true },
    ],
  },
  {
    heading: "Input and output",
    format: formatByteRate,
    curves: [
      { name: "read", title: "read", isRare: true },
      { name: "written", title: "written", isRare: true },
    ],
  },
];

function Curves() {
  void drawn.value;
  const plots = PLOTS.map((plot) => ({ ...plot, curves: curvesOf(plot.curves) })).filter(
    (plot) => plot.curves.length > 0,
  );

  return (
    <div class={`charts${isPaused.value ? " is-paused" : ""}`}>
      {plots.map((plot) => (
        <Plot key={plot.heading} {...plot} />
      ))}
    </div>
  );
}

/* Whether the server watched something of what is over. */
function hasSeen(state: State): boolean {
  const end = state.last_ms ?? 0;

  return history.times.some((at, i) => at <= end && history.series.cpu[i] !== null);
}

function missing(state: State): string | null {
  if (!state.is_growing && !hasSeen(state))
    return "The server was not there while it ran: the report has the curves of CPU, memory and energy.";
  if (NAMES.some((name) => isMoving(history, name))) return null;
  return "CPU and memory are not sampled: `venturi run` does so unless `--no-resources` is given.";
}

export const resourcesPanel: Panel = {
  id: "resources",
  title: "Resources and rates",
  question: "What does the program use, and how much gets done?",
  width: "whole",
  missing,
  component: Curves,
};
