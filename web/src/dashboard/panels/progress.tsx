/* How far the tasks of each name are. Where nobody knows how many there will be, how many have ended. */

import { failedColour } from "../../model/task-colour";
import { matcher } from "../../state/search";
import { colours } from "../../state/theme";
import { css } from "../../ui/colour";
import { formatCount, formatShare, formatTime } from "../../ui/format";
import { Swatch } from "../../ui/parts";
import { clean } from "../../ui/text";
import type { GroupState, TasksState } from "../data/types";
import type { Panel, PanelProps } from "../panel";
import { colourOf } from "../state";
import { formatRate, known, nothing, plural } from "../words";

const MOST = 40;

/* Those that failed, in the widest sense. */
export function failedOf(group: Pick<GroupState, "failed" | "timed_out" | "lost">): number {
  return group.failed + group.timed_out + group.lost;
}

/* What a bar is made of, as shares of it. */
export function sharesOf(
  group: GroupState,
  most: number,
): { ended: number; failed: number; running: number } {
  const total = group.total ?? Math.max(most, group.ended);
  const failed = failedOf(group);

  if (!(total > 0)) return { ended: 0, failed: 0, running: 0 };
  return {
    ended: Math.max(0, group.ended - failed) / total,
    failed: failed / total,
    running: (group.running ?? 0) / total,
  };
}

function Piece({ share, colour, name }: { share: number; colour: string; name: string }) {
  return (
    <span
      class={`progress-${name}`}
      ref={(element) => {
        element?.style.setProperty("width", `${Math.min(100, share * 100)}%`);
        element?.style.setProperty("background-color", colour);
      }}
    />
  );
}

function textOf(group: GroupState): string {
  const failed = failedOf(group);
  const parts = [
    group.total === null
      ? formatCount(group.ended)
      : `${formatCount(group.ended)} of ${formatCount(group.total)}`,
    group.running ? `${formatCount(group.running)} running` : "",
    failed ? `${formatCount(failed)} failed` : "",
    group.per_s > 0 ? formatRate(group.per_s) : "",
  ];

  return parts.filter(Boolean).join(", ");
}

function Progress({ state }: PanelProps) {
  const { tasks } = state;
  const { isActive, test } = matcher.value;
  const groups = tasks.groups.list.filter((group) => !isActive || test(group.name));
  const most = Math.max(...tasks.groups.list.map((group) => group.ended), 1);

  return (
    <div class="progress">
      <p class="muted">{summaryOf(tasks)}</p>
      <ul class="progress-list" tabIndex={0} aria-label="Progress by name of task">
        {groups.slice(0, MOST).map((group) => {
          const shares = sharesOf(group, most);
          const colour = colourOf(group.name);
          return (
            <li
              key={group.name}
              title={`${clean(group.name)}: ${textOf(group)}; half of them took at most ${formatTime(group.p50_ns)}, 99 of 100 at most ${formatTime(group.p99_ns)}`}
            >
              <span class="progress-name">
                <Swatch colour={colour} /> {clean(group.name, 80) || "(no name)"}
              </span>
              <span class="progress-text">{textOf(group)}</span>
              <span class="progress-bar" aria-hidden="true">
                <Piece name="ended" share={shares.ended} colour={css(colour)} />
                <Piece name="failed" share={shares.failed} colour={css(failedColour(colours.value.isDark))} />
                <Piece name="running" share={shares.running} colour={css(colour)} />
              </span>
            </li>
          );
        })}
      </ul>
      {groups.length === 0 && <p class="muted">{nothing(isActive)}</p>}
      {groups.length + tasks.groups.more > MOST && (
        <p class="muted note">and {plural(groups.length + tasks.groups.more - MOST, "name")} more</p>
      )}
    </div>
  );
}

function summaryOf(tasks: TasksState): string {
  const going = tasks.runs.filter((run) => run.is_running).length;
  const parts = [
    tasks.planned && tasks.planned >= tasks.ended
      ? `${formatCount(tasks.ended)} of ${formatCount(tasks.planned)} tasks (${formatShare(Math.min(1, tasks.ended / tasks.planned))})`
      : plural(tasks.ended, "task"),
    tasks.failed ? `${formatCount(tasks.failed)} failed` : "",
    tasks.running === null ? "" : `${known(tasks.running, formatCount)} running`,
    tasks.waiting === null && tasks.ready === null
      ? ""
      : `${formatCount((tasks.waiting ?? 0) + (tasks.ready ?? 0))} waiting`,
    going ? `${plural(going, "graph")} going on` : "",
  ];

  return parts.filter(Boolean).join(", ");
}

export const progressPanel: Panel = {
  id: "progress",
  title: "Progress",
  question: "How far are the tasks of each name?",
  width: "rest",
  missing: (state) => (state.tasks.ended || state.tasks.groups.count ? null : ""),
  component: Progress,
};
