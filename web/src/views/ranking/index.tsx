/* Which is worst: functions, lines, spans, threads or processes in one table of numbers. */

import { useMemo } from "preact/hooks";
import type { PageData } from "../../data/types";
import type { StatsReply, Worker } from "../../data/work";
import {
  type Group,
  groupsOf,
  hasShare,
  hasShares,
  type NumberName,
  rankFunctions,
  rankLines,
  type RankRow,
  rankSpans,
  rankThreads,
  shared,
  wholeOf,
} from "../../model/ranking";
import { OVERLAP } from "../../model/overlap";
import { chooseFrame, chooseTracks } from "../../state/choose";
import { option, setOption, textOption } from "../../state/options";
import { matcher } from "../../state/search";
import { type Selection, selection } from "../../state/selection";
import { formatCount, formatShare, formatTime } from "../../ui/format";
import { About, Choice, Empty, Gap, Toolbar, WholeRun } from "../../ui/parts";
import { type Order, type TableColumn, VirtualTable } from "../../ui/table";
import { clean } from "../../ui/text";
import { useReply } from "../../ui/use";
import type { View, ViewProps } from "../view";

function missing(data: PageData): string | null {
  if (groupsOf(data).length > 0) return null;
  return "Nothing was timed in this recording: record functions with `venturi run`, or mark spans in the program.";
}

const COUNTED: Record<Group, string> = {
  function: "Calls",
  line: "Hits",
  span: "Count",
  thread: "Calls",
  process: "Calls",
};

const SHARE_HINTS: Partial<Record<Group, string>> = {
  line: "Of the time of its function",
  span: "Of all time in this table; async spans overlap and have none",
};

function timeColumn(rows: readonly RankRow[], id: NumberName, title: string, hint: string): TableColumn {
  const text = (row: number) => formatTime(rows[row]![id]);
  return { id: `${id}_ns`, title, hint, isNumber: true, width: 84, text, value: (row) => rows[row]![id] };
}

function columnsOf(rows: readonly RankRow[], group: Group): TableColumn[] {
  const whole = wholeOf(rows);
  const most = rows.reduce((largest, row) => Math.max(largest, hasShare(row) ? shared(row) || 0 : 0), 0);
  const share = (row: number) => shared(rows[row]!) / (rows[row]!.whole ?? whole);
  const name = { line: "Line", span: "Span", thread: "Thread", process: "Process", function: "Function" }[
    group
  ];
  const columns: TableColumn[] = [
    {
      id: "name",
      title: name,
      width: 200,
      isWide: true,
      text: (row) => clean(rows[row]!.name),
      value: (row) => rows[row]!.name,
      cell: (row) => (
        <>
          {clean(rows[row]!.name)} <span class="muted">{clean(rows[row]!.place, 120)}</span>
        </>
      ),
    },
    {
      id: "count",
      title: COUNTED[group],
      isNumber: true,
      width: 92,
      text: (row) => formatCount(rows[row]!.count),
      value: (row) => rows[row]!.count,
    },
    timeColumn(rows, "self", "Self", "Time within it, without what it called"),
    {
      id: "share",
      title: "Share",
      hint: SHARE_HINTS[group] ?? "Of all time in this table",
      isNumber: true,
      width: 92,
      text: (row) => formatShare(share(row)),
      value: share,
      share: (row) => (group === "line" ? share(row) : hasShare(rows[row]!) ? shared(rows[row]!) / most : 0),
    },
    timeColumn(rows, "total", "Total", "Time within it, with what it called; calls of itself count once"),
    timeColumn(rows, "min", "Min", "The shortest"),
    timeColumn(rows, "avg", "Avg", "Total by count"),
    timeColumn(rows, "p50", "p50", "Half of them were not longer"),
    timeColumn(rows, "p90", "p90", "Nine of ten were not longer"),
    timeColumn(rows, "p99", "p99", "99 of 100 were not longer"),
    timeColumn(rows, "max", "Max", "The longest"),
  ];
  const isKnown = (id: NumberName) => rows.some((row) => !Number.isNaN(row[id]));
  return columns.filter(({ id }) =>
    id === "share" ? hasShares(rows) : !id.endsWith("_ns") || isKnown(id.slice(0, -3) as NumberName),
  );
}

/* Asks the worker only where the tables do not say it. */
function useRows(data: PageData, worker: Worker, group: Group) {
  const { range, tracks } = selection.value;
  const isOfSites = group === "span" && (range !== null || tracks !== null);
  const hasCalls = (data.tables.calls?.rows ?? 0) > 0; // these are of the whole run, and spans beside them too
  const isOfTracks = (group === "thread" || group === "process") && (data.tables.span_stats?.rows ?? 0) > 0;
  const ask = { range: isOfTracks && hasCalls ? null : range, tracks, sites: null };
  const bySite = useReply(worker, "stats", isOfSites ? { ...ask, by: "site" } : null);
  const byTrack = useReply(worker, "stats", isOfTracks ? { ...ask, by: "track" } : null);
  const answer = isOfSites ? bySite : isOfTracks ? byTrack : null;
  const reply = answer?.reply;
  const rows = useMemo(() => rowsOf(data, group, reply, tracks), [data, group, reply, tracks]);
  const isAbout = reply?.isAbout ?? false;
  const error = isOfTracks && hasCalls ? null : (answer?.error ?? null);
  return { rows, isAbout, isPending: answer?.isPending ?? false, error };
}

function rowsOf(
  data: PageData,
  group: Group,
  reply: StatsReply | undefined,
  tracks: number[] | null,
): RankRow[] {
  if (group === "function") return rankFunctions(data, tracks);
  if (group === "line") return rankLines(data);
  if (group === "span") return rankSpans(data, reply);
  return rankThreads(data, group, reply, tracks);
}

function isWholeRun(data: PageData, group: Group, now: Selection): boolean {
  if (group === "line") return now.range !== null || now.tracks !== null;
  return (
    group !== "span" && now.range !== null && (group === "function" || (data.tables.calls?.rows ?? 0) > 0)
  );
}

/* Without own time, as lines, by total. */
function orderOf(columns: readonly TableColumn[], text: string): Order {
  const [id, way] = text.split(" ");
  const isKnown = columns.some((column) => column.id === id);
  if (id && isKnown) return { column: id, isDescending: way !== "up" };
  return {
    column: columns.some((column) => column.id === "self_ns") ? "self_ns" : "total_ns",
    isDescending: true,
  };
}

function isChosen(row: RankRow, now: Selection): boolean {
  if ("frame" in row.chooses) return now.frames.includes(row.chooses.frame);
  return now.tracks !== null && row.chooses.tracks.every((track) => now.tracks!.includes(track));
}

function chooseRow(row: RankRow, isAdded: boolean): void {
  if ("frame" in row.chooses) return chooseFrame(row.chooses.frame, isAdded);
  const now = selection.peek();
  if (isChosen(row, now)) return chooseTracks(null);
  chooseTracks([...new Set([...(isAdded ? (now.tracks ?? []) : []), ...row.chooses.tracks])]);
}

function RankingView({ data, worker }: ViewProps) {
  const groups = groupsOf(data);
  const group = option("ranking.by", groups);
  const { rows, isAbout, isPending, error } = useRows(data, worker, group);
  const columns = useMemo(() => columnsOf(rows, group), [rows, group]);
  const order = orderOf(columns, textOption("ranking.sort"));
  const { isActive, test } = matcher.value;
  const shown = useMemo(() => {
    const all = Uint32Array.from(rows, (_, row) => row);
    return isActive ? all.filter((row) => rows[row]!.searched.some(test)) : all;
  }, [rows, matcher.value]);
  const found = Array.from(shown, (row) => rows[row]!);

  if (error) return <Empty>{error}</Empty>;
  return (
    <>
      <Toolbar>
        {groups.length > 1 && (
          <Choice
            label="Group by"
            options={groups.map((value) => ({ value, title: value }))}
            value={group}
            onChange={(value) => {
              setOption("ranking.by", value, groups[0]);
              setOption("ranking.sort", "");
            }}
          />
        )}
        <Gap />
        {isActive && (
          <span role="status" class="muted">
            {formatCount(found.length)} of {formatCount(rows.length)} match
            {hasShares(rows) && `: ${formatShare(wholeOf(found) / wholeOf(rows))} of the time`}
          </span>
        )}
        {isPending && <span class="muted">counting…</span>}
        {!hasShares(rows) && <span class="muted">{OVERLAP}</span>}
        {isWholeRun(data, group, selection.value) && <WholeRun />}
        {isAbout && <About />}
      </Toolbar>
      <VirtualTable
        name={`ranking-${group}`}
        title={data.directory.title}
        label={`Ranking by ${group}`}
        columns={columns}
        rows={shown}
        order={order}
        onOrder={({ column, isDescending }) =>
          setOption("ranking.sort", `${column} ${isDescending ? "down" : "up"}`)
        }
        isSelected={(row) => isChosen(rows[row]!, selection.value)}
        onChoose={(row, isAdded) => chooseRow(rows[row]!, isAdded)}
        isMain
        empty={isActive ? "Nothing matches the search." : "Nothing is left by the selection."}
      />
    </>
  );
}

export const ranking: View = {
  id: "ranking",
  title: "Ranking",
  question: "Which function, line, span or thread takes the most?",
  missing,
  component: RankingView,
};
