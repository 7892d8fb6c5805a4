/* Panels that are a few numbers each: energy, what is lost and what watching costs, and the way to a store. */

import { formatBytes, formatCount, formatShare, formatTime, formatUnit } from "../../ui/format";
import { clean } from "../../ui/text";
import type { Known, Loss, State } from "../data/types";
import type { Panel, PanelProps } from "../panel";
import { formatCores, known, plural } from "../words";

/* name, value, what it means; a fact that is bad is marked with more than a colour. */
export type Fact = [name: string, value: string, hint: string, isBad?: boolean];

export function Facts({ list }: { list: Fact[] }) {
  return (
    <dl class="facts">
      {list.map(([name, value, hint, isBad]) => (
        <div key={name} title={hint} class={isBad ? "is-bad" : ""}>
          <dt>{name}</dt>
          <dd>
            {isBad && <span aria-hidden="true">▲ </span>}
            {value}
          </dd>
        </div>
      ))}
    </dl>
  );
}

const watts = (value: Known) => known(value, (power) => formatUnit(power, "W"));
const joules = (value: Known) => known(value, (energy) => formatUnit(energy, "J"));

function Energy({ state }: PanelProps) {
  const energy = state.energy!;

  return (
    <>
      <Facts
        list={[
          ["Power", watts(energy.watts), "Of the machine, over the last readings"],
          ["Program's power", watts(energy.own_watts), "Its share, by CPU time"],
          ["Energy", joules(energy.joules), "Of the machine since the recording began"],
          ["Program's energy", joules(energy.own_joules), "Its share, by CPU time"],
          [
            "CO₂e",
            known(energy.grams, (grams) => formatUnit(grams, "g")),
            "Of the program's share; known where an intensity or country was stated",
          ],
        ]}
      />
      {energy.parts.length > 0 && (
        <table class="plain">
          <caption class="muted">By part of the machine</caption>
          <thead>
            <tr>
              <th scope="col">Part</th>
              <th scope="col">How known</th>
              <th scope="col" class="is-number">
                Power
              </th>
              <th scope="col" class="is-number">
                Energy
              </th>
            </tr>
          </thead>
          <tbody>
            {energy.parts.map((part) => (
              <tr key={part.name}>
                <td>{clean(part.name, 60)}</td>
                <td>{clean(part.how, 60)}</td>
                <td class="is-number">{watts(part.watts)}</td>
                <td class="is-number">{joules(part.joules)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </>
  );
}

export const energyPanel: Panel = {
  id: "energy",
  title: "Energy",
  question: "How many watts does it take, how many joules has it taken?",
  width: "half",
  missing: (state) =>
    state.energy
      ? null
      : "Energy is not recorded: `venturi run --energy` does so, `venturi doctor` says what this machine can measure.",
  component: Energy,
};

function lossText(loss: Loss): string {
  return `${loss.is_lower_bound ? "at least " : ""}${formatCount(loss.events)}${loss.is_wanted ? ", as asked for" : ""}`;
}

function Cost({ state }: PanelProps) {
  const { cost, losses } = state;

  return (
    <>
      <Facts list={costFacts(state)} />
      {losses.length === 0 ? (
        <p class="muted">Nothing was lost{state.damage ? "" : ", and nothing is damaged"}.</p>
      ) : (
        <table class="plain">
          <caption class="muted">What is not in the recording</caption>
          <thead>
            <tr>
              <th scope="col">Why</th>
              <th scope="col" class="is-number">
                How many
              </th>
            </tr>
          </thead>
          <tbody>
            {losses.map((loss) => (
              <tr key={loss.reason}>
                <td>{clean(loss.reason, 120)}</td>
                <td class="is-number">{lossText(loss)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {state.damage > 0 && (
        <p class="is-bad">▲ {plural(state.damage, "place")} of the files could not be read.</p>
      )}
      {cost.dropped ? (
        <p class="muted">
          {plural(cost.dropped, "event")} left out for readers of this page that were too slow.
        </p>
      ) : null}
    </>
  );
}

function costFacts({ cost, bytes_per_s, file_bytes }: State): Fact[] {
  return [
    [
      "Recording",
      cost.program_share === null ? known(cost.program_ns, formatTime) : formatShare(cost.program_share),
      "What recording added to the program, by calibration",
      (cost.program_share ?? 0) > 0.1,
    ],
    ["Writer", known(cost.drainer_cpu, formatCores), "Cores of the process that writes the recording"],
    [
      "File",
      formatBytes(file_bytes),
      `Growing by ${known(bytes_per_s, (rate) => formatBytes(rate))} a second`,
    ],
    ["This server", known(cost.server_cpu, formatCores), "Cores that it uses, for all its readers"],
    ["Its memory", known(cost.server_memory_bytes, formatBytes), "Resident"],
    ["Its refresh", known(cost.refresh_ns, formatTime), "How long taking in what is new took the last time"],
    ["Readers", known(cost.clients, formatCount), "Of this page and the events, now"],
  ];
}

export const costPanel: Panel = {
  id: "cost",
  title: "Losses and own cost",
  question: "How much is missing, and what does watching cost?",
  width: "half",
  missing: () => null,
  component: Cost,
};

function Ship({ state }: PanelProps) {
  const ship = state.ship!;
  const isDone = !ship.is_running && !state.is_growing && ship.waiting === 0;
  const room = ship.spool_limit_bytes ? ` of ${formatBytes(ship.spool_limit_bytes)}` : "";

  return (
    <>
      <Facts
        list={[
          ["Store", clean(ship.store, 40), "Where documents go"],
          [
            "Shipper",
            isDone ? "done" : ship.is_running ? "running" : "not running",
            isDone ? "The program has ended, and all its documents are sent" : "venturi-ship",
            !ship.is_running && !isDone,
          ],
          ["Waiting", formatCount(ship.waiting), "Documents that are not in the store yet"],
          ["Shipped", formatCount(ship.shipped), "Documents that the store has acknowledged"],
          ["Retried", formatCount(ship.retried), "Sent more than once"],
          [
            "Dead",
            formatCount(ship.dead),
            "The store refused them for good: they are in the file of dead letters",
            ship.dead > 0,
          ],
          ["Lost", formatCount(ship.lost), "Beyond the limit of the spool", ship.lost > 0],
          ["Spool", known(ship.spool_bytes, formatBytes) + room, "On disk"],
        ]}
      />
      {ship.error && <p class="is-bad">▲ {clean(ship.error, 300)}</p>}
    </>
  );
}

export const shipPanel: Panel = {
  id: "ship",
  title: "To the store",
  question: "Does everything arrive?",
  width: "half",
  missing: (state) => (state.ship ? null : ""),
  component: Ship,
};
