/* Functions that are counted by call: asked for while somebody looks at them, because the server has to sum them up. */

import { signal } from "@preact/signals";
import { useEffect, useMemo } from "preact/hooks";
import { formatShare, formatTime } from "../../ui/format";
import type { TableColumn } from "../../ui/table";
import { clean, place } from "../../ui/text";
import { columnMaker, LiveTable } from "../live-table";
import { useAnswer, useInSight } from "../ask";
import type { Panel, PanelProps } from "../panel";
import { formatMany, formatRate } from "../words";

interface FunctionState {
  name: string;
  file: string;
  line: number;
  language: string;
  calls: number;
  self_ns: number;
  total_ns: number;
  calls_per_s: number | null;
  self_share: number | null;
}

interface Reply {
  list?: FunctionState[];
}

const EVERY_MS = 2000;
const RARELY_MS = 5000;

function columnsOf(list: FunctionState[]): TableColumn[] {
  const { word, number } = columnMaker(list);
  const most = Math.max(...list.map((entry) => entry.self_ns), 1);
  const share = (entry: FunctionState) => entry.self_ns / most;
  const now = (entry: FunctionState) => entry.self_share ?? 0;

  return [
    word("name", "Function", (entry) => clean(entry.name, 200), { width: 110, isWide: true }),
    number(
      "self_share",
      "Now",
      "Own time of the last second, of all threads together",
      (entry) => entry.self_share,
      formatShare,
      { share: now },
    ),
    number("calls_per_s", "Calls/s", "In the last second", (entry) => entry.calls_per_s, formatRate),
    number("calls", "Calls", "Since the beginning", (entry) => entry.calls, formatMany, { leaves: 1 }),
    number(
      "self_ns",
      "Own time",
      "Without the functions that it calls",
      (entry) => entry.self_ns,
      formatTime,
      { share },
    ),
    number("total_ns", "Total", "With the functions that it calls", (entry) => entry.total_ns, formatTime, {
      leaves: 2,
    }),
    word("place", "Place", (entry) => place(entry.file, entry.line, 36), { width: 200, leaves: 3 }),
  ];
}

/* Whether there are any: only the answer tells. */
const hasFunctions = signal(false);
const isAnswered = signal(false);

export const LOADING = "Loading: the server has not said yet whether functions are counted.";

/* Asks until there are some: rarely, because somebody has to sum them up. */
export function useFunctions(isWanted: boolean): void {
  const { answer } = useAnswer<Reply>(isWanted && !hasFunctions.value ? "api/functions" : null, RARELY_MS);

  useEffect(() => {
    if (answer) isAnswered.value = true;
    if (answer?.list?.length) hasFunctions.value = true;
  }, [answer]);
}

function Functions({ state }: PanelProps) {
  const [outer, isSeen] = useInSight<HTMLDivElement>();
  const { answer, error } = useAnswer<Reply>(
    isSeen ? "api/functions" : null,
    state.is_growing ? EVERY_MS : 0,
  );
  const list = useMemo(() => answer?.list ?? [], [answer]);
  const columns = useMemo(() => columnsOf(list), [list]);

  return (
    <div ref={outer}>
      {error && <p class="muted">The table is not the newest: {error}</p>}
      <LiveTable
        name="functions"
        title={state.title}
        label="Functions"
        columns={columns}
        count={list.length}
        order={{ column: "self_ns", isDescending: true }}
        textOf={(row) => list[row]!.name}
      />
    </div>
  );
}

export const functionsPanel: Panel = {
  id: "functions",
  title: "Functions",
  question: "Which functions take the time?",
  width: "whole",
  missing: (state) =>
    hasFunctions.value
      ? null
      : state.kind === "dask" || state.kind === "process"
        ? ""
        : !isAnswered.value
          ? LOADING
          : "No functions are counted: those of Python programs under `venturi run` are, and of C programs built with `venturi cc`.",
  component: Functions,
};
