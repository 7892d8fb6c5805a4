/* What the server says: /api/state and its like, as docs/serve.md has them. null is "not known", which is not 0. */

export type Known = number | null;

export interface Times {
  count: number;
  sum_ns: number;
  min_ns: number;
  max_ns: number;
  p50_ns: number;
  p90_ns: number;
  p99_ns: number;
  recent_p50_ns: number;
  recent_p99_ns: number;
}

export interface Usage {
  cpu: Known;
  cpu_ns: Known;
  memory_bytes: Known;
  peak_bytes: Known;
  threads: Known;
  read_per_s: Known;
  written_per_s: Known;
}

/* A list that may be cut. */
export interface Bounded<T> {
  count: number;
  more: number;
  list: T[];
}

export interface ProcessState extends Usage {
  pid: number;
  name: string;
  command: string;
  host: string;
  is_running: boolean;
  how: string;
  status: number;
  start_ms: Known;
  end_ms: Known;
  spans: number;
  events: number;
  lost_events: number;
}

export interface ThreadState {
  recording: number;
  track: number;
  pid: number;
  tid: number;
  name: string;
  is_running: boolean;
  spans: number;
  spans_per_s: number;
  lost_events: number;
  depth: number;
  open: string | null; // the innermost span that is open
  open_ns: number;
  cpu: Known;
}

export interface SpanState extends Times {
  name: string;
  function: string;
  file: string;
  line: number;
  running: number;
  errors: number;
  self_ns: number;
  per_s: number;
  errors_per_s: number;
  busy: number;
}

export interface GroupState extends Times {
  name: string;
  ended: number;
  done: number;
  failed: number;
  skipped: number;
  cancelled: number;
  timed_out: number;
  lost: number;
  retried: number;
  waiting: Known;
  ready: Known;
  running: Known;
  total: Known;
  per_s: number;
}

export interface RunState {
  scheduler: string;
  error: string;
  planned: Known;
  ended: number;
  failed: number;
  lost: number;
  workers: number;
  is_running: boolean;
  begin_ms: Known;
  end_ms: Known;
}

export interface WorkerState {
  label: string;
  host: string;
  pid: Known;
  tid: Known;
  slots: Known;
  is_running: boolean;
  ended: number;
  failed: number;
  running: Known;
  ready: Known;
  busy: Known;
  cpu: Known;
  memory_bytes: Known;
  memory_limit_bytes: Known;
  spilled_bytes: Known;
  seen_ms: Known;
}

export interface TasksState {
  last: number;
  ended: number;
  failed: number;
  planned: Known;
  waiting: Known;
  ready: Known;
  running: Known;
  groups: Bounded<GroupState>;
  runs: RunState[];
  workers: Bounded<WorkerState>;
}

export interface Phase {
  count: number;
  sum_ns: number;
  max_ns: number;
}

export interface StepState extends Times {
  source: string;
  prefix: string;
  survey: string;
  messages: number;
  failed: number;
  metrics: number;
  processes: number;
  per_s: number;
  messages_per_s: number;
  failed_per_s: number;
  last_ms: Known;
  lag_ns: Known;
  largest_batch: number;
  pre: Phase | null;
  post: Phase | null;
  produce: Phase | null;
  lag: Phase | null;
}

export interface EnergyPart {
  name: string;
  how: string;
  joules: number;
  watts: Known;
}

export interface EnergyState {
  joules: number;
  watts: Known;
  own_joules: Known;
  own_watts: Known;
  grams: Known;
  intensity: Known;
  parts: EnergyPart[];
}

export interface ItemsState {
  raw: number;
  effective: Known; // null: nobody said
  raw_per_s: Known;
  effective_per_s: Known;
  wall_s: Known;
  j_per_1000: Known;
}

export interface Loss {
  reason: string;
  events: number;
  is_lower_bound: boolean;
  is_wanted: boolean;
}

export interface CostState {
  program_ns: Known;
  program_share: Known;
  drainer_cpu: Known;
  server_cpu: Known;
  server_cpu_ns: Known;
  server_memory_bytes: Known;
  refresh_ns: Known;
  clients: Known;
  dropped: Known;
}

export interface ShipState {
  store: string;
  is_running: boolean;
  waiting: number;
  shipped: number;
  retried: number;
  dead: number;
  lost: number;
  spool_bytes: Known;
  spool_limit_bytes: Known;
  error: string;
}

export interface ClusterState {
  address: string;
  version: string;
  is_connected: boolean;
  error: string;
}

export interface State {
  venturi: string;
  seq: number;
  now_ms: number;
  kind: "file" | "folder" | "spool" | "process" | "dask";
  title: string;
  target: string;
  path: string;
  command: string;
  is_growing: boolean;
  caught_up: number;
  start_ms: Known;
  since_ms: Known; // when what is counted begins
  is_partial: boolean; // something came before that
  replaced: number; // how often another recording has taken the place of the one before
  notice: string;
  last_ms: Known;
  duration_ns: number;
  events: number;
  span_count: number;
  errors: number;
  lost_events: number;
  damage: number;
  file_bytes: number;
  events_per_s: Known;
  spans_per_s: Known;
  bytes_per_s: Known;
  cpu_count: Known;
  recordings: { name: string; is_closed: boolean; file_bytes: number }[];
  processes: Bounded<ProcessState>;
  threads: Bounded<ThreadState>;
  spans: Bounded<SpanState>;
  tasks: TasksState;
  steps: Bounded<StepState>;
  resources: (Usage & { processes: Known; machine_busy: Known; available_bytes: Known }) | null;
  energy: EnergyState | null;
  items: ItemsState | null;
  losses: Loss[];
  cost: CostState;
  ship: ShipState | null;
  cluster: ClusterState | null;
}

/* number, name, worker, state, action, start_ms, end_ms, result_bytes */
export type TaskRow = [number, number, Known, number, number, number, number, Known];

export interface TasksEvent {
  first: number;
  skipped: number;
  names: Record<string, string>;
  workers: Record<string, string>;
  tasks: TaskRow[];
}

export interface HistoryReply {
  from_ms: number;
  to_ms: number;
  step_ms: number;
  times_ms: number[];
  series: Record<string, Known[]>;
}

/* depth, name, begin_ns, length_ns, count */
export type SpanRect = [number, number, number, number, number];

export interface WindowReply {
  recording: number;
  start_ms: number;
  duration_ns: number;
  from_ns: number;
  to_ns: number;
  lost_events: number;
  more: number;
  names: string[];
  tracks: { track: number; pid: number; tid: number; name: string; deepest: number; rects: SpanRect[] }[];
}
