/* The names of tasks with their colours, those that took most first: each a switch that lets the others fade. */

import type { PageData } from "../../data/types";
import { FAILED_COLOUR } from "../../model/task-colour";
import type { NameRow } from "../../model/task-sums";
import { type TaskName, tasksOf } from "../../model/tasks";
import { chooseFrame } from "../../state/choose";
import { frameKey, selection } from "../../state/selection";
import { formatCount, formatShare, formatTime } from "../../ui/format";
import { Swatch } from "../../ui/parts";
import { clean } from "../../ui/text";

const MOST_NAMES = 10;

/* How a name of tasks is selected: it has no place in a source. */
export function nameKey(name: TaskName): string {
  return frameKey(name.text, "", 0);
}

/* The names that the selection means; a function or span that is called like a task means it. null: all. */
export function chosenNames(): Set<string> | null {
  const { frames } = selection.value;

  return frames.length ? new Set(frames.map((key) => key.split("\u0001")[0]!)) : null;
}

export function Legend(props: { data: PageData; rows: NameRow[]; failed: number; onFailed(): void }) {
  const { names } = tasksOf(props.data);
  const chosen = chosenNames();
  const list = [...props.rows].sort(
    (a, b) =>
      names[a.name]!.action - names[b.name]!.action ||
      a.level - b.level ||
      b.total - a.total ||
      a.name - b.name,
  );
  const tasks = list.filter((row) => names[row.name]!.action === 0);
  const left = tasks.length - MOST_NAMES;
  const shown = [...tasks.slice(0, MOST_NAMES), ...list.slice(tasks.length)];

  return (
    <div class="pills tasks-legend" role="group" aria-label="Names of tasks">
      {shown.map((row) => {
        const name = names[row.name]!;
        const isChosen = chosen?.has(name.text) ?? false;
        return (
          <button
            key={`${row.name} ${row.level}`}
            type="button"
            aria-pressed={isChosen}
            title={`${formatCount(row.count)} × ${clean(name.text)}, ${formatTime(row.total)}. Click to select the name; with Control, to add it.`}
            onClick={(event) => chooseFrame(nameKey(name), isChosen || event.ctrlKey || event.metaKey)}
          >
            <Swatch colour={name.colour} />
            {row.level > 0 && <span class="muted">within:</span>}
            {clean(name.text, 32) || "(no name)"}
            <span class="muted">{name.action ? formatTime(row.total) : formatShare(row.share)}</span>
          </button>
        );
      })}
      {props.failed > 0 && (
        <button type="button" title="Show the next task that failed (e)" onClick={props.onFailed}>
          <Swatch colour={FAILED_COLOUR} />
          failed <span class="muted">{formatCount(props.failed)}</span>
        </button>
      )}
      {left > 0 && (
        <span class="muted tasks-more">
          and {formatCount(left)} more {left === 1 ? "name" : "names"}
        </span>
      )}
    </div>
  );
}
