/* What the processes used, as curves over time: totals become rates between readings, a gap stays a gap. Pure; the view draws it. */

import { column, type Column, type PageData } from "../data/types";

export interface UsageProcess {
  row: number; // of resource_processes
  tree: number;
  pid: number;
  name: string;
  command: string;
  start: number; // ns
  end: number;
  peak: number; // bytes
  cpu: number; // seconds
  parent: number; // row, -1: none
}

export interface UsageTree {
  row: number; // of resource_trees
  host: string;
  cpus: number;
  cpu: number; // seconds
  user: number;
  cores: number;
  peak: number;
  read: number;
  written: number;
  diskRead: number;
  diskWritten: number;
  machineBusy: number;
  othersBusy: number;
  processes: number;
  begin: number; // ns
  end: number;
}

/* One curve for each of these; x is seconds since the start of the recording. null: not known. */
export interface Usage {
  seconds: number[];
  cores: (number | null)[]; // CPU seconds for each second
  machine: (number | null)[]; // of all CPUs of the machine, likewise
  memory: (number | null)[]; // bytes
  available: (number | null)[];
  read: (number | null)[]; // bytes for each second
  written: (number | null)[];
  threads: (number | null)[];
}

const NS = 1e9;

export function usageTrees(data: PageData): UsageTree[] {
  const of = (name: string) => column(data, "resource_trees", name);
  const names = [
    "host",
    "cpus",
    "cpu_s",
    "user_s",
    "cores",
    "peak",
    "read",
    "written",
    "disk_read",
    "disk_written",
    "machine_busy",
    "others_busy",
    "processes",
    "begin",
    "end",
  ].map(of);

  return Array.from({ length: data.tables.resource_trees?.rows ?? 0 }, (_, row) => {
    const at = names.map((list) => list[row] ?? NaN);
    return {
      row,
      host: data.strings[at[0]!] ?? "",
      cpus: at[1]!,
      cpu: at[2]!,
      user: at[3]!,
      cores: at[4]!,
      peak: at[5]!,
      read: at[6]!,
      written: at[7]!,
      diskRead: at[8]!,
      diskWritten: at[9]!,
      machineBusy: at[10]!,
      othersBusy: at[11]!,
      processes: at[12]!,
      begin: at[13]!,
      end: at[14]!,
    };
  });
}

export function usageProcesses(data: PageData): UsageProcess[] {
  const of = (name: string) => column(data, "resource_processes", name);
  const [tree, pid, parent, name, command] = [of("tree"), of("pid"), of("parent"), of("name"), of("command")];
  const [start, end, peak, cpu] = [of("start"), of("end"), of("peak"), of("cpu_s")];

  return Array.from(pid, (one, row) => ({
    row,
    tree: tree[row] ?? 0,
    pid: one,
    name: data.strings[name[row] ?? 0] ?? "",
    command: data.strings[command[row] ?? 0] ?? "",
    start: start[row] ?? NaN,
    end: end[row] ?? NaN,
    peak: peak[row] ?? NaN,
    cpu: cpu[row] ?? NaN,
    parent: (parent[row] ?? 0) - 1,
  }));
}

/* The readings of one process (a row of resource_processes), or of a whole tree (-1). */
export function usageOf(data: PageData, tree: number, process: number): Usage {
  const of = (name: string) => column(data, "resources", name);
  const [trees, whose, time] = [of("tree"), of("of"), of("time")];
  const rows: number[] = [];

  for (let row = 0; row < time.length; row++)
    if (trees[row] === tree && whose[row] === process + 1) rows.push(row);
  const seconds = rows.map((row) => time[row]! / NS);
  return {
    seconds,
    cores: rates(rows, seconds, of("cpu"), NS),
    machine: rates(rows, seconds, of("machine"), NS),
    memory: levels(rows, of("memory")),
    available: levels(rows, of("available")),
    read: rates(rows, seconds, of("read"), 1),
    written: rates(rows, seconds, of("written"), 1),
    threads: levels(rows, of("threads")),
  };
}

function levels(rows: number[], values: Column): (number | null)[] {
  return rows.map((row) => (Number.isFinite(values[row]) ? values[row]! : null));
}

/* A reading sooner than this after the one before says too little: the last one comes when the program ends, perhaps at once. */
const SOONEST = 0.25; // of the usual distance

function usualDistance(seconds: number[]): number {
  const distances = seconds.slice(1).map((at, before) => at - seconds[before]!);

  return distances.sort((a, b) => a - b)[distances.length >> 1] ?? 0;
}

/* How fast a total grew up to each reading since the one before; a total that went back is unknown, not negative. A reading that comes too
 * soon has no rate: what it counts is in that of the next, which is taken from the same begin. */
function rates(rows: number[], seconds: number[], values: Column, unit: number): (number | null)[] {
  const least = usualDistance(seconds) * SOONEST;
  let before = -1;

  return rows.map((row, i) => {
    const length = before >= 0 ? seconds[i]! - seconds[before]! : 0;
    if (before >= 0 && length < least) return null;
    const rate =
      ((values[row] ?? NaN) - (before >= 0 ? (values[rows[before]!] ?? NaN) : NaN)) / unit / length;
    before = i;
    return length > 0 && rate >= 0 && Number.isFinite(rate) ? rate : null;
  });
}

export interface Curve {
  title: string;
  unit: "cores" | "bytes" | "bytes/s";
  seconds: number[]; // since the start of the recording
  points: number[];
  most: number;
}

/* What is known of one curve, without its gaps. */
function curve(title: string, unit: Curve["unit"], seconds: number[], values: (number | null)[]): Curve[] {
  const known = values.flatMap((value, i) => (value === null ? [] : [i]));
  const points = known.map((i) => values[i]!);

  if (known.length < 2) return [];
  const most = points.reduce((a, b) => Math.max(a, b), 0);
  return [{ title, unit, seconds: known.map((i) => seconds[i]!), points, most }];
}

/* A few small curves for an overview: those of the first tree. */
export function usageCurves(data: PageData): Curve[] {
  const tree = usageTrees(data)[0];
  if (!tree) return [];
  const usage = usageOf(data, tree.row, -1);

  return [
    ...curve("CPU", "cores", usage.seconds, usage.cores),
    ...curve("Memory", "bytes", usage.seconds, usage.memory),
    ...curve("Read", "bytes/s", usage.seconds, usage.read),
    ...curve("Written", "bytes/s", usage.seconds, usage.written),
  ];
}
