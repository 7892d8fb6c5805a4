/* What each thread is inside of at this moment. */

import { useMemo } from "preact/hooks";
import { formatCount, formatTime } from "../../ui/format";
import type { TableColumn } from "../../ui/table";
import { clean } from "../../ui/text";
import type { ThreadState } from "../data/types";
import { columnMaker, LiveTable, withValues } from "../live-table";
import type { Panel, PanelProps } from "../panel";
import { formatCores, formatRate } from "../words";

function columnsOf(list: ThreadState[]): TableColumn[] {
  const { word, number } = columnMaker(list);
  const inside = (thread: ThreadState) =>
    thread.open === null ? (thread.is_running ? "–" : "ended") : clean(thread.open, 80);
  const since = (thread: ThreadState) => (thread.open === null ? null : thread.open_ns);
  const lost = (thread: ThreadState) => thread.lost_events || null;
  const columns = [
    word("thread", "Thread", (thread) => clean(thread.name, 80) || String(thread.tid), {
      width: 110,
      isWide: true,
    }),
    word("open", "Inside of", inside, { width: 150 }),
    number("open_ns", "For", "How long it has been in there", since, formatTime),
    number("depth", "Depth", "Spans that are open", (thread) => thread.depth, formatCount, {
      width: 64,
      leaves: 4,
    }),
    number("spans_per_s", "Spans/s", "Ended in the last second", (thread) => thread.spans_per_s, formatRate, {
      leaves: 1,
    }),
    number("cpu", "CPU", "Cores in use", (thread) => thread.cpu, formatCores, { width: 64, leaves: 2 }),
    number("lost", "Lost", "Events that found no room", lost, formatCount),
    word("pid", "Process", (thread) => String(thread.pid), { leaves: 3 }),
  ];

  return withValues(columns, ["cpu", "lost"], list.length);
}

function Threads({ state }: PanelProps) {
  const { threads } = state;
  /* Those that are there; pools may leave thousands behind. When it is over, all. */
  const list = useMemo(() => {
    const running = threads.list.filter((thread) => thread.is_running);
    return running.length ? running : threads.list;
  }, [threads]);
  const columns = useMemo(() => columnsOf(list), [list]);
  const left = threads.count - list.length;

  return (
    <>
      <LiveTable
        name="threads"
        title={state.title}
        label="Threads"
        columns={columns}
        count={list.length}
        order={{ column: "thread", isDescending: false }}
        textOf={(row) => `${list[row]!.name} ${list[row]!.open ?? ""}`}
        mostRows={8}
      />
      {left > 0 && <p class="muted note">and {formatCount(left)} that have ended or are not listed</p>}
    </>
  );
}

export const threadsPanel: Panel = {
  id: "threads",
  title: "Threads now",
  question: "What is each thread inside of?",
  width: "half",
  missing: (state) => (state.threads.count ? null : ""),
  component: Threads,
};
