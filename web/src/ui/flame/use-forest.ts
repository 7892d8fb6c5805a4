/* The forest that the selection leaves: of functions by thread, of spans by thread and time, of traces all. */

import { useMemo } from "preact/hooks";
import type { PageData } from "../../data/types";
import type { Worker } from "../../data/work";
import type { Forest } from "../../model/forest";
import { arrange, callRows, type Kind, pathRows, traceRows } from "../../model/source";
import { selection } from "../../state/selection";
import { useReply } from "../use";

export interface ForestState {
  forest: Forest;
  isPending: boolean;
  isWholeRun: boolean; // a range is selected, or threads, and this data does not know them
  isAbout: boolean; // some spans are folded: numbers are close
  error: string | null;
}

export interface ForestWish {
  kind: Kind;
  isMerged: boolean;
  isFolded: boolean;
}

export function useForest(data: PageData, worker: Worker, wish: ForestWish): ForestState {
  const { kind, isMerged, isFolded } = wish;
  const { range, tracks } = selection.value;
  const isAsked = kind === "spans" && range !== null;
  const answer = useReply(worker, "paths", isAsked ? { range, tracks, sites: null, byTrack: true } : null);
  const reply = isAsked ? answer.reply : undefined;
  const forest = useMemo(() => {
    if (kind === "traces") return arrange(data, traceRows(data), { tracks: null, isMerged: true, isFolded });
    const rows = kind === "functions" ? callRows(data) : pathRows(data, reply);
    return arrange(data, rows, { tracks, isMerged, isFolded });
  }, [data, kind, reply, tracks, isMerged, isFolded]);
  return {
    forest,
    isPending: isAsked && answer.isPending,
    isWholeRun: (kind !== "spans" && range !== null) || (kind === "traces" && tracks !== null),
    isAbout: reply?.isAbout ?? false,
    error: isAsked ? answer.error : null,
  };
}
