/* What the stream says in words: what is under the pointer, and all that is in sight as a table. */

import type { Signal } from "@preact/signals";
import { CRITICAL, stateOf, taskFacts, taskKey, taskName, type Tasks, workerLabel } from "../../model/tasks";
import type { TextTable } from "../../ui/canvas";
import { formatBytes, formatCount, formatTime } from "../../ui/format";
import { Tooltip } from "../../ui/parts";
import { clean } from "../../ui/text";
import type { Hit, Scene } from "./scene";

export interface Hover {
  hit: Hit;
  x: number;
  y: number;
}

export function workerOf(tasks: Tasks, task: number, isShort = false): string {
  const worker = tasks.workers[tasks.worker[task]!];

  return worker ? clean(workerLabel(worker, isShort), 80) : "unknown worker";
}

export function HoverText({ hover, scene }: { hover: Signal<Hover | null>; scene: Scene }) {
  const now = hover.value;
  if (!now) return null;
  const { task, count, start, end } = now.hit;
  const { data, tasks } = scene;
  const facts = taskFacts(data, task);
  const key = taskKey(data, task);
  const name = taskName(tasks, task);
  const state = stateOf(tasks, task);
  const more = [
    facts.cpu >= 0 && `CPU ${facts.isCpuEstimated ? "about " : ""}${formatTime(facts.cpu)}`,
    facts.bytes >= 0 && formatBytes(facts.bytes),
    facts.retries > 0 && `${facts.retries} ${facts.retries === 1 ? "retry" : "retries"}`,
    tasks.flags[task]! & CRITICAL && "on the critical path",
  ].filter(Boolean);

  return (
    <Tooltip x={now.x} y={now.y} width={scene.width} height={Infinity}>
      <strong>{clean(key, 160)}</strong>
      {name !== key && <div>{clean(name, 120)}</div>}
      <div>
        {formatTime(facts.length)} on {workerOf(tasks, task)}, {state}
      </div>
      <div class="muted">
        ready {facts.wait > 0 ? `${formatTime(facts.wait)} before it began` : "as it began"}
      </div>
      {more.length > 0 && <div class="muted">{more.join(", ")}</div>}
      {count > 1 && (
        <div>
          the longest of {formatCount(count)} short tasks within {formatTime(end - start)}: zoom in
        </div>
      )}
    </Tooltip>
  );
}

/* Every task in sight, also those that are drawn folded. */
export function tableOf(scene: Scene): TextTable {
  const { data, tasks, stream, range } = scene;
  const rows: (string | number)[][] = [];

  for (const task of stream.order) {
    if (!(tasks.end[task]! >= range.from && tasks.start[task]! <= range.to)) continue;
    const facts = taskFacts(data, task);
    rows.push([
      clean(taskKey(data, task)),
      clean(taskName(tasks, task)),
      workerOf(tasks, task),
      tasks.start[task]!,
      facts.length,
      facts.wait,
      stateOf(tasks, task),
      facts.retries,
      Number.isNaN(facts.bytes) ? "" : facts.bytes,
      tasks.flags[task]! & CRITICAL ? "yes" : "",
    ]);
  }
  return {
    columns: [
      "key",
      "name",
      "worker",
      "start ns",
      "duration ns",
      "wait ns",
      "state",
      "retries",
      "bytes",
      "critical path",
    ],
    rows,
  };
}
