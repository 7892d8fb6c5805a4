/* Throughput: the items of work that the program counts, how quickly they get done, and for how many joules. */

import { formatShare, formatUnit } from "../../ui/format";
import type { ItemsState } from "../data/types";
import type { Panel, PanelProps } from "../panel";
import { formatMany, formatRate, known } from "../words";
import { type Fact, Facts } from "./facts";

const mean = (count: number | null, wall_s: number | null) =>
  count !== null && wall_s !== null && wall_s > 0 ? count / wall_s : null;

export function itemFacts(items: ItemsState, isGrowing: boolean): Fact[] {
  const { raw, effective, wall_s } = items;
  const list: (Fact | false)[] = [
    ["Items", formatMany(raw), "That the program has counted"],
    isGrowing && ["Now", known(items.raw_per_s, formatRate), "In the last second"],
    ["On average", known(mean(raw, wall_s), formatRate), "From the first reading of the program to the last"],
    effective !== null && ["Effective", formatMany(effective), "Those that ran to the end"],
    effective !== null &&
      isGrowing && [
        "Effective now",
        known(items.effective_per_s, formatRate),
        "Those that ran to the end, in the last second",
      ],
    effective !== null && [
      "Effective on average",
      known(mean(effective, wall_s), formatRate),
      "Those that ran to the end",
    ],
    effective !== null && raw > 0 && ["Share", formatShare(effective / raw), "Share that ran to the end"],
    items.j_per_1000 !== null && [
      "Energy for 1,000",
      formatUnit(items.j_per_1000, "J"),
      "The program's share of energy, for a thousand items",
    ],
  ];

  return list.filter((fact) => fact !== false);
}

function Items({ state }: PanelProps) {
  return <Facts list={itemFacts(state.items!, state.is_growing)} />;
}

export const itemsPanel: Panel = {
  id: "items",
  title: "Throughput",
  question: "How many items of work get done, how quickly, and for how much energy?",
  width: "whole",
  missing: (state) =>
    state.items ? null : "No items: `venturi.items(n)` or `VT_ITEMS(n)` counts work; see docs/throughput.md.",
  component: Items,
};
