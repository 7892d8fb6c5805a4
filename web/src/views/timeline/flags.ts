/* What is no span but lies over them in the timeline: marks, errors, and hatched what was lost. Only with a Pen, like draw.ts. */

import { column } from "../../data/types";
import type { Loss } from "../../data/types";
import type { Colours } from "../../state/theme";
import { CHAR_WIDTH } from "../../ui/pen";
import type { Pen } from "../../ui/pen";
import { clean, fit } from "../../ui/text";
import type { Row } from "./rows";
import { AXIS, xOf } from "../../ui/time/frame";
import type { Scene } from "./scene";

/* Marks and errors: a flag at the top of their thread, and a thin line through it; only the flag where they are close together, so that spans
 * stay in sight. */
export function drawFlags(
  pen: Pen,
  scene: Scene,
  colours: Colours,
  table: "marks" | "errors",
  colour: string,
): void {
  const track = column(scene.data, table, "track");
  const time = column(scene.data, table, "time");
  const site = column(scene.data, table, "site");
  const found = new Map<Row, { x: number; site: number }[]>();

  for (let i = 0; i < time.length; i++) {
    const row = scene.rows.ofTrack.get(track[i]!);
    if (!row || time[i]! < scene.range.from || time[i]! > scene.range.to) continue;
    const x = Math.round(xOf(scene, time[i]!));
    const list = found.get(row) ?? [];
    if (list.length === 0) found.set(row, list);
    if (list[list.length - 1]?.x !== x) list.push({ x, site: site[i]! });
  }
  for (const [row, list] of found)
    list.forEach(({ x, site: of }, i) => {
      const room = Math.min((list[i + 1]?.x ?? Infinity) - x, x - (list[i - 1]?.x ?? -Infinity));
      const frame = table === "marks" ? scene.frames.list[scene.frames.siteBase + of] : undefined;
      drawFlag(pen, scene, colours, row, x, room, colour, frame ? clean(frame.name, 40) : "");
    });
}

const FLAG_ROOM = 8;
const LABEL_ROOM = 120;

function drawFlag(
  pen: Pen,
  scene: Scene,
  colours: Colours,
  row: Row,
  x: number,
  room: number,
  colour: string,
  name: string,
): void {
  const y = AXIS + row.y - scene.scroll;

  if (room < FLAG_ROOM) return pen.rect(x, y, 1, 4, colour);
  pen.rect(x, y, 1, row.height - 1, colour);
  pen.area([x, y, x + 7, y + 3.5, x, y + 7], colour);
  if (room < LABEL_ROOM || name === "") return;
  const label = fit(name, 96, CHAR_WIDTH);
  pen.rect(x + 9, y, label.length * 6 + 4, 12, colours.surface);
  pen.text(x + 11, y + 6, label, colours.text, { size: 10.5 });
}

function rowsOfLoss(scene: Scene, loss: Loss): Row[] {
  return scene.rows.list.filter(
    (row) =>
      row.kind === "thread" &&
      (loss.track >= 0 ? row.track === loss.track : loss.process < 0 || row.process === loss.process),
  );
}

export function drawLosses(pen: Pen, scene: Scene, colours: Colours): void {
  for (const loss of scene.data.recording.losses) {
    if (loss.is_wanted || !(loss.end_ns > loss.begin_ns)) continue;
    if (loss.end_ns < scene.range.from || loss.begin_ns > scene.range.to) continue;
    const x = Math.max(scene.gutter, xOf(scene, loss.begin_ns));
    const end = Math.min(scene.width, Math.max(x + 2, xOf(scene, loss.end_ns)));
    for (const row of rowsOfLoss(scene, loss)) {
      const y = AXIS + row.y - scene.scroll;
      if (y + row.height < AXIS || y > scene.height) continue;
      pen.rect(x, y, end - x, row.height - 1, colours.raised);
      pen.hatch(x, y, end - x, row.height - 1, colours.warning);
    }
  }
}
