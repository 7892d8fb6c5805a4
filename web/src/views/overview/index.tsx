/* The first view: what ran, what stands out, whether to trust it, and where the time went. */

import { chooseFrame, chooseTracks, showView } from "../../state/choose";
import { selection } from "../../state/selection";
import type { Finding, PageData, Reference } from "../../data/types";
import { column } from "../../data/types";
import { frames, placeOf } from "../../model/frames";
import { OVERLAP } from "../../model/overlap";
import { stepRows } from "../../model/steps";
import { usageCurves } from "../../model/usage";
import type { Curve } from "../../model/usage";
import { Canvas } from "../../ui/canvas";
import {
  formatBytes,
  formatCount,
  formatDuration,
  formatMoment,
  formatShare,
  formatTime,
} from "../../ui/format";
import { About, Bar, Empty, WholeRun } from "../../ui/parts";
import { clean, lastPart } from "../../ui/text";
import { useReply } from "../../ui/use";
import { VIEWS } from "..";
import { goToRun } from "../tasks";
import { goToTrace } from "../traces";
import type { View, ViewProps } from "../view";
import { energyWords } from "./energy";
import "./overview.css";
import { taskWords } from "./tasks";
import { allSpans, sumOf, topFunctions, topSpans } from "./top";
import type { Top } from "./top";
import { nothingHere, trustFacts } from "./trust";

function Overview({ data, worker }: ViewProps) {
  const empty = nothingHere(data);

  return (
    <div class="overview">
      <WhatRan data={data} />
      <Trust data={data} />
      {empty ? <Empty>{empty}</Empty> : <Findings data={data} />}
      <TaskGraphs data={data} />
      <Steps data={data} />
      <Energy data={data} />
      <div class="overview-pair">
        <TopFunctions data={data} />
        <TopSpans data={data} worker={worker} />
      </div>
      <Sparklines data={data} />
      <Notes data={data} />
    </div>
  );
}

function WhatRan({ data }: { data: PageData }) {
  const { recording } = data;
  const host = recording.hosts[0];
  /* A profile does not say how long the program ran. */
  const inFunctions = sumOf(column(data, "functions", "self"));
  const counts = [
    [recording.processes.length, "process", "processes"],
    [recording.tracks.length, "thread", "threads"],
    [recording.spans, "span", "spans"],
    [data.tables["functions"]?.rows ?? 0, "function", "functions"],
    [data.tables["line_functions"]?.rows ?? 0, "function with lines", "functions with lines"],
  ] as const;
  const facts = [
    formatMoment(recording.start_unix_ms),
    host &&
      `${host.name || "one machine"}${host.cpus ? `, ${host.cpus} CPUs` : ""}${host.os ? `, ${host.os}` : ""}`,
    recording.directory && `in ${recording.directory}`,
  ];

  return (
    <section class="overview-ran">
      <div>
        <p class="overview-time">
          {recording.duration_ns > 0
            ? formatDuration(recording.duration_ns)
            : inFunctions > 0
              ? `${formatTime(inFunctions)} in functions`
              : "no time"}
        </p>
        <p class="muted">
          {counts
            .filter(([count]) => count > 0)
            .map(([count, one, many]) => `${formatCount(count)} ${count === 1 ? one : many}`)
            .join(", ") || "nothing recorded"}
        </p>
      </div>
      <div class="overview-command">
        <code>{clean(recording.command || lastPart(recording.file), 300)}</code>
        <p class="muted">
          {facts
            .filter((fact) => fact && fact !== "–")
            .map((fact) => clean(String(fact), 120))
            .join(" · ")}
        </p>
      </div>
    </section>
  );
}

function Trust({ data }: { data: PageData }) {
  const marks = { good: "✓", notice: "!", bad: "✕" };
  const words = { good: "good", notice: "worth knowing", bad: "a problem" };

  return (
    <section aria-label="Can I trust it?">
      <ul class="trust">
        {trustFacts(data).map((fact) => (
          <li key={fact.label} class={`trust-${fact.level}`}>
            <span class="trust-mark" role="img" aria-label={words[fact.level]}>
              {marks[fact.level]}
            </span>
            <span>
              <span class="muted">{fact.label}</span> <strong>{clean(fact.value, 60)}</strong>
              <span class="trust-detail">{clean(fact.detail, 200)}</span>
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}

/* Where a finding leads: the name is selected, and the view that shows it best is opened. */
function goTo(data: PageData, reference: Reference): void {
  const all = frames(data);
  const frame = reference.function !== undefined ? reference.function : all.siteBase + (reference.site ?? 0);
  const open = (...ids: string[]) => {
    const id = ids.find((one) => VIEWS.some((view) => view.id === one && view.missing(data) === null));
    if (id) showView(id);
  };

  if (reference.trace !== undefined) goToTrace(data, reference.trace, reference.span);
  else if (reference.task_run !== undefined) goToRun(data, reference.task_run);
  else if (reference.function !== undefined || reference.site !== undefined) {
    if (all.list[frame]) chooseFrame(all.list[frame].key);
    open(...(reference.site !== undefined ? ["timeline"] : []), "sandwich", "flame", "ranking");
  } else if (reference.track !== undefined) {
    chooseTracks([reference.track]);
    open("timeline", "flame");
  } else if (reference.process !== undefined) {
    const tracks = data.recording.tracks.flatMap((track, i) =>
      track.process === reference.process ? [i] : [],
    );
    chooseTracks(tracks);
    open("timeline", "resources");
  } else if (reference.line !== undefined) open("source");
}

function Findings({ data }: { data: PageData }) {
  const { findings } = data.directory;
  const line = (finding: Finding) =>
    clean(finding.text, 500) + (finding.confidence ? ` (${clean(finding.confidence, 120)})` : "");

  return (
    <section>
      <h2>Findings</h2>
      {findings.length === 0 && <p class="muted">Nothing stands out.</p>}
      <ol class="findings">
        {findings.map((finding, i) => (
          <li key={i}>
            <Bar share={finding.severity} />
            {finding.refs[0] ? (
              <button type="button" onClick={() => goTo(data, finding.refs[0]!)} title="Show it">
                {line(finding)}
              </button>
            ) : (
              <span>{line(finding)}</span>
            )}
          </li>
        ))}
      </ol>
    </section>
  );
}

function TaskGraphs({ data }: { data: PageData }) {
  const words = taskWords(data);

  if (!words) return null;
  return (
    <section>
      <h2>Tasks</h2>
      <button type="button" class="overview-tasks" onClick={() => showView("tasks")} title="Show tasks">
        {words}
      </button>
    </section>
  );
}

function Steps({ data }: { data: PageData }) {
  const rows = stepRows(data.recording.steps);
  const time = (ns: number | undefined) => (ns === undefined ? "–" : formatTime(ns));

  if (rows.length === 0) return null;
  return (
    <section>
      <h2>Steps</h2>
      <table class="top">
        <thead>
          <tr>
            <th scope="col">Step</th>
            <th scope="col">Messages</th>
            <th scope="col">Failed</th>
            <th scope="col">Execute</th>
            <th scope="col">Average</th>
            <th scope="col">p50</th>
            <th scope="col">p99</th>
            <th scope="col">Lag p99</th>
          </tr>
        </thead>
        <tbody>
          {rows.map((step, i) => (
            <tr key={i}>
              <th scope="row">
                {clean(step.source, 80)} {step.survey && <span class="muted">{clean(step.survey, 40)}</span>}
              </th>
              <td>{formatCount(step.messages)}</td>
              <td>{formatCount(step.failed)}</td>
              <td>{time(step.execute?.sum)}</td>
              <td>{time(step.execute?.avg)}</td>
              <td>{time(step.execute?.p50)}</td>
              <td>{time(step.execute?.p99)}</td>
              <td>{time(step.lag?.p99)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

function Energy({ data }: { data: PageData }) {
  const words = energyWords(data);
  const isMetered = bestView(data, "energy") === "energy";

  if (words.length === 0) return null;
  return (
    <section>
      <h2>{isMetered ? "Energy" : "Throughput"}</h2>
      {words.map((line) =>
        isMetered ? (
          <button
            key={line}
            type="button"
            class="overview-tasks"
            onClick={() => showView("energy")}
            title="Show energy"
          >
            {line}
          </button>
        ) : (
          <p key={line}>{line}</p>
        ),
      )}
    </section>
  );
}

function TopList({
  title,
  list,
  isWhole,
  isAbout = false,
  view,
}: {
  title: string;
  list: Top[];
  isWhole: boolean;
  isAbout?: boolean;
  view: string;
}) {
  const most = list.reduce((largest, one) => Math.max(largest, one.share || 0), 0);
  const hasShares = list.some((one) => !Number.isNaN(one.share));

  if (list.length === 0) return null;
  return (
    <section>
      <h2>
        {title} {isWhole && <WholeRun />} {isAbout && <About />}
      </h2>
      <table class="top">
        <thead>
          <tr>
            <th scope="col">Name</th>
            <th scope="col">Count</th>
            <th scope="col">Self</th>
            {hasShares && (
              <th scope="col" colSpan={2}>
                Share
              </th>
            )}
          </tr>
        </thead>
        <tbody>
          {list.map((one) => (
            <tr
              key={one.frame.key}
              class={selection.value.frames.includes(one.frame.key) ? "is-selected" : ""}
            >
              <th scope="row">
                <button
                  type="button"
                  onClick={() => {
                    chooseFrame(one.frame.key);
                    showView(view);
                  }}
                >
                  {clean(one.frame.name, 80)}
                </button>
                <span class="muted">{clean(placeOf(one.frame), 80)}</span>
              </th>
              <td>{formatCount(one.count)}</td>
              <td>{formatTime(one.ns)}</td>
              {hasShares && (
                <td title={Number.isNaN(one.share) ? OVERLAP : undefined}>{formatShare(one.share)}</td>
              )}
              {hasShares && <td>{one.share > 0 && <Bar share={one.share / most} />}</td>}
            </tr>
          ))}
        </tbody>
      </table>
      {list.some((one) => Number.isNaN(one.share)) && <p class="muted top-note">{OVERLAP}</p>}
    </section>
  );
}

function bestView(data: PageData, ...ids: string[]): string {
  return ids.find((id) => VIEWS.some((view) => view.id === id && view.missing(data) === null)) ?? "overview";
}

function TopFunctions({ data }: { data: PageData }) {
  const now = selection.value;

  return (
    <TopList
      title="Functions, by self time"
      list={topFunctions(data)}
      isWhole={now.range !== null || now.tracks !== null}
      view={bestView(data, "sandwich", "flame", "ranking")}
    />
  );
}

function TopSpans({ data, worker }: ViewProps) {
  const { range, tracks } = selection.value;
  const isAll = !range && !tracks;
  const hasSpans = data.directory.tables.some((table) => table.name === "spans");
  const { reply } = useReply(
    worker,
    "stats",
    isAll || !hasSpans ? null : { range, tracks, sites: null, by: "site" },
  );
  const numbers = isAll ? allSpans(data) : (reply ?? allSpans(data));

  return (
    <TopList
      title="Spans, by self time"
      list={topSpans(data, numbers)}
      isWhole={!isAll && !reply}
      isAbout={!isAll && (reply?.isAbout ?? false)}
      view={bestView(data, "timeline", "ranking")}
    />
  );
}

function textOf(curve: Curve, value: number): string {
  if (curve.unit === "cores") return `${value.toFixed(2)} cores`;
  return curve.unit === "bytes" ? formatBytes(value) : `${formatBytes(value)}/s`;
}

function Sparklines({ data }: { data: PageData }) {
  const list = usageCurves(data);

  if (list.length === 0) return null;
  return (
    <section>
      <h2>Resources</h2>
      <div class="sparks">
        {list.map((curve) => (
          <button
            key={curve.title}
            type="button"
            class="spark"
            onClick={() => showView("resources")}
            title="Show resources"
          >
            <span>
              {curve.title} <span class="muted">at most {textOf(curve, curve.most)}</span>
            </span>
            <Spark curve={curve} title={data.directory.title} />
          </button>
        ))}
      </div>
    </section>
  );
}

function Spark({ curve, title }: { curve: Curve; title: string }) {
  return (
    <Canvas
      isBare
      name={curve.title}
      title={title}
      label={`${curve.title} over the run, at most ${textOf(curve, curve.most)}`}
      height={40}
      table={() => ({
        columns: ["seconds", curve.title],
        rows: curve.points.map((point, i) => [curve.seconds[i]!, point]),
      })}
      draw={(pen, size, colours) => {
        const first = curve.seconds[0]!;
        const scale = size.width / (curve.seconds[curve.seconds.length - 1]! - first || 1);
        const line = curve.points.flatMap((point, i) => [
          (curve.seconds[i]! - first) * scale,
          size.height - 2 - (point / (curve.most || 1)) * (size.height - 6),
        ]);
        const base = size.height - 1;
        pen.area([line[0]!, base, ...line, line[line.length - 2]!, base], colours.raised);
        pen.line(line, colours.accent, 1.5);
      }}
    />
  );
}

function Notes({ data }: { data: PageData }) {
  const { notes } = data.directory;

  if (notes.length === 0) return null;
  return (
    <section>
      <h2>What this page leaves out</h2>
      <ul class="notes">
        {notes.map((note, i) => (
          <li key={i}>{clean(note.text, 500)}</li>
        ))}
      </ul>
    </section>
  );
}

export const overview: View = {
  id: "overview",
  title: "Overview",
  question: "What happened, and can I trust it?",
  missing: () => null,
  component: Overview,
};
