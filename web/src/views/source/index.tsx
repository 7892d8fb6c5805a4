/* Source with a heat gutter: how often each line ran and what it took. */

import { useEffect, useMemo, useRef } from "preact/hooks";
import type { PageData } from "../../data/types";
import { highlight, languageOf } from "../../model/highlight";
import { listedFunctions, listing, MOST_LINES } from "../../model/listing";
import type { ListedFunction, ListedLine, Listing } from "../../model/listing";
import { chooseFrame } from "../../state/choose";
import { useKeys } from "../../state/keys";
import { option, setOption } from "../../state/options";
import { matcher } from "../../state/search";
import { selection } from "../../state/selection";
import { css, magnitudeColour, mix } from "../../ui/colour";
import { formatCount, formatShare, formatTime } from "../../ui/format";
import { Button, Choice, Gap, Toolbar, WholeRun } from "../../ui/parts";
import { fileName, saveText, toCsv } from "../../ui/save";
import { clean, cleanLine, place } from "../../ui/text";
import type { View, ViewProps } from "../view";
import "./source.css";

const EXTENTS = ["function", "file"] as const;

/* What the selection means, or the costliest. */
function chosenOf(functions: ListedFunction[]): ListedFunction | undefined {
  const keys = selection.value.frames;

  return functions.find((one) => keys.includes(one.key)) ?? functions[0];
}

/* Said when what is shown is not what is selected; null: it is, or nothing is selected. */
function insteadOf(chosen: ListedFunction): string | null {
  const keys = selection.value.frames;
  const name = clean(keys[0]?.split("\u0001")[0] || "(no name)", 80);

  if (keys.length === 0 || keys.includes(chosen.key)) return null;
  const subject = keys.length === 1 ? `${name} has` : `The ${formatCount(keys.length)} selected names have`;
  return `${subject} no counted lines; shown is ${clean(chosen.name, 80)}, the costliest that has some.`;
}

function SourceView({ data }: ViewProps) {
  const functions = listedFunctions(data);
  const chosen = chosenOf(functions);
  const extent = option("source.extent", EXTENTS);
  const shown = useMemo(
    () => chosen && listing(data, chosen, extent === "file"),
    [data, chosen?.row, extent],
  );
  const isNarrowed = selection.value.range !== null || selection.value.tracks !== null;
  const body = useRef<HTMLTableSectionElement>(null);
  const step = (by: number) => {
    const at = functions.findIndex((one) => one === chosen);
    const next = functions[Math.min(functions.length - 1, Math.max(0, at + by))];
    if (next) chooseFrame(next.key);
  };
  useKeys("Source", [
    { keys: ["."], title: "Next hottest line", run: () => goToHot(body.current, 1) },
    { keys: [","], title: "Previous hottest line", run: () => goToHot(body.current, -1) },
    { keys: ["]"], title: "Next function", run: () => step(1) },
    { keys: ["["], title: "Previous function", run: () => step(-1) },
  ]);
  if (!chosen || !shown) return null;
  const instead = insteadOf(chosen);
  return (
    <div class="source">
      <FunctionList functions={functions} chosen={chosen} />
      <section class="source-main" aria-label={`Lines of ${clean(chosen.name)}`}>
        <Toolbar>
          <strong class="source-name">{clean(chosen.name)}</strong>
          <span class="muted">{place(chosen.file, chosen.line)}</span>
          {isNarrowed && <WholeRun />}
          <Gap />
          <Choice
            label="How much source"
            options={[
              { value: "function", title: "Function" },
              { value: "file", title: "File" },
            ]}
            value={extent}
            onChange={(value) => setOption("source.extent", value, EXTENTS[0])}
          />
          <Button
            title="Save these lines as CSV"
            onClick={() => saveLines(data.directory.title, chosen, shown)}
          >
            CSV
          </Button>
        </Toolbar>
        {instead && (
          <p class="source-summary" role="status">
            {instead}
          </p>
        )}
        <Summary chosen={chosen} shown={shown} />
        <Lines chosen={chosen} shown={shown} body={body} />
      </section>
    </div>
  );
}

function FunctionList({ functions, chosen }: { functions: ListedFunction[]; chosen: ListedFunction }) {
  const most = functions[0]?.time || 1;
  const search = matcher.value;
  const list = useRef<HTMLUListElement>(null);

  useEffect(() => {
    list.current?.querySelector("[aria-current=true]")?.scrollIntoView({ block: "nearest" });
  }, [chosen.row]);
  return (
    <nav class="source-list" aria-label="Functions with counted lines, costliest first">
      <ul ref={list}>
        {functions.slice(0, MOST_LINES).map((one) => (
          <li key={one.row}>
            <button
              type="button"
              aria-current={one === chosen}
              class={search.isActive && search.test(one.name) ? "is-match" : ""}
              onClick={() => chooseFrame(one.key)}
            >
              <span class="source-list-name">{clean(one.name, 80)}</span>
              <span class="source-list-time">
                {one.isSampled ? "~" : ""}
                {formatTime(one.time)}
              </span>
              <span class="muted source-list-place">
                {place(one.file, one.line, 36)}
                {one.thread && `, ${clean(one.thread, 40)}`}
              </span>
              <span
                class="source-list-bar"
                aria-hidden="true"
                style={{ width: `${(100 * one.time) / most}%` }}
              />
            </button>
          </li>
        ))}
      </ul>
    </nav>
  );
}

function Summary({ chosen, shown }: { chosen: ListedFunction; shown: Listing }) {
  return (
    <p class="source-summary">
      {formatCount(chosen.calls)} {chosen.calls === 1 ? "call" : "calls"}, {chosen.isSampled ? "~" : ""}
      {formatTime(chosen.time)}
      {chosen.isSampled && ". Times marked ~ are estimates from samples."}
      {!shown.hasSource && " The source of this file is not in the recording: only counted lines are shown."}
      {shown.hasSource && !shown.hasAll && ` Only the first ${formatCount(MOST_LINES)} lines are shown.`}
    </p>
  );
}

function Lines(props: {
  chosen: ListedFunction;
  shown: Listing;
  body: { current: HTMLTableSectionElement | null };
}) {
  const language = languageOf(props.chosen.file);
  const hottest = Math.max(...props.shown.lines.map((line) => line.share), 0);
  const hasSuspended = props.shown.lines.some((line) => line.suspended > 0);

  return (
    <div class="source-scroll" tabIndex={0} role="region" aria-label="Source with numbers">
      <table class="source-table">
        <thead>
          <tr>
            <th scope="col" class="is-number">
              Line
            </th>
            <th scope="col" class="is-number">
              Hits
            </th>
            <th scope="col" class="is-number">
              Time
            </th>
            <th scope="col" class="is-number">
              Per hit
            </th>
            {hasSuspended && (
              <th scope="col" class="is-number" title="Time in which it waited: not in Time">
                Awaited
              </th>
            )}
            <th scope="col" class="is-number">
              % time
            </th>
            <th scope="col">Source</th>
          </tr>
        </thead>
        <tbody ref={props.body}>
          {props.shown.lines.map((line) => (
            <Line
              key={line.number}
              line={line}
              language={language}
              hottest={hottest}
              hasSuspended={hasSuspended}
            />
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Line(props: {
  line: ListedLine;
  language: "python" | "c" | "";
  hottest: number;
  hasSuspended: boolean;
}) {
  const { line } = props;
  const search = matcher.value;
  const mark = line.isSampled ? "~" : "";
  const isMatch = search.isActive && search.test(line.text);
  const heat = props.hottest > 0 ? line.share / props.hottest : 0;
  const hint = Number.isFinite(line.min)
    ? `one took ${formatTime(line.min)} to ${formatTime(line.max)}`
    : undefined;

  return (
    <tr
      class={`${line.isCounted ? "" : "is-blank"}${isMatch ? " is-match" : ""}`}
      data-heat={heat.toFixed(4)}
      tabIndex={-1}
    >
      <td class="is-number muted">{line.number}</td>
      <td class="is-number">{line.isCounted && Number.isFinite(line.hits) ? formatCount(line.hits) : ""}</td>
      <td class="is-number" title={hint}>
        {Number.isFinite(line.time) ? `${mark}${formatTime(line.time)}` : ""}
      </td>
      <td class="is-number">
        {Number.isFinite(line.time) && line.hits > 0 ? `${mark}${formatTime(line.time / line.hits)}` : ""}
      </td>
      {props.hasSuspended && (
        <td class="is-number">{line.suspended > 0 ? formatTime(line.suspended) : ""}</td>
      )}
      <td class="is-number source-share">
        {Number.isFinite(line.time) ? `${mark}${formatShare(line.share)}` : ""}
        <span class="source-heat" aria-hidden="true" ref={(element) => heatUp(element, heat)} />
      </td>
      <td class="source-code">
        <code>
          {highlight(cleanLine(line.text), props.language).map((piece, i) =>
            piece.kind === "plain" ? (
              piece.text
            ) : (
              <span key={i} class={`code-${piece.kind}`}>
                {piece.text}
              </span>
            ),
          )}
        </code>
      </td>
    </tr>
  );
}

/* From almost nothing to the scale's warm end: width and colour say the same. */
function heatUp(element: HTMLElement | null, heat: number): void {
  element?.style.setProperty("width", `${Math.round(100 * heat)}%`);
  element?.style.setProperty(
    "background",
    css(mix(magnitudeColour(0.35 + 0.65 * heat), [230, 120, 30], heat * 0.6)),
  );
}

/* Lines in the order of their heat: the next one after that which has the focus. */
function goToHot(body: HTMLTableSectionElement | null, direction: 1 | -1): void {
  const heat = (row: Element) => Number((row as HTMLElement).dataset.heat ?? 0);
  const rows = [...(body?.rows ?? [])].filter((row) => heat(row) > 0).sort((a, b) => heat(b) - heat(a));
  const at = rows.findIndex((row) => row === document.activeElement);
  const next = rows[at < 0 ? 0 : Math.min(rows.length - 1, Math.max(0, at + direction))];

  next?.focus();
  next?.scrollIntoView({ block: "center" });
}

function saveLines(title: string, chosen: ListedFunction, shown: Listing): void {
  const columns = ["line", "hits", "time_ns", "share", "suspended_ns", "source"];
  const rows = shown.lines.map((line) => [
    line.number,
    line.isCounted && Number.isFinite(line.hits) ? line.hits : "",
    Number.isFinite(line.time) ? line.time : "",
    Number.isFinite(line.time) ? line.share : "",
    line.suspended,
    line.text,
  ]);

  saveText(fileName(title, `lines-${chosen.name}`, "csv"), "text/csv", toCsv(columns, rows));
}

export const source: View = {
  id: "source",
  title: "Source",
  question: "Which line?",
  missing: (data: PageData) =>
    listedFunctions(data).length
      ? null
      : "No lines were counted. Record with `venturi run -l`, and mark functions with `@profile` (or choose them with `-p`).",
  component: SourceView,
};
