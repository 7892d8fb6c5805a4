/* What the workers did with their time, and why they were idle. */

import { useMemo, useState } from "preact/hooks";
import type { PageData } from "../../data/types";
import { FAILED_COLOUR, TRANSFER_COLOUR } from "../../model/task-colour";
import { type Spent, SPENT, type WorkerRow, workerRows } from "../../model/task-sums";
import type { StreamRow } from "../../model/task-stream";
import { selection } from "../../state/selection";
import { colours, type Colours } from "../../state/theme";
import { Canvas } from "../../ui/canvas";
import type { Rgb } from "../../ui/colour";
import { formatCount, formatShare, formatTime } from "../../ui/format";
import { Swatch, WholeRun } from "../../ui/parts";
import { CHAR_WIDTH, type Pen } from "../../ui/pen";
import { type Order, type TableColumn, VirtualTable } from "../../ui/table";
import { clean, fitMiddle } from "../../ui/text";

const BAR = 24;
const MOST_BARS = 400;
const LEAVES: Spent[] = ["gone", "moving", "nothing_left", "dependencies"]; // the last first, as the bars show them too

interface Look {
  title: string;
  hint: string;
  colour: Rgb;
  isHatched: boolean; // idle
}

const LOOKS: Record<Spent, Look> = {
  compute: {
    title: "Compute",
    hint: "At least one task ran on it",
    colour: [0x2f, 0x7f, 0xc1],
    isHatched: false,
  },
  moving: {
    title: "Moving",
    hint: "No task ran, but data was transferred, read, written or deserialized",
    colour: TRANSFER_COLOUR,
    isHatched: false,
  },
  dependencies: {
    title: "Waiting",
    hint: "Idle: every task that was yet to begin still waited for others",
    colour: [0xd9, 0xcb, 0x4a],
    isHatched: true,
  },
  scheduler: {
    title: "Scheduler",
    hint: "Idle: a task was ready and nobody had begun it, or nothing ran at all",
    colour: [0xcc, 0x79, 0xa7],
    isHatched: true,
  },
  nothing_left: {
    title: "No work",
    hint: "Idle: every task had begun that ever would",
    colour: [0xb4, 0xbb, 0xc6],
    isHatched: true,
  },
  gone: { title: "Dead", hint: "The worker was lost", colour: FAILED_COLOUR, isHatched: false },
};

function drawBars(pen: Pen, width: number, rows: WorkerRow[], theme: Colours): void {
  const gutter = Math.min(176, Math.round(width * 0.32));
  const room = width - gutter - 16;

  rows.slice(0, MOST_BARS).forEach((row, i) => {
    let x = gutter;
    pen.text(12, i * BAR + BAR / 2, fitMiddle(clean(row.short), gutter - 20, CHAR_WIDTH), theme.text);
    for (const name of SPENT) {
      const wide = (row[name] / (row.whole || 1)) * room;
      const look = LOOKS[name];
      if (!(wide > 0)) continue;
      pen.rect(x, i * BAR + 3, Math.max(0.5, wide), BAR - 6, look.colour);
      if (look.isHatched && wide > 4) pen.hatch(x, i * BAR + 3, wide, BAR - 6, "rgba(0,0,0,0.22)");
      if (look.title === "Dead" && theme.isDark && wide > 3)
        pen.outline(x, i * BAR + 3, wide, BAR - 6, theme.muted);
      x += wide;
    }
  });
}

function columnsOf(rows: WorkerRow[]): TableColumn[] {
  const number = (
    id: string,
    title: string,
    hint: string,
    value: (row: WorkerRow) => number,
    format: (value: number) => string,
    leaves = 0,
  ): TableColumn => ({
    id: format === formatTime ? `${id}_ns` : id,
    title,
    hint,
    isNumber: true,
    width: 84,
    leaves,
    text: (row) => format(value(rows[row]!)),
    value: (row) => value(rows[row]!),
  });
  const spent = SPENT.filter((name) => rows.some((row) => row[name] > 0));

  return [
    {
      id: "worker",
      title: "Worker",
      width: 112,
      isWide: true,
      text: (row) => clean(rows[row]!.short),
      value: (row) => rows[row]!.label,
    },
    number("tasks", "Tasks", "That it ran", (row) => row.tasks, formatCount),
    number(
      "share",
      "Busy",
      "Part of the time that it computed in",
      (row) => row.compute / row.whole,
      formatShare,
    ),
    ...spent.map((name) =>
      number(
        name,
        LOOKS[name].title,
        LOOKS[name].hint,
        (row) => row[name],
        formatTime,
        LEAVES.indexOf(name) + 1,
      ),
    ),
    ...(rows.some((row) => row.failed > 0)
      ? [number("failed", "Failed", "Of its tasks", (row: WorkerRow) => row.failed, formatCount)]
      : []),
  ];
}

export function Workers({ data, list }: { data: PageData; list: readonly StreamRow[] }) {
  const rows = useMemo(() => workerRows(data, list), [data, list]);
  const columns = useMemo(() => columnsOf(rows), [rows]);
  const [order, setOrder] = useState<Order>({ column: "worker", isDescending: false });
  const all = useMemo(() => rows.map((_, row) => row), [rows]);
  const shown = SPENT.filter((name) => rows.some((row) => row[name] > 0));

  return (
    <div class="tasks-workers">
      <div class="tasks-bars">
        <ul class="tasks-key">
          {shown.map((name) => (
            <li key={name} title={LOOKS[name].hint}>
              <Swatch colour={LOOKS[name].colour} /> {LOOKS[name].title}
              <span class="muted"> {formatShare(shareOf(rows, name))}</span>
            </li>
          ))}
          {selection.value.range && <WholeRun hint="These are the figures of whole runs." />}
        </ul>
        <div class="tasks-bars-scroll" tabIndex={0} role="region" aria-label="Bars of the workers">
          <Canvas
            name="task-workers"
            title={data.directory.title}
            label={`What ${formatCount(rows.length)} ${rows.length === 1 ? "worker" : "workers"} did with the time: ${shown.map((name) => `${LOOKS[name].title.toLowerCase()} ${formatShare(shareOf(rows, name))}`).join(", ")}`}
            height={Math.min(rows.length, MOST_BARS) * BAR}
            draw={(pen, size) => drawBars(pen, size.width, rows, colours.value)}
            table={() => ({
              columns: ["worker", ...SPENT.map((name) => `${name} ns`)],
              rows: rows.map((row) => [clean(row.label), ...SPENT.map((name) => row[name])]),
            })}
          />
        </div>
      </div>
      <VirtualTable
        name="task-workers-table"
        title={data.directory.title}
        label="What each worker did"
        columns={columns}
        rows={all}
        order={order}
        onOrder={setOrder}
        empty="No worker is known."
      />
    </div>
  );
}

function shareOf(rows: WorkerRow[], name: Spent): number {
  const sum = (value: (row: WorkerRow) => number) => rows.reduce((all, row) => all + value(row), 0);

  return sum((row) => row[name]) / (sum((row) => row.whole) || NaN);
}
