/* The few numbers that say at a glance whether all is well. */

import { formatBytes, formatCount, formatTime, formatUnit } from "../ui/format";
import type { State } from "./data/types";
import { type Fact, Facts } from "./panels/facts";
import { formatCores, formatMany, formatRate, known } from "./words";

const sumOf = (list: number[]) => list.reduce((sum, one) => sum + one, 0);

/* While it runs. */
function nowOf(state: State): (Fact | false)[] {
  const { resources, processes, steps, items, energy } = state;
  const running = processes.list.filter((process) => process.is_running).length;
  const cores = `Cores in use, of ${state.cpu_count ?? "an unknown number"}`;

  return [
    resources !== null && ["CPU", known(resources.cpu, formatCores), cores],
    resources !== null && [
      "Memory",
      known(resources.memory_bytes, formatBytes),
      "Resident, all processes together",
    ],
    processes.count > 0 && [
      "Processes",
      formatCount(running),
      `Running, of ${formatCount(processes.count)} that were seen`,
    ],
    state.spans.count > 0 && [
      "Spans",
      known(state.spans_per_s, formatRate),
      `${formatMany(state.span_count)} so far`,
    ],
    steps.count > 0 && [
      "Messages",
      formatRate(sumOf(steps.list.map((step) => step.messages_per_s))),
      `${formatMany(sumOf(steps.list.map((step) => step.messages)))} so far, of all steps together`,
    ],
    items !== null && ["Items", known(items.raw_per_s, formatRate), `${formatMany(items.raw)} so far`],
    energy !== null && [
      "Power",
      known(energy.own_watts ?? energy.watts, (power) => formatUnit(power, "W")),
      energy.own_watts === null ? "Of the machine" : "The program's share",
    ],
  ];
}

/* When it is over. */
function sumsOf(state: State): (Fact | false)[] {
  const { resources, processes, steps, items, energy } = state;

  return [
    resources !== null && ["CPU time", known(resources.cpu_ns, formatTime), "Of all processes together"],
    resources !== null && ["Peak memory", known(resources.peak_bytes, formatBytes), "Resident"],
    processes.count > 0 && ["Processes", formatCount(processes.count), "That were seen"],
    state.spans.count > 0 && ["Spans", formatMany(state.span_count), "Recorded"],
    steps.count > 0 && [
      "Messages",
      formatMany(sumOf(steps.list.map((step) => step.messages))),
      "Of all steps together",
    ],
    items !== null && ["Items", formatMany(items.raw), "That the program counted"],
    energy !== null && [
      "Energy",
      known(energy.own_joules ?? energy.joules, (joules) => formatUnit(joules, "J")),
      energy.own_joules === null ? "Of the machine" : "The program's share",
    ],
  ];
}

/* Only what is known of this program. */
export function summaryOf(state: State): Fact[] {
  const { tasks, steps, cluster } = state;
  const failed = sumOf(steps.list.map((step) => step.failed));
  const list: (Fact | false)[] = [
    cluster !== null && ["Cluster", cluster.version ? `dask ${cluster.version}` : "dask", cluster.address],
    ...(state.is_growing ? nowOf(state) : sumsOf(state)),
    state.spans.count > 0 && ["Errors", formatMany(state.errors), "Spans that failed", state.errors > 0],
    tasks.ended + tasks.groups.count > 0 && ["Tasks", formatMany(tasks.ended), "That have ended"],
    tasks.failed > 0 && ["Failed tasks", formatMany(tasks.failed), "Of all that have ended", true],
    failed > 0 && ["Failed messages", formatMany(failed), "Of all steps together", true],
    ["Lost", formatMany(state.lost_events), "Events that found no room", state.lost_events > 0],
  ];

  return list.filter((fact) => fact !== false);
}

export function Summary({ state }: { state: State }) {
  return (
    <section class="summary" aria-label="At a glance">
      <Facts list={summaryOf(state)} />
    </section>
  );
}
