/* What the timeline says in words: what is folded, found, under the pointer, and all that is in sight as a table. */

import type { Signal } from "@preact/signals";
import { useMemo } from "preact/hooks";
import type { Batch } from "../../data/lanes";
import type { PageData } from "../../data/types";
import type { WindowReply } from "../../data/work";
import { matcher } from "../../state/search";
import type { TextTable } from "../../ui/canvas";
import { formatCount, formatShare, formatShort, formatTime } from "../../ui/format";
import { Tooltip } from "../../ui/parts";
import { clean, place } from "../../ui/text";
import { trackName } from "../../ui/threads";
import { foundSpans } from "./found";
import type { Row } from "./rows";
import type { Hit, Scene } from "./scene";
import { valueAt } from "../../ui/time/curve";

export function foldedText(reply: WindowReply | undefined): string {
  if (!reply || reply.folded === 0) return "";
  return `${formatShort(reply.folded)} spans too short to draw one by one: zoom in`;
}

/* How many spans the search has found, and how much of the time they are. */
export function MatchSum(props: { data: PageData; matches: Uint8Array; tracks: number[] | null }) {
  const { data, matches, tracks } = props;
  const isActive = matcher.value.isActive;
  const found = useMemo(
    () => (isActive ? foundSpans(data, matches, tracks) : null),
    [isActive, data, matches, tracks],
  );

  if (!found) return null;
  return (
    <span class="timeline-found" title="Of the whole run. Enter: the next one">
      {formatCount(found.spans)} {found.spans === 1 ? "span" : "spans"} found
      {found.share >= 0 && `: ${formatShare(found.share)} of the time in spans`}
    </span>
  );
}

export function HoverText({
  hover,
  scene,
}: {
  hover: Signal<{ hit: Hit; x: number; y: number } | null>;
  scene: Scene;
}) {
  const now = hover.value;
  if (!now) return null;
  const { hit } = now;
  const frame = hit.site >= 0 ? scene.frames.list[scene.frames.siteBase + hit.site] : undefined;
  const isCounter = hit.row.kind === "counter" && now.x > scene.gutter;

  if (hit.count === 0 && !isCounter) return null;
  return (
    <Tooltip x={now.x} y={now.y} width={scene.width} height={scene.height}>
      <strong>{clean(frame?.name ?? "(no name)", 160)}</strong>
      {isCounter ? (
        <div>
          {formatCount(valueAt(scene.seriesOf(hit.row), hit.time))} {hit.row.note} at {formatTime(hit.time)}
        </div>
      ) : (
        <>
          <div>
            {formatTime(hit.end - hit.start)} from {formatTime(hit.start)}
          </div>
          {hit.count > 1 && <div>{formatCount(hit.count)} short spans; this is the longest of them</div>}
        </>
      )}
      {frame && <div class="muted">{place(frame.file, frame.line, 64)}</div>}
    </Tooltip>
  );
}

/* What is in sight, as text. */
export function tableOf(scene: Scene, asyncsOf: (row: Row) => Batch): TextTable {
  const { reply, range, frames: all, data } = scene;
  const rows: (string | number)[][] = [];
  const add = (
    who: string,
    lane: number,
    from: Pick<Batch, "start" | "end" | "site" | "count">,
    i: number,
  ) => {
    const [start, end] = [from.start[i]!, from.end[i]!];
    const name = clean(all.list[all.siteBase + from.site[i]!]?.name ?? "");
    if (end >= range.from && start <= range.to)
      rows.push([who, lane, name, start, end - start, from.count[i]!]);
  };

  for (let i = 0; reply && i < reply.start.length; i++)
    add(trackName(data.recording, reply.track[i]!), reply.depth[i]!, reply, i);
  for (const row of scene.rows.list) {
    if (row.kind !== "async") continue;
    const batch = asyncsOf(row);
    for (let i = 0; i < batch.length; i++) add("async", batch.lane[i]!, batch, i);
  }
  return { columns: ["thread", "depth", "name", "start ns", "duration ns", "spans"], rows };
}
