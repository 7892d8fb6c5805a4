/* What `venturi … --json` says, as far as these tests look at it, and when two numbers are the same. */

import { expect } from "vitest";

export interface ReportEntry {
  name: string;
  file?: string;
  line?: number;
  count: number; // of spans
  calls: number; // of functions
  errors: number;
  total_ns: number;
  self_ns: number;
  min_ns: number | null;
  max_ns: number | null;
  p50_ns: number | null;
  p90_ns?: number | null;
  p99_ns: number | null;
}

export interface ReportAnswer {
  duration_ns: number;
  span_count: number;
  process_count: number;
  thread_count: number;
  spans: ReportEntry[];
  functions: ReportEntry[];
  findings: { kind: string; text: string; confidence: string }[];
  resources: {
    cpu_ns: number;
    cores: number;
    peak_bytes: number;
    read_bytes: number;
    written_bytes: number;
    process_count: number;
  }[];
}

export interface StatsAnswer {
  total_time: number;
  functions: {
    file: string;
    line: number;
    name: string;
    qualified_name: string;
    ncalls: number;
    tottime: number;
    cumtime: number;
    callers: { name: string; file: string; line: number; ncalls: number; cumtime: number }[];
  }[];
}

export interface LinesAnswer {
  functions: {
    name: string;
    file: string;
    line: number;
    calls: number;
    total_time: number;
    text: string[];
    lines: { line: number; hits: number; time: number }[];
  }[];
}

export interface FlameAnswer {
  total_ns: number;
  frames: {
    name: string;
    file: string;
    line: number;
    parent: number | null;
    depth: number;
    calls: number;
    total_ns: number;
    self_ns: number;
  }[];
}

export interface DiffAnswer {
  base: { self_ns: number };
  new: { self_ns: number };
  functions: {
    name: string;
    match: string;
    base: { calls: number; self_ns: number; total_ns: number } | null;
    new: { calls: number; self_ns: number; total_ns: number } | null;
  }[];
}

/* The tool writes some times in whole nanoseconds: more than one of these is a difference. */
export function expectSame(found: number | string | undefined, wanted: number, what: string): void {
  const value = found === "" ? NaN : Number(found);

  expect(Math.abs(value - wanted), `${what}: ${found} is not ${wanted}`).toBeLessThanOrEqual(
    Math.max(1, Math.abs(wanted) * 1e-9),
  );
}
