/* States as the server tells them, for tests: a program of which nothing is known, and what a test adds. */

import type { GroupState, State, TaskRow, TasksEvent, Times } from "../src/dashboard/data/types";

export const START_MS = 1_794_870_000_000;

const none = () => ({ count: 0, more: 0, list: [] });

export function makeState(more: Partial<State> = {}): State {
  return {
    venturi: "1.0",
    seq: 1,
    now_ms: START_MS + 10_000,
    kind: "file",
    title: "pipeline.py",
    target: "run.vt",
    path: "/data/run.vt",
    command: "python3 pipeline.py",
    is_growing: true,
    caught_up: 1,
    start_ms: START_MS,
    since_ms: START_MS,
    is_partial: false,
    replaced: 0,
    notice: "",
    last_ms: START_MS + 10_000,
    duration_ns: 10e9,
    events: 0,
    span_count: 0,
    errors: 0,
    lost_events: 0,
    damage: 0,
    file_bytes: 0,
    events_per_s: 0,
    spans_per_s: 0,
    bytes_per_s: 0,
    cpu_count: 8,
    recordings: [],
    processes: none(),
    threads: none(),
    spans: none(),
    tasks: {
      last: 0,
      ended: 0,
      failed: 0,
      planned: null,
      waiting: null,
      ready: null,
      running: null,
      groups: none(),
      runs: [],
      workers: none(),
    },
    steps: none(),
    resources: null,
    energy: null,
    items: null,
    losses: [],
    cost: {
      program_ns: null,
      program_share: null,
      drainer_cpu: null,
      server_cpu: 0,
      server_cpu_ns: 0,
      server_memory_bytes: 0,
      refresh_ns: 0,
      clients: 1,
      dropped: 0,
    },
    ship: null,
    cluster: null,
    ...more,
  };
}

export function makeTimes(count: number, ns: number): Times {
  return {
    count,
    sum_ns: count * ns,
    min_ns: ns,
    max_ns: ns,
    p50_ns: ns,
    p90_ns: ns,
    p99_ns: ns,
    recent_p50_ns: 0,
    recent_p99_ns: 0,
  };
}

export function makeGroup(name: string, more: Partial<GroupState> = {}): GroupState {
  return {
    name,
    ended: 0,
    done: 0,
    failed: 0,
    skipped: 0,
    cancelled: 0,
    timed_out: 0,
    lost: 0,
    retried: 0,
    waiting: null,
    ready: null,
    running: null,
    total: null,
    per_s: 0,
    ...makeTimes(0, 0),
    ...more,
  };
}

/* Tasks as [number, worker, begin, end] in ms after the start, and more where it matters. */
export function tasksEvent(
  list: [number: number, worker: number | null, from: number, to: number, state?: number, action?: number][],
  more: Partial<TasksEvent> = {},
): TasksEvent {
  const tasks = list.map(([number, worker, from, to, state = 1, action = 0]): TaskRow => [
    number,
    0,
    worker,
    state,
    action,
    START_MS + from,
    START_MS + to,
    null,
  ]);

  return {
    first: list[0]?.[0] ?? 0,
    skipped: 0,
    names: { "0": "sum" },
    workers: { "0": "w10", "1": "w9" },
    tasks,
    ...more,
  };
}
