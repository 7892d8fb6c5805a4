/* The processes of the program, those that record and those that are only seen from outside. */

import { useMemo } from "preact/hooks";
import { formatBytes, formatCount, formatTime } from "../../ui/format";
import type { TableColumn } from "../../ui/table";
import { clean } from "../../ui/text";
import type { ProcessState } from "../data/types";
import { columnMaker, LiveTable } from "../live-table";
import type { Panel, PanelProps } from "../panel";
import { formatCores, formatMany } from "../words";

export function endOf(process: Pick<ProcessState, "is_running" | "how" | "status">): string {
  if (process.is_running) return "running";
  if (process.how === "exit") return process.status ? `exit ${process.status}` : "ended";
  if (process.how === "signal") return `signal ${process.status}`;
  return process.how === "exec" ? "became another" : "ended";
}

function columnsOf(list: ProcessState[]): TableColumn[] {
  const { word, number } = columnMaker(list);
  const most = Math.max(...list.map((process) => process.memory_bytes ?? 0), 1);
  const filled = (process: ProcessState) => (process.memory_bytes ?? 0) / most;

  return [
    word("process", "Process", (process) => clean(process.name, 80) || "–", { width: 110, isWide: true }),
    number("pid", "Pid", "Number of the process", (process) => process.pid, String, { leaves: 1 }),
    word("state", "State", endOf, { width: 88 }),
    number("cpu", "CPU", "Cores in use over the last second", (process) => process.cpu, formatCores, {
      width: 64,
    }),
    number("cpu_ns", "CPU time", "So far", (process) => process.cpu_ns, formatTime, { leaves: 3 }),
    number("memory_bytes", "Memory", "Resident", (process) => process.memory_bytes, formatBytes, {
      share: filled,
    }),
    number("threads", "Threads", "Now", (process) => process.threads, formatCount, { leaves: 4 }),
    number("spans", "Spans", "Recorded so far", (process) => process.spans, formatMany, { leaves: 2 }),
  ];
}

function Processes({ state }: PanelProps) {
  const { list, more } = state.processes;
  const columns = useMemo(() => columnsOf(list), [list]);

  return (
    <LiveTable
      name="processes"
      title={state.title}
      label="Processes"
      columns={columns}
      count={list.length}
      more={more}
      order={{ column: "cpu", isDescending: true }}
      textOf={(row) => `${list[row]!.name} ${list[row]!.command} ${list[row]!.pid}`}
      mostRows={8}
    />
  );
}

export const processesPanel: Panel = {
  id: "processes",
  title: "Processes",
  question: "Which processes are there, and what do they use?",
  width: "half",
  missing: (state) => (state.processes.count ? null : ""),
  component: Processes,
};
