/* What the program used while it ran: CPU, memory, I/O and threads of the whole tree of processes, or of one of them. */

import { useMemo } from "preact/hooks";
import type { PageData } from "../../data/types";
import { usageOf, usageProcesses, usageTrees } from "../../model/usage";
import type { UsageProcess, UsageTree } from "../../model/usage";
import { setOption, textOption } from "../../state/options";
import { selection } from "../../state/selection";
import { formatBytes, formatCount, formatShare, formatTime } from "../../ui/format";
import { WholeRun } from "../../ui/parts";
import { clean } from "../../ui/text";
import type { View, ViewProps } from "../view";
import type { Curve } from "../../ui/plot";
import { Chart } from "./chart";
import "./resources.css";

const NS = 1e9;
const WHOLE = "";
const MOST_LISTED = 2000;

/* "2" is tree 2, "2.7" process 7 of it; the whole of the first tree is not written. */
function chosenOf(processes: UsageProcess[]): { tree: number; process: UsageProcess | null } {
  const [tree, row] = textOption("resources.of").split(".").map(Number);

  return {
    tree: tree || 0,
    process: row === undefined ? null : (processes.find((one) => one.row === row) ?? null),
  };
}

function ResourcesView({ data }: ViewProps) {
  const trees = usageTrees(data);
  const processes = usageProcesses(data);
  const { tree, process } = chosenOf(processes);
  const whole = trees[tree] ?? trees[0];
  const usage = useMemo(() => usageOf(data, tree, process ? process.row : -1), [data, tree, process?.row]);
  const common = {
    title: data.directory.title,
    seconds: usage.seconds,
    extent: [0, Math.max(data.recording.duration_ns / NS, usage.seconds.at(-1) ?? 0)] as [number, number],
  };
  const charts = useMemo(() => chartsOf(usage), [usage]);

  if (!whole) return null;
  return (
    <div class="resources">
      <div class="resources-totals">
        <Totals tree={whole} />
        {selection.value.range && (
          <WholeRun hint="Totals are those of the whole run: the selected range does not narrow them." />
        )}
      </div>
      {usage.seconds.length < 2 && (
        <p class="muted">It ended within two readings: there are totals, but no curves.</p>
      )}
      <div class="charts">
        {charts.map((chart) => (
          <Chart key={chart.name} {...common} {...chart} />
        ))}
      </div>
      <Processes trees={trees} processes={processes} tree={tree} chosen={process} />
    </div>
  );
}

interface ChartEntry {
  name: string;
  heading: string;
  curves: Curve[];
  format(value: number): string;
  isBytes?: boolean;
}

function isKnown(curve: Curve): boolean {
  return curve.values.some((value) => value !== null);
}

function chartsOf(usage: ReturnType<typeof usageOf>): ChartEntry[] {
  const rate = (value: number) => `${formatBytes(value)}/s`;
  const entries: ChartEntry[] = [
    {
      name: "cpu",
      heading: "CPU, in cores",
      curves: [
        { title: "program", values: usage.cores, isFilled: true },
        { title: "whole machine", values: usage.machine, isDashed: true },
      ],
      format: (value) => value.toFixed(value < 10 ? 2 : 0),
    },
    {
      name: "memory",
      heading: "Memory",
      curves: [{ title: "resident", values: usage.memory, isFilled: true }],
      format: formatBytes,
      isBytes: true,
    },
    {
      name: "io",
      heading: "Reading and writing",
      curves: [
        { title: "read", values: usage.read },
        { title: "written", values: usage.written },
      ],
      format: rate,
      isBytes: true,
    },
    {
      name: "threads",
      heading: "Threads",
      curves: [{ title: "threads", values: usage.threads }],
      format: (value) => formatCount(Math.round(value)),
    },
  ];

  return entries
    .map((entry) => ({ ...entry, curves: entry.curves.filter(isKnown) }))
    .filter((entry) => entry.curves.length > 0);
}

function Totals({ tree }: { tree: UsageTree }) {
  const facts: [string, string, string][] = [
    ["CPU", formatTime(tree.cpu * NS), "user and system time of all processes"],
    ["Cores in use", Number.isFinite(tree.cores) ? tree.cores.toFixed(2) : "–", "CPU time for each second"],
    ["Peak memory", formatBytes(tree.peak), "largest sum of resident memory at one reading"],
    ["Read", formatBytes(tree.read), "by system calls: files, pipes, sockets, terminals"],
    ["Written", formatBytes(tree.written), "by system calls: files, pipes, sockets, terminals"],
    ["Processes", formatCount(tree.processes), "that were seen"],
  ];
  if (Number.isFinite(tree.othersBusy) && tree.othersBusy >= 0)
    facts.push([
      "Others",
      formatShare(tree.othersBusy),
      "share of the machine's CPUs that other programs kept busy",
    ]);
  return (
    <dl class="facts">
      {facts.map(([name, value, hint]) => (
        <div key={name} title={hint}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

function Processes(props: {
  trees: UsageTree[];
  processes: UsageProcess[];
  tree: number;
  chosen: UsageProcess | null;
}) {
  const choose = (value: string) => setOption("resources.of", value, WHOLE);
  const list = props.processes.slice(0, MOST_LISTED);

  return (
    <section aria-label="Processes">
      <h3>Processes</h3>
      <div class="resources-scroll" tabIndex={0} role="region" aria-label="Table of processes">
        <table class="resources-table">
          <thead>
            <tr>
              <th scope="col">Process</th>
              <th scope="col" class="is-number">
                PID
              </th>
              <th scope="col" class="is-number">
                CPU
              </th>
              <th scope="col" class="is-number">
                Peak memory
              </th>
              <th scope="col" class="is-number">
                Started
              </th>
              <th scope="col" class="is-number">
                Lasted
              </th>
              <th scope="col">Command</th>
            </tr>
          </thead>
          <tbody>
            {props.trees.map((tree) => (
              <tr
                key={`tree${tree.row}`}
                class={!props.chosen && tree.row === props.tree ? "is-selected" : ""}
              >
                <td>
                  <button
                    type="button"
                    class="link"
                    onClick={() => choose(tree.row ? String(tree.row) : WHOLE)}
                  >
                    all together{props.trees.length > 1 && `, ${clean(tree.host, 40)}`}
                  </button>
                </td>
                <td />
                <td class="is-number">{formatTime(tree.cpu * NS)}</td>
                <td class="is-number">{formatBytes(tree.peak)}</td>
                <td class="is-number">{formatTime(tree.begin)}</td>
                <td class="is-number">{formatTime(tree.end - tree.begin)}</td>
                <td />
              </tr>
            ))}
            {list.map((one) => (
              <tr key={one.row} class={one === props.chosen ? "is-selected" : ""}>
                <td>
                  <button type="button" class="link" onClick={() => choose(`${one.tree}.${one.row}`)}>
                    {clean(one.name, 40) || "(no name)"}
                  </button>
                </td>
                <td class="is-number">{one.pid}</td>
                <td class="is-number">{formatTime(one.cpu * NS)}</td>
                <td class="is-number">{formatBytes(one.peak)}</td>
                <td class="is-number">{formatTime(Math.max(0, one.start))}</td>
                <td class="is-number">{formatTime(one.end - one.start)}</td>
                <td class="resources-command">{clean(one.command, 200)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {props.processes.length > MOST_LISTED && (
        <p class="muted">
          and {formatCount(props.processes.length - MOST_LISTED)} more, which are not listed
        </p>
      )}
    </section>
  );
}

export const resources: View = {
  id: "resources",
  title: "Resources",
  question: "What did it cost the machine?",
  missing: (data: PageData) =>
    data.tables.resource_trees?.rows
      ? null
      : "CPU, memory and I/O were not sampled. `venturi run` does so unless `--no-resources` is given.",
  component: ResourcesView,
};
