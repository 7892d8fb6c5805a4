/* What goes with tasks over time: what the program used, and the results that were held. Pure. */

import { column, type PageData } from "../data/types";
import { makeSeries, type Series } from "../ui/time/curve";
import { freedTimes, tasksOf } from "./tasks";
import { usageOf, usageTrees } from "./usage";

export interface TaskCurve {
  id: string;
  title: string;
  unit: "cores" | "bytes" | "count";
  hint: string;
  series: Series;
}

const NS = 1e9;

/* Known values of readings; a rate is that of the time up to its reading, so it holds from the one before on. */
function readings(seconds: number[], values: (number | null)[], isRate: boolean): Series {
  const known = values.flatMap((value, i) => (value === null ? [] : [i]));

  return makeSeries(
    Float64Array.from(known, (i) => seconds[isRate ? Math.max(0, i - 1) : i]! * NS),
    Float64Array.from(known, (i) => values[i]!),
  );
}

/* Sums over time of what comes and goes. */
function levels(begin: number[], end: number[], amount: number[]): Series {
  const count = begin.length;
  const at = (event: number) => (event < count ? begin[event]! : end[event - count]!);
  const order = Float64Array.from({ length: 2 * count }, (_, i) => i).sort((a, b) => at(a) - at(b) || b - a);
  const time = new Float64Array(2 * count);
  const value = new Float64Array(2 * count);
  let length = 0;
  let level = 0;

  for (const event of order) {
    level += event < count ? amount[event]! : -amount[event - count]!;
    if (length > 0 && time[length - 1] === at(event)) length--;
    time[length] = at(event);
    value[length++] = level;
  }
  return makeSeries(time.subarray(0, length), value.subarray(0, length));
}

/* Results from the end of their task until they are given up, of one run or of all (-1). */
function heldOf(data: PageData, run: number): TaskCurve[] {
  const tasks = tasksOf(data);
  const { freed, isKnown } = freedTimes(data);
  const bytes = column(data, "tasks", "bytes");
  const held: number[] = [];

  if (!isKnown && tasks.needs.to.length === 0) return [];
  for (let i = 0; i < tasks.size; i++)
    if (!Number.isNaN(freed[i]!) && (run < 0 || tasks.run[i] === run)) held.push(i);
  const sized = held.filter((i) => bytes[i]! > 0);
  const series = (list: number[], amount: (task: number) => number) =>
    levels(
      list.map((i) => tasks.end[i]!),
      list.map((i) => freed[i]!),
      list.map(amount),
    );
  const title = isKnown ? "Results held" : "Results needed";
  const hint = isKnown
    ? "From the end of a task until its result was given up"
    : "From the end of a task until the last that depends on it ended: nobody says when results were given up";
  const curves: TaskCurve[] = [{ id: "held", title, unit: "count", hint, series: series(held, () => 1) }];
  if (sized.length > 0)
    curves.push({
      id: "held_bytes",
      title: "… in bytes",
      unit: "bytes",
      hint: `${hint}, as far as sizes are known`,
      series: series(sized, (i) => bytes[i]! - 1),
    });
  return curves;
}

export function taskCurves(data: PageData, run: number): TaskCurve[] {
  const tree = usageTrees(data)[0];
  const usage = tree && usageOf(data, tree.row, -1);
  const used: TaskCurve[] = usage
    ? [
        {
          id: "cores",
          title: "CPU",
          unit: "cores",
          hint: "Cores in use by the program and its children",
          series: readings(usage.seconds, usage.cores, true),
        },
        {
          id: "memory",
          title: "Memory",
          unit: "bytes",
          hint: "Resident memory of the program and its children",
          series: readings(usage.seconds, usage.memory, false),
        },
      ]
    : [];

  return [...used.filter(({ series }) => series.time.length > 1), ...heldOf(data, run)];
}
