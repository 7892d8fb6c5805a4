/* Energy: power as curves over time, and the rows of what joules went to. Pure; the view draws it. */

import { column, type PageData } from "../data/types";

export const BY = ["function", "line", "span", "task", "process"] as const;
export type By = (typeof BY)[number];

export interface EnergyUse {
  how: string;
  gross_j: number | null;
  share_j: number | null;
  dynamic_j: number | null;
}

export interface EnergyMachine {
  wall_s: number;
  unknown_s: number;
  cpu_s: number | null;
  rest_w: number | null;
  rest_how: string;
  baseline_s: number | null; // it was measured before the program began
  all: EnergyUse;
  cpu?: EnergyUse;
  memory?: EnergyUse;
  gpu?: EnergyUse;
  platform?: EnergyUse;
  sources: { name: string; from: string; part: string; how: string; inside: string | null }[];
  notes: string[];
}

/* As `report --json` has it under `energy`. */
export interface EnergyFacts {
  machines: EnergyMachine[];
  kwh: number | null;
  pue: number;
  intensity_g_kwh: number | null;
  intensity_source: string | null;
  co2e_g: number | null;
  water_l: number | null;
  cpu_j: number | null; // of the program, which the rows divide
  threads_j: number | null; // of it those of threads that record
  sampled_lines: boolean; // there are lines of C, estimated from samples
  items: {
    raw: number;
    effective: number;
    wall_s: number;
    raw_per_s: number | null;
    effective_per_s: number | null;
    raw_per_core_s: number | null;
    raw_per_cpu_s: number | null;
    j_per_1000: number | null;
    co2e_g_per_1000: number | null;
  } | null;
}

export interface PowerCurve {
  title: string;
  values: (number | null)[]; // watts; those of parts stand on one another
  isShare?: boolean;
}

export interface Power {
  seconds: number[];
  curves: PowerCurve[];
}

const NS = 1e9;
const SHORTEST = 0.4; // of the usual time between two readings

/* Layers from below: what is inside the platform, then what is left of it, then cards. A layer that is unknown
 * at a moment has no height there. */
function layersOf(cpu: number, memory: number, gpu: number, platform: number): number[] {
  const inside = (cpu || 0) + (memory || 0);

  return [cpu, memory, platform - inside > 0 ? platform - inside : platform >= 0 ? 0 : NaN, gpu];
}

/* The reading at a program's end follows soon on the one before: power over so little time is noise. */
function isLongEnough(time: ArrayLike<number>, rows: number[]): (row: number, i: number) => boolean {
  const length = (i: number) => time[rows[i]!]! - time[rows[i - 1]!]!;
  const lengths = rows
    .slice(1)
    .map((_, i) => length(i + 1))
    .sort((a, b) => a - b);
  const usual = lengths[lengths.length >> 1] ?? 0;

  return (_row, i) => i === 0 || length(i) >= usual * SHORTEST;
}

export function powerOf(data: PageData, tree: number): Power {
  const of = (name: string) => column(data, "energy_power", name);
  const [trees, time, cpu, memory, gpu, platform, share] = [
    "tree",
    "time",
    "cpu",
    "memory",
    "gpu",
    "platform",
    "share",
  ].map(of);
  const titles = ["processors", "memory", "rest of the machine", "GPU"];
  const all = Array.from({ length: data.tables.energy_power?.rows ?? 0 }, (_, row) => row).filter(
    (row) => trees![row] === tree,
  );
  const rows = all.filter(isLongEnough(time!, all));
  const layers = rows.map((row) => layersOf(cpu![row]!, memory![row]!, gpu![row]!, platform![row]!));
  const used = titles.map((_, part) => layers.some((layer) => Number.isFinite(layer[part])));
  const heights = layers.map((layer) => {
    let height = 0;
    return layer.map((watts) => (height += Number.isFinite(watts) ? watts : 0));
  });
  const curves: PowerCurve[] = titles
    .map((title, part) => ({
      title: part > 0 && used.slice(0, part).some(Boolean) ? `+ ${title}` : title,
      values: layers.map((layer, i) => (layer.some(Number.isFinite) ? heights[i]![part]! : null)),
    }))
    .filter((_, part) => used[part]);

  curves.push({
    title: "the program's share",
    values: rows.map((row) => (Number.isFinite(share![row]!) ? share![row]! : null)),
    isShare: true,
  });
  return {
    seconds: rows.map((row) => time![row]! / NS),
    curves: curves.filter((curve) => curve.values.some((value) => value !== null)),
  };
}

export interface EnergyRow {
  name: string;
  file: string;
  line: number;
  self: number; // J
  dynamic: number;
  total: number;
  cpu: number; // seconds
  seen: number;
  isElsewhere: boolean;
  share: number; // of all rows
}

export function energyRows(data: PageData, by: By): EnergyRow[] {
  const of = (name: string) => column(data, "energy", name);
  const kinds = of("by");
  const [name, file, line, self, dynamic, total, cpu, seen, elsewhere] = [
    "name",
    "file",
    "line",
    "self",
    "dynamic",
    "total",
    "cpu_s",
    "seen",
    "elsewhere",
  ].map(of);
  const rows: EnergyRow[] = [];

  for (let row = 0; row < (data.tables.energy?.rows ?? 0); row++)
    if (kinds[row] === BY.indexOf(by))
      rows.push({
        name: data.strings[name![row]!] ?? "",
        file: data.strings[file![row]!] ?? "",
        line: line![row]!,
        self: self![row]!,
        dynamic: dynamic![row]!,
        total: total![row]!,
        cpu: cpu![row]!,
        seen: seen![row]!,
        isElsewhere: elsewhere![row] === 1,
        share: NaN,
      });
  const sum = rows.reduce((all, row) => all + (row.self || 0), 0);
  for (const row of rows) row.share = sum > 0 ? row.self / sum : NaN;
  return rows;
}

/* What there are rows of. */
export function energyKinds(data: PageData): By[] {
  const kinds = new Set(Array.from(column(data, "energy", "by")));

  return BY.filter((_, kind) => kinds.has(kind));
}
