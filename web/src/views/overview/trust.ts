/* Whether the numbers can be trusted, fact by fact: losses, overhead, clock, what was recorded and how, and whether it is whole. Pure. */

import type { Loss, PageData, Recording } from "../../data/types";
import { formatCount, formatShare, formatShort, formatTime } from "../../ui/format";
import { isOnlyTasks } from "./tasks";

export interface Fact {
  label: string;
  value: string;
  detail: string;
  level: "good" | "notice" | "bad";
}

const HIGH_OVERHEAD = 0.1;
const HIGH_LOSS = 0.01;

/* A profile of another tool says what functions took and nothing about itself. */
function isImported(recording: Recording): boolean {
  return recording.mode.functions === "imported" && recording.clock.type === "";
}

/* What was left out because somebody asked for it is not lost. */
function lostEvents(losses: Loss[]): number {
  return losses.reduce((sum, loss) => sum + (loss.is_wanted ? 0 : loss.events), 0);
}

function lossFact(recording: Recording): Fact {
  const lost = Math.max(recording.lost_events, lostEvents(recording.losses));
  const share = lost / Math.max(1, lost + recording.events);
  const reasons = [...new Set(recording.losses.filter((loss) => !loss.is_wanted).map((loss) => loss.reason))];
  const isLeast = recording.losses.some((loss) => !loss.is_wanted && loss.is_lower_bound);

  if (isImported(recording))
    return {
      label: "Losses",
      value: "not known",
      detail: "A profile does not say what it missed.",
      level: "notice",
    };
  if (lost === 0)
    return { label: "Losses", value: "none", detail: "Every event is in the recording.", level: "good" };
  return {
    label: "Losses",
    value: `${isLeast ? "at least " : ""}${formatCount(lost)} events`,
    detail: `${formatShare(share)} of all${reasons.length ? `: ${reasons.join(", ")}` : ""}. Gaps are hatched in the timeline.`,
    level: share > HIGH_LOSS ? "bad" : "notice",
  };
}

function overheadFact(data: PageData): Fact {
  const { overhead_ns: ns, overhead_share: share } = data.recording;

  if (!(ns > 0) && isOnlyTasks(data))
    return {
      label: "Overhead",
      value: "nothing to subtract",
      detail: "Only tasks were recorded, and their times are as they were measured.",
      level: "good",
    };
  if (!(ns > 0))
    return {
      label: "Overhead",
      value: "not known",
      detail: "The cost of recording was not measured.",
      level: "notice",
    };
  return {
    label: "Overhead",
    value: formatShare(share),
    detail: `Recording took ${formatTime(ns)}; times are shown without it.`,
    level: share > HIGH_OVERHEAD ? "notice" : "good",
  };
}

function clockFact(recording: Recording): Fact {
  const error = recording.hosts.reduce((most, host) => Math.max(most, host.error_ns), 0);
  const isSeveral = recording.hosts.length > 1;

  return {
    label: "Clock",
    value: recording.clock.type || "not known",
    detail: isImported(recording)
      ? "A profile does not say how it measured."
      : isSeveral
        ? `${recording.hosts.length} machines, their clocks brought together to within ${formatTime(error)}.`
        : "One machine, one clock.",
    level: isImported(recording) || (isSeveral && error > 1e6) ? "notice" : "good",
  };
}

function modeFact({ recording, directory }: PageData): Fact {
  const { functions, timeline, lines, resources_hz: hz } = recording.mode;
  const has = (name: string) => directory.tables.some((table) => table.name === name && table.rows > 0);
  const parts = [
    functions === "none" ? "" : `functions ${functions}`,
    timeline ? "every call with its times" : "",
    lines ? "lines" : "",
    !timeline && (recording.spans > 0 || has("spans") || has("async")) ? "spans" : "",
    has("task_runs") ? "tasks" : "",
    has("counters") ? "counters" : "",
    has("marks") ? "marks" : "",
    has("resources") ? `resources${hz > 0 ? ` at ${formatShort(hz < 1 ? hz : Math.round(hz))} Hz` : ""}` : "",
  ].filter(Boolean);

  return {
    label: "Recorded",
    value: parts[0] ?? "nothing",
    detail:
      functions === "sampled"
        ? "Times and counts of functions are estimates."
        : parts.length === 0
          ? "No function, span or reading."
          : parts.length > 1
            ? `Also ${parts.slice(1).join(", ")}.`
            : "Nothing else.",
    level: functions === "sampled" ? "notice" : "good",
  };
}

function wholeFact(recording: Recording): Fact {
  if (recording.damage.length > 0)
    return {
      label: "File",
      value: "damaged",
      detail: `${formatCount(recording.damage.length)} damaged places were left out: ${recording.damage[0]!.what}.`,
      level: "bad",
    };
  if (recording.is_growing)
    return {
      label: "File",
      value: "still recording",
      detail: "What is here is what was written when this page was made. Load it anew for more.",
      level: "notice",
    };
  if (!recording.is_closed)
    return {
      label: "File",
      value: "cut off",
      detail: "The recording was never closed: what is here is what was written until then.",
      level: "bad",
    };
  if (isImported(recording))
    return {
      label: "File",
      value: "a profile",
      detail: "Read to its end; it has no checksums.",
      level: "good",
    };
  return { label: "File", value: "whole", detail: "Closed, and every checksum fits.", level: "good" };
}

export function trustFacts(data: PageData): Fact[] {
  const { recording } = data;

  return [
    lossFact(recording),
    overheadFact(data),
    modeFact(data),
    clockFact(recording),
    wholeFact(recording),
  ];
}

/* What to say when there is nothing to show at all, or null. */
export function nothingHere(data: PageData): string | null {
  if (data.directory.tables.some((table) => table.rows > 0 && table.name !== "sites")) return null;
  if (data.recording.steps?.length) return null;
  return (
    "This recording is empty: it has no functions, no spans, no lines, no tasks and no readings. " +
    "If a profiler of tasks made this page, nothing was computed while it was there. " +
    "Else record a program with venturi run PROGRAM (functions of Python programs), venturi run -l (lines), or trace points in its code (spans)."
  );
}
