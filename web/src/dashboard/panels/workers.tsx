/* The workers: how busy each is, and what it has in memory. */

import { useMemo } from "preact/hooks";
import { formatBytes, formatCount, formatShare } from "../../ui/format";
import type { TableColumn } from "../../ui/table";
import { clean } from "../../ui/text";
import type { WorkerState } from "../data/types";
import { columnMaker, LiveTable, withValues } from "../live-table";
import type { Panel, PanelProps } from "../panel";
import { formatCores } from "../words";

function columnsOf(list: WorkerState[]): TableColumn[] {
  const { word, number } = columnMaker(list);
  const most = Math.max(...list.map((worker) => worker.memory_bytes ?? 0), 1);
  const filled = (worker: WorkerState) => (worker.memory_bytes ?? 0) / (worker.memory_limit_bytes || most);
  const columns = [
    word("worker", "Worker", (worker) => clean(worker.label, 120) || "–", { width: 110, isWide: true }),
    number(
      "busy",
      "Busy",
      "Share of the last second in which it computed",
      (worker) => worker.busy,
      formatShare,
      { share: (worker) => worker.busy ?? 0 },
    ),
    number("cpu", "CPU", "Cores in use", (worker) => worker.cpu, formatCores, { width: 64, leaves: 1 }),
    number(
      "memory_bytes",
      "Memory",
      "Of its limit, if it has one",
      (worker) => worker.memory_bytes,
      formatBytes,
      { share: filled },
    ),
    number(
      "spilled_bytes",
      "Spilled",
      "Moved to disk for want of memory",
      (worker) => worker.spilled_bytes,
      formatBytes,
      { leaves: 4 },
    ),
    number("running", "Running", "Tasks that it is computing", (worker) => worker.running, formatCount, {
      leaves: 6,
    }),
    number("ready", "Ready", "Tasks that wait in it", (worker) => worker.ready, formatCount, { leaves: 5 }),
    number("ended", "Ended", "Tasks that it has done", (worker) => worker.ended, formatCount),
    number("failed", "Failed", "Of these, failed", (worker) => worker.failed, formatCount, {
      width: 64,
      leaves: 2,
    }),
    word("state", "State", (worker) => (worker.is_running ? "there" : "gone"), { width: 72, leaves: 3 }),
    word("host", "Host", (worker) => clean(worker.host, 120), { width: 140, leaves: 7 }),
  ];

  return withValues(
    columns,
    ["busy", "cpu", "memory_bytes", "spilled_bytes", "running", "ready", "host"],
    list.length,
  );
}

function Workers({ state }: PanelProps) {
  const { list, more } = state.tasks.workers;
  const columns = useMemo(() => columnsOf(list), [list]);

  return (
    <LiveTable
      name="workers"
      title={state.title}
      label="Workers"
      columns={columns}
      count={list.length}
      more={more}
      order={{ column: "worker", isDescending: false }}
      textOf={(row) => list[row]!.label}
      mostRows={8}
    />
  );
}

export const workersPanel: Panel = {
  id: "workers",
  title: "Workers",
  question: "How busy is each worker?",
  width: "half",
  missing: (state) => (state.tasks.workers.count ? null : ""),
  component: Workers,
};
