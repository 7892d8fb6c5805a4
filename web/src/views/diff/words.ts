/* What a comparison says in sentences. */

import type { PageData } from "../../data/types";
import { type DiffRow, type Side, signOf, verdict, wholes } from "../../model/diff";
import { formatChange, formatCount, formatDuration, formatShare, formatTime } from "../../ui/format";
import { clean } from "../../ui/text";

/* How long they lasted is what people wait for; self time adds threads up, and waiting too. */
export function summary(data: PageData, rows: readonly DiffRow[]): string[] {
  const { base, now } = wholes(rows);
  const [before, after] = data.directory.recordings;
  const lines: string[] = [];

  if (before && after && before.duration_ns > 0 && after.duration_ns > 0)
    lines.push(
      `The new run is ${compared(before.duration_ns, after.duration_ns)}: it lasted ${formatDuration(after.duration_ns)} ` +
        `(${clean(after.file, 60)}), the base ${formatDuration(before.duration_ns)} (${clean(before.file, 60)}).`,
    );
  if (rows.length === 0) return lines;
  lines.push(
    `Self time, all threads together: ${formatTime(base)} before, ${formatTime(now)} now, ${compared(base, now)}.`,
  );
  return lines;
}

/* "slower by 120 ms (+12.0 %)". */
function compared(base: number, now: number): string {
  const fast = verdict(base, now);
  const percent = base > 0 && fast !== "as fast" ? ` (${timesText(base, now)})` : "";

  return fast === "as fast"
    ? "as fast as the base"
    : `${fast} by ${formatTime(Math.abs(now - base))}${percent}`;
}

export function sideText(side: Side): string {
  if (side.calls === 0 && side.total === 0) return "not there";
  const calls = `${formatCount(side.calls)} ${side.calls === 1 ? "call" : "calls"}`;
  return `${formatTime(side.total)} total, ${formatTime(side.self)} self, ${calls}`;
}

/* A sentence of the tool with units and signs as the rest of the page has them. */
export function spelled(text: string): string {
  return text.replace(/(\d) ?u([sJg])\b/g, "$1 µ$2").replace(/-(?=[\d.]+ %)/g, "−");
}

/* "+12.0 %", or "×57" where a percentage says nothing any more. */
export function timesText(base: number, now: number): string {
  const ratio = now / base;
  return ratio >= 10 ? `×${formatCount(Math.round(ratio))}` : formatChange(ratio - 1, formatShare);
}

/* For a place in the picture: which way its total went. */
export function changeText(base: number, now: number): string {
  const sign = signOf(base, now);
  if (base === 0) return "new";
  if (now === 0) return "gone";
  if (sign === "=") return "as long as before";
  return `${sign} ${sign === "▲" ? "longer" : "shorter"} by ${formatTime(Math.abs(now - base))} (${timesText(base, now)})`;
}
