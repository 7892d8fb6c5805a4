/* What is in a page, as docs/page.md has it: the directory, and tables of columns. */

import type { EnergyFacts } from "../model/energy";
import type { StepFacts } from "../model/steps";

export type ColumnType = "uint" | "text" | "ref" | "f64";

export interface ColumnEntry {
  name: string;
  type: ColumnType;
  delta?: boolean;
}

export interface BlockEntry {
  block: number;
  rows: number;
  widths: number[];
}

export interface TableEntry {
  name: string;
  rows: number;
  columns: ColumnEntry[];
  blocks: BlockEntry[];
}

export interface Host {
  name: string;
  os: string;
  cpu: string;
  cpus: number;
  offset_ns: number;
  error_ns: number;
}

export interface Process {
  id: number;
  pid: number;
  parent: number;
  host: number;
  name: string;
  command: string;
  start_ns: number;
  end_ns: number;
  how: string;
  status: number;
  pair_ns: number;
  inner_ns: number;
}

export interface Track {
  id: number;
  process: number;
  tid: number;
  name: string;
  start_ns: number;
  end_ns: number;
  events: number;
  spans: number;
  lost_events: number;
  deepest: number;
}

export interface Loss {
  reason: string;
  events: number;
  is_lower_bound: boolean;
  is_wanted: boolean;
  process: number;
  track: number;
  begin_ns: number;
  end_ns: number;
}

export interface Recording {
  file: string;
  command: string;
  directory: string;
  writer: string;
  policy: string;
  start_unix_ms: number;
  duration_ns: number;
  is_closed: boolean;
  is_growing?: boolean; // the server that made this page knows that somebody still writes
  events: number;
  spans: number;
  lost_events: number;
  overhead_ns: number;
  overhead_share: number;
  clock: { type: string; ticks_per_ns: number };
  mode: {
    functions: "none" | "counted" | "sampled" | "imported";
    timeline: boolean;
    lines: boolean;
    resources_hz: number;
  };
  hosts: Host[];
  processes: Process[];
  tracks: Track[];
  losses: Loss[];
  damage: { what: string; begin: number; end: number }[];
  resources?: ResourceTotals;
  energy?: EnergyFacts;
  steps?: StepFacts[];
}

export interface ResourceTotals {
  cpu_s: number | null;
  peak_memory: number | null;
  read: number | null;
  written: number | null;
  processes: number;
}

export interface Reference {
  function?: number;
  site?: number;
  track?: number;
  process?: number;
  line?: number;
  trace?: number; // a row of `traces` …
  span?: number; // … and which of its spans
  task_run?: number; // a row of `task_runs`
}

export interface Finding {
  kind: string;
  severity: number;
  level?: "info" | "notice" | "warning";
  confidence?: string; // why it may be off; "": nothing to say
  text: string;
  refs: Reference[];
}

export interface Note {
  kind: string;
  text: string;
}

export interface Directory {
  page: number;
  kind: "report" | "diff" | "traces";
  tool: string;
  title: string;
  recordings: Recording[];
  files?: string[]; // of a page of traces: all that they come from
  strings: { count: number; block: number };
  tables: TableEntry[];
  findings: Finding[];
  notes: Note[];
}

/* Integers come in the smallest array that holds the column, wider than 32 bits as Float64Array. */
export type Column = Uint8Array | Uint16Array | Uint32Array | Float64Array;

export interface Table {
  name: string;
  rows: number;
  columns: Record<string, Column>;
}

/* Everything small, in the page's own thread. Spans stay with the worker: see work.ts. */
export interface PageData {
  directory: Directory;
  recording: Recording; // the only one, or of a diff the new one
  strings: string[];
  tables: Record<string, Table>;
}

/* A column of a table that may be missing, as views read it: a missing table has no rows. */
export function column(data: PageData, table: string, name: string): Column {
  return data.tables[table]?.columns[name] ?? EMPTY;
}

const EMPTY = new Uint8Array(0);
