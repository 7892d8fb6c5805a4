/* What the program used and how quickly it worked, in a sentence each. Pure. */

import type { PageData } from "../../data/types";
import type { EnergyFacts } from "../../model/energy";
import { formatCount, formatShort, formatTime, formatUnit } from "../../ui/format";

const NS = 1e9;

const known = (value: number | null | undefined): value is number => Number.isFinite(value ?? NaN);

/* "3.03 J (estimated) of the machine's 30.1 J, 2.70 J beyond rest, 59.0 µg of CO2e"; null: nothing was metered. */
export function joulesWords(facts: EnergyFacts | undefined): string | null {
  const machines = facts?.machines ?? [];
  const sum = (of: "share_j" | "gross_j" | "dynamic_j") =>
    machines.reduce((all, machine) => all + (machine.all[of] ?? NaN), 0);
  const hows = [...new Set(machines.map((machine) => machine.all.how))].join(", ");

  if (!facts || machines.length === 0) return null;
  return [
    `${formatUnit(sum("share_j"), "J")} (${hows}) of the machine's ${formatUnit(sum("gross_j"), "J")}`,
    known(sum("dynamic_j")) && `${formatUnit(sum("dynamic_j"), "J")} beyond rest`,
    known(facts.co2e_g) && `${formatUnit(facts.co2e_g, "g")} of CO2e`,
  ]
    .filter(Boolean)
    .join(", ");
}

/* "1,000 items in 1.09 s, 917 a second, 13.8 of them effective, 1.30 k a second of CPU time, 3.03 J per 1,000"; null: none were counted. */
export function itemsWords(facts: EnergyFacts | undefined): string | null {
  const items = facts?.items;

  if (!items) return null;
  return [
    `${formatCount(items.raw)} items in ${formatTime(items.wall_s * NS)}`,
    known(items.raw_per_s) && `${formatShort(items.raw_per_s)} a second`,
    items.effective !== items.raw &&
      known(items.effective_per_s) &&
      `${formatShort(items.effective_per_s)} of them effective`,
    known(items.raw_per_cpu_s) && `${formatShort(items.raw_per_cpu_s)} a second of CPU time`,
    known(items.j_per_1000) && `${formatUnit(items.j_per_1000, "J")} per 1,000`,
  ]
    .filter(Boolean)
    .join(", ");
}

export function energyWords(data: PageData): string[] {
  const facts = data.recording.energy;

  return [joulesWords(facts), itemsWords(facts)].filter((words) => words !== null);
}
