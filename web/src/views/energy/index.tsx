/* What the program used in joules: power over time, the program's part of it, and what that went to. Each number says how it is known. */

import { useMemo } from "preact/hooks";
import type { PageData } from "../../data/types";
import { energyKinds, energyRows, powerOf } from "../../model/energy";
import type { By, EnergyFacts, EnergyMachine } from "../../model/energy";
import { setOption, textOption } from "../../state/options";
import { selection } from "../../state/selection";
import { formatCount, formatShort, formatTime, formatUnit } from "../../ui/format";
import { Choice, Toolbar, WholeRun } from "../../ui/parts";
import { clean } from "../../ui/text";
import { Chart } from "../resources/chart";
import type { View, ViewProps } from "../view";
import { Rows } from "./rows";
import "./energy.css";

const NS = 1e9;
const MOST_NOTE = 900;
const RULE =
  "Rule: a second of CPU time gets its part of what the processors used at that time; dynamic leaves out what the machine uses at " +
  "rest. CPU time is charged to what was open when a thread was seen running, a hundred times a second: what sleeps gets nothing. " +
  "Memory, GPU and the rest of the machine are in the sums only.";

function EnergyView({ data }: ViewProps) {
  const facts = data.recording.energy;
  const tree = Math.min(Number(textOption("energy.tree")) || 0, (facts?.machines.length ?? 1) - 1);
  const machine = facts?.machines[tree];
  const power = useMemo(() => powerOf(data, tree), [data, tree]);
  const curves = useMemo(
    () =>
      power.curves.map(({ isShare, ...curve }) => ({
        ...curve,
        isFilled: !isShare,
        isDashed: isShare ?? false,
      })),
    [power],
  );

  if (!facts || !machine) return null;
  return (
    <div class="energy">
      {facts.machines.length > 1 && (
        <Choice
          label="Machine"
          options={facts.machines.map((_, i) => ({ value: String(i), title: `machine ${i + 1}` }))}
          value={String(tree)}
          onChange={(value) => setOption("energy.tree", value, "0")}
        />
      )}
      <div class="resources-totals">
        <Sums facts={facts} machine={machine} />
        {selection.value.range && (
          <WholeRun hint="Joules are those of the whole run: the selected range does not narrow them." />
        )}
      </div>
      {power.seconds.length < 2 ? (
        <p class="muted">It ended within two readings: there are sums, but no curves.</p>
      ) : (
        <Chart
          name="power"
          title={data.directory.title}
          heading="Power of the machine, parts on top of each other"
          seconds={power.seconds}
          curves={curves}
          format={(watts) => formatUnit(watts, "W")}
          extent={[0, Math.max(data.recording.duration_ns / NS, power.seconds.at(-1) ?? 0)]}
        />
      )}
      <Tables data={data} />
      <Notes facts={facts} machine={machine} />
    </div>
  );
}

function Tables({ data }: { data: PageData }) {
  const kinds = useMemo(() => energyKinds(data), [data]);
  const chosen = textOption("energy.by") as By;
  const by = kinds.includes(chosen) ? chosen : kinds[0];
  const rows = useMemo(() => (by ? energyRows(data, by) : []), [data, by]);

  if (!by) return <p class="muted">Nothing was open when threads were seen running: there are sums only.</p>;
  return (
    <section
      class="energy-rows"
      aria-label="What the joules went to"
      ref={(element) => element?.style.setProperty("--rows", String(rows.length))}
    >
      <Toolbar>
        <Choice
          label="Joules by"
          options={kinds.map((kind) => ({
            value: kind,
            title: kind === "process" ? "processes" : `${kind}s`,
          }))}
          value={by}
          onChange={(value) => setOption("energy.by", value, kinds[0])}
        />
        <span class="muted">joules of the processors, whole run</span>
      </Toolbar>
      <Rows key={by} data={data} by={by} rows={rows} />
    </section>
  );
}

type Fact = [name: string, value: string, how: string, hint: string];

/* Where a part's joules come from: "measured, powercap". */
function provenance(machine: EnergyMachine, part: string, how: string): string {
  const from = new Set(machine.sources.filter((one) => one.part === part).map((one) => one.from));

  return [how, ...from].map((text) => clean(text, 40)).join(", ");
}

function factsOf(facts: EnergyFacts, machine: EnergyMachine): Fact[] {
  const joules = (value: number | null | undefined) => formatUnit(value ?? NaN, "J");
  const list: Fact[] = [
    [
      "Machine",
      joules(machine.all.gross_j),
      `${machine.all.how}, in ${formatTime(machine.wall_s * NS)}`,
      "all that was used from the first reading to the last",
    ],
  ];
  const add = (name: string, value: string, how: string, hint: string) => list.push([name, value, how, hint]);

  for (const [part, title] of [
    ["cpu", "Processors"],
    ["memory", "Memory"],
    ["gpu", "GPU"],
    ["platform", "Platform"],
  ] as const) {
    const use = machine[part];
    if (use) add(title, joules(use.gross_j), provenance(machine, part, use.how), "of the machine");
  }
  add("Full share", joules(machine.all.share_j), "by CPU time", "the program's, with its part of rest");
  add(
    "Beyond rest",
    joules(machine.all.dynamic_j),
    "by CPU time",
    "the program's, without what the machine uses at rest",
  );
  add(
    "Rest",
    formatUnit(machine.rest_w ?? NaN, "W"),
    machine.baseline_s === null ? machine.rest_how : `${machine.rest_how}, baseline`,
    "of the machine when it has nothing to do",
  );
  add(
    "CO2e",
    formatUnit(facts.co2e_g ?? NaN, "g"),
    facts.intensity_g_kwh === null ? "place not stated" : `${facts.intensity_g_kwh} g/kWh, PUE ${facts.pue}`,
    "kWh of the full share × PUE × grams a kWh",
  );
  if (facts.water_l !== null) add("Water", formatUnit(facts.water_l, "l"), "", "kWh × PUE × WUE");
  if (machine.unknown_s > 0)
    add("Not known", formatTime(machine.unknown_s * NS), "", "time for which a counter said nothing");
  return list;
}

function itemsOf({ items }: EnergyFacts): Fact[] {
  if (!items) return [];
  return [
    [
      "Items",
      formatCount(items.raw),
      `${formatCount(items.effective)} effective`,
      "as the program counted them",
    ],
    [
      "Items a second",
      formatShort(items.raw_per_s ?? NaN),
      `${formatShort(items.effective_per_s ?? NaN)} effective`,
      `by wall time of the whole run, ${formatTime(items.wall_s * NS)}`,
    ],
    [
      "… a core",
      formatShort(items.raw_per_core_s ?? NaN),
      "of the machine",
      "raw items a second for each CPU",
    ],
    ["… of CPU time", formatShort(items.raw_per_cpu_s ?? NaN), "", "raw items for each second of CPU time"],
    [
      "Per 1,000 items",
      formatUnit(items.j_per_1000 ?? NaN, "J"),
      `${formatUnit(items.co2e_g_per_1000 ?? NaN, "g")} CO2e`,
      "full share for 1,000 raw items",
    ],
  ];
}

function Sums({ facts, machine }: { facts: EnergyFacts; machine: EnergyMachine }) {
  return (
    <dl class="facts">
      {[...factsOf(facts, machine), ...itemsOf(facts)].map(([name, value, how, hint]) => (
        <div key={name} title={hint}>
          <dt>{name}</dt>
          <dd>{value}</dd>
          {how && <dd class="energy-how">{how}</dd>}
        </div>
      ))}
    </dl>
  );
}

function Notes({ facts, machine }: { facts: EnergyFacts; machine: EnergyMachine }) {
  return (
    <div class="energy-notes">
      <p>
        Rows add up to the program&apos;s share of the processors, {formatUnit(facts.cpu_j ?? NaN, "J")};
        threads that record have {formatUnit(Math.min(facts.threads_j ?? NaN, facts.cpu_j ?? NaN), "J")} of
        it.
        {facts.sampled_lines && " Lines of C are estimated, by their part of the samples of the stack."}
      </p>
      <p>{RULE}</p>
      {facts.intensity_source === null ? (
        <p>
          CO2e is not known: `venturi run --energy --country FRA` (or `--intensity`) says where the power
          comes from.
        </p>
      ) : (
        <p>
          {facts.intensity_g_kwh} g of CO2e a kWh: {clean(facts.intensity_source, 200)}
        </p>
      )}
      {machine.notes.map((note, i) => (
        <p key={i}>{clean(note, MOST_NOTE)}</p>
      ))}
    </div>
  );
}

/* Items may be counted without. */
function hasEnergy(data: PageData): boolean {
  return (data.recording.energy?.machines.length ?? 0) > 0;
}

export const energy: View = {
  id: "energy",
  title: "Energy",
  question: "What did it use in joules, and for what?",
  missing: (data: PageData) =>
    hasEnergy(data) ? null : "Energy was not recorded: `venturi run --energy` does so.",
  isOffered: hasEnergy,
  component: EnergyView,
};
