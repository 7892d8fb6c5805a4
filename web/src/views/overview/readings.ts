/* What the program used, as a few small curves: those of the first tree of processes. Pure. */

import type { PageData } from "../../data/types";
import { usageOf, usageTrees } from "../../model/usage";

export interface Curve {
  title: string;
  unit: "cores" | "bytes" | "bytes/s";
  seconds: number[]; // since the start of the recording
  points: number[];
  most: number;
}

function curve(title: string, unit: Curve["unit"], seconds: number[], values: (number | null)[]): Curve[] {
  const known = values.flatMap((value, i) => (value === null ? [] : [i]));
  const points = known.map((i) => values[i]!);

  if (known.length < 2) return [];
  const most = points.reduce((a, b) => Math.max(a, b), 0);
  return [{ title, unit, seconds: known.map((i) => seconds[i]!), points, most }];
}

export function curves(data: PageData): Curve[] {
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
