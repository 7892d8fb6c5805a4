/* What the address says of this view: which trace, which span, which options; and the ways to change that. */

import type { PageData } from "../../data/types";
import { findTrace, spanId, spansOf, traceBase } from "../../model/traces";
import { setOption, textOption } from "../../state/options";

export const ID = "traces.id";
export const SPAN = "traces.span";
export const ZOOM = "traces.zoom";
export const HIDDEN = "traces.hidden"; // services, by number
export const PATH = "traces.path";
export const ORDER = "traces.order";

/* The trace that is looked at: the only one, or the one that was chosen; -1: the list of all. */
export function traceShown(data: PageData): number {
  return data.tables["traces"]?.rows === 1 ? 0 : findTrace(data, textOption(ID));
}

/* Without a trace: the list. */
export function showTrace(data: PageData, trace: number | null, span?: number): void {
  const isOther = trace === null || traceBase(data, trace) !== textOption(ID);
  const spans = trace !== null && span !== undefined ? spansOf(data, trace) : null;

  if (isOther) for (const name of [SPAN, ZOOM]) setOption(name, "");
  setOption(ID, trace === null ? "" : traceBase(data, trace));
  if (spans && span! < spans.size) setOption(SPAN, spanId(data, spans.first + span!));
}

export function hiddenServices(): Set<number> {
  const numbers = textOption(HIDDEN).split(".").filter(Boolean).map(Number);
  return new Set(numbers.filter((number) => Number.isInteger(number) && number >= 0));
}

export function hideServices(hidden: ReadonlySet<number>): void {
  setOption(HIDDEN, [...hidden].sort((a, b) => a - b).join("."));
}
