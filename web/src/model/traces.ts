/* Traces across services as the tables have them: spans of one trace in typed arrays, depth first, so that a subtree is a run of rows. Pure. */

import { type Column, column, type PageData } from "../data/types";
import { CATEGORIES, faded, hashText, nthColour, type Rgb } from "../ui/colour";

export const UNFINISHED = 1;
export const FAILED = 2;
export const CRITICAL = 4;
export const ORPHAN = 8;

const OF_BEGIN = 1;

export interface Service {
  name: string;
  colour: Rgb;
  hosts: string[];
  skews: { pid: number; host: string; ns: number }[]; // of processes whose times were moved
}

/* What is common to all traces of a page. */
export interface TraceTables {
  firsts: Uint32Array; // row of each trace's first span, one more at the end
  services: Service[]; // those with the most spans first
  serviceOf: Uint16Array; // by process
}

/* The spans of one trace, by their place in it. */
export interface TraceSpans {
  first: number; // row of trace_spans
  size: number;
  duration: number; // of the trace
  parent: Int32Array; // -1: none
  depth: Uint32Array;
  end: Uint32Array; // one behind the last span of the subtree
  start: Column; // ns since the trace's begin
  length: Column;
  self: Column;
  flags: Column;
  name: Column; // numbers of strings
  service: Uint16Array;
}

function rowsByTrace(data: PageData): Uint32Array {
  const traces = data.tables["traces"]?.rows ?? 0;
  const firsts = new Uint32Array(traces + 1);

  column(data, "trace_spans", "trace").forEach((trace) => {
    if (trace < traces) firsts[trace + 1]!++;
  });
  for (let i = 0; i < traces; i++) firsts[i + 1]! += firsts[i]!;
  return firsts;
}

function makeServices(data: PageData): Pick<TraceTables, "services" | "serviceOf"> {
  const text = (name: string, row: number) =>
    data.strings[column(data, "trace_processes", name)[row] ?? 0] ?? "";
  const processes = data.tables["trace_processes"]?.rows ?? 0;
  const counts = new Map<string, number>();
  const spansOf = new Float64Array(processes);

  column(data, "trace_spans", "process").forEach((process) => {
    if (process < processes) spansOf[process]!++;
  });
  for (let i = 0; i < processes; i++)
    counts.set(text("service", i), (counts.get(text("service", i)) ?? 0) + spansOf[i]!);
  const names = [...counts].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1)).map(([name]) => name);
  const services = names.map((name, i): Service => ({
    name,
    colour: i < CATEGORIES ? nthColour(i) : faded(nthColour(hashText(name))),
    hosts: [],
    skews: [],
  }));
  const index = new Map(names.map((name, i) => [name, i]));
  const serviceOf = Uint16Array.from({ length: processes }, (_, i) => index.get(text("service", i))!);

  for (let i = 0; i < processes; i++) {
    const service = services[serviceOf[i]!]!;
    const host = text("host", i);
    const ns = column(data, "trace_processes", "skew")[i] ?? 0;
    if (host && !service.hosts.includes(host)) service.hosts.push(host);
    if (ns !== 0) service.skews.push({ pid: column(data, "trace_processes", "pid")[i] ?? 0, host, ns });
  }
  return { services, serviceOf };
}

const known = new WeakMap<PageData, TraceTables>();

/* Made once a page. */
export function traceTables(data: PageData): TraceTables {
  let found = known.get(data);
  if (!found) known.set(data, (found = { firsts: rowsByTrace(data), ...makeServices(data) }));
  return found;
}

/* What each process of the recording is called in traces; "": nothing, or no other name than its own. Processes of several machines may have
 * the same number: then the machine tells. */
function makeServiceNames(data: PageData): string[] {
  const text = (name: string, row: number) =>
    data.strings[column(data, "trace_processes", name)[row] ?? 0] ?? "";
  const rowsOf = new Map<number, number[]>(); // by pid

  column(data, "trace_processes", "pid").forEach((pid, row) => {
    if (text("service", row)) rowsOf.set(pid, [...(rowsOf.get(pid) ?? []), row]);
  });
  return data.recording.processes.map((process) => {
    const rows = (process.pid > 0 && rowsOf.get(process.pid)) || [];
    const here = rows.filter((row) => text("host", row) === data.recording.hosts[process.host]?.name);
    const [name = "", ...others] = new Set(
      (here.length > 0 ? here : rows).map((row) => text("service", row)),
    );
    return others.length === 0 && name !== process.name ? name : "";
  });
}

const knownNames = new WeakMap<PageData, string[]>();

export function serviceOfProcess(data: PageData, process: number): string {
  let found = knownNames.get(data);
  if (!found) knownNames.set(data, (found = makeServiceNames(data)));
  return found[process] ?? "";
}

/* Depths and ends of subtrees follow from the parents; a parent that comes later is none. */
export function makeTree(parents: ArrayLike<number>, first: number, size: number) {
  const parent = new Int32Array(size);
  const depth = new Uint32Array(size);
  const end = new Uint32Array(size);

  for (let i = 0; i < size; i++) {
    const above = (parents[first + i] ?? 0) - 1 - first;
    parent[i] = above >= 0 && above < i ? above : -1;
    depth[i] = parent[i]! < 0 ? 0 : depth[parent[i]!]! + 1;
  }
  for (let i = size - 1; i >= 0; i--) {
    end[i] = Math.max(end[i]!, i + 1);
    if (parent[i]! >= 0) end[parent[i]!] = Math.max(end[parent[i]!]!, end[i]!);
  }
  return { parent, depth, end };
}

export function spansOf(data: PageData, trace: number): TraceSpans {
  const { firsts, serviceOf } = traceTables(data);
  const first = firsts[trace] ?? 0;
  const size = (firsts[trace + 1] ?? first) - first;
  const part = (name: string) => column(data, "trace_spans", name).subarray(first, first + size);
  const process = part("process");

  return {
    first,
    size,
    duration: column(data, "traces", "duration")[trace] ?? 0,
    ...makeTree(column(data, "trace_spans", "parent"), first, size),
    start: part("start"),
    length: part("duration"),
    self: part("self"),
    flags: part("flags"),
    name: part("name"),
    service: Uint16Array.from(process, (one) => serviceOf[one] ?? 0),
  };
}

export function traceBase(data: PageData, trace: number): string {
  return data.strings[column(data, "traces", "base")[trace] ?? 0] ?? "";
}

/* The name of its first span, which is that of the request. */
export function traceName(data: PageData, trace: number): string {
  const { firsts } = traceTables(data);
  const row = firsts[trace]!;

  if (row >= (firsts[trace + 1] ?? 0)) return "";
  return data.strings[column(data, "trace_spans", "name")[row] ?? 0] ?? "";
}

/* -1: there is none of that id. */
export function findTrace(data: PageData, base: string): number {
  const number = base ? data.strings.indexOf(base) : -1;
  return number < 0 ? -1 : column(data, "traces", "base").indexOf(number as never);
}

/* As UUID; `row` of trace_spans. */
export function spanId(data: PageData, row: number): string {
  const hex = ["id_0", "id_1", "id_2", "id_3"]
    .map((name) => (column(data, "trace_spans", name)[row] ?? 0).toString(16).padStart(8, "0"))
    .join("");

  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}

/* The place in its trace of the span with that id; -1: none. */
export function findSpan(data: PageData, spans: TraceSpans, id: string): number {
  const hex = id.replaceAll("-", "");

  if (!/^[0-9a-f]{32}$/.test(hex)) return -1;
  const wanted = [0, 8, 16, 24].map((at) => parseInt(hex.slice(at, at + 8), 16));
  const parts = wanted.map((_, i) => column(data, "trace_spans", `id_${i}`));
  for (let i = 0; i < spans.size; i++)
    if (parts.every((part, j) => part[spans.first + i] === wanted[j])) return i;
  return -1;
}

export interface Attribute {
  key: string;
  value: string;
  isOfBegin: boolean;
}

/* The first row of trace_attrs that belongs to a span at or behind `row`: they stand in the order of spans. */
export function firstAttribute(data: PageData, row: number): number {
  const span = column(data, "trace_attrs", "span");
  let low = 0;
  let high = span.length;

  while (low < high) {
    const middle = (low + high) >> 1;
    if (span[middle]! < row) low = middle + 1;
    else high = middle;
  }
  return low;
}

export function attributesOf(data: PageData, row: number): Attribute[] {
  const [span, key, value, flags] = ["span", "key", "value", "flags"].map((name) =>
    column(data, "trace_attrs", name),
  ) as [Column, Column, Column, Column];
  const list: Attribute[] = [];

  for (let i = firstAttribute(data, row); i < span.length && span[i] === row; i++)
    list.push({
      key: data.strings[key[i]!] ?? "",
      value: data.strings[value[i]!] ?? "",
      isOfBegin: (flags[i]! & OF_BEGIN) !== 0,
    });
  return list;
}

/* Attributes that say best what a span did, the first of them that it has: as `venturi trace show` has it. */
const TELLING = [
  ["request.method", "request.path"],
  ["requests.method", "requests.path"],
  ["requests.method", "requests.url"],
  ["db.statement"],
  ["function.name"],
];

export function detailOf(data: PageData, row: number): string {
  const list = attributesOf(data, row);
  if (list.length === 0) return "";
  const values = new Map(list.map(({ key, value }) => [key, value]));
  const keys = TELLING.find((one) => one.every((key) => values.has(key)));

  return keys ? keys.map((key) => values.get(key)).join(" ") : "";
}
